//! The `extensions` of suites: the authors' code that runs around their tests.

mod context;
mod evaluate;
mod hooks;
mod preflight;

pub(crate) use hooks::{ExtensionPool, ExtensionUse};
