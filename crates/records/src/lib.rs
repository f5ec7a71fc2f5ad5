//! Records of other evaluation tools as cases with answers: logs, results and data sets, one reader per format.
//!
//! [`detect_records`] recognises a format from the content of a file, [`read_records`] reads the records of one. A record
//! without an answer says why it has none: that of a sample which ended in an error is not empty but unknown.
//!
//! Design: `docs/design/conversions.md`.

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

pub use detect::{RecordFormat, detect_records};
pub use error::{RecordError, RecordProblem};
pub use record::{Record, RecordFile};
pub use unique_ids::UniqueIds;

/// Maximum size of a file of records that is read as a whole, and of a sample in an archive, in bytes.
pub const MAX_RECORD_BYTES: u64 = 256 * 1024 * 1024;

/// Reads the records of a file in a format that [`detect_records`] found. Records that can't be read are among its problems.
///
/// # Errors
/// When the file can't be read, is not a document of this format, or is larger than [`MAX_RECORD_BYTES`].
pub fn read_records(path: &Path, format: RecordFormat) -> Result<RecordFile, RecordError> {
    let mut file = match format {
        RecordFormat::Inspect => inspect::read_log(path)?,
        RecordFormat::Promptfoo => promptfoo::read_results(&text::read_bytes(path)?)?,
        RecordFormat::OpenAiEvals => openai_evals::read_samples(&text::read_bytes(path)?),
        RecordFormat::DeepEval => deepeval::read_dataset(&text::read_bytes(path)?)?,
        RecordFormat::SkillEvals => skill_evals::read_evals(&text::read_bytes(path)?)?,
    };

    let repeated = file.make_ids_unique();
    // Results of several providers and repeats are numbered as a matter of course; these names were given by people.
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
