//! Builds the input of targets and judges from a case.

use std::path::Path;

use assize_grade::JudgeMaterial;
use assize_limits::IMAGE_BYTES as MAX_IMAGE_BYTES;
use assize_model::Case;
use assize_rubric::MessageBlock;
use assize_targets::{
    InputMessage, TargetAnswer, TargetError, TargetErrorKind, TargetInput, TargetInputPart,
};

use crate::tool_calls::tool_call_list;

/// The material that judges see.
pub(crate) fn material(case: &Case, answer: &TargetAnswer) -> JudgeMaterial {
    JudgeMaterial {
        question: case.question(),
        expected_outcome: case.expected_outcome.clone(),
        reference: case.reference(),
        answer: answer.text.clone(),
        file_changes: file_changes(answer),
        tool_calls: (!answer.tool_calls.is_empty()).then(|| tool_call_list(&answer.tool_calls)),
    }
}

/// Changes to files, if there are any.
pub(crate) fn file_changes(answer: &TargetAnswer) -> Option<String> {
    answer.file_changes.clone().filter(|text| !text.trim().is_empty())
}

/// The input of the target. Images are read here, so that only running cases hold them.
pub fn target_input(case: &Case, trial: u32) -> Result<TargetInput, TargetError> {
    let mut messages = Vec::with_capacity(case.input.len());
    for message in &case.input {
        let mut parts = Vec::with_capacity(message.blocks.len());
        for block in &message.blocks {
            parts.push(match block {
                MessageBlock::Text(text) => TargetInputPart::Text(text.clone()),
                MessageBlock::Json(value) => TargetInputPart::Text(serde_json_text(value)),
                MessageBlock::File { written, path, text } => {
                    TargetInputPart::File { path: path.clone(), display: written.clone(), text: text.clone() }
                }
                MessageBlock::Image { written, path, media_type } => TargetInputPart::Image {
                    path: path.clone(),
                    media_type: (*media_type).to_owned(),
                    bytes: read_image(path, written)?.into(),
                },
            });
        }

        messages.push(InputMessage { role: message.role, parts });
    }

    let mut input = TargetInput::new(case.id.as_str(), messages);
    input.attempt = trial;
    input.vars.clone_from(&case.vars);

    Ok(input)
}

fn serde_json_text(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn read_image(path: &Path, written: &str) -> Result<Vec<u8>, TargetError> {
    assize_files::read_bytes(path, MAX_IMAGE_BYTES).map_err(|error| {
        TargetError::new(TargetErrorKind::BadInput, format!("can't read the image `{written}`: {error}"))
    })
}
