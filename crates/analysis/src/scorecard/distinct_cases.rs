//! Number of cases at or below each node of a scorecard; every case counts once.

use std::collections::BTreeMap;

use assize_rubric::{Criticality, DistinctCases};
use assize_store::{ScorecardInfo, ScorecardPartKind};

/// Results of one case at or below a node.
#[derive(Debug, Clone, Copy, Default)]
struct CaseResults {
    has_some: bool,
    lacks_some: bool,
}

/// Counts the cases of the counting parts at or below each node. `results` returns the cases to which a
/// benchmark applies, by the index of its node; each with whether it has a result.
pub fn count_distinct_cases<K: Ord + Clone>(
    info: &ScorecardInfo,
    results: impl Fn(usize) -> Vec<(K, bool)>,
) -> Vec<DistinctCases> {
    let mut counts = vec![DistinctCases::default(); info.nodes.len()];
    let mut waiting: Vec<BTreeMap<K, CaseResults>> = vec![BTreeMap::new(); info.nodes.len()];

    // Every node comes after its parent, so the reverse order visits children first.
    for (place, node) in info.nodes.iter().enumerate().rev() {
        let mut cases = std::mem::take(&mut waiting[place]);
        if node.kind == ScorecardPartKind::Benchmark {
            for (case, has_result) in results(place) {
                let found = cases.entry(case).or_default();
                found.has_some |= has_result;
                found.lacks_some |= !has_result;
            }
        }

        for found in cases.values() {
            let count = &mut counts[place];
            match (found.has_some, found.lacks_some) {
                (_, false) => count.complete += 1,
                (true, true) => count.partial += 1,
                (false, true) => count.open += 1,
            }
        }

        // An improvement signal has no effect on scores, so its ungraded cases leave no score open.
        if node.criticality == Some(Criticality::ImprovementSignal) {
            continue;
        }

        let Some(above) = node.parent.and_then(|parent| waiting.get_mut(parent)) else { continue };
        if above.is_empty() {
            *above = cases;
            continue;
        }
        for (case, found) in cases {
            let known = above.entry(case).or_default();
            known.has_some |= found.has_some;
            known.lacks_some |= found.lacks_some;
        }
    }

    counts
}
