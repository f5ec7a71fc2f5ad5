//! Identity of the question that a benchmark of a scorecard asks.

use assize_rubric::{Identify, IdentityWriter};

use crate::{Applicability, Behaviour, EvaluatorType, Guidelines, ScoringScale};

impl Identify for EvaluatorType {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for Behaviour {
    fn identify(&self, identity: &mut IdentityWriter) {
        // The failure limit only rejects replies; it is not part of the question.
        let Self { prompt, guidelines, applicability, scale, pass_conditions, failure_limit: _ } = self;
        identity.field(prompt);
        identity.field(guidelines);
        identity.field(applicability);
        identity.field(scale);

        identity.field(pass_conditions);
    }
}

impl Identify for Guidelines {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self {
            focus_areas,
            acceptable_deviations,
            critical_requirements,
            evidence_requirements,
            evidence_is_advisory,
            special_instructions,
        } = self;

        identity.field(focus_areas);
        identity.field(acceptable_deviations);
        identity.field(critical_requirements);
        identity.field(evidence_requirements);
        // Only if it is set: it changes what counts, but not the question that people's labels are bound to.
        if *evidence_is_advisory {
            identity.text("advisory");
        }

        identity.field(special_instructions);
    }
}

impl Identify for Applicability {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { inclusion, exclusion } = self;
        identity.field(inclusion);
        identity.field(exclusion);
    }
}

impl Identify for ScoringScale {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { min, max, descriptions, formula } = self;
        identity.field(min);
        identity.field(max);
        identity.field(descriptions);
        identity.field(formula);
    }
}
