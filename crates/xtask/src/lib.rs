//! What the development programs of this repository share: the layer rules, the build that every check uses, starting other programs.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

pub mod layers;
pub mod metadata;
pub mod shell;
pub mod workspace_build;
