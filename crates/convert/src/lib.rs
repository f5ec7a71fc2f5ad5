//! Converts between rubric formats, and lists the parts that could not be converted.
//!
//! [`detect`] recognises the format of a file, [`convert`] writes it in another. Between the formats of eval
//! files, the result is read back and compared with the original, so that changes of meaning are reported.

#![warn(missing_docs)]

mod compare;
mod convert;
mod csv;
mod detect;
mod devai;
mod error;
mod eval_file_builder;
mod export;
mod formats;
mod healthbench;
mod loaded;
mod note;
mod paperbench;
mod promptfoo;
mod records;
mod scorecard_tree;
mod tree;

pub use compare::differences;
pub use convert::{ConvertedFile, ExportFormat, convert};
pub use detect::{ImportFormat, detect};
pub use error::ConvertError;
pub use note::ConversionNote;
pub use records::convert_records;

#[cfg(test)]
mod tests;
