//! Conversions keep the meaning: the same outcomes get the same scores before and after, and losses are listed.

use std::path::Path;
use std::sync::Arc;

use crate::{ConvertError, ConvertedFile, ExportFormat, ImportFormat, convert, detect, differences};
use assize_document::to_yaml;
use assize_evalfile::{LoadOptions, load_rubric};
use assize_load::load_suite;
use assize_model::{Case, GraderKind, Suite};
use assize_rubric::{
    CriterionScale, GraderOutcome, Outcome, RawScore, UnitInterval, Verdict, VerdictThresholds, score_case,
    score_rubric,
};
use assize_scorecard::load_scorecard;
use proptest::prelude::*;
use serde_json::{Value, json};

fn options(folder: &Path) -> LoadOptions {
    LoadOptions { environment: Arc::new(|_| Some("a-secret".to_owned())), ..LoadOptions::new(folder) }
}

fn load(path: &Path) -> (Suite, Vec<Case>) {
    let loaded = load_suite(path, &options(path.parent().expect("a folder")));
    let text = std::fs::read_to_string(path).expect("readable");
    assert!(!loaded.has_errors(), "{text}\n{:#?}", loaded.diagnostics);
    let cases = loaded.cases.iter().map(|case| (*case.expect("readable")).clone()).collect();
    (loaded.suite.expect("a suite"), cases)
}

/// Writes a text into a folder and converts it.
fn run(folder: &Path, name: &str, text: &str, to: ExportFormat) -> Result<ConvertedFile, ConvertError> {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    convert(&path, detect(&path).expect("known"), to, &options(folder))
}

fn lost(converted: &ConvertedFile) -> Vec<String> {
    converted.notes.iter().filter(|note| note.lost).map(ToString::to_string).collect()
}

/// Scores a case with outcomes that are drawn from `seed`. The same criteria get the same outcomes.
fn scored(suite: &Suite, case: &Case, seed: u64) -> (Option<f64>, Verdict) {
    let pass = case.thresholds.pass.or(suite.settings.thresholds.pass);
    let pass = pass.unwrap_or(UnitInterval::new(VerdictThresholds::DEFAULT_PASS).expect("in range"));
    let borderline = case
        .thresholds
        .borderline
        .or(suite.settings.thresholds.borderline)
        .or(suite.format.default_borderline());
    let thresholds = VerdictThresholds::with_optional_borderline(pass, borderline);
    let mut state = seed;
    let mut next = |choices: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % choices
    };
    let mut graders = Vec::new();
    for grader in &case.graders {
        let outcome = match &grader.kind {
            GraderKind::Rubric(rubric) => {
                let outcomes: Vec<Outcome> = rubric
                    .rubric
                    .criteria()
                    .iter()
                    .map(|criterion| match (next(8), &criterion.scale) {
                        (0, _) => Outcome::Ungraded,
                        (_, CriterionScale::Checklist) => {
                            [Outcome::Met, Outcome::Met, Outcome::Unmet][next(3) as usize]
                        }
                        (_, CriterionScale::Bands(_)) => {
                            Outcome::Scored(RawScore::new(next(11) as u8).expect("in range"))
                        }
                    })
                    .collect();
                GraderOutcome::Rubric(score_rubric(&rubric.rubric, &outcomes, thresholds).expect("fits"))
            }
            _ => GraderOutcome::Value(UnitInterval::new(next(2) as f64).expect("in range")),
        };
        graders.push((grader.weighting, outcome));
    }
    let score = score_case(&graders, thresholds);
    (score.score, score.verdict)
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(2.5), Just(0.5), Just(-1.0), Just(3.0)]
}

fn criterion(index: usize) -> impl Strategy<Value = Value> {
    (weight(), 0..7u8, any::<bool>(), 0..5u8).prop_map(move |(weight, form, required, text)| {
        let text =
            ["Names the date", "Says: \"yes\" # no", "Two\nlines", "é 中 {x}", "- dash"][usize::from(text)];
        let ranges =
            json!([{"score_range": [0, 4], "outcome": "low"}, {"score_range": [5, 10], "outcome": text}]);
        let mut value = json!({"id": format!("c{index}"), "outcome": text});
        match form {
            0 => return json!(format!("{text} {index}")),
            1 => {}
            2 => value["required"] = json!(required),
            3 => {
                value["score_ranges"] = ranges;
                value["min_score"] = json!(0.7);
            }
            4 => {
                value["score_ranges"] = ranges;
                value["required"] = json!(required);
            }
            5 => value["score_ranges"] = json!({"0": "low", "6": "high"}),
            _ => value["operator"] = json!("contradiction"),
        }
        // A rubric needs a criterion of positive weight, and a gate on a penalty would be a different test.
        value["weight"] = json!(if index == 0 || form > 1 { weight.abs() } else { weight });
        value
    })
}

fn grader() -> impl Strategy<Value = Value> {
    let criteria = (criterion(0), criterion(1), criterion(2)).prop_map(|(a, b, c)| json!([a, b, c]));
    let rubric = (criteria, 0..4u8, weight()).prop_map(|(criteria, weighting, weight)| {
        let mut value = json!({"type": "rubrics", "criteria": criteria});
        match weighting {
            0 => value["weight"] = json!(weight.abs()),
            1 => {
                value["required"] = json!(true);
                value["min_score"] = json!(0.5);
            }
            2 => value["negate"] = json!(true),
            _ => {}
        }
        value
    });
    prop_oneof![
        3 => rubric,
        1 => Just(json!({"type": "contains", "value": "x", "weight": 2.0})),
        1 => Just(json!("A plain text")),
        1 => Just(json!({"type": "tool-trajectory", "mode": "in_order", "expected": [{"tool": "t", "args": {"a": 1}}]})),
    ]
}

fn case(index: usize) -> impl Strategy<Value = Value> {
    let line = prop_oneof![2 => Just(None), 1 => (0..=10u8).prop_map(|n| Some(f64::from(n) / 10.0))];
    let list = prop::option::of(prop::collection::vec(grader(), 1..4));
    (list, line, any::<bool>()).prop_map(move |(list, line, skip)| {
        let mut value = json!({"id": format!("case-{index}"), "criteria": "Does it", "input": "q"});
        if let Some(list) = list {
            value["assertions"] = json!(list);
            if skip {
                value["execution"] = json!({"skip_defaults": true});
            }
        }
        if let Some(line) = line {
            value["threshold"] = json!(line);
        }
        value
    })
}

fn suite() -> impl Strategy<Value = Value> {
    let shared = prop::option::of(prop::collection::vec(grader(), 1..3));
    let line = prop::option::of((1..=10u8).prop_map(|n| f64::from(n) / 10.0));
    ((case(0), case(1), case(2)), shared, line, any::<bool>()).prop_map(|((a, b, c), shared, line, low)| {
        let mut value = json!({"name": "random", "tests": [a, b, c]});
        if let Some(shared) = shared {
            value["assertions"] = json!(shared);
        }
        if let Some(line) = line {
            value["threshold"] = json!(line);
            if low {
                value["borderline"] = json!(line / 2.0);
            }
        }
        value
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn there_and_back_every_outcome_is_scored_alike(value in suite(), seed in any::<u64>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let first = folder.path().join("first.yaml");
        std::fs::write(&first, to_yaml(&value, 0)).expect("written");
        let loaded = load_suite(&first, &options(folder.path()));
        // The loader refuses a threshold of a case below the suite's borderline threshold. This test does not
        // cover it.
        prop_assume!(!loaded.has_errors());
        let original = load(&first);
        let mut last = first;
        for (name, to) in [("one.yaml", ExportFormat::Format1), ("two.yaml", ExportFormat::Format2), ("again.yaml", ExportFormat::Format1)] {
            let converted = convert(&last, ImportFormat::Suite, to, &options(folder.path())).expect("converted");
            prop_assert_eq!(lost(&converted), Vec::<String>::new(), "{}", converted.text);
            last = folder.path().join(name);
            std::fs::write(&last, &converted.text).expect("written");
            let new = load(&last);
            prop_assert_eq!(differences((&original.0, &original.1), (&new.0, &new.1)), Vec::<String>::new());
            for (old, new_case) in original.1.iter().zip(&new.1) {
                for draw in 0..8 {
                    let seed = seed.wrapping_add(draw);
                    prop_assert_eq!(scored(&original.0, old, seed), scored(&new.0, new_case, seed), "{}", converted.text);
                }
            }
        }
    }
}

#[test]
fn differences_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = json!({"tests": [{"id": "a", "input": "q", "assertions": [{"type": "rubrics", "criteria": [{"id": "x", "outcome": "Does x", "weight": 2}]}]}]});
    let path = folder.path().join("a.yaml");
    let written = |value: &Value| {
        std::fs::write(&path, to_yaml(value, 0)).expect("written");
        load(&path)
    };
    let original = written(&base);
    for (pointer, new) in [
        ("/tests/0/input", json!("other")),
        ("/tests/0/id", json!("b")),
        ("/tests/0/assertions/0/criteria/0/weight", json!(3)),
        (
            "/tests/0/assertions/0/criteria/0",
            json!({"id": "x", "outcome": "Does x", "weight": 2, "required": true}),
        ),
        ("/tests/0/assertions/0", json!({"type": "contains", "value": "x"})),
        ("/tests/0/assertions", json!(["Does x", {"type": "contains", "value": "x"}])),
    ] {
        let mut changed = base.clone();
        *changed.pointer_mut(pointer).expect("there") = new;
        let other = written(&changed);
        assert_ne!(
            differences((&original.0, &original.1), (&other.0, &other.1)),
            Vec::<String>::new(),
            "{pointer}"
        );
    }
}

#[test]
fn variables_of_the_environment_stay_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "evalcases:\n  - id: a\n    input: 'Key ${{ API_HOST }}'\n    expected_outcome: x\n";
    let converted = run(folder.path(), "a.yaml", text, ExportFormat::Format2).expect("converted");
    assert!(
        converted.text.contains("${{ API_HOST }}") && !converted.text.contains("a-secret"),
        "{}",
        converted.text
    );
}

#[test]
fn healthbench_points_are_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = json!({"prompt_id": "p1", "prompt": [{"role": "user", "content": "It hurts"}], "example_tags": ["t"],
        "rubrics": [{"criterion": "Asks where", "points": 7, "tags": ["a"]}, {"criterion": "Names a dose", "points": -8}],
        "ideal_completions_data": {"ideal_completion": "Where?"}});
    let text = format!("{line}\n{{\"prompt\": [], \"rubrics\": []}}\n");
    let converted = run(folder.path(), "hb.jsonl", &text, ExportFormat::Format2).expect("converted");
    let path = folder.path().join("new.yaml");
    std::fs::write(&path, &converted.text).expect("written");
    let (_, cases) = load(&path);
    let GraderKind::Rubric(rubric) = &cases[0].graders[0].kind else { panic!("a rubric") };
    let weights: Vec<f64> = rubric.rubric.criteria().iter().map(|criterion| criterion.weight.get()).collect();
    assert_eq!(weights, [7.0, -8.0]);
    assert!(rubric.rubric.criteria().iter().all(|criterion| criterion.gate.is_none()));
    assert_eq!(cases[0].reference().as_deref(), Some("Where?"));
    assert_eq!(lost(&converted).len(), 1, "the second example");
}

#[test]
fn tables_become_rubrics_or_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = "id,criterion,weight,required\ndate,\"Names the date, in full\",2,yes\ncarrier,Names the carrier,,no\n";
    for to in [ExportFormat::Format1, ExportFormat::Format2] {
        let converted = run(folder.path(), "t.csv", table, to).expect("converted");
        let path = folder.path().join("rubric.yaml");
        std::fs::write(&path, &converted.text).expect("written");
        let loaded = load_rubric(&path, &options(folder.path()));
        let rubric = loaded.rubric.expect("sound");
        let criteria = rubric.rubric.criteria();
        assert_eq!(criteria[0].text, "Names the date, in full");
        assert_eq!(
            (criteria[0].weight.get(), criteria[0].gate.is_some(), criteria[1].gate.is_some()),
            (2.0, true, false)
        );
        assert_eq!(lost(&converted), Vec::<String>::new());
    }
    let table = "case,question,criterion\na,Where?,Says where\na,,Says when\nb,,Says why\n";
    let converted = run(folder.path(), "c.csv", table, ExportFormat::Format2).expect("converted");
    assert_eq!(converted.cases, 2);
    assert!(lost(&converted)[0].contains("c.csv:4: case `b`"), "{:?}", lost(&converted));
    assert!(matches!(
        run(folder.path(), "n.csv", "a,b\n1,2\n", ExportFormat::Format2),
        Err(ConvertError::Empty(..))
    ));
}

const TREE: &str = r#"{"id": "r", "requirements": "All", "weight": 1, "sub_tasks": [
  {"id": "a", "requirements": "Part a", "weight": 2, "sub_tasks": [
    {"id": "a1", "requirements": "Has a1", "weight": 3, "sub_tasks": [], "task_category": "Code Development"},
    {"id": "a1", "requirements": "Has a2", "weight": 1, "sub_tasks": [], "task_category": "Code Execution"}]},
  {"id": "b", "requirements": "Has b", "weight": 1, "sub_tasks": [], "task_category": "Result Analysis"}]}"#;

#[test]
fn trees_keep_their_scores() {
    let folder = tempfile::tempdir().expect("a folder");
    let converted = run(folder.path(), "tree.json", TREE, ExportFormat::Format2).expect("converted");
    let path = folder.path().join("new.yaml");
    std::fs::write(&path, &converted.text).expect("written");
    let (_, cases) = load(&path);
    let GraderKind::Rubric(rubric) = &cases[0].graders[0].kind else { panic!("a rubric") };
    let thresholds = VerdictThresholds::with_optional_borderline(UnitInterval::ONE, None);
    let score = score_rubric(&rubric.rubric, &[Outcome::Met, Outcome::Unmet, Outcome::Unmet], thresholds)
        .expect("fits");
    assert!((score.score.expect("judged") - 0.5).abs() < 1e-12, "two thirds of three quarters");
    assert!(
        lost(&converted).iter().any(|note| note.contains("tree.json:4: node `a1`")),
        "{:?}",
        lost(&converted)
    );
    let card = run(folder.path(), "tree.json", TREE, ExportFormat::Scorecard).expect("converted");
    let path = folder.path().join("card.yaml");
    std::fs::write(&path, &card.text).expect("written");
    let loaded = load_scorecard(&path, &options(folder.path()));
    let card = loaded.scorecard.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!((card.rubrics.len(), card.benchmarks.len()), (3, 3));
    assert_eq!(card.benchmarks.iter().map(|b| b.code.to_string()).collect::<Vec<_>>(), ["a1", "a1-2", "b"]);
}

#[test]
fn prerequisites_are_kept_and_circles_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let task = json!({"name": "01_x", "query": "Build it", "requirements": [
        {"requirement_id": 0, "prerequisites": [], "criteria": "Loads data", "category": "c"},
        {"requirement_id": 1, "prerequisites": [0, 1], "criteria": "Trains", "category": "c"}]});
    let converted =
        run(folder.path(), "t.jsonl", &format!("{task}\n"), ExportFormat::Format2).expect("converted");
    assert!(converted.text.contains("x-prerequisites:"), "{}", converted.text);
    assert!(lost(&converted).iter().any(|note| note.contains("is its own prerequisite")));
    let path = folder.path().join("new.yaml");
    std::fs::write(&path, &converted.text).expect("written");
    assert_eq!(load(&path).1[0].question(), "Build it");
}

#[test]
fn scorecards_become_rubrics_and_say_what_is_lost() {
    let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
    let converted = convert(&card, detect(&card).expect("known"), ExportFormat::Format2, &options(&card))
        .expect("converted");
    assert_eq!(converted.cases, 1);
    let lost = lost(&converted);
    for part in ["guidelines", "prompt file", "labels", "blocks everything", "cases are not converted"] {
        assert!(lost.iter().any(|note| note.contains(part)), "{part}: {lost:#?}");
    }
}

/// A criterion that every format can express: met or not, with an id. Penalties only if `penalties` is true.
fn plain_criterion(index: usize, penalties: bool) -> impl Strategy<Value = Value> {
    (prop_oneof![Just(1.0), Just(2.5), Just(3.0)], 0..5u8, any::<bool>()).prop_map(
        move |(weight, text, penalty)| {
            let text = ["Names it", "Says: \"yes\", # no", "Two\nlines", "é 中 {{x}} {% y %}", "=1+1; -"]
                [usize::from(text)];
            let penalty = penalties && penalty && index > 0;
            json!({"id": format!("c{index}"), "outcome": text, "weight": if penalty { -weight } else { weight }})
        },
    )
}

fn plain_case(index: usize, penalties: bool) -> impl Strategy<Value = Value> {
    let criteria =
        (plain_criterion(0, penalties), plain_criterion(1, penalties), plain_criterion(2, penalties));
    let all = prop_oneof![2 => Just(false), 1 => Just(true)];
    (criteria, all, 1..4u8).prop_map(move |((mut a, mut b, c), all, weight)| {
        let mut graders = Vec::new();
        if all && !penalties {
            a["required"] = json!(true);
            b["required"] = json!(true);
        }
        let two = json!([a, b]);
        graders.push(json!({"type": "rubrics", "criteria": two, "weight": weight}));
        if !penalties && !all {
            graders.push(json!({"type": "rubrics", "criteria": [c]}));
        }
        json!({"id": format!("case-{index}"), "input": "What is {{ q }}?", "assertions": graders})
    })
}

fn plain_suite(penalties: bool) -> impl Strategy<Value = Value> {
    (plain_case(0, penalties), plain_case(1, penalties))
        .prop_map(|(a, b)| json!({"name": "random", "tests": [a, b]}))
}

/// Converts a suite to the format of another tool and back, and scores random outcomes before and after.
fn there_and_back(value: &Value, to: ExportFormat, name: &str, seed: u64) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let first = folder.path().join("first.yaml");
    std::fs::write(&first, to_yaml(value, 0)).expect("written");
    let original = load(&first);
    let out = convert(&first, ImportFormat::Suite, to, &options(folder.path())).expect("converted");
    prop_assert_eq!(lost(&out), Vec::<String>::new(), "{}", out.text);
    let middle = folder.path().join(name);
    std::fs::write(&middle, &out.text).expect("written");
    let back =
        convert(&middle, detect(&middle).expect("known"), ExportFormat::Format2, &options(folder.path()))
            .expect("back");
    prop_assert_eq!(lost(&back), Vec::<String>::new(), "{}", out.text);
    let last = folder.path().join("last.yaml");
    std::fs::write(&last, &back.text).expect("written");
    let new = load(&last);
    prop_assert_eq!(original.1.len(), new.1.len());
    for (old, new_case) in original.1.iter().zip(&new.1) {
        prop_assert_eq!(old.question(), new_case.question());
        let texts = |case: &Case| -> Vec<String> {
            let of = |kind: &GraderKind| match kind {
                GraderKind::Rubric(rubric) => {
                    rubric.rubric.criteria().iter().map(|c| c.text.clone()).collect()
                }
                _ => Vec::new(),
            };
            case.graders.iter().flat_map(|grader| of(&grader.kind)).collect()
        };
        prop_assert_eq!(texts(old), texts(new_case));
        for draw in 0..16 {
            let seed = seed.wrapping_add(draw * 7919);
            let (before, after) = (scored(&original.0, old, seed), scored(&new.0, new_case, seed));
            prop_assert_eq!(before.1, after.1, "{}", out.text);
            let near = match (before.0, after.0) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-9,
                (a, b) => a == b,
            };
            prop_assert!(near, "{before:?} {after:?}\n{}", out.text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn what_a_table_holds_comes_back_with_its_meaning(value in plain_suite(false), signed in plain_suite(true), seed in any::<u64>()) {
        there_and_back(&value, ExportFormat::Csv, "t.csv", seed)?;
        there_and_back(&signed, ExportFormat::Csv, "t.csv", seed)?;
    }

    #[test]
    fn points_come_back_with_their_meaning(value in plain_suite(true), seed in any::<u64>()) {
        there_and_back(&value, ExportFormat::HealthBench, "h.jsonl", seed)?;
    }

    #[test]
    fn assertions_come_back_with_their_meaning(value in plain_suite(false), seed in any::<u64>()) {
        // Whether all criteria of a case are required decides when a test passes.
        there_and_back(&value, ExportFormat::Promptfoo, "promptfooconfig.yaml", seed)?;
    }
}

const GATED: &str = "\
tests:
  - id: refund
    criteria: Refunds
    input: q
    expected_output: r
    threshold: 0.5
    assertions:
      - type: rubrics
        judging: batched
        criteria:
          - {id: must, outcome: Names it, required: true, weight: 2}
          - {id: may, outcome: Greets}
          - {id: bad, outcome: Insults, weight: -1}
          - {id: how, outcome: Is clear, score_ranges: {0: Muddled, 5: Clear}}
      - {type: contains, value: x, negate: true}
      - {type: tool-trajectory, mode: in_order, expected: [{tool: t}]}
";

#[test]
fn what_other_tools_can_not_hold_is_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (to, parts) in [
        (
            ExportFormat::Csv,
            &[
                "pass threshold 0.5", "`how`", "a `contains` has no place", "a `tool-trajectory`",
                "its judge and the settings",
            ][..],
        ),
        (
            ExportFormat::HealthBench,
            &[
                "pass threshold 0.5", "`must` of `refund`: `required`", "`how`", "the expected outcome",
                "a `contains`",
            ],
        ),
        (
            ExportFormat::Promptfoo,
            &[
                "`must` of `refund`: `required`",
                "`bad`",
                "`how`",
                "the reference answer, the expected outcome",
                "this `tool-trajectory`",
            ],
        ),
        (
            ExportFormat::PaperBench,
            &["fails everything above", "`bad`", "score ranges", "its pass threshold 0.5", "a `contains`"],
        ),
    ] {
        let converted = run(folder.path(), "a.yaml", GATED, to).expect("converted");
        let lost = lost(&converted);
        for part in parts {
            assert!(lost.iter().any(|note| note.contains(part)), "{to:?} {part}: {lost:#?}");
        }
    }
    let config = run(folder.path(), "a.yaml", GATED, ExportFormat::Promptfoo).expect("converted");
    for part in [
        "type: llm-rubric", "type: not-contains", "threshold: 0.5", "metric: may",
        "prompts:\n  - \"{{input}}\"",
    ] {
        assert!(config.text.contains(part), "{part}: {}", config.text);
    }
    let only_checks = "tests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]\n";
    let nothing = run(folder.path(), "a.yaml", only_checks, ExportFormat::Csv);
    assert!(matches!(nothing, Err(ConvertError::Empty(_, _, notes)) if notes.len() == 2));
}

/// Returns the score of a case's only rubric. The outcomes are the bits, the lowest for the first criterion.
fn by_bits(case: &Case, bits: &mut u64) -> f64 {
    let GraderKind::Rubric(rubric) = &case.graders[0].kind else { panic!("a rubric") };
    let outcomes: Vec<Outcome> = rubric
        .rubric
        .criteria()
        .iter()
        .map(|_| {
            let met = *bits & 1 == 1;
            *bits >>= 1;
            if met { Outcome::Met } else { Outcome::Unmet }
        })
        .collect();
    let score = score_rubric(
        &rubric.rubric,
        &outcomes,
        VerdictThresholds::with_optional_borderline(UnitInterval::ONE, None),
    )
    .expect("fits");
    score.score.expect("judged")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_scorecard_scores_as_the_cases_it_was_made_from(weights in prop::collection::vec(prop::collection::vec(1..9u8, 1..5), 1..4), bits in any::<u64>()) {
        let cases: Vec<Value> = weights.iter().enumerate().map(|(at, weights)| {
            let criteria: Vec<Value> = weights.iter().enumerate().map(|(c, weight)| json!({"id": format!("c{c}"), "outcome": format!("Names {at} {c}"), "weight": weight})).collect();
            json!({"id": format!("case-{at}"), "input": "q", "assertions": [{"type": "rubrics", "criteria": criteria}]})
        }).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let value = json!({"name": "all", "tests": cases});
        let card = run(folder.path(), "a.yaml", &to_yaml(&value, 0), ExportFormat::Scorecard).expect("converted");
        let original = load(&folder.path().join("a.yaml"));
        let mut left = bits;
        let scores: Vec<f64> = original.1.iter().map(|case| by_bits(case, &mut left)).collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        run(folder.path(), "card.yaml", &card.text, ExportFormat::PaperBench).expect("a tree");
        let flat = run(folder.path(), "card.yaml", &card.text, ExportFormat::Format2).expect("flat");
        let back = folder.path().join("back.yaml");
        std::fs::write(&back, &flat.text).expect("written");
        let mut left = bits;
        prop_assert!((by_bits(&load(&back).1[0], &mut left) - mean).abs() < 1e-9, "{}", flat.text);
    }
}

#[test]
fn rubric_files_go_both_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let rubric = "criteria:\n  - {id: date, outcome: 'Names the date, in full', weight: 2, required: true}\n  - {id: carrier, outcome: Names the carrier}\n";
    let table = run(folder.path(), "r.yaml", rubric, ExportFormat::Csv).expect("a table");
    assert_eq!(
        table.text,
        "id,criterion,weight,required\ndate,\"Names the date, in full\",2,yes\ncarrier,Names the carrier,1,no\n"
    );
    let back = run(folder.path(), "t.csv", &table.text, ExportFormat::Format2).expect("a rubric");
    assert_eq!(lost(&back), Vec::<String>::new());
    let old = run(folder.path(), "r.yaml", rubric, ExportFormat::Format1).expect("a rubric of format 1");
    assert!(old.text.contains("expected_outcome: Names the carrier"), "{}", old.text);
    let config = run(folder.path(), "r.yaml", rubric, ExportFormat::Promptfoo).expect("a configuration");
    assert!(lost(&config).iter().any(|note| note.contains("is used as the question")));
}

#[test]
fn settings_that_other_tools_have_no_place_for_are_listed() {
    const SETTINGS: &str = "\
name: s
description: d
tags: [suite-tag]
metadata: {x-free: 1}
x-owner: me
execution:
  targets: [ours]
  judge: offline
  panel: {repeats: 3}
  evidence: required
  truncate: head
  trials: {count: 5, strategy: mean}
  budget_usd: 2
  fail_on_error: true
tests:
- id: a
  criteria: x
  input: q
  x-note: 1
  tags: [one]
  metadata: {team: b, x-free: 1}
  trials: {count: 2}
  assertions:
  - {type: rubrics, criteria: [{id: c, outcome: Says hello, x-source: me}]}
- id: b
  criteria: x
  input: q
  depends_on: [a]
  assertions:
  - {type: rubrics, criteria: [{id: c, outcome: Says hello}]}
";
    for (to, keeps) in [
        (ExportFormat::Csv, &[][..]),
        (ExportFormat::HealthBench, &["`tags`"]),
        (ExportFormat::Promptfoo, &["`description` of the suite"]),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let converted = run(folder.path(), "s.yaml", SETTINGS, to).expect("converted");
        let lost = lost(&converted).join("\n");
        let suite = [
            "description", "tags", "metadata", "targets", "judge", "panel", "evidence", "truncate", "trials",
            "budget_usd", "fail_on_error",
        ];
        let suite = suite.map(|key| format!("`{key}` of the suite"));
        let case =
            ["`trials`", "`tags`", "`metadata`", "`depends_on`", "`x-owner`", "`x-note`", "`x-source`"];
        for key in suite.iter().map(String::as_str).chain(case) {
            let case_lines =
                lost.lines().filter(|line| !line.contains("of the suite")).collect::<Vec<_>>().join("\n");
            let text = if key.ends_with("suite") { &lost } else { &case_lines };
            assert_eq!(text.contains(key), !keeps.contains(&key), "{to:?} {key}\n{lost}");
        }
        assert!(lost.contains("s.yaml:5: `x-owner`") && !lost.contains("x-free"), "{lost}");
    }
}
