//! A matrix file as a file of the `tests` format, for conversions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assize_diagnostic::Span;
use assize_document::TreeNode;
use assize_model::FilePosition;
use serde_json::{Map, Value, json};

/// A matrix file as a file of the `tests` format.
#[derive(Debug, Clone, Default)]
pub struct LoweredSuite {
    /// Keys of the suite, without its cases.
    pub head: Map<String, Value>,
    /// One case for each combination of prompt, test and variables, as a value of `tests`.
    pub cases: Vec<Value>,
    /// Definitions of the providers, in the spelling of targets files.
    pub targets: Vec<LoweredTarget>,
    /// Parts that the `tests` format can't express, or that this program can't run, in the order in which they were found.
    pub losses: Vec<LoweredLoss>,
    /// Folder of the file. Its references are relative to this folder.
    pub folder: PathBuf,
    /// For each assertion, the number of cases that lack it.
    left_out: HashMap<Span, usize>,
}

/// A provider as a target.
#[derive(Debug, Clone)]
pub struct LoweredTarget {
    /// Name that the file uses for it.
    pub name: String,
    /// Its entry in a targets file.
    pub entry: Value,
    /// Position of its definition.
    pub place: FilePosition,
    /// Reasons why it can't be run.
    pub problems: Vec<String>,
}

/// A part of a file that was lost.
#[derive(Debug, Clone)]
pub struct LoweredLoss {
    /// Position of the part.
    pub place: FilePosition,
    /// Name of the part.
    pub item: String,
    /// Effect on it.
    pub what: String,
    /// Number of cases that lack it.
    pub cases: usize,
}

impl LoweredSuite {
    /// Creates a collector for a file.
    pub fn new(path: &Path) -> Self {
        Self { folder: path.parent().unwrap_or(Path::new("")).to_path_buf(), ..Self::default() }
    }

    /// Sets the keys of the suite: its names, and the settings of `node`.
    pub fn set_head(
        &mut self,
        name: &str,
        description: Option<&str>,
        tags: &[String],
        metadata: &Map<String, Value>,
        node: &TreeNode,
    ) {
        self.head.insert("name".to_owned(), json!(name));
        if let Some(description) = description {
            self.head.insert("description".to_owned(), json!(description));
        }
        if !tags.is_empty() {
            self.head.insert("tags".to_owned(), json!(tags));
        }
        if !metadata.is_empty() {
            self.head.insert("metadata".to_owned(), Value::Object(metadata.clone()));
        }
        if let Value::Object(settings) = node.to_json() {
            let is_set = |value: &Value| value.as_object().is_none_or(|map| !map.is_empty());
            self.head.extend(settings.into_iter().filter(|(_, value)| is_set(value)));
        }
    }

    /// Names the targets that all cases are put to.
    pub fn name_targets<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            let execution = self.head.entry("execution").or_insert_with(|| json!({}));
            execution["targets"] = json!(names);
        }
    }

    /// Counts a case that lacks an assertion because it can't be read. A diagnostic gives the reason.
    pub fn leave_out(&mut self, assertion: Span) {
        *self.left_out.entry(assertion).or_default() += 1;
    }

    /// Returns the number of cases that lack the assertion at a span.
    pub fn cases_without(&self, span: Span) -> usize {
        let holds =
            |outer: &Span| outer.source == span.source && outer.start <= span.start && span.end <= outer.end;
        self.left_out.iter().find(|(outer, _)| holds(outer)).map_or(0, |(_, count)| *count)
    }

    /// Notes a part that is lost; once, however many cases lack it.
    pub fn lose(&mut self, place: &FilePosition, item: &str, what: &str) {
        let known = self.losses.iter_mut().find(|loss| loss.place == *place && loss.item == item);
        match known {
            Some(loss) => loss.cases += 1,
            None => self.losses.push(LoweredLoss {
                place: place.clone(),
                item: item.to_owned(),
                what: what.to_owned(),
                cases: 1,
            }),
        }
    }
}
