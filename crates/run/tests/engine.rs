//! The engine with scripted judges and targets and a recorder in memory.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_evalfile::{
    Case, CaseId, Grader, GraderKind, LineOverrides, Message, OnDependencyFailure, Place, Role, RubricGrader,
};
use assize_grade::{Judge, Question};
use assize_llm::BoxFuture;
use assize_rubric::{
    Cost, Criterion, Decision, EvidencePolicy, Finding, Gate, GraderStanding, JudgeIdentity, Judging, Lines,
    Outcome, Rubric, Spent, Tokens, Unit, Usd, Verdict, Weight,
};
use assize_run::{
    Event, JudgeSelector, Judges, Recorder, RunError, Settings, Source, Start, WorkItem, rescore, run,
    run_from,
};
use assize_store::{CaseRecord, StoreError};
use assize_targets::{
    Answer, Target, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
};
use tokio_util::sync::CancellationToken;

/// Decides that a criterion is met when the answer contains its text.
#[derive(Default)]
struct Literal {
    in_flight: AtomicUsize,
    peak: AtomicUsize,
    judged: AtomicUsize,
}

impl Literal {
    fn new() -> Arc<Self> {
        Arc::default()
    }
}

fn decision(criterion: &Criterion, outcome: Outcome) -> Decision {
    let judge = JudgeIdentity { name: "literal".into(), ..JudgeIdentity::default() };
    let finding = Finding::Criterion { criterion: criterion.clone(), outcome };
    let spent = Spent {
        attempts: 1,
        cached_calls: 0,
        tokens: Tokens { input: Some(10), cached: None, output: Some(1) },
        latency_ms: Some(1),
        cost: Cost::exactly(Usd::from_pico(500_000_000_000)),
        replies: Vec::new(),
    };
    Decision { spent, ..Decision::new(judge, finding, "as scripted") }
}

impl Judge for Literal {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity { name: "literal".into(), ..JudgeIdentity::default() }
    }

    fn decide<'a>(&'a self, questions: &'a [Question]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        Box::pin(async move {
            let [Question::Rubric(task)] = questions else { panic!("one rubric at a time") };
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            assert!(task.case_id != "panics", "scripted panic");
            let decided = task.rubric.criteria().iter().map(|criterion| {
                let outcome = match criterion.text.as_str() {
                    "?" => Outcome::Ungraded,
                    text if task.material.answer.contains(text) => Outcome::Met,
                    _ => Outcome::Unmet,
                };
                decision(criterion, outcome)
            });
            let decided = decided.collect();
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            self.judged.fetch_add(1, Ordering::SeqCst);
            vec![decided]
        })
    }
}

struct Only(Arc<Literal>);

impl Judges for Only {
    fn judge(&self, _: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, String> {
        Ok(Arc::clone(&self.0) as Arc<dyn Judge>)
    }
}

struct NoJudge;

impl Judges for NoJudge {
    fn judge(&self, _: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, String> {
        Err("nobody".to_owned())
    }
}

/// A target that always fails, or never answers.
struct Broken {
    hangs: bool,
}

impl Target for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn answer<'a>(&'a self, _: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Err(TargetError::new(TargetErrorKind::Failed, "exit code 7"))
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription {
            name: "broken".to_owned(),
            kind: TargetKind::Command,
            model: None,
            max_output_tokens: None,
        }
    }
}

#[derive(Default)]
struct Memory {
    records: Vec<CaseRecord>,
    refuse_after: Option<usize>,
    /// How often something was to be kept, and how many records there were then.
    settled: Vec<usize>,
}

impl Recorder for Memory {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        if self.refuse_after == Some(self.records.len()) {
            return Err(StoreError::NotARun { path: "full".into() });
        }
        self.records.push(record.clone());
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        self.settled.push(self.records.len());
        Ok(())
    }
}

fn lines() -> Lines {
    Lines::new(Unit::new(0.8).expect("in range"), None).expect("in order")
}

fn rubric(texts: &[&str]) -> Rubric {
    let criteria =
        texts.iter().enumerate().map(|(index, text)| Criterion::checklist(format!("c{index}"), *text));
    Rubric::new(criteria.collect()).expect("sound")
}

fn item(id: &str, answer: &str, rubric: Rubric, judges: Arc<dyn Judges>) -> WorkItem {
    let place = Place::new("test.yaml", 1, 1);
    let grader = Grader {
        name: "rubrics".to_owned(),
        type_name: "rubrics".to_owned(),
        standing: GraderStanding::default(),
        place: place.clone(),
        kind: GraderKind::Rubric(RubricGrader {
            places: vec![place.clone(); rubric.criteria().len()],
            rubric: Arc::new(rubric),
            marks: Vec::new(),
            judging: None,
            evidence: None,
            truncate: None,
            judge: None,
            panel: assize_evalfile::PanelSpec::default(),
        }),
    };
    let case = Case {
        id: CaseId::new(id),
        place,
        marks: assize_evalfile::CaseMarks::default(),
        input: vec![Message::text(Role::User, "question")],
        expected_outcome: None,
        expected_output: Vec::new(),
        output: None,
        graders: vec![Arc::new(grader)],
        lines: LineOverrides::default(),
        targets: Vec::new(),
        file_changes: None,
        trials: None,
        tags: Vec::new(),
        metadata: serde_json::Map::new(),
        conversation_id: None,
        vars: BTreeMap::new(),
        conversation: None,
        depends_on: Vec::new(),
        on_dependency_failure: OnDependencyFailure::default(),
        workspace: None,
        unbuilt: Vec::new(),
    };
    WorkItem {
        suite: "suite".into(),
        format: Some(2),
        case: Arc::new(case),
        source: Source::Given(Arc::new(Answer::of_text(answer))),
        repeat: 1,
        relations: Arc::new(assize_run::Relations::none(lines())),
        lines: lines(),
        judges,
        judge: None,
        judging_override: None,
        panels: Arc::default(),
        judging: Judging::PerCriterion,
        evidence: EvidencePolicy::Checked,
        truncate_override: None,
        truncate: assize_rubric::Truncate::Never,
        programs: Arc::default(),
        workplace: None,
    }
}

async fn run_all(items: Vec<WorkItem>, workers: usize) -> (Vec<CaseRecord>, assize_run::Totals) {
    let mut memory = Memory::default();
    let settings = Settings { workers: NonZeroUsize::new(workers).expect("not zero"), bail: None };
    let (totals, ended) =
        run(items.into_iter().map(Ok), settings, &CancellationToken::new(), &mut memory, &mut |_| {}).await;
    assert!(ended.is_ok());
    (memory.records, totals)
}

#[tokio::test]
async fn cases_are_scored_and_added_up() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let items = vec![
        item("good", "a b", rubric(&["a", "b"]), Arc::clone(&judges)),
        item("half", "a", rubric(&["a", "b"]), Arc::clone(&judges)),
        item("open", "a", rubric(&["a", "?"]), judges),
    ];
    let (records, totals) = run_all(items, 2).await;
    let verdict =
        |id: &str| records.iter().find(|r| &*r.result.case_id == id).expect("recorded").result.verdict;
    assert_eq!(verdict("good"), Verdict::Pass);
    assert_eq!(verdict("half"), Verdict::Fail);
    assert_eq!(verdict("open"), Verdict::Incomplete);
    assert_eq!(totals.counts.total(), 3);
    assert_eq!(totals.criteria, 6);
    assert_eq!(totals.criteria_ungraded, 1);
    assert_eq!(totals.judge_calls, 6);
    assert_eq!(totals.tokens.input, Some(60));
    assert_eq!(totals.cost.whole(), Usd::from_dollars(3.0));
    let mean = totals.mean_score().expect("two known scores");
    assert_eq!((mean.mean, mean.n), (0.75, 2));
}

#[tokio::test(start_paused = true)]
async fn many_cases_are_recorded_together_and_none_waits_for_long() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let hanging = || WorkItem {
        source: Source::Target(Arc::new(Broken { hangs: true })),
        ..item("hangs", "", rubric(&["a"]), Arc::clone(&judges))
    };
    let quick = |i: usize| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges));
    for (workers, bail, most) in [(16, None, 4), (16, NonZeroUsize::new(500), 100), (4, None, 100)] {
        let items: Vec<WorkItem> = (0..100).map(quick).chain([hanging()]).collect();
        let mut memory = Memory::default();
        let cancel = CancellationToken::new();
        let mut left = 100;
        // What hangs keeps the run going, so the last ones are recorded because they have waited for long enough.
        let mut observe = |event: Event| {
            left -= usize::from(matches!(event, Event::CaseFinished { .. }));
            if left == 0 {
                cancel.cancel();
            }
        };
        let settings = Settings { workers: NonZeroUsize::new(workers).expect("not zero"), bail };
        let (_, ended) = run(items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe).await;
        assert!(ended.is_ok());
        assert_eq!(memory.records.len(), 100);
        let times = memory.settled.len();
        assert!(times <= most && (most < 100) == (times < 7), "{workers}: {:?}", memory.settled);
    }
}

#[tokio::test]
async fn never_more_than_the_workers_are_in_flight_and_they_are_used() {
    let literal = Literal::new();
    let judges: Arc<dyn Judges> = Arc::new(Only(Arc::clone(&literal)));
    let items =
        (0..50).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let (records, _) = run_all(items, 4).await;
    assert_eq!(records.len(), 50);
    let peak = literal.peak.load(Ordering::SeqCst);
    assert!((2..=4).contains(&peak), "{peak}");
}

#[tokio::test]
async fn cases_that_are_handed_out_early_wait_for_a_seat_and_are_not_begun_after_the_limit() {
    for limited in [false, true] {
        let literal = Literal::new();
        let judges: Arc<dyn Judges> = Arc::new(Only(Arc::clone(&literal)));
        let items =
            (0..1000).map(|i| Ok(item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))));
        let start = Start::default();
        let limit = start.limit.clone();
        let (mut begun, mut finished, mut early) = (0, 0, 0);
        let mut observe = |event: Event| match event {
            Event::CaseStarted { .. } => {
                begun += 1;
                if begun - literal.judged.load(Ordering::SeqCst) > 8 {
                    early += 1;
                    if limited {
                        limit.cancel();
                    }
                }
            }
            Event::CaseFinished { .. } => finished += 1,
            Event::Stopping => {}
        };
        let settings = Settings { workers: NonZeroUsize::new(8).expect("not zero"), bail: None };
        let (mut memory, cancel) = (Memory::default(), CancellationToken::new());
        let (totals, ended) = run_from(start, items, settings, &cancel, &mut memory, &mut observe).await;
        assert!(ended.is_ok());
        let peak = literal.peak.load(Ordering::SeqCst);
        assert!(peak <= 8 && early > 0, "{peak} at once, {early} handed out early");
        assert_eq!((totals.counts.total(), literal.judged.load(Ordering::SeqCst)), (finished, finished));
        if limited {
            assert!(early == 1 && finished < begun, "{begun} handed out, {finished} finished");
        } else {
            assert_eq!((begun, finished), (1000, 1000));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_seat_stays_empty_because_finished_cases_wait_to_be_recorded() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let items =
        (0..1000).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let begun = tokio::time::Instant::now();
    let (records, _) = run_all(items, 8).await;
    assert_eq!(records.len(), 1000);
    // The clock goes on only while nothing else does, and only the last cases have nobody to wait for.
    assert!(begun.elapsed() < std::time::Duration::from_millis(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_failing_target_is_an_incomplete_case_with_the_reason_and_no_score() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let broken = WorkItem {
        source: Source::Target(Arc::new(Broken { hangs: false })),
        ..item("broken", "", rubric(&["a"]), judges)
    };
    let (records, totals) = run_all(vec![broken], 1).await;
    let row = &records[0].result;
    assert_eq!(row.verdict, Verdict::Incomplete);
    assert_eq!((row.score, row.score_low, row.score_high), (None, None, None));
    assert_eq!(row.target.as_deref(), Some("broken"));
    let error = row.error.as_ref().expect("said");
    assert_eq!((error.stage.name(), error.kind.name()), ("target", "failed"));
    assert!(error.message.contains("exit code 7"));
    assert_eq!(totals.mean_score(), None);
}

#[tokio::test]
async fn a_panic_and_a_missing_judge_become_records() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let items = vec![
        item("panics", "a", rubric(&["a"]), judges),
        item("unjudged", "a", rubric(&["a"]), Arc::new(NoJudge)),
    ];
    let (records, totals) = run_all(items, 2).await;
    assert_eq!(totals.counts.incomplete, 2);
    let error = |id: &str| {
        let record = records.iter().find(|r| &*r.result.case_id == id).expect("recorded");
        record.result.error.clone().expect("said")
    };
    assert_eq!(error("panics").kind.name(), "internal");
    assert!(error("panics").message.contains("scripted panic"));
    let unjudged = records.iter().find(|r| &*r.result.case_id == "unjudged").expect("recorded");
    assert_eq!(unjudged.result.graders[0].error.as_deref(), Some("nobody"));
    assert_eq!(unjudged.result.graders[0].verdict, Some(Verdict::Incomplete));
}

#[tokio::test]
async fn cancelling_gives_up_what_hangs_and_keeps_what_finished() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let hanging = WorkItem {
        source: Source::Target(Arc::new(Broken { hangs: true })),
        ..item("hangs", "", rubric(&["a"]), Arc::clone(&judges))
    };
    let items = vec![
        hanging,
        item("good", "a", rubric(&["a"]), Arc::clone(&judges)),
        item("late", "a", rubric(&["a"]), judges),
    ];
    let cancel = CancellationToken::new();
    let mut memory = Memory::default();
    let mut stopping = false;
    let mut observe = |event: Event| match event {
        Event::CaseFinished { .. } => cancel.cancel(),
        Event::Stopping => stopping = true,
        Event::CaseStarted { .. } => {}
    };
    let settings = Settings { workers: NonZeroUsize::new(2).expect("not zero"), bail: None };
    let (totals, ended) = run(items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe).await;
    assert!(ended.is_ok() && stopping);
    assert_eq!(totals.counts.total(), 1);
    assert_eq!(&*memory.records[0].result.case_id, "good");
}

#[tokio::test]
async fn a_failure_that_ends_the_run_is_known_before_another_case_begins() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let relations = assize_run::Relations { stops_at_errors: true, ..assize_run::Relations::none(lines()) };
    let relations = Arc::new(relations);
    let asking = |hangs: bool| WorkItem {
        source: Source::Target(Arc::new(Broken { hangs })),
        relations: Arc::clone(&relations),
        ..item(if hangs { "hangs" } else { "fails" }, "", rubric(&["a"]), Arc::clone(&judges))
    };
    // So many at once that others would wait to be recorded together.
    let items: Vec<_> = (0..20).map(|n| asking(n > 0)).collect();
    let cancel = CancellationToken::new();
    let mut memory = Memory::default();
    let mut begun = 0;
    let mut observe = |event: Event| match event {
        Event::CaseStarted { .. } => begun += 1,
        Event::CaseFinished { .. } => cancel.cancel(),
        Event::Stopping => {}
    };
    let settings = Settings { workers: NonZeroUsize::new(10).expect("not zero"), bail: None };
    let (totals, ended) = run(items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe).await;
    assert!(ended.is_ok() && totals.halted.is_some());
    assert_eq!((begun, memory.records.len()), (10, 1));
}

#[tokio::test]
async fn a_recorder_that_refuses_ends_the_run() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let items: Vec<WorkItem> =
        (0..20).map(|i| item(&format!("case-{i}"), "a", rubric(&["a"]), Arc::clone(&judges))).collect();
    let mut memory = Memory { refuse_after: Some(3), ..Memory::default() };
    let settings = Settings { workers: NonZeroUsize::new(2).expect("not zero"), bail: None };
    let mut started = 0;
    let mut observe = |event: Event| started += usize::from(matches!(event, Event::CaseStarted { .. }));
    let (_, ended) =
        run(items.into_iter().map(Ok), settings, &CancellationToken::new(), &mut memory, &mut observe).await;
    assert!(matches!(ended, Err(RunError::Store(_))));
    assert_eq!(memory.records.len(), 3);
    assert!(started < 20, "{started} cases were begun after the disk was full");
}

#[tokio::test]
async fn rescoring_changes_weights_and_carries_only_unchanged_criteria_over() {
    let judges: Arc<dyn Judges> = Arc::new(Only(Literal::new()));
    let (records, _) = run_all(vec![item("half", "a", rubric(&["a", "b"]), judges)], 1).await;
    let record = &records[0];
    assert_eq!(rescore(record, None, None).record, *record);

    let mut criteria = rubric(&["a", "b"]).criteria().to_vec();
    criteria[0].weight = Weight::new(9.0).expect("finite");
    let heavy = Rubric::new(criteria.clone()).expect("sound");
    let again = rescore(record, Some(&heavy), None);
    assert_eq!(again.record.result.score, Some(0.9));
    assert_eq!(again.record.result.verdict, Verdict::Pass);
    assert!(again.unanswered.is_empty() && again.dropped.is_empty());

    criteria[1].gate = Some(Gate::Met);
    let gated = rescore(record, Some(&Rubric::new(criteria.clone()).expect("sound")), None);
    assert_eq!(gated.record.result.verdict, Verdict::Fail);
    assert_eq!(gated.record.result.gates_failed[0].criterion.as_deref(), Some("c1"));

    criteria[1].text = "other words".to_owned();
    let reworded = rescore(record, Some(&Rubric::new(criteria).expect("sound")), None);
    assert_eq!(reworded.unanswered.len(), 1);
    assert_eq!(reworded.record.result.verdict, Verdict::Incomplete);
    assert_eq!(reworded.record.result.score_high, Some(1.0));

    let strict = rescore(
        record,
        Some(&heavy),
        Some(Lines::new(Unit::new(0.95).expect("in range"), None).expect("in order")),
    );
    assert_eq!(strict.record.result.verdict, Verdict::Fail);
}
