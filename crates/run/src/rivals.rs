//! Answers to one test that are compared with each other: their cases, and the finished ones that wait for the others.
//!
//! Design: `docs/design/promptfoo.md`.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::IdentityWriter;

use crate::WorkItem;
use crate::finished_case::FinishedCase;

/// The answers to one test that graders of the test compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RivalGroup {
    /// Id of the test, unique in its suite.
    pub test: Arc<str>,
    /// The answers in this run, in the order of the plan.
    pub members: Vec<RivalAnswer>,
    /// Cases of the test that are not part of the run.
    pub absent: Vec<String>,
}

/// An answer to a test that is compared with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RivalAnswer {
    /// Id of its case.
    pub case_id: String,
    /// The target that answers; `None` for a given answer.
    pub target: Option<String>,
}

impl RivalGroup {
    /// Index of an item among the members.
    pub(crate) fn place_of(&self, item: &WorkItem) -> Option<usize> {
        let target = item.source.name_of_target();
        self.members
            .iter()
            .position(|member| member.case_id == item.case.id.as_str() && member.target.as_deref() == target)
    }

    /// A name that distinguishes a member from the others.
    pub(crate) fn label(&self, at: usize) -> String {
        let Some(member) = self.members.get(at) else { return "another answer".to_owned() };
        let one_case = self.members.iter().all(|other| other.case_id == member.case_id);
        match &member.target {
            Some(target) if one_case => format!("`{target}`"),
            Some(target) => format!("`{target}` to `{}`", member.case_id),
            None => format!("`{}`", member.case_id),
        }
    }

    /// The reason why no answers can be compared, if there is one.
    pub(crate) fn obstacle(&self) -> Option<String> {
        if let Some(absent) = self.absent.first() {
            return Some(format!(
                "not all answers to the test are part of the run: case `{absent}` is excluded"
            ));
        }
        (self.members.len() < 2)
            .then(|| "there is no other answer to compare with: name several targets or prompts".to_owned())
    }

    /// The number of comparisons counted for an item: those with the members after it.
    pub(crate) fn comparisons_of(&self, item: &WorkItem) -> usize {
        let place = self.place_of(item).filter(|_| self.obstacle().is_none());
        place.map_or(0, |place| self.members.len() - 1 - place)
    }

    pub(crate) fn write_identity(&self, identity: &mut IdentityWriter) {
        identity.field(&self.members.len());
        for RivalAnswer { case_id, target } in &self.members {
            identity.text(case_id);
            identity.field(target);
        }
        identity.field(&self.absent);
    }
}

/// Suite, name of the group and number of the trial.
type GroupKey = (Arc<str>, Arc<str>, u32);

/// Finished cases whose answers will be compared with others that are not finished.
#[derive(Default)]
pub(crate) struct RivalTracker {
    held: HashMap<GroupKey, Vec<FinishedCase>>,
    /// Groups with all members finished.
    pub(crate) complete: Vec<Vec<FinishedCase>>,
}

impl RivalTracker {
    /// Keeps a case until all members of its group are finished. Returns a case without rivals.
    pub(crate) fn hold(&mut self, case: FinishedCase) -> Option<FinishedCase> {
        let Some(group) = case.item.relations.rivals.clone() else { return Some(case) };
        let key = (Arc::clone(&case.item.suite), Arc::clone(&group.test), case.item.trial);
        let held = self.held.entry(key.clone()).or_default();
        held.push(case);
        if held.len() >= group.members.len() {
            self.complete.extend(self.held.remove(&key));
        }

        None
    }

    /// Takes the incomplete groups when no further case will come, in the order of the plan.
    pub(crate) fn take_rest(&mut self) -> Vec<Vec<FinishedCase>> {
        let mut rest: Vec<Vec<FinishedCase>> = std::mem::take(&mut self.held).into_values().collect();
        rest.sort_by_key(|cases| cases.iter().map(|case| case.item.place).min());
        rest
    }
}
