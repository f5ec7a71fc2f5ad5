//! Eval files of agent skills: `grading.json` for each eval, and `benchmark.json` for all of them.
//!
//! Names and nesting are those that the viewer of the `skill-creator` skill and its script `aggregate_benchmark.py` read:
//! each run is a folder `run-N`, with the answer in `outputs/`. An undecided expectation did not fail, so it is omitted, and
//! a note names the eval.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assize_rubric::{OutcomeKind, Verdict};
use assize_store::{CaseRecord, GraderRow};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::case_index::CaseIndex;
use super::json_list::write_json;
use super::{ReportError, RunReport};
use crate::case_block::stored_texts;
use crate::mark::VerdictMark;
use crate::sanitize::escape_lines;
use crate::style::ReportTone;

/// Names of the configurations of the first and the second run.
const CONFIGURATIONS: [&str; 2] = ["with_skill", "without_skill"];
/// File with the question of an eval.
const METADATA_FILE: &str = "eval_metadata.json";
/// Maximum length of a folder name, in characters.
const MAX_NAME: usize = 80;

/// One run of an eval.
struct SkillRun {
    eval_id: u64,
    case_id: String,
    configuration: &'static str,
    /// Number of the trial, from 1.
    number: u32,
    expectations: Vec<Expectation>,
    /// Number of undecided expectations.
    undecided: usize,
    /// Error that kept the eval from being graded.
    error: Option<String>,
    seconds: f64,
    tokens: Option<u64>,
    tool_calls: usize,
    /// The question and the answer; empty if they are not stored.
    question: String,
    answer: String,
}

#[derive(Serialize)]
struct Expectation {
    text: String,
    passed: bool,
    evidence: String,
}

/// Runs of all configurations, with notes about them.
struct SkillBenchmark {
    metadata: Value,
    configurations: &'static [&'static str],
    runs: Vec<SkillRun>,
    /// Facts about the whole runs that a reader must know, for example their scope.
    conclusions: Vec<String>,
}

/// Writes `benchmark.json`.
pub(super) fn write_benchmark(
    out: &mut dyn Write,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    let benchmark = SkillBenchmark::read(runs)?;
    write_json(out, &benchmark.to_json(), true)?;
    out.write_all(b"\n")?;

    Ok(benchmark.notes())
}

/// Writes `benchmark.json`, and for each run of an eval the folder `EVAL/CONFIGURATION/run-N` with `grading.json`,
/// `timing.json`, `eval_metadata.json` and `outputs/answer.md`. `write` takes the path within the report's folder and the
/// content of a file. If there are two runs, the first one is the one with
/// the skill. Returns remarks for the user.
///
/// # Errors
/// If the runs can't be read, or `write` fails.
pub fn write_skill_files(
    runs: &[RunReport<'_>],
    write: &mut dyn FnMut(&Path, &[u8]) -> io::Result<()>,
) -> Result<Vec<String>, ReportError> {
    let benchmark = SkillBenchmark::read(runs)?;
    let mut put = |path: &Path, value: &Value| -> Result<(), ReportError> {
        let mut content = Vec::new();
        write_json(&mut content, value, true)?;
        content.push(b'\n');
        Ok(write(path, &content)?)
    };

    for run in benchmark.runs.iter().filter(|run| run.is_graded()) {
        let eval = PathBuf::from(folder_name(&run.case_id));
        let folder = run.folder();
        // The script looks for it beside the configurations, and the viewer beside the outputs.
        put(&eval.join(METADATA_FILE), &run.metadata())?;
        put(&folder.join(METADATA_FILE), &run.metadata())?;
        put(&folder.join("grading.json"), &run.grading())?;
        put(&folder.join("timing.json"), &run.timing())?;
    }
    put(Path::new("benchmark.json"), &benchmark.to_json())?;
    for run in benchmark.runs.iter().filter(|run| run.is_graded()) {
        write(&run.folder().join("outputs/answer.md"), run.answer.as_bytes())?;
    }

    Ok(benchmark.notes())
}

/// Returns the folder name of an eval. It begins with `eval-` and contains no character with a special meaning in file
/// systems.
fn folder_name(case_id: &str) -> String {
    let plain: String = case_id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    if plain.starts_with("eval-") { plain } else { format!("eval-{plain}") }
}

impl SkillBenchmark {
    fn read(reports: &[RunReport<'_>]) -> Result<Self, ReportError> {
        if reports.len() > CONFIGURATIONS.len() {
            return Err(ReportError::Unsupported(
                "a benchmark of a skill holds two runs, the first with the skill; name no more".to_owned(),
            ));
        }

        let mut runs = Vec::new();
        let mut places: HashMap<String, u64> = HashMap::new();
        let (mut models, mut judges) = (BTreeSet::new(), BTreeSet::new());
        for (report, configuration) in reports.iter().zip(CONFIGURATIONS) {
            judges.extend(report.info.judges.iter().map(|judge| judge.identity.name.to_string()));
            let index = CaseIndex::read(report)?;
            let mut questions = report.questions()?;
            let targets: BTreeSet<_> = index.groups.iter().map(|group| &group.target).collect();
            if targets.len() > 1 {
                return Err(ReportError::Unsupported(format!(
                    "`{0}` has the answers of several targets; name two, such as `{0}@with {0}@without`",
                    report.name
                )));
            }
            models.extend(targets.into_iter().flatten().map(ToString::to_string));
            for read in index.rows(report, |_| true)? {
                let (_, record) = read?;
                if record.result.is_skipped() {
                    continue;
                }
                let case_id = escape_lines(&record.result.case_id);
                let next = places.len() as u64 + 1;
                let place = *places.entry(case_id.clone()).or_insert(next);
                let hash = record.result.case_hash.as_deref().unwrap_or_default();
                let question = questions.read(hash)?.and_then(|row| row.question).unwrap_or_default();
                runs.push(SkillRun { question, ..SkillRun::read(&record, case_id, place, configuration) });
            }
        }
        refuse_same_folders(&runs)?;

        let names = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let evals: BTreeSet<u64> = runs.iter().map(|run| run.eval_id).collect();
        let most_trials = runs.iter().map(|run| run.number).max().unwrap_or(0);
        let skill = reports.first().map(RunReport::suite_names).unwrap_or_default();
        let metadata = json!({
            "generator": "assize",
            "skill_name": escape_lines(&skill),
            "executor_model": escape_lines(&names(&models)),
            "analyzer_model": escape_lines(&names(&judges)),
            "timestamp": reports.first().map(|report| &report.info.started_at),
            "evals_run": evals,
            "runs_per_configuration": most_trials,
        });
        let summaries = reports.iter().filter_map(|report| report.info.summary.as_ref());
        let lines = summaries.flat_map(|summary| summary.conclusion.lines());
        let conclusions = lines.map(|line| line.text).collect();

        Ok(Self { metadata, configurations: &CONFIGURATIONS[..reports.len()], runs, conclusions })
    }

    fn graded(&self, configuration: &str) -> impl Iterator<Item = &SkillRun> {
        self.runs.iter().filter(move |run| run.configuration == configuration && run.is_graded())
    }

    /// Notes on data that the metrics don't include, one sentence per eval.
    fn notes(&self) -> Vec<String> {
        self.runs.iter().filter_map(SkillRun::note).chain(self.conclusions.iter().cloned()).collect()
    }

    fn to_json(&self) -> Value {
        let mut summary = Map::new();
        for configuration in self.configurations {
            let rates: Vec<f64> = self.graded(configuration).filter_map(SkillRun::pass_rate).collect();
            let seconds: Vec<f64> = self.graded(configuration).map(|run| run.seconds).collect();
            let tokens: Vec<f64> =
                self.graded(configuration).filter_map(|run| run.tokens).map(|count| count as f64).collect();
            let mut metrics = json!({ "pass_rate": spread(&rates), "time_seconds": spread(&seconds) });
            if !tokens.is_empty() {
                metrics["tokens"] = spread(&tokens);
            }
            summary.insert((*configuration).to_owned(), metrics);
        }
        if let [with, without] = self.configurations {
            let difference = |key: &str, digits: usize| {
                let mean_of = |configuration: &str| summary[configuration][key]["mean"].as_f64();
                Some(Value::String(format!("{:+.digits$}", mean_of(with)? - mean_of(without)?)))
            };
            let delta: Map<String, Value> = [("pass_rate", 2), ("time_seconds", 1), ("tokens", 0)]
                .into_iter()
                .filter_map(|(key, digits)| Some((key.to_owned(), difference(key, digits)?)))
                .collect();
            summary.insert("delta".to_owned(), Value::Object(delta));
        }

        json!({
            "metadata": self.metadata,
            "runs": self.runs.iter().filter(|run| run.is_graded()).map(SkillRun::to_json).collect::<Vec<_>>(),
            "run_summary": summary,
            "notes": self.notes(),
        })
    }
}

/// Refuses evals whose folders would be the same on a case-insensitive file system.
fn refuse_same_folders(runs: &[SkillRun]) -> Result<(), ReportError> {
    let mut owners: HashMap<String, &str> = HashMap::new();
    for run in runs {
        let owner = owners.entry(folder_name(&run.case_id).to_ascii_lowercase()).or_insert(&run.case_id);
        if *owner != run.case_id {
            return Err(ReportError::Unsupported(format!(
                "the evals `{owner}` and `{}` would share the folder `{}`; give one of them another id",
                run.case_id,
                folder_name(&run.case_id)
            )));
        }
    }

    Ok(())
}

impl SkillRun {
    fn read(record: &CaseRecord, case_id: String, place: u64, configuration: &'static str) -> Self {
        let row = &record.result;
        let texts = stored_texts(&record.decisions);
        let (mut expectations, mut undecided) = (Vec::new(), 0);
        for grader in &row.graders {
            for criterion in &grader.criteria {
                match criterion.outcome {
                    OutcomeKind::NotApplicable => {}
                    OutcomeKind::Ungraded => undecided += 1,
                    _ => expectations.push(Expectation {
                        text: escape_lines(
                            &texts(&grader.name, &criterion.id).unwrap_or_else(|| criterion.id.to_string()),
                        ),
                        passed: VerdictMark::for_criterion(criterion, grader.negate).tone == ReportTone::Good,
                        evidence: escape_lines(&criterion.reason),
                    }),
                }
            }
            if grader.criteria.is_empty() {
                match whole(grader) {
                    Some(expectation) => expectations.push(expectation),
                    None => undecided += 1,
                }
            }
        }

        let tokens = row.tokens.input.into_iter().chain(row.tokens.output).reduce(u64::saturating_add);
        let number = case_id.strip_prefix("eval-").and_then(|rest| rest.parse().ok());
        Self {
            eval_id: number.unwrap_or(place),
            case_id,
            configuration,
            number: row.trial.max(1),
            expectations,
            undecided,
            error: row.error.as_ref().map(|error| escape_lines(&error.message)),
            seconds: row.duration_ms as f64 / 1000.0,
            tokens,
            tool_calls: row.tool_calls.len() + row.tool_calls_dropped,
            question: String::new(),
            answer: row.answer.clone().unwrap_or_default(),
        }
    }

    /// Returns true if at least one expectation was decided.
    fn is_graded(&self) -> bool {
        self.error.is_none() && !self.expectations.is_empty()
    }

    fn passed(&self) -> usize {
        self.expectations.iter().filter(|expectation| expectation.passed).count()
    }

    fn pass_rate(&self) -> Option<f64> {
        let total = self.expectations.len();
        (total > 0).then(|| rounded(self.passed() as f64 / total as f64))
    }

    fn note(&self) -> Option<String> {
        let Self { case_id, configuration, number, undecided, .. } = self;
        let eval = format!("eval `{case_id}` ({configuration}, run {number})");
        match (&self.error, self.expectations.len()) {
            (Some(error), _) => Some(format!("{eval} was not graded: {error}")),
            (None, 0) => Some(format!("{eval} was not graded: no expectation was decided")),
            (None, decided) if *undecided > 0 => {
                Some(format!("{eval}: {undecided} of {} expectations were not decided", decided + undecided))
            }
            _ => None,
        }
    }

    fn summary(&self) -> Value {
        let (passed, total) = (self.passed(), self.expectations.len());
        json!({ "passed": passed, "failed": total - passed, "total": total, "pass_rate": self.pass_rate() })
    }

    /// The folder of this run, below that of its eval.
    fn folder(&self) -> PathBuf {
        let folder = PathBuf::from(folder_name(&self.case_id)).join(self.configuration);
        folder.join(format!("run-{}", self.number))
    }

    /// Returns the content of `eval_metadata.json`.
    fn metadata(&self) -> Value {
        json!({ "eval_id": self.eval_id, "eval_name": self.case_id, "prompt": self.question })
    }

    /// Returns the content of `timing.json`.
    fn timing(&self) -> Value {
        json!({ "total_duration_seconds": self.seconds, "total_tokens": self.tokens.unwrap_or(0) })
    }

    /// Returns the content of `grading.json`. It has no times, because the script then leaves out the tokens.
    fn grading(&self) -> Value {
        json!({
            "expectations": self.expectations,
            "summary": self.summary(),
            "execution_metrics": { "total_tool_calls": self.tool_calls, "errors_encountered": 0 },
        })
    }

    /// Returns its entry in `benchmark.json`.
    fn to_json(&self) -> Value {
        let mut result = self.summary();
        result["time_seconds"] = json!(self.seconds);
        if let Some(tokens) = self.tokens {
            result["tokens"] = json!(tokens);
        }
        result["tool_calls"] = json!(self.tool_calls);
        result["errors"] = json!(0);

        json!({
            "eval_id": self.eval_id,
            "eval_name": self.case_id,
            "configuration": self.configuration,
            "run_number": self.number,
            "result": result,
            "expectations": self.expectations,
            "notes": self.note().into_iter().collect::<Vec<_>>(),
        })
    }
}

/// Converts a grader without criteria to one expectation; `None` if it decided nothing.
fn whole(grader: &GraderRow) -> Option<Expectation> {
    let verdict =
        grader.verdict.filter(|verdict| *verdict != Verdict::Incomplete && grader.error.is_none())?;
    Some(Expectation {
        text: escape_lines(&grader.name),
        passed: verdict == Verdict::Pass,
        evidence: grader.score.map(|score| format!("score {}", rounded(score))).unwrap_or_default(),
    })
}

/// Returns the mean, the sample standard deviation, and the smallest and largest value. The deviation of a
/// single value is undefined.
fn spread(values: &[f64]) -> Value {
    let count = values.len() as f64;
    let average = (count > 0.0).then(|| values.iter().sum::<f64>() / count);
    let deviation = average.filter(|_| count > 1.0).map(|average| {
        let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
        (squares / (count - 1.0)).sqrt()
    });
    json!({
        "mean": average.map(rounded),
        "stddev": deviation.map(rounded),
        "min": values.iter().copied().reduce(f64::min).map(rounded),
        "max": values.iter().copied().reduce(f64::max).map(rounded),
    })
}

/// Rounds to four digits, as the readers of these files do.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
