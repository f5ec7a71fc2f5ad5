//! Scoring a scorecard of a hundred thousand benchmarks, and computing the possible gains, compared with the
//! plainest loop over the same numbers.

use std::sync::Arc;

use assize_rubric::{
    CaseTally, Criticality, MissingPolicy, ScoreTree, ScorecardAggregation, ScorecardNode, ScorecardNodeId,
    ScorecardNodeKind, UnitInterval, Weight, score_card,
};
use divan::{Bencher, black_box, counter::ItemsCount};

fn main() {
    divan::main();
}

/// Ten components with a hundred rubrics each, and a hundred benchmarks per rubric.
const LEAVES: usize = 100_000;

fn node(code: String, kind: ScorecardNodeKind) -> ScorecardNode {
    let line = UnitInterval::new(0.8).expect("in range");
    ScorecardNode { code: Arc::from(code), weight: Weight::new(0.01).expect("finite"), line, kind }
}

fn card() -> (ScoreTree, Vec<CaseTally>) {
    let group =
        ScorecardNodeKind::Group { aggregation: ScorecardAggregation::WeightedAverage, hard_gate: false };
    let mut card = ScoreTree::new(node("TOP".to_owned(), group));
    let mut tallies = vec![CaseTally::NOT_APPLICABLE];
    for component in 0..10 {
        let above = card.add_node(card.root(), node(format!("A{component}"), group)).expect("a group");
        tallies.push(CaseTally::NOT_APPLICABLE);
        for rubric in 0..100 {
            let leaf = card.add_node(above, node(format!("A{component}-{rubric}"), group)).expect("a group");
            tallies.push(CaseTally::NOT_APPLICABLE);
            for at in 0..LEAVES / 1_000 {
                let criticality = if at == 0 { Criticality::HardGate } else { Criticality::ThresholdGate };
                let benchmark =
                    node(format!("A{component}-{rubric}-{at}"), ScorecardNodeKind::Benchmark { criticality });
                card.add_node(leaf, benchmark).expect("a group");
                let score = UnitInterval::new(if at % 7 == 1 { 0.5 } else { 1.0 }).expect("in range");
                tallies.push(CaseTally::new([score], 0));
            }
        }
    }
    (card, tallies)
}

fn of(tallies: &[CaseTally], id: ScorecardNodeId) -> CaseTally {
    tallies.get(id.index()).copied().unwrap_or(CaseTally::NOT_APPLICABLE)
}

#[divan::bench]
fn aggregate(bencher: Bencher<'_, '_>) {
    let (card, tallies) = card();
    bencher.counter(ItemsCount::new(LEAVES)).bench_local(|| {
        let scores = score_card(black_box(&card), |id| of(&tallies, id), MissingPolicy::Incomplete);
        black_box(scores.root().score())
    });
}

#[divan::bench]
fn contributions_of_all_nodes(bencher: Bencher<'_, '_>) {
    let (card, tallies) = card();
    let scores = score_card(&card, |id| of(&tallies, id), MissingPolicy::Incomplete);
    bencher.counter(ItemsCount::new(LEAVES)).bench_local(|| black_box(scores.contributions()));
}

#[divan::bench]
fn what_would_raise_it_most(bencher: Bencher<'_, '_>) {
    let (card, tallies) = card();
    let scores = score_card(&card, |id| of(&tallies, id), MissingPolicy::Incomplete);
    bencher.counter(ItemsCount::new(LEAVES)).bench_local(|| black_box(scores.gains()));
}

/// The weighted mean of the same scores, level by level, without bounds, gates and coverage.
#[divan::bench]
fn naive_same_data(bencher: Bencher<'_, '_>) {
    let (card, tallies) = card();
    let given = score_card(&card, |id| of(&tallies, id), MissingPolicy::Incomplete);
    let scores: Vec<Option<f64>> =
        card.ids().map(|id| given.node(id).and_then(assize_rubric::NodeScore::score)).collect();
    bencher.counter(ItemsCount::new(LEAVES)).bench_local(|| {
        let mut found = black_box(&scores).clone();
        for id in card.ids().rev() {
            let (mut weight, mut total) = (0.0, 0.0);
            for child in card.children(id) {
                if let (Some(node), Some(score)) = (card.node(child), found[child.index()]) {
                    weight += node.weight.get();
                    total += node.weight.get() * score;
                }
            }
            if weight > 0.0 {
                found[id.index()] = Some(total / weight);
            }
        }
        black_box(found[0])
    });
}
