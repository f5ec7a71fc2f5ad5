//! The evals of an agent skill (`evals/evals.json`): prompts with assertions, without answers.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::{content_text, document, read_frame, read_members};
use crate::{Record, RecordError, RecordFile, RecordFormat};

#[derive(Deserialize)]
struct SkillFile<'b> {
    skill_name: Option<String>,
    #[serde(borrow)]
    evals: Vec<&'b RawValue>,
}

#[derive(Deserialize)]
struct SkillEval {
    id: Option<Value>,
    name: Option<String>,
    prompt: String,
    expected_output: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    assertions: Vec<Value>,
    /// Other name of the assertions, which the skill that creates skills uses.
    #[serde(default)]
    expectations: Vec<Value>,
}

/// Reads the evals of a skill.
pub(crate) fn read_evals(bytes: &[u8]) -> Result<RecordFile, RecordError> {
    let mut file = RecordFile::new(RecordFormat::SkillEvals, None);
    let text = document(bytes, 2, &mut file.problems)?;
    let frame: SkillFile<'_> = read_frame(&text)?;
    file.name = frame.skill_name;
    let evals: Vec<SkillEval> = read_members(&text, &frame.evals, &mut file.problems);
    for (index, eval) in evals.into_iter().enumerate() {
        let id = match (eval.name, eval.id) {
            (Some(name), _) => name,
            (None, Some(Value::String(id))) => id,
            (None, Some(id @ Value::Number(_))) => format!("eval-{id}"),
            (None, _) => format!("eval-{}", index + 1),
        };
        let mut record = Record::new(id, "evals of a skill hold no answers");
        record.input = Some(Value::String(eval.prompt));
        record.expected_outcome = eval.expected_output.filter(|text| !text.trim().is_empty());
        record.files = eval.files;
        record.assertions = eval.assertions.iter().chain(&eval.expectations).map(assertion).collect();
        record.add_metadata("skill", file.name.as_deref().unwrap_or_default());
        file.records.push(record);
    }

    Ok(file)
}

/// Returns the text of an assertion. Some tools write maps that contain a text.
fn assertion(value: &Value) -> Value {
    let text = value.get("text").or_else(|| value.get("description"));
    Value::String(content_text(text.unwrap_or(value)))
}
