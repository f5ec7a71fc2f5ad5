//! Default output fits on a screen, whatever failed.

use std::fmt::Write as _;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::e2e::bench::{rows, with_server};
use crate::scorecard::support as cards;

/// Lines that default output may have.
const SCREEN: usize = 40;
const WORDS: [&str; 6] = ["refund", "apology", "deadline", "contact", "greeting", "reference"];

/// A number below 100 that texts determine.
fn lot(texts: &[&str]) -> u32 {
    let mix = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(16_777_619);
    texts.iter().flat_map(|text| text.bytes()).fold(2_166_136_261, mix) / 7 % 100
}

/// 60 cases of 6 criteria. About `percent` of the answers meet each.
fn suite(name: &str, percent: u32) -> String {
    let mut text = "name: support\ntests:\n".to_owned();
    for case in 0..60 {
        let words: Vec<&str> =
            WORDS.into_iter().filter(|word| lot(&[name, word, &case.to_string()]) < percent).collect();
        let _ = write!(
            text,
            "- id: ticket-{case:02}\n  criteria: A good answer\n  input: Parcel {case} never arrived\n  output: The answer has {}\n  \
             assertions:\n  - name: reply\n    type: rubrics\n    criteria:\n",
            words.join(" ")
        );
        for word in WORDS {
            let _ = writeln!(text, "    - {{id: {word}, outcome: 'Mentions the `{word}`'}}");
        }
    }
    text
}

/// Judges disagree on some criteria.
fn judge(incoming: &MockRequest) -> MockReply {
    let text = &incoming.last_user_text;
    let line = |with: &str| text.lines().find(|line| line.contains(with)).unwrap_or_default();
    let criterion = &format!("{} {}", line("Mentions the"), line("Parcel "));
    let model = incoming.body["model"].as_str().unwrap_or_default();
    let met = (lot(&[criterion]) < 60) != (lot(&[model, criterion]) < 15);
    MockReply::Json(json!({
        "evidence": [], "reason": format!("{model} looked for it in the whole answer and thought about it at length"),
        "outcome": if met { "met" } else { "unmet" },
    }))
}

/// Checks the number of lines, and that the first and last lines contain the result of the command.
#[track_caller]
fn fits(output: &CliOutput, what: &str) {
    // A slow run also prints its progress, to stderr.
    let lines = output.stdout.lines().count();
    assert!(lines <= SCREEN, "{what} has {lines} lines:\n{}{}", output.stdout, output.stderr);
    assert!(lines > 5, "{what} says nothing:\n{}{}", output.stdout, output.stderr);
}

#[track_caller]
fn says_first_and_last(output: &CliOutput, words: &str) {
    let lines: Vec<&str> = output.stdout.lines().collect();
    let edge = 4.min(lines.len());
    let has = |lines: &[&str]| lines.iter().any(|line| line.contains(words));
    assert!(has(&lines[..edge]) && has(&lines[lines.len() - edge..]), "{words}: {}", output.stdout);
}

/// Labels of three people on two thirds of the criteria of a run.
fn labels(cli: &CliTest, run: &str) -> String {
    let mut text = "case,criterion,who,label\n".to_owned();
    for case in 0..40 {
        for word in WORDS {
            for who in ["ann", "bob", "cat"] {
                let met = lot(&[run, word, &case.to_string()]) < 70;
                let label = if met == (lot(&[who, word, &case.to_string()]) < 10) { "unmet" } else { "met" };
                let _ = writeln!(text, "ticket-{case:02},{word},{who},{label}");
            }
        }
    }
    let file = format!("{run}.csv");
    cli.file(&file, text);
    file
}

#[test]
fn eval_compare_calibrate_and_trend_fit() {
    for columns in ["80", "100"] {
        let (mut cli, _server) = with_server(judge);
        cli.env("COLUMNS", columns);
        let panel =
            ["--judge", "openai:gpt-large", "--judge", "openai:gpt-small", "--judge", "openai:gpt-third"];
        for (run, percent, judges) in
            [("before", 70, &[][..]), ("after", 45, &[]), ("panel", 60, &panel), ("none", 0, &[])]
        {
            let file = format!("{run}.yaml");
            cli.file(&file, suite(run, percent));
            let output = cli.run(&[&["eval", &file, "--run-dir", run], judges].concat()).expect_code(1);
            fits(&output, run);
            let failed = rows(&cli, run).iter().filter(|row| row["verdict"] == "fail").count();
            assert!(failed >= 20, "{run}: {failed}");
            says_first_and_last(&output, &format!("{failed} failed (exit code 1)"));
            let shown = output.stdout.lines().filter(|line| line.starts_with("  ✗ fail")).count();
            let more = format!("… and {} more: `assize explain {run}`", failed - shown);
            assert!(shown >= 3 && output.stdout.contains(&more), "{more}: {}", output.stdout);
        }
        let full = cli.run(&["eval", "after.yaml", "--run-dir", "again", "--verbose"]).expect_code(1);
        assert!(full.stdout.lines().count() > 100, "{}", full.stdout);

        let compare = |more: &[&str]| cli.run(&[&["compare"], more].concat());
        let worse = compare(&["before", "after"]);
        fits(&worse, "compare");
        says_first_and_last(&worse, "Verdict     ✗ worse");
        assert!(worse.stdout.contains("more: `--verbose`"), "{}", worse.stdout);
        let [before, after] = ["before", "after"].map(|run| format!("{run}={}", labels(&cli, run)));
        for (what, more) in [
            ("gates", &["before", "after", "--fail-on", "worse", "--max-drop", "0.1", "--anytime"][..]),
            ("labels", &["before", "after", "--labels", &before, "--labels", &after, "--assume-random"]),
            ("candidates", &["before", "after", "panel", "again", "--allow", "all"]),
            ("panel", &["after", "panel", "--allow", "all"]),
        ] {
            fits(&compare(more), what);
        }

        let runs: Vec<&str> = std::iter::repeat_n(["before", "after"], 25).flatten().collect();
        let trend = compare(&[&["--trend"], runs.as_slice()].concat());
        fits(&trend, "trend");
        assert!(trend.stdout.contains("earlier runs: `--verbose`"), "{}", trend.stdout);

        // The rest takes long, and what fits on a narrow screen fits on a wide one.
        if columns == "100" {
            continue;
        }
        let all = compare(&[&["--trend", "-v"], runs.as_slice()].concat());
        assert!(all.stdout.lines().count() > 50, "{}", all.stdout);
        let verbose = compare(&["before", "after", "-v"]).stdout;
        assert!(verbose.lines().count() > 100 && verbose.contains("Methods"), "{verbose}");
        for (run, more) in [("before", &["--assume-random"][..]), ("before", &[])] {
            let file = labels(&cli, run);
            let found =
                cli.run(&[&["calibrate", run, "--labels", &file, "--resamples", "100"], more].concat());
            fits(&found, "calibrate");
            says_first_and_last(&found, "The judge agrees with people in");
        }
    }
}

#[test]
fn a_scorecard_fits() {
    let server = MockServer::start(cards::judge);
    let mut card =
        "index: {code: TOP, passing_threshold: 0.9, components: [C], weights: {C: 1.0}}\nrubrics:\n"
            .to_owned();
    let aggregate = "weight: 1.0, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.9, label: part";
    let codes = ["B1", "B2", "B3", "B4", "B5", "B6"];
    let _ = writeln!(
        card,
        "  - {{code: C, {aggregate}, evaluation_guidelines: {{special_instructions: One.}}, sub_rubrics: [R]}}\n  - {{code: R, {aggregate}, \
         evaluation_guidelines: {{critical_requirements: [Two.]}}, benchmarks: [{}]}}\nbenchmarks:",
        codes.join(", ")
    );
    for (code, weight) in codes.into_iter().zip([0.2, 0.2, 0.2, 0.2, 0.1, 0.1]) {
        let _ = writeln!(
            card,
            "  - {{code: {code}, concept: a judge decides {code}, weight: {weight}, threshold: 0.9, evaluator_type: llm_judge, \
             llm_prompt_file: C1_prompt.md, inclusion_criteria: Apply when asked., exclusion_criteria: Do not apply when silent., \
             tags: [judged]}}"
        );
    }
    let ids: Vec<String> = (0..60).map(|case| format!("j{case}")).collect();
    let cases = |run: &str, percent: u32| -> Vec<(&str, &str, &str)> {
        let text = |id: &str| if lot(&[run, id]) < percent { "fine" } else { "bad" };
        ids.iter().map(|id| (id.as_str(), "judged", text(id))).collect()
    };
    let mut cli = cards::fixture_of(&server, &card, &cases("before", 80));
    cli.env("COLUMNS", "100");
    for (run, percent) in [("before", 80), ("after", 40)] {
        cards::write_card(&cli, &card, &cases(run, percent), &[]);
        let output =
            cli.run(&["scorecard", "run", "card.yaml", "--judge", "openai:judge-1", "--run-dir", run]);
        fits(&output, "scorecard run");
        assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    }
    fits(
        &cli.run(&["scorecard", "compare", "before", "after", "--fail-on", "regression"]),
        "scorecard compare",
    );
    fits(&cli.run(&["scorecard", "trend", "before", "after"]), "scorecard trend");
    fits(&cli.run(&["compare", "before", "after"]), "compare of scorecards");
}
