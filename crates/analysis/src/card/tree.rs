//! The stored tree of a scorecard as a tree that can be scored.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{
    Card, CardError, CardKind, CardNode, CardScores, CaseTally, MissingPolicy, NodeId, Weight, score_card,
};
use assize_store::{CardInfo, CardNodeInfo, CardPartKind};

/// A tree with the place of each node in the list it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct CardTree {
    /// The tree.
    pub card: Card,
    /// For each node, by its number, the place of its part.
    pub places: Vec<usize>,
}

/// Why a stored tree can't be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CardTreeError {
    /// No such weight set.
    #[error("there is no weight set `{wanted}`; there are: {known}")]
    NoSuchSet {
        /// The name asked for.
        wanted: String,
        /// Those there are.
        known: String,
    },
    /// The index has no weight sets at all.
    #[error("the scorecard has no index with weight sets")]
    NoSets,
    /// A part stands before the one it stands under.
    #[error("the stored tree is damaged at `{0}`")]
    Damaged(String),
    /// A part can't stand where it does.
    #[error("the stored tree is damaged: {0}")]
    Card(#[from] CardError),
}

impl CardTree {
    /// The trees of a scorecard: one below its index, and one for each rubric on top. `set` names
    /// another weight set than the one that was run with.
    ///
    /// # Errors
    /// When there is no such set, or the stored tree is damaged.
    pub fn all(info: &CardInfo, set: Option<&str>) -> Result<Vec<Self>, CardTreeError> {
        let weights = weights(info, set)?;
        let mut trees: Vec<Self> = Vec::new();
        // For each part the tree and the node it became.
        let mut made: Vec<(usize, NodeId)> = Vec::with_capacity(info.nodes.len());
        for (place, node) in info.nodes.iter().enumerate() {
            let Some(parent) = node.parent else {
                let card = Card::new(card_node(node, Weight::ONE));
                made.push((trees.len(), card.root()));
                trees.push(Self { card, places: vec![place] });
                continue;
            };
            let Some(&(tree, above)) = made.get(parent) else {
                return Err(CardTreeError::Damaged(node.code.clone()));
            };
            let below_index = info.nodes[parent].kind == CardPartKind::Index;
            let weight = weights.as_ref().filter(|_| below_index).and_then(|set| set.get(node.code.as_str()));
            let id = trees[tree].card.add(above, card_node(node, weight.copied().unwrap_or(node.weight)))?;
            trees[tree].places.push(place);
            made.push((tree, id));
        }
        Ok(trees)
    }

    /// The part of a tree at and below one place; `None` if there is no such place.
    ///
    /// # Errors
    /// When the stored tree is damaged.
    pub fn below(info: &CardInfo, place: usize) -> Result<Option<Self>, CardTreeError> {
        let Some(root) = info.nodes.get(place) else { return Ok(None) };
        let card = Card::new(card_node(root, Weight::ONE));
        let mut made = HashMap::from([(place, card.root())]);
        let mut tree = Self { card, places: vec![place] };
        for (at, node) in info.nodes.iter().enumerate().skip(place + 1) {
            let Some(above) = node.parent.and_then(|parent| made.get(&parent).copied()) else { continue };
            made.insert(at, tree.card.add(above, card_node(node, node.weight))?);
            tree.places.push(at);
        }
        Ok(Some(tree))
    }

    /// The scores of its nodes; `tally` gives the cases of a part by its place.
    pub fn scores(&self, tally: impl Fn(usize) -> CaseTally, missing: MissingPolicy) -> CardScores<'_> {
        let place = |id: NodeId| self.places.get(id.index()).copied();
        score_card(&self.card, |id| place(id).map_or(CaseTally::NOT_APPLICABLE, &tally), missing)
    }

    /// The node that a part became.
    pub fn node(&self, place: usize) -> Option<NodeId> {
        let at = self.places.iter().position(|known| *known == place)?;
        self.card.ids().nth(at)
    }
}

/// The weights of a set by component; `None` when none was asked for.
fn weights<'i>(
    info: &'i CardInfo,
    set: Option<&str>,
) -> Result<Option<HashMap<&'i str, Weight>>, CardTreeError> {
    let Some(wanted) = set else { return Ok(None) };
    if let Some(found) = info.weight_sets.iter().find(|set| set.name == wanted) {
        return Ok(Some(found.weights.iter().map(|(code, weight)| (code.as_str(), *weight)).collect()));
    }
    if info.weight_sets.is_empty() {
        return Err(CardTreeError::NoSets);
    }
    let known: Vec<&str> = info.weight_sets.iter().map(|set| set.name.as_str()).collect();
    Err(CardTreeError::NoSuchSet { wanted: wanted.to_owned(), known: known.join(", ") })
}

fn card_node(node: &CardNodeInfo, weight: Weight) -> CardNode {
    let kind = match node.kind {
        CardPartKind::Benchmark => CardKind::Benchmark { criticality: node.criticality.unwrap_or_default() },
        CardPartKind::Index | CardPartKind::Rubric => {
            CardKind::Group { aggregation: node.aggregation.unwrap_or_default(), hard_gate: node.hard_gate }
        }
    };
    CardNode { code: Arc::from(node.code.as_str()), weight, line: node.threshold, kind }
}
