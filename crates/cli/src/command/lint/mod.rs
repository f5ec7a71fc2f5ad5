//! `assize lint`.

mod execute;
mod linted_file;
mod print;

pub(crate) use execute::execute;
