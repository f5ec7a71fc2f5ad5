//! Decisions of a run by criterion and by check, to compute the rate of each.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_rubric::{CaseDecision, CriterionScale, GraderFinding, Outcome, Verdict};
use assize_store::{CaseRecord, GraderRow, SortedRecords, StoreError};
use parking_lot::Mutex;

/// Maximum number of criteria that are tracked. Suites of many cases with different rubrics have more.
const MAX_FOLLOWED: usize = 2_000;

/// The numbers stored for a value: its tally, its cluster, and the value itself.
const VALUE_NUMBERS: usize = 3;

/// Decisions on one criterion. Their values are stored separately, as there may be many; see
/// [`RunTotals::visit_criterion_values`](crate::RunTotals::visit_criterion_values).
#[derive(Debug, Clone, Default)]
pub struct CriterionTally {
    /// Number of the tally in its run.
    pub number: u32,
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// Id of the criterion.
    pub criterion: Arc<str>,
    /// Its text.
    pub text: String,
    /// Its weight; below zero for a penalty.
    pub weight: f64,
    /// Whether it is a gate; `None` for a check.
    pub is_gate: Option<bool>,
    /// True if it is scored, rather than met or unmet.
    pub is_scored: bool,
    /// Number of decisions with a value.
    pub decided: u64,
    /// Number of cases in which it is ungraded.
    pub ungraded: u64,
    /// Number of cases to which it does not apply.
    pub not_applicable: u64,
}

/// Decisions by criterion, and verdicts by check.
#[derive(Debug, Default)]
pub(crate) struct CriterionTotals {
    tallies: HashMap<u64, CriterionTally>,
    checks: HashMap<u64, CriterionTally>,
    values: CriterionValues,
    /// Folder for files; the system's temporary folder by default.
    pub(crate) beside: Option<PathBuf>,
}

/// Values of all decisions, 0 to 1, each with the cluster of its case. They are sorted when they are read.
#[derive(Debug, Default)]
struct CriterionValues(Mutex<SortedRecords<VALUE_NUMBERS>>);

impl CriterionValues {
    fn push(&self, tally: &mut CriterionTally, value: f64, cluster: u64) {
        tally.decided += 1;
        self.0.lock().push([tally.number.into(), cluster, value.to_bits()]);
    }
}

impl CriterionTotals {
    /// Totals without decisions. If there will be many, their values are in a file in this folder.
    pub(crate) fn beside(folder: &Path) -> Self {
        let values = CriterionValues(Mutex::new(SortedRecords::new(folder)));
        Self { values, beside: Some(folder.to_path_buf()), ..Self::default() }
    }

    /// Calls `see` with the number of the tally, the value and the cluster of each decision, sorted by tally,
    /// cluster and value.
    pub(crate) fn visit_values(&self, mut see: impl FnMut(u32, f64, u64)) -> Result<(), StoreError> {
        for record in self.values.0.lock().in_order()? {
            let [number, cluster, value] = record?;
            see(number as u32, f64::from_bits(value), cluster);
        }

        Ok(())
    }

    /// The number of the next tally. There are at most a few thousand.
    fn next_number(&self) -> u32 {
        (self.tallies.len() + self.checks.len()) as u32
    }

    pub(crate) fn add(&mut self, record: &CaseRecord) {
        let row = &record.result;

        // With early stopping, later trials exist only after failures, so they would bias the counts.
        if row.trial > 1 && row.trials.is_some_and(|plan| plan.early_stop) {
            return;
        }

        let cluster = hash(&row.cluster_key());
        for decided in record.decisions.iter().filter(|decided| !decided.is_vote()) {
            self.add_decision(&row.suite, decided, cluster);

            // In a conversation, the first turn represents the grader.
            let is_whole = decided.member.is_empty() && decided.turn.is_none_or(|turn| turn == 1);
            let grader = row.graders.iter().find(|grader| grader.name == *decided.grader);
            if let (true, Some(finding), Some(grader)) = (is_whole, decided.finding(), grader) {
                self.add_check(&row.suite, grader, finding, cluster);
            }
        }
    }

    /// Adds the verdict of a grader that decides as a whole. It may look for a different text in each case.
    fn add_check(&mut self, suite: &Arc<str>, grader: &GraderRow, finding: &GraderFinding, cluster: u64) {
        if finding.benchmark().is_some() || finding.comparison().is_some() {
            return;
        }

        let key = hash(&(suite, &grader.name));
        if self.checks.len() >= MAX_FOLLOWED && !self.checks.contains_key(&key) {
            return;
        }

        let text = match finding.notes.as_slice() {
            [note] if note.passed.is_some() && !grader.negate => note.text.as_str(),
            _ => "",
        };
        let number = self.next_number();
        let tally = self.checks.entry(key).or_insert_with(|| CriterionTally {
            number,
            suite: Arc::clone(suite),
            grader: grader.name.as_str().into(),
            criterion: grader.name.as_str().into(),
            text: text.to_owned(),
            weight: grader.weight,
            ..CriterionTally::default()
        });
        if tally.text != text {
            tally.text.clear();
        }

        match grader.verdict {
            _ if grader.error.is_some() => tally.ungraded += 1,
            Some(Verdict::Incomplete) => tally.ungraded += 1,
            Some(verdict) => {
                self.values.push(tally, f64::from(u8::from(verdict == Verdict::Pass)), cluster);
            }
            None => tally.not_applicable += 1,
        }
    }

    fn add_decision(&mut self, suite: &Arc<str>, decided: &CaseDecision, cluster: u64) {
        let Some(criterion) = decided.criterion() else { return };
        let id = decided.shown_criterion();
        let key = hash(&(suite, &decided.grader, &id, &criterion.text));
        let has_room = self.tallies.len() < MAX_FOLLOWED;
        if !has_room && !self.tallies.contains_key(&key) {
            return;
        }

        let number = self.next_number();
        let tally = self.tallies.entry(key).or_insert_with(|| CriterionTally {
            number,
            suite: Arc::clone(suite),
            grader: Arc::clone(&decided.grader),
            criterion: id,
            text: criterion.text.clone(),
            weight: criterion.weight.get(),
            is_gate: Some(criterion.gate.is_some()),
            is_scored: matches!(criterion.scale, CriterionScale::Bands(_)),
            ..CriterionTally::default()
        });
        let value = match decided.decision.outcome() {
            Outcome::Met => 1.0,
            Outcome::Unmet => 0.0,
            Outcome::NotApplicable => {
                tally.not_applicable += 1;
                return;
            }
            Outcome::Ungraded => {
                tally.ungraded += 1;
                return;
            }
            scored => match scored.points() {
                Some(points) => points / 10.0,
                None => return,
            },
        };
        self.values.push(tally, value, cluster);
    }

    /// The tallies of criteria that were decided in several results, in no order.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &CriterionTally> {
        self.tallies.values().filter(|tally| is_shared(tally))
    }

    /// The tallies of checks that were applied to several results, in no order.
    pub(crate) fn shared_checks(&self) -> impl Iterator<Item = &CriterionTally> {
        self.checks.values().filter(|tally| is_shared(tally))
    }
}

fn is_shared(tally: &CriterionTally) -> bool {
    tally.decided + tally.ungraded > 1
}

fn hash(value: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}
