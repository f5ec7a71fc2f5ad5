//! HealthBench examples: a conversation, criteria with points, one JSON object a line.

use assize_evalfile::{Block, Case, Message, Suite};
use serde_json::{Value, json};

use super::criteria::{Flat, beside, criteria, lines};
use crate::note::Notes;

/// Prefix of the tag that holds the id of a criterion.
pub(crate) const ID_TAG: &str = "id:";

/// Writes the cases that have points to earn. Returns the text and the number of cases in it.
pub(crate) fn write(suite: &Suite, cases: &[Case], notes: &mut Notes) -> (String, usize) {
    let mut text = String::new();
    let mut written = 0;
    for case in cases {
        let list = criteria(case, notes);
        if !list.iter().any(|flat| flat.weight > 0.0) {
            notes.lost(
                case.place.line,
                format!("case `{}`", case.id),
                "left out: no criterion has points to earn",
            );
            continue;
        }
        written += 1;
        lines(suite, case, notes);
        beside(case, true, false, notes);
        let mut example = json!({
            "prompt_id": case.id.to_string(),
            "prompt": case.input.iter().map(|message| self::message(message, case, notes)).collect::<Vec<_>>(),
            "rubrics": list.iter().map(|flat| rubric(flat, case, notes)).collect::<Vec<_>>(),
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

fn message(message: &Message, case: &Case, notes: &mut Notes) -> Value {
    if message.blocks.iter().any(|block| matches!(block, Block::Image { .. })) {
        notes.lost(case.place.line, format!("case `{}`", case.id), "an image became its name");
    }
    if !message.tool_calls.is_empty() {
        notes.lost(
            case.place.line,
            format!("case `{}`", case.id),
            "tool calls in its messages are not carried over",
        );
    }
    json!({"role": message.role.name(), "content": message.to_text()})
}

fn rubric(flat: &Flat<'_>, case: &Case, notes: &mut Notes) -> Value {
    let criterion = flat.criterion;
    if flat.required {
        notes.lost(
            case.place.line,
            format!("criterion `{}` of `{}`", criterion.id, case.id),
            "`required`: points know no gates",
        );
    }
    json!({"criterion": criterion.text, "points": flat.weight, "tags": [format!("{ID_TAG}{}", criterion.id)]})
}
