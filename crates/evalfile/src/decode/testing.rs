//! Small helpers for the tests of this crate.

use std::sync::Arc;

use super::Context;

/// A context without files.
pub(crate) fn context() -> Context {
    context_with(|_| None)
}

/// A context without files, with this environment.
pub(crate) fn context_with(environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Context {
    Context::new(Arc::new(environment), Vec::new(), Vec::new())
}
