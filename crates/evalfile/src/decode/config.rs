//! Decoder of the config file of a project.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_diagnostic::{Diagnostic, Severity, SourceMap, Span, SpannedValue};
use assize_document::{MapReader, TreeNode, codes, finish_diagnostics, parse_duration, read_yaml};
use assize_model::{PanelSpec, ProjectConfig, ThresholdOverrides};

use super::grader::{PanelUse, decode_evidence, decode_judging, decode_panel, decode_truncate};
use super::targets::settings_files::{find_first_file, read_settings_file, search_folders};
use super::targets::variables::{ExpandedMap, expand_variables};
use super::{DecodeContext, common};
use crate::LoadOptions;

/// Paths of the config file in a folder, in order of precedence.
const CONFIG_PATHS: &[&str] =
    &[".assize/config.yaml", ".assize/config.yml", ".agentv/config.yaml", ".agentv/config.yml"];

const SETTING_KEYS: &[&str] = &[
    "judge", "workers", "max_concurrency", "requests_per_minute", "tokens_per_minute", "request_timeout",
    "threshold", "borderline", "judging", "evidence", "truncate", "panel", "targets", "env_file",
];
/// Keys whose values may become numbers when they come from variables.
const TYPED_KEYS: &[&str] = &[
    "workers", "max_concurrency", "requests_per_minute", "tokens_per_minute", "threshold", "borderline",
    "judging",
];

/// Keys of AgentV's config file that have no effect on a run here.
const FOREIGN_KEYS: &[&str] = &[
    "required_version", "eval_patterns", "guideline_patterns", "results", "hooks", "env_path", "env_from",
    "refs", "default_experiment", "experiments", "dashboard", "projects", "studio",
];

/// Keys under `execution` of AgentV's config file that have no effect on a run here.
const FOREIGN_EXECUTION_KEYS: &[&str] = &[
    "verbose", "keep_workspaces", "workspace_mode", "workspace_path", "otel_file", "export_otel",
    "otel_backend", "otel_capture_content", "otel_group_turns", "pool_workspaces", "pool_slots",
    "trace_file",
];

/// A config file, loaded and checked.
#[derive(Debug, Clone, Default)]
pub struct LoadedConfig {
    /// Settings. Not to be used when there are errors.
    pub config: ProjectConfig,
    /// Path of the file; `None` if there is none.
    pub path: Option<PathBuf>,
    /// Text of the file, for rendering diagnostics.
    pub sources: SourceMap,
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Span of the judge's name, if there is one.
    pub judge_span: Option<Span>,
}

impl LoadedConfig {
    /// Returns true if the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Finds the config file for the files of the folder `start`. The search goes through `start` and the folders
/// above it that belong to its project, then through the working folder and the folders above that. In each
/// folder, `.assize/config.yaml` takes precedence over `.agentv/config.yaml`. Returns `None` if there is
/// none.
pub fn find_config(start: &Path, options: &LoadOptions) -> Option<PathBuf> {
    find_first_file(&search_folders(start, &options.working_folder), CONFIG_PATHS)
}

/// Loads the settings for the files of the folder `start`, from the file that [`find_config`] finds. A missing
/// file is not an error.
///
/// AgentV's file is read leniently: the settings that both tools have apply, and its other settings are not
/// errors.
pub fn load_config(start: &Path, options: &LoadOptions) -> LoadedConfig {
    let working = &options.working_folder;
    let Some(path) = find_config(start, options) else { return LoadedConfig::default() };
    let mut cx = DecodeContext::new(options.environment.clone(), Vec::new(), Vec::new());
    let mut roots = config_roots(&path, working);
    roots.extend(options.extra_roots.iter().cloned());

    let mut config = ProjectConfig::default();
    let mut judge_span = None;
    if let Some(source) = read_settings_file(&path, working, &mut cx.sources, &mut cx.problems) {
        let root = read_yaml(&cx.sources, source, &mut cx.problems);
        let home = ConfigLocation::new(&path, roots);
        if let Some(root) = root.filter(|root| !root.is_null()) {
            judge_span = root.get("judge").map(TreeNode::use_span);
            config = decode_config(&mut cx, &root, &home);
        }
    }

    let diagnostics = finish_diagnostics(cx.problems, &cx.sources);
    LoadedConfig { config, path: Some(path), sources: cx.sources, diagnostics, judge_span }
}

/// Returns the folders that the paths of a config file may not leave: its project with its repository, and the
/// working folder.
fn config_roots(path: &Path, working: &Path) -> Vec<PathBuf> {
    let project = path.parent().and_then(Path::parent).unwrap_or(working);
    let repository = project.ancestors().find(|folder| folder.join(".git").exists());
    [Some(project), repository, Some(working)].into_iter().flatten().map(Path::to_path_buf).collect()
}

/// Location of a config file.
struct ConfigLocation {
    folder: PathBuf,
    /// True for AgentV's file.
    foreign: bool,
    /// Folders that its paths may not leave.
    roots: Vec<PathBuf>,
}

impl ConfigLocation {
    fn new(path: &Path, roots: Vec<PathBuf>) -> Self {
        let folder = path.parent().unwrap_or(path).to_path_buf();
        let foreign = folder.file_name().is_some_and(|name| name == ".agentv");
        Self { folder, foreign, roots: roots.iter().filter_map(|root| root.canonicalize().ok()).collect() }
    }
}

fn decode_config(cx: &mut DecodeContext, root: &TreeNode, home: &ConfigLocation) -> ProjectConfig {
    let expanded = expand_variables(root, TYPED_KEYS, &cx.reach.environment.for_settings(), &mut cx.problems);
    report_unset_variables(cx, &expanded);

    let Some(mut object) = MapReader::new(&expanded.node, "a config file", &mut cx.problems) else {
        return ProjectConfig::default();
    };
    object.entry("$schema");

    let mut config = ProjectConfig {
        judge: object.text("judge", &mut cx.problems).map(|judge| judge.value.trim().to_owned()),
        workers: decode_workers(cx, &mut object),
        max_concurrency: decode_limit(cx, &mut object, "max_concurrency", 100_000)
            .and_then(|most| NonZeroUsize::try_from(most).ok()),
        requests_per_minute: decode_limit(cx, &mut object, "requests_per_minute", u32::MAX),
        tokens_per_minute: decode_limit(cx, &mut object, "tokens_per_minute", u32::MAX),
        request_timeout: decode_time_limit(cx, &mut object, "request_timeout"),
        thresholds: decode_default_thresholds(cx, &mut object),
        panel: PanelSpec::default(),
        judging: decode_judging(cx, &mut object),
        evidence: decode_evidence(cx, &mut object),
        truncate: decode_truncate(cx, &mut object),
        targets: decode_path(cx, &mut object, "targets", home),
        env_file: decode_path(cx, &mut object, "env_file", home),
    };

    config.panel = decode_panel(cx, &mut object, PanelUse::Defaults { judge: config.judge.as_deref() });

    if home.foreign {
        decode_foreign_settings(cx, &mut object, root, &mut config);
        object.finish_leniently(&mut cx.problems);
    } else {
        object.finish(&mut cx.problems);
    }

    config
}

fn decode_workers(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<usize> {
    object.integer("workers", 1, 50, &mut cx.problems).map(|workers| workers.value as usize)
}

fn decode_limit(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
    most: u32,
) -> Option<NonZeroU32> {
    let found = object.integer(key, 1, i64::from(most), &mut cx.problems)?;
    u32::try_from(found.value).ok().and_then(NonZeroU32::new)
}

/// Decodes a duration, such as `90s`.
fn decode_time_limit(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
) -> Option<Duration> {
    let written: SpannedValue<String> = object.text(key, &mut cx.problems)?;
    let found = parse_duration(&written.value);
    if found.is_none() {
        Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is not a duration"))
            .at(written.span, "not a duration")
            .with_help("write it with units, such as `90s`, `5m` or `1h30m`")
            .add_to(&mut cx.problems);
    }

    found
}

fn decode_default_thresholds(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> ThresholdOverrides {
    let mut found = common::DecodedThresholds::default();
    common::decode_thresholds(cx, object, &mut found);
    found.finish(cx)
}

/// Decodes a path. It is relative to the parent of the config file's folder, which is the folder that contains
/// `.assize`, else to the config file's folder.
fn decode_path(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    key: &'static str,
    home: &ConfigLocation,
) -> Option<PathBuf> {
    let written: SpannedValue<String> = object.text(key, &mut cx.problems)?;
    let above = home.folder.parent().unwrap_or(&home.folder);
    let Some(found) =
        [above, &home.folder].iter().map(|folder| folder.join(&written.value)).find(|path| path.is_file())
    else {
        Diagnostic::error(codes::FILE_NOT_FOUND, "file not found")
            .at(written.span, "no such file")
            .with_note(format!("looked in `{}` and `{}`", above.display(), home.folder.display()))
            .with_help("check the path; it is relative to the folder that contains `.assize`")
            .add_to(&mut cx.problems);
        return None;
    };

    let inside = found.canonicalize().is_ok_and(|real| home.roots.iter().any(|root| real.starts_with(root)));
    if !inside {
        Diagnostic::error(codes::OUTSIDE_ROOT, "this file is outside the allowed folders")
            .at(written.span, "outside the repository")
            .with_help("move the file there, or allow another folder with `--root DIR`")
            .add_to(&mut cx.problems);
        return None;
    }

    Some(found)
}

/// Decodes settings that only AgentV's file has.
fn decode_foreign_settings(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    root: &TreeNode,
    config: &mut ProjectConfig,
) {
    for key in FOREIGN_KEYS {
        object.entry(key);
    }

    for (key, advice) in [
        ("providers", "write a file `.assize/targets.yaml` with a list `targets`"),
        ("defaults", "name the judge here with `judge`"),
        ("default_test", "write the defaults into the eval files"),
    ] {
        if let Some(found) = object.entry(key) {
            // The providers file of this folder is found without being named.
            let own =
                found.value.as_str().map(|path| path.trim_start_matches("file://").trim_start_matches("./"));
            if key == "providers"
                && own.is_some_and(|path| ["providers.yaml", "providers.yml"].contains(&path))
            {
                continue;
            }
            Diagnostic::warning(codes::FOREIGN_SETTING, format!("`{key}` is not read"))
                .at(found.key_span, "belongs to another version")
                .with_help(advice)
                .add_to(&mut cx.problems);
        }
    }

    object.entry("execution");
    // Variables are expanded separately here, so that an unset variable of one setting does not invalidate the
    // others.
    let Some(node) = root.get("execution").filter(|node| !node.is_null()) else { return };
    let expanded = expand_variables(node, TYPED_KEYS, &cx.reach.environment.for_settings(), &mut cx.problems);
    report_unset_variables(cx, &expanded);

    let Some(mut inner) = MapReader::new(&expanded.node, "`execution`", &mut cx.problems) else { return };
    config.workers = config.workers.or(decode_workers(cx, &mut inner));

    let own = decode_default_thresholds(cx, &mut inner);
    config.thresholds.pass = config.thresholds.pass.or(own.pass);
    config.thresholds.borderline = config.thresholds.borderline.or(own.borderline);

    for key in FOREIGN_EXECUTION_KEYS {
        inner.entry(key);
    }

    inner.finish_leniently(&mut cx.problems);
}

/// Reports unset variables in settings, which always apply. Other keys are either not read or reported
/// elsewhere.
fn report_unset_variables(cx: &mut DecodeContext, expanded: &ExpandedMap) {
    for unset in expanded.unset.iter().filter(|unset| SETTING_KEYS.contains(&unset.key.as_str())) {
        Diagnostic::error(
            codes::VARIABLE_NOT_SET,
            format!("the environment variable `{}` is not set", unset.name),
        )
        .at(unset.span, "needed here")
        .with_help(format!("set `{0}`, or give a default: `${{{{ {0}:-VALUE }}}}`", unset.name))
        .add_to(&mut cx.problems);
    }
}
