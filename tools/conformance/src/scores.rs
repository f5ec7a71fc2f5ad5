//! Known values of scores: our own, and values from the collection beside the checkout.

use std::collections::BTreeMap;
use std::path::Path;

use assize_rubric::{
    CaseTally, Criterion, CriterionScale, Criticality, Gate, GateState, MissingPolicy, NodeStatus, Outcome,
    OutcomeKind, RawScore, Rubric, RubricScore, ScoreBand, ScoreBands, ScoreTree, ScorecardAggregation,
    ScorecardNode, ScorecardNodeKind, UnitInterval, Verdict, VerdictThresholds, Weight, WeightedTree,
    points_mean, points_ratio, resolve_prerequisites, score_card, score_rubric, weighted_mean,
};
use serde_json::{Map, Value, json};

use crate::output;
use crate::shared::SharedFolder;

fn weight(value: f64) -> Weight {
    Weight::new(value).expect("finite")
}

fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).expect("in range")
}

fn scored(raw: u8) -> Outcome {
    Outcome::Scored(RawScore::new(raw).expect("in range"))
}

fn bands() -> CriterionScale {
    let band = |low, high, text: &str| ScoreBand {
        low: RawScore::new(low).expect("in range"),
        high: RawScore::new(high).expect("in range"),
        text: text.into(),
    };
    CriterionScale::Bands(
        ScoreBands::new(vec![band(0, 4, "poor"), band(5, 7, "fair"), band(8, 10, "good")]).expect("sound"),
    )
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn lines(inputs: &Value) -> VerdictThresholds {
    VerdictThresholds::new(unit(number(&inputs["pass_at"])), Some(unit(number(&inputs["borderline_at"]))))
        .expect("in order")
}

fn score(criteria: Vec<Criterion>, outcomes: &[Outcome], thresholds: VerdictThresholds) -> RubricScore {
    score_rubric(&Rubric::new(criteria).expect("sound"), outcomes, thresholds).expect("outcomes fit")
}

fn criterion(index: usize, input: &Value) -> Criterion {
    let mut criterion = Criterion::checklist(format!("c{index}"), "does something");
    criterion.weight = weight(number(&input["weight"]));
    criterion
}

fn verdict(score: &RubricScore) -> Value {
    let gates_ok = score.gates.iter().all(|(_, _, state)| *state == GateState::Passed);
    json!({"score": score.score, "gates_ok": gates_ok, "verdict": score.verdict.map(Verdict::name)})
}

fn checklist(inputs: &Value) -> Value {
    let (mut criteria, mut outcomes, mut met, mut all) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for (index, input) in items(&inputs["criteria"]).iter().enumerate() {
        let mut criterion = criterion(index, input);
        criterion.gate = (input["required"] == json!(true)).then_some(Gate::Met);
        all += criterion.weight.get();
        met += criterion.weight.get() * number(&input["score"]);
        criteria.push(criterion);

        outcomes.push(if number(&input["score"]) == 1.0 { Outcome::Met } else { Outcome::Unmet });
    }

    let mut computed = verdict(&score(criteria, &outcomes, lines(inputs)));
    computed["naive_f64"] = json!(met / all);

    computed
}

fn score_range(inputs: &Value) -> Value {
    let raw = |value: &Value| value.as_u64().map(|raw| u8::try_from(raw).expect("0 to 10"));
    let (mut criteria, mut outcomes) = (Vec::new(), Vec::new());
    for (index, input) in items(&inputs["criteria"]).iter().enumerate() {
        let mut criterion = criterion(index, input);
        criterion.scale = bands();
        criterion.gate =
            raw(&input["required_min_score"]).map(|raw| Gate::MinRaw(RawScore::new(raw).expect("0 to 10")));
        criteria.push(criterion);

        outcomes.push(scored(raw(&input["raw"]).expect("a raw score")));
    }

    verdict(&score(criteria, &outcomes, lines(inputs)))
}

fn points(criteria: &Value) -> impl Iterator<Item = (f64, bool)> {
    items(criteria).iter().map(|input| (number(&input["points"]), input["met"] == json!(true)))
}

fn healthbench_points(inputs: &Value) -> Value {
    let possible: f64 = points(&inputs["criteria"]).map(|(points, _)| points.max(0.0)).sum();
    json!({"raw": points_ratio(points(&inputs["criteria"])), "denominator": possible})
}

fn healthbench_mean(inputs: &Value) -> Value {
    let ratios: Vec<f64> = items(&inputs["examples"])
        .iter()
        .map(|example| points_ratio(points(example)).expect("points to earn"))
        .collect();
    let mean = points_mean(ratios.iter().copied()).expect("examples");
    json!({"example_scores": ratios, "mean_unclipped": mean.unclipped, "clipped": mean.clipped})
}

/// A tree whose branches list their nodes under `children`. A node without any is a leaf.
fn tree(node: &Value, children: &str) -> WeightedTree {
    let weight = weight(number(&node["weight"]));
    match node[children].as_array() {
        Some(nodes) if !nodes.is_empty() => {
            WeightedTree::Branch { weight, children: nodes.iter().map(|node| tree(node, children)).collect() }
        }
        _ => WeightedTree::Leaf { weight, score: node["score"].as_f64() },
    }
}

/// Recomputes every score of a graded tree and compares it with the one its publisher computed.
fn graded_tree(root: &Value) -> Value {
    fn walk(node: &Value, leaves: &mut [u64; 2], worst: &mut f64) {
        let children = items(&node["sub_tasks"]);
        let stored = number(&node["score"]);
        if children.is_empty() {
            leaves[usize::from(stored == 1.0)] += 1;
        }

        let computed = weighted_mean(&tree(node, "sub_tasks")).expect("weights are usable");
        *worst = worst.max((computed - stored).abs());

        for child in children {
            walk(child, leaves, worst);
        }
    }

    let (mut leaves, mut worst) = ([0, 0], 0.0);
    walk(root, &mut leaves, &mut worst);
    assert!(worst <= 1e-12, "an inner score is off by {worst}");

    json!({
        "root_score": root["score"], "recomputed": weighted_mean(&tree(root, "sub_tasks")),
        "leaves": leaves[0] + leaves[1], "pass": leaves[1], "fail": leaves[0],
    })
}

fn benchmark_rubric(inputs: &Value) -> Value {
    let aggregation: ScorecardAggregation =
        serde_json::from_value(inputs["aggregation"].clone()).expect("a known method");
    let node = |code: &Value, weight, line: &Value, kind| ScorecardNode {
        code: code.as_str().unwrap_or("rubric").into(),
        weight,
        line: unit(number(line)),
        kind,
    };

    let group = ScorecardNodeKind::Group { aggregation, hard_gate: false };
    let mut card = ScoreTree::new(node(&Value::Null, Weight::ONE, &inputs["passing_threshold"], group));
    let mut scores = Vec::new();
    for input in items(&inputs["benchmarks"]) {
        let criticality = match input["criticality"].as_str() {
            Some("hard_gate") => Criticality::HardGate,
            Some("improvement_signal") => Criticality::ImprovementSignal,
            _ => Criticality::ThresholdGate,
        };
        let kind = ScorecardNodeKind::Benchmark { criticality };
        let benchmark = node(&input["code"], weight(number(&input["weight"])), &input["threshold"], kind);
        let id = card.add_node(card.root(), benchmark).expect("the root is a group");

        scores.push((id, unit(number(&input["score"]))));
    }

    let tally = |id| {
        let found = scores.iter().find(|(benchmark, _)| *benchmark == id).map(|(_, score)| *score);
        CaseTally::new(found, 0)
    };
    let scored = score_card(&card, tally, MissingPolicy::Incomplete);
    let whole = scored.root();
    json!({"score": whole.score(), "passed": whole.status == NodeStatus::Pass})
}

fn na_handling(inputs: &Value) -> Value {
    let given = items(&inputs["criteria"]);
    let with = |replacement: Outcome| {
        let criteria = given.iter().enumerate().map(|(index, input)| criterion(index, input)).collect();
        let outcomes: Vec<Outcome> = given
            .iter()
            .map(|input| match serde_json::from_value(input["verdict"].clone()).expect("a known outcome") {
                OutcomeKind::NotApplicable => replacement,
                kind => Outcome::from_parts(kind, None, None).expect("an outcome without a score"),
            })
            .collect();
        score(criteria, &outcomes, VerdictThresholds::new(unit(0.8), None).expect("in order"))
    };
    json!({
        "skip": with(Outcome::NotApplicable).score,
        "as_fail": with(Outcome::Unmet).score,
        "as_pass": with(Outcome::Met).score,
        "coverage_by_weight": with(Outcome::Ungraded).coverage,
    })
}

/// The rates of one system when a requirement counts only together with its prerequisites, task by task.
fn gated_rate(text: &str, inputs: &Value) -> Value {
    let mut tasks: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        if row["agent"] == inputs["agent"] {
            tasks.entry(row["task"].as_str().expect("a name").to_owned()).or_default().push(row);
        }
    }

    let (mut n, mut direct, mut recursive) = (0.0, 0.0, 0.0);
    for rows in tasks.values() {
        let place = |id: &Value| rows.iter().position(|row| row["requirement_id"] == *id).expect("an id");
        let value = inputs["value"].as_str().expect("a column");
        let held: Vec<bool> = rows.iter().map(|row| row[value].as_bool().expect("a verdict")).collect();
        let needs: Vec<Vec<usize>> =
            rows.iter().map(|row| items(&row["prerequisites"]).iter().map(place).collect()).collect();
        let found = resolve_prerequisites(&held, &needs);
        let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count() as f64;

        n += rows.len() as f64;
        direct += count(&found.direct);

        recursive += count(&found.recursive);
    }

    json!({
        "direct": {"count": direct, "rate": direct / n},
        "recursive": {"count": recursive, "rate": recursive / n},
    })
}

/// The figures of a vector. `None` if the data it needs is missing.
fn compute(vector: &Value, folder: Option<&Path>) -> Option<Value> {
    let inputs = &vector["inputs"];
    Some(match vector["method"].as_str().expect("a method") {
        "checklist" => checklist(inputs),
        "score_range_0_10" => score_range(inputs),
        "healthbench_points" => healthbench_points(inputs),
        "healthbench_mean" => healthbench_mean(inputs),
        "weighted_tree" => match inputs["dataset"].as_str() {
            Some(dataset) => {
                let text = std::fs::read_to_string(folder?.join(dataset)).ok()?;
                graded_tree(&serde_json::from_str(&text).expect("JSON"))
            }
            None => json!({"score": weighted_mean(&tree(&inputs["tree"], "children"))}),
        },
        "prerequisite_gated_rate" => {
            let text = std::fs::read_to_string(folder?.join(inputs["dataset"].as_str()?)).ok()?;
            gated_rate(&text, inputs)
        }
        "benchmark_rubric" => benchmark_rubric(inputs),
        "na_handling" => na_handling(inputs),
        other => panic!("no test knows the method {other}"),
    })
}

/// Whether two values agree. The tolerance is absolute, and relative for expected values above 1.
fn agree(expected: &Value, computed: &Value, tolerance: f64) -> bool {
    match (expected, computed) {
        (Value::Number(_), Value::Number(_)) => {
            let (expected, computed) = (number(expected), number(computed));
            (expected - computed).abs() <= tolerance * expected.abs().max(1.0)
        }
        (Value::Array(expected), Value::Array(computed)) => {
            expected.len() == computed.len()
                && expected.iter().zip(computed).all(|(e, c)| agree(e, c, tolerance))
        }
        (Value::Object(expected), Value::Object(_)) => {
            expected.iter().all(|(name, expected)| agree(expected, &computed[name], tolerance))
        }
        _ => expected == computed,
    }
}

/// A table of every figure, and the number of wrong figures, right figures and vectors whose data is missing.
fn check(vectors: &[Value], folder: Option<&Path>) -> (String, [usize; 3]) {
    let mut table = vec![format!("{:<58} {:<18} {:>26} {:>26}  ok", "id", "figure", "expected", "computed")];
    let mut counts = [0, 0, 0];
    for vector in vectors {
        let id = vector["id"].as_str().expect("an id");
        let Some(computed) = compute(vector, folder) else {
            counts[2] += 1;
            table.push(format!("{id:<58} skipped: its data is not there"));
            continue;
        };

        let expected: &Map<String, Value> = vector["expected"].as_object().expect("figures");
        for (figure, expected) in expected {
            let computed = &computed[figure];
            let ok = agree(expected, computed, number(&vector["tol"]));
            counts[usize::from(ok)] += 1;
            let (expected, computed) = (expected.to_string(), computed.to_string());
            table.push(format!("{id:<58} {figure:<18} {expected:>26} {computed:>26}  {ok}"));
        }
    }

    (table.join("\n"), counts)
}

/// Every vector of a score is reproduced.
pub(crate) fn vectors(shared: &SharedFolder) {
    let folder = shared.path("");
    let text = std::fs::read_to_string(folder.join("vectors/statistics.json")).expect("readable");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let ours: Vec<Value> = items(&all["vectors"])
        .iter()
        .filter(|vector| {
            let method = vector["method"].as_str();
            vector["group"] == "rubric_score"
                || method.is_some_and(|method| ["weighted_tree", "prerequisite_gated_rate"].contains(&method))
        })
        .cloned()
        .collect();

    assert!(!ours.is_empty());
    let (table, [wrong, right, skipped]) = check(&ours, Some(&folder));
    output::print(&format!("{table}\n{right} right, {wrong} wrong, {skipped} skipped"));

    assert_eq!(wrong, 0, "\n{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_numbers() {
        let vectors: Vec<Value> = serde_json::from_str(include_str!("scores.json")).expect("JSON");
        let (table, [wrong, right, skipped]) = check(&vectors, None);
        assert_eq!((wrong, skipped), (0, 0), "\n{table}");
        assert_eq!(right, 27, "every figure was looked at");
    }

    #[test]
    fn a_wrong_number_is_noticed() {
        let vector = json!({
            "id": "wrong", "method": "na_handling", "tol": 1e-12,
            "inputs": {"criteria": [{"weight": 1, "verdict": "met"}]}, "expected": {"skip": 0.5},
        });
        assert_eq!(check(&[vector], None).1, [1, 0, 0]);
    }
}
