//! A plan has the same numbers as the run, and sends no requests.

use std::num::NonZeroUsize;

use assize_rubric::JudgingMode;
use assize_testkit::mock::MockServer;

use crate::tests::support::{Fixture, model, suite};

const CRITERIA: &[&str] = &["yes one", "yes two", "yes three"];

#[tokio::test]
async fn a_plan_counts_calls_in_every_mode_and_sends_nothing() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    for (given, judging, calls) in [
        (true, JudgingMode::PerCriterion, 12),
        (true, JudgingMode::Batched(None), 4),
        (true, JudgingMode::Batched(NonZeroUsize::new(2)), 8),
        (false, JudgingMode::PerCriterion, 16),
        (false, JudgingMode::Batched(None), 8),
    ] {
        fixture.write("suite.yaml", &suite(4, CRITERIA, given));
        let mut options = fixture.options();
        options.run.judges = vec!["openai:judge-1".to_owned()];
        options.run.judging = Some(judging);
        if !given {
            options.targets = vec!["openai:answers-1".to_owned()];
        }

        let planned = fixture.plan(&options).await.expect("a plan");

        let plan = planned.plan.to_json(planned.cases, &planned.warnings);
        assert_eq!((&plan["cases"], &plan["calls"]), (&4.into(), &calls.into()), "{plan}");
        let judge = &plan["judges"][0];
        assert_eq!((&judge["criteria"], &judge["judge"]), (&12.into(), &"openai:judge-1".into()));
        assert_eq!((&judge["calls_per_criterion"], &judge["calls_batched"]), (&12.into(), &4.into()));
    }
    assert_eq!((server.count(), fixture.path(".assize").exists()), (0, false));
}

#[tokio::test]
async fn a_plan_needs_no_key_and_says_which_the_run_will_need() {
    let fixture = Fixture::new();
    fixture.write("suite.yaml", &suite(1, CRITERIA, true));
    let mut options = fixture.options();
    options.run.judges = vec!["openai:judge-1".to_owned()];

    let planned = fixture.plan(&options).await.expect("a plan");

    assert_eq!(planned.warnings, ["OPENAI_API_KEY is not set; the run will need it"]);
}

#[tokio::test]
async fn a_plan_compares_the_budget_with_what_the_run_takes() {
    let server = MockServer::start(model);
    let fixture = Fixture::with_server(&server);
    fixture.write("suite.yaml", &suite(4, CRITERIA, true));
    for (calls, outlook) in [(11, "too little"), (12, "perhaps"), (14, "enough")] {
        let mut options = fixture.options();
        options.run.judges = vec!["openai:judge-1".to_owned()];
        options.run.spending.budget.calls = Some(calls);

        let planned = fixture.plan(&options).await.expect("a plan");

        let plan = planned.plan.to_json(planned.cases, &planned.warnings);
        assert_eq!(plan["budget"]["calls"]["outlook"], outlook, "{calls}");
    }
}
