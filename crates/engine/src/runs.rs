//! Folders of stored runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assize_diagnostic::{did_you_mean_name, list_first};
use assize_rubric::Verdict;
use assize_store::{AnswerPart, RunFolder, RunInfo};

use crate::error::EngineError;
use crate::process::ProcessContext;

/// Default folder of runs.
pub const RUNS_FOLDER: &str = ".assize/runs";

/// Default folder of audits, which are stored like runs. `last` and lists of runs do not include them.
pub const AUDITS_FOLDER: &str = ".assize/audits";

/// List of runs that were made in other folders: one path a line, the newest last.
const ELSEWHERE: &str = ".assize/runs/elsewhere";

/// Advice for runs that are elsewhere.
const NAMED_BY_FOLDER: &str = "a run made with `--run-dir` is named by its folder";

/// The most ids that a message lists; the rest is only counted.
const MAX_LISTED_IDS: usize = 5;

/// Format of the timestamp at the beginning of an id.
const TIMESTAMP: &str = "%Y%m%d-%H%M%S";
/// An example of such a timestamp.
const TIMESTAMP_EXAMPLE: &str = "20260102-153012";

/// The default folder of a run.
pub(crate) fn default_folder(info: &RunInfo, process: &ProcessContext) -> PathBuf {
    let folder = if info.command.starts_with("audit ") { AUDITS_FOLDER } else { RUNS_FOLDER };
    process.resolve(Path::new(folder).join(&info.run_id))
}

/// Creates an id such as `20260102-153012-label-1a2b`. Ids sort by time, and two runs within one second differ.
pub fn run_id(started_at: jiff::Timestamp, label: &str) -> String {
    let mut word: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    word.truncate(32);

    let word = word.trim_matches('-');
    let word = if word.is_empty() { "run" } else { word };
    let suffix = &uuid::Uuid::new_v4().simple().to_string()[..4];
    format!("{}-{word}-{suffix}", timestamp(started_at))
}

fn timestamp(at: jiff::Timestamp) -> String {
    at.strftime(TIMESTAMP).to_string()
}

fn is_timestamp(text: &str) -> bool {
    jiff::civil::DateTime::strptime(TIMESTAMP, text).is_ok()
}

/// Refuses a file as the folder of a run.
pub(crate) fn check_run_dir(folder: Option<&Path>) -> Result<(), EngineError> {
    let Some(path) = folder.filter(|folder| folder.is_file()) else { return Ok(()) };
    let (shown, stem) = (path.display(), path.with_extension(""));
    Err(EngineError::usage(format!(
        "`--run-dir {shown}` is a file, and a run is a folder: use `--run-dir {}`, or `--out {shown}` for a report in one file",
        if stem.is_file() { "runs/today".to_owned() } else { stem.display().to_string() }
    )))
}

/// Finds a run by a folder, an id in the folder of runs or of audits, the unique beginning of an id, `last`, or
/// `last~N`.
pub fn find_run(name: &str, process: &ProcessContext) -> Result<RunFolder, EngineError> {
    let runs = process.resolve(RUNS_FOLDER);

    if name == "last" {
        return newest_in(runs.clone()).next().ok_or_else(|| EngineError::usage(no_runs(process)));
    }

    if let Some(back) = name.strip_prefix("last~").and_then(|back| back.parse::<usize>().ok()) {
        let known = run_ids(&runs).len();
        return newest_in(runs.clone()).nth(back).ok_or_else(|| {
            EngineError::usage(match known {
                0 => no_runs(process),
                1 => format!("no run `{name}`: `{RUNS_FOLDER}` has one run, `last`; {NAMED_BY_FOLDER}"),
                known => format!(
                    "no run `{name}`: `{RUNS_FOLDER}` has {known} runs, the oldest of which is `{}`; `assize list` shows them; {NAMED_BY_FOLDER}",
                    name_of(known - 1)
                ),
            })
        });
    }

    for candidate in [process.resolve(name), runs.join(name), process.resolve(AUDITS_FOLDER).join(name)] {
        if candidate.is_dir() {
            return Ok(RunFolder::new(candidate));
        }
    }

    let mut ids = run_ids(&runs);
    ids.reverse();
    let alike: Vec<&String> = ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
    match &alike[..] {
        [] => {}
        [only] => return Ok(RunFolder::new(runs.join(only))),
        several => {
            return Err(EngineError::usage(format!(
                "`{name}` is the beginning of {} ids: {}; write more of the one you mean",
                several.len(),
                list_first(several, MAX_LISTED_IDS)
            )));
        }
    }

    let known = ids.iter().map(String::as_str);
    let hint = match did_you_mean_name(name, known.chain(["last"])) {
        _ if ids.is_empty() => format!("`{RUNS_FOLDER}` has no runs"),
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            ids.truncate(3);
            format!("the newest are {}", ids.join(", "))
        }
    };
    Err(EngineError::usage(format!(
        "no run `{name}`: it is neither a folder nor an id in `{RUNS_FOLDER}`; {hint}"
    )))
}

/// A message for a working folder without runs. It names the folder, and a parent folder that has runs.
pub fn no_runs(process: &ProcessContext) -> String {
    let working_folder = &process.working_folder;
    let above =
        working_folder.ancestors().skip(1).find(|folder| !run_ids(&folder.join(RUNS_FOLDER)).is_empty());
    let advice = match above {
        Some(folder) => format!("`{}` has runs: run the command there", folder.display()),
        None => format!("`assize eval` creates one; {NAMED_BY_FOLDER}"),
    };

    format!("no runs in `{}` yet; {advice}", working_folder.join(RUNS_FOLDER).display())
}

/// The name that commands accept for the run `back` runs before the newest: `last`, `last~1`.
pub fn name_of(back: usize) -> String {
    if back == 0 { "last".to_owned() } else { format!("last~{back}") }
}

/// Finds a run, and the part of its answers that the name selects: by target (`RUN@TARGET`), by prompt (`RUN@PROMPT`),
/// or by both (`RUN@TARGET@PROMPT`).
pub fn find_answers(name: &str, process: &ProcessContext) -> Result<(RunFolder, AnswerPart), EngineError> {
    if process.resolve(name).exists() {
        return Ok((find_run(name, process)?, AnswerPart::default()));
    }
    // Folders, targets and prompts may have an `@` in their names, so the longest name of a run counts.
    let mut missing = None;
    for (at, _) in name.rmatch_indices('@').filter(|(at, _)| *at > 0 && at + 1 < name.len()) {
        match find_run(&name[..at], process) {
            Ok(folder) => {
                let part = answer_part(&folder, &name[..at], &name[at + 1..])?;
                return Ok((folder, part));
            }
            Err(error) => missing = Some(error),
        }
    }
    missing.map_or_else(|| Ok((find_run(name, process)?, AnswerPart::default())), Err)
}

/// The part of a run's answers that a name after `@` selects.
pub(crate) fn answer_part(folder: &RunFolder, run: &str, wanted: &str) -> Result<AnswerPart, EngineError> {
    folder.answer_names()?.find(wanted).map_err(|why| EngineError::usage(format!("`{run}` {why}")))
}

/// Returns the cases of a run that failed or are incomplete, by their suite and id.
///
/// # Errors
/// When there is no such run, its results can't be read, or there is no such case.
pub(crate) fn failed_cases(
    name: &str,
    process: &ProcessContext,
) -> Result<BTreeSet<(String, String)>, EngineError> {
    let mut cases = BTreeSet::new();
    for row in find_run(name, process)?.results()? {
        let row = row?;
        if !matches!(row.verdict, Verdict::Pass | Verdict::Borderline) {
            cases.insert((row.suite.to_string(), row.case_id.to_string()));
        }
    }
    if cases.is_empty() {
        let message = format!("no case of run `{name}` failed or is incomplete; nothing was run");
        return Err(EngineError::usage(message));
    }

    Ok(cases)
}

/// Patterns for the ids of the failed and incomplete cases, for machines that do not have the run. Each matches
/// only its id.
///
/// # Errors
/// As for a run on this machine, and if the run has several suites, in which ids may be equal.
pub fn failed_case_patterns(name: &str, process: &ProcessContext) -> Result<Vec<String>, EngineError> {
    let cases = failed_cases(name, process)?;
    if find_run(name, process)?.info()?.suites.len() > 1 {
        let message = format!(
            "run `{name}` has several suites, and workers select cases by their ids alone; name the cases with `--filter`"
        );
        return Err(EngineError::usage(message));
    }

    Ok(cases.iter().map(|(_, id)| globset::escape(id)).collect())
}

/// Sorted ids. They begin with the time, so the last is the newest.
fn run_ids(runs: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(runs) else { return Vec::new() };
    let mut ids: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.path().join("run.json").is_file().then(|| entry.file_name().to_string_lossy().into_owned())
        })
        .collect();

    ids.sort();
    ids
}

/// The runs of the runs folder, newest first.
pub fn newest_first(process: &ProcessContext) -> impl Iterator<Item = RunFolder> + use<> {
    newest_in(process.resolve(RUNS_FOLDER))
}

/// The audits of the audits folder, newest first.
pub fn audits_newest_first(process: &ProcessContext) -> impl Iterator<Item = RunFolder> + use<> {
    newest_in(process.resolve(AUDITS_FOLDER))
}

/// Remembers a run in a folder of its own, so that lists have it. A failure is no reason to stop a run.
pub fn remember(folder: &Path, process: &ProcessContext) {
    let folder = process.resolve(folder);
    if [RUNS_FOLDER, AUDITS_FOLDER].iter().any(|usual| folder.starts_with(process.resolve(usual))) {
        return;
    }
    let list = process.resolve(ELSEWHERE);
    let shown = folder.strip_prefix(&process.working_folder).unwrap_or(&folder).display().to_string();
    let known = assize_files::read_text(&list).unwrap_or_default();
    if known.lines().any(|line| line == shown) || shown.contains(['\n', '\r']) {
        return;
    }
    if let Some(parent) = list.parent() {
        let _ = std::fs::create_dir_all(parent);
    }
    let _ = std::fs::write(&list, format!("{known}{shown}\n"));
}

/// The runs in other folders that are still there, newest first, each with its path as a command takes it.
pub fn elsewhere(process: &ProcessContext) -> Vec<(String, RunFolder)> {
    let known = assize_files::read_text(&process.resolve(ELSEWHERE)).unwrap_or_default();
    let named = known.lines().map(|path| (path.to_owned(), RunFolder::new(process.resolve(path))));
    let mut runs: Vec<_> =
        named.filter_map(|(path, folder)| Some((folder.info().ok()?.started_at, path, folder))).collect();
    runs.sort_by(|a, b| b.0.cmp(&a.0));
    runs.into_iter().map(|(_, path, folder)| (path, folder)).collect()
}

fn newest_in(runs: PathBuf) -> impl Iterator<Item = RunFolder> + use<> {
    // Ids are precise to the second. Stored start times order the runs within one second, and folders that people named.
    let started = |id: &str| {
        let info = RunFolder::new(runs.join(id)).info().ok()?;
        info.started_at.parse::<jiff::Timestamp>().ok()
    };
    let second = |id: &str| {
        let named = id.get(..TIMESTAMP_EXAMPLE.len()).filter(|text| is_timestamp(text));
        named.map(str::to_owned).or_else(|| Some(timestamp(started(id)?))).unwrap_or_default()
    };
    let mut timed: Vec<(String, String)> = run_ids(&runs).into_iter().map(|id| (second(&id), id)).collect();
    timed.sort();
    for together in timed.chunk_by_mut(|a, b| a.0 == b.0).filter(|runs| runs.len() > 1) {
        together.sort_by_cached_key(|(_, id)| started(id));
    }

    timed.into_iter().rev().map(move |(_, id)| RunFolder::new(runs.join(id)))
}
