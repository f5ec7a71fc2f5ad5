//! Totals of a run, kept in little memory: what there is of each decision is in a file where there is much of it.

use std::path::{Path, PathBuf};

use assize_rubric::{Cost, Outcome, Tokens, VerdictThresholds};
use assize_stats::{ConfidenceLevel, MeanAccumulator, no_interval};
use assize_store::{CaseRecord, MeanScore, PanelSummary, StoreError, VerdictCounts};

use crate::criterion_totals::{CriterionTally, CriterionTotals};
use crate::incomplete::{IncompleteReason, add_reason};
use crate::panel_totals::PanelTotals;

/// Different thresholds that are kept; more are only listed by the rows.
const MAX_THRESHOLDS: usize = 4;

/// Running totals over finished cases.
#[derive(Debug)]
pub struct RunTotals {
    /// Cases by verdict.
    pub counts: VerdictCounts,
    /// Scores of the cases whose score is known.
    pub scores: MeanAccumulator,
    /// Cases with a failed gate.
    pub gated: usize,
    /// Reasons of the incomplete cases.
    pub incomplete: Vec<IncompleteReason>,
    /// Tokens of targets and judges.
    pub tokens: Tokens,
    /// Cost of targets and judges.
    pub cost: Cost,
    /// Judge calls made, failed ones included.
    pub judge_calls: u64,
    /// Judge calls answered from the cache.
    pub judge_calls_cached: u64,
    /// Criteria decided on or given up.
    pub criteria: u64,
    /// Criteria whose judge could not be shown everything at once.
    pub criteria_truncated: u64,
    /// Criteria given up.
    pub criteria_ungraded: u64,
    /// Quotes that stand where they were said to stand.
    pub quotes_verified: u64,
    /// Quotes in all.
    pub quotes: u64,
    /// Repeats that were never begun, because those before them made them needless.
    pub needless: usize,
    /// Reason no further case was begun, if it is something other than a limit.
    pub halted: Option<HaltReason>,
    /// Thresholds of the verdicts: the first few different ones.
    pub thresholds: Vec<VerdictThresholds>,
    /// Decisions made of several votes.
    panels: PanelTotals,
    /// Decisions by criterion.
    by_criterion: CriterionTotals,
}

/// Reason a run begins nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltReason {
    /// A case could not be run or judged, and its suite wants the run to end then.
    Error,
    /// So many cases did not pass that the user wants it to end.
    NotPassed,
    /// The result is clear without further cases.
    Decided,
}

impl Default for RunTotals {
    fn default() -> Self {
        Self {
            counts: VerdictCounts::default(),
            scores: MeanAccumulator::default(),
            gated: 0,
            incomplete: Vec::new(),
            tokens: Tokens::default(),
            cost: Cost::ZERO,
            judge_calls: 0,
            judge_calls_cached: 0,
            criteria: 0,
            criteria_truncated: 0,
            criteria_ungraded: 0,
            quotes_verified: 0,
            quotes: 0,
            needless: 0,
            halted: None,
            thresholds: Vec::new(),
            panels: PanelTotals::default(),
            by_criterion: CriterionTotals::default(),
        }
    }
}

impl RunTotals {
    /// Totals of no cases. If there will be many, a part of them is in a file without a name in this folder.
    pub fn beside(folder: &Path) -> Self {
        Self { by_criterion: CriterionTotals::beside(folder), ..Self::default() }
    }

    /// Folder for files of what is too large for memory.
    pub fn spool_folder(&self) -> PathBuf {
        self.by_criterion.beside.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Adds a finished case.
    pub fn add(&mut self, record: &CaseRecord) {
        let row = &record.result;
        self.counts.add_row(row);

        if let Some(score) = row.score {
            self.scores.push(score);
        }

        self.gated += usize::from(!row.gates_failed.is_empty());
        add_reason(&mut self.incomplete, record);
        self.tokens.add(row.tokens);
        self.cost += row.cost();
        self.panels.add(record);
        self.by_criterion.add(record);

        if let Some(decided) = record.decisions.first()
            && self.thresholds.len() < MAX_THRESHOLDS
            && !self.thresholds.contains(&decided.lines)
        {
            self.thresholds.push(decided.lines);
        }

        for decided in &record.decisions {
            let decision = &decided.decision;
            self.judge_calls += u64::from(decision.spent.attempts);
            self.judge_calls_cached += u64::from(decision.spent.cached_calls);

            if decided.criterion().is_some() && !decided.is_vote() {
                self.criteria += 1;
                self.criteria_truncated += u64::from(decision.truncated.is_some());
                self.criteria_ungraded += u64::from(decision.outcome() == Outcome::Ungraded);
            }

            // The quotes of a panel are those of its votes.
            if decided.panel.is_some() {
                continue;
            }

            self.quotes += decision.evidence.len() as u64;
            self.quotes_verified += decision.evidence.iter().filter(|quote| quote.verified).count() as u64;
        }
    }

    /// Agreement of panels and repeats; `None` where every decision is one judge's only one.
    pub fn panel(&self) -> Option<PanelSummary> {
        self.panels.summary()
    }

    /// Decisions on the criteria that were asked of several results, in no order.
    pub fn criterion_tallies(&self) -> impl Iterator<Item = &CriterionTally> {
        self.by_criterion.shared()
    }

    /// Verdicts of the graders that decide as a whole, such as text checks, in no order.
    pub fn check_tallies(&self) -> impl Iterator<Item = &CriterionTally> {
        self.by_criterion.shared_checks()
    }

    /// Shows `see` each decision with a value: the number of its tally, the value, 0 to 1, and the cluster of its case. Those of a
    /// tally come one after the other, by cluster and value.
    ///
    /// # Errors
    /// When the file can't be written or read.
    pub fn visit_criterion_values(&self, see: impl FnMut(u32, f64, u64)) -> Result<(), StoreError> {
        self.by_criterion.visit_values(see)
    }

    /// The mean score with its 95% CI; `None` if no score is known.
    pub fn mean_score(&self) -> Option<MeanScore> {
        let summary = self.scores.mean(ConfidenceLevel::P95);
        let interval = summary.interval.as_ref();
        Some(MeanScore {
            mean: summary.mean.ok()?,
            n: summary.n,
            // Scores lie between 0 and 1, so an interval beyond that says nothing more.
            low: interval.ok().map(|interval| interval.low.max(0.0)),
            high: interval.ok().map(|interval| interval.high.min(1.0)),
            level: ConfidenceLevel::P95.get(),
            method: match interval {
                Ok(interval) => format!("{} over cases", interval.method.name()),
                Err(reason) => no_interval(reason),
            },
        })
    }
}
