//! Searches all texts that a run stores about its cases: ids, answers, reasons, quotes, errors, questions.

use std::collections::HashSet;

use assize_store::{QuestionRow, RowsFile, RunFolder, StoreError};
use regex::{Regex, RegexBuilder, bytes};

use super::case_index::CaseTableIndex;
use super::row_head::SearchedRow;

/// A search text, which matches in any letter case.
struct SearchedText {
    /// Matches the text as JSON writes it. A row without a match need not be parsed.
    raw: bytes::Regex,
    plain: Regex,
}

impl SearchedText {
    fn new(text: &str) -> Option<Self> {
        let written = serde_json::to_string(text).ok()?;
        let written = written.get(1..written.len() - 1)?;
        let raw = bytes::RegexBuilder::new(&regex::escape(written)).case_insensitive(true).build().ok()?;
        let plain = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok()?;

        Some(Self { raw, plain })
    }
}

/// Finds the rows that contain a text. Returns one value for each row of the index.
pub(crate) fn search_text(
    folder: &RunFolder,
    index: &CaseTableIndex,
    text: &str,
    readers: usize,
) -> Result<Vec<bool>, StoreError> {
    let mut found = vec![false; index.len()];
    // A text too long for a pattern is in no row.
    let Some(searched) = SearchedText::new(text) else { return Ok(found) };

    let questions = folder.scan_rows(RowsFile::Questions, 0, readers, |hashes: &mut Vec<String>, _, line| {
        if !searched.raw.is_match(line) {
            return Ok(());
        }

        let row: QuestionRow = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let texts = [&row.question, &row.expected_outcome, &row.reference];
        if texts.into_iter().flatten().any(|text| searched.plain.is_match(text)) {
            hashes.push(row.case_hash);
        }
        Ok(())
    });
    // Runs of older versions have no file of questions.
    let matching: HashSet<String> = match questions {
        Ok(questions) => questions.parts.into_iter().flatten().collect(),
        Err(StoreError::Io { .. }) => HashSet::new(),
        Err(error) => return Err(error),
    };

    let rows = folder.scan_rows(RowsFile::Results, 0, readers, |offsets: &mut Vec<u64>, offset, line| {
        if matching.is_empty() && !searched.raw.is_match(line) {
            return Ok(());
        }

        let row: SearchedRow<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let is_asked = row.question().is_some_and(|hash| matching.contains(hash));
        if is_asked || row.has(|text| searched.plain.is_match(text)) {
            offsets.push(offset);
        }
        Ok(())
    })?;

    for offset in rows.parts.into_iter().flatten() {
        if let Some(row) = index.row_at(offset) {
            found[row as usize] = true;
        }
    }

    Ok(found)
}
