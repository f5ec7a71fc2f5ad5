//! Cache of decoded templates.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use assize_model::{EvalFileFormat, Grader};
use parking_lot::Mutex;

/// Templates that have been read. A template that many cases include is read, and its problems are reported,
/// only once. Clones share the cache.
#[derive(Debug, Clone, Default)]
pub(crate) struct TemplateCache {
    read: Arc<Mutex<HashMap<TemplateKey, CachedTemplate>>>,
}

/// Canonical path, format, and nesting depth. The depth matters because it decides whether a nested template is
/// too deep.
pub(super) type TemplateKey = (PathBuf, EvalFileFormat, usize);

impl TemplateCache {
    pub(super) fn get(&self, key: &TemplateKey) -> Option<CachedTemplate> {
        self.read.lock().get(key).cloned()
    }

    pub(super) fn insert(&self, key: TemplateKey, template: CachedTemplate) {
        self.read.lock().insert(key, template);
    }
}

/// A template that has been read.
#[derive(Debug, Clone)]
pub(super) struct CachedTemplate {
    pub(super) graders: Vec<Arc<Grader>>,
    pub(super) sound: bool,
}
