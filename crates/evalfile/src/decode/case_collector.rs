//! Collection of the cases of a suite.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::codes;
use assize_model::Case;

use super::DecodeContext;
use super::case::DecodedCase;
use super::dataset::Dataset;
use super::ids::{IdLocation, IdRegistry};
use super::suite::SuiteDefaults;

/// A run of consecutive cases.
#[derive(Clone)]
pub(crate) enum CaseSource {
    /// Cases that are kept in memory.
    Kept(Vec<Arc<Case>>),
    /// Cases that are read from their dataset each time.
    Dataset(Dataset),
}

impl CaseSource {
    /// Number of cases of a dataset that were excluded because they are invalid.
    pub(crate) fn invalid_count(&self) -> usize {
        match self {
            Self::Kept(_) => 0,
            Self::Dataset(dataset) => dataset.broken.len(),
        }
    }
}

/// Ids of cases that depend on others, each with the ids of its dependencies.
pub(crate) type DependencyList = Vec<(SpannedValue<String>, Vec<SpannedValue<String>>)>;

/// Collector of cases and of facts about all of them.
pub struct CaseCollector {
    /// Defaults of the suite, which each case is decoded with.
    pub defaults: Arc<SuiteDefaults>,
    pub(crate) ids: IdRegistry,
    pub(crate) parts: Vec<CaseSource>,
    /// True if any case was found, valid or not.
    pub met: bool,
    /// Number of invalid cases in whole files.
    pub broken: usize,
    /// Number of errors that belong to no case: of the settings, of a reference, of a dependency.
    pub(crate) outside: usize,
    /// Dependencies of the cases.
    pub(crate) dependencies: DependencyList,
}

impl CaseCollector {
    /// `outside` is the number of errors before the cases.
    pub fn new(defaults: SuiteDefaults, outside: usize) -> Self {
        Self {
            defaults: Arc::new(defaults),
            ids: IdRegistry::default(),
            parts: Vec::new(),
            met: false,
            broken: 0,
            outside,
            dependencies: Vec::new(),
        }
    }

    /// Adds a case of a file that is read as a whole.
    pub fn add_case(&mut self, cx: &mut DecodeContext, read: DecodedCase) {
        self.met = true;
        let before = cx.problems.error_count();

        if let Some(id) = &read.id {
            self.ids.register(cx, id, IdLocation::Source(id.span));
            if !read.depends_on.is_empty() {
                self.dependencies.push((id.clone(), read.depends_on));
            }
        }

        let Some(case) = read.case.filter(|_| cx.problems.error_count() == before) else {
            self.broken += 1;
            return;
        };
        match self.parts.last_mut() {
            Some(CaseSource::Kept(cases)) => cases.push(case),
            _ => self.parts.push(CaseSource::Kept(vec![case])),
        }
    }

    /// Adds a dataset.
    pub(crate) fn add_dataset(&mut self, dataset: Dataset) {
        self.met = true;
        self.parts.push(CaseSource::Dataset(dataset));
    }

    /// Returns the number of invalid cases so far.
    fn invalid(&self) -> usize {
        self.broken + self.parts.iter().map(CaseSource::invalid_count).sum::<usize>()
    }

    /// Adds the cases that a reference leads to. If that fails without an invalid case, the error belongs to
    /// the suite.
    pub(crate) fn add_referenced(
        &mut self,
        cx: &mut DecodeContext,
        add: impl FnOnce(&mut DecodeContext, &mut Self),
    ) {
        let before = (cx.problems.error_count(), self.invalid());
        add(cx, self);
        if cx.problems.error_count() > before.0 && self.invalid() == before.1 {
            self.outside += 1;
        }
    }

    /// Checks that dependencies name cases of this suite and form no cycle.
    pub fn check_dependencies(&mut self, cx: &mut DecodeContext) {
        let before = cx.problems.error_count();
        for (id, names) in &self.dependencies {
            for name in names {
                let complaint = if name.value == id.value {
                    Some(("a case can't depend on itself", "this is its own id", "remove it"))
                } else if self.ids.contains(&name.value) {
                    None
                } else {
                    Some((
                        "no case of this suite has this id",
                        "not found",
                        "check the spelling; only cases of the same suite can be named",
                    ))
                };
                if let Some((title, label, help)) = complaint {
                    Diagnostic::error(codes::BAD_DEPENDENCY, title)
                        .at(name.span, label)
                        .with_help(help)
                        .add_to(&mut cx.problems);
                }
            }
        }
        self.check_cycles(cx);
        self.outside += cx.problems.error_count() - before;
    }

    fn check_cycles(&self, cx: &mut DecodeContext) {
        // Repeatedly remove cases whose dependencies are all resolved. The rest are in a cycle or depend on
        // one.
        let known: BTreeSet<&str> = self.dependencies.iter().map(|(id, _)| id.value.as_str()).collect();
        let mut waiting: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut dependents: HashMap<&str, Vec<&str>> = HashMap::new();
        for (id, names) in &self.dependencies {
            let names = names.iter().map(|name| name.value.as_str());
            let names = names.filter(|name| *name != id.value && known.contains(name));
            let unmet = waiting.entry(&id.value).or_default();
            for name in names {
                if unmet.insert(name) {
                    dependents.entry(name).or_default().push(&id.value);
                }
            }
        }

        let mut free: Vec<&str> =
            waiting.iter().filter(|(_, names)| names.is_empty()).map(|(id, _)| *id).collect();
        while let Some(id) = free.pop() {
            waiting.remove(id);

            for dependent in dependents.remove(id).unwrap_or_default() {
                if let Some(unmet) = waiting.get_mut(dependent)
                    && unmet.remove(id)
                    && unmet.is_empty()
                {
                    free.push(dependent);
                }
            }
        }

        let first = self.dependencies.iter().find(|(id, _)| waiting.contains_key(id.value.as_str()));
        if let Some((id, names)) = first {
            let at = names.first().map_or(id.span, |name| name.span);
            let ids: Vec<String> = waiting.keys().take(8).map(|id| format!("`{id}`")).collect();
            Diagnostic::error(codes::BAD_DEPENDENCY, "cases depend on each other in a cycle")
                .at(at, "this dependency can never be met")
                .with_note(format!("affected cases: {}", ids.join(", ")))
                .with_help("remove one of the dependencies")
                .add_to(&mut cx.problems);
        }
    }
}
