//! Writes a draft into its case.

use assize_document::{CaseFile, CaseLocation, EditError, ValueInsertion};
use assize_evalfile::criterion_value;
use assize_model::EvalFileFormat;
use assize_rubric::Criterion;
use serde_json::{Value, json};

/// Where a case of the `tests` format may have its graders; the first that exists counts.
const LISTS: [&[&str]; 6] = [
    &["assertions"],
    &["assert"],
    &["execution", "assertions"],
    &["execution", "assert"],
    &["execution", "evaluators"],
    &["evaluators"],
];

/// Key for the remark in formats without comments.
const DRAFT_KEY: &str = "x-draft";

/// Why a draft was not written.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The file could not be edited there.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// There are several rubrics, and a program can't decide which one to replace.
    #[error("it has several rubrics; remove the ones to replace")]
    SeveralRubrics,
    /// The rubric is elsewhere.
    #[error("its rubric is not in the case, but in the suite or another file")]
    Elsewhere,
}

/// Criteria to be written into a case.
#[derive(Debug, Clone)]
pub struct CaseDraft<'c> {
    /// The criteria.
    pub criteria: &'c [Criterion],
    /// The format of the file.
    pub format: EvalFileFormat,
    /// Author of the draft, for the remark.
    pub by: &'c str,
}

impl CaseDraft<'_> {
    /// Writes the draft into a case without a rubric.
    pub fn write(&self, file: &mut CaseFile, spot: &CaseLocation) -> Result<(), PlaceError> {
        match self.format {
            EvalFileFormat::One => file.add_entry(spot, "rubrics", &self.insertion(self.list()))?,
            EvalFileFormat::Two => {
                if let Some((keys, _)) = list(file, spot)? {
                    file.add_item(spot, keys, &self.insertion(self.grader()))?;
                } else {
                    let graders = Value::Array(vec![self.grader()]);
                    file.add_entry(spot, "assertions", &self.insertion(graders))?;
                }
            }
        }
        Ok(())
    }

    /// Replaces the rubric of the case with the draft.
    pub fn replace(&self, file: &mut CaseFile, spot: &CaseLocation) -> Result<(), PlaceError> {
        let inline = file.value(spot, &["rubrics"])?.is_some();
        let in_list = list(file, spot)?.map(|(keys, items)| {
            let found: Vec<usize> = (0..items.len()).filter(|index| is_rubric(&items[*index])).collect();
            (keys, items.len(), found)
        });
        let found = in_list.as_ref().map_or(&[][..], |(_, _, found)| found.as_slice());
        match (inline, found, &in_list) {
            (true, [], _) => {
                file.replace_entry(spot, "rubrics", &self.insertion(self.list()))?;
                Ok(())
            }
            // The list contains only rubrics, so the draft replaces the whole list, with the remark above it.
            (false, [_, ..], Some((keys, all, found))) if found.len() == *all && keys.len() == 1 => {
                let graders = Value::Array(vec![self.grader()]);
                file.replace_entry(spot, keys[0], &self.insertion(graders))?;
                Ok(())
            }
            (false, [index], Some((keys, ..))) => {
                file.replace_item(spot, keys, *index, &self.insertion(self.grader()))?;
                Ok(())
            }
            (false, [], _) => Err(PlaceError::Elsewhere),
            _ => Err(PlaceError::SeveralRubrics),
        }
    }

    fn list(&self) -> Value {
        self.criteria.iter().map(|criterion| criterion_value(criterion, self.format)).collect()
    }

    fn grader(&self) -> Value {
        match self.format {
            EvalFileFormat::One => json!({"name": "rubrics", "type": "rubrics", "rubrics": self.list()}),
            EvalFileFormat::Two => json!({"type": "rubrics", "criteria": self.list()}),
        }
    }

    fn insertion(&self, value: Value) -> ValueInsertion {
        let remark = format!("Draft by {}: read it, correct it, then remove this comment.", self.by);
        ValueInsertion { value, comment: remark.clone(), mark: (DRAFT_KEY.to_owned(), remark) }
    }
}

type List = (&'static [&'static str], Vec<Value>);

fn list(file: &CaseFile, spot: &CaseLocation) -> Result<Option<List>, EditError> {
    for keys in LISTS {
        if let Some(Value::Array(items)) = file.value(spot, keys)? {
            return Ok(Some((keys, items)));
        }
    }
    Ok(None)
}

/// True for a grader that is a rubric: a plain text, or a grader with that type in any spelling.
fn is_rubric(item: &Value) -> bool {
    let named = item.get("type").and_then(Value::as_str).is_some_and(|name| {
        let name = name.trim().to_ascii_lowercase();
        matches!(name.as_str(), "rubrics" | "rubric")
            || name.starts_with("llm") && (item.get("rubrics").is_some() || item.get("criteria").is_some())
    });
    item.is_string() || named
}
