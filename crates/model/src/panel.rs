//! Panels of judges, and repeats of a judge.

use std::sync::Arc;

pub use assize_rubric::EscalateWhen;
use assize_rubric::{PanelRule, TiePolicy, Weight};

/// Panel settings of the command line, a grader, a suite, or the configuration, in this order of precedence.
/// Absent settings are taken from the next level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PanelSpec {
    /// Judges, each name once. Empty if the single judge applies.
    pub judges: Arc<[PanelJudge]>,
    /// Number of repeats of each judge, 1 to [`PanelSpec::MAX_REPEATS`].
    pub repeats: Option<u32>,
    /// Rule for combining votes to one decision.
    pub combine: Option<PanelRule>,
    /// Rule for ties.
    pub ties: Option<TiePolicy>,
    /// Sampling temperature of the judges, 0 to 2.
    pub temperature: Option<f64>,
    /// Escalation of uncertain decisions.
    pub escalate: Option<Escalation>,
    /// Method of reading a decision from a reply.
    pub scoring: Option<ScoringMethod>,
}

/// A judge of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelJudge {
    /// Model name, `offline`, or a target's name.
    pub name: String,
    /// Weight, above 0; only for [`PanelRule::Weighted`].
    pub weight: Option<Weight>,
}

/// Escalation of uncertain decisions to a stronger judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// Name of the judge.
    pub to: String,
    /// Condition of the escalation.
    pub when: EscalateWhen,
}

/// Method of reading a decision out of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScoringMethod {
    /// The decision as the judge wrote it.
    #[default]
    Written,
    /// The expected value of the decision, from the probabilities of the tokens that express it.
    Logprobs,
}

impl PanelSpec {
    /// Maximum number of repeats of one judge.
    pub const MAX_REPEATS: u32 = 100;

    /// Returns these settings, with absent ones taken from `next`.
    #[must_use]
    pub fn or(self, next: &Self) -> Self {
        Self {
            judges: if self.judges.is_empty() { Arc::clone(&next.judges) } else { self.judges },
            repeats: self.repeats.or(next.repeats),
            combine: self.combine.or(next.combine),
            ties: self.ties.or(next.ties),
            temperature: self.temperature.or(next.temperature),
            escalate: self.escalate.or_else(|| next.escalate.clone()),
            scoring: self.scoring.or(next.scoring),
        }
    }

    /// Returns these settings without their judges. Weights belong to the judges, so a rule that needs weights
    /// is removed too.
    #[must_use]
    pub fn without_judges(self) -> Self {
        Self { judges: Arc::default(), ..self.without_weighted() }
    }

    /// Returns these settings without a rule that needs weights.
    #[must_use]
    pub fn without_weighted(self) -> Self {
        Self { combine: self.combine.filter(|rule| *rule != PanelRule::Weighted), ..self }
    }

    /// Returns the reason why the combined settings contradict each other, if they do.
    pub fn conflict(&self) -> Option<String> {
        let weighted = self.combine == Some(PanelRule::Weighted);
        let without = self.judges.iter().find(|judge| judge.weight.is_none());
        if let Some(judge) = without.filter(|_| weighted) {
            return Some(format!(
                "`combine: weighted` needs the weight of every judge; `{}` has none",
                judge.name
            ));
        }

        if weighted && self.judges.is_empty() {
            return Some(
                "`combine: weighted` needs judges with weights, and the panel names none".to_owned(),
            );
        }

        let weighing = self.judges.iter().find(|judge| judge.weight.is_some());
        if let Some(judge) = weighing.filter(|_| !weighted) {
            return Some(format!("the weight of `{}` only counts with `combine: weighted`", judge.name));
        }

        let escalation = self.escalate.as_ref()?;
        self.judges.iter().any(|judge| judge.name == escalation.to).then(|| {
            format!("`{}` is a judge of the panel already, so it can't be escalated to", escalation.to)
        })
    }
}
