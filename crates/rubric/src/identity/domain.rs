//! Identities of criteria, scales, panels and money.

use super::{Identify, IdentityWriter};
use crate::{
    Cost, Criterion, CriterionId, CriterionOperator, CriterionScale, EscalateWhen, EvidencePolicy, Gate,
    GraderWeighting, JudgeIdentity, JudgingMode, LabelOutcome, MessageRole, NormalisationFormula, PairScores,
    PanelRule, RawScore, ScoreBand, ScoreBands, TiePolicy, Tokens, TrialPlan, TrialStrategy, TruncationMode,
    UnitInterval, Usd, VerdictThresholds, Weight,
};

macro_rules! names {
    ($($named:ty),*) => {$(
        impl Identify for $named {
            fn identify(&self, identity: &mut IdentityWriter) {
                identity.text(self.name());
            }
        }
    )*};
}

names!(CriterionOperator, EvidencePolicy, EscalateWhen, MessageRole, PanelRule);
names!(TiePolicy, TrialStrategy, TruncationMode);

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
        identity.fields(&[input, cached, output]);
    }
}

impl Identify for VerdictThresholds {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.fields(&[&self.pass(), &self.borderline()]);
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
        identity.fields(&[id, text, weight, scale, gate, operator, may_not_apply]);
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
        identity.fields(&[low, high, text]);
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
        identity.fields(&[weight, required, min_score, negate]);
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

impl Identify for TrialPlan {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { count, strategy, early_stop, cost_limit_usd, lines } = self;
        identity.fields(&[count, strategy, early_stop, cost_limit_usd, lines]);
    }
}

impl Identify for PairScores {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { tie, inconsistent } = self;
        identity.fields(&[tie, inconsistent]);
    }
}

impl Identify for JudgeIdentity {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, model, version, prompt_hash } = self;
        identity.fields(&[name, model, version, prompt_hash]);
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
