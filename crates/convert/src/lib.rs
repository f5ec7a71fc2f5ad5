//! From one way of writing rubrics to another, with a list of everything that could not be carried over.
//!
//! [`detect`] says what a file is, [`convert`] writes it as something else. Between the formats of eval files the result
//! is read back and compared with the original, so that a change of meaning is told and not hoped against.

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
