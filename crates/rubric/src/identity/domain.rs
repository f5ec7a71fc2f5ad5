//! Identities of criteria, scales, panels and money.

use super::{Identify, IdentityWriter};
use crate::{
    Cost, Criterion, CriterionId, CriterionOperator, CriterionScale, EscalateWhen, EvidencePolicy, Gate,
    GraderWeighting, JudgeIdentity, JudgingMode, LabelOutcome, NormalisationFormula, PairScores, PanelRule,
    RawScore, ScoreBand, ScoreBands, TiePolicy, Tokens, TrialPlan, TrialStrategy, TruncationMode,
    UnitInterval, Usd, VerdictThresholds, Weight,
};

impl Identify for Weight {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.get());
    }
}

impl Identify for UnitInterval {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.get());
    }
}

impl Identify for RawScore {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.get());
    }
}

impl Identify for Usd {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.number(self.as_pico());
    }
}

impl Identify for Cost {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.lower_bound());
        identity.number(self.unpriced_calls());
    }
}

impl Identify for Tokens {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { input, cached, output } = self;
        identity.field(input);
        identity.field(cached);
        identity.field(output);
    }
}

impl Identify for VerdictThresholds {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.pass());
        identity.field(&self.borderline());
    }
}

impl Identify for CriterionId {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.as_str());
    }
}

impl Identify for Criterion {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { id, text, weight, scale, gate, operator, may_not_apply } = self;
        identity.field(id);
        identity.field(text);
        identity.field(weight);
        identity.field(scale);
        identity.field(gate);
        identity.field(operator);

        identity.field(may_not_apply);
    }
}

impl Identify for CriterionScale {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Checklist => identity.text("checklist"),
            Self::Bands(bands) => {
                identity.text("bands");
                identity.field(bands);
            }
        }
    }
}

impl Identify for ScoreBands {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(self.as_slice());
    }
}

impl Identify for ScoreBand {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { low, high, text } = self;
        identity.field(low);
        identity.field(high);
        identity.field(text);
    }
}

impl Identify for CriterionOperator {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(match self {
            Self::Correctness => "correctness",
            Self::Contradiction => "contradiction",
        });
    }
}

impl Identify for Gate {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Met => identity.text("met"),
            Self::PassLine => identity.text("pass_line"),
            Self::MinRaw(score) => {
                identity.text("min_raw");
                identity.field(score);
            }
            Self::MinValue(value) => {
                identity.text("min_value");
                identity.field(value);
            }
        }
    }
}

impl Identify for GraderWeighting {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { weight, required, min_score, negate } = self;
        identity.field(weight);
        identity.field(required);
        identity.field(min_score);
        identity.field(negate);
    }
}

impl Identify for JudgingMode {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::PerCriterion => identity.text("per_criterion"),
            Self::Batched(most) => {
                identity.text("batched");
                identity.field(&most.map(std::num::NonZeroUsize::get));
            }
        }
    }
}

impl Identify for EvidencePolicy {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(match self {
            Self::Checked => "checked",
            Self::Required => "required",
        });
    }
}

impl Identify for TruncationMode {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for TrialPlan {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { count, strategy, early_stop, cost_limit_usd, lines } = self;
        identity.field(count);
        identity.field(strategy);
        identity.field(early_stop);
        identity.field(cost_limit_usd);

        identity.field(lines);
    }
}

impl Identify for TrialStrategy {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for PanelRule {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for TiePolicy {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for PairScores {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { tie, inconsistent } = self;
        identity.field(tie);
        identity.field(inconsistent);
    }
}

impl Identify for JudgeIdentity {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, model, version, prompt_hash } = self;
        identity.field(name);
        identity.field(model);
        identity.field(version);
        identity.field(prompt_hash);
    }
}

impl Identify for LabelOutcome {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Met => identity.text("met"),
            Self::Unmet => identity.text("unmet"),
            Self::Score(score) => {
                identity.text("score");
                identity.field(score);
            }
            Self::NotApplicable => identity.text("not_applicable"),
            Self::Unsure => identity.text("unsure"),
        }
    }
}

impl Identify for NormalisationFormula {
    /// The formula as written.
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(&self.to_string());
    }
}

impl Identify for EscalateWhen {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}
