//! `extensions` of suites: code of their authors that is run around their tests.
//!
//! Design: `docs/design/scripts.md`.

mod context;
mod evaluate;
mod hooks;
mod preflight;

pub(crate) use hooks::{ExtensionPool, ExtensionUse};
