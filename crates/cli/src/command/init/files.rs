//! Files that `assize init` writes.

use std::path::Path;
use std::str::FromStr;

use assize_engine::OFFLINE;

use super::InitFormat;
use crate::args::shell_word;
use crate::command::schema;

/// The project that the files are written for.
pub(super) struct ProjectSetup {
    /// Format of the first suite.
    pub(super) format: InitFormat,
    /// The judge that the configuration names.
    pub(super) judge: String,
    /// True if the judge is a model on this machine.
    pub(super) judge_is_local: bool,
    /// Judges that are usable here, as `PROVIDER:MODEL`; the word `MODEL` where the user has to name one.
    pub(super) ready: Vec<String>,
    /// Path of the folder within its git repository, with `/`; empty at the root, and outside a repository.
    pub(super) path_in_repository: String,
}

/// A file to write.
#[derive(Debug)]
pub(super) struct ProjectFile {
    /// The path below the folder, with `/`.
    pub(super) path: String,
    /// Its whole text.
    pub(super) text: String,
}

/// Path of the workflow below the folder.
pub(super) const WORKFLOW: &str = ".github/workflows/evals.yaml";

/// Entries for `.gitignore`: files that can be generated again, and secrets.
pub(super) const IGNORED: &[&str] = &["/.assize/runs/", "/.assize/cache/", ".env"];

/// YAML files of a scorecard: path, schema, text.
const SCORECARD: &[(&str, &str, &str)] = &[
    ("scorecard/rubrics/Q.yaml", "scorecard-rubric", include_str!("../../../templates/scorecard/Q.yaml")),
    (
        "scorecard/benchmarks/Q-FACT.yaml",
        "scorecard-benchmark",
        include_str!("../../../templates/scorecard/Q-FACT.yaml"),
    ),
    (
        "scorecard/benchmarks/Q-TONE.yaml",
        "scorecard-benchmark",
        include_str!("../../../templates/scorecard/Q-TONE.yaml"),
    ),
];

/// Checks the name of a judge: it must need no quotes in YAML, and name a model or a target of the project.
pub(super) fn check_judge(judge: &str, is_target: bool) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    if judge.is_empty()
        || !judge.chars().all(plain)
        || !judge.starts_with(|c: char| c.is_ascii_alphanumeric())
    {
        return Err(format!(
            "`{}` names no judge; write `offline` or PROVIDER:MODEL",
            judge.escape_default()
        ));
    }
    if judge == OFFLINE || is_target {
        return Ok(());
    }

    // Refuse it now; otherwise the next command would refuse it in the file.
    assize_llm::ModelName::from_str(judge)
        .map(drop)
        .map_err(|error| format!("{error}; `assize doctor --all` lists the providers"))
}

/// All files, in the order in which they are shown.
pub(super) fn files(setup: &ProjectSetup) -> Vec<ProjectFile> {
    let yaml = |path: &str, schema: &str, text: &str| {
        let depth = path.matches('/').count();
        ProjectFile { path: path.to_owned(), text: format!("{}{text}", schema::editor_line(schema, depth)) }
    };
    let plain = |path: &str, text: &str| ProjectFile { path: path.to_owned(), text: text.to_owned() };
    let mut files = match setup.format {
        InitFormat::Tests => {
            vec![yaml("evals/first.eval.yaml", "suite", include_str!("../../../templates/two.yaml"))]
        }
        InitFormat::Evalcases => {
            vec![yaml("evals/first.eval.yaml", "suite", include_str!("../../../templates/one.yaml"))]
        }
        InitFormat::Scorecard => {
            let mut card: Vec<ProjectFile> =
                SCORECARD.iter().map(|(path, schema, text)| yaml(path, schema, text)).collect();
            card.push(plain(
                "scorecard/cases/first.jsonl",
                include_str!("../../../templates/scorecard/cases.jsonl"),
            ));
            card.push(plain(
                "scorecard/labels/first.jsonl",
                include_str!("../../../templates/scorecard/labels.jsonl"),
            ));

            card
        }
    };

    files.push(yaml(".assize/config.yaml", "config", &config(setup)));
    files.push(plain(".env.example", include_str!("../../../templates/env.example")));
    files.push(ProjectFile { path: WORKFLOW.to_owned(), text: workflow(setup) });

    let schemas = schema::files().into_iter();
    files
        .extend(schemas.map(|(name, text)| ProjectFile { path: format!("{}/{name}", schema::FOLDER), text }));

    files
}

fn config(setup: &ProjectSetup) -> String {
    let named = setup.judge != OFFLINE;
    let usable = setup.ready.iter().filter(|_| !named).map(|judge| {
        let provider = judge.split_once(':').map_or(&**judge, |(provider, _)| provider);
        format!("# {provider} is usable here: `judge: {judge}`.\n")
    });

    let head = "# Default judge; eval files and the command line override it.\n".to_owned();
    std::iter::once(head).chain(usable).chain([format!("judge: {}\n", setup.judge)]).collect()
}

fn workflow(setup: &ProjectSetup) -> String {
    let is_scorecard = setup.format == InitFormat::Scorecard;
    let (subject, run) =
        if is_scorecard { ("scorecard", "scorecard score scorecard") } else { ("evals", "eval evals") };
    let secret = match key_variable(&setup.judge) {
        _ if is_scorecard => String::new(),
        Some(key) => format!("        env:\n          {key}: ${{{{ secrets.{key} }}}}\n"),
        None => "        # A judge that needs a key gets it from the secrets of this repository:\n        \
                 # env: {OPENAI_API_KEY: \"${{ secrets.OPENAI_API_KEY }}\"}\n"
            .to_owned(),
    };

    let inside = &setup.path_in_repository;
    let (defaults, prefix) = if inside.is_empty() {
        (String::new(), String::new())
    } else {
        (format!("defaults:\n  run: {{working-directory: \"{inside}\"}}\n"), format!("{inside}/"))
    };

    include_str!("../../../templates/workflow.yaml")
        .replace("@SUBJECT@", subject)
        .replace("@RUN@", run)
        .replace("@SECRET@", &secret)
        .replace("@DEFAULTS@", &defaults)
        .replace("@PREFIX@", &prefix)
}

/// Why the workflow does not work without changes.
pub(super) fn workflow_notes(setup: &ProjectSetup) -> Vec<String> {
    let mut notes = Vec::new();
    let inside = &setup.path_in_repository;
    if !inside.is_empty() {
        notes.push(format!(
            "GitHub reads workflows only at the root of a repository: move {inside}/{WORKFLOW} to {WORKFLOW} there. Its \
             commands then run in {inside}."
        ));
    }

    let judge = &setup.judge;
    if setup.judge_is_local && setup.format != InitFormat::Scorecard {
        notes.push(format!(
            "{judge} is a judge on this machine, which GitHub's runners can't reach: use a runner of your own, or name \
             another judge with `--judge` in {WORKFLOW}."
        ));
    }

    notes
}

/// The variable with the key of a judge's provider; `None` for a judge that needs none.
fn key_variable(judge: &str) -> Option<String> {
    let (provider, _) = judge.split_once(':')?;
    let found = assize_llm::readiness(&|_| None).into_iter().find(|row| row.provider == provider)?;
    (!found.state.is_ready()).then_some(found.key_variable)
}

/// Commands to try next.
pub(super) fn next_commands(setup: &ProjectSetup, folder: &Path) -> Vec<String> {
    let mut commands = Vec::new();
    if folder != Path::new(".") {
        commands.push(format!("cd {}", shell_word(&folder.display().to_string())));
    }

    commands.extend(match setup.format {
        InitFormat::Scorecard => [
            "assize validate scorecard", "assize scorecard list scorecard",
            "assize scorecard score scorecard",
        ]
        .map(str::to_owned)
        .to_vec(),
        InitFormat::Evalcases | InitFormat::Tests => {
            ["assize validate evals", "assize lint evals", "assize eval evals"].map(str::to_owned).to_vec()
        }
    });
    commands
}
