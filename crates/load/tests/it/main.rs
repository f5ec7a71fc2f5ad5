//! Tests of opening eval files, and with it of their readers, through what the crate exports.

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
