//! Small helpers for the tests of this crate.

use std::sync::Arc;

use crate::decode::DecodeContext;

/// A context without files.
pub(crate) fn context() -> DecodeContext {
    context_with(|_| None)
}

/// Returns a context without access to files, with this environment.
pub(crate) fn context_with(
    environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> DecodeContext {
    DecodeContext::new(Arc::new(environment), Vec::new(), Vec::new())
}
