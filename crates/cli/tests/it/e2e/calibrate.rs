//! `calibrate`, `agreement` and `repeats`: tables and runs in; metrics, errors and exit codes out.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::object;

pub(crate) const QUICK: [&str; 2] = ["--resamples", "100"];

pub(crate) fn cli() -> CliTest {
    CliTest::new(env!("CARGO_BIN_EXE_assize"))
}

pub(crate) fn calibrate(cli: &CliTest, arguments: &[&str]) -> Value {
    object(&cli.run(&[&["calibrate", "--json"], arguments, &QUICK].concat()).expect_code(0))
}

pub(crate) fn refused(cli: &CliTest, arguments: &[&str]) -> String {
    cli.run(&[&["calibrate"], arguments].concat()).expect_code(2).stderr
}

fn overall(found: &Value) -> &Value {
    &found["sections"][0]
}

/// Rows of cases with a label and a verdict each: met/met, judge only, people only, unmet/unmet.
fn table(counts: [usize; 4]) -> String {
    let mut text = "case,label,judge\n".to_owned();
    let kinds = [("met", "met"), ("unmet", "met"), ("met", "unmet"), ("unmet", "unmet")];
    let mut case = 0;
    for ((label, judge), count) in kinds.into_iter().zip(counts) {
        for _ in 0..count {
            case += 1;
            writeln!(text, "c{case},{label},{judge}").expect("a string takes everything");
        }
    }
    text
}

#[test]
fn verdicts_are_crossed_and_every_figure_has_interval_n_and_sentence() {
    let cli = cli();
    cli.file("t.csv", table([20, 10, 5, 15]));
    let found = calibrate(&cli, &["--labels", "t.csv"]);
    let section = overall(&found);
    assert_eq!(section["confusion"]["only_judge_met"], 10);
    let figures = section["metrics"].as_object().expect("metrics");
    assert!((figures["kappa"]["value"].as_f64().expect("defined") - 0.4).abs() < 1e-12);
    let low = figures["kappa"]["low"].as_f64().expect("defined");
    assert!(
        (0.1..0.1511).contains(&low),
        "{low} lies a little below what the formula gives, which covers too seldom"
    );
    assert_eq!(figures["kappa"]["method"], "posterior");
    for (name, f1) in [("f1_met", 40.0 / 55.0), ("f1_unmet", 30.0 / 45.0)] {
        assert!((figures[name]["value"].as_f64().expect("defined") - f1).abs() < 1e-12, "{name}");
    }
    assert_eq!(
        (figures["sensitivity"]["n"].as_u64(), figures["specificity"]["n"].as_u64()),
        (Some(25), Some(25))
    );
    for (name, figure) in figures {
        assert!(figure["low"].as_f64() <= figure["value"].as_f64(), "{name}: {figure}");
        assert!(figure["high"].as_f64() >= figure["value"].as_f64(), "{name}: {figure}");
        assert!(figure["says"].as_str().is_some_and(|says| says.ends_with('.')), "{name}");
    }
    assert!((section["biases"]["severity"]["value"].as_f64().expect("defined") - 0.1).abs() < 1e-12);
    for unmeasured in ["length", "position", "self_preference"] {
        assert!(section["biases"][unmeasured]["unmeasured"].is_string(), "{unmeasured}");
    }
}

#[test]
fn what_the_judge_could_not_decide_is_counted_and_never_a_verdict() {
    let cli = cli();
    cli.file(
        "t.jsonl",
        "{\"case\":\"a\",\"label\":\"met\",\"judge\":\"met\"}\n{\"case\":\"b\",\"label\":\"met\",\"judge\":null}\n\
         {\"case\":\"c\",\"label\":\"unmet\",\"judge\":\"ungraded\"}\n{\"case\":\"d\",\"label\":\"unsure\",\"judge\":\"met\"}\n\
         {\"case\":\"e\",\"label\":\"n/a\",\"judge\":\"unmet\"}\n{\"case\":\"f\",\"label\":\"unmet\",\"judge\":\"not_applicable\"}\n",
    );
    let found = calibrate(&cli, &["--labels", "t.jsonl"]);
    let counts = &overall(&found)["counts"];
    for (name, count) in [
        ("compared", 1),
        ("ungraded", 2),
        ("unsure", 1),
        ("people_not_applicable", 1),
        ("judge_not_applicable", 1),
    ] {
        assert_eq!(counts[name], count, "{name}: {counts}");
    }
    assert_eq!(overall(&found)["confusion"]["both_met"], 1);
    assert_eq!(found["rates"][0]["judge"]["n"], 3, "only what was decided");
}

#[test]
fn limits_end_with_1_and_the_lower_end_is_the_harder_one() {
    let cli = cli();
    cli.file("t.csv", table([20, 10, 5, 15]));
    let limit =
        |arguments: &[&str]| cli.run(&[&["calibrate", "--labels", "t.csv"], arguments, &QUICK].concat()).code;
    assert_eq!(limit(&["--min-kappa", "0.4"]), Some(0));
    assert_eq!(limit(&["--min-kappa", "0.41"]), Some(1));
    assert_eq!(limit(&["--min-kappa", "0.4", "--gate-on", "lower"]), Some(1));
    assert_eq!(
        limit(&["--min-kappa", "0.15", "--gate-on", "lower"]),
        Some(1),
        "only the formula's reaches it"
    );
    assert_eq!(limit(&["--min-kappa", "0.1", "--gate-on", "lower"]), Some(0));
    assert_eq!(limit(&["--min-spearman", "0"]), Some(1), "a figure that is not there reaches nothing");
    cli.file("one.csv", "case,label,judge\na,met,met\nb,met,met\n");
    let output = cli.run(&["calibrate", "--labels", "one.csv", "--min-kappa", "0"]).expect_code(1);
    assert!(output.stdout.contains("undefined, because"), "{}", output.stdout);
}

#[test]
fn what_the_judge_was_tuned_on_does_not_measure_it() {
    let cli = cli();
    let mut text = String::new();
    for (number, split) in ["train", "example", "test", "test"].iter().enumerate() {
        writeln!(
            text,
            "{{\"case\":\"c{number}\",\"label\":\"met\",\"judge\":\"met\",\"split\":\"{split}\"}}"
        )
        .expect("a string takes everything");
    }
    text += "{\"case\":\"c9\",\"label\":\"met\",\"judge\":\"unmet\"}\n";
    cli.file("t.jsonl", text);
    let compared = |arguments: &[&str]| {
        let found = calibrate(&cli, &[&["--labels", "t.jsonl"], arguments].concat());
        (overall(&found)["counts"]["compared"].as_u64(), found["excluded"]["other_split"].as_u64())
    };
    assert_eq!(compared(&[]), (Some(3), Some(2)));
    assert_eq!(compared(&["--split", "test"]), (Some(2), Some(3)));
    assert_eq!(compared(&["--split", "train"]), (Some(1), Some(4)));
    assert_eq!(compared(&["--exclude", "c9"]), (Some(2), Some(2)));
    assert_eq!(compared(&["--holdout", "1"]), (Some(3), Some(2)));
    assert_eq!(compared(&["--holdout", "0"]).0, Some(0));
}

#[test]
fn pass_rates_are_corrected_only_by_a_random_draw() {
    let cli = cli();
    let write = |sampled: &str| {
        let mut text = "case,label,judge,sampled\n".to_owned();
        let (people, judge) = ([1, 0, 1, 1, 0, 1, 1, 0], [1, 0, 1, 0, 0, 1, 1, 1]);
        for (number, (people, judge)) in people.iter().zip(judge).enumerate() {
            writeln!(text, "l{number},{people},{judge},{sampled}").expect("a string takes everything");
        }
        for number in 0..20 {
            writeln!(text, "u{number},,{},", u8::from(number < 14)).expect("a string takes everything");
        }
        cli.file("t.csv", text);
    };
    let corrected = |arguments: &[&str]| {
        calibrate(&cli, &[&["--labels", "t.csv"], arguments].concat())["rates"][0]["corrected"].clone()
    };
    write("random");
    let found = corrected(&[]);
    // People .625; the judge .625 over labelled items and .7 over the rest; its weight is .179, with the
    // correlation .484 halved, because eight items have labels and eight have none.
    assert!(
        (found["ppi_plus_plus"]["value"].as_f64().expect("corrected") - 0.638_432).abs() < 1e-6,
        "{found}"
    );
    assert_eq!(found["ppi_plus_plus"]["method"], "prediction-powered, Wilson");
    assert_eq!(found["few_labels"], true);
    for sampled in ["chosen", ""] {
        write(sampled);
        let reason = corrected(&[])["refused"].to_string();
        assert!(reason.contains("random sample"), "{reason}");
        assert!(corrected(&["--assume-random"])["ppi_plus_plus"]["value"].is_number());
    }
    let found = calibrate(&cli, &["--labels", "t.csv", "--sensitivity", "90/100", "--specificity", "85/100"]);
    let given = &found["rates"][0]["rogan_gladen"];
    assert!(
        (given["raw"].as_f64().expect("corrected") - (19.0 / 28.0 - 0.15) / 0.75).abs() < 1e-9,
        "{given}"
    );
    assert!(given["low"].is_number());
    let found = calibrate(&cli, &["--labels", "t.csv", "--sensitivity", "0.9", "--specificity", "0.85"]);
    assert!(found["rates"][0]["rogan_gladen"]["low"].is_null(), "bare shares have no interval");
    let found = calibrate(&cli, &["--labels", "t.csv", "--sensitivity", "0.4", "--specificity", "0.6"]);
    assert!(found["rates"][0]["rogan_gladen"]["undefined"].to_string().contains("no information"));
}

#[test]
fn different_codes_of_one_thing_are_refused_and_named() {
    let cli = cli();
    cli.file("t.csv", "case,label,judge\na,1,0\nb,2,1\nc,1,1\n");
    let message = refused(&cli, &["--labels", "t.csv"]);
    assert!(
        message.contains("0 and 1") && message.contains("1 and 2") && message.contains("--values"),
        "{message}"
    );
    cli.file("t.csv", "case,label,judge\na,met,7\nb,unmet,3\n");
    assert!(refused(&cli, &["--labels", "t.csv"]).contains("t.csv:2"));
    cli.file("t.csv", "case,label,judge\na,1,1\nb,0,1\n");
    assert_eq!(overall(&calibrate(&cli, &["--labels", "t.csv"]))["kind"], "verdicts");
    let scored = calibrate(&cli, &["--labels", "t.csv", "--scale", "0..10"]);
    assert_eq!(overall(&scored)["kind"], "scores");
    let turned = calibrate(&cli, &["--labels", "t.csv", "--values", "met=0,unmet=1"]);
    assert_eq!(overall(&turned)["confusion"]["only_people_met"], 1);
}

#[test]
fn every_problem_of_every_file_is_listed_with_its_line() {
    let cli = cli();
    cli.file("a.jsonl", "{\"case\":\"a\",\"label\":\"met\"}\n{\"case\":\"b\",\"lable\":\"met\"}\nnot json\n");
    cli.file("b.csv", "case,label,judge\na,maybe,met\nb,met\nc,met,met\n");
    let message = refused(&cli, &["--labels", "a.jsonl", "b.csv", "gone.jsonl"]);
    for part in [
        "a.jsonl:2: unknown column or key `lable`",
        "did you mean `label`",
        "a.jsonl:3: not JSON",
        "b.csv:2: label",
        "b.csv:3: column 3: this row does not match the header of the table: 2 cells under 3 columns",
        "gone.jsonl: no such file or folder",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    cli.file("c.csv", "id,verdict\n1,met\n");
    let message = refused(&cli, &["--labels", "c.csv", "--columns", "case=id,label=verdikt"]);
    assert!(message.contains("did you mean `verdict`"), "{message}");
    let message = refused(&cli, &["--labels", "c.csv", "--columns", "case=id,label=verdict"]);
    assert!(message.contains("no verdicts of a judge"), "{message}");
}

#[test]
fn nothing_in_a_table_steers_the_terminal() {
    let cli = cli();
    cli.file(
        "t.jsonl",
        "{\"case\":\"\\u001b[2Ja\",\"criterion\":\"\\u001b[31m\",\"label\":\"met\",\"judge\":\"unmet\"}\n",
    );
    let shown = cli.run(&["calibrate", "--labels", "t.jsonl"]).expect_code(0).stdout;
    cli.file("u.jsonl", "{\"case\":\"a\",\"who\":\"\\u001b[2J\",\"label\":\"met\"}\n");
    let complaint = refused(&cli, &["--labels", "u.jsonl", "--judge-is", "bob"]);
    assert!(!shown.contains('\u{1b}') && !complaint.contains('\u{1b}'), "{shown}{complaint}");
}

#[test]
fn a_rater_can_stand_in_for_the_judge_and_the_last_word_counts() {
    let cli = cli();
    let mut text = String::new();
    for (day, case, who, label) in [
        (1, "a", "ann", "met"),
        (1, "a", "gpt", "unmet"),
        (1, "b", "ann", "unmet"),
        (1, "b", "gpt", "unmet"),
        (2, "a", "ann", "unmet"),
    ] {
        let row = serde_json::json!({
            "case": case, "criterion": "k", "who": who, "label": label, "at": format!("2026-01-0{day}"),
        });
        writeln!(text, "{row}").expect("a string takes everything");
    }
    cli.file("labels/a.jsonl", text);
    let found = calibrate(&cli, &["--labels", "labels", "--judge-is", "gpt"]);
    assert_eq!(overall(&found)["confusion"]["both_unmet"], 2, "ann changed her mind about `a`");
    assert!(refused(&cli, &["--labels", "labels", "--judge-is", "bob"]).contains("ann, gpt"));
    cli.file("anonymous.csv", "case,label,judge\na,met,met\na,unmet,met\n");
    assert!(refused(&cli, &["--labels", "anonymous.csv"]).contains("without a rater"));
}

#[test]
fn people_stand_beside_the_judge() {
    let cli = cli();
    cli.file(
        "t.jsonl",
        "{\"case\":\"a\",\"label\":[true,true],\"judge\":true}\n{\"case\":\"b\",\"label\":[true,false],\"judge\":false}\n\
         {\"case\":\"c\",\"label\":[false,false,null],\"judge\":true}\n",
    );
    let found = calibrate(&cli, &["--labels", "t.jsonl"]);
    let section = overall(&found);
    assert_eq!(section["people"]["accuracy"]["n"], 6);
    assert!((section["people"]["accuracy"]["value"].as_f64().expect("defined") - 4.0 / 6.0).abs() < 1e-12);
    // People disagree on `b`, so the judge's verdict on it is no error.
    assert_eq!(section["metrics"]["accuracy"]["n"], 4, "each label of the others is a pair");
    assert_eq!(
        (
            &section["counts"]["compared"], &section["counts"]["disputed"],
            &section["confusion"]["only_people_met"]
        ),
        (&2.into(), &1.into(), &0.into())
    );
    let text = cli.run(&[&["calibrate", "--labels", "t.jsonl"], &QUICK[..]].concat()).expect_code(0).stdout;
    assert!(text.contains("1 disputed") && text.contains("disputed items included"), "{text}");
    assert!(text.contains("The judge agrees with people in 2 of 4 undisputed labels"), "{text}");
    let found = calibrate(&cli, &["--labels", "t.jsonl", "--truth", "each"]);
    let each = overall(&found);
    assert_eq!((&each["metrics"]["accuracy"]["n"], &each["counts"]["disputed"]), (&6.into(), &0.into()));
    assert_eq!(each["confusion"]["only_people_met"], 1);
    let found = calibrate(&cli, &["--labels", "t.jsonl", "--truth", "consensus"]);
    let counts = &overall(&found)["counts"];
    assert_eq!((counts["compared"].as_u64(), counts["tied"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn probabilities_are_read_at_the_threshold_and_measured_as_such() {
    let cli = cli();
    cli.file("t.csv", "case,label,probability\na,met,0.9\nb,unmet,0.6\nc,met,0.35\nd,unmet,0.1\n");
    let found = calibrate(&cli, &["--labels", "t.csv"]);
    let section = overall(&found);
    assert_eq!(section["confusion"]["only_people_met"], 1);
    assert!((section["metrics"]["brier"]["value"].as_f64().expect("defined") - 0.200_625).abs() < 1e-12);
    assert_eq!(section["metrics"]["auroc"]["value"], 0.75);
    let found = calibrate(&cli, &["--labels", "t.csv", "--threshold", "0.3"]);
    assert_eq!(overall(&found)["confusion"]["only_people_met"], 0);
    cli.file("t.csv", "case,label,probability\na,met,90\n");
    assert!(refused(&cli, &["--labels", "t.csv"]).contains("0 to 1"));
}

#[test]
fn constant_judges_leave_correlations_undefined_with_the_reason() {
    let cli = cli();
    let mut text = "case,label,judge\n".to_owned();
    for number in 0..10 {
        writeln!(text, "c{number},{},5", 2 + number % 4).expect("a string takes everything");
    }
    cli.file("t.csv", text);
    let found = calibrate(&cli, &["--labels", "t.csv", "--scale", "0..10"]);
    let figures = &overall(&found)["metrics"];
    for name in ["spearman", "pearson", "kendall_tau_b"] {
        assert!(figures[name]["value"].is_null(), "{name}");
        assert_eq!(figures[name]["undefined"], "all values are the same");
    }
    assert!(figures["mae"]["value"].is_number());
}

#[test]
fn prerequisites_in_a_circle_end_and_are_counted() {
    let cli = cli();
    cli.file(
        "t.jsonl",
        "{\"case\":\"t\",\"criterion\":0,\"requires\":[],\"label\":false,\"judge\":true}\n\
         {\"case\":\"t\",\"criterion\":1,\"requires\":[0],\"label\":true,\"judge\":true}\n\
         {\"case\":\"t\",\"criterion\":2,\"requires\":[1],\"label\":true,\"judge\":true}\n\
         {\"case\":\"t\",\"criterion\":3,\"requires\":[3],\"label\":true,\"judge\":true}\n",
    );
    let found = calibrate(&cli, &["--labels", "t.jsonl"]);
    let people = &found["rates"][0]["with_prerequisites"]["people"];
    let count = |how: &str| people[how]["independent"]["count"].as_u64();
    assert_eq!(
        (count("direct"), count("recursive"), people["circular"].as_u64()),
        (Some(2), Some(1), Some(1))
    );
}

#[test]
fn a_run_is_measured_by_case_and_criterion() {
    let cli = cli();
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: apples and pears\n  assertions:\n  - name: fruit\n    \
         type: rubrics\n    criteria:\n    - {id: a, outcome: Names `apples`}\n    - {id: z, outcome: Names `zebras`}\n- id: two\n  \
         criteria: x\n  input: q\n  output: nothing\n  assertions:\n  - name: fruit\n    type: rubrics\n    criteria:\n    \
         - {id: a, outcome: Names `apples`}\n    - {id: z, outcome: Names `zebras`}\n",
    );
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run"]).expect_code(1);
    let label = |case: &str, criterion: &str, label: &str| {
        format!(
            "{{\"case\":\"{case}\",\"criterion\":\"{criterion}\",\"label\":\"{label}\",\"who\":\"ann\"}}\n"
        )
    };
    let good = label("one", "a", "met") + &label("one", "z", "unmet") + &label("two", "a", "unmet");
    cli.file("labels/l.jsonl", format!("{good}{}", label("two", "b", "met")));
    let found = calibrate(&cli, &["run", "--labels", "labels"]);
    let section = overall(&found);
    assert_eq!(
        (section["counts"]["compared"].as_u64(), section["counts"]["judged"].as_u64()),
        (Some(3), Some(4))
    );
    assert_eq!(found["excluded"]["unmatched"], 1);
    assert!(found["notes"].to_string().contains("no such criterion `b`"), "{}", found["notes"]);
    assert_eq!(found["judge"], "offline");
    assert!(section["biases"]["length"]["n"].is_number(), "answers are stored, so their length is known");

    cli.file("labels/l.jsonl", label("three", "a", "met"));
    assert!(refused(&cli, &["run", "--labels", "labels"]).contains("no case `three` was judged"));
    let doubt = "{\"case\":\"one\",\"label\":\"met\",\"who\":\"ann\"}\n";
    cli.file("labels/l.jsonl", doubt);
    assert!(refused(&cli, &["run", "--labels", "labels"]).contains("add the criterion"));
    assert!(refused(&cli, &["run"]).contains("--labels"));
    let found = calibrate(&cli, &["run", "--sensitivity", "9/10", "--specificity", "9/10"]);
    assert!(found["rates"][0]["rogan_gladen"]["raw"].is_number());
}

#[test]
fn preferences_count_only_if_both_orders_agree() {
    let cli = cli();
    cli.file("p.csv", "case,preferred,first,second\n1,A,A,A\n2,A,A,B\n3,B,A,B\n4,B,B,\n5,A,tie,tie\n");
    let found = object(&cli.run(&["calibrate", "--pairs", "--labels", "p.csv", "--json"]).expect_code(0));
    let group = &found["groups"][0];
    assert_eq!(group["right_both"]["count"], 1);
    assert_eq!((group["right_both"]["n"].as_u64(), group["unread"].as_u64()), (Some(4), Some(1)));
    assert_eq!(
        (group["right_first"]["count"].as_u64(), group["right_first"]["n"].as_u64()),
        (Some(3), Some(5))
    );
    assert_eq!(group["shown_first"]["count"], 5, "A in the first order, B in the second");
    assert_eq!(group["right_on_balance"]["count"], 1);
    assert_eq!(group["seems_exchanged"], false);
    // A tie next to a right verdict counts as right, next to a wrong one it does not.
    cli.file("p.csv", "case,preferred,first,second\n1,A,A,tie\n2,A,tie,B\n3,B,tie,B\n4,A,A,B\n");
    let found = object(&cli.run(&["calibrate", "--pairs", "--labels", "p.csv", "--json"]).expect_code(0));
    assert_eq!(found["groups"][0]["right_on_balance"]["count"], 2);
    assert_eq!(found["groups"][0]["right_both"]["count"], 0);

    // The verdicts of an honest judge; in the second order they are positions.
    let rows: String = (0..40)
        .map(|at| if at % 2 == 0 { format!("{at},A,A,B\n") } else { format!("{at},B,B,A\n") })
        .collect();
    cli.file("p.csv", format!("case,human,first,second\n{rows}"));
    let columns = ["calibrate", "--pairs", "--labels", "p.csv", "--columns", "preferred=human"];
    let output = cli.run(&columns).expect_code(0);
    assert!(output.stdout.contains("mapped back"), "{}", output.stdout);
    // A column with a role is read for no other role.
    cli.file("p.csv", "case,label,first,second\n1,A,A,A\n2,B,B,B\n");
    cli.run(&["calibrate", "--pairs", "--labels", "p.csv", "--columns", "preferred=label"]).expect_code(0);
    cli.file("p.csv", "case,preferred,first,second\n1,1,0,1\n2,2,1,0\n");
    let message = cli.run(&["calibrate", "--pairs", "--labels", "p.csv"]).expect_code(2).stderr;
    assert!(message.contains("0, 1, 2"), "{message}");
}

#[test]
fn answers_to_one_case_and_systems_are_ordered_as_by_people() {
    let cli = cli();
    let mut rows = String::new();
    for case in 0..12 {
        for (at, system) in ["a", "b", "c"].into_iter().enumerate() {
            // The judge is one point more lenient on every other case, which the order within a case does not
            // show.
            let (label, judge) = (at + 1, at as f64 + 1.5 + f64::from(case % 2));
            let row = serde_json::json!({"case": case, "system": system, "label": label, "judge": judge});
            rows.push_str(&row.to_string());
            rows.push('\n');
        }
    }
    cli.file("s.jsonl", rows);
    let found =
        object(&cli.run(&["calibrate", "--labels", "s.jsonl", "--scale", "1..5", "--json"]).expect_code(0));
    let figures = &found["sections"][0]["metrics"];
    assert!(figures["spearman"]["value"].as_f64() < Some(0.95), "{figures}");
    for id in
        ["spearman_by_case", "kendall_by_case", "pearson_by_case", "pairwise_accuracy", "spearman_by_system"]
    {
        assert!((figures[id]["value"].as_f64().expect(id) - 1.0).abs() < 1e-9, "{id}: {figures}");
    }
    assert_eq!(
        (&figures["spearman_by_case"]["n"], &figures["kendall_by_system"]["n"]),
        (&12.into(), &3.into())
    );
    assert!(figures["spearman_by_case"]["low"].as_f64() < Some(1.0), "{figures}");
    assert!(figures.get("alpha_nominal").is_none(), "scores of the judge are none of people: {figures}");
    // With one answer per case there is no order.
    cli.file("one.jsonl", "{\"case\":1,\"label\":3,\"judge\":4}\n{\"case\":2,\"label\":2,\"judge\":2}\n");
    let found =
        object(&cli.run(&["calibrate", "--labels", "one.jsonl", "--scale", "1..5", "--json"]).expect_code(0));
    assert!(found["sections"][0]["metrics"].get("spearman_by_case").is_none());
}

#[test]
fn rescaling_is_measured_on_items_that_it_was_not_fitted_to() {
    let cli = cli();
    let scores: Vec<String> = (0..60)
        .map(|case| format!("{{\"case\":{case},\"label\":{},\"judge\":{}}}\n", case % 5 + 1, (case % 5) * 2))
        .collect();
    cli.file("s.jsonl", scores.concat());
    let args = ["calibrate", "--rescale", "--labels", "s.jsonl", "--scale", "0..10", "--level", "0.9"];
    let found = object(&cli.run(&[&args[..], &["--json"]].concat()).expect_code(0));
    assert_eq!(
        (&found["of"], &found["folds"], &found["best"]),
        (&"scores".into(), &10.into(), &"line".into())
    );
    // People's scores are 1 plus half of the judge's.
    let line = &found["methods"][1];
    assert!((line["fit"]["slope"].as_f64().expect("a slope") - 0.5).abs() < 1e-9, "{found}");
    assert!(line["conformal_radius"].as_f64().expect("a radius") < 1e-9, "{found}");
    assert!(found["methods"][0]["error"]["value"].as_f64() > Some(1.0), "{found}");

    assert!(found["systems"].as_array().is_some_and(Vec::is_empty), "{found}");

    // The judge is close to people on one system and far off on another: one half-width fits neither.
    let two: Vec<String> = (0..120)
        .map(|case| {
            let (system, noise) = if case % 2 == 0 { ("near", 0) } else { ("far", (case / 2 % 7) - 3) };
            let people = case / 2 % 5 + 3;
            format!(
                "{{\"case\":{case},\"system\":\"{system}\",\"label\":{people},\"judge\":{}}}\n",
                people + noise
            )
        })
        .collect();
    cli.file("two.jsonl", two.concat());
    let found = object(
        &cli.run(&["calibrate", "--rescale", "--labels", "two.jsonl", "--scale", "0..10", "--json"])
            .expect_code(0),
    );
    let radius = |at: usize| found["systems"][at]["conformal_radius"].as_f64().expect("sixty pairs");
    assert_eq!(
        (&found["systems"][0]["system"], &found["systems"][1]["system"]),
        (&"far".into(), &"near".into())
    );
    assert!(radius(0) > radius(1) + 0.5, "{found}");

    // Probabilities that are too high throughout: 0.7 means unmet.
    let verdicts: Vec<String> = (0..80)
        .map(|case| {
            let (label, p) = if case % 2 == 0 { ("met", 0.9) } else { ("unmet", 0.7) };
            format!("{{\"case\":{case},\"label\":\"{label}\",\"probability\":{p}}}\n")
        })
        .collect();
    cli.file("p.jsonl", verdicts.concat());
    let found = object(&cli.run(&["calibrate", "--rescale", "--labels", "p.jsonl", "--json"]).expect_code(0));
    assert_eq!((&found["of"], &found["best"]), (&"verdicts".into(), &"isotonic".into()));
    assert!((found["threshold"]["threshold"].as_f64().expect("a number") - 0.8).abs() < 1e-9, "{found}");
    assert_eq!(
        (&found["threshold"]["balanced_accuracy"], &found["threshold"]["balanced_accuracy_at_half"]),
        (&1.0.into(), &0.5.into())
    );

    cli.file("few.jsonl", "{\"case\":1,\"label\":\"met\",\"probability\":0.4}\n");
    let refused = cli.run(&["calibrate", "--rescale", "--labels", "few.jsonl"]).expect_code(2).stderr;
    assert!(refused.contains("at least 10"), "{refused}");
    cli.file("v.jsonl", "{\"case\":1,\"label\":\"met\",\"judge\":\"met\"}\n");
    let refused = cli.run(&["calibrate", "--rescale", "--labels", "v.jsonl"]).expect_code(2).stderr;
    assert!(refused.contains("no labelled item has a number"), "{refused}");
}

#[test]
fn error_rates_of_raters_need_no_labels_but_three_raters() {
    let cli = cli();
    let vote = |case: usize, who: &str, met: bool| {
        let label = if met { "met" } else { "unmet" };
        format!("{{\"case\":{case},\"who\":\"{who}\",\"label\":\"{label}\"}}\n")
    };
    // `c` is wrong on every fourth item, the others never.
    let rows: String = (0..40)
        .flat_map(|case| {
            let truth = case % 2 == 0;
            [("a", truth), ("b", truth), ("c", truth != (case % 4 == 1))]
                .map(|(who, met)| vote(case, who, met))
        })
        .collect();
    cli.file("v.jsonl", rows);
    let args = ["calibrate", "panel", "v.jsonl", "--resamples", "50"];
    let found = object(&cli.run(&[&args[..], &["--json"]].concat()).expect_code(0));
    assert_eq!((&found["items"], &found["votes"], &found["overruled"]), (&40.into(), &120.into(), &0.into()));
    assert!(found["dependent"].is_null(), "three raters show no dependence: {found}");
    let of =
        |rater: usize, id: &str| found["raters"][rater]["metrics"][id]["value"].as_f64().expect("a rate");
    assert!(of(0, "sensitivity") > 0.95 && of(0, "specificity") > 0.95, "{found}");
    assert!(of(2, "sensitivity") > 0.95 && (of(2, "specificity") - 0.5).abs() < 0.05, "{found}");
    let weight = |rater: usize| found["raters"][rater]["weight"].as_f64().expect("a weight");
    assert!(weight(0) > 1.5 * weight(2) && weight(2) > 0.0, "{found}");
    let text = cli.run(&args).expect_code(0).stdout;
    assert!(
        text.contains("from four raters on") && text.contains("weight") && !text.contains("too few"),
        "{text}"
    );

    // Two items are too few for a conclusion about any rater.
    let both = |who| [vote(0, who, true), vote(1, who, false)];
    let few: String = ["a", "b", "c"].into_iter().flat_map(both).collect();
    cli.file("few.jsonl", few);
    let few = ["calibrate", "panel", "few.jsonl"];
    let text = cli.run(&few).expect_code(0).stdout;
    assert!(text.contains("2 items are too few to tell errors from chance"), "{text}");
    let found = object(&cli.run(&[&few[..], &["--json"]].concat()).expect_code(0));
    let rate = &found["raters"][0]["metrics"]["sensitivity"];
    let width = rate["high"].as_f64().zip(rate["low"].as_f64()).map(|(high, low)| high - low);
    assert!(width.is_some_and(|width| width > 0.4), "{found}");

    cli.file("two.jsonl", format!("{}{}", vote(1, "a", true), vote(1, "b", false)));
    let refused = cli.run(&["calibrate", "panel", "two.jsonl"]).expect_code(2).stderr;
    assert!(refused.contains("three raters"), "{refused}");
    cli.run(&["calibrate", "panel", "nowhere"]).expect_code(2);
}

#[test]
fn gates_on_shares_use_the_exact_end() {
    let cli = cli();
    let rows: Vec<String> = (0..20)
        .map(|case| {
            let label = if case % 2 == 0 { "met" } else { "unmet" };
            format!("{{\"case\":{case},\"label\":\"{label}\",\"judge\":\"{label}\"}}\n")
        })
        .collect();
    cli.file("l.jsonl", rows.concat());
    // 20 of 20: Blaker's lower end is .839, Clopper and Pearson's .025^(1/20) = .832.
    for (limit, code) in [("0.83", 0), ("0.835", 1), ("0.84", 1)] {
        cli.run(&["calibrate", "--labels", "l.jsonl", "--min-accuracy", limit, "--gate-on", "lower"])
            .expect_code(code);
    }
}

#[test]
fn what_was_mostly_no_score_is_ungraded() {
    let cli = cli();
    let row = |case: usize, top: f64, label: usize| {
        format!("{{\"case\":{case},\"probabilities\":{{\"1\":0.01,\"3\":{top}}},\"label\":{label}}}\n")
    };
    cli.file("p.jsonl", format!("{}{}{}", row(1, 0.9, 3), row(2, 0.2, 2), row(3, 0.49, 1)));
    let args = ["calibrate", "--labels", "p.jsonl", "--scale", "1..5"];
    let found = object(&cli.run(&[&args[..], &["--json"]].concat()).expect_code(0));
    let mass = &found["captured_mass"];
    assert_eq!((&mass["decisions"], &mass["refused"]), (&3.into(), &1.into()), "{mass}");
    for (key, expected) in [("median", 0.5), ("lowest", 0.21)] {
        assert!((mass[key].as_f64().expect("a number") - expected).abs() < 1e-12, "{mass}");
    }
    let output = cli.run(&args).expect_code(0);
    assert!(output.stdout.contains("1 below 0.5"), "{}", output.stdout);
}

#[test]
fn raters_are_measured_with_ratings_missing() {
    let cli = cli();
    cli.file("r.jsonl", "{\"case\":1,\"label\":[1,1,null]}\n{\"case\":2,\"label\":[3,4,3]}\n{\"case\":3,\"label\":[5,5,5]}\n{\"case\":4,\"label\":[2,null,null]}\n");
    let found = object(
        &cli.run(&["calibrate", "agreement", "r.jsonl", "--json", "--resamples", "50"]).expect_code(0),
    );
    let section = &found["sections"][0];
    assert_eq!((section["rated_twice"].as_u64(), section["ratings"].as_u64()), (Some(3), Some(9)));
    assert_eq!(section["all_same"]["count"], 2);
    assert!(section["metrics"]["alpha_interval"]["value"].as_f64() > Some(0.9));

    // Scores that differ only by the order of summation are equal, and full agreement is uncertain.
    let dusty: Vec<String> = (0..12)
        .map(|at| {
            let (score, dust) = (1 + at % 3, f64::EPSILON * f64::from(2 * (at % 2)));
            format!("{{\"case\":{at},\"label\":[{score},{}]}}\n", f64::from(score) + dust)
        })
        .collect();
    cli.file("dust.jsonl", dusty.concat());
    let dust = ["calibrate", "agreement", "dust.jsonl", "--scale", "1..5", "--json", "--resamples", "200"];
    let found = object(&cli.run(&dust).expect_code(0))["sections"][0].clone();
    assert_eq!((&found["all_same"]["count"], &found["all_same"]["n"]), (&12.into(), &12.into()), "{found}");
    for id in ["alpha_nominal", "alpha_ordinal", "alpha_interval", "ac2"] {
        let figure = &found["metrics"][id];
        let low = figure["low"].as_f64().expect("an interval");
        assert!((figure["value"].as_f64().expect("defined") - 1.0).abs() < 1e-9, "{id}: {found}");
        assert!((0.2..0.98).contains(&low) && figure["high"] == 1.0, "{id}: {found}");
    }

    cli.file("same.jsonl", "{\"case\":1,\"label\":[1,1]}\n{\"case\":2,\"label\":[1,1]}\n");
    let output = cli.run(&["calibrate", "agreement", "same.jsonl", "--values", "met=1"]).expect_code(0);
    assert!(output.stdout.contains("undefined  all ratings are the same"), "{}", output.stdout);
}

#[test]
fn failed_scores_are_no_zeros_and_ids_must_tell_rows_apart() {
    let cli = cli();
    cli.file(
        "r.jsonl",
        "{\"case\":\"a\",\"scores\":[[5,7],[6,6]]}\n{\"case\":\"b\",\"scores\":[[null,3],[2,2]]}\n{\"case\":\"c\",\"scores\":[[4,4],[null,null]]}\n",
    );
    let found = object(
        &cli.run(&["calibrate", "noise", "r.jsonl", "--right", "0", "-k", "1,2", "--json"]).expect_code(0),
    );
    assert_eq!(found["failed"], 3);
    let best = &found["best"];
    assert_eq!((best[0]["strict"]["count"].as_u64(), best[0]["strict"]["n"].as_u64()), (Some(0), Some(1)));
    assert_eq!((best[1]["strict"]["count"].as_u64(), best[1]["tied"].as_u64()), (Some(1), Some(1)));
    cli.run(&["calibrate", "noise", "r.jsonl", "--right", "2"]).expect_code(2);
    cli.file("r.jsonl", "{\"case\":\"a\",\"scores\":[1,2]}\n{\"case\":\"a\",\"scores\":[2,2]}\n");
    let message = cli.run(&["calibrate", "noise", "r.jsonl"]).expect_code(2).stderr;
    assert!(message.contains("r.jsonl:2") && message.contains("already has scores in line 1"), "{message}");
}

#[test]
fn a_mistake_of_every_line_is_told_once() {
    let cli = cli();
    let rows: Vec<String> = (0..120).map(|n| format!("c{n},good {n},met\n")).collect();
    cli.file("t.csv", format!("case,label,judge\n{}", rows.concat()));
    let message = refused(&cli, &["--labels", "t.csv"]);
    assert!(message.contains("the labels have 120 errors"), "{message}");
    assert!(message.contains("(the same in 119 further lines: 3, 4, 5, 6, 7, 8, ...)"), "{message}");
    assert_eq!(message.matches("t.csv:").count(), 1, "{message}");
}

#[test]
fn a_label_of_a_run_is_about_its_question_its_criterion_and_its_answer() {
    let cli = cli();
    let suite = "name: s\ntests:\n- id: one\n  criteria: x\n  input: What grows there?\n  output: apples and pears\n  \
                 assertions:\n  - {name: f, type: rubrics, criteria: [{id: a, outcome: Names `apples`}]}\n- id: two\n  \
                 criteria: x\n  input: And here?\n  output: apples only\n  assertions:\n  - {name: f, type: rubrics, \
                 criteria: [{id: a, outcome: Names `apples`}]}\n";
    let run = |text: &str, out: &str| {
        cli.file("s.yaml", text);
        cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", out]);
    };
    run(suite, "before");
    let ask = |out: &str, lines: &str| {
        cli.run_with_input(&["review", out, "--who", "ann", "--order", "uncertain-first"], lines)
            .expect_code(0)
    };
    ask("before", "pass\npass\n");
    let measured = |out: &str| {
        let found = calibrate(&cli, &[out, "--labels", "labels"]);
        let section = overall(&found);
        (found["excluded"]["stale"].clone(), section["counts"]["compared"].clone())
    };
    assert_eq!(measured("before"), (0.into(), 2.into()));
    for (at, (what, from, to)) in [
        ("the answer", "apples and pears", "apples and plums"),
        (
            "the criterion",
            "[{id: a, outcome: Names `apples`}]}\n- id: two",
            "[{id: a, outcome: Says `apples`}]}\n- id: two",
        ),
        ("the question", "What grows there?", "What rots there?"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("after{at}");
        run(&suite.replacen(from, to, 1), &out);
        assert_eq!(measured(&out), (1.into(), 1.into()), "{what}");
        let text = cli.run(&["calibrate", &out, "--labels", "labels"]).expect_code(0).stdout;
        assert!(text.contains("stale: for another answer or question"), "{what}: {text}");
        let shown = ask(&out, "").stdout;
        assert!(shown.contains("1 of 1: one a (asked again"), "{what}: {shown}");
    }

    // A correction does not count stale labels either.
    run(suite, "same");
    assert_eq!(measured("same"), (0.into(), 2.into()), "nothing changed");
}

#[test]
fn an_adjudicator_is_what_is_true_and_no_rater() {
    let cli = cli();
    let mut text = String::new();
    for n in 0..20 {
        let line = |who: &str, label: &str, more: &str| {
            format!("{{\"case\":\"c{n}\",\"label\":\"{label}\",\"who\":\"{who}\",\"judge\":\"met\"{more}}}\n")
        };
        text += &line("ann", "met", "");
        text += &line("ben", if n % 2 == 0 { "met" } else { "unmet" }, "");
        if n % 2 == 1 {
            text += &line("cleo", "unmet", ",\"adjudicates\":true");
        }
    }
    cli.file("l.jsonl", text);
    let found = calibrate(&cli, &["--labels", "l.jsonl"]);
    // Ten items with two met labels each, ten with the adjudicator's label.
    assert_eq!(overall(&found)["confusion"]["both_met"].as_u64().or(Some(20)), Some(20), "{found}");
    let accuracy = overall(&found)["metrics"]["accuracy"]["value"].as_f64().expect("a share");
    assert!((accuracy - 20.0 / 30.0).abs() < 1e-12, "{accuracy}");
    let raters = object(&cli.run(&["calibrate", "agreement", "l.jsonl", "--json"]).expect_code(0));
    assert_eq!(raters["sections"][0]["ratings"], 40, "{raters}");
}

#[test]
fn the_legend_and_the_numbers_of_clusters_are_about_what_is_shown() {
    let cli = cli();
    let mut text = "case,criterion,label,judge\n".to_owned();
    for case in 0..12 {
        for criterion in ["a", "b"] {
            let label = match (case, criterion) {
                (0..2, _) | (2..5, "a") => "met",
                (2..5, _) => "unmet",
                _ => "",
            };
            writeln!(text, "c{case},{criterion},{label},met").expect("a string takes everything");
        }
    }
    cli.file("t.csv", text);
    let shown = cli.run(&["calibrate", "--labels", "t.csv"]).expect_code(0).stdout;
    assert!(shown.contains("10 compared in 5 clusters, of 10 labelled and 24 judged"), "{shown}");
    assert!(shown.contains("only 5 clusters with labels"), "{shown}");
    assert!(!shown.contains("people: kappa between people"), "one person labelled: {shown}");
    assert!(shown.contains("bias: judge minus people"), "{shown}");

    let mut two = "case,criterion,label,judge,who\n".to_owned();
    for (case, criterion) in (0..8).flat_map(|case| [(case, "a"), (case, "b")]) {
        let label = if case % 2 == 0 { "met" } else { "unmet" };
        for who in ["x", "y"] {
            writeln!(two, "c{case},{criterion},{label},met,{who}").expect("a string takes everything");
        }
    }
    cli.file("two.csv", two);
    let shown = cli.run(&["calibrate", "--labels", "two.csv"]).expect_code(0).stdout;
    assert!(shown.contains("people: kappa between people"), "{shown}");
}
