//! A copy of the collection in which everything its suites call is there: programs by name, targets by name, variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use assize_evalfile::{LoadOptions, load_targets};
use assize_load::{find_suites, load_suite};
use assize_model::{CompositeAggregator, Grader, GraderKind};
use tempfile::TempDir;

use crate::shared::files;

/// The first argument of a call that stands in for a program of a suite.
pub(crate) const STAND_IN: &str = "stand-in";

/// Names under which the program that stands in is found.
const PROGRAM_NAMES: [&str; 8] = ["bun", "uv", "node", "npx", "tsx", "python", "python3", "deno"];

/// Where targets are looked for from everywhere in the copy.
const TARGETS: &str = ".agentv/targets.yaml";

/// The code of a file that is not there.
const MISSING_FILE: &str = "E0501";
/// The code of a grader type that nobody knows.
const UNKNOWN_GRADER: &str = "E0302";

/// The copy and what suites are run with.
pub(super) struct CorpusSandbox {
    folder: TempDir,
    program: PathBuf,
    suites: Vec<PathBuf>,
    variables: BTreeMap<String, String>,
}

/// The use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameRole {
    Target,
    Judge,
}

impl CorpusSandbox {
    /// Copies the collection and adds what it lacks. Models are at this address.
    pub(super) fn new(source: &Path, program: &Path, base_url: &str) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let root = folder.path().join("suites");
        copy(source, &root).map_err(|error| format!("can't copy the collection: {error}"))?;

        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).current_dir(&root).stdout(Stdio::null()).stderr(Stdio::null());

        // Without git there is no root to stop at: files are then looked for in their own folder only.
        let _ = git.status();
        let found = find_suites(std::slice::from_ref(&root));
        let mut sandbox =
            Self { folder, program: program.to_path_buf(), suites: found.files, variables: BTreeMap::new() };
        sandbox.variables = Self::all_variables(&root, base_url)?;
        sandbox.programs()?;
        sandbox.attachments(&root)?;
        sandbox.targets(&root)?;

        Ok(sandbox)
    }

    /// A suite by its number.
    pub(super) fn suite(&self, at: usize) -> Option<(usize, &Path)> {
        Some((at, self.suites.get(at)?))
    }

    /// How many sound cases a suite has.
    pub(super) fn cases_of(&self, suite: &Path) -> usize {
        load_suite(suite, &self.options()).cases.len()
    }

    /// The name of a suite in the collection.
    pub(super) fn name_of(&self, suite: &Path) -> String {
        suite.strip_prefix(self.root()).unwrap_or(suite).display().to_string()
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("suites")
    }

    /// The folder for the results of a suite.
    pub(super) fn results(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("run-{at}"))
    }

    /// The command that runs a suite. It finds the stand-in programs before those of the system.
    pub(super) fn command(&self, suite: &Path, at: usize) -> Command {
        let mut command = Command::new(&self.program);
        let programs = self.folder.path().join("bin");
        command
            .args(["eval", "--judge", "openai:scripted", "--json", "--quiet", "--keep-going", "--no-cache"])
            .args(["--deadline", "20s", "--max-concurrency", "4", "--root"])
            .arg(self.root())
            .arg("--run-dir")
            .arg(self.results(at))
            .arg(suite)
            .current_dir(self.root())
            .env_clear()
            .envs(&self.variables)
            .env("HOME", self.folder.path())
            .env("NO_COLOR", "1")
            // Nothing is fetched from anywhere.
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
            .stdin(Stdio::null());

        command
    }

    /// Every variable that a file of the copy asks for, and those that say where models are.
    fn all_variables(root: &Path, base_url: &str) -> Result<BTreeMap<String, String>, String> {
        let mut variables = BTreeMap::new();
        for file in files(root).map_err(|error| error.to_string())? {
            // Not every file is text.
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            for part in text.split("${{").skip(1) {
                let name = part.split("}}").next().unwrap_or_default().trim();
                if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    let value = if name.ends_with("TARGET") { "default" } else { "scripted" };
                    variables.insert(name.to_owned(), value.to_owned());
                }
            }
        }

        variables.insert("OPENAI_API_KEY".to_owned(), "sk-scripted".to_owned());
        variables.insert("OPENAI_BASE_URL".to_owned(), base_url.to_owned());

        Ok(variables)
    }

    fn programs(&self) -> Result<(), String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = self.folder.path().join("bin");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;

        for name in PROGRAM_NAMES {
            let script = format!("#!/bin/sh\nexec '{}' {STAND_IN} \"$@\"\n", this.display());
            let path = folder.join(name);
            std::fs::write(&path, script).map_err(|error| error.to_string())?;

            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let runnable = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(&path, runnable).map_err(|error| error.to_string())?;
            }
        }

        Ok(())
    }

    /// Puts something in the place of attachments and custom graders that the collection was made without.
    fn attachments(&self, root: &Path) -> Result<(), String> {
        for suite in &self.suites {
            let folder = suite.parent().unwrap_or(root);
            for diagnostic in load_suite(suite, &self.options()).diagnostics {
                let named = |text: &str| text.split('`').nth(1).map(str::to_owned);
                let path = match diagnostic.code.as_str() {
                    MISSING_FILE => {
                        named(&diagnostic.primary.text).map(|name| folder.join(name.trim_start_matches('/')))
                    }
                    UNKNOWN_GRADER => named(&diagnostic.title)
                        .map(|name| root.join(".agentv/assertions").join(format!("{name}.ts"))),
                    _ => None,
                };

                let Some(path) = path.filter(|path| !path.exists()) else { continue };
                let parent = path.parent().unwrap_or(root);

                // What has no ending is the template of a workspace: a folder.
                let is_folder = path.extension().is_none();
                std::fs::create_dir_all(if is_folder { &path } else { parent })
                    .and_then(|()| if is_folder { Ok(()) } else { std::fs::write(&path, "left,out\n1,2\n") })
                    .map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(())
    }

    /// Defines every name that is used and not defined: judges as models, targets as a program.
    fn targets(&self, root: &Path) -> Result<(), String> {
        let mut lacking: BTreeMap<PathBuf, BTreeMap<String, NameRole>> = BTreeMap::new();
        for suite in &self.suites {
            let folder = suite.parent().unwrap_or(root);
            let options = self.options();
            let mut used = used_names(suite, &options);
            let targets = load_targets(folder, None, &options);
            for judge in targets.targets.iter().filter_map(|target| target.grader_target.clone()) {
                used.insert(judge, NameRole::Judge);
            }

            used.entry("default".to_owned()).or_insert(NameRole::Target);
            let file = targets.path.clone().unwrap_or_else(|| root.join(TARGETS));
            let is_known = |name: &str| targets.targets.iter().any(|target| target.name == name);
            let names = used.into_iter().filter(|(name, _)| !is_known(name));
            lacking.entry(file).or_default().extend(names);
        }

        for (file, names) in lacking {
            let mut text = std::fs::read_to_string(&file)
                .unwrap_or_else(|_| "targets:\n".to_owned())
                .trim_end()
                .to_owned();
            for (name, role) in names {
                let entry = match role {
                    NameRole::Judge => format!("\n  - {{name: {name}, provider: openai, model: scripted}}"),
                    NameRole::Target => format!(
                        "\n  - {{name: {name}, provider: cli, command: [bun, --prompt, '{{PROMPT}}', --output, \
                         '{{OUTPUT_FILE}}']}}"
                    ),
                };
                text.push_str(&entry);
            }

            let parent = file.parent().unwrap_or(root);
            std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;

            std::fs::write(&file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
        }

        Ok(())
    }

    fn options(&self) -> LoadOptions {
        let variables = self.variables.clone();
        LoadOptions {
            environment: Arc::new(move |name| variables.get(name).cloned()),
            ..load_options(&self.root())
        }
    }
}

/// How suites are read where no variable is set.
pub(super) fn load_options(folder: &Path) -> LoadOptions {
    LoadOptions {
        environment: Arc::new(|_| Some("scripted".to_owned())),
        working_folder: folder.to_path_buf(),
        extra_roots: vec![folder.to_path_buf()],
        programs: None,
        targets: Vec::new(),
        case_check: None,
    }
}

/// The names of targets and judges in a suite; what is used as both is a judge, which can be a target as well.
fn used_names(suite: &Path, options: &LoadOptions) -> BTreeMap<String, NameRole> {
    let loaded = load_suite(suite, options);
    let mut targets: BTreeSet<String> = BTreeSet::new();
    let mut judges: BTreeSet<String> = BTreeSet::new();
    let of_suite = loaded.suite.iter().flat_map(|suite| &suite.settings.targets);
    targets.extend(of_suite.map(|target| target.use_target.clone().unwrap_or_else(|| target.name.clone())));

    for case in loaded.cases.iter().flatten() {
        targets
            .extend(case.targets.iter().map(|of| of.use_target.clone().unwrap_or_else(|| of.name.clone())));
        for grader in &case.graders {
            judges_of(grader, &mut judges);
        }
    }

    let targets = targets.into_iter().map(|name| (name, NameRole::Target));
    targets.chain(judges.into_iter().map(|name| (name, NameRole::Judge))).collect()
}

fn judges_of(grader: &Grader, found: &mut BTreeSet<String>) {
    let named = match &grader.kind {
        GraderKind::Rubric(rubric) => rubric.judge.clone(),
        GraderKind::Llm(llm) => llm.judge.clone(),
        GraderKind::Composite(composite) => {
            composite.members.iter().for_each(|member| judges_of(member, found));
            match &composite.aggregator {
                CompositeAggregator::Llm { judge, .. } => judge.clone(),
                _ => None,
            }
        }
        _ => None,
    };
    found.extend(named.filter(|name| !name.contains([':', '/'])));
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;

    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            // Copied without its permissions: the collection may not be writable, the copy must be.
            std::fs::write(&target, std::fs::read(entry.path())?)?;
        }
    }

    Ok(())
}
