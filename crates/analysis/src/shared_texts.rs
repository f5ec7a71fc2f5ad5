//! Texts that many cases or items have in common, each stored once.

use std::collections::HashSet;
use std::sync::Arc;

/// Texts that were shared before.
#[derive(Default)]
pub(crate) struct SharedTexts(HashSet<Arc<str>>);

impl SharedTexts {
    /// Returns the stored copy of a text, storing it if it is new.
    pub(crate) fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }

        let text = Arc::<str>::from(text);
        self.0.insert(Arc::clone(&text));
        text
    }
}
