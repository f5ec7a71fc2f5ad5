//! Scorecards with the real binary: listed, run, scored, explained and compared.

mod compare;
mod conclusion;
mod example;
mod explain;
mod labels;
mod measurement;
mod panel;
mod people;
mod review;
mod run;
mod spreadsheet;
pub(crate) mod support;
