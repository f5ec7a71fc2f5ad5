//! Decision on a modified case, paired with the one on the unchanged case.

use crate::ScaleDecision;

/// Effect of a change on one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionChange {
    /// The decision is unchanged.
    None,
    /// The decision is better for the answer: met instead of unmet, a higher range. Reversed for criteria that
    /// cost points.
    Won,
    /// The decision is worse for the answer.
    Lost,
    /// Only one of the two decisions is "not applicable".
    Other,
    /// One of the two decisions is missing.
    Unknown,
}

/// Decision on a modified case, paired with the one on the unchanged case.
#[derive(Debug, Clone)]
pub struct DecisionPair {
    /// Id of the case without the change.
    pub case: String,
    /// Suite of the case.
    pub suite: String,
    /// Label of the change; [`crate::UNCHANGED`] for a repeat of the unchanged case.
    pub label: String,
    /// Grader and criterion.
    pub criterion: (String, String),
    /// Text of the criterion.
    pub text: String,
    /// Decision on the unchanged case.
    pub before: ScaleDecision,
    /// Decision on the modified case.
    pub after: ScaleDecision,
    /// True if meeting the criterion is worse for the answer.
    pub costs: bool,
    /// True if the criterion is met or unmet rather than scored.
    pub is_checklist: bool,
}

impl DecisionPair {
    /// Returns the effect of the change.
    pub fn change(&self) -> DecisionChange {
        Self::compare(self.before, self.after, self.costs)
    }

    /// Returns the effect of a change from `before` to `after`; `costs` is as in [`DecisionPair::costs`].
    pub(crate) fn compare(before: ScaleDecision, after: ScaleDecision, costs: bool) -> DecisionChange {
        match (before, after) {
            (ScaleDecision::Ungraded, _) | (_, ScaleDecision::Ungraded) => DecisionChange::Unknown,
            (ScaleDecision::Step { at: before, .. }, ScaleDecision::Step { at: after, .. }) => {
                match before.cmp(&after) {
                    std::cmp::Ordering::Equal => DecisionChange::None,
                    std::cmp::Ordering::Less if costs => DecisionChange::Lost,
                    std::cmp::Ordering::Greater if !costs => DecisionChange::Lost,
                    _ => DecisionChange::Won,
                }
            }
            (before, after) if before == after => DecisionChange::None,
            _ => DecisionChange::Other,
        }
    }

    /// Returns true if the decision could have changed to one that is better for the answer.
    pub fn could_win(&self) -> bool {
        match self.before {
            ScaleDecision::Step { at, top } => {
                if self.costs {
                    at > 0
                } else {
                    at < top
                }
            }
            _ => false,
        }
    }

    /// Returns true if the decision could have changed to one that is worse for the answer.
    pub fn could_lose(&self) -> bool {
        match self.before {
            ScaleDecision::Step { at, top } => {
                if self.costs {
                    at < top
                } else {
                    at > 0
                }
            }
            _ => false,
        }
    }
}
