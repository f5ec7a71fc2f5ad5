//! Templates that were decoded before.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use assize_model::{EvalFileFormat, Grader};

/// Templates that have been read, so that a file that is included by many cases is read, and
/// complained about, once.
/// Clones share what has been read.
#[derive(Debug, Clone, Default)]
pub(crate) struct TemplateCache {
    read: Arc<Mutex<HashMap<TemplateKey, CachedTemplate>>>,
}

/// Canonical path, format, and nesting depth, which decides whether a template inside is too deep.
pub(super) type TemplateKey = (PathBuf, EvalFileFormat, usize);

impl TemplateCache {
    pub(super) fn get(&self, key: &TemplateKey) -> Option<CachedTemplate> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(super) fn insert(&self, key: TemplateKey, template: CachedTemplate) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(key, template);
    }
}

/// Template that was read.
#[derive(Debug, Clone)]
pub(super) struct CachedTemplate {
    pub(super) graders: Vec<Arc<Grader>>,
    pub(super) sound: bool,
}
