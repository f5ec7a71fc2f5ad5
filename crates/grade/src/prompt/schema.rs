//! The JSON schema of replies: evidence, then reason, then the decision.
//!
//! The schemas use only keywords that every structured-output implementation knows, and objects list all their members
//! as required, because strict modes refuse other schemas. Lengths are the exception: they are sent only to servers
//! that enforce them.

use std::sync::OnceLock;

use assize_llm::{JsonSchemaFormat, ReplySchema};
use serde_json::{Value, json};

use super::{DecisionForm, PromptCriterion};

/// JSON schema of a reply about one criterion.
pub(crate) fn single_schema(form: DecisionForm) -> JsonSchemaFormat {
    // There is one schema for each form, and every call needs one.
    static SCHEMAS: [OnceLock<ReplySchema>; 4] = [const { OnceLock::new() }; 4];

    let schema = &SCHEMAS[usize::from(form.score) * 2 + usize::from(form.may_not_apply)];
    let schema = schema.get_or_init(|| {
        let (member, decision) = decision_schema(form);
        ReplySchema::from(json!({
            "type": "object",
            "properties": { "evidence": evidence_schema(), "reason": reason_schema(), member: decision },
            "required": ["evidence", "reason", member],
            "additionalProperties": false,
        }))
    });
    JsonSchemaFormat { name: "judgement".into(), schema: schema.clone(), strict: true }
}

/// JSON schema of a reply about several criteria.
pub(crate) fn batched_schema(asked: &[PromptCriterion<'_>]) -> JsonSchemaFormat {
    let mut kinds: Vec<(DecisionForm, Vec<&str>)> = Vec::new();
    for PromptCriterion { handle, criterion } in asked {
        let form = DecisionForm::for_criterion(criterion);
        match kinds.iter_mut().find(|(known, _)| *known == form) {
            Some((_, handles)) => handles.push(handle),
            None => kinds.push((form, vec![handle])),
        }
    }

    let mut entries: Vec<Value> = kinds
        .into_iter()
        .map(|(form, handles)| {
            let (member, decision) = decision_schema(form);
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": "string", "enum": handles },
                    "evidence": evidence_schema(),
                    "reason": reason_schema(),
                    member: decision,
                },
                "required": ["id", "evidence", "reason", member],
                "additionalProperties": false,
            })
        })
        .collect();

    let items = if entries.len() == 1 { entries.remove(0) } else { json!({ "anyOf": entries }) };
    let schema = json!({
        "type": "object",
        "properties": { "results": { "type": "array", "items": items, "maxItems": asked.len() } },
        "required": ["results"],
        "additionalProperties": false,
    });
    JsonSchemaFormat { name: "judgements".into(), schema: schema.into(), strict: true }
}

/// The most quotes of a decision, and the most characters of a quote and of a reason. They leave ample room for what the
/// prompt asks for, and stop a small model that writes on and on. Only servers that enforce them receive them.
const MAX_QUOTES: u32 = 6;
const MAX_QUOTE_CHARS: u32 = 400;
const MAX_REASON_CHARS: u32 = 1000;

pub(super) fn evidence_schema() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string", "maxLength": MAX_QUOTE_CHARS },
        "maxItems": MAX_QUOTES,
    })
}

pub(super) fn reason_schema() -> Value {
    json!({ "type": "string", "maxLength": MAX_REASON_CHARS })
}

fn decision_schema(form: DecisionForm) -> (&'static str, Value) {
    match (form.score, form.may_not_apply) {
        (false, false) => ("outcome", json!({ "type": "string", "enum": ["met", "unmet"] })),
        (false, true) => ("outcome", json!({ "type": "string", "enum": ["met", "unmet", "not_applicable"] })),
        (true, false) => ("score", score_schema()),
        (true, true) => {
            ("score", json!({ "anyOf": [score_schema(), { "type": "string", "enum": ["not_applicable"] }] }))
        }
    }
}

fn score_schema() -> Value {
    json!({ "type": "integer", "enum": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })
}
