//! What people said about the cases of a run, read again when a file of labels changes.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::SystemTime;

use assize_engine::LabelledItem;

use crate::text::visible;

/// Labels by the row of their case. Few cases of a run are labelled.
#[derive(Debug, Default)]
pub(crate) struct RunPeople(HashMap<u32, Vec<LabelledItem>>);

impl RunPeople {
    pub(crate) fn insert(&mut self, row: u32, items: Vec<LabelledItem>) {
        if !items.is_empty() {
            self.0.insert(row, items);
        }
    }

    /// The labelled criteria of a case.
    pub(crate) fn of(&self, row: u32) -> &[LabelledItem] {
        self.0.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Returns true if people contradict the judge or each other on a criterion of a case.
    pub(crate) fn is_disputed(&self, row: u32) -> bool {
        self.of(row).iter().any(|item| item.is_disputed)
    }
}

/// The labels of a criterion or benchmark, by its name as `GRADER/ID`, or by its code.
pub(crate) fn labels_of<'l>(items: &'l [LabelledItem], name: &str) -> Option<&'l LabelledItem> {
    items.iter().find(|item| {
        let rest = name.strip_suffix(item.criterion.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    })
}

/// What people said about a criterion, a text for each person.
pub(crate) fn words_of_people(item: &LabelledItem) -> Vec<String> {
    let words = item.people.iter().map(|one| {
        let who = if one.who.is_empty() { "somebody" } else { &one.who };
        let note = if one.note.is_empty() { String::new() } else { format!(" – {}", one.note) };
        visible(&format!("{who}: {}{note}", one.says))
    });
    words.collect()
}

/// The files in folders of labels, with their lengths and when they were last modified.
pub(crate) fn label_stamp(folders: &[PathBuf]) -> BTreeSet<(PathBuf, u64, Option<SystemTime>)> {
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let stamps = files.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        Some((entry.path(), metadata.len(), metadata.modified().ok()))
    });
    stamps.collect()
}
