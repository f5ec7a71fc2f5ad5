//! HealthBench examples: a conversation, and criteria with points; one JSON object per line.

use assize_model::{Case, Suite};
use assize_rubric::{CaseMessage, MessageBlock};
use serde_json::{Value, json};

use super::criteria::{FlatCriterion, flatten_criteria, note_other_content, note_thresholds};
use super::settings::{KeptSettings, note_case_settings, note_suite_settings};
use crate::note::ConversionNotes;

/// Prefix of the tag that contains the id of a criterion.
pub(crate) const ID_TAG: &str = "id:";

const KEPT_SETTINGS: KeptSettings = KeptSettings { description: false, models: false, tags: true };

/// Writes the cases in which points can be earned. Returns the text and the number of cases in it.
pub(crate) fn write(suite: &Suite, cases: &[Case], notes: &mut ConversionNotes) -> (String, usize) {
    let mut text = String::new();
    let mut written = 0;
    note_suite_settings(suite, KEPT_SETTINGS, notes);

    for case in cases {
        let list = flatten_criteria(case, notes);
        if !list.iter().any(|flat| flat.weight > 0.0) {
            notes.add_case_loss(case, "skipped: no criterion has points to earn");
            continue;
        }

        written += 1;
        note_thresholds(suite, case, notes);
        note_case_settings(case, KEPT_SETTINGS, notes);
        note_other_content(case, true, false, notes);

        let mut example = json!({
            "prompt_id": case.id.to_string(),
            "prompt": case.input.iter().map(|message| self::message_value(message, case, notes)).collect::<Vec<_>>(),
            "rubrics": list.iter().map(|flat| rubric_value(flat, case, notes)).collect::<Vec<_>>(),
            "example_tags": case.tags,
        });
        if let Some(reference) = case.reference() {
            example["ideal_completions_data"] = json!({ "ideal_completion": reference });
        }

        text.push_str(&example.to_string());
        text.push('\n');
    }

    (text, written)
}

fn message_value(message: &CaseMessage, case: &Case, notes: &mut ConversionNotes) -> Value {
    if message.blocks.iter().any(|block| matches!(block, MessageBlock::Image { .. })) {
        notes.add_case_loss(case, "an image was replaced by its name");
    }

    if !message.tool_calls.is_empty() {
        notes.add_case_loss(case, "tool calls in its messages are not converted");
    }

    json!({"role": message.role.name(), "content": message.to_text()})
}

fn rubric_value(flat: &FlatCriterion<'_>, case: &Case, notes: &mut ConversionNotes) -> Value {
    let criterion = flat.criterion;
    if flat.required {
        notes.add_loss(
            case.place.line,
            format!("criterion `{}` of `{}`", criterion.id, case.id),
            "`required` is not converted: HealthBench has points, but no gates",
        );
    }

    json!({"criterion": criterion.text, "points": flat.weight, "tags": [format!("{ID_TAG}{}", criterion.id)]})
}
