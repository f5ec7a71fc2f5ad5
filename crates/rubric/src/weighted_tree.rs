//! The mean of a weighted tree.

use crate::Weight;
use crate::sum::{CompensatedSum, weight_scale};

/// A tree of weighted nodes whose leaves have scores.
#[derive(Debug, Clone, PartialEq)]
pub enum WeightedTree {
    /// A leaf with a score.
    Leaf {
        /// Its weight among its siblings; not negative.
        weight: Weight,
        /// 0 to 1. `None` if the leaf does not apply; its weight is then redistributed among its siblings.
        score: Option<f64>,
    },
    /// An inner node, whose score is the mean of its children.
    Branch {
        /// Its weight among its siblings; not negative.
        weight: Weight,
        /// The nodes below.
        children: Vec<WeightedTree>,
    },
}

impl WeightedTree {
    fn weight(&self) -> f64 {
        match self {
            Self::Leaf { weight, .. } | Self::Branch { weight, .. } => weight.get(),
        }
    }
}

/// Returns the weighted mean of a tree: each branch is `sum(w s) / sum(w)` over the children that have a
/// score. `None` if no leaf applies or all weights are zero.
pub fn weighted_mean(tree: &WeightedTree) -> Option<f64> {
    match tree {
        WeightedTree::Leaf { score, .. } => *score,
        WeightedTree::Branch { children, .. } => {
            let unit = weight_scale(children.iter().map(WeightedTree::weight));
            let (mut weights, mut total) = (CompensatedSum::default(), CompensatedSum::default());
            for child in children {
                if let Some(score) = weighted_mean(child) {
                    weights.add(child.weight() / unit);
                    total.add(child.weight() / unit * score);
                }
            }

            (weights.get() > 0.0).then(|| total.get() / weights.get())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(weight: f64, score: Option<f64>) -> WeightedTree {
        WeightedTree::Leaf { weight: Weight::new(weight).expect("finite"), score }
    }

    #[test]
    fn what_does_not_apply_hands_its_weight_to_its_siblings() {
        let inner = WeightedTree::Branch {
            weight: Weight::new(2.0).expect("finite"),
            children: vec![leaf(1.0, Some(1.0)), leaf(5.0, None)],
        };
        let tree = WeightedTree::Branch { weight: Weight::ONE, children: vec![inner, leaf(1.0, Some(0.25))] };
        assert_eq!(weighted_mean(&tree), Some(0.75));
    }

    #[test]
    fn a_tree_without_weight_or_leaves_has_no_mean() {
        let zero = WeightedTree::Branch { weight: Weight::ONE, children: vec![leaf(0.0, Some(1.0))] };
        assert_eq!(weighted_mean(&zero), None);
        assert_eq!(weighted_mean(&WeightedTree::Branch { weight: Weight::ONE, children: vec![] }), None);
    }
}
