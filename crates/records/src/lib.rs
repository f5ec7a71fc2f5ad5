//! Reads records of other evaluation tools as cases with answers: logs, results and datasets, with one reader
//! per format.
//!
//! [`detect_records`] recognises the format of a file from its content, [`read_records`] reads the records. A
//! record without an answer has a reason for that: if a sample ended in an error, its answer is unknown, and
//! not empty.

#![warn(missing_docs)]

mod archive;
mod deepeval;
mod detect;
mod error;
mod inspect;
mod openai_evals;
mod promptfoo;
mod record;
mod skill_evals;
mod text;
mod unique_ids;

use std::path::Path;

pub use assize_limits::RECORD_BYTES as MAX_RECORD_BYTES;
pub use detect::{RecordFormat, detect_records};
pub use error::{RecordError, RecordProblem};
pub use record::{Record, RecordFile};
pub use unique_ids::UniqueIds;

/// Reads the records of a file in a format that [`detect_records`] found. Records that can't be read are listed
/// as problems of the file.
///
/// # Errors
/// If the file can't be read, is not a document of this format, or is larger than [`MAX_RECORD_BYTES`].
pub fn read_records(path: &Path, format: RecordFormat) -> Result<RecordFile, RecordError> {
    let mut file = match format {
        RecordFormat::Inspect => inspect::read_log(path)?,
        RecordFormat::Promptfoo => promptfoo::read_results(&text::read_bytes(path)?)?,
        RecordFormat::OpenAiEvals => openai_evals::read_samples(&text::read_bytes(path)?),
        RecordFormat::DeepEval => deepeval::read_dataset(&text::read_bytes(path)?)?,
        RecordFormat::SkillEvals => skill_evals::read_evals(&text::read_bytes(path)?)?,
    };

    let repeated = file.make_ids_unique();
    // In other formats, results of several providers and repeats are numbered as a matter of course. Here
    // people chose the names.
    if matches!(format, RecordFormat::SkillEvals | RecordFormat::DeepEval) && !repeated.is_empty() {
        let names: Vec<String> = repeated.iter().map(|id| format!("`{id}`")).collect();
        file.remarks.push(format!(
            "several records are called {}: the later ones got a number, such as `{}-2`",
            names.join(", "),
            repeated.first().map_or("", String::as_str)
        ));
    }

    Ok(file)
}

#[cfg(test)]
mod tests;
