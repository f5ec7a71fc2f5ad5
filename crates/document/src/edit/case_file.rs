//! Editing of a file of cases: adds values to cases and leaves the rest unchanged.

use std::path::{Path, PathBuf};

use assize_model::Case;
use serde_json::Value;

use super::candidate_edit::{CandidateEdit, EditableFile, with_mark};
use super::tree_path::{
    FileSyntax, PathStep, json_value_at, own_entries, parse_text, passes_alias, value_at,
};
use super::{EditError, TextChange, apply_changes};
use crate::file_ending::file_extension;
use crate::tree::TreeNode;

/// Keys of the list of cases.
const CASE_LISTS: [&str; 4] = ["tests", "evalcases", "eval_cases", "cases"];

/// The text of a file with cases: YAML, JSON, or JSONL.
///
/// Every change is verified before it is accepted: the new text is parsed, and its values must equal the old
/// ones plus the inserted value.
#[derive(Debug, Clone)]
pub struct CaseFile {
    path: PathBuf,
    text: String,
    notation: FileSyntax,
}

/// Location of a case in its file. Stays valid while other cases are changed through the same [`CaseFile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseLocation {
    /// Index of the line of a dataset, from 0; always 0 for other files.
    line: usize,
    steps: Vec<PathStep>,
}

/// A value to put into a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueInsertion {
    /// Value.
    pub value: Value,
    /// Lines of a comment above it, without `#`.
    pub comment: String,
    /// Key and text that are written into the case where comments are impossible, as in JSON. A case that
    /// already has this key keeps its own text.
    pub mark: (String, String),
}

impl ValueInsertion {
    fn mark_entry(&self) -> (String, Value) {
        (self.mark.0.clone(), Value::String(self.mark.1.clone()))
    }
}

impl CaseFile {
    /// Wraps the text of a file; the extension of the path determines its syntax.
    pub fn new(path: &Path, text: String) -> Self {
        let notation = match file_extension(path).as_str() {
            "jsonl" => FileSyntax::Lines,
            "json" if !text.trim().is_empty() => FileSyntax::Json,
            _ => FileSyntax::Yaml,
        };
        Self { path: path.to_path_buf(), text, notation }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the current text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Finds a case that was loaded from exactly this text.
    pub fn find(&self, case: &Case) -> Result<CaseLocation, EditError> {
        let mark = case.marks.id.as_ref().ok_or(EditError::NoCase)?;
        if self.notation == FileSyntax::Lines {
            let line = mark.first_line.checked_sub(1).ok_or(EditError::NoCase)?;
            let spot = CaseLocation { line, steps: Vec::new() };
            let root = self.parse_root(&spot)?.1;
            return if root.as_map().is_some() { Ok(spot) } else { Err(EditError::NoCase) };
        }

        let spot = |steps| CaseLocation { line: 0, steps };
        let root = self.parse_root(&spot(Vec::new()))?.1;
        let is_case = |node: &TreeNode| {
            node.get("id").is_some_and(|id| id.use_span().start == mark.start || id.span.start == mark.start)
        };
        let list_key =
            CASE_LISTS.into_iter().find(|key| root.get(key).is_some_and(|list| list.as_seq().is_some()));
        let (prefix, list) = match list_key {
            Some(key) => (vec![PathStep::Key(key.to_owned())], root.get(key)),
            None => (Vec::new(), Some(&root)),
        };
        if let Some(index) = list.and_then(TreeNode::as_seq).and_then(|items| items.iter().position(is_case))
        {
            let mut steps = prefix;
            steps.push(PathStep::Index(index));
            return Ok(spot(steps));
        }

        // A file that holds a single case. Without an `id`, the case is named after its folder.
        let alone =
            list_key.is_none() && root.as_map().is_some() && (is_case(&root) || root.get("id").is_none());
        if alone { Ok(spot(Vec::new())) } else { Err(EditError::NoCase) }
    }

    /// Returns the keys of a case as written, in order.
    pub fn keys(&self, case: &CaseLocation) -> Result<Vec<String>, EditError> {
        let (_, root) = self.parse_root(case)?;
        let node = value_at(&root, &case.steps).ok_or(EditError::NoCase)?;
        Ok(node.as_map().unwrap_or_default().iter().map(|entry| entry.key.clone()).collect())
    }

    /// Returns the value at a path of keys in a case.
    pub fn value(&self, case: &CaseLocation, keys: &[&str]) -> Result<Option<Value>, EditError> {
        let (_, root) = self.parse_root(case)?;
        Ok(value_at(&root, &path_to(case, keys)).map(TreeNode::to_json))
    }

    /// Adds an entry to a case.
    pub fn add_entry(
        &mut self,
        case: &CaseLocation,
        key: &str,
        new: &ValueInsertion,
    ) -> Result<(), EditError> {
        self.try_edits(case, &[], |page, map, expected| {
            if map.get(key).is_some() {
                return Err(EditError::Exists(key.to_owned()));
            }

            let mark = Some(new.mark_entry()).filter(|(key, _)| map.get(key).is_none());
            let sites = page.entry_edits(map, &new.comment, key, &new.value, mark.as_ref());
            let object = expected.as_object_mut().ok_or(EditError::NoCase)?;
            object.insert(key.to_owned(), new.value.clone());

            let marked = mark.map_or_else(|| expected.clone(), |mark| with_mark(expected, &mark));
            Ok((sites, marked))
        })
    }

    /// Adds an item to the list at a path of keys in a case.
    pub fn add_item(
        &mut self,
        case: &CaseLocation,
        keys: &[&str],
        new: &ValueInsertion,
    ) -> Result<(), EditError> {
        self.try_edits(case, keys, |page, list, expected| {
            let name = || EditError::NoList(keys.join("."));
            let items = expected.as_array_mut().ok_or_else(name)?;
            let mark = new.mark_entry();
            let sites = page.item_edits(list, &new.comment, &new.value, &mark);
            let mut marked = items.clone();

            items.push(new.value.clone());
            marked.push(with_mark(&new.value, &mark));

            Ok((sites, Value::Array(marked)))
        })
    }

    /// Replaces the value of an entry of a case.
    pub fn replace_entry(
        &mut self,
        case: &CaseLocation,
        key: &str,
        new: &ValueInsertion,
    ) -> Result<(), EditError> {
        self.try_edits(case, &[], |page, map, expected| {
            let own = own_entries(map);
            let entry = own.into_iter().find(|entry| entry.key == key).ok_or(EditError::NoCase)?;
            let sites = page.replace_entry_edits(map, entry, &new.comment, &new.value);
            let object = expected.as_object_mut().ok_or(EditError::NoCase)?;
            object.insert(key.to_owned(), new.value.clone());

            Ok((sites, expected.clone()))
        })
    }

    /// Replaces an item of the list at a path of keys in a case.
    pub fn replace_item(
        &mut self,
        case: &CaseLocation,
        keys: &[&str],
        index: usize,
        new: &ValueInsertion,
    ) -> Result<(), EditError> {
        self.try_edits(case, keys, |page, list, expected| {
            let name = || EditError::NoList(keys.join("."));
            let old = list.as_seq().and_then(|items| items.get(index)).ok_or_else(name)?;
            let mark = new.mark_entry();
            let sites = page.replace_item_edits(list, old, &new.comment, &new.value, &mark);
            let mut marked = expected.clone();

            *expected.get_mut(index).ok_or_else(name)? = new.value.clone();
            *marked.get_mut(index).ok_or_else(name)? = with_mark(&new.value, &mark);

            Ok((sites, marked))
        })
    }

    /// Returns the tree that holds a case, and its byte range in the file.
    fn parse_root(&self, case: &CaseLocation) -> Result<(std::ops::Range<usize>, TreeNode), EditError> {
        let range = match self.notation {
            FileSyntax::Lines => self.line_range(case.line).ok_or(EditError::NoCase)?,
            FileSyntax::Yaml | FileSyntax::Json => 0..self.text.len(),
        };
        let node = parse_text(&self.text[range.clone()], self.notation)?;
        Ok((range, node))
    }

    /// Returns the byte range of a line without its line end.
    fn line_range(&self, number: usize) -> Option<std::ops::Range<usize>> {
        let mut start = 0;
        for (index, line) in self.text.split_inclusive('\n').enumerate() {
            if index == number {
                return Some(start..start + line.trim_end_matches(['\n', '\r']).len());
            }
            start += line.len();
        }

        None
    }

    /// Tries candidate edits until one of them produces exactly the expected value. `look` returns the
    /// candidates and the expected value with the mark, and changes the value it is given into the expected one
    /// without the mark.
    fn try_edits(
        &mut self,
        case: &CaseLocation,
        keys: &[&str],
        look: impl FnOnce(
            &EditableFile<'_>,
            &TreeNode,
            &mut Value,
        ) -> Result<(Vec<CandidateEdit>, Value), EditError>,
    ) -> Result<(), EditError> {
        let (range, root) = self.parse_root(case)?;
        let steps = path_to(case, keys);
        if passes_alias(&root, &steps) {
            return Err(EditError::Alias);
        }

        let node = value_at(&root, &steps).ok_or_else(|| match keys {
            [] => EditError::NoCase,
            keys => EditError::NoList(keys.join(".")),
        })?;
        let text = &self.text[range.clone()];
        let page = EditableFile { text, notation: self.notation, root: &root };
        let mut expected = root.to_json();
        let mut marked = expected.clone();
        let part = json_value_at(&mut expected, &steps).ok_or(EditError::NoCase)?;
        let (sites, with_mark) = look(&page, node, part)?;
        *json_value_at(&mut marked, &steps).ok_or(EditError::NoCase)? = with_mark;

        for site in sites {
            let wanted = if site.commented { &expected } else { &marked };
            let Some(new) = apply_changes(text, [&site.change]) else { continue };
            if parse_text(&new, self.notation)
                .is_ok_and(|tree| tree.to_json() == *wanted || !site.commented && tree.to_json() == expected)
            {
                let change = TextChange { start: range.start, end: range.end, text: new };
                self.text = apply_changes(&self.text, [&change]).ok_or(EditError::NoSafeEdit)?;
                return Ok(());
            }
        }

        Err(EditError::NoSafeEdit)
    }
}

fn path_to(case: &CaseLocation, keys: &[&str]) -> Vec<PathStep> {
    let mut steps = case.steps.clone();
    steps.extend(keys.iter().map(|key| PathStep::Key((*key).to_owned())));
    steps
}
