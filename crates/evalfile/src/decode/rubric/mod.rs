//! Decoders of criteria and of the rubrics they form.

mod bands;
mod criterion;
mod criterion_text;
mod file;
mod gate;
mod list;
mod text_as_map;

pub(crate) use list::{DecodedRubric, rubric_from_items, rubric_from_list};
pub(crate) use text_as_map::detect_text_as_map;

pub use file::{
    LoadedRubric, load_rubric, load_rubric_with, read_rubric, read_rubric_file, read_rubric_file_with,
    read_rubric_with,
};
