//! Scorecards with the real binary: listed, run, scored, explained and compared.

mod compare;
mod example;
mod explain;
mod panel;
mod run;
mod support;
