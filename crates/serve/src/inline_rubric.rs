//! Rubrics in requests: text with the position of each value, and checks for keys that such a rubric must not contain.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use assize_diagnostic::{Diagnostic, Severity};
use assize_document::{ParsedDocument, codes};
use assize_evalfile::{LoadedRubric, read_rubric_with};
use assize_limits::REPEATED_RUBRIC_BYTES as MAX_DECODED;
use serde_json::Value;

use crate::api::RubricSource;
use crate::decode::child;
use crate::options::RequestLimits;
use crate::problem::{ApiError, RequestProblem};

/// Keys that would open or run something, or that name something on the server. None of them has a meaning in a
/// rubric; in a request they are refused by name before anything else reads them.
const REFUSED_KEYS: [&str; 22] = [
    "$ref", "args", "command", "cwd", "env", "exec", "extends", "file", "files", "grader_target", "hooks",
    "include", "path", "preprocessors", "program", "prompt", "script", "target", "targets", "url",
    "workspace", "workspaces",
];

/// A rubric of a request, as text. Most requests repeat a rubric that was decoded before, so the hash of the text is
/// looked up before it is parsed.
#[derive(Debug, Clone)]
pub(crate) struct InlineRubric {
    text: String,
    /// The value that the text was written from; `None` for YAML.
    value: Option<Value>,
}

/// A value of a request written as text, with the position of each value in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlacedText {
    pub(crate) text: String,
    /// Byte ranges of the values, outer ones first, with their JSON pointers; empty for YAML.
    places: Vec<(Range<usize>, String)>,
}

impl InlineRubric {
    /// A rubric as JSON, from `/rubric` of the request.
    pub(crate) fn from_json(value: Value) -> Self {
        Self { text: value.to_string(), value: Some(value) }
    }

    /// A rubric as YAML text.
    pub(crate) const fn from_yaml(text: String) -> Self {
        Self { text, value: None }
    }

    /// File name for the text; its extension gives the syntax.
    const fn file(&self) -> &'static str {
        if self.value.is_some() { "rubric.json" } else { "rubric.yaml" }
    }

    /// Hash of everything that is decoded; `vars` are the variables of a sample.
    pub(crate) fn hash(&self, vars: Option<&BTreeMap<String, Value>>) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.file().as_bytes());
        hasher.update(&(self.text.len() as u64).to_le_bytes());
        hasher.update(self.text.as_bytes());
        if let Some(vars) = vars {
            let vars = serde_json::to_vec(vars).unwrap_or_default();
            hasher.update(&vars);
        }

        hasher.finalize()
    }

    /// True if the text may contain `{{ name }}`.
    pub(crate) fn has_templates(&self) -> bool {
        self.text.contains("{{")
    }

    /// Number of bytes that are decoded for each sample.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Problems that don't depend on the sample: the rubric's size, and values that would open or run
    /// something.
    pub(crate) fn refuse(&self, limits: &RequestLimits) -> Vec<RequestProblem> {
        let mut problems = Vec::new();
        if self.text.len() > limits.rubric_bytes {
            problems.push(too_large("/rubric", self.text.len(), limits));
            return problems;
        }

        match &self.value {
            Some(value) => refuse_paths(value, "/rubric", &mut problems),
            // Invalid YAML is reported when the rubric is decoded.
            None => {
                if let Ok(document) = ParsedDocument::parse(Path::new(self.file()), &self.text) {
                    refuse_paths(&document.value(), "/rubric", &mut problems);
                }
            }
        }
        problems
    }

    /// Decodes the rubric. Warnings are ignored, except for a name without a value.
    ///
    /// # Errors
    /// With every problem and its position in the request.
    pub(crate) fn decode(
        &self,
        vars: &BTreeMap<String, Value>,
        limits: &RequestLimits,
        judges: &[String],
    ) -> Result<LoadedRubric, Vec<RequestProblem>> {
        let loaded = read_rubric_with(Path::new(self.file()), &self.text, vars);
        let mut placed = PlacedText::default();
        if let Some(value) = self.value.as_ref() {
            placed.write(value, "/rubric".to_owned());
        }
        let mut problems: Vec<RequestProblem> = loaded
            .diagnostics
            .iter()
            .filter_map(|found| {
                let mut message = describe_fault(found)?;
                if placed.places.is_empty() {
                    let at = loaded.sources.position(found.primary.span);
                    message = format!("line {}, column {}: {message}", at.line, at.column);
                }

                let place = placed.pointer(found.primary.span.start).unwrap_or("/rubric");
                Some(RequestProblem::new(place, message))
            })
            .collect();

        if problems.is_empty() {
            problems.extend(limit_problems(&loaded, limits, judges));
        }
        if problems.is_empty() { Ok(loaded) } else { Err(problems) }
    }
}

impl PlacedText {
    /// Pointer to the innermost value at an offset.
    pub(crate) fn pointer(&self, offset: usize) -> Option<&str> {
        let inside = self.places.iter().rev().find(|(range, _)| range.contains(&offset));
        inside.map(|(_, pointer)| pointer.as_str())
    }

    /// Appends a value as JSON under this pointer.
    pub(crate) fn write(&mut self, value: &Value, pointer: String) {
        let (place, start) = (self.places.len(), self.text.len());
        self.places.push((start..start, String::new()));
        match value {
            Value::Array(list) => {
                self.text.push('[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.write(item, child(&pointer, &index.to_string()));
                }
                self.text.push(']');
            }
            Value::Object(map) => {
                self.text.push('{');
                for (index, (key, item)) in map.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    let key_start = self.text.len();
                    self.text.push_str(&Value::from(key.as_str()).to_string());
                    let key_pointer = child(&pointer, key);
                    self.places.push((key_start..self.text.len(), key_pointer.clone()));
                    self.text.push(':');
                    self.write(item, key_pointer);
                }
                self.text.push('}');
            }
            other => self.text.push_str(&other.to_string()),
        }

        self.places[place] = (start..self.text.len(), pointer);
    }
}

/// Description of a diagnostic that makes a rubric unusable for grading; `None` for others. An eval file may
/// contain a name without a value on purpose; the reward of a sample must not depend on one.
pub(crate) fn describe_fault(found: &Diagnostic) -> Option<String> {
    if found.code == codes::UNKNOWN_VARIABLE {
        return Some(describe(found, std::iter::empty()));
    }

    (found.severity == Severity::Error).then(|| describe(found, found.help.iter()))
}

/// # Errors
/// When the rubric is so long, and has to be decoded for so many samples, that it would take too long.
pub(crate) fn check_repeats(bytes: usize, samples: usize) -> Result<(), ApiError> {
    if bytes.saturating_mul(samples) <= MAX_DECODED {
        return Ok(());
    }

    let message = format!(
        "a rubric with `{{{{ }}}}` is decoded for each sample: {samples} times {bytes} bytes is more than {} MiB; send fewer \
         samples",
        MAX_DECODED >> 20
    );
    Err(ApiError::invalid_at("/samples", message))
}

/// A diagnostic in one line: its title, the text that it is about, and these pieces of help.
pub(crate) fn describe<'a>(found: &'a Diagnostic, help: impl Iterator<Item = &'a String>) -> String {
    let mut message = found.title.clone();
    for part in [&found.primary.text].into_iter().chain(help).filter(|part| !part.is_empty()) {
        message.push_str("; ");
        message.push_str(part);
    }

    message
}

/// Problem of a rubric or scorecard that is too long. The length is checked first, since decoding always reads
/// all of it.
pub(crate) fn too_large(path: &str, bytes: usize, limits: &RequestLimits) -> RequestProblem {
    let message = format!("{bytes} bytes; at most {} are allowed in a request", limits.rubric_bytes);
    RequestProblem::new(path, message)
}

/// Adds problems for values that would open or run something.
pub(crate) fn refuse_paths(value: &Value, path: &str, problems: &mut Vec<RequestProblem>) {
    match value {
        Value::String(text) if text.trim_start().to_ascii_lowercase().starts_with("file:") => {
            problems
                .push(RequestProblem::new(path, "files can't be named in a request; send the text itself"));
        }
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                refuse_paths(item, &child(path, &index.to_string()), problems);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                let path = child(path, key);
                if REFUSED_KEYS.contains(&key.to_ascii_lowercase().as_str()) {
                    let message = format!(
                        "`{key}` is not allowed in the rubric of a request: nothing in it is opened or run. Put such a \
                         grader into an eval file, and run that with `assize eval`"
                    );
                    problems.push(RequestProblem::new(path, message));
                } else {
                    refuse_paths(item, &path, problems);
                }
            }
        }
        _ => {}
    }
}

/// Problems of a rubric that exceeds the limits of a request.
fn limit_problems(loaded: &LoadedRubric, limits: &RequestLimits, judges: &[String]) -> Vec<RequestProblem> {
    let mut problems = Vec::new();
    let Some(rubric) = &loaded.rubric else { return problems };
    let criteria = rubric.rubric.criteria().len();
    if criteria > limits.criteria {
        let message = format!("{criteria} criteria; at most {} are allowed", limits.criteria);
        problems.push(RequestProblem::new("/rubric", message));
    }

    // A short text may refer to a long value many times.
    let bytes: usize = rubric.rubric.criteria().iter().map(|criterion| criterion.text.len()).sum();
    if bytes > limits.rubric_bytes {
        let message = format!(
            "{bytes} bytes of criteria with the values of `vars`; at most {} are allowed",
            limits.rubric_bytes
        );
        problems.push(RequestProblem::new("/rubric", message));
    }

    let panel = &rubric.panel;
    let repeats = panel.repeats.unwrap_or(1) as usize;
    let voters = panel.judges.len().max(1) + usize::from(panel.escalate.is_some());
    let calls = criteria.saturating_mul(repeats).saturating_mul(voters);
    if calls > limits.calls_per_sample {
        let message = format!(
            "{calls} judge calls for each sample (criteria, judges and repeats multiplied); at most {} are allowed",
            limits.calls_per_sample
        );
        problems.push(RequestProblem::new("/rubric", message));
    }

    let named = rubric.judge.iter().map(|judge| (judge, "/rubric/judge"));
    let voting = panel.judges.iter().map(|judge| (&judge.name, "/rubric/panel"));
    let stronger = panel.escalate.iter().map(|escalate| (&escalate.to, "/rubric/panel"));
    for (judge, path) in named.chain(voting).chain(stronger) {
        if judge != assize_engine::OFFLINE && !judges.contains(judge) {
            let message = format!(
                "the judge `{judge}` is not one of this server; the operator names its judges with `--judge`"
            );
            problems.push(RequestProblem::new(path, message));
        }
    }

    problems
}

/// The rubric that is part of a request; `None` if the request only names one.
pub(crate) fn inline_rubric(source: RubricSource) -> Option<InlineRubric> {
    match source {
        RubricSource::Named(_) => None,
        RubricSource::Text(text) => Some(InlineRubric::from_yaml(text)),
        RubricSource::List(list) => Some(InlineRubric::from_json(Value::Array(list))),
        RubricSource::File(map) => Some(InlineRubric::from_json(Value::Object(map))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems_of(rubric: &Value) -> Vec<(String, String)> {
        let inline = InlineRubric::from_json(rubric.clone());
        let judges = ["openai:m".to_owned()];
        let found = inline.decode(&BTreeMap::new(), &RequestLimits::default(), &judges);
        let problems = found.err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
    }

    #[test]
    fn problems_of_a_rubric_stand_at_their_place_in_the_request() {
        let found = problems_of(&json!({"criteria": ["ok", {"outcome": "b", "wieght": 2}], "threshold": 7}));
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/rubric/criteria/1/wieght", "/rubric/threshold"], "{found:?}");
        assert!(found[0].1.contains("weight"), "{found:?}");
    }

    #[test]
    fn a_rubric_may_name_only_judges_of_the_server_and_ask_for_so_many_calls() {
        for allowed in ["offline", "openai:m"] {
            assert_eq!(problems_of(&json!({"criteria": ["a"], "judge": allowed})), []);
        }
        let found = problems_of(&json!({"criteria": ["a"], "judge": "openai:other"}));
        assert!(found[0].0 == "/rubric/judge" && found[0].1.contains("openai:other"), "{found:?}");

        let many: Vec<String> = (0..257).map(|number| format!("criterion {number}")).collect();
        assert!(problems_of(&json!(many))[0].1.contains("at most 256"));
        let repeated = json!({"criteria": many[..100].to_vec(), "panel": {"repeats": 50}});
        assert!(problems_of(&repeated)[0].1.contains("5000 judge calls"), "{:?}", problems_of(&repeated));
    }

    #[test]
    fn the_text_of_a_value_is_the_one_that_has_places() {
        let value = json!({"criteria": ["a \"b\" \u{1}", {"outcome": "é/~", "weight": 1.5, "x": null}], "b": [true, {}]});
        let mut placed = PlacedText::default();
        placed.write(&value, "/rubric".to_owned());
        assert_eq!(InlineRubric::from_json(value).text, placed.text);
    }

    #[test]
    fn a_rubric_that_is_too_long_is_not_decoded() {
        let limits = RequestLimits { rubric_bytes: 20, ..RequestLimits::default() };
        for rubric in [
            InlineRubric::from_json(json!(["a criterion that is too long"])),
            InlineRubric::from_yaml("- a criterion that is too long".to_owned()),
        ] {
            let found = rubric.refuse(&limits);
            assert!(found.len() == 1 && found[0].message.contains("at most 20"), "{found:?}");
            assert!(rubric.refuse(&RequestLimits::default()).is_empty());
        }
    }

    #[test]
    fn values_of_samples_do_not_make_a_rubric_longer_than_is_allowed() {
        let inline = InlineRubric::from_json(json!(["{{ a }}".repeat(1_000)]));
        for (length, reason) in [(2_000, "2000000 bytes of criteria"), (1 << 20, "too long")] {
            let vars = BTreeMap::from([("a".to_owned(), json!("a".repeat(length)))]);
            let found = inline.decode(&vars, &RequestLimits::default(), &[]).unwrap_err();
            assert!(found.len() == 1 && found[0].message.contains(reason), "{found:?}");
        }
    }

    #[test]
    fn a_long_rubric_is_not_decoded_for_many_samples() {
        let inline = InlineRubric::from_yaml(format!("- {{{{ name }}}} {}", "a".repeat(1 << 19)));
        assert!(check_repeats(inline.bytes(), 100).is_ok());
        let error = check_repeats(inline.bytes(), 1_000).unwrap_err();
        assert!(error.body.message.contains("more than 64 MiB"), "{}", error.body.message);
    }

    #[test]
    fn whatever_would_be_opened_or_run_is_refused_by_its_name() {
        let rubric = json!({"criteria": [
            {"outcome": "a", "command": ["rm"]}, {"outcome": " FILE:///etc/passwd"}, {"x": {"$ref": "y"}},
        ], "workspace": "/", "Target": "t"});
        let mut problems = Vec::new();
        refuse_paths(&rubric, "/rubric", &mut problems);
        let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        let expected = [
            "/rubric/criteria/0/command", "/rubric/criteria/1/outcome", "/rubric/criteria/2/x/$ref",
            "/rubric/workspace", "/rubric/Target",
        ];
        assert_eq!(paths, expected);
    }
}
