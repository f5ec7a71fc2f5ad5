//! Reads a stored run for a trend, case by case to save memory.

use assize_analysis::trend::TrendReader;
use assize_analysis::{CaseFact, NameTable};
use assize_store::{AnswerPart, RunFolder};

use crate::error::EngineError;
use crate::stored_records::stored_records;

/// Reads the cases of a run that belong to `part` and to suites that `takes` accepts.
///
/// # Errors
/// If the run can't be read.
pub fn read_trend(
    folder: &RunFolder,
    part: &AnswerPart,
    takes: impl Fn(&str) -> bool,
) -> Result<TrendReader, EngineError> {
    let mut reader = TrendReader::default();
    for record in stored_records(folder)? {
        let record = record?;
        if !part.takes(&record.result) || record.result.is_later_attempt() {
            continue;
        }
        if takes(&record.result.suite) {
            let mut names = NameTable::default();
            reader.add(&CaseFact::from_record(&record, &mut names), &names);
        }
    }

    Ok(reader)
}
