//! Stored identities of the inputs of targets and of given answers.

use assize_rubric::{Identify, IdentityWriter, identify_struct};

use crate::{InputMessage, TargetAnswer, TargetDescription, TargetInput, TargetInputPart, TurnInput};

// The location of the eval file is not part of the input. Variables are part of it only for some targets, which write
// them themselves.
identify_struct!(TargetInput { case_id, attempt, messages, turn, guidelines, workdir; not vars, suite_folder });
identify_struct!(TurnInput { number, of, opening });
identify_struct!(InputMessage { role, parts });

impl Identify for TargetInputPart {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Text(text) => {
                identity.text("text");
                identity.field(text);
            }
            Self::File { path, display, text } => {
                identity.text("file");
                identity.field(path);
                identity.field(display);
                identity.field(text);
            }
            Self::Image { path, media_type, bytes } => {
                identity.text("image");
                identity.field(path);
                identity.field(media_type);
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

        identity.field(text);
        identity.field(messages);
        identity.field(tokens);
        identity.field(cost);
        identity.field(duration);
        identity.field(model);
        identity.field(tool_calls);
        identity.field(file_changes);
        identity.field(workspace);
        identity.field(attempts);

        identity.field(answered_by);

        // Given answers have no finish reason, so their identities did not change when it was added.
        if finish_reason.is_some() {
            identity.field(finish_reason);
        }
        // Only few targets return values.
        if *is_json {
            identity.text("JSON");
        }
        // Only few targets report these.
        for (name, value) in [("guardrails", guardrails), ("spans", spans)] {
            if value.is_some() {
                identity.text(name);
                identity.field(value);
            }
        }
    }
}

impl Identify for TargetDescription {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, kind, model, max_output_tokens } = self;
        identity.field(name);
        identity.text(kind.name());
        identity.field(model);
        identity.field(max_output_tokens);
    }
}
