//! Conversion between rubric formats, with a list of everything that could not be converted.
//!
//! [`detect`] recognises the format of a file, [`convert`] writes it in another. Between the formats of eval
//! files the result is read back and compared with the original, so that a change of meaning is reported.

#![warn(missing_docs)]

mod card;
mod compare;
mod convert;
mod csv;
mod detect;
mod devai;
mod doc;
mod export;
mod formats;
mod healthbench;
mod note;
mod paperbench;
mod promptfoo;
mod tree;

pub use compare::differences;
pub use convert::{ConvertError, Converted, To, convert};
pub use detect::{From, detect};
pub use note::Note;
