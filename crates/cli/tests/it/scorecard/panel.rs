//! Several judges on a benchmark: each vote is stored, the combined decision is the result, and doubtful cases
//! go to people.

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::scorecard::support::{fixture, node, printed, rows};

/// A candidate output is the plan of its votes: with `a=pass,fail b=unsure`, judge `a` passes it first and
/// fails it from its second repeat. `na` means not applicable, `low` is a pass with low confidence, `x` is an
/// unusable reply.
fn planned(incoming: &MockRequest) -> MockReply {
    let text = incoming.last_user_text.rsplit("[[BEGIN CANDIDATE_OUTPUT").next().unwrap_or_default();
    let plan = text.split("]]\n").nth(1).unwrap_or_default().lines().next().unwrap_or_default();
    let repeat = incoming.body["seed"].as_u64().unwrap_or(0) as usize;
    let votes: Vec<&str> = plan
        .split_whitespace()
        .filter_map(|one| one.split_once('='))
        .find(|(name, _)| *name == incoming.model)
        .map(|(_, votes)| votes.split(',').collect())
        .unwrap_or_default();
    let vote = votes.get(repeat.min(votes.len().saturating_sub(1))).copied().unwrap_or("x");
    if vote == "x" {
        return MockReply::text("I would rather not say.");
    }
    MockReply::Json(json!({
        "evidence": [],
        "reason": format!("{} says {vote}", incoming.model),
        "applies": vote != "na",
        "critical_met": true,
        "pass": matches!(vote, "pass" | "low"),
        "confidence": if vote == "low" { "low" } else { "high" },
        "uncertain": vote == "unsure",
    }))
}

/// A fixture whose cases all belong to the judged benchmark `C1`.
fn cases(server: &MockServer, plans: &[(&str, &str)]) -> CliTest {
    let cases: Vec<(&str, &str, &str)> = plans.iter().map(|(id, plan)| (*id, "judged", *plan)).collect();
    fixture(server, &cases)
}

fn panel(cli: &CliTest, judges: &[&str], more: &[&str]) -> CliOutput {
    let mut args = vec!["scorecard", "run", "card.yaml", "--run-dir", "r", "--json", "-q"];
    let judges: Vec<String> = judges.iter().map(|judge| format!("openai:{judge}")).collect();
    for judge in &judges {
        args.extend(["--judge", judge]);
    }
    args.extend(more);
    cli.run(&args)
}

/// State, score and pass of each case, by its decision.
fn decisions(cli: &CliTest) -> Vec<(String, String, Value, Value)> {
    let decided = rows(cli, "r/judgements.jsonl");
    let mut decided: Vec<_> = decided
        .into_iter()
        .filter(|row| row.get("vote").is_none())
        .map(|row| {
            let result = &row["grader_result"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&row["case_id"]),
                text(&result["benchmark"]["state"]),
                result["score"].clone(),
                result["benchmark"]["pass"].clone(),
            )
        })
        .collect();
    decided.sort_by(|a, b| a.0.cmp(&b.0));
    decided
}

fn decided(
    id: &str,
    state: &str,
    score: impl Into<Value>,
    pass: impl Into<Value>,
) -> (String, String, Value, Value) {
    (id.to_owned(), state.to_owned(), score.into(), pass.into())
}

#[test]
fn the_majority_decides_and_every_vote_is_kept() {
    let server = MockServer::start(planned);
    let cli = cases(&server, &[("both", "a=pass b=pass c=fail"), ("none", "a=fail b=fail c=pass")]);
    let output = panel(&cli, &["a", "b", "c"], &[]).expect_code(1);
    assert_eq!(server.count(), 6);
    assert_eq!(
        decisions(&cli),
        [decided("both", "scored", 1.0, true), decided("none", "scored", 0.0, false)]
    );
    assert_eq!(node(&printed(&output), "C1")["score"], 0.5);
    let votes: Vec<Value> =
        rows(&cli, "r/judgements.jsonl").into_iter().filter(|row| row.get("vote").is_some()).collect();
    assert_eq!(votes.len(), 6);
    assert!(votes.iter().all(|row| row["grader_result"]["benchmark"]["state"] == "scored"));
    let combined = rows(&cli, "r/judgements.jsonl")
        .into_iter()
        .find(|row| row["case_id"] == "both" && row.get("panel").is_some());
    let combined = combined.expect("there");
    assert_eq!(combined["reason"], "2 pass, 1 fail; openai:a: a says pass");
    assert_eq!((&combined["panel"]["rule"], &combined["attempts"]), (&"majority".into(), &0.into()));
    let told = cli.run(&["explain", "r", "C1"]).expect_code(0).stdout;
    for line in ["votes on  judge", "c says fail", "split on 2 of 2 cases"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let told = printed(&cli.run(&["explain", "r", "C1", "--json"]));
    assert_eq!(told["cases"][0]["votes"].as_array().map(Vec::len), Some(3));
    let text = cli
        .run(&["scorecard", "run", "card.yaml", "--judge", "openai:a", "--judge", "openai:b", "-q"])
        .stdout;
    assert!(text.contains("panels    2 decisions of 4 votes"), "{text}");
}

#[test]
fn rules_decide_a_benchmark_as_they_decide_a_criterion() {
    for (rule, score) in [("majority", 1.0), ("mean", 1.0), ("unanimous", 0.0), ("any", 1.0)] {
        let server = MockServer::start(planned);
        let cli = cases(&server, &[("one", "a=pass b=pass c=fail")]);
        panel(&cli, &["a", "b", "c"], &["--combine", rule]);
        assert_eq!(decisions(&cli)[0].2, score, "{rule}");
    }
}

#[test]
fn judges_who_are_evenly_split_decide_nothing_and_a_person_is_asked() {
    let server = MockServer::start(planned);
    let cli = cases(&server, &[("one", "a=pass b=fail")]);
    let found = printed(&panel(&cli, &["a", "b"], &[]).expect_code(3));
    assert_eq!(decisions(&cli), [decided("one", "judges_differ", Value::Null, Value::Null)]);
    assert_eq!(
        (&node(&found, "C1")["missing"], &node(&found, "C1")["verdict"]),
        (&1.into(), &"incomplete".into())
    );
    assert_eq!(rows(&cli, "r/review.jsonl")[0]["why"], "judges_differ");
    let shown = cli.run(&["review", "r", "--plain", "--who", "ann", "--labels", "labels"]);
    assert!(shown.stdout.contains("one C1 (unlabelled)"), "what judges said is hidden: {}", shown.stdout);
    let cli = cases(&server, &[("one", "a=pass b=fail")]);
    panel(&cli, &["a", "b"], &["--ties", "fail"]).expect_code(1);
    assert_eq!(decisions(&cli)[0].2, 0.0);
}

#[test]
fn doubt_matters_only_where_it_could_change_the_decision() {
    let server = MockServer::start(planned);
    let cli = cases(
        &server,
        &[
            ("a-sure", "a=pass b=pass c=unsure"),
            ("b-open", "a=pass b=fail c=unsure"),
            ("c-broken", "a=pass b=fail c=x"),
            ("d-settled", "a=fail b=fail c=x"),
            ("e-both", "a=pass b=unsure c=x"),
        ],
    );
    panel(&cli, &["a", "b", "c"], &[]).expect_code(1);
    assert_eq!(
        decisions(&cli),
        [
            decided("a-sure", "scored", 1.0, true),
            decided("b-open", "uncertain", 0.0, false),
            decided("c-broken", "missing", Value::Null, Value::Null),
            decided("d-settled", "scored", 0.0, false),
            decided("e-both", "missing", Value::Null, Value::Null),
        ]
    );
    let queue: Vec<Value> = rows(&cli, "r/review.jsonl").iter().map(|row| row["case_id"].clone()).collect();
    assert_eq!(
        queue,
        ["b-open", "c-broken", "e-both"],
        "people decide what no judge could be made to answer"
    );
}

#[test]
fn repeats_are_asked_anew_and_a_stronger_judge_only_in_doubt() {
    let server = MockServer::start(planned);
    let cli = cases(&server, &[("one", "a=pass,fail,fail")]);
    panel(&cli, &["a"], &["--judge-repeats", "3", "--judge-temperature", "1"]).expect_code(1);
    assert_eq!(decisions(&cli), [decided("one", "scored", 0.0, false)]);
    let temperatures: Vec<Value> =
        server.requests().iter().map(|request| request.json()["temperature"].clone()).collect();
    assert_eq!(temperatures, [1.0, 1.0, 1.0]);

    let server = MockServer::start(planned);
    let cli = cases(
        &server,
        &[("low", "a=low big=fail"), ("sure", "a=pass big=fail"), ("unsure", "a=unsure big=pass")],
    );
    panel(&cli, &["a"], &["--escalate", "openai:big"]).expect_code(1);
    assert_eq!(server.count(), 5, "three first, two of them to the stronger one");
    assert_eq!(
        decisions(&cli),
        [
            decided("low", "scored", 0.0, false),
            decided("sure", "scored", 1.0, true),
            decided("unsure", "scored", 1.0, true)
        ]
    );
    let told = cli.run(&["explain", "r", "C1"]).stdout;
    assert!(told.contains("as the stronger"), "{told}");
}

#[test]
fn a_plan_counts_every_judge_and_a_run_goes_on_with_the_same_ones() {
    let server = MockServer::start(planned);
    let cli = cases(&server, &[("one", "a=pass b=pass"), ("two", "b=pass a=pass")]);
    let plan = printed(&panel(&cli, &["a", "b"], &["--dry-run"]).expect_code(0));
    assert_eq!(server.count(), 0);
    assert_eq!(plan["judges"].as_array().map(Vec::len), Some(2), "{plan}");
    panel(&cli, &["a", "b"], &[]).expect_code(0);
    panel(&cli, &["a", "b"], &["--resume"]).expect_code(0);
    assert_eq!(server.count(), 4, "nothing was bought twice");
    panel(&cli, &["a", "b"], &["--resume", "--combine", "unanimous"]);
    assert_eq!(rows(&cli, "r/judgements.jsonl").iter().filter(|row| row.get("panel").is_some()).count(), 2);
}
