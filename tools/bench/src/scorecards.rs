//! Scorecards: reading many files or a very long line, and aggregating and explaining a tree with many
//! benchmarks.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::measure::{fastest, once};
use super::{ProgramUnderTest, table};
use table::FigureTable;

/// Rubric files in the folder for `validate`, and benchmark files below each.
const RUBRICS: usize = 40;
const BENCHMARKS: usize = 49;
/// Leaves of the large tree: components, rubrics in each, benchmarks in each of those.
const TREE: [usize; 3] = [10, 100, 100];
/// Number of runs of each command; the fastest one counts.
const TIMES: usize = 5;

impl ProgramUnderTest {
    /// `validate` on a folder, `explain` and `score` on a run, each compared with reading the same files.
    pub(super) fn scorecards(&self) -> Result<FigureTable, String> {
        let mut table = FigureTable::new(
            "Scorecards",
            &["what", "time", "for each", "against the baseline", "peak memory"],
        );
        let files = self.folder_of_files()?;
        let read = fastest(TIMES, || self.cat(&files))?;
        let validate = fastest(TIMES, || self.command(&["validate", "card"]))?;
        let each = |time: std::time::Duration, count: usize| {
            format!("{:.1} µs", time.as_secs_f64() * 1e6 / count as f64)
        };
        let what = format!("reading {} files (`cat`)", files.len());
        table.row([&what, &table::time(read.time), &each(read.time, files.len()), "1", ""]);

        let what = format!("`assize validate` on these {} files", files.len());
        table.row([
            &what,
            &table::time(validate.time),
            &each(validate.time, files.len()),
            &table::ratio(validate.time, read.time),
            &table::memory(validate.peak),
        ]);

        let leaves: usize = TREE.iter().product();
        self.file("tree.json", &format!("{:#}\n", tree()))?;
        once(&mut self.command(&["scorecard", "run", "tree.json", "--run-dir", "tree", "--quiet"]))?;

        let rows = ["tree/run.json", "tree/results.jsonl", "tree/judgements.jsonl"];
        let read = fastest(TIMES, || self.cat(&rows.map(PathBuf::from)))?;
        let what = format!("reading a run over a tree of {} leaves (`cat`)", table::count(leaves));
        table.row([&what, &table::time(read.time), &each(read.time, leaves), "1", ""]);

        for (what, arguments) in [
            ("`assize scorecard score` of it", vec!["scorecard", "score", "tree"]),
            ("`assize scorecard score --json` of it", vec!["scorecard", "score", "tree", "--json"]),
            ("`assize explain` of its index", vec!["explain", "tree", "TOP"]),
            ("`assize explain` of one of its rubrics", vec!["explain", "tree", "A3-7"]),
        ] {
            let sample = fastest(TIMES, || self.command(&arguments))?;
            table.row([
                what,
                &table::time(sample.time),
                &each(sample.time, leaves),
                &table::ratio(sample.time, read.time),
                &table::memory(sample.peak),
            ]);
        }

        // The same tree on one line: every diagnostic has to compute its column.
        self.file("line.json", &tree().to_string())?;

        for (name, what) in [("tree.json", "many lines"), ("line.json", "one line")] {
            let read = fastest(TIMES, || self.cat(&[PathBuf::from(name)]))?;
            let sample = fastest(TIMES, || self.command(&["validate", name]))?;
            table.row([
                &format!("`assize validate` of the tree in a file of {what}"),
                &table::time(sample.time),
                &each(sample.time, leaves),
                &table::ratio(sample.time, read.time),
                &table::memory(sample.peak),
            ]);
        }

        Ok(table)
    }

    fn cat(&self, files: &[PathBuf]) -> Command {
        let mut command = Command::new("cat");
        command.args(files).current_dir(&self.folder);
        command
    }

    /// A valid folder with many small files; returns their paths.
    fn folder_of_files(&self) -> Result<Vec<PathBuf>, String> {
        let mut files = Vec::new();
        let mut write = |path: String, text: String| {
            let full = self.folder.join(&path);
            let folder = full.parent().ok_or("a file stands in a folder")?;
            std::fs::create_dir_all(folder).map_err(|error| format!("{path}: {error}"))?;
            files.push(PathBuf::from(&path));
            self.file(&path, &text)
        };
        for rubric in 0..RUBRICS {
            let code = format!("R{rubric}");
            let codes: Vec<String> = (0..BENCHMARKS).map(|at| format!("{code}-{at}")).collect();
            write(
                format!("card/rubrics/{code}.yaml"),
                format!(
                    "code: {code}\nlabel: A rubric\ndescription: >\n  What it evaluates, and why it matters.\n\
                     weight: 1.0\naggregation_method: WEIGHTED_AVERAGE\npassing_threshold: 0.80\n\
                     evaluation_guidelines:\n  focus_areas:\n    - Is the finding there?\n\
                     benchmarks: [{}]\n",
                    codes.join(", ")
                ),
            )?;

            for name in codes {
                write(
                    format!("card/benchmarks/{code}/{name}.yaml"),
                    format!(
                        "code: {name}\nparent_rubric: {code}\nlabel: A benchmark\nconcept: >\n  Share of records that \
                         say what the narrative says.\nweight: {}\nthreshold: 0.90\ncriticality: threshold_gate\n\
                         evaluator_type: code\nevaluator_config:\n  deterministic:\n    - {{type: contains, value: x}}\n\
                         inclusion_criteria: >\n  Apply when it is asked for. Flag if it is missing.\n\
                         exclusion_criteria: >\n  Do not apply when nothing is said.\n",
                        1.0 / BENCHMARKS as f64
                    ),
                )?;
            }
        }

        Ok(files)
    }
}

/// A file with a large tree and a case to which all benchmarks apply.
fn tree() -> Value {
    let [components, rubrics, benchmarks] = TREE;
    let mut groups = Vec::new();
    let mut leaves = Vec::new();
    let group = |code: &str, weight: usize, key: &str, parts: Vec<String>| {
        json!({ "code": code, "label": "l", "weight": 1.0 / weight as f64, "passing_threshold": 0.8,
                "aggregation_method": "WEIGHTED_AVERAGE", key: parts })
    };
    let top: Vec<String> = (0..components).map(|at| format!("A{at}")).collect();
    for component in &top {
        let below: Vec<String> = (0..rubrics).map(|at| format!("{component}-{at}")).collect();
        for rubric in &below {
            let codes: Vec<String> = (0..benchmarks).map(|at| format!("{rubric}-{at}")).collect();
            leaves.extend(codes.iter().enumerate().map(|(at, code)| {
                json!({ "code": code, "concept": "c", "weight": 1.0 / benchmarks as f64, "threshold": 0.9,
                        "criticality": if at == 0 { "hard_gate" } else { "threshold_gate" },
                        "evaluator_type": "code", "tags": ["t"],
                        "evaluator_config": { "deterministic": [{ "type": "contains", "value": "x" }] },
                        "inclusion_criteria": "Apply when asked. Flag if missing.",
                        "exclusion_criteria": "Do not apply when silent." })
            }));

            groups.push(group(rubric, rubrics, "benchmarks", codes));
        }

        groups.push(group(component, components, "sub_rubrics", below));
    }

    let weights: serde_json::Map<String, Value> =
        top.iter().map(|code| (code.clone(), json!(1.0 / components as f64))).collect();
    json!({
        "index": { "code": "TOP", "passing_threshold": 0.8, "components": top, "weights": weights },
        "rubrics": groups,
        "benchmarks": leaves,
        "cases": [{ "id": "c1", "tags": ["t"], "candidate_output": "x" }],
    })
}
