//! The answers to other cases that an item takes over: which, and for what.

use std::sync::Arc;

use assize_store::CaseKey;

/// An answer that an item takes over. It is that of the same trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierAnswer {
    /// Id of its case.
    pub case_id: String,
    /// The target that gives it; `None` for a given answer.
    pub target: Option<String>,
    /// What the item takes it for.
    pub role: EarlierRole,
}

/// What an item takes an earlier answer for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierRole {
    /// It is the turn before the item in its conversation.
    Turn,
    /// It is the value of the variable with this name.
    Output(Arc<str>),
}

impl EarlierAnswer {
    /// The key of its result, if an item with the key `later` takes it over.
    pub fn key_for(&self, later: &CaseKey) -> CaseKey {
        CaseKey {
            suite: Arc::clone(&later.suite),
            case_id: self.case_id.as_str().into(),
            target: self.target.as_deref().map(Arc::from),
            trial: later.trial,
        }
    }
}
