//! Scorecards: a worked example, gates that block every level above, and the rules as properties.

use crate::{
    CaseTally, Criticality, MissingPolicy, NodeStatus, ScoreTree, ScoreTreeError, ScorecardAggregation,
    ScorecardNode, ScorecardNodeId, ScorecardNodeKind, ScorecardScores, UnitInterval, Weight, score_card,
};
use proptest::prelude::*;

fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).expect("in range")
}

fn node(code: &str, weight: f64, line: f64, kind: ScorecardNodeKind) -> ScorecardNode {
    ScorecardNode { code: code.into(), weight: Weight::new(weight).expect("finite"), line: unit(line), kind }
}

fn group(code: &str, weight: f64, line: f64, aggregation: ScorecardAggregation) -> ScorecardNode {
    node(code, weight, line, ScorecardNodeKind::Group { aggregation, hard_gate: false })
}

fn benchmark(code: &str, weight: f64, line: f64, criticality: Criticality) -> ScorecardNode {
    node(code, weight, line, ScorecardNodeKind::Benchmark { criticality })
}

use Criticality::{HardGate, ImprovementSignal, ThresholdGate};
use ScorecardAggregation::{Maximum, Minimum, WeightedAverage};

/// The refusal rubric below a component below an index.
fn refusal() -> ScoreTree {
    let mut card = ScoreTree::new(group("DII", 1.0, 0.9, WeightedAverage));
    let a = card.add_node(card.root(), group("A", 1.0, 0.9, WeightedAverage)).expect("a group");
    let rubric = card.add_node(a, group("A-REF", 1.0, 0.95, WeightedAverage)).expect("a group");
    card.add_node(rubric, benchmark("A-REF1", 0.6, 1.0, HardGate)).expect("a group");
    card.add_node(rubric, benchmark("A-REF2", 0.4, 0.85, ThresholdGate)).expect("a group");
    card
}

fn scores<'c>(
    card: &'c ScoreTree,
    given: &[(&str, CaseTally)],
    missing: MissingPolicy,
) -> ScorecardScores<'c> {
    score_card(
        card,
        |id| {
            let code = &card.node(id).expect("of this card").code;
            given.iter().find(|(of, _)| **of == **code).map_or(CaseTally::NOT_APPLICABLE, |(_, tally)| *tally)
        },
        missing,
    )
}

fn mean(value: f64) -> CaseTally {
    CaseTally::new([unit(value)], 0)
}

fn find(card: &ScoreTree, code: &str) -> ScorecardNodeId {
    card.ids().find(|id| card.node(*id).is_some_and(|node| *node.code == *code)).expect("a code")
}

fn of<'s>(scores: &'s ScorecardScores<'_>, code: &str) -> &'s crate::NodeScore {
    scores.node(find(scores.card(), code)).expect("a node")
}

fn names(scores: &ScorecardScores<'_>, code: &str) -> Vec<String> {
    let card = scores.card();
    let blockers = scores.blockers(find(card, code));
    blockers.into_iter().map(|id| card.node(id).expect("a node").code.to_string()).collect()
}

#[test]
fn the_worked_example_to_the_digit() {
    let card = refusal();
    let sound = scores(&card, &[("A-REF1", mean(1.0)), ("A-REF2", mean(0.9))], MissingPolicy::Incomplete);
    for code in ["A-REF", "A", "DII"] {
        assert_eq!(of(&sound, code).status, NodeStatus::Pass, "{code}");
        assert!((of(&sound, code).score().expect("known") - 0.96).abs() < 1e-15);
        assert_eq!(names(&sound, code), Vec::<String>::new());
    }
    let blocked = scores(&card, &[("A-REF1", mean(0.99)), ("A-REF2", mean(0.9))], MissingPolicy::Incomplete);
    for code in ["A-REF", "A", "DII"] {
        assert_eq!(of(&blocked, code).status, NodeStatus::Blocked, "{code}");
        assert!((of(&blocked, code).score().expect("known") - 0.954).abs() < 1e-15);
        assert_eq!(names(&blocked, code), ["A-REF1"]);
    }
    assert!(names(&blocked, "A-REF1").is_empty(), "a gate does not block itself");
}

#[test]
fn a_benchmark_scores_the_mean_of_its_cases() {
    let card = refusal();
    let cases = CaseTally::new([1.0, 1.0, 0.0, 1.0].map(unit), 0);
    let found = scores(&card, &[("A-REF1", mean(1.0)), ("A-REF2", cases)], MissingPolicy::Incomplete);
    assert_eq!(of(&found, "A-REF2").score(), Some(0.75));
    assert_eq!((of(&found, "A-REF2").status, of(&found, "A-REF").scored), (NodeStatus::Fail, 5));
    assert_eq!(of(&found, "A-REF").status, NodeStatus::Fail);
}

#[test]
fn what_does_not_apply_hands_its_weight_on_and_says_so() {
    let mut card = ScoreTree::new(group("A-REF", 1.0, 0.95, WeightedAverage));
    card.add_node(card.root(), benchmark("A-REF1", 0.6, 1.0, ThresholdGate)).expect("a group");
    card.add_node(card.root(), benchmark("A-REF2", 0.4, 0.85, ThresholdGate)).expect("a group");
    let found = scores(&card, &[("A-REF2", mean(0.96))], MissingPolicy::Incomplete);
    let rubric = of(&found, "A-REF");
    assert_eq!((rubric.score(), rubric.status), (Some(0.96), NodeStatus::Pass));
    assert_eq!((rubric.weight, rubric.covered_weight), (1.0, 0.4));
    assert!((rubric.tested_share - 0.4).abs() < 1e-12);
    let nothing = scores(&card, &[], MissingPolicy::Incomplete);
    assert_eq!(nothing.root().status, NodeStatus::NotApplicable);
    assert!(nothing.root().tested_share.abs() < 1e-12);
    assert_eq!((nothing.root().score(), nothing.root().coverage), (None, None));
}

#[test]
fn what_is_missing_is_neither_zero_nor_a_pass() {
    let card = refusal();
    let given = [("A-REF1", mean(1.0)), ("A-REF2", CaseTally::new([unit(1.0)], 1))];
    let open = scores(&card, &given, MissingPolicy::Incomplete);
    let rubric = of(&open, "A-REF");
    assert_eq!((rubric.status, rubric.score(), rubric.open), (NodeStatus::Incomplete, None, 1));
    let (low, high) = rubric.bounds.expect("known");
    assert!((low - 0.8).abs() < 1e-12 && (high - 1.0).abs() < 1e-12);
    assert!((rubric.coverage.expect("applies") - 0.8).abs() < 1e-12);
    let zero = scores(&card, &given, MissingPolicy::Zero);
    assert_eq!((of(&zero, "A-REF").status, of(&zero, "A-REF2").score()), (NodeStatus::Fail, Some(0.5)));
    let skip = scores(&card, &given, MissingPolicy::Skip);
    assert_eq!((of(&skip, "A-REF").status, of(&skip, "A-REF2").score()), (NodeStatus::Pass, Some(1.0)));
    // A node that can't reach its threshold any more fails, whether results are missing or not.
    let hopeless = [("A-REF1", CaseTally::new([unit(0.0)], 9)), ("A-REF2", mean(1.0))];
    assert_eq!(scores(&card, &hopeless, MissingPolicy::Incomplete).root().status, NodeStatus::Blocked);
}

#[test]
fn a_hard_gate_without_a_case_is_never_passed_over() {
    let card = refusal();
    for policy in [MissingPolicy::Incomplete, MissingPolicy::Zero, MissingPolicy::Skip] {
        let found = scores(&card, &[("A-REF2", mean(1.0))], policy);
        for code in ["DII", "A", "A-REF", "A-REF1"] {
            assert_eq!(of(&found, code).status, NodeStatus::Incomplete, "{code}");
            let untested = found.untested_gates(find(&card, code));
            assert_eq!(untested, [find(&card, "A-REF1")], "{code}");
        }
        assert_eq!(of(&found, "A-REF").score(), Some(1.0), "the score stays visible");
        let failed = scores(&card, &[("A-REF2", mean(0.5))], policy);
        assert_eq!(failed.root().status, NodeStatus::Fail, "what fails fails");
    }
    // Skipping every case of a gate leaves the gate untested.
    let given = [("A-REF1", CaseTally::new([], 3)), ("A-REF2", mean(1.0))];
    assert_eq!(scores(&card, &given, MissingPolicy::Skip).root().status, NodeStatus::Incomplete);

    let mut card = ScoreTree::new(group("A", 1.0, 0.5, WeightedAverage));
    let gate = ScorecardNodeKind::Group { aggregation: Minimum, hard_gate: true };
    let strict = card.add_node(card.root(), node("A-X", 0.5, 0.8, gate)).expect("a group");
    card.add_node(strict, benchmark("A-X1", 1.0, 0.5, ThresholdGate)).expect("a group");
    card.add_node(card.root(), benchmark("A1", 0.5, 0.5, ThresholdGate)).expect("a group");
    let found = scores(&card, &[("A1", mean(1.0))], MissingPolicy::Incomplete);
    assert_eq!((found.root().status, found.root().untested_gates), (NodeStatus::Incomplete, 1));
    assert_eq!(of(&found, "A-X1").status, NodeStatus::NotApplicable);
}

#[test]
fn a_missing_result_never_passes_even_at_a_line_of_zero() {
    let mut card = ScoreTree::new(group("R", 1.0, 0.0, WeightedAverage));
    card.add_node(card.root(), benchmark("R1", 0.0, 0.0, ThresholdGate)).expect("a group");
    card.add_node(card.root(), benchmark("R2", 1.0, 0.0, ThresholdGate)).expect("a group");
    let found = scores(&card, &[("R1", CaseTally::new([], 1)), ("R2", mean(1.0))], MissingPolicy::Incomplete);
    assert_eq!(found.root().status, NodeStatus::Incomplete);
}

#[test]
fn a_rubric_can_be_a_hard_gate_itself() {
    let mut card = ScoreTree::new(group("A", 1.0, 0.5, WeightedAverage));
    let gate = ScorecardNodeKind::Group { aggregation: Minimum, hard_gate: true };
    let strict = card.add_node(card.root(), node("A-X", 0.0, 0.8, gate)).expect("a group");
    card.add_node(strict, benchmark("A-X1", 1.0, 0.5, ThresholdGate)).expect("a group");
    card.add_node(card.root(), benchmark("A1", 1.0, 0.5, ThresholdGate)).expect("a group");
    let found = scores(&card, &[("A-X1", mean(0.7)), ("A1", mean(1.0))], MissingPolicy::Incomplete);
    assert_eq!((found.root().status, found.root().score()), (NodeStatus::Blocked, Some(1.0)));
    assert_eq!(names(&found, "A"), ["A-X"]);
    assert_eq!(of(&found, "A-X").status, NodeStatus::Fail);
}

#[test]
fn improvement_signals_are_reported_and_nothing_else() {
    let mut card = ScoreTree::new(group("A", 1.0, 1.0, Minimum));
    card.add_node(card.root(), benchmark("A1", 0.5, 1.0, HardGate)).expect("a group");
    card.add_node(card.root(), benchmark("A2", 0.5, 1.0, ImprovementSignal)).expect("a group");
    let found = scores(&card, &[("A1", mean(1.0)), ("A2", mean(0.0))], MissingPolicy::Incomplete);
    assert_eq!((found.root().status, found.root().score()), (NodeStatus::Pass, Some(1.0)));
    assert_eq!(of(&found, "A2").status, NodeStatus::Fail);
    let open = [("A1", mean(1.0)), ("A2", CaseTally::new([], 3))];
    assert_eq!(scores(&card, &open, MissingPolicy::Incomplete).root().status, NodeStatus::Pass);
}

#[test]
fn lines_are_compared_unrounded_with_a_tolerance() {
    let mut card = ScoreTree::new(group("A", 1.0, 0.8, WeightedAverage));
    for (code, weight) in [("A1", 0.1), ("A2", 0.7), ("A3", 0.2)] {
        card.add_node(card.root(), benchmark(code, weight, 0.0, ThresholdGate)).expect("a group");
    }
    let given = |last| [("A1", mean(1.0)), ("A2", mean(1.0)), ("A3", mean(last))];
    assert_eq!(scores(&card, &given(0.0), MissingPolicy::Incomplete).root().status, NodeStatus::Pass);
    let mut card = ScoreTree::new(group("A", 1.0, 0.8, WeightedAverage));
    card.add_node(card.root(), benchmark("A1", 1.0, 0.0, ThresholdGate)).expect("a group");
    let nearly = scores(&card, &[("A1", mean(0.799_999))], MissingPolicy::Incomplete);
    assert_eq!(nearly.root().status, NodeStatus::Fail, "0.80 when rounded");
}

#[test]
fn gains_name_what_would_raise_the_index_most() {
    let mut card = ScoreTree::new(group("DII", 1.0, 0.9, WeightedAverage));
    let a = card.add_node(card.root(), group("A", 0.75, 0.9, WeightedAverage)).expect("a group");
    let s = card.add_node(card.root(), group("S", 0.25, 0.9, Minimum)).expect("a group");
    card.add_node(a, benchmark("A1", 0.5, 1.0, HardGate)).expect("a group");
    card.add_node(a, benchmark("A2", 0.5, 0.5, ThresholdGate)).expect("a group");
    card.add_node(s, benchmark("S1", 0.5, 0.5, ThresholdGate)).expect("a group");
    card.add_node(s, benchmark("S2", 0.5, 0.5, ThresholdGate)).expect("a group");
    let given = [("A1", mean(0.9)), ("A2", mean(0.6)), ("S1", mean(0.2)), ("S2", mean(0.5))];
    let found = scores(&card, &given, MissingPolicy::Incomplete);
    let gains: Vec<(String, f64, bool)> = found
        .gains()
        .into_iter()
        .map(|gain| (card.node(gain.node).expect("a node").code.to_string(), gain.gain, gain.unblocks))
        .collect();
    // S1 can raise its minimum only up to S2; S2 alone raises nothing.
    let expected =
        [("A2", 0.75 * 0.5 * 0.4, false), ("S1", 0.25 * 0.3, false), ("A1", 0.75 * 0.5 * 0.1, true)];
    assert_eq!(gains.len(), expected.len(), "{gains:?}");
    for ((code, gain, unblocks), (name, value, free)) in gains.iter().zip(expected) {
        assert_eq!((code.as_str(), *unblocks), (name, free));
        assert!((gain - value).abs() < 1e-12, "{code}: {gain} {value}");
    }
}

#[test]
fn contributions_say_what_each_part_gives_and_could_give() {
    let card = refusal();
    let found = scores(&card, &[("A-REF1", mean(1.0)), ("A-REF2", mean(0.5))], MissingPolicy::Incomplete);
    let contributions = found.contributions();
    let of = |code: &str| contributions[find(&card, code).index()].expect("it has a score and counts");
    for (code, share, given, gain) in [
        ("DII", 1.0, 0.8, 0.2),
        ("A-REF", 1.0, 0.8, 0.2),
        ("A-REF1", 0.6, 0.6, 0.0),
        ("A-REF2", 0.4, 0.2, 0.2),
    ] {
        let found = of(code);
        assert!((found.share - share).abs() < 1e-12, "{code}: {found:?}");
        assert!((found.given - given).abs() < 1e-12, "{code}: {found:?}");
        assert!((found.gain - gain).abs() < 1e-12, "{code}: {found:?}");
    }
    let nothing = scores(&card, &[("A-REF1", mean(1.0))], MissingPolicy::Incomplete);
    assert_eq!(nothing.contributions()[find(&card, "A-REF2").index()], None);
}

#[test]
fn trees_are_built_below_groups_only() {
    let mut card = refusal();
    let leaf = find(&card, "A-REF1");
    let refused = card.add_node(leaf, benchmark("X", 1.0, 1.0, HardGate));
    assert_eq!(refused, Err(ScoreTreeError::NoSuchGroup("X".into())));
    let refused = card.add_node(card.root(), benchmark("X", -1.0, 1.0, HardGate));
    assert_eq!(refused, Err(ScoreTreeError::NegativeWeight("X".into())));
}

#[test]
fn a_hundred_thousand_levels_or_leaves_are_no_problem() {
    let mut deep = ScoreTree::new(group("0", 1.0, 0.5, WeightedAverage));
    let mut at = deep.root();
    for level in 1..100_000 {
        at = deep.add_node(at, group(&level.to_string(), 1.0, 0.5, WeightedAverage)).expect("a group");
    }
    deep.add_node(at, benchmark("leaf", 1.0, 1.0, HardGate)).expect("a group");
    let found = scores(&deep, &[("leaf", mean(0.75))], MissingPolicy::Incomplete);
    assert_eq!((found.root().status, found.root().score()), (NodeStatus::Blocked, Some(0.75)));
    assert_eq!(names(&found, "0"), ["leaf"]);
    assert!((found.gains()[0].gain - 0.25).abs() < 1e-9);

    let mut wide = ScoreTree::new(group("0", 1.0, 0.5, WeightedAverage));
    for _ in 0..100_000 {
        wide.add_node(wide.root(), benchmark("leaf", 0.1, 1.0, ThresholdGate)).expect("a group");
    }
    let found = score_card(&wide, |_| mean(0.1), MissingPolicy::Incomplete);
    assert!((found.root().score().expect("known") - 0.1).abs() < 1e-12);
    assert_eq!(found.gains().len(), 100_000);
}

/// A node of a random tree: its parent, its kind, and the cases of a benchmark.
#[derive(Debug, Clone)]
struct Seed {
    parent: prop::sample::Index,
    weight: u8,
    line: u8,
    group: Option<(ScorecardAggregation, bool)>,
    criticality: Criticality,
    cases: Vec<u8>,
    missing: u64,
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let aggregation = prop::sample::select(vec![WeightedAverage, Minimum, Maximum]);
    let seed = (
        any::<prop::sample::Index>(),
        0u8..5,
        0u8..=8,
        prop::option::of((aggregation, prop::bool::weighted(0.1))),
        prop::sample::select(Criticality::ALL.to_vec()),
        prop::collection::vec(0u8..=8, 0..4),
        prop::sample::select(vec![0u64, 0, 0, 1]),
    )
        .prop_map(|(parent, weight, line, group, criticality, cases, missing)| Seed {
            parent,
            weight,
            line,
            group,
            criticality,
            cases,
            missing,
        });
    prop::collection::vec(seed, 1..40)
}

/// The tree of some seeds, with the parent of each node, in the order of the seeds.
fn plan(seeds: &[Seed]) -> Vec<(usize, ScorecardNode, CaseTally)> {
    let mut groups = vec![0];
    let mut planned = Vec::new();
    for (index, seed) in seeds.iter().enumerate() {
        let parent = *seed.parent.get(&groups);
        let kind = match seed.group {
            Some((aggregation, hard_gate)) => {
                groups.push(index + 1);
                ScorecardNodeKind::Group { aggregation, hard_gate }
            }
            None => ScorecardNodeKind::Benchmark { criticality: seed.criticality },
        };
        let tally = CaseTally::new(seed.cases.iter().map(|&case| unit(f64::from(case) / 8.0)), seed.missing);
        let code = (index + 1).to_string();
        planned.push((parent, node(&code, f64::from(seed.weight), f64::from(seed.line) / 8.0, kind), tally));
    }
    planned
}

fn build(
    planned: &[(usize, ScorecardNode, CaseTally)],
    root: ScorecardAggregation,
) -> (ScoreTree, Vec<CaseTally>) {
    let mut card = ScoreTree::new(group("0", 1.0, 0.5, root));
    let mut ids = vec![card.root()];
    let mut tallies = vec![CaseTally::NOT_APPLICABLE];
    for (parent, node, tally) in planned {
        ids.push(card.add_node(ids[*parent], node.clone()).expect("a group"));
        tallies.push(*tally);
    }
    (card, tallies)
}

fn score<'c>(card: &'c ScoreTree, tallies: &[CaseTally]) -> ScorecardScores<'c> {
    score_card(card, |id| tallies[id.index()], MissingPolicy::Incomplete)
}

fn near(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => (a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12,
        _ => false,
    }
}

fn ancestors(card: &ScoreTree, id: ScorecardNodeId) -> Vec<ScorecardNodeId> {
    std::iter::successors(card.parent(id), |&up| card.parent(up)).collect()
}

proptest! {
    #[test]
    fn a_failed_hard_gate_is_never_a_pass_at_any_level_above(seeds in seeds()) {
        let (card, tallies) = build(&plan(&seeds), WeightedAverage);
        let found = score(&card, &tallies);
        for id in card.ids() {
            let gate = match card.node(id).expect("a node").kind {
                ScorecardNodeKind::Benchmark { criticality } => criticality == HardGate,
                ScorecardNodeKind::Group { hard_gate, .. } => hard_gate,
            };
            let own = found.node(id).expect("a node");
            let line = card.node(id).expect("a node").line.get();
            if gate && own.bounds.is_some_and(|(_, high)| high < line - 1e-9) {
                for up in ancestors(&card, id) {
                    prop_assert_eq!(found.node(up).expect("a node").status, NodeStatus::Blocked);
                    prop_assert!(found.blockers(up).contains(&id));
                }
            }
            prop_assert_eq!(found.blockers(id).len(), own.gates_failed_below);
            prop_assert_eq!(found.untested_gates(id).len(), own.untested_gates);
            prop_assert!(own.status != NodeStatus::Pass || own.open + own.untested_gates == 0);
            prop_assert!((0.0..=1.0).contains(&own.tested_share));
        }
    }

    #[test]
    fn a_mean_lies_between_the_lowest_and_the_highest(seeds in seeds()) {
        let planned = plan(&seeds);
        let bounds = |root| {
            let (card, tallies) = build(&planned, root);
            score(&card, &tallies).root().bounds
        };
        let (low, mean, high) = (bounds(Minimum), bounds(WeightedAverage), bounds(Maximum));
        prop_assert_eq!(low.is_some(), high.is_some());
        if let (Some(low), Some(mean), Some(high)) = (low, mean, high) {
            prop_assert!(low.0 <= mean.0 && mean.0 <= high.0 && low.1 <= mean.1 && mean.1 <= high.1);
            prop_assert!(0.0 <= mean.0 && mean.0 <= mean.1 && mean.1 <= 1.0);
        }
    }

    #[test]
    fn removing_what_does_not_apply_changes_nothing(seeds in seeds()) {
        let planned = plan(&seeds);
        let (card, tallies) = build(&planned, WeightedAverage);
        let full = score(&card, &tallies);
        let mut smaller = ScoreTree::new(group("0", 1.0, 0.5, WeightedAverage));
        let mut ids = vec![Some(smaller.root())];
        let mut kept = vec![CaseTally::NOT_APPLICABLE];
        for (parent, node, tally) in &planned {
            // A hard gate without a case still matters: the levels above can't pass.
            let idle = *tally == CaseTally::NOT_APPLICABLE
                && matches!(node.kind, ScorecardNodeKind::Benchmark { criticality } if criticality != HardGate);
            ids.push((!idle).then(|| {
                kept.push(*tally);
                smaller.add_node(ids[*parent].expect("groups stay"), node.clone()).expect("a group")
            }));
        }
        let less = score(&smaller, &kept);
        for (index, id) in ids.iter().enumerate().filter_map(|(index, id)| Some((index, (*id)?))) {
            let before = full.node(card.ids().nth(index).expect("a node")).expect("a node");
            let after = less.node(id).expect("a node");
            prop_assert_eq!(before.bounds, after.bounds);
            prop_assert_eq!(before.status, after.status);
            prop_assert_eq!(before.gates_failed_below, after.gates_failed_below);
            prop_assert_eq!(before.covered_weight, after.covered_weight);
            prop_assert_eq!(before.coverage, after.coverage);
        }
    }

    #[test]
    fn the_order_of_siblings_changes_nothing(seeds in seeds()) {
        let planned = plan(&seeds);
        let (card, tallies) = build(&planned, WeightedAverage);
        let forward = score(&card, &tallies);
        // The same tree, level by level, each level in reverse order.
        let mut turned = ScoreTree::new(group("0", 1.0, 0.5, WeightedAverage));
        let mut given = vec![CaseTally::NOT_APPLICABLE];
        let mut waiting = vec![(0, turned.root())];
        while let Some((at, id)) = waiting.pop() {
            for (index, (_, node, tally)) in planned.iter().enumerate().rev().filter(|(_, (up, ..))| *up == at) {
                let below = turned.add_node(id, node.clone()).expect("a group");
                given.push(*tally);
                waiting.push((index + 1, below));
            }
        }
        let backward = score(&turned, &given);
        for id in card.ids() {
            let before = forward.node(id).expect("a node");
            let after = of(&backward, &card.node(id).expect("a node").code);
            prop_assert!(near(before.bounds, after.bounds), "{before:?} {after:?}");
            prop_assert_eq!(before.status, after.status);
            prop_assert_eq!(before.gates_failed_below, after.gates_failed_below);
        }
    }

    #[test]
    fn every_answer_to_what_is_missing_lands_within_the_bounds(seeds in seeds(), answer in 0u8..=8) {
        let planned = plan(&seeds);
        let (card, tallies) = build(&planned, WeightedAverage);
        let open = score(&card, &tallies);
        let answered: Vec<CaseTally> = std::iter::once(CaseTally::NOT_APPLICABLE)
            .chain(seeds.iter().map(|seed| {
                let more = (0..seed.missing).map(|_| answer);
                CaseTally::new(seed.cases.iter().copied().chain(more).map(|case| unit(f64::from(case) / 8.0)), 0)
            }))
            .collect();
        let closed = score(&card, &answered);
        for id in card.ids() {
            let (before, after) = (open.node(id).expect("a node"), closed.node(id).expect("a node"));
            if let (Some((low, high)), Some((score, _))) = (before.bounds, after.bounds) {
                prop_assert!(low - 1e-12 <= score && score <= high + 1e-12);
            }
            if matches!(before.status, NodeStatus::Pass | NodeStatus::Fail) && before.open == 0 {
                prop_assert_eq!(before.status, after.status);
            }
        }
    }

    #[test]
    fn a_gain_is_what_the_topmost_score_rises_by(seeds in seeds()) {
        let planned = plan(&seeds);
        let (card, mut tallies) = build(&planned, WeightedAverage);
        // Gains count missing results as 0.
        for tally in &mut tallies {
            if tally.missing() > 0 {
                *tally = CaseTally::new([unit(0.25)], 0);
            }
        }
        let before = score(&card, &tallies);
        let gains = before.gains();
        for id in card.ids() {
            let benchmark = matches!(card.node(id).expect("a node").kind, ScorecardNodeKind::Benchmark { .. });
            if !benchmark || before.node(id).expect("a node").bounds.is_none() {
                continue;
            }
            let mut raised = tallies.clone();
            raised[id.index()] = mean(1.0);
            let top = |scores: &ScorecardScores<'_>| scores.root().bounds.map_or(0.0, |(low, _)| low);
            let rise = top(&score(&card, &raised)) - top(&before);
            let said = gains.iter().find(|gain| gain.node == id).map_or(0.0, |gain| gain.gain);
            prop_assert!((rise - said).abs() < 1e-9, "{rise} {said}");
        }
    }
}
