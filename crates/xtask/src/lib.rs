//! What the development programs of this repository share: the layer rules, the build that every check uses, starting other programs.

pub mod layers;
pub mod metadata;
pub mod shell;
pub mod workspace_build;
