//! Loading of a targets file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Severity, SourceId, SourceMap, Span, did_you_mean};
use assize_document::{
    DiagnosticCollector, MapReader, TreeNode, codes, finish_diagnostics, read_yaml, wrong_type,
};
use assize_limits::FILE_TARGETS as MAX_TARGETS;
use assize_model::{FilePosition, TargetSpec};

use super::entry::TargetsContext;
use super::mask::mask_secrets;
use super::provider_entry::target_of_provider;
use super::read::entry;
use super::settings_files::{find_first_file, read_settings_file, search_folders};
use super::use_target::{TargetDraft, resolve_use_target};
use crate::LoadOptions;

/// Paths of the targets file in a folder, in order of precedence.
const TARGETS_PATHS: &[&str] = &[
    ".assize/targets.yaml", ".assize/targets.yml", "targets.yaml", "targets.yml", ".agentv/targets.yaml",
    ".agentv/targets.yml", ".agentv/providers.yaml", ".agentv/providers.yml",
];

/// A targets file, loaded and checked.
#[derive(Debug, Clone, Default)]
pub struct LoadedTargets {
    /// Targets, in the order of the file. Not to be used unless the file is usable.
    pub targets: Vec<TargetSpec>,
    /// Path of the file; `None` if there is none.
    pub path: Option<PathBuf>,
    /// Text of the file for rendering diagnostics, with secrets masked.
    pub sources: SourceMap,
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// True if all errors concern single targets. Runs with other targets are not affected.
    pub is_usable: bool,
}

impl LoadedTargets {
    /// Returns true if the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Loads the targets for the eval files of the folder `start`.
///
/// With `explicit`, that file is read, relative to the working folder. Otherwise the nearest targets file is
/// read. It is searched for in `start` and each parent folder up to the root of the repository, then in the
/// working folder; in each of them `.assize/targets.yaml`, then `targets.yaml`, then `.agentv/targets.yaml` and
/// `.agentv/providers.yaml` (or `.yml`). A missing file is not an error.
pub fn load_targets(start: &Path, explicit: Option<&Path>, options: &LoadOptions) -> LoadedTargets {
    let working = &options.working_folder;
    let path = match explicit {
        Some(path) => Some(working.join(path)),
        None => find_first_file(&search_folders(start, working), TARGETS_PATHS),
    };
    let Some(path) = path else { return LoadedTargets { is_usable: true, ..LoadedTargets::default() } };
    let mut sources = SourceMap::new();
    let mut problems = DiagnosticCollector::default();
    let mut secrets = Vec::new();
    let mut targets = Vec::new();
    let mut entry_errors = 0;
    if let Some(source) = read_settings_file(&path, working, &mut sources, &mut problems) {
        let folder = path.parent().unwrap_or(working);
        let place = |span: Span| {
            let position = sources.position(span);
            FilePosition::new(sources.file(span.source).path(), position.line, position.column)
        };
        let mut loading = TargetsContext {
            environment: &options.environment,
            folder,
            place: &place,
            secrets: Vec::new(),
            problems: &mut problems,
            entry_errors: 0,
        };

        targets = decode_target_list(&sources, source, &mut loading);
        secrets = loading.secrets;
        entry_errors = loading.entry_errors;
    }

    let is_usable = problems.error_count() == entry_errors;
    let diagnostics = finish_diagnostics(problems, &sources);
    LoadedTargets {
        targets,
        path: Some(path),
        sources: mask_secrets(&sources, &secrets),
        diagnostics,
        is_usable,
    }
}

fn decode_target_list(
    sources: &SourceMap,
    source: SourceId,
    loading: &mut TargetsContext<'_>,
) -> Vec<TargetSpec> {
    let before = loading.problems.error_count();
    let Some(root) = read_yaml(sources, source, loading.problems) else {
        if loading.problems.error_count() == before {
            report_no_targets(Span::new(source, 0, 0), "the file is empty", loading.problems);
        }
        return Vec::new();
    };

    let Some(list) = find_target_list(&root, loading.problems) else { return Vec::new() };
    let drafts: Vec<TargetDraft> = list.iter().filter_map(|node| entry(node, loading)).collect();
    let drafts = remove_duplicate_names(drafts, loading.problems);
    let before = loading.problems.error_count();
    let targets = resolve_use_target(drafts, loading.problems);
    warn_of_unknown_judges(&list, &targets, loading.problems);
    report_unknown_fallbacks(&list, &targets, loading.problems);
    loading.entry_errors += loading.problems.error_count() - before;

    targets
}

/// Returns the list of targets of a file: the root, or the list under a key.
fn find_target_list(root: &TreeNode, problems: &mut DiagnosticCollector) -> Option<Vec<TreeNode>> {
    if root.is_null() {
        report_no_targets(root.use_span().start_point(), "there is no key `targets`", problems);
        return None;
    }
    // In AgentV's newest format, the file itself is the list.
    if root.as_seq().is_some() {
        return check_target_list(root, true, problems);
    }

    let mut object = MapReader::new(root, "a targets file", problems)?;
    for key in ["$schema", "version", "description"] {
        object.entry(key);
    }

    let head = object.head();
    // AgentV's newest format calls targets providers.
    let found = object.first_of(&["targets", "providers"], problems);
    let is_newest = found.is_some_and(|found| found.key == "providers");
    let list = match found {
        None => {
            report_no_targets(head, "there is no key `targets`", problems);
            None
        }
        Some(found) if found.value.is_null() => {
            report_no_targets(found.key_span, "nothing follows", problems);
            None
        }
        Some(found) => check_target_list(&found.value, is_newest, problems),
    };

    object.finish(problems);
    list
}

/// Returns the entries of a list of targets, including entries of nested lists. With `is_newest`, they are
/// providers in AgentV's newest format.
fn check_target_list(
    node: &TreeNode,
    is_newest: bool,
    problems: &mut DiagnosticCollector,
) -> Option<Vec<TreeNode>> {
    let Some(items) = node.as_seq() else {
        problems
            .add(wrong_type(node, "`targets`", "a list").with_help("begin each target with `- name: ...`"));
        return None;
    };

    let list: Vec<&TreeNode> = items
        .iter()
        .flat_map(|item| item.as_seq().filter(|_| is_newest).unwrap_or(std::slice::from_ref(item)))
        .collect();
    if list.is_empty() {
        report_no_targets(node.use_span(), "the list is empty", problems);
        return None;
    }
    if list.len() > MAX_TARGETS {
        Diagnostic::error(codes::OUT_OF_RANGE, format!("more than {MAX_TARGETS} targets"))
            .at(list[MAX_TARGETS].use_span(), format!("found {}", list.len()))
            .with_help("keep the targets of other projects in files of their own")
            .add_to(problems);
        return None;
    }

    Some(
        list.into_iter()
            .map(|item| if is_newest { target_of_provider(item) } else { item.clone() })
            .collect(),
    )
}

fn report_no_targets(span: Span, label: &str, problems: &mut DiagnosticCollector) {
    Diagnostic::error(codes::NO_TARGETS, "the file has no targets")
        .at(span, label)
        .with_help("write `targets:` with a list of maps, each with `name` and `provider`")
        .add_to(problems);
}

/// Reports duplicate names and keeps the first target of each.
fn remove_duplicate_names(drafts: Vec<TargetDraft>, problems: &mut DiagnosticCollector) -> Vec<TargetDraft> {
    let mut kept: Vec<TargetDraft> = Vec::with_capacity(drafts.len());
    let mut names: HashMap<String, usize> = HashMap::new();
    for draft in drafts {
        let Some(index) = names.get(&draft.name.value) else {
            names.insert(draft.name.value.clone(), kept.len());
            kept.push(draft);
            continue;
        };
        Diagnostic::error(codes::DUPLICATE_TARGET, format!("two targets are called `{}`", draft.name.value))
            .at(draft.name.span, "again here")
            .with_secondary(kept[*index].name.span, "first here")
            .with_help("give one of them another name")
            .add_to(problems);
    }

    kept
}

/// Warns of judges that are neither a target of the file, nor `offline`, nor a model name. It is not an error
/// yet, because a run may name another judge.
fn warn_of_unknown_judges(list: &[TreeNode], targets: &[TargetSpec], problems: &mut DiagnosticCollector) {
    for node in list {
        let Some(judge) = node.get("grader_target").or_else(|| node.get("judge_target")) else { continue };
        let Some(name) = judge.as_str().map(str::trim) else { continue };
        let elsewhere = name.is_empty() || name == "offline" || name.contains([':', '/', '$']);
        if elsewhere || targets.iter().any(|target| target.name == name) {
            continue;
        }

        let diagnostic = Diagnostic::warning(
            codes::UNKNOWN_JUDGE,
            format!("unknown judge `{name}`: no target has this name"),
        )
        .at(judge.use_span(), "not in this file");

        let near = did_you_mean(name, targets.iter().map(|target| target.name.as_str()));
        problems.add(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
                "use that target",
                judge.use_span(),
                near,
            ),
            None => diagnostic.with_help(
                "add that target, write a model name such as `openai:MODEL`, or run with `--judge`",
            ),
        });
    }
}

/// Reports fallback targets that are not in the file, or that are the target itself.
fn report_unknown_fallbacks(list: &[TreeNode], targets: &[TargetSpec], problems: &mut DiagnosticCollector) {
    for node in list {
        let Some(fallbacks) = node.get("fallback_targets") else { continue };
        let own = node.get("name").and_then(TreeNode::as_str);
        let single = std::slice::from_ref(fallbacks);
        for item in fallbacks.as_seq().unwrap_or(single) {
            let Some(name) = item.as_str() else { continue };
            let title = if own == Some(name) {
                "a target can't fall back to itself".to_owned()
            } else if name.contains("${{") || targets.iter().any(|target| target.name == name) {
                continue;
            } else {
                format!("there is no target `{name}` to fall back to")
            };

            let diagnostic =
                Diagnostic::error(codes::UNKNOWN_TARGET, title).at(item.use_span(), "not defined");
            let others =
                targets.iter().map(|target| target.name.as_str()).filter(|other| Some(*other) != own);
            problems.add(match did_you_mean(name, others) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("name other targets of this file"),
            });
        }
    }
}
