//! `assize lint`.

mod execute;
mod judge;
mod print;

pub(crate) use execute::execute;
