//! Totals of a run's votes, kept in constant memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{CaseDecision, IdentityWriter, JudgingUsage, PanelReport, Usd};
use assize_stats::{ConfidenceLevel, proportion};
use assize_store::{CaseRecord, EscalationSummary, FlipRate, PanelSummary, ResultRow, UnstableCriterion};

use crate::grading::{ComparableVote, comparable_vote};

/// Maximum number of criteria that are tracked. Suites of many cases with different rubrics have more.
const MAX_FOLLOWED: usize = 2_000;

/// Maximum number of unstable criteria that are named; the rest is counted.
const MAX_NAMED: usize = 20;

/// Running totals over the decisions that combine several votes.
#[derive(Debug, Clone, Default)]
pub(crate) struct PanelTotals {
    decisions: u64,
    votes: u64,
    missing: u64,
    ties: u64,
    split: u64,
    repeated: u64,
    flipped: u64,
    disagreement: RunningMean,
    criteria: BTreeMap<CriterionKey, CriterionVotes>,
    not_followed: u64,
    escalation: Option<EscalationSummary>,
    stronger: EscalationSpending,
}

/// Cost of the decisions of the escalation judge.
#[derive(Debug, Clone, Copy, Default)]
struct EscalationSpending {
    usd: Usd,
    decisions: u64,
    /// True if some have an unknown price.
    unpriced: bool,
}

impl EscalationSpending {
    fn add_decision(&mut self, spent: &JudgingUsage) {
        match spent.cost.total() {
            None => self.unpriced = true,
            // A cached reply cost nothing this time, so it does not show the price.
            Some(_) if spent.cached_calls > 0 => {}
            Some(usd) => {
                self.usd += usd;
                self.decisions += 1;
            }
        }
    }

    /// Estimated cost of this many decisions.
    fn estimated_cost(self, decisions: u64) -> Option<Usd> {
        if self.unpriced || self.decisions == 0 {
            return None;
        }
        let pico = u128::from(self.usd.as_pico()) * u128::from(decisions) / u128::from(self.decisions);
        u64::try_from(pico).ok().map(Usd::from_pico)
    }
}

/// A criterion: suite, grader, id as results show it, and a hash of its text. Rubrics of several cases may use
/// one id for different criteria.
type CriterionKey = (Arc<str>, Arc<str>, Arc<str>, [u8; 8]);

#[derive(Debug, Clone, Default)]
struct CriterionVotes {
    case_id: Option<Arc<str>>,
    decisions: u64,
    split: u64,
    flip_rate: RunningMean,
    disagreement: RunningMean,
}

#[derive(Debug, Clone, Copy, Default)]
struct RunningMean {
    sum: f64,
    n: u64,
}

impl RunningMean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n += 1;
        }
    }

    fn get(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }
}

impl PanelTotals {
    /// Adds a finished case.
    pub(crate) fn add(&mut self, record: &CaseRecord) {
        let mut rows = record.decisions.iter().peekable();
        while let Some(row) = rows.next() {
            let Some(panel) = &row.panel else { continue };
            let mut votes: Vec<&CaseDecision> = Vec::new();
            while let Some(vote) = rows.next_if(|row| row.is_vote()) {
                votes.push(vote);
            }

            self.add_decision(&record.result, row, panel, &votes);
        }
    }

    fn add_decision(
        &mut self,
        result: &ResultRow,
        row: &CaseDecision,
        panel: &PanelReport,
        votes: &[&CaseDecision],
    ) {
        let own: Vec<&&CaseDecision> = votes.iter().filter(|row| !row.is_escalation()).collect();
        let split = panel.agreement.is_some_and(|share| share < 1.0);

        self.decisions += 1;
        self.votes += votes.len() as u64;
        self.missing += u64::from(panel.missing);
        self.ties += u64::from(panel.tie);
        self.split += u64::from(split);
        self.disagreement.add(panel.disagreement);

        for repeats in own.chunk_by(|a, b| judge_name(a) == judge_name(b)) {
            let all: Vec<ComparableVote> =
                repeats.iter().filter_map(|row| comparable_vote(&row.decision)).collect();
            self.repeated += u64::from(all.len() > 1);
            self.flipped += u64::from(all.iter().any(|one| *one != all[0]));
        }

        for vote in votes.iter().filter(|row| row.is_escalation()) {
            self.stronger.add_decision(&vote.decision.spent);
        }

        self.add_escalation(panel, &own);
        self.follow(result, row, panel, split);
    }

    fn add_escalation(&mut self, panel: &PanelReport, own: &[&&CaseDecision]) {
        let Some(escalation) = &panel.escalation else { return };
        let sum = self.escalation.get_or_insert_default();
        sum.decisions += 1;

        if escalation.because.is_some() {
            sum.escalated += 1;
        } else if let Some(first) = own.first() {
            // A call for several criteria is counted with the first of them.
            let spent = &first.decision.spent;
            sum.saved_calls += u64::from(spent.attempts) + u64::from(spent.cached_calls);
            sum.saved_tokens.add(spent.tokens);
        }
    }

    fn follow(&mut self, result: &ResultRow, row: &CaseDecision, panel: &PanelReport, split: bool) {
        let mut words = IdentityWriter::default();
        if let Some(criterion) = row.criterion() {
            words.field(&criterion.text);
            words.field(&criterion.scale);
        }

        let words = blake3::hash(words.as_bytes());
        let mut hash = [0; 8];
        hash.copy_from_slice(&words.as_bytes()[..8]);

        let key = (result.suite.clone(), row.grader.clone(), row.shown_criterion(), hash);
        if !self.criteria.contains_key(&key) && self.criteria.len() >= MAX_FOLLOWED {
            self.not_followed += 1;
            return;
        }

        let known = self.criteria.entry(key).or_default();
        known.case_id = (known.decisions == 0 || known.case_id.as_ref() == Some(&result.case_id))
            .then(|| result.case_id.clone());
        known.decisions += 1;
        known.split += u64::from(split);
        known.flip_rate.add(panel.flip_rate);

        known.disagreement.add(panel.disagreement);
    }

    /// The totals; `None` if every decision is a single vote.
    pub(crate) fn summary(&self) -> Option<PanelSummary> {
        if self.decisions == 0 {
            return None;
        }

        let flips = proportion(self.flipped, self.repeated, ConfidenceLevel::P95);
        let interval = flips.interval.as_ref().ok();
        let mut unstable: Vec<UnstableCriterion> = self
            .criteria
            .iter()
            .filter(|(_, criterion)| criterion.split > 0)
            .map(|((suite, grader, id, _), criterion)| UnstableCriterion {
                suite: suite.to_string(),
                grader: grader.to_string(),
                criterion: id.to_string(),
                case_id: criterion.case_id.as_deref().map(str::to_owned),
                decisions: criterion.decisions,
                split: criterion.split,
                flip_rate: criterion.flip_rate.get(),
                disagreement: criterion.disagreement.get(),
            })
            .collect();

        let rate =
            |one: &UnstableCriterion| one.flip_rate.unwrap_or(0.0).max(one.disagreement.unwrap_or(0.0));
        unstable.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then_with(|| b.split.cmp(&a.split)));

        let unstable_more = unstable.len().saturating_sub(MAX_NAMED) as u64;
        unstable.truncate(MAX_NAMED);

        Some(PanelSummary {
            decisions: self.decisions,
            votes: self.votes,
            missing: self.missing,
            ties: self.ties,
            split: self.split,
            flips: FlipRate {
                repeated: self.repeated,
                flipped: self.flipped,
                rate: flips.rate.ok(),
                low: interval.map(|interval| interval.low),
                high: interval.map(|interval| interval.high),
            },
            disagreement: self.disagreement.get(),
            unstable,
            unstable_more,
            not_followed: self.not_followed,
            escalation: self.escalation.map(|sum| EscalationSummary {
                saved_usd: self.stronger.estimated_cost(sum.decisions - sum.escalated),
                ..sum
            }),
        })
    }
}

fn judge_name(row: &CaseDecision) -> Option<u32> {
    row.vote.map(|vote| vote.judge)
}
