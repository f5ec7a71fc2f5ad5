//! `assize lint`.

mod execute;
mod print;

pub(crate) use execute::execute;
