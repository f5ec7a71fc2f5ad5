//! Tests of loading eval files, and thereby of their readers, through the public functions of the crate.

mod agentv;
mod edit;
mod extensions;
mod golden;
mod matrix;
mod matrix_values;
mod programs;
mod suites;
mod targets;
mod workspaces;
