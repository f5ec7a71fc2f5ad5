//! The records of a stored run.

use assize_store::{CaseRecord, RunFolder};

use crate::error::EngineError;

/// Reads the records of a stored run.
pub fn stored_records(
    folder: &RunFolder,
) -> Result<impl Iterator<Item = Result<CaseRecord, EngineError>>, EngineError> {
    Ok(folder.cases()?.map(|record| record.map_err(EngineError::from)))
}
