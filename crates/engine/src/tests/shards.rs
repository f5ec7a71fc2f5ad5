//! Merged shards of a plan equal a run of the whole plan.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    Engine, EngineErrorKind, EngineEvent, EvalMode, EvalOptions, ExitStatus, FinishedRun, MergeOptions,
    NEWEST_RUN, PreparedPlan, RunOutcome, SequenceOptions, UnitOptions,
};
use assize_grade::{Judge, JudgeQuestion};
use assize_llm::BoxFuture;
use assize_rubric::{Criterion, Decision, Finding, JudgeIdentity, Outcome, UngradedKind, UngradedReason};
use assize_store::RunInfo;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::tests::fakes::TrialTarget;
use crate::tests::support::{Fixture, checked_suite, finished_cases};

/// Decides by a hash of the criterion and the answer; sometimes it does not decide.
struct HashJudge(&'static str);

impl HashJudge {
    fn decide_on(&self, criterion: Criterion, answer: &str) -> Decision {
        let hash = blake3::hash(format!("{}|{}|{answer}", self.0, criterion.text).as_bytes());
        match hash.as_bytes()[0] % 8 {
            0 => Decision::ungraded(
                self.identity(),
                criterion,
                UngradedReason { kind: UngradedKind::Malformed, message: "it says nothing".to_owned() },
            ),
            1 | 2 => self.decision(criterion, Outcome::Unmet),
            _ => self.decision(criterion, Outcome::Met),
        }
    }

    fn decision(&self, criterion: Criterion, outcome: Outcome) -> Decision {
        Decision::new(self.identity(), Finding::Criterion { criterion, outcome }, "by hash")
    }
}

impl Judge for HashJudge {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity { name: self.0.into(), ..JudgeIdentity::default() }
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        let decide = |question: &JudgeQuestion| {
            let JudgeQuestion::Rubric(task) = question else { panic!("only rubrics are asked about") };
            let criteria = task.rubric.criteria().iter().cloned();
            criteria.map(|criterion| self.decide_on(criterion, &task.material.answer)).collect()
        };
        Box::pin(async move { questions.iter().map(decide).collect() })
    }
}

/// A case of a generated suite.
#[derive(Debug, Clone)]
struct MadeCase {
    criteria: usize,
    /// True if it has a given answer.
    is_given: bool,
    /// Trials, their strategy, and whether they end at the first pass.
    trials: Option<(u32, &'static str, bool)>,
    /// Index of the case that it depends on, if that has a lower rank.
    depends_on: Option<usize>,
    rank: u32,
    on_failure: &'static str,
    cluster: Option<u8>,
}

fn made_case() -> impl Strategy<Value = MadeCase> {
    let trials = prop_oneof![
        4 => Just(None),
        1 => Just(Some((3, "pass_at_k", true))),
        1 => Just(Some((2, "pass_all", false))),
        1 => Just(Some((3, "mean", false))),
    ];
    let on_failure = prop_oneof![Just("skip"), Just("fail"), Just("run")];
    let depends_on = proptest::option::weighted(0.3, 0usize..12);
    let cluster = proptest::option::weighted(0.3, 0u8..3);

    (1usize..4, any::<bool>(), trials, depends_on, any::<u32>(), on_failure, cluster).prop_map(
        |(criteria, is_given, trials, depends_on, rank, on_failure, cluster)| MadeCase {
            criteria,
            is_given,
            trials,
            depends_on,
            rank,
            on_failure,
            cluster,
        },
    )
}

fn suite_text(name: &str, cases: &[MadeCase]) -> String {
    let mut text = format!("name: {name}\ntests:\n");
    for (at, case) in cases.iter().enumerate() {
        let _ = write!(text, "  - id: case-{at}\n    criteria: be right\n    input: question {}\n", at % 5);
        if case.is_given {
            let _ = writeln!(text, "    output: answer {at} of {name}");
        }
        if let Some((count, strategy, early_stop)) = case.trials {
            let _ = writeln!(
                text,
                "    execution: {{trials: {{count: {count}, strategy: {strategy}, early_stop: {early_stop}}}}}"
            );
        }
        if let Some(cluster) = case.cluster {
            let _ = writeln!(text, "    metadata: {{cluster: group-{cluster}}}");
        }
        if let Some(before) =
            case.depends_on.filter(|before| cases.get(*before).is_some_and(|one| one.rank < case.rank))
        {
            let _ = writeln!(
                text,
                "    depends_on: [case-{before}]\n    on_dependency_failure: {}",
                case.on_failure
            );
        }

        text.push_str("    assertions:\n      - type: rubrics\n        criteria:\n");
        for criterion in 0..case.criteria {
            let _ = write!(
                text,
                "          - id: c{criterion}\n            outcome: Says {criterion}\n            weight: {}\n            \
                 required: {}\n",
                criterion + 1,
                criterion == 2
            );
        }
    }

    text
}

fn engine(fixture: &Fixture) -> Engine {
    let mut engine = fixture.engine().0;
    for judge in ["one", "two"] {
        engine = engine.with_judge(Arc::new(HashJudge(judge)));
    }
    for target in ["first", "second"] {
        engine = engine.with_target(Arc::new(TrialTarget(target)));
    }

    engine
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime")
}

fn finished(outcome: RunOutcome) -> FinishedRun {
    match outcome {
        RunOutcome::Finished(run) => *run,
        _ => panic!("it was only planned"),
    }
}

/// Runs the suites of a folder, or a shard of them.
fn run(fixture: &Fixture, sequence: &SequenceOptions, options: &EvalOptions) -> FinishedRun {
    let mode = EvalMode { sequence: sequence.clone() };
    finished(runtime().block_on(engine(fixture).evaluate(mode, options)).expect("a run"))
}

/// Plans the suites of a folder once for this many shards.
fn prepare(fixture: &Fixture, sequence: &SequenceOptions, options: &EvalOptions, count: u32) -> PreparedPlan {
    let mode = EvalMode { sequence: sequence.clone() };
    runtime().block_on(engine(fixture).prepare(&mode, options, count)).expect("a plan")
}

/// Runs a shard of a plan.
fn run_prepared(
    fixture: &Fixture,
    plan: &PreparedPlan,
    sequence: &SequenceOptions,
    options: &EvalOptions,
) -> FinishedRun {
    let mode = EvalMode { sequence: sequence.clone() };
    finished(runtime().block_on(engine(fixture).evaluate_prepared(plan, &mode, options)).expect("a run"))
}

fn lines(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).expect("a file of rows");
    text.lines().map(str::to_owned).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// The content of `run.json` without its id, times and parts.
fn described(info: &RunInfo) -> serde_json::Value {
    let mut value = serde_json::to_value(info).expect("JSON");
    let object = value.as_object_mut().expect("an object");
    for key in ["run_id", "started_at", "finished_at", "merged"] {
        object.remove(key);
    }
    value["settings"]["workers"] = 0.into();
    value["summary"]["duration_ms"] = 0.into();
    // The requests that a process sent are not part of the results.
    value["summary"]["sent"] = serde_json::Value::Null;

    value
}

fn check_merge(
    suites: &[Vec<MadeCase>],
    count: u32,
    (is_panel, targets, seed, workers): (bool, usize, Option<u64>, usize),
) -> Result<(), TestCaseError> {
    let fixture = Fixture::new();
    for (at, cases) in suites.iter().enumerate() {
        fixture.write(&format!("evals/s{at}.eval.yaml"), &suite_text(&format!("suite-{at}"), cases));
    }
    let sequence = SequenceOptions { shuffle: seed.is_some(), seed, ..SequenceOptions::default() };
    let mut options = EvalOptions {
        paths: vec![fixture.path("evals")],
        targets: ["first", "second"][..targets].iter().map(|name| (*name).to_owned()).collect(),
        ..EvalOptions::default()
    };
    options.run.judges =
        ["one", "two"][..=usize::from(is_panel)].iter().map(|name| (*name).to_owned()).collect();
    options.run.panel.repeats = is_panel.then_some(2);

    options.run.run_dir = Some(fixture.path("whole"));
    options.run.workers = std::num::NonZeroUsize::new(1);
    let whole = run(&fixture, &sequence, &options);

    // Some processes plan for each shard, others once.
    let plan = prepare(&fixture, &sequence, &options, count);
    let mut names = Vec::new();
    let mut sizes = Vec::new();
    for number in 1..=count {
        let folder = fixture.path(&format!("shard-{number}"));
        options.run.run_dir = Some(folder.clone());
        options.run.shard = Some(format!("{number}/{count}").parse().expect("a shard"));
        // The machines differ.
        options.run.workers = std::num::NonZeroUsize::new(workers + number as usize % 3);
        let shard = if number % 3 == 0 {
            run(&fixture, &sequence, &options)
        } else {
            run_prepared(&fixture, &plan, &sequence, &options)
        };

        sizes.push(shard.info.shard.as_ref().expect("a shard").items);
        names.push(folder.display().to_string());
    }
    names.reverse();

    let merge =
        MergeOptions { runs: names, run_dir: Some(fixture.path("merged")), ..MergeOptions::default() };
    let merged = engine(&fixture).merge(&merge).expect("merged");

    let (a, b) = (fixture.path("whole"), fixture.path("merged"));
    for file in ["results.jsonl", "judgements.jsonl", "inputs.jsonl", "questions.jsonl"] {
        prop_assert_eq!(sorted(lines(&a, file)), sorted(lines(&b, file)), "{}", file);
    }
    let places: Vec<u64> = lines(&b, "results.jsonl")
        .iter()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).expect("a row")["place"]
                .as_u64()
                .expect("a place")
        })
        .collect();
    prop_assert!(places.is_sorted(), "{:?}", places);
    prop_assert_eq!(described(&whole.info), described(&merged.info));
    prop_assert_eq!((whole.exit, whole.totals.counts), (merged.exit, merged.totals.counts));

    let total: u64 = sizes.iter().sum();
    prop_assert_eq!(
        total,
        merged.info.merged.as_ref().map_or(0, |of| of.shards.iter().map(|one| one.items).sum())
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn merged_shards_are_the_run_of_the_whole_plan(
        suites in proptest::collection::vec(proptest::collection::vec(made_case(), 1..12), 1..4),
        count in 1u32..9,
        how in (any::<bool>(), 1usize..3, proptest::option::weighted(0.3, any::<u64>()), 1usize..9),
    ) {
        check_merge(&suites, count, how)?;
    }
}

/// Cases in datasets with blank lines and a byte order mark, and between them.
fn write_datasets(fixture: &Fixture) {
    let line = |id: &str| {
        format!(
            "{{\"id\": \"{id}\", \"criteria\": \"x\", \"input\": \"q\", \"output\": \"{id} ü\", \
             \"assertions\": [{{\"type\": \"contains\", \"value\": \"{id}\"}}]}}\r\n"
        )
    };
    let first: String = (0..7).map(|at| line(&format!("a{at}"))).collect();
    let second: String = (0..5).flat_map(|at| ["\n\n".to_owned(), line(&format!("b{at}"))]).collect();
    fixture.write("first.jsonl", &format!("\u{feff}{first}"));
    fixture.write("second.jsonl", second.trim_end());
    fixture.write(
        "suite.yaml",
        "name: datasets\ntests:\n  - file://first.jsonl\n  - {id: between, criteria: x, input: q, output: between, \
         assertions: [{type: contains, value: between}]}\n  - file://second.jsonl\n",
    );
}

#[test]
fn a_plan_that_was_made_once_reads_the_cases_of_a_shard_from_their_places() {
    let fixture = Fixture::new();
    write_datasets(&fixture);
    let sequence = SequenceOptions::default();
    let plan = prepare(&fixture, &sequence, &fixture.options(), 3);

    let mut found = Vec::new();
    for (number, part) in [(1, ""), (2, "1"), (2, "2"), (3, "21"), (3, "22"), (3, "1")] {
        let mut options = fixture.options();
        options.run.shard = Some(format!("{number}/3").parse().expect("a shard"));
        options.run.unit = Some(UnitOptions {
            part: part.parse().expect("a part"),
            plan: plan.identity().hash.clone(),
            run_id: "unit".to_owned(),
            given_up: None,
        });
        let folders = ["once", "anew"].map(|way| fixture.path(&format!("{way}-{number}-{part}")));
        options.run.run_dir = Some(folders[0].clone());
        let once = run_prepared(&fixture, &plan, &sequence, &options);
        options.run.run_dir = Some(folders[1].clone());
        let anew = run(&fixture, &sequence, &options);

        let [a, b] = folders.map(|folder| lines(&folder, "results.jsonl"));
        let without_times = |rows: Vec<String>| {
            let row = |line: String| {
                let mut row: serde_json::Value = serde_json::from_str(&line).expect("a row");
                let fields = row.as_object_mut().expect("an object");
                fields.remove("latency_ms");
                fields.remove("duration_ms");
                fields.remove("crc");
                row.to_string()
            };
            sorted(rows.into_iter().map(row).collect())
        };
        assert_eq!(without_times(a.clone()), without_times(b), "{number} {part}");
        assert_eq!(described(&once.info), described(&anew.info));
        found.extend(finished_cases(once.folder.path()));
    }
    found.sort();
    let mut all: Vec<String> =
        (0..7).map(|at| format!("a{at}")).chain((0..5).map(|at| format!("b{at}"))).collect();
    all.push("between".to_owned());
    all.sort();
    assert_eq!(found, all);

    assert!(plan.is_current());
    fixture.write("second.jsonl", "");
    assert!(!plan.is_current());
}

/// Runs shards of `suite.yaml` into the folders `shard-1` and so on.
fn run_shards(fixture: &Fixture, count: u32) -> Vec<PathBuf> {
    let folder = |number: u32| fixture.path(&format!("shard-{number}"));
    for number in 1..=count {
        let mut options = fixture.options();
        options.run.run_dir = Some(folder(number));
        options.run.shard = Some(format!("{number}/{count}").parse().expect("a shard"));
        run(fixture, &SequenceOptions::default(), &options);
    }

    (1..=count).map(folder).collect()
}

fn merge_options(fixture: &Fixture, runs: &[PathBuf], allow_missing: bool) -> MergeOptions {
    MergeOptions {
        runs: runs.iter().map(|run| run.display().to_string()).collect(),
        run_dir: Some(fixture.path("merged")),
        allow_missing,
        ..MergeOptions::default()
    }
}

fn refusal(fixture: &Fixture, runs: &[PathBuf]) -> String {
    let error = fixture.engine().0.merge(&merge_options(fixture, runs, false)).expect_err("refused");
    assert_eq!(error.exit, ExitStatus::Invalid);
    assert!(!fixture.path("merged").exists());
    error.message
}

const SIX: [(&str, &str); 6] =
    [("a", "right"), ("b", "right"), ("c", "wrong"), ("d", "right"), ("e", "right"), ("f", "right")];

#[test]
fn a_shard_fails_by_its_own_cases_only() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX));
    let runs = run_shards(&fixture, 3);

    let codes: Vec<u8> = runs
        .iter()
        .map(|run| assize_store::RunFolder::new(run).info().expect("info").summary.expect("ended").exit_code)
        .collect();
    assert_eq!(codes, [0, 0, 1]);
    assert_eq!(finished_cases(&runs[0]), ["a", "d"]);

    let merged = fixture.engine().0.merge(&merge_options(&fixture, &runs, false)).expect("merged");
    assert_eq!((merged.exit, merged.totals.counts.fail), (ExitStatus::Failed, 1));
    assert_eq!(finished_cases(&fixture.path("merged")), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn more_shards_than_cases_leave_some_empty() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX[..2]));
    let runs = run_shards(&fixture, 4);

    let summary = assize_store::RunFolder::new(&runs[3]).info().expect("info").summary.expect("ended");
    assert_eq!((summary.exit_code, summary.exit_reason.as_str()), (0, "no case is in this shard"));
    let merged = fixture.engine().0.merge(&merge_options(&fixture, &runs, false)).expect("merged");
    assert_eq!((merged.exit, merged.totals.counts.pass), (ExitStatus::Passed, 2));
}

#[test]
fn missing_doubled_and_foreign_shards_are_named() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX));
    let runs = run_shards(&fixture, 4);

    let message = refusal(&fixture, &[runs[0].clone(), runs[2].clone()]);
    assert!(message.starts_with("shards 2, 4 of 4 are missing; run each with `--shard i/4`"), "{message}");
    let message = refusal(&fixture, &[runs[0].clone(), runs[2].clone(), runs[3].clone()]);
    assert!(message.starts_with("shard 2 of 4 is missing; run it with `--shard 2/4`"), "{message}");
    let message = refusal(&fixture, &[runs[0].clone(), runs[0].clone()]);
    assert!(message.contains("are both shard 1 of 4"), "{message}");

    let mut options = fixture.options();
    run(&fixture, &SequenceOptions::default(), &options);
    let message = refusal(&fixture, &[fixture.path("run")]);
    assert!(message.contains("is a whole run, not a shard"), "{message}");

    options.run.shard = Some("2/4".parse().expect("a shard"));
    options.run.run_dir = Some(fixture.path("other"));
    options.run.threshold = assize_rubric::UnitInterval::new(0.5).ok();
    run(&fixture, &SequenceOptions::default(), &options);
    let with_other = [runs[0].clone(), fixture.path("other"), runs[2].clone(), runs[3].clone()];
    let message = refusal(&fixture, &with_other);
    assert!(message.ends_with("`--threshold` is none and 0.5"), "{message}");
    options.run.threshold = None;
    options.filter = vec!["*".to_owned()];
    options.run.run_dir = Some(fixture.path("filtered"));
    run(&fixture, &SequenceOptions::default(), &options);
    let with_other = [runs[0].clone(), fixture.path("filtered"), runs[2].clone(), runs[3].clone()];
    let message = refusal(&fixture, &with_other);
    assert!(message.ends_with("`--filter` is none and *"), "{message}");
    options.filter.clear();

    fixture.write("suite.yaml", &checked_suite(&SIX[..5]));
    options.run.threshold = None;
    options.run.run_dir = Some(fixture.path("edited"));
    run(&fixture, &SequenceOptions::default(), &options);
    let message = refusal(&fixture, &[runs[0].clone(), fixture.path("edited")]);
    assert!(message.contains("suite.yaml` had other contents"), "{message}");
}

#[test]
fn a_merge_without_some_shards_is_incomplete_and_says_so() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&[("a", "right"), ("b", "right"), ("c", "right")]));
    let runs = run_shards(&fixture, 3);

    let options = merge_options(&fixture, &[runs[2].clone(), runs[0].clone()], true);
    let merged = fixture.engine().0.merge(&options).expect("merged");

    let summary = merged.info.summary.expect("ended");
    assert_eq!((merged.exit, summary.not_run), (ExitStatus::Incomplete, 1));
    assert_eq!(summary.exit_reason, "1 not run (shard 2 missing)");
    assert_eq!(merged.info.merged.expect("merged").missing, [2]);
    assert!(summary.figures.expect("metrics").remarks[0].contains("shard 2 of 3 is missing"));

    // The rest runs in one process.
    let mut options = fixture.options();
    options.run.run_dir = Some(fixture.path("merged"));
    options.run.resume = Some(NEWEST_RUN.to_owned());
    let whole = run(&fixture, &SequenceOptions::default(), &options);
    assert_eq!((whole.exit, whole.totals.counts.pass), (ExitStatus::Passed, 3));
    assert!(whole.info.merged.is_none());
}

#[tokio::test]
async fn a_stopped_shard_is_resumed_by_its_own_number() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX));
    let mut options = fixture.options();
    options.run.shard = Some("1/2".parse().expect("a shard"));
    let (first, _) = fixture.run(&options).await.expect("a shard");
    assert_eq!(first.totals.counts.total(), 3);

    options.run.resume = Some(NEWEST_RUN.to_owned());
    let (_, events) = fixture.run(&options).await.expect("resumed");
    let done = events.iter().find_map(|event| match event {
        EngineEvent::Resumed { done, .. } => Some(*done),
        _ => None,
    });
    assert_eq!(done, Some(3));

    for other in [Some("2/2".parse().expect("a shard")), None] {
        options.run.shard = other;
        let error = fixture.run(&options).await.expect_err("another shard");
        assert_eq!(error.kind, EngineErrorKind::Usage);
        assert!(error.message.contains("its shard: 1/2; now: "), "{error}");
    }
}

#[tokio::test]
async fn a_random_order_needs_a_seed_and_a_plan_is_about_the_shard() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX));
    let mut options = fixture.options();
    options.run.shard = Some("2/4".parse().expect("a shard"));
    let mode = EvalMode { sequence: SequenceOptions { shuffle: true, ..SequenceOptions::default() } };
    let Err(error) = fixture.engine().0.evaluate(mode, &options).await else { panic!("it needs a seed") };
    assert!(error.message.contains("needs `--seed N`"), "{error}");

    let planned = fixture.plan(&options).await.expect("a plan");
    assert_eq!(planned.cases, 2);
}

#[test]
fn cases_that_depend_on_each_other_share_a_shard() {
    let fixture = Fixture::new();
    let mut text = String::from("name: chain\ntests:\n");
    for at in 0..30 {
        let _ = write!(
            text,
            "  - {{id: c{at}, criteria: be right, input: q, output: right, assertions: [{{type: contains, value: right}}]"
        );
        // Chains of three: each case depends on the one ten positions later.
        if at < 20 {
            let _ = write!(text, ", depends_on: [c{}]", at + 10);
        }
        text.push_str("}\n");
    }
    fixture.write("suite.yaml", &text);
    let runs = run_shards(&fixture, 5);

    for run in &runs {
        let cases: BTreeSet<String> = finished_cases(run).into_iter().collect();
        assert_eq!(cases.len(), 6, "{cases:?}");
        for case in &cases {
            let at: usize = case[1..].parse().expect("a number");
            assert!(at >= 20 || cases.contains(&format!("c{}", at + 10)), "{cases:?}");
        }
    }
    let merged = fixture.engine().0.merge(&merge_options(&fixture, &runs, false)).expect("merged");
    assert_eq!(merged.totals.counts.pass, 30);
}

#[test]
fn rows_that_were_changed_or_lost_are_not_merged() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &checked_suite(&SIX));
    let runs = run_shards(&fixture, 2);
    let rows = runs[1].join("results.jsonl");
    let text = std::fs::read_to_string(&rows).expect("rows");

    std::fs::write(&rows, text.replace("wrong", "right")).expect("written");
    let merge = || fixture.engine().0.merge(&merge_options(&fixture, &runs, false));
    assert!(merge().is_ok(), "the text is not in these rows");
    std::fs::remove_dir_all(fixture.path("merged")).expect("removed");

    std::fs::write(&rows, text.replace("\"pass\"", "\"fail\"")).expect("written");
    let error = merge().expect_err("changed");
    assert!(error.message.contains("does not match its checksum"), "{error}");

    std::fs::write(&rows, text.lines().skip(1).fold(String::new(), |all, line| all + line + "\n"))
        .expect("written");
    let error = merge().expect_err("lost");
    assert_eq!(error.kind, EngineErrorKind::Unreadable, "{error}");
    assert!(!fixture.path("merged").exists());
}
