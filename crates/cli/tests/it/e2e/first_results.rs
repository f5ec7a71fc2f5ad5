//! What a new user reads after a run: thresholds, cost, checks, next steps.

use std::fmt::Write as _;

use assize_testkit::cli::CliOutput;

use crate::e2e::bench::{cli, object};

const PROMPTFOO: &str = "prompts: ['Say {{x}}']\nproviders: [echo]\ntests:\n  - vars: {x: hello}\n    assert:\n      - {type: contains, value: \
    hello}\n  - vars: {x: world}\n    assert:\n      - {type: contains, value: nothere}\n      - {type: icontains, value: WORLD}\n";
const HALF: &str = "name: half\ntests:\n- id: good\n  input: q\n  output: apples\n  assertions: [{type: contains, value: apples}]\n- id: bad\n  \
    input: q\n  output: apples\n  assertions: [{type: contains, value: pears}]\n";

#[test]
fn a_run_of_a_promptfoo_file_says_when_a_case_passes_which_check_fails_and_that_echo_costs_nothing() {
    let cli = cli();
    cli.file("promptfooconfig.yaml", PROMPTFOO);
    let text = cli.run(&["eval", "promptfooconfig.yaml", "--show", "none"]).expect_code(1).stdout;
    assert!(text.contains("no minimum score; a case passes if no gate fails"), "{text}");
    assert!(!text.contains("pass 0"), "{text}");
    assert!(text.contains("Cost        $0 (no model was called)\n") && !text.contains("Tokens"), "{text}");
    let table = text.split("check, worst first").nth(1).expect("a table of checks");
    let row = table.lines().nth(1).expect("a row");
    assert!(row.contains("50.0%") && row.ends_with("contains"), "{text}");
    assert!(!table.contains("icontains"), "asked of one case only: {text}");

    let explained = cli.run(&["explain", "last", "test-2"]).expect_code(0).stdout;
    assert!(explained.contains("No minimum score"), "{explained}");
    assert!(explained.contains("a gate failed") && !explained.contains("although"), "{explained}");

    cli.run(&["report", "last", "-o", "report.html"]).expect_code(0);
    let threshold = "<dt>Threshold</dt><dd>no minimum score; a case passes";
    assert!(cli.read("report.html").contains(threshold), "the threshold is part of the page");
    cli.file("mixed.yaml", PROMPTFOO.replacen("assert:", "threshold: 0.5\n    assert:", 1));
    let text = cli.run(&["eval", "mixed.yaml", "--show", "none"]).expect_code(1).stdout;
    assert!(text.contains("set by each case: 0.5, or none (no gate may fail)"), "{text}");

    let json = object(&cli.run(&["eval", "promptfooconfig.yaml", "--json"]).expect_code(1));
    let rate = &json["check_rates"][0];
    assert_eq!((&rate["grader"], &rate["rate"]["value"]), (&"contains".into(), &0.5.into()));
    assert_eq!(rate["text"], "", "the cases look for different texts");
    for format in ["markdown", "html"] {
        let page = cli.run(&["report", "last", "--format", format]).expect_code(0).stdout;
        assert!(page.contains("Checks") && page.contains("contains"), "{page}");
    }
}

#[test]
fn the_interval_of_the_worst_criterion_allows_for_its_choice_among_several() {
    let cli = cli();
    let worst = |criteria: &[&str]| {
        let mut suite = "name: s\ntests:\n".to_owned();
        for case in 0..10 {
            let answer = if case < 8 { "apples, pears and plums" } else { "pears and plums" };
            let criteria: Vec<String> =
                criteria.iter().map(|word| format!("{{id: {word}, outcome: Names `{word}`}}")).collect();
            writeln!(
                suite,
                "- id: c{case}\n  input: q\n  output: {answer}\n  assertions: [{{type: rubrics, criteria: [{}]}}]",
                criteria.join(", ")
            )
            .expect("a string takes everything");
        }
        cli.file("s.eval.yaml", suite);
        let found = object(&cli.run(&["eval", "s.eval.yaml", "--judge", "offline", "--json"]).expect_code(1));
        let first = found["criterion_rates"][0].clone();
        assert_eq!(first["criterion"], "apples", "{found}");
        ["level", "low", "high"].map(|key| first["rate"][key].as_f64().expect("a number"))
    };
    let [level, low, high] = worst(&["apples"]);
    assert!(level == 0.95 && (low - 0.444_447).abs() < 1e-5 && (high - 0.963_229).abs() < 1e-5);
    let [level, wider_low, wider_high] = worst(&["apples", "pears", "plums"]);
    assert!(
        (level - (1.0 - 0.05 / 3.0)).abs() < 1e-12 && wider_low < low - 0.02 && wider_high > high,
        "{wider_low}"
    );
}

#[test]
fn checks_that_always_pass_are_not_listed() {
    let cli = cli();
    cli.file("a.eval.yaml", HALF.replace("pears", "apples"));
    let text = cli.run(&["eval", "a.eval.yaml"]).expect_code(0).stdout;
    assert!(!text.contains("worst first"), "{text}");
}

#[cfg(unix)]
#[test]
fn programs_that_report_no_cost_are_not_calls_without_a_price() {
    let cli = cli();
    cli.file(".assize/targets.yaml", "targets:\n  - {name: app, provider: cli, command: echo apples}\n");
    cli.file("a.eval.yaml", "tests:\n- id: a\n  input: q\n  assertions: [{type: contains, value: apples}]\n");
    let text = cli.run(&["eval", "a.eval.yaml", "--target", "app"]).expect_code(0).stdout;
    assert!(text.contains("Cost        not reported by the target's program"), "{text}");
}

#[test]
fn what_failed_is_suggested_first_whatever_the_exit_code() {
    let cli = cli();
    cli.file("a.eval.yaml", HALF);
    let text = cli.run(&["eval", "a.eval.yaml", "--min-pass-rate", "0.1"]).expect_code(0).stdout;
    assert!(text.contains("Next    assize explain last bad"), "{text}");
    let listed = cli.run(&["explain", "last"]).expect_code(0);
    assert!(listed.stderr.contains("`assize explain last bad`"), "{}", listed.stderr);

    cli.file("a.eval.yaml", HALF.replace("pears", "apples"));
    let passed = cli.run(&["eval", "a.eval.yaml"]).expect_code(0).stdout;
    assert!(!passed.contains("Next"), "{passed}");
    let listed = cli.run(&["explain", "last"]).expect_code(0);
    assert!(listed.stderr.contains("`assize explain last good`"), "{}", listed.stderr);
}

#[test]
fn thresholds_that_differ_are_said_in_words() {
    let cli = cli();
    let case = |id: &str, keys: &str| {
        format!(
            "- id: {id}\n  input: q\n  output: apples\n{keys}  assertions: [{{type: contains, value: apples}}]\n"
        )
    };
    let file = format!("tests:\n{}{}", case("a", ""), case("b", "  threshold: 0.9\n  borderline: 0.5\n"));
    cli.file("a.eval.yaml", file);
    let text = cli.run(&["eval", "a.eval.yaml"]).expect_code(0).stdout;
    let wanted = "differs by case: score ≥ 0.9 passes, ≥ 0.5 is borderline; or score ≥ 0.8 passes";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn the_number_of_cases_for_a_precise_rate_follows_the_data() {
    let cli = cli();
    let file = |cases: usize| {
        let case = |at| {
            format!(
                "- id: c{at}\n  input: q\n  output: apples\n  assertions: [{{type: contains, value: apples}}]\n"
            )
        };
        "tests:\n".to_owned() + &(0..cases).map(case).collect::<String>()
    };
    let mut needed = Vec::new();
    for cases in [4, 12, 20] {
        cli.file("a.eval.yaml", file(cases));
        let value = object(&cli.run(&["eval", "a.eval.yaml", "--json"]).expect_code(0));
        let text = value["metrics"]["precision_notes"].to_string();
        let (_, rest) = text.split_once("at most ").expect(&text);
        needed.push(rest.split(' ').next().expect("a number").parse::<u64>().expect("a number"));
    }
    assert!(needed.is_sorted_by(|a, b| a > b), "{needed:?}");
}

#[test]
fn one_case_that_is_done_is_one_case() {
    let cli = cli();
    cli.file("a.eval.yaml", format!("{}\n", HALF.split("- id: bad").next().expect("a case")));
    cli.run(&["eval", "a.eval.yaml", "--run-dir", "run"]).expect_code(0);
    let again = cli.run(&["eval", "a.eval.yaml", "--run-dir", "run", "--resume"]).expect_code(0);
    assert!(again.stderr.contains("1 case kept"), "{}", again.stderr);

    let plan = cli.run(&["eval", "a.eval.yaml", "--dry-run"]).expect_code(0).stdout;
    assert!(plan.starts_with("1 case, 1 answer to judge"), "{plan}");
}

#[test]
fn the_offline_judge_is_mentioned_once_where_messages_and_results_are_read_together() {
    let mut cli = cli();
    cli.file("a.eval.yaml", "tests:\n- id: a\n  input: q\n  output: apples\n  assertions: [Names apples]\n");
    let notice = "Graded by the offline judge";
    let count =
        |output: &CliOutput| (output.stderr.matches(notice).count(), output.stdout.matches(notice).count());
    let apart = cli.run(&["eval", "a.eval.yaml"]).expect_code(0);
    assert_eq!(count(&apart), (0, 1), "both go where nobody sees one without the other");

    cli.env("COLUMNS", "80");
    assert_eq!(count(&cli.run(&["eval", "a.eval.yaml"]).expect_code(0)), (0, 1));
    assert_eq!(cli.run(&["eval", "a.eval.yaml", "--json"]).expect_code(0).stderr.matches(notice).count(), 1);
}
