//! Identities of criteria, scales, panels and money.

use super::{Identify, IdentityWriter};
use crate::{
    Cost, Criterion, CriterionId, CriterionOperator, CriterionScale, EscalateWhen, EvidencePolicy, Gate,
    GraderWeighting, JudgeIdentity, JudgingMode, LabelOutcome, NormalisationFormula, PairScores, PanelRule,
    RawScore, ScoreBand, ScoreBands, TiePolicy, Tokens, TrialPlan, TrialStrategy, TruncationMode,
    UnitInterval, Usd, VerdictThresholds, Weight, identify_enum, identify_named, identify_struct,
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

identify_struct!(Tokens { input, cached, output });

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

identify_struct!(Criterion { id, text, weight, scale, gate, operator, may_not_apply });
identify_enum!(CriterionScale { Checklist = "checklist", Bands(bands) = "bands" });

impl Identify for ScoreBands {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.field(self.as_slice());
    }
}

identify_struct!(ScoreBand { low, high, text });
identify_enum!(CriterionOperator { Correctness = "correctness", Contradiction = "contradiction" });
identify_enum!(Gate {
    Met = "met", PassLine = "pass_line", MinRaw(score) = "min_raw", MinValue(value) = "min_value",
});

identify_struct!(GraderWeighting { weight, required, min_score, negate });
identify_enum!(JudgingMode { PerCriterion = "per_criterion", Batched(most) = "batched" });
identify_enum!(EvidencePolicy { Checked = "checked", Required = "required" });
identify_struct!(TrialPlan { count, strategy, early_stop, cost_limit_usd, thresholds });
identify_struct!(PairScores { tie, inconsistent });
identify_struct!(JudgeIdentity { name, model, version, prompt_hash });
identify_enum!(LabelOutcome {
    Met = "met", Unmet = "unmet", Score(score) = "score", NotApplicable = "not_applicable",
    Unsure = "unsure",
});

impl Identify for NormalisationFormula {
    /// The formula as written.
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(&self.to_string());
    }
}

identify_named!(TruncationMode, TrialStrategy, PanelRule, TiePolicy, EscalateWhen);
