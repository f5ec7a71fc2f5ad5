//! Identities of criteria, scales, panels and money.

use super::{Identify, IdentityWriter};
use crate::{
    Band, Bands, Cost, Criterion, CriterionId, EscalateWhen, EvidencePolicy, Gate, GraderStanding,
    JudgeIdentity, Judging, LabelOutcome, Lines, Normalisation, Operator, PairScores, PanelRule, RawScore,
    RepeatPlan, RepeatStrategy, Scale, Ties, Tokens, Truncate, Unit, Usd, Weight,
};

impl Identify for Weight {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.get());
    }
}

impl Identify for Unit {
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
        identity.number(self.pico());
    }
}

impl Identify for Cost {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(&self.at_least());
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

impl Identify for Lines {
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

impl Identify for Scale {
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

impl Identify for Bands {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(self.as_slice());
    }
}

impl Identify for Band {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { low, high, text } = self;
        identity.field(low);
        identity.field(high);
        identity.field(text);
    }
}

impl Identify for Operator {
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

impl Identify for GraderStanding {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { weight, required, min_score, negate } = self;
        identity.field(weight);
        identity.field(required);
        identity.field(min_score);
        identity.field(negate);
    }
}

impl Identify for Judging {
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

impl Identify for Truncate {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for RepeatPlan {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { count, strategy, early_stop, cost_limit_usd, lines } = self;
        identity.field(count);
        identity.field(strategy);
        identity.field(early_stop);
        identity.field(cost_limit_usd);
        identity.field(lines);
    }
}

impl Identify for RepeatStrategy {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for PanelRule {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for Ties {
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

impl Identify for Normalisation {
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
