//! Scripted judges and targets, a recorder in memory, and items that use them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    ItemRelations, ItemSource, JudgeError, JudgeProvider, JudgeSelector, Recorder, RunLimits, RunStart,
    RunTotals, WorkItem, run,
};
use assize_grade::{Judge, JudgeQuestion};
use assize_llm::BoxFuture;
use assize_model::{Case, CaseId, FilePosition, Grader, GraderKind, PanelSpec, RubricGrader};
use assize_rubric::{
    CaseMessage, Cost, Criterion, Decision, EvidencePolicy, Finding, GraderWeighting, IdentityWriter,
    JudgeIdentity, JudgingMode, JudgingUsage, MessageRole, Outcome, Rubric, Tokens, TruncationMode,
    UnitInterval, Usd, VerdictThresholds,
};
use assize_store::{CaseRecord, StoreError};
use assize_targets::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
};
use tokio_util::sync::CancellationToken;

/// Decides that a criterion is met when the answer contains its text.
#[derive(Default)]
pub(crate) struct Literal {
    pub(crate) in_flight: AtomicUsize,
    pub(crate) peak: AtomicUsize,
    pub(crate) judged: AtomicUsize,
}

impl Literal {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }
}

fn decision(criterion: &Criterion, outcome: Outcome) -> Decision {
    let judge = JudgeIdentity { name: "literal".into(), ..JudgeIdentity::default() };
    let finding = Finding::Criterion { criterion: criterion.clone(), outcome };
    let spent = JudgingUsage {
        attempts: 1,
        cached_calls: 0,
        tokens: Tokens { input: Some(10), cached: None, output: Some(1) },
        latency_ms: Some(1),
        cost: Cost::from_known(Usd::from_pico(500_000_000_000)),
        replies: Vec::new(),
        has_slips: false,
    };

    Decision { spent, ..Decision::new(judge, finding, "as scripted") }
}

impl Judge for Literal {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity { name: "literal".into(), ..JudgeIdentity::default() }
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        Box::pin(async move {
            let [JudgeQuestion::Rubric(task)] = questions else { panic!("one rubric at a time") };
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

pub(crate) struct Only(pub(crate) Arc<Literal>);

impl JudgeProvider for Only {
    fn judge(&self, _: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        Ok(Arc::clone(&self.0) as Arc<dyn Judge>)
    }
}

pub(crate) struct NoJudge;

impl JudgeProvider for NoJudge {
    fn judge(&self, _: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        Err(JudgeError::Unavailable("nobody".to_owned()))
    }
}

/// A target that always fails, or never answers.
pub(crate) struct Broken {
    pub(crate) hangs: bool,
}

impl Target for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn answer<'a>(&'a self, _: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Err(TargetError::new(TargetErrorKind::Failed, "exit code 7"))
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new("broken", TargetKind::Command)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("target", 1);
        identity.field(&self.describe());
    }
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) records: Vec<CaseRecord>,
    pub(crate) refuse_after: Option<usize>,
    /// The number of records at each call of `settle`.
    pub(crate) settled: Vec<usize>,
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

pub(crate) fn thresholds() -> VerdictThresholds {
    VerdictThresholds::new(UnitInterval::new(0.8).expect("in range"), None).expect("in order")
}

pub(crate) fn rubric(texts: &[&str]) -> Rubric {
    let criteria =
        texts.iter().enumerate().map(|(index, text)| Criterion::checklist(format!("c{index}"), *text));
    Rubric::new(criteria.collect()).expect("sound")
}

pub(crate) fn item(id: &str, answer: &str, rubric: Rubric, judges: Arc<dyn JudgeProvider>) -> WorkItem {
    let place = FilePosition::new("test.yaml", 1, 1);
    let grader = Grader {
        name: "rubrics".to_owned(),
        type_name: "rubrics".to_owned(),
        weighting: GraderWeighting::default(),
        place: place.clone(),
        kind: GraderKind::Rubric(RubricGrader {
            places: vec![place.clone(); rubric.criteria().len()],
            rubric: Arc::new(rubric),
            marks: Vec::new(),
            instructions: None,
            judging: None,
            evidence: None,
            truncate: None,
            judge: None,
            panel: PanelSpec::default(),
        }),
    };
    let input = vec![CaseMessage::text(MessageRole::User, "question")];
    let case = Case { input, ..Case::new(CaseId::new(id), place, vec![Arc::new(grader)]) };
    WorkItem {
        suite: "suite".into(),
        format: Some(2),
        suite_folder: Path::new("").into(),
        case: Arc::new(case),
        source: ItemSource::Given(Arc::new(TargetAnswer::from_text(answer))),
        trial: 1,
        place: 0,
        relations: Arc::new(ItemRelations::none(thresholds())),
        thresholds: thresholds(),
        judges,
        judge: None,
        judging_override: None,
        panels: Arc::default(),
        judging: JudgingMode::PerCriterion,
        evidence: EvidencePolicy::Checked,
        truncate_override: None,
        truncate: TruncationMode::Never,
        programs: Arc::default(),
        workplace: None,
        hooks: None,
    }
}

pub(crate) async fn run_all(items: Vec<WorkItem>, workers: usize) -> (Vec<CaseRecord>, RunTotals) {
    let mut memory = Memory::default();
    let settings = RunLimits { workers: NonZeroUsize::new(workers).expect("not zero"), bail: None };
    let (totals, ended) = run(
        RunStart::default(),
        items.into_iter().map(Ok),
        settings,
        &CancellationToken::new(),
        &mut memory,
        &mut |_| {},
    )
    .await;
    assert!(ended.is_ok());
    (memory.records, totals)
}
