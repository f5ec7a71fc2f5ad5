//! Pages of the results of a stored run: cases that did not pass come first, each part in the order of the eval
//! files.

use std::str::FromStr;

use assize_engine::{CaseSelector, EngineError, ReportMaterial, stored_records};
use assize_rubric::Verdict;
use assize_store::{RecordPlace, ResultRow, first_in_order};
use serde_json::{Value, json};

use crate::arguments::ResultDetail;
use crate::outcome::ToolFailure;

/// Number of results on a page unless requested otherwise.
pub(crate) const DEFAULT_PAGE_SIZE: usize = 20;
/// Maximum number of results on a page.
pub(crate) const MAX_PAGE_SIZE: usize = 100;

/// Part of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultPart {
    /// Cases that did not pass.
    NotPassed,
    /// Cases that passed.
    Passed,
}

impl ResultPart {
    fn takes(self, row: &ResultRow) -> bool {
        (row.verdict == Verdict::Pass) == (self == Self::Passed)
    }
}

/// Position after which a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageCursor {
    part: ResultPart,
    after: Option<RecordPlace>,
}

impl Default for PageCursor {
    fn default() -> Self {
        Self { part: ResultPart::NotPassed, after: None }
    }
}

impl std::fmt::Display for PageCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = match self.part {
            ResultPart::NotPassed => "not-passed",
            ResultPart::Passed => "passed",
        };
        match self.after {
            None => f.write_str(part),
            Some((place, index)) => write!(f, "{part}.{place}.{index}"),
        }
    }
}

impl FromStr for PageCursor {
    type Err = ToolFailure;

    fn from_str(text: &str) -> Result<Self, ToolFailure> {
        let unknown = || ToolFailure::usage("`cursor` is not the `next_cursor` of an earlier page");
        let mut words = text.split('.');
        let part = match words.next() {
            Some("not-passed") => ResultPart::NotPassed,
            Some("passed") => ResultPart::Passed,
            _ => return Err(unknown()),
        };

        let after = match (words.next(), words.next(), words.next()) {
            (None, ..) => None,
            (Some(place), Some(index), None) => {
                Some((place.parse().map_err(|_| unknown())?, index.parse().map_err(|_| unknown())?))
            }
            _ => return Err(unknown()),
        };
        Ok(Self { part, after })
    }
}

/// A request for a page.
pub(crate) struct PageRequest<'a> {
    pub(crate) selector: CaseSelector<'a>,
    pub(crate) failures_only: bool,
    pub(crate) limit: usize,
    pub(crate) cursor: PageCursor,
}

/// A page of results.
#[derive(Debug)]
pub(crate) struct ResultsPage {
    pub(crate) rows: Vec<ResultRow>,
    /// Start of the next page; `None` at the end.
    pub(crate) next: Option<PageCursor>,
}

/// Reads a page of a run.
pub(crate) fn read_page(
    material: &ReportMaterial,
    request: &PageRequest<'_>,
) -> Result<ResultsPage, EngineError> {
    let mut cursor = request.cursor;
    let mut rows = Vec::new();

    loop {
        let records = stored_records(&material.folder)?.map(|record| {
            let mut record = record?;
            material.prepare(&mut record);
            Ok::<_, EngineError>(record)
        });
        let wanted = |record: &assize_store::CaseRecord| {
            request.selector.takes(&record.result) && cursor.part.takes(&record.result)
        };
        let (found, all) = first_in_order(records, wanted, cursor.after, request.limit - rows.len())?;

        let has_more = all > found.len();
        if let Some((place, _)) = found.last_key_value() {
            cursor.after = Some(*place);
        }
        rows.extend(found.into_values().map(|record| record.result));

        if has_more {
            return Ok(ResultsPage { rows, next: Some(cursor) });
        }
        if request.failures_only || cursor.part == ResultPart::Passed {
            return Ok(ResultsPage { rows, next: None });
        }
        cursor = PageCursor { part: ResultPart::Passed, after: None };
    }
}

/// A result as data. Texts of answers and judges appear only in `answer`, `reason` and `evidence`.
pub(crate) fn row_json(row: &ResultRow, detail: ResultDetail) -> Result<Value, ToolFailure> {
    match detail {
        ResultDetail::Full => {
            serde_json::to_value(row).map_err(|error| ToolFailure::internal(error.to_string()))
        }
        ResultDetail::Brief => Ok(json!({
            "case_id": row.case_id,
            "test": row.test_id(),
            "prompt": row.prompt,
            "suite": row.suite,
            "target": row.target,
            "repeat": row.trial,
            "verdict": row.verdict,
            "score": row.score,
            "score_low": row.score_low,
            "score_high": row.score_high,
            "coverage": row.coverage,
            "gates_failed": row.gates_failed,
            "error": row.error,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let places = [None, Some((1, 0)), Some((u64::MAX, 12))];
        for part in [ResultPart::NotPassed, ResultPart::Passed] {
            for after in places {
                let cursor = PageCursor { part, after };
                assert_eq!(cursor.to_string().parse::<PageCursor>().expect("a cursor"), cursor);
            }
        }
        for text in ["", "passed.1", "passed.1.2.3", "passed.-1.2", "other", "passed.x.y"] {
            assert!(text.parse::<PageCursor>().is_err(), "{text}");
        }
    }
}
