//! Weights, gates and thresholds of a case. They can be applied to a case of another run.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use assize_model::{Case, GraderKind};
use assize_rubric::{
    CaseDecision, CompositeStructure, Criterion, Finding, GraderFinding, GraderFindingKind, GraderWeighting,
    VerdictThresholds,
};
use assize_store::{CaseRecord, ResultRow};

use crate::rescore::{has_id, is_forbidden, reads_the_same, recombine, score_record, with_current_criterion};

/// The weights, gates and thresholds of a case in a run or an eval file.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseScoring {
    thresholds: VerdictThresholds,
    graders: Vec<GraderScoring>,
}

/// Weight, gate and criteria of a grader, or of a member of one.
#[derive(Debug, Clone, PartialEq)]
struct GraderScoring {
    grader: Arc<str>,
    member: Vec<String>,
    weighting: GraderWeighting,
    /// Criteria of a rubric; empty for a grader that decides as a whole.
    criteria: Vec<Criterion>,
    /// Members of a composite, if they are known.
    composition: Option<CompositeStructure>,
}

impl CaseScoring {
    /// The scoring of a stored case; `None` if nothing of it was graded.
    pub fn from_record(record: &CaseRecord) -> Option<Self> {
        let thresholds = record.decisions.first()?.thresholds;
        let own: Vec<&CaseDecision> = record.decisions.iter().filter(|row| !row.is_vote()).collect();
        let graders = own.chunk_by(|a, b| a.grader == b.grader && a.member == b.member).map(|group| {
            let first = group[0];
            GraderScoring {
                grader: first.grader.clone(),
                member: first.member.clone(),
                weighting: first.weighting,
                criteria: group.iter().filter_map(|row| row.criterion().cloned()).collect(),
                composition: first.finding().and_then(GraderFinding::composition).cloned(),
            }
        });

        Some(Self { thresholds, graders: graders.collect() })
    }

    /// The scoring of a case in an eval file, without that of composites' members.
    pub fn from_case(case: &Case, thresholds: VerdictThresholds) -> Self {
        let graders = case.graders.iter().map(|grader| GraderScoring {
            grader: grader.name.as_str().into(),
            member: Vec::new(),
            weighting: grader.weighting,
            criteria: match &grader.kind {
                GraderKind::Rubric(rubric) => rubric.rubric.criteria().to_vec(),
                _ => Vec::new(),
            },
            composition: None,
        });

        Self { thresholds, graders: graders.collect() }
    }

    /// Scores a stored case with these weights, gates and thresholds. A decision on a criterion with another text,
    /// scale or operator here keeps its own text, so that a comparison still names it, and so does a case without
    /// decisions of a grader. Criteria and graders that this scoring does not have no longer count.
    pub fn apply(&self, record: &CaseRecord) -> CaseRecord {
        let decided: BTreeSet<&str> = record.decisions.iter().map(|row| &*row.grader).collect();
        let counts = |name: &str| self.graders.iter().any(|grader| &*grader.grader == name);
        let is_turn =
            |name: &str| record.decisions.iter().any(|row| &*row.grader == name && row.turn.is_some());
        let kept = |name: &str| counts(name) || is_turn(name);
        // The score of a grader without decisions can't be computed again, and neither can that of its case.
        if record.result.graders.iter().any(|grader| kept(&grader.name) && !decided.contains(&*grader.name)) {
            return record.clone();
        }

        let mut decisions = Vec::with_capacity(record.decisions.len());
        for group in record.decisions.chunk_by(|a, b| a.grader == b.grader && a.member == b.member) {
            if !kept(&group[0].grader) {
                continue;
            }
            let scoring = self
                .graders
                .iter()
                .find(|grader| grader.grader == group[0].grader && grader.member == group[0].member);
            match scoring {
                Some(scoring) => scoring.apply(group, &mut decisions),
                None => decisions.extend_from_slice(group),
            }
        }
        if decisions.is_empty() {
            return record.clone();
        }

        for row in &mut decisions {
            row.thresholds = self.thresholds;
        }
        recombine(&mut decisions);

        let graders = record.result.graders.iter().filter(|grader| kept(&grader.name)).cloned().collect();
        let stored = ResultRow { graders, ..record.result.clone() };
        CaseRecord { result: score_record(&stored, &decisions), decisions }
    }
}

impl GraderScoring {
    fn apply(&self, group: &[CaseDecision], into: &mut Vec<CaseDecision>) {
        for row in group {
            let current = self.criteria.iter().find(|criterion| has_id(row, criterion));
            if row.criterion().is_some() && current.is_none() && !self.criteria.is_empty() {
                continue;
            }

            let same = current.filter(|current| {
                row.criterion().is_some_and(|was| reads_the_same(was, current)) && !is_forbidden(row, current)
            });
            let mut row = match same {
                Some(current) => with_current_criterion(row, current),
                None => row.clone(),
            };
            row.weighting = self.weighting;
            if let Some(composition) = &self.composition {
                replace_composition(&mut row.decision.finding, composition);
            }
            into.push(row);
        }
    }
}

/// Replaces the rule and the weights of a composite, if its members are the same.
fn replace_composition(finding: &mut Finding, composition: &CompositeStructure) {
    let Finding::Grader(finding) = finding else { return };
    let GraderFindingKind::Composite(stored) = &mut finding.kind else { return };
    let names = |structure: &CompositeStructure| -> Vec<(String, String)> {
        structure.members.iter().map(|member| (member.name.clone(), member.type_name.clone())).collect()
    };
    if names(stored) == names(composition) {
        // A function's result about the answer is kept.
        let passed = stored.passed;
        stored.clone_from(composition);
        stored.passed = passed;
    }
}

/// Scorings of cases, by suite and id.
#[derive(Debug, Default)]
pub struct CaseScorings {
    by_case: HashMap<(Arc<str>, Arc<str>), Arc<CaseScoring>>,
    /// The last one that was added. Most cases of a suite share theirs.
    last: Option<Arc<CaseScoring>>,
}

impl CaseScorings {
    /// Adds the scoring of a case unless it has one.
    pub fn add(&mut self, suite: Arc<str>, case: Arc<str>, scoring: CaseScoring) {
        let shared = match &self.last {
            Some(last) if **last == scoring => Arc::clone(last),
            _ => Arc::new(scoring),
        };
        self.last = Some(Arc::clone(&shared));
        self.by_case.entry((suite, case)).or_insert(shared);
    }

    /// The number of cases.
    pub fn len(&self) -> usize {
        self.by_case.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_case.is_empty()
    }

    /// Scores a stored case again; `None` if its scoring is unknown.
    pub fn apply(&self, record: &CaseRecord) -> Option<CaseRecord> {
        let key = (record.result.suite.clone(), record.result.case_id.clone());
        self.by_case.get(&key).map(|scoring| scoring.apply(record))
    }
}
