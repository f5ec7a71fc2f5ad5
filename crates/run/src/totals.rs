//! Totals of a run, kept in little memory. The values of decisions are in a file if there are many.

use std::path::{Path, PathBuf};

use assize_rubric::{Cost, Outcome, Tokens, VerdictThresholds};
use assize_stats::{ConfidenceLevel, MeanAccumulator, no_interval};
use assize_store::{CaseRecord, HaltReason, MeanScore, PanelSummary, StoreError, VerdictCounts};

use crate::criterion_totals::{CriterionTally, CriterionTotals};
use crate::incomplete::{IncompleteReason, add_reason};
use crate::panel_totals::PanelTotals;

/// Maximum number of different thresholds that are stored; the rows have all of them.
const MAX_THRESHOLDS: usize = 4;

/// Running totals over finished cases.
#[derive(Debug, Default)]
pub struct RunTotals {
    /// Cases by verdict.
    pub counts: VerdictCounts,
    /// The known scores of cases.
    pub scores: MeanAccumulator,
    /// Cases with a failed gate.
    pub gated: usize,
    /// Why cases are incomplete.
    pub incomplete: Vec<IncompleteReason>,
    /// Tokens of targets and judges.
    pub tokens: Tokens,
    /// Cost of targets and judges.
    pub cost: Cost,
    /// Judge calls made, including failed ones.
    pub judge_calls: u64,
    /// Judge calls answered from the cache.
    pub judge_calls_cached: u64,
    /// Criteria that are decided or ungraded.
    pub criteria: u64,
    /// Criteria whose judge could not see everything at once.
    pub criteria_truncated: u64,
    /// Ungraded criteria.
    pub criteria_ungraded: u64,
    /// Quotes that were found where the judge said they are.
    pub quotes_verified: u64,
    /// All quotes.
    pub quotes: u64,
    /// Trials that were never started, because earlier ones made them needless.
    pub needless: usize,
    /// Why no further case started, if the reason is not a limit.
    pub halted: Option<HaltReason>,
    /// Thresholds of the verdicts: the first few different ones.
    pub thresholds: Vec<VerdictThresholds>,
    /// Decisions that combine several votes.
    panels: PanelTotals,
    /// Decisions by criterion.
    by_criterion: CriterionTotals,
}

impl RunTotals {
    /// Totals without cases. If there will be many, part of the data is in an unnamed file in this folder.
    pub fn beside(folder: &Path) -> Self {
        Self { by_criterion: CriterionTotals::beside(folder), ..Self::default() }
    }

    /// Folder for data that is too large for memory.
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
            && !self.thresholds.contains(&decided.thresholds)
        {
            self.thresholds.push(decided.thresholds);
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

            // The quotes of a panel are its votes' quotes.
            if decided.panel.is_some() {
                continue;
            }

            self.quotes += decision.evidence.len() as u64;
            self.quotes_verified += decision.evidence.iter().filter(|quote| quote.verified).count() as u64;
        }
    }

    /// Agreement of panels and repeats; `None` if every decision is a single vote.
    pub fn panel(&self) -> Option<PanelSummary> {
        self.panels.summary()
    }

    /// Decisions on criteria that occur in several results, in no order.
    pub fn criterion_tallies(&self) -> impl Iterator<Item = &CriterionTally> {
        self.by_criterion.shared()
    }

    /// Verdicts of graders that decide as a whole, such as text checks, in no order.
    pub fn check_tallies(&self) -> impl Iterator<Item = &CriterionTally> {
        self.by_criterion.shared_checks()
    }

    /// Calls `see` for each decision with a value: the number of its tally, the value (0 to 1), and the cluster
    /// of its case. They are sorted by tally, cluster and value.
    ///
    /// # Errors
    /// If the file can't be written or read.
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
            // Scores are between 0 and 1, so the interval is cut to that range.
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
