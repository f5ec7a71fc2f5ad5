//! Tests as their authors wrote them, for functions that change them before they are run.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Case;

/// The test of a matrix file that a case comes from, with one of its combinations of variables. What an extension makes of
/// it is read like a test of the file, by the reader that the test comes from.
pub trait AuthoredTest: fmt::Debug + Send + Sync {
    /// Returns the id of the case.
    fn id(&self) -> &str;

    /// Returns the test as JSON, with the keys of promptfoo: `vars`, `assert`, `options`, `metadata` and the others that it
    /// has. Variables are not rendered yet.
    fn value(&self) -> &Value;

    /// Returns the text of its prompt, before variables are filled in.
    fn prompt(&self) -> Option<Value>;

    /// Returns the case of a test that was changed, `None` if it is the same. It keeps its id.
    ///
    /// # Errors
    /// The problems of the changed test, in words.
    fn change(&self, changed: &Value) -> Result<Option<Arc<Case>>, String>;
}

impl PartialEq for dyn AuthoredTest {
    fn eq(&self, other: &Self) -> bool {
        (self.id(), self.value()) == (other.id(), other.value())
    }
}
