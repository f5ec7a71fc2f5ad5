//! Identity of the question that a benchmark of a scorecard asks.

use assize_rubric::{Identify, IdentityWriter, identify_named, identify_struct};

use crate::{Applicability, Behaviour, EvaluatorType, Guidelines, ScoringScale};

// The failure limit only rejects replies; it is not part of the question.
identify_struct!(Behaviour { prompt, guidelines, applicability, scale, pass_conditions; not failure_limit });

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
        // Written only if it is set: the setting changes which evidence counts, but not the question that labels are
        // bound to.
        if *evidence_is_advisory {
            identity.text("advisory");
        }

        identity.field(special_instructions);
    }
}

identify_struct!(Applicability { inclusion, exclusion });
identify_struct!(ScoringScale { min, max, descriptions, formula });
identify_named!(EvaluatorType);
