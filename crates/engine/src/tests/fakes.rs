//! Judges, targets and a reply store that the caller provides, in place of models and servers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{EvalMode, EvalOptions, ExitStatus, RunOutcome};
use assize_grade::{Judge, JudgeQuestion};
use assize_llm::{BoxFuture, CacheHit, CallKey, ChatReply, ReplyStore};
use assize_rubric::{Decision, Finding, IdentityWriter, JudgeIdentity, Outcome};
use assize_targets::{Target, TargetAnswer, TargetDescription, TargetError, TargetInput, TargetKind};
use assize_testkit::mock::MockServer;

use crate::tests::support::{Fixture, model, suite};

/// Finds a criterion met if the answer contains its text.
#[derive(Default)]
struct LiteralJudge {
    decided: AtomicUsize,
}

impl Judge for LiteralJudge {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity { name: "literal".into(), ..JudgeIdentity::default() }
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        let decide = |question: &JudgeQuestion| {
            let JudgeQuestion::Rubric(task) = question else { panic!("only rubrics are asked about") };
            let criteria = task.rubric.criteria().iter().cloned();
            criteria
                .map(|criterion| {
                    self.decided.fetch_add(1, Ordering::SeqCst);
                    let is_met = task.material.answer.contains(&criterion.text);
                    let outcome = if is_met { Outcome::Met } else { Outcome::Unmet };
                    Decision::new(self.identity(), Finding::Criterion { criterion, outcome }, "by rule")
                })
                .collect()
        };
        Box::pin(async move { questions.iter().map(decide).collect() })
    }
}

/// Answers with the id of the case.
pub(crate) struct EchoTarget;

impl Target for EchoTarget {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async { Ok(TargetAnswer::from_text(format!("about {}", input.case_id))) })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new("echo", TargetKind::Mock)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("echo target", 1);
    }
}

/// Answers with its name and the ids of case and trial, after a delay that depends on them.
pub(crate) struct TrialTarget(pub(crate) &'static str);

impl Target for TrialTarget {
    fn name(&self) -> &'static str {
        self.0
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            // Cases finish in another order than they start.
            let hash = blake3::hash(format!("{} {}", input.case_id, input.attempt).as_bytes());
            tokio::time::sleep(Duration::from_millis(u64::from(hash.as_bytes()[0]))).await;
            Ok(TargetAnswer::from_text(format!("{} {} {}", self.0, input.case_id, input.attempt)))
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(self.0, TargetKind::Mock)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("trial target", 1);
    }
}

/// Keeps replies in memory.
#[derive(Default)]
struct MemoryStore(Mutex<HashMap<CallKey, ChatReply>>);

impl ReplyStore for MemoryStore {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>> {
        let reply = self.0.lock().expect("not poisoned").get(&key).cloned();
        Box::pin(async move { reply.map(|reply| CacheHit { reply, produced_by_this_run: false }) })
    }

    fn keep(&self, key: CallKey, reply: &ChatReply) {
        self.0.lock().expect("not poisoned").insert(key, reply.clone());
    }
}

#[tokio::test]
async fn a_judge_and_a_target_of_the_caller_need_no_model() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &suite(2, &["case-0", "about"], false));
    let judge = Arc::new(LiteralJudge::default());
    let engine = fixture.engine().0.with_judge(Arc::clone(&judge) as _).with_target(Arc::new(EchoTarget));
    let mut options = EvalOptions { targets: vec!["echo".to_owned()], ..fixture.options() };
    options.run.judges = vec!["literal".to_owned()];

    let outcome = engine.evaluate(EvalMode::default(), &options).await.expect("a run");

    let RunOutcome::Finished(run) = outcome else { panic!("it was only planned") };
    let counts = run.totals.counts;
    assert_eq!((counts.total(), counts.pass, judge.decided.load(Ordering::SeqCst)), (2, 1, 4));
    assert_eq!((&*run.info.judges[0].identity.name, &*run.info.targets[0].name), ("literal", "echo"));
    assert!(!fixture.path(".assize").exists());
}

#[tokio::test]
async fn a_judge_that_a_file_names_may_be_the_callers() {
    let fixture = Fixture::new();
    fixture.write(
        "suite.yaml",
        &format!("execution: {{judge: literal}}\n{}", suite(1, &["the answer is 0"], true)),
    );
    let engine = fixture.engine().0.with_judge(Arc::new(LiteralJudge::default()));

    let outcome = engine.evaluate(EvalMode::default(), &fixture.options()).await.expect("a run");

    let RunOutcome::Finished(run) = outcome else { panic!("it was only planned") };
    assert_eq!((run.exit, &*run.info.judges[0].chosen_by), (ExitStatus::Passed, "the eval file"));
}

#[tokio::test]
async fn replies_are_kept_in_the_storage_of_the_caller() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(2, &["yes"], true));
    let replies = Arc::new(MemoryStore::default());
    let mut options = fixture.options();
    options.run.judges = vec!["openai:judge-1".to_owned()];

    for out in ["first", "second"] {
        options.run.run_dir = Some(fixture.path(out));
        let engine = fixture.engine().0.with_reply_store(Arc::clone(&replies) as _);
        engine.evaluate(EvalMode::default(), &options).await.expect("a run");
    }

    let kept = replies.0.lock().expect("not poisoned").len();
    assert_eq!((server.count(), kept, fixture.path(".assize/cache/replies.db").exists()), (2, 2, false));
}
