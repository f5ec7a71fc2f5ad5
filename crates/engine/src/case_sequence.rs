//! Cases that run in order, because they take over answers to each other.

use std::collections::{BTreeMap, BTreeSet};

use assize_diagnostic::list_first;
use assize_evalfile::SuiteCases;
use serde::Serialize;

/// Most sequences that a text names.
const MAX_NAMED: usize = 3;

/// Cases that run one after the other: the turns of a conversation, or those that store and use an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseSequence {
    /// Name of the conversation with its prompt, or of the output.
    pub shared: String,
    /// Ids of the cases, in order.
    pub cases: Vec<String>,
}

impl CaseSequence {
    /// The sequences of a suite, by name.
    pub(crate) fn of_cases(cases: &SuiteCases) -> Vec<Self> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for case in cases.kept() {
            let Some(history) = &case.history else { continue };
            let outputs: BTreeSet<_> = history.uses.iter().chain(&history.stores).collect();
            let outputs = outputs.into_iter().map(|name| format!("output `{name}`"));
            for name in history.conversation.iter().map(ToString::to_string).chain(outputs) {
                found.entry(name).or_default().push(case.id.to_string());
            }
        }
        let several = found.into_iter().filter(|(_, cases)| cases.len() > 1);
        several.map(|(shared, cases)| Self { shared, cases }).collect()
    }

    /// Says in one sentence which cases run in order; `None` if there are none.
    pub fn describe(sequences: &[Self]) -> Option<String> {
        let cases: BTreeSet<&String> = sequences.iter().flat_map(|one| &one.cases).collect();
        let named = sequences.iter().map(|one| format!("{} ({})", one.shared, one.cases.len()));
        let named = list_first(named, MAX_NAMED);
        (!cases.is_empty()).then(|| {
            format!("{} tests take over answers, and run in order, one at a time: {named}", cases.len())
        })
    }
}
