//! Panels, repeats and escalation, against a server whose judges vote as each criterion says.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::e2e::bench::{info, judgements, object, outcomes, rows, with_server};

/// A criterion is the plan of its votes: with `a=met,unmet b=unmet`, judge `a` says met first and unmet from
/// its second repeat. `x` is an unusable reply, `na` means not applicable, a number is a score.
fn planned(incoming: &MockRequest) -> MockReply {
    let criterion = incoming.last_user_text.rsplit("[[BEGIN criterion").next().unwrap_or_default();
    let plan = criterion.split("]]\n").nth(1).unwrap_or_default().lines().next().unwrap_or_default();
    let model = incoming.body["model"].as_str().unwrap_or_default();
    // Each repeat has its own seed, from 0.
    let repeat = incoming.body["seed"].as_u64().unwrap_or(0) as usize;
    let votes: Vec<&str> = plan
        .split_whitespace()
        .filter_map(|one| one.split_once('='))
        .find(|(name, _)| *name == model)
        .map(|(_, votes)| votes.split(',').collect())
        .unwrap_or_default();
    let said =
        |vote: &str| json!({ "evidence": [], "reason": format!("{model} says {vote}"), "outcome": vote });
    match votes.get(repeat.min(votes.len().saturating_sub(1))).copied().unwrap_or("x") {
        "x" => MockReply::text("I would rather not say."),
        "na" => MockReply::Json(said("not_applicable")),
        vote @ ("met" | "unmet") => MockReply::Json(said(vote)),
        score => MockReply::Json(json!({
            "evidence": [], "reason": format!("{model} says {score}"), "score": score.parse::<u8>().unwrap_or(0),
        })),
    }
}

/// A suite of one case; `panel` holds the grader's panel settings, and the criteria are plans.
fn suite(panel: &str, criteria: &[&str]) -> String {
    let mut text = format!(
        "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: an answer\n  assertions:\n  - type: rubrics\n    \
         panel: {panel}\n    criteria:\n"
    );
    for (at, plan) in criteria.iter().enumerate() {
        let _ = write!(text, "    - id: c{at}\n      outcome: {plan}\n");
        if plan.contains("penalty") {
            text.push_str("      weight: -1\n");
        }
        if plan.contains("=na") {
            text.push_str("      allow_not_applicable: true\n");
        }
        if plan.chars().any(|c| c.is_ascii_digit()) {
            text.push_str("      score_ranges: {0: none, 5: some, 8: all}\n");
        }
    }
    text
}

const THREE: &str = "openai:a, openai:b, openai:c";

/// The outcomes of criteria under a panel of three.
fn decided(settings: &str, criteria: &[&str]) -> (CliTest, MockServer, Value) {
    let (cli, server) = with_server(planned);
    cli.file("s.yaml", suite(&format!("{{judges: [{THREE}]{settings}}}"), criteria));
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--quiet"]);
    let row = rows(&cli, "run").remove(0);
    (cli, server, row)
}

#[test]
fn every_rule_decides_met_and_unmet() {
    let plans =
        ["a=met b=met c=unmet", "a=unmet b=met c=unmet", "a=met b=met c=met", "a=unmet b=unmet c=unmet"];
    for (rule, expected) in [
        ("majority", ["c0=met", "c1=unmet", "c2=met", "c3=unmet"]),
        ("mean", ["c0=met", "c1=unmet", "c2=met", "c3=unmet"]),
        ("median", ["c0=met", "c1=unmet", "c2=met", "c3=unmet"]),
        ("unanimous", ["c0=unmet", "c1=unmet", "c2=met", "c3=unmet"]),
        ("any", ["c0=met", "c1=met", "c2=met", "c3=unmet"]),
    ] {
        let (cli, server, row) = decided(&format!(", combine: {rule}"), &plans);
        assert_eq!(outcomes(&row), expected, "{rule}");
        assert_eq!(server.count(), 12);
        let rows = judgements(&cli, "run");
        // One row with the combined decision, then one for each judge.
        assert_eq!(rows.len(), 16);
        let panel = &row["graders"][0]["criteria"][0]["panel"];
        assert_eq!((panel["rule"].as_str(), panel["ties"].as_str()), (Some(rule), Some("ungraded")));
        assert_eq!(
            panel["votes"][2],
            json!({"judge": "openai:c", "repeat": 1, "outcome": "unmet", "value": 0.0})
        );
        let two_thirds = |value: &Value| (value.as_f64().expect("a number") - 2.0 / 3.0).abs() < 1e-12;
        assert!(
            two_thirds(&panel["agreement"])
                && two_thirds(&panel["mean"])
                && two_thirds(&panel["disagreement"])
        );
        assert_eq!(panel["flip_rate"], Value::Null, "nobody was asked twice");
        assert_eq!(rows[3]["vote"], json!({"judge": 3, "repeat": 1, "weight": 1.0}));
        assert_eq!((rows[0]["attempts"].as_u64(), rows[3]["attempts"].as_u64()), (Some(0), Some(1)));
    }
}

#[test]
fn scores_are_combined_without_being_rounded() {
    let plans = ["a=7 b=8 c=8", "a=2 b=7 c=9", "a=6 b=6 c=6"];
    for (rule, expected) in [
        ("mean", [23.0 / 3.0, 6.0, 6.0]),
        ("median", [8.0, 7.0, 6.0]),
        ("unanimous", [7.0, 2.0, 6.0]),
        ("any", [8.0, 9.0, 6.0]),
    ] {
        let (_, _, row) = decided(&format!(", combine: {rule}"), &plans);
        for (criterion, expected) in
            row["graders"][0]["criteria"].as_array().expect("criteria").iter().zip(expected)
        {
            assert_eq!(criterion["outcome"], "scored");
            assert!(
                (criterion["value"].as_f64().expect("a value") - expected / 10.0).abs() < 1e-9,
                "{rule} {criterion}"
            );
            // A mean that no judge gave is not stored as a judge's number.
            let whole = (expected.fract() == 0.0).then_some(expected as u64);
            assert_eq!(criterion["raw_score"].as_u64(), whole, "{rule}");
        }
    }
    let (_, _, row) = decided(", combine: majority", &plans);
    assert_eq!(outcomes(&row)[..], ["c0=8", "c1=ungraded", "c2=6"], "three different scores are a tie");
    let (_, _, row) = decided(", combine: majority, ties: fail", &plans);
    assert_eq!(outcomes(&row)[1], "c1=2");
    let (_, _, row) = decided(", combine: majority, ties: pass", &plans);
    assert_eq!(outcomes(&row)[1], "c1=9");
    let (_, _, row) = decided("", &["a=met b=met c=unmet", "a=7 b=8 c=9"]);
    assert_eq!(outcomes(&row), ["c0=met", "c1=8"], "a vote on met and unmet, the mean of scores");
}

#[test]
fn ties_have_a_rule_of_their_own() {
    let plans = ["a=met b=unmet c=na", "a=na b=na c=met"];
    for (ties, outcome) in [("ungraded", "c0=ungraded"), ("fail", "c0=unmet"), ("pass", "c0=met")] {
        let (_, _, row) = decided(&format!(", ties: {ties}"), &plans);
        assert_eq!(outcomes(&row), [outcome, "c1=not_applicable"]);
        assert_eq!(row["graders"][0]["criteria"][0]["panel"]["tie"], true);
        assert_eq!(
            row["verdict"],
            if ties == "pass" {
                "pass"
            } else if ties == "fail" {
                "fail"
            } else {
                "incomplete"
            }
        );
    }
}

#[test]
fn weights_decide_a_weighted_panel() {
    let (cli, _server) = with_server(planned);
    let panel = "{judges: [{judge: openai:a, weight: 3}, {judge: openai:b, weight: 1}, {judge: openai:c, weight: 1}], \
                 combine: weighted}";
    cli.file("s.yaml", suite(panel, &["a=met b=unmet c=unmet", "a=10 b=0 c=5"]));
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--quiet"]);
    assert_eq!(outcomes(&rows(&cli, "run")[0]), ["c0=met", "c1=7"], "(3 x 10 + 0 + 5) / 5");
}

#[test]
fn a_missing_vote_is_nobodys() {
    let plans = ["a=met b=met c=x", "a=met b=unmet c=x", "a=8 b=8 c=x", "a=x b=x c=x"];
    let (cli, _server, row) = decided("", &plans);
    assert_eq!(outcomes(&row), ["c0=met", "c1=ungraded", "c2=ungraded", "c3=ungraded"]);
    let panels: Vec<&Value> =
        row["graders"][0]["criteria"].as_array().expect("criteria").iter().map(|one| &one["panel"]).collect();
    assert_eq!((panels[0]["missing"].as_u64(), panels[1]["missing"].as_u64()), (Some(1), Some(1)));
    let bounds = |panel: &Value| (panel["low"].as_f64(), panel["high"].as_f64());
    assert_eq!(bounds(panels[1]), (Some(0.0), Some(1.0)));
    let (low, high) = bounds(panels[2]);
    assert!((low.expect("low") - 1.6 / 3.0).abs() < 1e-9 && (high.expect("high") - 2.6 / 3.0).abs() < 1e-9);
    let rows = judgements(&cli, "run");
    assert_eq!((rows[3]["outcome"].as_str(), rows[3]["vote"]["judge"].as_u64()), (Some("ungraded"), Some(3)));
    assert_eq!(rows[4]["ungraded"]["kind"], "malformed", "{}", rows[4]);
    assert!(rows[4]["reason"].as_str().is_some_and(|words| words.starts_with("1 met, 1 missing, 1 unmet")));
    let (_, _, row) = decided(", combine: unanimous", &["a=unmet b=x c=met"]);
    assert_eq!(outcomes(&row), ["c0=unmet"], "one vote against it is enough");
    let (_, _, row) = decided(", combine: any", &["a=met b=x c=x"]);
    assert_eq!(outcomes(&row), ["c0=met"]);
}

#[test]
fn repeats_are_draws_of_their_own_and_tell_unstable_criteria() {
    let (cli, server) = with_server(planned);
    cli.file("s.yaml", suite("{repeats: 3}", &["a=met,unmet,met", "a=met", "a=7,8,9"]));
    let run = |out: &str, more: &[&str]| {
        let mut args = vec!["eval", "s.yaml", "--judge", "openai:a", "--json", "--run-dir", out];
        args.extend(more);
        cli.run(&args)
    };
    let value = object(&run("one", &[]));
    assert_eq!(outcomes(&rows(&cli, "one")[0]), ["c0=met", "c1=met", "c2=8"]);
    assert_eq!(server.count(), 9);
    let panel = &value["panel"];
    assert_eq!(
        (panel["decisions"].as_u64(), panel["votes"].as_u64(), panel["split"].as_u64()),
        (Some(3), Some(9), Some(2))
    );
    assert_eq!((panel["flips"]["repeated"].as_u64(), panel["flips"]["flipped"].as_u64()), (Some(3), Some(2)));
    assert_eq!(panel["disagreement"], Value::Null);
    let unstable: Vec<&str> = panel["unstable"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["criterion"].as_str().expect("an id"))
        .collect();
    assert_eq!(unstable, ["c2", "c0"]);
    assert_eq!(panel["unstable"][0]["flip_rate"].as_f64(), Some(1.0));
    // Repeating the same run costs nothing; a fourth repeat costs only itself.
    object(&run("two", &[]));
    assert_eq!(server.count(), 9);
    assert_eq!(rows(&cli, "two")[0]["graders"], rows(&cli, "one")[0]["graders"]);
    object(&run("three", &["--judge-repeats", "4"]));
    assert_eq!(server.count(), 12);
    let text = cli.run(&["eval", "s.yaml", "--judge", "openai:a", "--run-dir", "four"]).stdout;
    for line in ["Flip rate", "2 of 3 repeated decisions", "Unstable", "flips 66.7%"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn stored_votes_lead_to_the_same_decisions_again() {
    let (cli, _server, before) =
        decided(", ties: pass", &["a=met b=unmet c=na", "a=7 b=8 c=8", "a=met b=x c=unmet"]);
    cli.run(&["score", "run", "--run-dir", "again"]);
    let again = rows(&cli, "again").remove(0);
    assert_eq!(again["graders"], before["graders"]);
    assert_eq!(judgements(&cli, "again"), judgements(&cli, "run"));
    let summary = |folder: &str| info(&cli, folder)["summary"]["panel"].clone();
    assert_eq!(summary("again"), summary("run"));
    let text = cli.run(&["explain", "run", "one"]).stdout;
    for line in ["vote openai:b: unmet", "vote openai:c: 8/10", "7.67/10", "a tie, counted as passed"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("lead to"), "{text}");
    // A decision that does not follow from its votes is noticed.
    let forged = cli.read("run/judgements.jsonl").replacen("\"outcome\":\"met\"", "\"outcome\":\"unmet\"", 1);
    cli.file("run/judgements.jsonl", forged);
    cli.drop_checksums("run");
    assert!(cli.run(&["explain", "run", "one"]).stdout.contains("its votes lead to met"));
}

#[test]
fn a_case_that_lost_a_vote_is_judged_again() {
    let (cli, server, before) = decided("", &["a=met b=unmet c=met", "a=7 b=8 c=8"]);
    let all = cli.read("run/judgements.jsonl");
    let kept: Vec<&str> = all.lines().collect();
    cli.file("run/judgements.jsonl", format!("{}\n", kept[..kept.len() - 1].join("\n")));
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--resume", "--quiet"]);
    assert_eq!(rows(&cli, "run")[0]["graders"], before["graders"]);
    assert_eq!(judgements(&cli, "run").len(), 8);
    assert_eq!(server.count(), 6, "and nothing is bought again");
    // A finished case stays as it is.
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--resume", "--quiet"]);
    assert_eq!(judgements(&cli, "run").len(), 8);
}

#[test]
fn the_command_line_names_a_panel_and_beats_the_file() {
    let (cli, server) = with_server(planned);
    cli.file("s.yaml", suite("{judges: [openai:z], repeats: 2}", &["a=met b=unmet c=met z=x"]));
    let args = ["eval", "s.yaml", "--judge", "openai:a", "--judge", "openai:b", "--judge-repeats", "1"];
    let run = |more: &[&str]| {
        let mut all = args.to_vec();
        all.extend(more);
        cli.run(&all)
    };
    run(&["--ties", "fail", "--run-dir", "fail"]);
    assert_eq!(outcomes(&rows(&cli, "fail")[0]), ["c0=unmet"]);
    assert_eq!(server.count(), 2);
    run(&["--combine", "any", "--run-dir", "any"]);
    assert_eq!(outcomes(&rows(&cli, "any")[0]), ["c0=met"]);
    let weights = ["--combine", "weighted", "--judge-weight", "openai:a=1", "--judge-weight", "openai:b=2"];
    run(&[&weights[..], &["--run-dir", "weighted"]].concat());
    assert_eq!(outcomes(&rows(&cli, "weighted")[0]), ["c0=unmet"]);
    assert_eq!(info(&cli, "weighted")["settings"]["other"]["judge_weights"], "openai:a=1, openai:b=2");
    assert_eq!(info(&cli, "weighted")["judges"].as_array().map(Vec::len), Some(2));
    for (wrong, words) in [
        (vec!["--combine", "weighted"], "`openai:a` has none"),
        (vec!["--judge-weight", "openai:q=1"], "weighs no `--judge`"),
        (vec!["--judge", "openai:a"], "is given twice"),
        (vec!["--judge-repeats", "0"], "from 1 to 100, not 0"),
        (vec!["--escalate", "openai:b"], "is a judge of the panel already"),
    ] {
        let output = if wrong[0] == "--judge-repeats" {
            cli.run(&["eval", "s.yaml", "--judge-repeats", "0"])
        } else {
            run(&wrong)
        };
        let output = output.expect_code(2);
        assert!(output.stderr.contains(words), "{wrong:?}\n{}", output.stderr);
    }
    assert_eq!(server.count(), 2, "all other votes came from the cache, and a mistake costs nothing");
}

#[test]
fn only_what_the_first_judges_are_unsure_of_is_escalated() {
    let (cli, server) = with_server(planned);
    let panel = "{judges: [openai:a, openai:b], escalate: {to: openai:big, when: split}}";
    let plans = [
        "a=met b=met big=unmet", "a=met b=unmet big=unmet", "a=7 b=8 big=1", "a=2 b=8 big=5",
        "a=met b=x big=x",
    ];
    cli.file("s.yaml", suite(panel, &plans));
    let prices = "models:\n  openai:a: {input: 1, output: 4}\n  openai:b: {input: 1, output: 4}\n  openai:big: {input: 10, output: 40}\n";
    cli.file(".assize/prices.yaml", prices);
    let value = object(&cli.run(&["eval", "s.yaml", "--run-dir", "run", "--json"]));
    assert_eq!(outcomes(&rows(&cli, "run")[0])[..2], ["c0=met", "c1=unmet"]);
    assert_eq!(outcomes(&rows(&cli, "run")[0])[3..], ["c3=5", "c4=ungraded"]);
    assert_eq!(rows(&cli, "run")[0]["graders"][0]["criteria"][2]["value"].as_f64(), Some(0.75));
    let escalation = &value["panel"]["escalation"];
    assert_eq!((escalation["decisions"].as_u64(), escalation["escalated"].as_u64()), (Some(5), Some(3)));
    assert_eq!(escalation["saved_calls"].as_u64(), Some(2));
    assert!(escalation["saved_tokens"]["input"].as_u64().is_some_and(|tokens| tokens > 0));
    // Two decisions were saved, at the mean cost of the three that were paid for.
    let bought: f64 = cli
        .read("run/judgements.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a row"))
        .filter(|row| row["judge"]["name"] == "openai:big" && row["vote"]["judge"] == 0)
        .map(|row| row["cost_usd"].as_f64().expect("a known price"))
        .sum();
    let saved = escalation["saved_usd"].as_f64().expect("an estimate");
    assert!(bought > 0.0 && (saved - bought / 3.0 * 2.0).abs() < 1e-9, "{saved} of {bought}");
    let asked_big = server.requests().iter().filter(|request| request.json()["model"] == "big").count();
    assert_eq!(asked_big, 2 + 3, "two replies, and one that stays unusable through two repairs");
    let panel = &rows(&cli, "run")[0]["graders"][0]["criteria"][1]["panel"];
    assert_eq!(panel["escalation"]["because"], "the votes differ: 1 met, 1 unmet");
    let text = cli.run(&["eval", "s.yaml", "--run-dir", "text"]).stdout;
    assert!(text.contains("escalated; 2 calls"), "{text}");
    let plan = object(&cli.run(&["eval", "s.yaml", "--dry-run", "--json"]).expect_code(0));
    assert_eq!(plan["calls"].as_u64(), Some(15));
    let unsure: Vec<u64> = plan["judges"]
        .as_array()
        .expect("judges")
        .iter()
        .filter_map(|judge| judge["calls_only_if_unsure"].as_u64())
        .collect();
    assert_eq!(unsure, [0, 0, 5]);
}

#[test]
fn plans_count_every_vote() {
    let (cli, server) = with_server(planned);
    cli.file("s.yaml", suite("{judges: [openai:a, openai:b], repeats: 3}", &["a=met b=met", "a=7 b=8"]));
    let plan = object(&cli.run(&["eval", "s.yaml", "--dry-run", "--json"]).expect_code(0));
    assert_eq!((plan["calls"].as_u64(), server.count()), (Some(12), 0));
    assert_eq!(plan["judges"][1]["calls"].as_u64(), Some(6));
}

#[test]
fn suites_and_the_configuration_give_graders_their_panel() {
    let (cli, _server) = with_server(planned);
    let text = suite("{combine: any}", &["a=unmet b=met"]).replace(
        "name: s\n",
        "name: s\nexecution:\n  panel: {judges: [openai:a, openai:b], combine: unanimous}\n",
    );
    cli.file("s.yaml", &text);
    cli.run(&["eval", "s.yaml", "--run-dir", "suite", "--quiet"]);
    assert_eq!(outcomes(&rows(&cli, "suite")[0]), ["c0=met"], "the grader's rule, the suite's judges");
    cli.file(
        "s.yaml",
        suite("{combine: any}", &["a=unmet b=met"]).replace("    panel: {combine: any}\n", ""),
    );
    cli.file(".assize/config.yaml", "panel:\n  judges: [openai:a, openai:b]\n  combine: unanimous\n");
    cli.run(&["eval", "s.yaml", "--run-dir", "config", "--quiet"]);
    assert_eq!(outcomes(&rows(&cli, "config")[0]), ["c0=unmet"]);
    let one = "evalcases:\n- id: one\n  expected_outcome: x\n  input: q\n  output: an answer\n  execution:\n    evaluators:\n    \
               - {name: r, type: rubrics, rubrics: [{id: c0, expected_outcome: a=met b=unmet, required: false}], \
               panel: {judges: [openai:a, openai:b], combine: any}}\n";
    cli.file("one.yaml", one);
    cli.run(&["eval", "one.yaml", "--run-dir", "format1", "--quiet"]).expect_code(0);
    assert_eq!(outcomes(&rows(&cli, "format1")[0]), ["c0=met"]);
}

#[test]
fn a_judge_that_the_suite_names_has_no_weights_of_the_configuration() {
    let (cli, _server) = with_server(planned);
    let text = suite("{}", &["a=unmet b=met"])
        .replace("    panel: {}\n", "")
        .replace("name: s\n", "name: s\nexecution: {judge: openai:b}\n");
    cli.file("s.yaml", text);
    cli.file(
        ".assize/config.yaml",
        "panel:\n  judges: [{judge: openai:a, weight: 2}, {judge: openai:c, weight: 1}]\n  combine: weighted\n",
    );

    cli.run(&["eval", "s.yaml", "--run-dir", "suite", "--quiet"]).expect_code(0);
    assert_eq!(outcomes(&rows(&cli, "suite")[0]), ["c0=met"]);
}

#[test]
fn what_a_panel_can_not_be_is_said_before_anything_is_spent() {
    let (mut cli, server) = with_server(planned);
    let said = |panel: &str| {
        cli.file("s.yaml", suite(panel, &["a=met"]));
        cli.run(&["eval", "s.yaml"]).expect_code(2).stderr
    };
    for (panel, words) in [
        ("{judges: [nobody, openai:a]}", "unknown judge `nobody`"),
        ("{repeats: 0}", "`repeats` is out of range"),
        ("{judges: [openai:a], combine: weighted}", "the judge `openai:a` has no weight"),
        ("{combine: weighted}", "needs judges with weights"),
        ("{judges: [openai:a, openai:a]}", "E0318"),
        ("{judges: [openai:a, OpenAI/a]}", "`openai:a` and `OpenAI/a` are the same judge"),
        ("{judges: [openai:a], escalate: openai/a}", "`openai:a` and `openai/a` are the same judge"),
        ("{judges: [{judge: openai:a, weight: 0}], combine: weighted}", "error: 1 error in"),
    ] {
        let stderr = said(panel);
        assert!(stderr.contains(words), "{panel}\n{stderr}");
    }
    cli.file("s.yaml", suite("{escalate: openai:a}", &["a=met"]));
    cli.env("JUDGE_MODEL", "openai:a");
    for (judges, words) in [
        (&["openai:a"][..], "`openai:a` is a judge of the panel already"),
        (&[], "`openai:a` already votes, so it can't be escalated to"),
        (&["openai:b,openai:c"], "give each judge its own `--judge`"),
        (&["openai:b", "openai/b"], "are the same judge"),
    ] {
        let mut args = vec!["eval", "s.yaml"];
        args.extend(judges.iter().flat_map(|judge| ["--judge", judge]));
        let stderr = cli.run(&args).expect_code(2).stderr;
        assert!(stderr.contains(words), "{judges:?}\n{stderr}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn every_judge_of_a_panel_counts_for_self_judging() {
    let (cli, _server) = with_server(planned);
    cli.file("targets.yaml", "targets:\n- {name: t, provider: openai, model: b}\n");
    let text = suite("{judges: [openai:a, openai:b]}", &["a=met b=met"]).replace("  output: an answer\n", "");
    cli.file("s.yaml", text);
    let output = cli
        .run(&["eval", "s.yaml", "--target", "t", "--targets", "targets.yaml", "--deny", "self-judging"])
        .expect_code(2);
    assert!(output.stderr.contains("openai:b judges its own answers"), "{}", output.stderr);
}

#[test]
fn scores_of_the_whole_answer_are_combined_too() {
    let (cli, _server) = with_server(|incoming: &MockRequest| {
        let score = if incoming.body["model"] == "a" { 0.5 } else { 0.9 };
        MockReply::Json(
            json!({ "score": score, "hits": [], "misses": [], "reasoning": "so", "evidence": [], "reason": "so" }),
        )
    });
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: an answer\n  assertions:\n  \
         - {type: llm-grader, name: g, panel: {judges: [openai:a, openai:b, openai:c]}}\n",
    );
    for (rule, expected) in
        [("mean", 2.3 / 3.0), ("median", 0.9), ("unanimous", 0.5), ("any", 0.9), ("majority", 0.9)]
    {
        cli.run(&["eval", "s.yaml", "--combine", rule, "--run-dir", rule, "--quiet"]);
        let row = rows(&cli, rule).remove(0);
        let score = row["graders"][0]["score"].as_f64().unwrap_or_else(|| panic!("{rule}: {row}"));
        assert!((score - expected).abs() < 1e-9, "{rule} {row}");
        assert_eq!(judgements(&cli, rule).len(), 4);
    }
}

#[test]
fn error_rates_of_a_stored_panel_need_no_labels() {
    // Of thirty criteria, a and b are right on all, d on all but three, and c guesses.
    let plans: Vec<String> = (0..30)
        .map(|at| {
            let word = |met: bool| if met { "met" } else { "unmet" };
            let truth = at % 3 != 0;
            let (own, other) = (word(truth), word(!truth));
            let (c, d) = (if at % 2 == 0 { own } else { other }, if at % 10 == 0 { other } else { own });
            format!("a={own} b={own} c={c} d={d}")
        })
        .collect();
    let plans: Vec<&str> = plans.iter().map(String::as_str).collect();
    let (cli, _server) = with_server(planned);
    cli.file("s.yaml", suite("{judges: [openai:a, openai:b, openai:c, openai:d]}", &plans));
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--quiet"]);

    let output = cli.run(&["calibrate", "panel", "run", "--json", "--resamples", "50"]).expect_code(0);
    let found = object(&output);
    assert_eq!((&found["items"], &found["votes"]), (&30.into(), &120.into()));
    let rate = |rater: usize, name: &str| {
        found["raters"][rater]["metrics"][name]["value"].as_f64().expect("a number")
    };
    for name in ["sensitivity", "specificity"] {
        assert!(rate(0, name) > 0.9 && rate(1, name) > 0.9, "{found}");
        assert!(rate(2, name) < 0.7 && rate(3, name) > 0.7, "{found}");
    }
    assert_eq!(found["raters"][2]["name"], "openai:c");
    assert!(
        found["raters"][0]["metrics"]["sensitivity"]["no_interval"].is_string(),
        "one case tells no spread"
    );
}

#[test]
fn a_judge_that_changed_is_told_by_answers_that_did_not() {
    let (cli, _server) = with_server(planned);
    // Sixteen cases: decisions on the criteria of one case may depend on each other, so they count once.
    let cases = (0..16).map(|at| {
        let plan = if at < 14 { "a=met b=unmet" } else { "a=met b=met" };
        format!(
            "- {{id: case{at}, criteria: x, input: q, output: an answer, \
             assertions: [{{type: rubrics, criteria: [{{id: c0, outcome: {plan}}}]}}]}}\n"
        )
    });
    let suite_of_sixteen = format!("name: s\ntests:\n{}", cases.collect::<String>());
    for (run, judge) in [("one", "openai:a"), ("two", "openai:a"), ("three", "openai:b")] {
        cli.file("s.yaml", &suite_of_sixteen);
        cli.run(&["eval", "s.yaml", "--run-dir", run, "--quiet", "--no-cache", "--judge", judge]);
    }

    let same =
        object(&cli.run(&["calibrate", "drift", "one", "two", "--json", "--fail-on-drift"]).expect_code(0));
    assert_eq!(same["changed_at"], Value::Null);
    assert_eq!((&same["runs"][1]["anchors"], &same["runs"][1]["changed"]), (&16.into(), &0.into()));
    assert_eq!(same["runs"][1]["p"], 1.0);
    let output =
        cli.run(&["calibrate", "drift", "one", "two", "three", "--json", "--fail-on-drift"]).expect_code(1);
    let found: Value = serde_json::from_str(&output.stdout).expect("an object");
    assert_eq!((&found["changed_at"], &found["runs"][2]["changed"]), (&"three".into(), &14.into()));
    assert!(found["runs"][2]["shift"].as_f64().is_some_and(|shift| shift < -0.8), "{found}");
    assert!(found["runs"][2]["evidence"].as_f64().is_some_and(|evidence| evidence >= 20.0), "{found}");

    let text = cli.run(&["calibrate", "drift", "one", "two", "three"]).expect_code(0).stdout;
    assert!(text.contains("The judge has probably changed: in three, it is stricter"), "{text}");
    cli.file("s.yaml", suite("none", &["a=met"]).replace("    panel: none\n", ""));
    cli.run(&["eval", "s.yaml", "--run-dir", "other", "--quiet", "--no-cache", "--judge", "openai:a"]);
    let error = cli.run(&["calibrate", "drift", "one", "other"]).expect_code(2).stderr;
    assert!(error.contains("--no-cache"), "{error}");
}

#[test]
fn the_votes_on_a_penalty_are_told_as_its_outcome_is() {
    let (cli, _server, _) = decided("", &["a=met b=met c=unmet penalty", "a=met b=met c=unmet"]);
    let reasons: Vec<String> = judgements(&cli, "run")
        .iter()
        .filter(|row| !row["panel"].is_null())
        .map(|row| row["reason"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].starts_with("2 incurred, 1 avoided"), "{reasons:?}");
    assert!(reasons[1].starts_with("2 met, 1 unmet"), "{reasons:?}");
}
