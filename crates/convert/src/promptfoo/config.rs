//! Conversion of a whole configuration: tests times prompts, with the defaults merged into each.

use std::path::Path;

use assize_evalfile::ParsedDocument;
use serde_json::{Map, Value, json};

use super::assertions::{PromptfooTestContext, convert_assertion};
use super::prompts::read_prompts;
use super::variables::{fill_variables, raw_block_content, value_text};
use crate::eval_file_builder::{EvalFileBuilder, slug};
use crate::note::ConversionNotes;

/// Provider that answers with the prompt, and the target of that name.
const ECHO: &str = "echo";

/// Keys of the configuration that are read.
const CONFIG_KEYS: [&str; 8] = [
    "description", "prompts", "providers", "targets", "defaultTest", "tests", "assertionTemplates", "$schema",
];
/// Keys of a test that are read.
const TEST_KEYS: [&str; 8] =
    ["description", "vars", "assert", "options", "threshold", "metadata", "disableDefaultAsserts", "id"];

/// Keys of the default test that are read.
const DEFAULT_TEST_KEYS: [&str; 6] =
    ["vars", "assert", "options", "threshold", "metadata", "disableDefaultAsserts"];
/// Interfaces in the ids of providers that answer no questions with a text, or need more than a model's name.
const OTHER_INTERFACES: [&str; 8] =
    ["assistant", "agents", "embedding", "embeddings", "image", "moderation", "realtime", "transcription"];

/// Reads a configuration.
pub(crate) fn read_config(
    document: &ParsedDocument,
    name: &str,
    folder: &Path,
    notes: &mut ConversionNotes,
) -> EvalFileBuilder {
    let config = document.value();
    let mut doc = EvalFileBuilder::with_name(name);

    for key in
        config.as_object().into_iter().flat_map(Map::keys).filter(|key| !CONFIG_KEYS.contains(&key.as_str()))
    {
        notes.add_loss(document.line(&format!("/{key}")), format!("`{key}`"), "not converted");
    }

    if let Some(text) = config.get("description").and_then(Value::as_str) {
        doc.head.insert("description".to_owned(), json!(text));
    }

    read_targets(&config, document, &mut doc, notes);
    let prompts = read_prompts(&config, document, folder, notes);
    let default = read_default_test(&config, document, notes);
    let reader = PromptfooReader { config: &config, document, default: &default, prompts: &prompts };
    match config.get("tests") {
        Some(Value::Array(tests)) => {
            for (index, test) in tests.iter().enumerate() {
                reader.convert_test(test, index, &mut doc, notes);
            }
        }
        Some(Value::String(path)) => {
            notes.add_loss(
                document.line("/tests"),
                format!("`tests: {path}`"),
                "tests in another file are not read",
            );
        }
        Some(other) if !other.is_null() => {
            notes.add_loss(document.line("/tests"), "`tests`", "not converted: it is not a list of tests");
        }
        // Without tests each prompt is asked once.
        _ => reader.convert_test(&json!({}), 0, &mut doc, notes),
    }

    doc
}

/// Returns the default test. Notes what is not read of it.
fn read_default_test(config: &Value, document: &ParsedDocument, notes: &mut ConversionNotes) -> Value {
    let default = config.get("defaultTest").cloned().unwrap_or_default();
    match &default {
        Value::Null => {}
        Value::Object(map) => {
            for key in map.keys().filter(|key| !DEFAULT_TEST_KEYS.contains(&key.as_str())) {
                notes.add_loss(
                    document.line(&format!("/defaultTest/{key}")),
                    format!("`{key}` of `defaultTest`"),
                    "not converted",
                );
            }
            note_wrong_kinds(&default, "/defaultTest", "defaultTest", document, notes);
        }
        _ => notes.add_loss(
            document.line("/defaultTest"),
            "`defaultTest`",
            "not converted: a default test in another file is not read",
        ),
    }

    default
}

/// Returns true for a value in a form that is read.
type KindCheck = fn(&Value) -> bool;

/// Notes the parts of a test that are read, but not in the form they are given in.
fn note_wrong_kinds(
    test: &Value,
    pointer: &str,
    name: &str,
    document: &ParsedDocument,
    notes: &mut ConversionNotes,
) {
    let kinds: [(&str, KindCheck, &str); 6] = [
        ("vars", Value::is_object, "variables in another file, or in another form than a map, are not read"),
        ("assert", Value::is_array, "is not a list of assertions"),
        ("options", Value::is_object, "is not a map"),
        ("metadata", Value::is_object, "is not a map"),
        ("description", Value::is_string, "is not a text"),
        (
            "threshold",
            |value| value.as_f64().is_some_and(|threshold| (0.0..=1.0).contains(&threshold)),
            "is not a number from 0 to 1",
        ),
    ];
    for (key, is_read, why) in kinds {
        let given = test.get(key).filter(|value| !value.is_null());
        if given.is_some_and(|value| !is_read(value)) {
            notes.add_loss(
                document.line(&format!("{pointer}/{key}")),
                format!("`{key}` of `{name}`"),
                format!("not converted: {why}"),
            );
        }
    }
}

/// Returns the name of a model target for an id of the tool; `None` if no model of ours goes by it.
fn target_name(id: &str) -> Option<String> {
    if id == ECHO {
        return Some(ECHO.to_owned());
    }
    // The tool puts the kind of its interface in between.
    let (provider, rest) = id.split_once(':')?;
    let (interface, after) = rest.split_once(':').unwrap_or((rest, ""));
    let model = match interface {
        "chat" | "completion" | "responses" | "messages" => after,
        other if OTHER_INTERFACES.contains(&other) => return None,
        _ => rest,
    };
    let provider = assize_evalfile::model_provider(provider)?;

    (!model.trim().is_empty() && !model.contains("{{")).then(|| format!("{provider}:{model}"))
}

fn read_targets(
    config: &Value,
    document: &ParsedDocument,
    doc: &mut EvalFileBuilder,
    notes: &mut ConversionNotes,
) {
    let (key, list) = match (config.get("providers"), config.get("targets")) {
        (Some(list), _) => ("providers", list),
        (None, Some(list)) => ("targets", list),
        (None, None) => return,
    };
    let one = [list.clone()];
    let items = list.as_array().map_or(&one[..], Vec::as_slice);
    let mut names: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let line = document.line(&format!("/{key}/{index}"));
        let id = item.as_str().or_else(|| item.get("id").and_then(Value::as_str));
        let is_named = |id: &&str| !id.starts_with("file://") && (id.contains(':') || *id == ECHO);
        let Some(id) = id.filter(is_named) else {
            notes.add_loss(line, "provider", "not converted: define it as a target in the targets file");
            continue;
        };
        if item.is_object() {
            notes.add_loss(
                line,
                format!("provider `{id}`"),
                "its settings are not converted; they belong in the targets file",
            );
        }

        let Some(name) = target_name(id) else {
            notes.add_loss(
                line,
                format!("provider `{id}`"),
                "not converted: there is no such provider here; define it as a target in the targets file",
            );
            continue;
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }

    if !names.is_empty() {
        doc.head.insert("execution".to_owned(), json!({"targets": names}));
    }
}

struct PromptfooReader<'d> {
    config: &'d Value,
    document: &'d ParsedDocument,
    default: &'d Value,
    prompts: &'d [String],
}

impl PromptfooReader<'_> {
    fn convert_test(
        &self,
        test: &Value,
        index: usize,
        doc: &mut EvalFileBuilder,
        notes: &mut ConversionNotes,
    ) {
        let pointer = format!("/tests/{index}");
        let line = self.document.line(&pointer);
        if let Some(path) = test.as_str() {
            notes.add_loss(line, format!("`{path}`"), "tests in another file are not read");
            return;
        }

        if !test.is_object() {
            notes.add_loss(line, format!("test {}", index + 1), "skipped: it is not a map");
            return;
        }

        let description = test.get("description").and_then(Value::as_str);
        let named = test.get("id").and_then(Value::as_str).or(description);
        let wish = named.map_or_else(|| format!("test-{}", index + 1), |text| slug(text, 8));
        let name = if wish.is_empty() { format!("test-{}", index + 1) } else { wish };
        self.note_unread_keys(test, &pointer, &name, notes);

        let vars = self.merge_vars(test, &pointer, &name, notes);
        let threshold =
            test.get("threshold").or_else(|| self.default.get("threshold")).and_then(Value::as_f64);
        let judge_prompt =
            test.pointer("/options/rubricPrompt").or_else(|| self.default.pointer("/options/rubricPrompt"));
        let scene =
            PromptfooTestContext { vars: &vars, scored: threshold.is_some(), judge_prompt, case: &name };
        let graders = self.convert_assertions(test, &pointer, &scene, notes);
        if graders.is_empty() {
            notes.add_loss(line, format!("test `{name}`"), "skipped: no assertion of it is converted");
            return;
        }

        let several = self.prompts.len() > 1;
        for (number, input) in self.render_inputs(&vars, line, &name, notes).into_iter().enumerate() {
            let mut case = Map::new();
            let id = if several { format!("{name}-prompt-{}", number + 1) } else { name.clone() };
            case.insert("id".to_owned(), json!(doc.unique_id(&id)));

            if let Some(text) = description {
                case.insert("description".to_owned(), json!(text));
            }

            case.insert("input".to_owned(), json!(input));
            // Without a threshold a test passes when each assertion passes; the score has no effect.
            let by_gates = (threshold.is_none()
                && graders.iter().any(|grader| grader.get("min_score").is_some()))
            .then_some(0.0);
            if let Some(threshold) =
                threshold.filter(|threshold| (0.0..=1.0).contains(threshold)).or(by_gates)
            {
                case.insert("threshold".to_owned(), json!(threshold));
            }

            let metadata = [self.default.get("metadata"), test.get("metadata")];
            let metadata: Map<String, Value> =
                metadata.into_iter().flatten().filter_map(Value::as_object).flat_map(Map::clone).collect();
            if !metadata.is_empty() {
                case.insert("metadata".to_owned(), Value::Object(metadata));
            }

            // Texts have the values of variables in them; code asks for them.
            let reads_vars = |grader: &Value| {
                matches!(grader["type"].as_str(), Some("javascript" | "python"))
                    && grader["value"]
                        .as_str()
                        .is_some_and(|code| code.contains("vars") || code.starts_with("file://"))
            };
            if graders.iter().any(reads_vars) && !vars.is_empty() {
                case.insert("vars".to_owned(), Value::Object(vars.clone()));
            }

            case.insert("assertions".to_owned(), Value::Array(graders.clone()));
            doc.cases.push(Value::Object(case));
        }
    }

    /// Notes the keys and options of a test that are not read.
    fn note_unread_keys(&self, test: &Value, pointer: &str, name: &str, notes: &mut ConversionNotes) {
        for key in
            test.as_object().into_iter().flat_map(Map::keys).filter(|key| !TEST_KEYS.contains(&key.as_str()))
        {
            notes.add_loss(
                self.document.line(&format!("{pointer}/{key}")),
                format!("`{key}` of `{name}`"),
                "not converted",
            );
        }

        note_wrong_kinds(test, pointer, name, self.document, notes);

        for (owner, at) in [(test, pointer), (self.default, "/defaultTest")] {
            for key in owner.get("options").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                if key != "rubricPrompt" && key != "disableDefaultAsserts" {
                    notes.add_loss(
                        self.document.line(&format!("{at}/options/{key}")),
                        format!("option `{key}`"),
                        "not converted",
                    );
                }
            }
        }
    }

    /// Converts the assertions of a test, the default ones first.
    fn convert_assertions(
        &self,
        test: &Value,
        pointer: &str,
        scene: &PromptfooTestContext<'_>,
        notes: &mut ConversionNotes,
    ) -> Vec<Value> {
        let mut graders = Vec::new();
        let alone = ["/disableDefaultAsserts", "/options/disableDefaultAsserts"]
            .iter()
            .any(|way| test.pointer(way) == Some(&Value::Bool(true)));
        let mut lists = vec![(test, pointer.to_owned())];
        if !alone {
            lists.insert(0, (self.default, "/defaultTest".to_owned()));
        }

        for (owner, at) in lists {
            for (number, assertion) in
                owner.get("assert").and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                let line = self.document.line(&format!("{at}/assert/{number}"));
                match self.resolve_assertion(assertion) {
                    Some(assertion) => {
                        graders.extend(convert_assertion(&assertion, Some(line), scene, notes));
                    }
                    None => notes.add_loss(
                        line,
                        format!("`$ref` of `{}`", scene.case),
                        "not converted: it names no assertion template",
                    ),
                }
            }
        }

        graders
    }

    /// Returns the assertion, or the template it refers to merged with its own keys.
    fn resolve_assertion(&self, assertion: &Value) -> Option<Value> {
        let Some(way) = assertion.get("$ref").and_then(Value::as_str) else { return Some(assertion.clone()) };
        let mut template = self.config.pointer(way.strip_prefix('#')?)?.clone();
        let added = assertion.as_object()?.iter().filter(|(key, _)| *key != "$ref");
        template.as_object_mut()?.extend(added.map(|(key, value)| (key.clone(), value.clone())));
        Some(template)
    }

    fn merge_vars(
        &self,
        test: &Value,
        pointer: &str,
        name: &str,
        notes: &mut ConversionNotes,
    ) -> Map<String, Value> {
        let mut vars = self.default.get("vars").and_then(Value::as_object).cloned().unwrap_or_default();
        vars.extend(test.get("vars").and_then(Value::as_object).cloned().unwrap_or_default());

        for (key, value) in &mut vars {
            let line = self.document.line(&format!("{pointer}/vars/{key}"));
            if let Value::Array(items) = value {
                notes.add_loss(
                    line,
                    format!("variable `{key}` of `{name}`"),
                    "a list makes a test of each value; only the first is converted",
                );
                *value = items.first().cloned().unwrap_or_default();
            }

            if let Some(inner) = value.as_str().and_then(raw_block_content) {
                *value = json!(inner);
            }

            if value.as_str().is_some_and(|text| text.starts_with("file://")) {
                notes.add_loss(
                    line,
                    format!("variable `{key}` of `{name}`"),
                    format!("the file is not read; `{}` is used instead", value_text(value)),
                );
            }
        }

        vars
    }

    /// Returns the inputs of the target: each prompt with the variables, or the variables alone if there is
    /// no prompt.
    fn render_inputs(
        &self,
        vars: &Map<String, Value>,
        line: usize,
        name: &str,
        notes: &mut ConversionNotes,
    ) -> Vec<String> {
        if self.prompts.is_empty() {
            let lines: Vec<String> = match vars.iter().collect::<Vec<_>>().as_slice() {
                [(_, only)] => vec![value_text(only)],
                all => all.iter().map(|(key, value)| format!("{key}: {}", value_text(value))).collect(),
            };
            notes.add_loss(
                line,
                format!("input of `{name}`"),
                "there is no prompt; its variables are used as the input",
            );

            let text = lines.join("\n");
            return vec![if text.trim().is_empty() { "(no prompt)".to_owned() } else { text }];
        }
        self.prompts
            .iter()
            .map(|prompt| {
                let (text, unknown) = fill_variables(prompt, vars);
                if !unknown.is_empty() {
                    notes.add_loss(
                        line,
                        format!("prompt of `{name}`"),
                        format!("template parts stay as written: {}", unknown.join(", ")),
                    );
                }

                text
            })
            .collect()
    }
}
