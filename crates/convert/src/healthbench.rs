//! HealthBench examples: a conversation, and criteria with positive and negative points.

use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

use crate::eval_file_builder::{EvalFileBuilder, has_template};
use crate::export::ID_TAG;
use crate::note::ConversionNotes;

/// Reads examples from JSON objects, given with their line numbers.
pub(crate) fn read_examples(
    lines: &[(usize, Value)],
    name: &str,
    notes: &mut ConversionNotes,
) -> EvalFileBuilder {
    let mut doc = EvalFileBuilder::with_name(name);
    for (line, example) in lines {
        if let Some(case) = read_case(&mut doc, *line, example, notes) {
            doc.cases.push(case);
        }
    }

    notes.add_remark(
        None,
        "score",
        "HealthBench clips only the mean over examples; here each case is clipped to 0 to 1 (docs/convert.md)",
    );
    doc
}

fn read_case(
    doc: &mut EvalFileBuilder,
    line: usize,
    example: &Value,
    notes: &mut ConversionNotes,
) -> Option<Value> {
    let id = example
        .get("prompt_id")
        .and_then(Value::as_str)
        .map_or_else(|| format!("line-{line}"), str::to_owned);
    let given = |key: &str| example.get(key).and_then(Value::as_array).filter(|items| !items.is_empty());
    let (Some(prompt), Some(rubrics)) = (given("prompt"), given("rubrics")) else {
        notes.add_loss(line, format!("example `{id}`"), "skipped: it has no `prompt` or no `rubrics`");
        return None;
    };
    let mut criteria = Vec::new();
    let mut ids = UniqueIds::default();
    for (index, item) in rubrics.iter().enumerate() {
        let text = item.get("criterion").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let points = item.get("points").and_then(Value::as_f64);
        let (Some(text), Some(points)) = (text, points) else {
            notes.add_loss(
                line,
                format!("criterion {} of `{id}`", index + 1),
                "skipped: no text or no points",
            );
            continue;
        };

        let tags = item.get("tags").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let named =
            tags.iter().find_map(|tag| tag.as_str()?.strip_prefix(ID_TAG)).filter(|id| !id.trim().is_empty());
        let wish = named.map_or_else(|| format!("c{}", index + 1), str::to_owned);
        let mut criterion = json!({"id": ids.take(&wish), "outcome": text, "weight": points});
        let tags: Vec<&Value> =
            tags.iter().filter(|tag| !tag.as_str().is_some_and(|tag| tag.starts_with(ID_TAG))).collect();
        if !tags.is_empty() {
            criterion["x-tags"] = json!(tags);
        }

        criteria.push(criterion);
    }

    let earns = |criterion: &Value| criterion["weight"].as_f64().is_some_and(|points| points > 0.0);
    if !criteria.iter().any(earns) {
        notes.add_loss(line, format!("example `{id}`"), "skipped: no criterion has points to earn");
        return None;
    }

    let messages: Vec<Value> = prompt
        .iter()
        .filter_map(|message| {
            let role = message.get("role").and_then(Value::as_str)?;
            let role = if role == "developer" { "system" } else { role };
            Some(json!({"role": role, "content": message.get("content").and_then(Value::as_str)?}))
        })
        .collect();
    if messages.len() < prompt.len() {
        notes.add_loss(line, format!("example `{id}`"), "messages without a role or a text were skipped");
    }

    let mut case = Map::new();
    case.insert("id".to_owned(), json!(doc.unique_id(&id)));

    if let Some(tags) =
        example.get("example_tags").filter(|tags| tags.as_array().is_some_and(|t| !t.is_empty()))
    {
        case.insert("tags".to_owned(), tags.clone());
    }

    let input = match messages.as_slice() {
        [only] if only["role"] == "user" => only["content"].clone(),
        _ => Value::Array(messages),
    };
    case.insert("input".to_owned(), input);

    let ideal = example.pointer("/ideal_completions_data/ideal_completion").and_then(Value::as_str);
    if let Some(ideal) = ideal.filter(|text| !text.trim().is_empty()) {
        case.insert("expected_output".to_owned(), json!(ideal));
    }

    case.insert("assertions".to_owned(), json!([{"type": "rubrics", "criteria": criteria}]));
    let case = Value::Object(case);
    if has_template(&case.to_string()) {
        notes.add_remark(
            line,
            format!("example `{id}`"),
            "has template braces, which stay as they are unless a variable of that name is set",
        );
    }

    Some(case)
}
