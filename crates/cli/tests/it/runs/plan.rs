//! A plan has the same counts as the run after it, and sends no requests.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;

use crate::runs::support::{eval, fixture, model, printed, suite};

const CRITERIA: &[&str] = &["yes one", "yes two", "yes three"];

#[test]
fn the_run_keeps_to_the_plan() {
    let server = MockServer::start(model);
    for (given, more) in [(true, &[][..]), (false, &["--target", "openai:answers-1"][..])] {
        let cli = fixture(&server);
        cli.file("suite.yaml", suite(4, CRITERIA, given));
        let mut words = vec!["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json"];
        words.extend(more);
        let plan = printed(&cli.run(&words).expect_code(0));
        let before = server.count();
        let run = printed(&eval(&cli, more));
        assert_eq!((server.count() - before) as u64, plan["calls"].as_u64().unwrap());
        for kind in ["input", "output"] {
            let tokens = run["tokens"][kind].as_u64().unwrap();
            let estimated = &plan["tokens_estimated"][kind];
            assert!(tokens >= estimated["low"].as_u64().unwrap(), "{kind} {tokens} {estimated}");
            assert!(tokens <= estimated["high"].as_u64().unwrap(), "{kind} {tokens} {estimated}");
        }
    }
}

#[test]
fn grading_answers_can_be_planned_as_well() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("rubric.yaml", "criteria: [yes one, yes two]\n");
    cli.file("answers.csv", "question,answer\nq,one\nq,two\nq,three\n");
    let words = ["grade", "rubric.yaml", "--answers", "answers.csv", "--judge", "openai:judge-1"];

    let planned = cli.run(&[&words[..], &["--dry-run", "--json", "--run-dir", "r"]].concat()).expect_code(0);
    let plan = printed(&planned);
    assert_eq!(
        (&plan["cases"], &plan["calls"], &plan["judges"][0]["judge"]),
        (&3.into(), &6.into(), &"openai:judge-1".into())
    );
    let text = cli.run(&[&words[..], &["--dry-run"]].concat()).expect_code(0).stdout;
    assert!(text.contains("6 criteria, 6 calls") && text.ends_with("dry run: nothing was sent\n"), "{text}");
    assert!(server.count() == 0 && !cli.path("r").exists() && !cli.path(".assize").exists());

    cli.run(&[&words[..], &["--json", "--run-dir", "r"]].concat());
    assert_eq!(server.count() as u64, 6);
}

#[test]
fn a_plan_and_a_run_agree_on_the_budget_of_a_call() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    let words = ["suite.yaml", "--judge", "openai:judge-1", "--no-cache", "--json"];
    let with = |limit: u64| ["--budget-tokens".to_owned(), limit.to_string()];
    let plan = |limit: u64| {
        let limit = with(limit);
        let budget = [&words[..], &["--dry-run"], &[&*limit[0], &*limit[1]]].concat();
        printed(&cli.run(&[&["eval"], &budget[..]].concat()).expect_code(0))
    };
    let least = plan(1)["largest_call"]["least_tokens"].as_u64().unwrap();

    for (limit, outlook, code) in [(least - 1, "too little", 4), (least, "perhaps", 0)] {
        assert_eq!(plan(limit)["budget"]["tokens"]["outlook"], outlook, "{limit}");
        let limit = with(limit);
        let run = cli.run(&[&["eval"], &words[..], &[&*limit[0], &*limit[1]]].concat());
        assert_eq!(run.code, Some(code), "{limit:?} {}", run.stdout);
    }
}

#[test]
fn plans_of_the_same_files_are_the_same() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, CRITERIA, true));
    let plan = || {
        let words = ["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json"];
        printed(&cli.run(&words).expect_code(0))
    };
    let first = plan();
    assert!((0..4).all(|_| plan() == first));
}

#[test]
fn the_offline_judge_takes_no_calls_and_dry_run_is_the_same() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    let plan = cli.run(&["eval", "--dry-run", "suite.yaml"]).expect_code(0);
    assert!(plan.stdout.contains("judge offline: 6 criteria, no calls"), "{}", plan.stdout);
    assert!(plan.stdout.ends_with("dry run: nothing was sent\n"));
    let dry = cli.run(&["eval", "suite.yaml", "--dry-run"]).expect_code(0);
    assert_eq!(plan.stdout, dry.stdout);
    assert!(!cli.path(".assize").exists());
    cli.file("broken.yaml", "tests: 3\n");
    cli.run(&["eval", "--dry-run", "broken.yaml"]).expect_code(2);
}

#[test]
fn a_plan_needs_no_key_and_says_that_the_run_will() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file("suite.yaml", suite(2, &["yes one"], true));
    let output =
        cli.run(&["eval", "--dry-run", "suite.yaml", "--judge", "openai:gpt-4o-mini"]).expect_code(0);
    assert!(output.stdout.contains("2 calls"), "{}", output.stdout);
    assert!(output.stderr.contains("OPENAI_API_KEY is not set"), "{}", output.stderr);
    cli.run(&["eval", "suite.yaml", "--judge", "openai:gpt-4o-mini"]).expect_code(2);
}
