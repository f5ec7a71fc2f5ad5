//! Stored identities of the inputs of targets and of given answers.

use assize_rubric::{Identify, IdentityWriter};

use crate::{InputMessage, TargetAnswer, TargetDescription, TargetInput, TargetInputPart, TurnInput};

impl Identify for TargetInput {
    fn identify(&self, identity: &mut IdentityWriter) {
        // The location of the eval file is not part of the input. Variables are part of it for some targets
        // only, which is not known here.
        let Self { case_id, attempt, messages, turn, vars: _, guidelines, workdir, suite_folder: _ } = self;
        identity.fields(&[case_id, attempt, messages, turn, guidelines, workdir]);
    }
}

impl Identify for TurnInput {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { number, of, opening } = self;
        identity.fields(&[number, of, opening]);
    }
}

impl Identify for InputMessage {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { role, parts } = self;

        identity.fields(&[role, parts]);
    }
}

impl Identify for TargetInputPart {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Text(text) => {
                identity.text("text");
                identity.field(text);
            }
            Self::File { path, display, text } => {
                identity.text("file");
                identity.fields(&[path, display, text]);
            }
            Self::Image { path, media_type, bytes } => {
                identity.text("image");
                identity.fields(&[path, media_type]);
                identity.bytes(bytes);
            }
        }
    }
}

impl Identify for TargetAnswer {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self {
            text,
            is_json,
            messages,
            tokens,
            cost,
            duration,
            model,
            finish_reason,
            guardrails,
            spans,
            tool_calls,
            file_changes,
            workspace,
            attempts,
            // Where an answer comes from does not change it.
            recalled: _,
            answered_by,
        } = self;

        identity.fields(&[
            text, messages, tokens, cost, duration, model, tool_calls, file_changes, workspace, attempts,
            answered_by,
        ]);

        // Given answers have no finish reason, so their identities did not change when it was added.
        if finish_reason.is_some() {
            identity.field(finish_reason);
        }
        // Only few targets return values.
        if *is_json {
            identity.text("JSON");
        }
        // Only few targets report these.
        for (name, told) in [("guardrails", guardrails), ("spans", spans)] {
            if told.is_some() {
                identity.text(name);
                identity.field(told);
            }
        }
    }
}

impl Identify for TargetDescription {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, kind, model, max_output_tokens } = self;
        identity.field(name);
        identity.text(kind.name());
        identity.fields(&[model, max_output_tokens]);
    }
}
