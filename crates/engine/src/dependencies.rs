//! Dependencies between the cases of a suite, and cases that run only because of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_evalfile::SuiteCases;
use assize_model::{Case, CaseId};
use assize_run::{CasePrerequisite, RivalAnswer, RivalGroup};

use crate::error::EngineError;

/// Dependencies between the cases of a suite.
#[derive(Debug, Default)]
pub(crate) struct CaseDependencies {
    /// Cases that others depend on, with the targets that answer them; `None` for a given answer.
    targets: BTreeMap<CaseId, Vec<Option<String>>>,
    /// Cases that run only as dependencies, each with one of its dependents.
    pub(crate) extra: BTreeMap<CaseId, CaseId>,
    /// Groups of answers that are compared with each other, by the name of the test.
    rivals: BTreeMap<String, Arc<RivalGroup>>,
}

impl CaseDependencies {
    /// Collects the transitive dependencies of the cases that `takes` selects.
    pub(crate) fn from_cases(
        cases: &SuiteCases,
        takes: impl Fn(&Case) -> bool,
        targets: impl Fn(&Arc<Case>) -> Vec<Option<String>>,
    ) -> Result<Self, EngineError> {
        let rivals = find_rivals(cases, &takes, &targets)?;
        if !cases.have_dependencies() {
            return Ok(Self { rivals, ..Self::default() });
        }

        let mut named: BTreeMap<CaseId, Vec<CaseId>> = BTreeMap::new();
        let mut open: Vec<CaseId> = Vec::new();
        for case in cases {
            let case = case?;
            if case.depends_on.is_empty() {
                continue;
            }
            if takes(&case) {
                open.push(case.id.clone());
            }

            named.insert(case.id.clone(), case.depends_on.clone());
        }

        if open.is_empty() {
            return Ok(Self { rivals, ..Self::default() });
        }

        let mut wanted: BTreeMap<CaseId, CaseId> = BTreeMap::new();
        let mut seen: BTreeSet<CaseId> = open.iter().cloned().collect();
        while let Some(id) = open.pop() {
            for before in named.get(&id).into_iter().flatten() {
                wanted.entry(before.clone()).or_insert_with(|| id.clone());
                if seen.insert(before.clone()) {
                    open.push(before.clone());
                }
            }
        }

        let mut found = Self { rivals, ..Self::default() };
        for case in cases {
            let case = case?;
            let Some(dependent) = wanted.get(&case.id) else { continue };

            found.targets.insert(case.id.clone(), targets(&case));

            if !takes(&case) {
                found.extra.insert(case.id.clone(), dependent.clone());
            }
        }

        Ok(found)
    }

    /// Whether other cases depend on this one.
    pub(crate) fn is_awaited(&self, case: &Case) -> bool {
        self.targets.contains_key(&case.id)
    }

    /// The answers that are compared with this case's answers; `None` if none of its graders compares answers.
    pub(crate) fn rivals_of(&self, case: &Case) -> Option<Arc<RivalGroup>> {
        if !case.compares_answers() {
            return None;
        }
        self.rivals.get(case.test_id()).cloned()
    }

    /// The cases that must come first when this target answers a case: with the same target's answers if there are any,
    /// or else with the answers of all targets.
    pub(crate) fn before(&self, case: &Arc<Case>, target: Option<&str>) -> Vec<CasePrerequisite> {
        let prerequisites = case.depends_on.iter().map(|id| {
            let all = self.targets.get(id).cloned().unwrap_or_default();
            let same: Vec<Option<String>> =
                all.iter().filter(|answering| answering.as_deref() == target).cloned().collect();
            CasePrerequisite { case_id: id.to_string(), targets: if same.is_empty() { all } else { same } }
        });
        prerequisites.collect()
    }
}

/// Finds the answers that graders compare with each other.
fn find_rivals(
    cases: &SuiteCases,
    takes: &impl Fn(&Case) -> bool,
    targets: &impl Fn(&Arc<Case>) -> Vec<Option<String>>,
) -> Result<BTreeMap<String, Arc<RivalGroup>>, EngineError> {
    let mut groups: BTreeMap<String, RivalGroup> = BTreeMap::new();
    if !cases.compare_answers() {
        return Ok(BTreeMap::new());
    }

    for case in cases {
        let case = case?;
        if !case.compares_answers() {
            continue;
        }
        let group = groups.entry(case.test_id().to_owned()).or_insert_with(|| RivalGroup {
            test: case.test_id().into(),
            members: Vec::new(),
            absent: Vec::new(),
        });
        if takes(&case) {
            let answers = targets(&case).into_iter();
            group.members.extend(answers.map(|target| RivalAnswer { case_id: case.id.to_string(), target }));
        } else {
            group.absent.push(case.id.to_string());
        }
    }
    // A test without selected cases needs no group.
    groups.retain(|_, group| !group.members.is_empty());

    Ok(groups.into_iter().map(|(name, group)| (name, Arc::new(group))).collect())
}
