//! A record: a question, its answer, and metadata about both.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{RecordFormat, RecordProblem, UniqueIds};

/// Records of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordFile {
    /// Format that was read.
    pub format: RecordFormat,
    /// Name of the thing that was evaluated: a task or a skill.
    pub name: Option<String>,
    /// Records, in an order that does not depend on which of them was completed first.
    pub records: Vec<Record>,
    /// Remarks about the whole file. Each is a sentence without a full stop.
    pub remarks: Vec<String>,
    /// Records that can't be read, in the order of their lines.
    pub problems: Vec<RecordProblem>,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Id, unique in the file.
    pub id: String,
    /// Question: a text, or a list of messages.
    pub input: Option<Value>,
    /// Answer: a text, a list of messages with tool calls, or another JSON value. The error is the reason why
    /// there is none.
    pub output: Result<Value, String>,
    /// Reference answer.
    pub reference: Option<String>,
    /// Expected outcome, in a sentence.
    pub expected_outcome: Option<String>,
    /// Requirements of the other tool: strings, and promptfoo's assertions as maps.
    pub assertions: Vec<Value>,
    /// Threshold in the other tool for the whole record, from 0 to 1.
    pub threshold: Option<f64>,
    /// Paths of files that belong to the question, relative to the file of records.
    pub files: Vec<String>,
    /// Types of the parts of question and answer that are not text, such as `image`. The texts contain only the names
    /// of these types.
    pub left_out: BTreeSet<String>,
    /// All other data. `cluster` is an id that records about the same question share.
    pub metadata: Map<String, Value>,
}

impl Record {
    /// Creates a record without an answer, because of `reason`.
    pub(crate) fn new(id: impl Into<String>, reason: &str) -> Self {
        Self {
            id: id.into(),
            input: None,
            output: Err(reason.to_owned()),
            reference: None,
            expected_outcome: None,
            assertions: Vec::new(),
            threshold: None,
            files: Vec::new(),
            left_out: BTreeSet::new(),
            metadata: Map::new(),
        }
    }

    /// Adds metadata, unless the value is empty or the key is taken.
    pub(crate) fn add_metadata(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !is_empty && !self.metadata.contains_key(key) {
            self.metadata.insert(key.to_owned(), value);
        }
    }

    /// Returns the record as a case with its answer, with keys that both eval files and files of answers have.
    /// `None` if there is no answer. Assertions and files are not included.
    pub fn to_answer(&self) -> Option<Value> {
        let output = self.output.as_ref().ok()?;
        let mut case = Map::new();
        case.insert("id".to_owned(), json!(self.id));
        if let Some(input) = &self.input {
            case.insert("input".to_owned(), input.clone());
        }
        case.insert("output".to_owned(), output.clone());
        if let Some(reference) = &self.reference {
            case.insert("expected_output".to_owned(), json!(reference));
        }
        if let Some(outcome) = &self.expected_outcome {
            case.insert("criteria".to_owned(), json!(outcome));
        }
        if !self.metadata.is_empty() {
            case.insert("metadata".to_owned(), Value::Object(self.metadata.clone()));
        }

        Some(Value::Object(case))
    }
}

impl RecordFile {
    pub(crate) fn new(format: RecordFormat, name: Option<String>) -> Self {
        Self { format, name, records: Vec::new(), remarks: Vec::new(), problems: Vec::new() }
    }

    /// Returns the records without an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = (&Record, &str)> {
        self.records.iter().filter_map(|record| Some((record, record.output.as_ref().err()?.as_str())))
    }

    /// Removes control characters from ids, and numbers repeated ones. Returns the ids that several records
    /// had.
    pub(crate) fn make_ids_unique(&mut self) -> BTreeSet<String> {
        let mut taken = UniqueIds::default();
        let mut repeated = BTreeSet::new();
        for (index, record) in self.records.iter_mut().enumerate() {
            let clean: String = record.id.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let wish = match clean.trim() {
                "" => format!("record-{}", index + 1),
                clean => clean.to_owned(),
            };
            record.id = taken.take(&wish);
            if record.id != wish {
                repeated.insert(wish);
            }
        }

        repeated
    }
}
