//! Identities of given outputs, conversations and dependencies.

use assize_rubric::{Identify, IdentityWriter};

use crate::{GivenOutput, OnDependencyFailure, OnTurnFailure, TurnAggregation};

impl Identify for GivenOutput {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Text(text) => {
                identity.text("text");
                identity.field(text);
            }
            Self::Json(value) => {
                identity.text("json");
                identity.field(value);
            }
            Self::Messages(messages) => {
                identity.text("messages");
                identity.field(messages);
            }
        }
    }
}

impl Identify for TurnAggregation {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for OnTurnFailure {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for OnDependencyFailure {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}
