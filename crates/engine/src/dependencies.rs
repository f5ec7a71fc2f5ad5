//! Dependencies between the cases of a suite, and cases that run only because of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use assize_evalfile::SuiteCases;
use assize_model::{Case, CaseId};
use assize_run::{CasePrerequisite, EarlierAnswer, EarlierRole, RivalAnswer, RivalGroup};

use crate::error::EngineError;

/// Dependencies between the cases of a suite.
#[derive(Debug, Default)]
pub(crate) struct CaseDependencies {
    /// Cases that others depend on, with the targets that answer them; `None` for a given answer.
    targets: BTreeMap<CaseId, Vec<Option<String>>>,
    /// Cases that run only as dependencies, each with one of its dependents.
    pub(crate) extra: BTreeMap<CaseId, CaseId>,
    /// Answers that cases take over, by the case and the target that answers it.
    earlier: BTreeMap<(CaseId, Option<String>), Vec<EarlierAnswer>>,
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
        if !cases.have_dependencies() && !cases.take_over_answers() {
            return Ok(Self { rivals, ..Self::default() });
        }

        let mut earlier = EarlierAnswers::default();
        let mut named: BTreeMap<CaseId, Vec<CaseId>> = BTreeMap::new();
        let mut open: Vec<CaseId> = Vec::new();
        for case in cases {
            let case = case?;
            let mut before = case.depends_on.clone();
            if case.history.is_some() {
                before.extend(earlier.add(&case, targets(&case))?);
            }
            if before.is_empty() {
                continue;
            }
            if takes(&case) {
                open.push(case.id.clone());
            }

            named.insert(case.id.clone(), before);
        }

        let earlier = earlier.found;
        if open.is_empty() {
            return Ok(Self { earlier, rivals, ..Self::default() });
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

        let mut found = Self { earlier, rivals, ..Self::default() };
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
        self.rivals.get(case.test_id()).filter(|_| case.compares_answers()).cloned()
    }

    /// The answers that a case takes over when this target answers it.
    pub(crate) fn earlier_answers(&self, case: &Case, target: Option<&str>) -> Vec<EarlierAnswer> {
        if case.history.is_none() {
            return Vec::new();
        }
        let key = (case.id.clone(), target.map(str::to_owned));
        self.earlier.get(&key).cloned().unwrap_or_default()
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

/// Finds the answers that cases take over, in the order of the file.
#[derive(Default)]
struct EarlierAnswers {
    found: BTreeMap<(CaseId, Option<String>), Vec<EarlierAnswer>>,
    /// Answers of each conversation so far.
    turns: HashMap<Arc<str>, Vec<HandedOn>>,
    /// Answers under each name so far.
    outputs: HashMap<Arc<str>, Vec<HandedOn>>,
}

/// An answer that later cases may take over.
#[derive(Clone)]
struct HandedOn {
    case: CaseId,
    test: String,
    prompt: Option<Arc<str>>,
    target: Option<String>,
}

impl EarlierAnswers {
    /// Adds a case that these targets answer. Returns the cases whose answers it takes over.
    ///
    /// # Errors
    /// If it has a given answer, and several answers could come before it.
    fn add(&mut self, case: &Case, targets: Vec<Option<String>>) -> Result<Vec<CaseId>, EngineError> {
        let Some(history) = &case.history else { return Ok(Vec::new()) };
        let mut before = Vec::new();
        for target in &targets {
            let mut earlier = Vec::new();
            let mut add = |handed: &HandedOn, role: EarlierRole| {
                before.push(handed.case.clone());
                let (case_id, target) = (handed.case.to_string(), handed.target.clone());
                earlier.push(EarlierAnswer { case_id, target, role });
            };
            let turns = history.conversation.as_ref().and_then(|name| self.turns.get(name));
            if let Some(turn) =
                turns.map(|turns| last_turn(case, turns, target.as_deref())).transpose()?.flatten()
            {
                add(turn, EarlierRole::Turn);
            }
            for name in &history.uses {
                let outputs = self.outputs.get(name).map(Vec::as_slice).unwrap_or_default();
                if let Some(output) = last_output(case, outputs, target.as_deref()) {
                    add(output, EarlierRole::Output(Arc::clone(name)));
                }
            }
            self.found.insert((case.id.clone(), target.clone()), earlier);
        }

        let handed = targets.into_iter().map(|target| HandedOn {
            case: case.id.clone(),
            test: case.test_id().to_owned(),
            prompt: case.prompt.clone(),
            target,
        });
        let handed: Vec<HandedOn> = handed.collect();
        if let Some(name) = &history.conversation {
            self.turns.entry(Arc::clone(name)).or_default().extend(handed.iter().cloned());
        }
        if let Some(name) = &history.stores {
            self.outputs.entry(Arc::clone(name)).or_default().extend(handed);
        }
        Ok(before)
    }
}

/// The turn before a case. Each target holds its own conversation, and a given answer is a turn of all of them.
fn last_turn<'t>(
    case: &Case,
    turns: &'t [HandedOn],
    target: Option<&str>,
) -> Result<Option<&'t HandedOn>, EngineError> {
    let Some(target) = target else {
        let last = turns.last();
        let several = turns.iter().rev().nth(1).zip(last).filter(|(other, last)| other.case == last.case);
        if several.is_some() {
            return Err(EngineError::unrunnable(format!(
                "{}: case `{}` has a given answer, and continues the conversations of several targets; run it with one, as \
                 with `--target NAME`; nothing was run",
                case.place, case.id
            )));
        }
        return Ok(last);
    };
    let fits = |turn: &&HandedOn| turn.target.as_deref().is_none_or(|answering| answering == target);

    Ok(turns.iter().rev().find(fits))
}

/// The output that a case uses: the output of the last test that stores one. If that test has several targets or prompts, the
/// output of the same target and prompt is preferred.
fn last_output<'o>(case: &Case, outputs: &'o [HandedOn], target: Option<&str>) -> Option<&'o HandedOn> {
    let test = &outputs.last()?.test;
    let of_test = outputs.iter().rev().take_while(|output| output.test == *test);
    let closeness = |output: &&HandedOn| (output.target.as_deref() == target, output.prompt == case.prompt);
    // The first of equals is the last of the test.
    of_test.reduce(|best, next| if closeness(&next) > closeness(&best) { next } else { best })
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
