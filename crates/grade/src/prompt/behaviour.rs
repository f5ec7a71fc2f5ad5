//! The prompt for judging one behaviour.
//!
//! The author's prompt is sent as written, preceded by the guidelines of the rubrics. The inputs are inserted
//! in blocks, where the prompt names them or else after it. The prompt can't change the rules or the form of
//! the reply.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use assize_llm::{ChatMessage, JsonSchemaFormat, MessageRole, Part};
use assize_model::{Behaviour, Guidelines, ScoringScale};
use serde_json::{Map, Value, json};

use super::block::format_block;
use super::schema::{evidence_schema, reason_schema};
use super::template::fill_template;
use crate::fence::draw_fence;
use crate::text_hash::text_hasher;
use crate::{BehaviourTask, FenceSource};

/// Version of these prompts. Any change to a prompt file or to the construction of requests needs a new
/// version.
pub const BEHAVIOUR_PROMPT_VERSION: &str = "behaviour.v2";

const SYSTEM: &str = include_str!("../../prompts/behaviour.v2.system.md");
const APPLIES: &str = include_str!("../../prompts/behaviour.v2.applies.md");
const FORM: &str = include_str!("../../prompts/behaviour.v2.form.md");

/// Names of the inputs.
const INPUT_NAMES: [&str; 3] = ["GROUND_TRUTH", "SOURCE_NARRATIVE", "CANDIDATE_OUTPUT"];

/// Delimiters that may surround the name of an input in a prompt.
const DELIMITERS: [(&str, &str); 5] = [("{{", "}}"), ("${", "}"), ("{", "}"), ("<", ">"), ("[", "]")];

/// A short hash (16 hex digits of BLAKE3) of the version, every prompt file and all texts of the scorecard's
/// authors.
pub(crate) fn behaviour_hash(behaviour: &Behaviour) -> String {
    static FILES: LazyLock<blake3::Hasher> =
        LazyLock::new(|| text_hasher(&[BEHAVIOUR_PROMPT_VERSION, SYSTEM, APPLIES, FORM]));

    let mut hasher = FILES.clone();
    // Hashed in the form that is sent: descriptive placeholders are replaced by the names of inputs.
    for text in
        [&*name_placeholders(&behaviour.prompt), &instructions(behaviour), &describe_members(behaviour)]
    {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }

    hasher.finalize().to_hex()[..16].to_owned()
}

/// JSON schema of a reply.
pub(crate) fn behaviour_schema(behaviour: &Behaviour) -> JsonSchemaFormat {
    let mut properties = Map::new();
    properties.insert("evidence".into(), evidence_schema());
    properties.insert("reason".into(), reason_schema());

    for (name, _, schema) in deciding_members(behaviour) {
        properties.insert(name.into(), schema);
    }

    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    });
    JsonSchemaFormat { name: "behaviour".into(), schema: schema.into(), strict: true }
}

/// The members of a reply that decide, with their descriptions and schemas.
fn deciding_members(behaviour: &Behaviour) -> Vec<(&'static str, String, Value)> {
    let yes_or_no = || ("true or false".to_owned(), json!({ "type": "boolean" }));
    let mut members = Vec::new();
    if behaviour.applicability.is_some() {
        let (words, schema) = yes_or_no();
        members.push(("applies", words, schema));
    }

    if behaviour.has_critical_requirements() {
        let (_, schema) = yes_or_no();
        let words = "true if everything under \"Must hold\" holds, otherwise false".to_owned();
        members.push(("critical_met", words, schema));
    }

    let (words, schema) = yes_or_no();
    members.push(("pass", words, schema));

    if let Some(ScoringScale { min, max, .. }) = &behaviour.scale {
        members.push(("score", format!("a number from {min} to {max}"), json!({ "type": "number" })));
    }

    let levels = json!({ "type": "string", "enum": ["high", "medium", "low"] });
    members.push(("confidence", "\"high\", \"medium\" or \"low\"".to_owned(), levels));

    let (words, schema) = yes_or_no();
    members.push(("uncertain", words, schema));

    members
}

fn describe_members(behaviour: &Behaviour) -> String {
    let members = deciding_members(behaviour).into_iter();
    members.map(|(name, words, _)| format!("\"{name}\": {words}")).collect::<Vec<_>>().join(", ")
}

/// The messages of a call.
pub(crate) fn behaviour_messages(
    task: &BehaviourTask,
    fences: &dyn FenceSource,
    repair: Option<String>,
) -> Vec<ChatMessage> {
    let behaviour = &task.behaviour;
    let texts: Vec<&str> = task.named_inputs().map(|(_, text)| text).collect();
    let fence = draw_fence(fences, &texts);
    let (prompt, placed) = insert_inputs(&behaviour.prompt, task, &fence);
    let mut parts = vec![format!("{}\n", prompt.trim_end())];
    let more = instructions(behaviour);
    if !more.is_empty() {
        parts.push(format!("\n{more}"));
    }

    let rest: Vec<String> = task
        .named_inputs()
        .filter(|(name, _)| !placed.contains(name))
        .map(|(name, text)| format_block(name, &fence, text))
        .collect();
    if !rest.is_empty() {
        parts.push(format!("\nInputs\n\n{}", rest.join("\n")));
    }

    parts.push(format!("\n{}", fill_template(FORM, &[("members", &describe_members(behaviour))])));
    parts.extend(repair);

    let content = parts.into_iter().map(|text| Part::Text(text.into())).collect();
    vec![ChatMessage::system(SYSTEM), ChatMessage { role: MessageRole::User, content }]
}

/// All texts of the authors besides the prompt: guidelines, scale, when it applies. Writing to a string can't fail.
fn instructions(behaviour: &Behaviour) -> String {
    let mut text = String::new();
    for guidelines in &behaviour.guidelines {
        format_guidelines(&mut text, guidelines);
    }

    if let Some(scale) = &behaviour.scale {
        let _ = writeln!(text, "Score\n\nGive a score from {} to {}.", scale.min, scale.max);
        for (score, meaning) in &scale.descriptions {
            let _ = writeln!(text, "- {score}: {}", meaning.trim());
        }
        text.push('\n');
    }

    if let Some(applicability) = &behaviour.applicability {
        let exclusion = applicability.exclusion.as_deref().map(|text| format!("Exclusion: {}", text.trim()));
        text.push_str(&fill_template(
            APPLIES,
            &[
                ("inclusion", applicability.inclusion.trim()),
                ("exclusion", exclusion.as_deref().unwrap_or("Exclusion: none.")),
            ],
        ));
    }

    text
}

fn format_guidelines(text: &mut String, guidelines: &Guidelines) {
    let lists = [
        ("Look at", &guidelines.focus_areas),
        ("Do not hold against the output", &guidelines.acceptable_deviations),
        ("Must hold", &guidelines.critical_requirements),
    ];
    for (heading, items) in lists {
        if items.is_empty() {
            continue;
        }

        let _ = writeln!(text, "{heading}:");

        for item in items {
            let _ = writeln!(text, "- {}", item.trim());
        }

        text.push('\n');
    }

    let texts = [
        ("Evidence to give", &guidelines.evidence_requirements),
        ("Special instructions", &guidelines.special_instructions),
    ];
    for (heading, words) in texts {
        if let Some(words) = words {
            let _ = writeln!(text, "{heading}: {}\n", words.trim());
        }
    }
}

/// Returns the prompt with each input in a block where the prompt names it, and the names that it uses. Makes
/// one pass over the prompt, so text inside an input is never scanned.
fn insert_inputs(prompt: &str, task: &BehaviourTask, fence: &str) -> (String, Vec<&'static str>) {
    let prompt = &*name_placeholders(prompt);
    let inputs: Vec<(&'static str, &str)> = task.named_inputs().collect();
    let mut out = String::with_capacity(prompt.len());
    let mut placed = Vec::new();
    let mut rest = prompt;
    while let Some(at) = rest.find(['{', '$', '<', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];

        if let Some((length, name)) = find_named_input(rest) {
            match inputs.iter().find(|(known, _)| *known == name) {
                Some((_, text)) => {
                    out.push('\n');
                    out.push_str(&format_block(name, fence, text));
                    placed.push(name);
                }
                None => out.push_str("(not given)"),
            }
            rest = &rest[length..];
        } else {
            // All of these delimiters begin with a character of one byte.
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }

    out.push_str(rest);
    (out, placed)
}

/// Replaces the placeholders of an `INPUTS` part by the names of their inputs: next to or below the line
/// `GROUND_TRUTH:`, a placeholder such as `{Rendered ground truth for this case}` becomes `{{GROUND_TRUTH}}`.
fn name_placeholders(prompt: &str) -> Cow<'_, str> {
    let mut lines: Vec<Cow<'_, str>> = prompt.split('\n').map(Cow::Borrowed).collect();
    let mut above: Option<&'static str> = None;
    let mut is_changed = false;
    for line in &mut lines {
        let text = line.trim();
        if text.is_empty() {
            continue;
        }

        let (name, rest) = match label_of_input(text) {
            Some((name, rest)) => (Some(name), rest),
            None => (above, text),
        };
        above = name.filter(|_| rest.is_empty());
        let Some(name) = name.filter(|_| is_free_placeholder(rest)) else { continue };

        let start = line.find(rest).unwrap_or_default();
        *line = Cow::Owned(format!("{}{{{{{name}}}}}", &line[..start]));
        is_changed = true;
    }

    if is_changed { Cow::Owned(lines.join("\n")) } else { Cow::Borrowed(prompt) }
}

/// The input that a line is the label of, and the text after the label.
fn label_of_input(line: &str) -> Option<(&'static str, &str)> {
    let bare = line.trim_start_matches(['#', '*', '-', ' ']);
    INPUT_NAMES.iter().find_map(|name| {
        let begin = bare.get(..name.len())?;
        let rest = bare.get(name.len()..)?;
        let is_name = begin.replace(' ', "_").eq_ignore_ascii_case(name);
        let ends = rest.trim_start_matches('*');

        (is_name && (ends.is_empty() || ends.starts_with(':')))
            .then(|| (*name, ends.trim_start_matches([':', '*']).trim()))
    })
}

/// True if a text is a single placeholder whose words name no input.
fn is_free_placeholder(text: &str) -> bool {
    let inside = DELIMITERS.iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inside.is_some_and(|inside| {
        let names_input = INPUT_NAMES.iter().any(|name| name.eq_ignore_ascii_case(inside.trim()));
        !names_input && !inside.contains(['"', ':', '{', '}', '[', ']'])
    })
}

/// The input named at the beginning of the text, with the length of its name and delimiters.
fn find_named_input(text: &str) -> Option<(usize, &'static str)> {
    DELIMITERS.iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let end = inside.find(close)?;
        let name = inside[..end].trim();
        let known = INPUT_NAMES.iter().find(|known| known.eq_ignore_ascii_case(name))?;

        Some((open.len() + end + close.len(), *known))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use assize_model::Applicability;
    use assize_rubric::UnitInterval;

    use super::*;

    fn task(prompt: &str) -> BehaviourTask {
        BehaviourTask {
            behaviour: Arc::new(Behaviour {
                prompt: prompt.into(),
                guidelines: vec![Arc::new(Guidelines {
                    critical_requirements: vec!["Risks MUST stand there.".into()],
                    ..Guidelines::default()
                })],
                applicability: None,
                scale: None,
                pass_conditions: Vec::new(),
                failure_limit: UnitInterval::ONE,
            }),
            ground_truth: Some("truth {{CANDIDATE_OUTPUT}}".into()),
            source_narrative: None,
            candidate_output: "the output".into(),
            trial: 1,
            sampling: crate::SamplingOptions::default(),
        }
    }

    fn user_text(task: &BehaviourTask) -> String {
        let messages = behaviour_messages(task, &|| 7u128, None);
        let parts = messages[1].content.iter().map(|part| match part {
            Part::Text(text) => text.to_string(),
            Part::Image { .. } => String::new(),
        });
        parts.collect()
    }

    #[test]
    fn inputs_that_the_prompt_does_not_place_stand_after_it() {
        let text = user_text(&task("SYSTEM: check\n---\nAnswer {\"pass\": true}.\n"));
        let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle} in {text}"));
        assert!(text.starts_with("SYSTEM: check\n---\nAnswer {\"pass\": true}.\n"), "{text}");
        assert!(at("Must hold:\n- Risks MUST stand there.") < at("[[BEGIN GROUND_TRUTH"));
        assert!(at("[[BEGIN GROUND_TRUTH") < at("[[BEGIN CANDIDATE_OUTPUT"));
        assert!(at("the output\n[[END CANDIDATE_OUTPUT") < at("Whatever form of reply"));
        assert!(!text.contains("SOURCE_NARRATIVE") && !text.contains("applies"));
    }

    #[test]
    fn inputs_stand_where_the_prompt_names_them_and_only_there() {
        for mark in
            ["{{GROUND_TRUTH}}", "{ground_truth}", "<GROUND_TRUTH>", "[Ground_Truth]", "${GROUND_TRUTH}"]
        {
            let text = user_text(&task(&format!("INPUTS\nTruth: {mark}\nend\n")));
            assert_eq!(text.matches("[[BEGIN GROUND_TRUTH").count(), 1, "{text}");
            assert!(text.find("[[BEGIN GROUND_TRUTH") < text.find("\nend"), "{text}");
            // Names inside an input are not replaced.
            assert_eq!(text.matches("[[BEGIN CANDIDATE_OUTPUT").count(), 1, "{text}");
            assert!(text.contains("truth {{CANDIDATE_OUTPUT}}"), "{text}");
        }
    }

    #[test]
    fn placeholders_in_free_words_stand_for_the_input_they_are_labelled_with() {
        let prompt = "SYSTEM: check\nINPUTS\nGROUND_TRUTH:\n{Rendered ground truth for this case}\n\n\
                      **SOURCE NARRATIVE:** <the narrative>\n\nCANDIDATE_OUTPUT:\n\n[Output of the system]\n\
                      Answer {\"pass\": true}.\n";
        let text = user_text(&task(prompt));
        for words in ["Rendered ground truth", "the narrative", "Output of the system", "\nInputs\n"] {
            assert!(!text.contains(words), "{words} in {text}");
        }
        assert!(text.contains("SOURCE NARRATIVE:** (not given)"), "{text}");
        let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle} in {text}"));
        assert!(
            at("GROUND_TRUTH:\n") < at("[[BEGIN GROUND_TRUTH")
                && at("[[BEGIN CANDIDATE_OUTPUT") < at("Answer {")
        );

        // Words in braces elsewhere are not changed.
        let text = user_text(&task("Check {this}.\nGROUND_TRUTH: as below\n{free words}\n"));
        assert!(text.contains("Check {this}.\nGROUND_TRUTH: as below\n{free words}"), "{text}");
    }

    #[test]
    fn what_decides_is_asked_for_only_where_it_is_open() {
        let mut task = task("Check.");
        let behaviour = Arc::make_mut(&mut task.behaviour);
        behaviour.applicability =
            Some(Applicability { inclusion: "Apply when x. Flag if y.".into(), exclusion: None });
        let text = user_text(&task);
        assert!(text.contains("Inclusion: Apply when x. Flag if y.\nExclusion: none."), "{text}");
        let schema = behaviour_schema(&task.behaviour).schema;
        let required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(
            required,
            ["evidence", "reason", "applies", "critical_met", "pass", "confidence", "uncertain"]
        );
    }
}
