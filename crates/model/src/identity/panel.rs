//! Identities of panels.

use assize_rubric::{Identify, IdentityWriter};

use crate::{Escalation, PanelJudge, PanelSpec, ScoringMethod};

impl Identify for PanelSpec {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { judges, repeats, combine, ties, temperature, escalate, scoring } = self;
        identity.field(judges);
        identity.field(repeats);
        identity.field(combine);
        identity.field(ties);
        identity.field(temperature);
        identity.field(escalate);

        identity.field(scoring);
    }
}

impl Identify for PanelJudge {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, weight } = self;
        identity.field(name);
        identity.field(weight);
    }
}

impl Identify for Escalation {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { to, when } = self;
        identity.field(to);
        identity.field(when);
    }
}

impl Identify for ScoringMethod {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(match self {
            Self::Written => "written",
            Self::Logprobs => "logprobs",
        });
    }
}
