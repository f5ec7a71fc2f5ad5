//! Several judges, and a judge asked several times.

use std::sync::Arc;

use assize_rubric::{PanelRule, Ties, Weight};

/// What a grader, a suite, the configuration or the command line says about a panel. Whatever is absent is left to the
/// next of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PanelSpec {
    /// The judges, each name once; empty for the one judge there would be without a panel.
    pub judges: Arc<[PanelJudge]>,
    /// How often each judge is asked, 1 to [`PanelSpec::MAX_REPEATS`].
    pub repeats: Option<u32>,
    /// How votes become one decision.
    pub combine: Option<PanelRule>,
    /// What becomes of a tie.
    pub ties: Option<Ties>,
    /// Sampling temperature of the judges, 0 to 2.
    pub temperature: Option<f64>,
    /// Who is asked where the panel is not sure.
    pub escalate: Option<Escalation>,
    /// How a decision is read out of a reply.
    pub scoring: Option<Scoring>,
}

/// A judge of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelJudge {
    /// A model name, `offline`, or a target's name.
    pub name: String,
    /// Its weight, above 0; only for [`PanelRule::Weighted`].
    pub weight: Option<Weight>,
}

/// A stronger judge for what the panel is not sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// The judge.
    pub to: String,
    /// When it is asked.
    pub when: EscalateWhen,
}

/// When a criterion goes to the stronger judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EscalateWhen {
    /// When votes differ, or a judge could not be made to answer.
    Split,
    /// Also when a judge says that it is little sure, quotes what is not there, or leaves its decision with a
    /// probability below [`EscalateWhen::SURE`].
    #[default]
    Unsure,
}

assize_rubric::named_variants!(EscalateWhen { Split = "split", Unsure = "unsure" });

impl EscalateWhen {
    /// The probability from which a decision of met or unmet counts as sure.
    pub const SURE: f64 = 0.8;
}

/// How a decision is read out of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scoring {
    /// As the judge wrote it.
    #[default]
    Written,
    /// As the probabilities of the tokens that say it make it: the expected decision.
    Logprobs,
}

impl PanelSpec {
    /// Most repeats of one judge.
    pub const MAX_REPEATS: u32 = 100;

    /// This, and whatever it leaves open from `next`.
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

    /// Why this can't be, whoever said which part of it.
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
            return Some(format!(
                "the weight of `{}` counts only by `combine: weighted`; the panel combines otherwise",
                judge.name
            ));
        }
        let escalation = self.escalate.as_ref()?;
        self.judges.iter().any(|judge| judge.name == escalation.to).then(|| {
            format!("`{}` is a judge of the panel already, so it can't be escalated to", escalation.to)
        })
    }
}
