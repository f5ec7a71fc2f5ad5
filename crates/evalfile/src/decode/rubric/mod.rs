//! Decoders of criteria and of the rubrics they form.

mod bands;
mod file;
mod gate;
mod item;
mod list;
mod mistaken;

pub(crate) use list::{DecodedRubric, from_items, from_list};
pub(crate) use mistaken::text_became_map;

pub use file::{LoadedRubric, load_rubric, read_rubric, read_rubric_file};
