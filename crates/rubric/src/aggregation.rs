//! One level of a scorecard: the parts of a hierarchical rubric and what they add up to.

use serde::{Deserialize, Serialize};

use crate::{Tree, Unit, Weight, at_least, weighted_mean};

/// How the scores of the parts become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Aggregation {
    /// `sum(w s) / sum(w)`.
    #[default]
    WeightedAverage,
    /// The lowest score.
    Minimum,
    /// The highest score.
    Maximum,
}

/// One part: a benchmark of a rubric, a rubric of a component, a component of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Its weight among its siblings; not negative.
    pub weight: Weight,
    /// Its score; `None` if it does not apply, in which case its weight goes to its siblings.
    pub score: Option<Unit>,
    /// The score it must reach for the whole to pass at all; `None` if it only contributes.
    pub hard_gate: Option<Unit>,
}

/// What parts add up to.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The score, 0 to 1; `None` if no part applies or, for a weighted average, none has weight.
    pub score: Option<f64>,
    /// Indices of the parts below their hard gate.
    pub gates_failed: Vec<usize>,
}

impl Aggregate {
    /// Whether the whole passes at this line: no hard gate failed and the score reaches it, within
    /// [`TOLERANCE`](crate::TOLERANCE). What has no score does not pass.
    pub fn passes(&self, line: Unit) -> bool {
        self.gates_failed.is_empty() && self.score.is_some_and(|score| at_least(score, line.get()))
    }
}

/// Aggregates parts. A failed hard gate leaves the score as it is and denies the pass.
pub fn aggregate(parts: &[Part], aggregation: Aggregation) -> Aggregate {
    let scores = parts.iter().filter_map(|part| part.score).map(Unit::get);
    let score = match aggregation {
        Aggregation::WeightedAverage => weighted_mean(&Tree::Branch {
            weight: Weight::ONE,
            children: parts
                .iter()
                .map(|part| Tree::Leaf { weight: part.weight, score: part.score.map(Unit::get) })
                .collect(),
        }),
        Aggregation::Minimum => scores.reduce(f64::min),
        Aggregation::Maximum => scores.reduce(f64::max),
    };
    let below = |part: &Part| match (part.score, part.hard_gate) {
        (Some(score), Some(line)) => !at_least(score.get(), line.get()),
        _ => false,
    };
    let gates_failed = (0..parts.len()).filter(|&index| below(&parts[index])).collect();
    Aggregate { score, gates_failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(value: f64) -> Unit {
        Unit::new(value).expect("in range")
    }

    fn part(weight: f64, score: Option<f64>, hard_gate: Option<f64>) -> Part {
        Part {
            weight: Weight::new(weight).expect("finite"),
            score: score.map(unit),
            hard_gate: hard_gate.map(unit),
        }
    }

    #[test]
    fn a_failed_hard_gate_denies_the_pass_and_keeps_the_score() {
        let sound =
            aggregate(&[part(0.6, Some(1.0), Some(1.0)), part(0.4, Some(0.9), None)], Aggregation::default());
        assert!(sound.passes(unit(0.95)));
        let blocked = aggregate(
            &[part(0.6, Some(0.99), Some(1.0)), part(0.4, Some(0.9), None)],
            Aggregation::default(),
        );
        assert!((blocked.score.expect("known") - 0.954).abs() < 1e-12);
        assert_eq!(blocked.gates_failed, vec![0]);
        assert!(!blocked.passes(unit(0.95)));
    }

    #[test]
    fn minimum_and_maximum_look_only_at_what_applies() {
        let parts = [part(0.2, Some(0.4), None), part(0.3, None, Some(1.0)), part(0.5, Some(0.9), None)];
        assert_eq!(aggregate(&parts, Aggregation::Minimum).score, Some(0.4));
        assert_eq!(aggregate(&parts, Aggregation::Maximum).score, Some(0.9));
        assert!(aggregate(&parts, Aggregation::Maximum).gates_failed.is_empty());
    }

    #[test]
    fn nothing_to_aggregate_is_no_pass() {
        for aggregation in [Aggregation::WeightedAverage, Aggregation::Minimum, Aggregation::Maximum] {
            let empty = aggregate(&[part(1.0, None, None)], aggregation);
            assert_eq!(empty.score, None);
            assert!(!empty.passes(Unit::ZERO));
        }
    }
}
