//! Conversion of a stored scorecard tree into one that can be scored.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{
    CaseTally, MissingPolicy, ScoreTree, ScoreTreeError, ScorecardNode, ScorecardNodeId, ScorecardNodeKind,
    ScorecardScores, Weight, WeightSetError, find_weight_set, score_card,
};
use assize_store::{ScorecardInfo, ScorecardNodeInfo, ScorecardPartKind};

/// A tree with the index of each node in the stored list.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardTree {
    /// Tree for scoring.
    pub card: ScoreTree,
    /// Index in the stored list for each node, by node number.
    pub places: Vec<usize>,
    /// True for the tree of an index that is incomplete without cases of every component.
    pub needs_components: bool,
}

/// Reason why a stored tree can't be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScorecardTreeError {
    /// There is no such weight set.
    #[error(transparent)]
    WeightSet(#[from] WeightSetError),
    /// A node comes before its parent.
    #[error("the stored tree is damaged at `{0}`")]
    Damaged(String),
    /// A node is not allowed under its parent.
    #[error("the stored tree is damaged: {0}")]
    Card(#[from] ScoreTreeError),
}

impl ScorecardTree {
    /// Builds the trees of a scorecard: one below its index, and one for each top-level rubric. `set` names a
    /// weight set to use instead of the run's.
    ///
    /// # Errors
    /// If there is no such set, or the stored tree is damaged.
    pub fn build_all(info: &ScorecardInfo, set: Option<&str>) -> Result<Vec<Self>, ScorecardTreeError> {
        let weights = weights_of_set(info, set)?;
        let mut trees: Vec<Self> = Vec::new();

        // Tree and node id of each stored node.
        let mut made: Vec<(usize, ScorecardNodeId)> = Vec::with_capacity(info.nodes.len());
        for (place, node) in info.nodes.iter().enumerate() {
            let Some(parent) = node.parent else {
                let card = ScoreTree::new(card_node(node, Weight::ONE));
                made.push((trees.len(), card.root()));
                let needs_components = node.kind == ScorecardPartKind::Index && !node.optional;
                trees.push(Self { card, places: vec![place], needs_components });
                continue;
            };

            let Some(&(tree, above)) = made.get(parent) else {
                return Err(ScorecardTreeError::Damaged(node.code.clone()));
            };
            let below_index = info.nodes[parent].kind == ScorecardPartKind::Index;
            let weight = weights.as_ref().filter(|_| below_index).and_then(|set| set.get(node.code.as_str()));
            let id =
                trees[tree].card.add_node(above, card_node(node, weight.copied().unwrap_or(node.weight)))?;

            trees[tree].places.push(place);
            made.push((tree, id));
        }

        Ok(trees)
    }

    /// Builds the subtree at one index; `None` if the index is out of range.
    ///
    /// # Errors
    /// If the stored tree is damaged.
    pub fn build_subtree(info: &ScorecardInfo, place: usize) -> Result<Option<Self>, ScorecardTreeError> {
        let Some(root) = info.nodes.get(place) else { return Ok(None) };
        let card = ScoreTree::new(card_node(root, Weight::ONE));
        let mut made = HashMap::from([(place, card.root())]);
        let needs_components = root.kind == ScorecardPartKind::Index && !root.optional;
        let mut tree = Self { card, places: vec![place], needs_components };
        for (at, node) in info.nodes.iter().enumerate().skip(place + 1) {
            let Some(above) = node.parent.and_then(|parent| made.get(&parent).copied()) else { continue };
            made.insert(at, tree.card.add_node(above, card_node(node, node.weight))?);
            tree.places.push(at);
        }

        Ok(Some(tree))
    }

    /// Computes the scores of all nodes. `tally` returns the cases of a stored node by its index.
    pub fn scores(&self, tally: impl Fn(usize) -> CaseTally, missing: MissingPolicy) -> ScorecardScores<'_> {
        let place = |id: ScorecardNodeId| self.places.get(id.index()).copied();
        let scores =
            score_card(&self.card, |id| place(id).map_or(CaseTally::NOT_APPLICABLE, &tally), missing);
        if self.needs_components { scores.with_required_children() } else { scores }
    }

    /// Returns the node id of a stored node.
    pub fn node(&self, place: usize) -> Option<ScorecardNodeId> {
        let at = self.places.iter().position(|known| *known == place)?;
        self.card.ids().nth(at)
    }
}

/// Returns the weights of a set by component; `None` if no set was requested.
fn weights_of_set<'i>(
    info: &'i ScorecardInfo,
    set: Option<&str>,
) -> Result<Option<HashMap<&'i str, Weight>>, ScorecardTreeError> {
    let Some(wanted) = set else { return Ok(None) };
    let names: Vec<&str> = info.weight_sets.iter().map(|set| set.name.as_str()).collect();
    let found = &info.weight_sets[find_weight_set(&names, wanted)?];

    Ok(Some(found.weights.iter().map(|(code, weight)| (code.as_str(), *weight)).collect()))
}

fn card_node(node: &ScorecardNodeInfo, weight: Weight) -> ScorecardNode {
    let kind = match node.kind {
        ScorecardPartKind::Benchmark => {
            ScorecardNodeKind::Benchmark { criticality: node.criticality.unwrap_or_default() }
        }
        ScorecardPartKind::Index | ScorecardPartKind::Rubric => ScorecardNodeKind::Group {
            aggregation: node.aggregation.unwrap_or_default(),
            hard_gate: node.hard_gate,
        },
    };
    ScorecardNode { code: Arc::from(node.code.as_str()), weight, line: node.threshold, kind }
}

#[cfg(test)]
mod tests {
    use assize_rubric::{Criticality, NodeStatus, ScorecardAggregation, UnitInterval};
    use assize_store::ScorecardWeightSet;

    use super::*;

    fn part(code: &str, kind: ScorecardPartKind, parent: Option<usize>, weight: f64) -> ScorecardNodeInfo {
        let benchmark = kind == ScorecardPartKind::Benchmark;
        ScorecardNodeInfo {
            code: code.to_owned(),
            label: None,
            kind,
            parent,
            weight: Weight::new(weight).expect("finite"),
            threshold: UnitInterval::new(0.8).expect("in range"),
            aggregation: (!benchmark).then_some(ScorecardAggregation::WeightedAverage),
            criticality: benchmark.then_some(Criticality::ThresholdGate),
            hard_gate: false,
            optional: false,
            evaluator: benchmark.then(|| "code".to_owned()),
            scale: None,
            raters: None,
            cases: u64::from(benchmark),
            cases_asked: 0,
        }
    }

    /// An index over two rubrics with a benchmark each, and a rubric outside the index.
    fn info() -> ScorecardInfo {
        use ScorecardPartKind::{Benchmark, Index, Rubric};
        let set = |name: &str, a: f64, b: f64| ScorecardWeightSet {
            name: name.to_owned(),
            weights: [("A", a), ("B", b)]
                .map(|(code, weight)| (code.to_owned(), Weight::new(weight).expect("finite")))
                .to_vec(),
        };
        ScorecardInfo {
            name: "TOP".to_owned(),
            weight_set: Some("early".to_owned()),
            weight_sets: vec![set("early", 0.5, 0.5), set("late", 0.9, 0.1)],
            nodes: vec![
                part("TOP", Index, None, 1.0),
                part("A", Rubric, Some(0), 0.5),
                part("A1", Benchmark, Some(1), 1.0),
                part("B", Rubric, Some(0), 0.5),
                part("B1", Benchmark, Some(3), 1.0),
                part("C", Rubric, None, 1.0),
            ],
        }
    }

    fn tally(place: usize) -> CaseTally {
        let score = if place == 2 { 1.0 } else { 0.5 };
        CaseTally::new([UnitInterval::new(score).expect("in range")], 0)
    }

    #[test]
    fn a_stored_tree_is_scored_under_any_of_its_weight_sets() {
        for (set, expected, status) in [
            (None, 0.75, NodeStatus::Fail),
            (Some("early"), 0.75, NodeStatus::Fail),
            (Some("late"), 0.95, NodeStatus::Pass),
        ] {
            let trees = ScorecardTree::build_all(&info(), set).expect("sound");
            assert_eq!(trees.iter().map(|tree| tree.places.len()).collect::<Vec<_>>(), [5, 1]);
            let scores = trees[0].scores(tally, MissingPolicy::Incomplete);
            let score = scores.root().score().expect("known");
            assert!((score - expected).abs() < 1e-12, "{set:?}: {score}");
            assert_eq!(scores.root().status, status);
        }
        let error = ScorecardTree::build_all(&info(), Some("never")).expect_err("no such set");
        assert_eq!(error.to_string(), "there is no weight set `never`; there are: early, late");
    }

    #[test]
    fn a_part_can_be_scored_by_itself() {
        let tree = ScorecardTree::build_subtree(&info(), 3).expect("sound").expect("there");
        assert_eq!(tree.places, [3, 4]);
        assert_eq!(tree.scores(tally, MissingPolicy::Incomplete).root().score(), Some(0.5));
        assert_eq!(ScorecardTree::build_subtree(&info(), 9), Ok(None));
    }

    #[test]
    fn a_damaged_tree_is_an_error_and_no_panic() {
        let mut info = info();
        info.nodes[1].parent = Some(4);
        assert_eq!(ScorecardTree::build_all(&info, None), Err(ScorecardTreeError::Damaged("A".to_owned())));
        info.nodes[1].parent = Some(0);
        info.nodes[3].parent = Some(2);
        assert!(matches!(ScorecardTree::build_all(&info, None), Err(ScorecardTreeError::Card(_))));
    }
}
