//! A copy of the collection with everything that its suites need: the programs and targets they name, and their
//! variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use assize_evalfile::{LoadOptions, load_targets};
use assize_load::{find_suites, load_suite};
use assize_model::{CompositeAggregator, Grader, GraderKind};
use tempfile::TempDir;

use crate::shared::files;

/// First argument of this test program when it acts as a program that a suite calls.
pub(crate) const STAND_IN: &str = "stand-in";

/// Names of the programs that the stand-in replaces.
const PROGRAM_NAMES: [&str; 8] = ["bun", "uv", "node", "npx", "tsx", "python", "python3", "deno"];

/// Targets file that is found from every folder of the copy.
const TARGETS: &str = ".agentv/targets.yaml";

/// Code for a missing file.
const MISSING_FILE: &str = "E0501";
/// Code for an unknown grader type.
const UNKNOWN_GRADER: &str = "E0302";

/// The copy of the collection, and the program and variables its suites run with.
pub(super) struct CorpusSandbox {
    folder: TempDir,
    program: PathBuf,
    suites: Vec<PathBuf>,
    variables: BTreeMap<String, String>,
}

/// What a name is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameRole {
    Target,
    Judge,
}

impl CorpusSandbox {
    /// Copies the collection and adds missing files. `base_url` is the address of the model server.
    pub(super) fn new(source: &Path, program: &Path, base_url: &str) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let root = folder.path().join("suites");
        copy(source, &root).map_err(|error| format!("can't copy the collection: {error}"))?;

        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).current_dir(&root).stdout(Stdio::null()).stderr(Stdio::null());

        // The search for files stops at the root of a git repository. Without git, files are searched for in
        // the suite's own folder only.
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

    /// A suite by its index, with the index.
    pub(super) fn suite(&self, at: usize) -> Option<(usize, &Path)> {
        Some((at, self.suites.get(at)?))
    }

    /// Number of valid cases of a suite.
    pub(super) fn cases_of(&self, suite: &Path) -> usize {
        load_suite(suite, &self.options()).cases.len()
    }

    /// Path of a suite within the collection.
    pub(super) fn name_of(&self, suite: &Path) -> String {
        suite.strip_prefix(self.root()).unwrap_or(suite).display().to_string()
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("suites")
    }

    /// Run folder of a suite.
    pub(super) fn results(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("run-{at}"))
    }

    /// The command that runs a suite. Its `PATH` has the stand-in programs first.
    pub(super) fn command(&self, suite: &Path, at: usize) -> Command {
        let mut command = Command::new(&self.program);
        let programs = self.folder.path().join("bin");
        command
            .args([
                "eval", "--judge", "openai:scripted", "--json", "--quiet", "--keep-going", "--no-cache",
                "--allow-code",
            ])
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
            // Keeps git from fetching anything over the network.
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
            .stdin(Stdio::null());

        command
    }

    /// Every variable that a file of the copy refers to, and those with the address and key of the model
    /// server.
    fn all_variables(root: &Path, base_url: &str) -> Result<BTreeMap<String, String>, String> {
        let mut variables = BTreeMap::new();
        for file in files(root).map_err(|error| error.to_string())? {
            // Files that are not text have no variables.
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

    /// Creates placeholders for the attachments and custom graders that the collection does not include.
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

                // A path without an extension is a workspace template, which is a folder.
                let is_folder = path.extension().is_none();
                std::fs::create_dir_all(if is_folder { &path } else { parent })
                    .and_then(|()| if is_folder { Ok(()) } else { std::fs::write(&path, "left,out\n1,2\n") })
                    .map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(())
    }

    /// Defines every name that is used but not defined: judges as models, targets as a program.
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

/// Options for loading a suite when every variable has the same value.
pub(super) fn load_options(folder: &Path) -> LoadOptions {
    LoadOptions {
        environment: Arc::new(|_| Some("scripted".to_owned())),
        working_folder: folder.to_path_buf(),
        extra_roots: vec![folder.to_path_buf()],
        ..LoadOptions::new(folder)
    }
}

/// The names of the targets and judges of a suite. A name with both uses is a judge, since a model can also be
/// a target.
fn used_names(suite: &Path, options: &LoadOptions) -> BTreeMap<String, NameRole> {
    let loaded = load_suite(suite, options);
    let mut targets: BTreeSet<String> = BTreeSet::new();
    let mut judges: BTreeSet<String> = BTreeSet::new();
    let of_suite = loaded.suite.iter().flat_map(|suite| &suite.settings.targets);
    targets.extend(of_suite.map(|target| target.use_target.clone().unwrap_or_else(|| target.name.clone())));

    for case in loaded.cases.iter().flatten() {
        targets.extend(
            case.targets
                .iter()
                .map(|target| target.use_target.clone().unwrap_or_else(|| target.name.clone())),
        );
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
            // Copies the content without the permissions: the collection may be read-only, but the copy must be
            // writable.
            std::fs::write(&target, std::fs::read(entry.path())?)?;
        }
    }

    Ok(())
}
