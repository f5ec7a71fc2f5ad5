//! Stored run of a scorecard, benchmark by benchmark.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, CaseTally, DecidedBy, Decision, DistinctCases,
    LabelAccount, LabelCounts, UnitInterval, failure_limit, find_contradiction,
};
use assize_store::{
    CaseRecord, ReviewRow, RunFolder, ScorecardInfo, ScorecardNodeInfo, ScorecardPartKind, StoreError,
};

use super::{
    BenchmarkCase, BenchmarkCaseList, BenchmarkMeasurement, BenchmarkVote, LabelSet, count_distinct_cases,
    needs_person,
};
use crate::facts::judge_descriptions;
use crate::shared_texts::SharedTexts;

/// Run of a scorecard: its tree and the result of each benchmark on each case.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardRun {
    /// The tree that was run.
    pub info: ScorecardInfo,
    /// Cases of each node of the tree; empty for nodes other than benchmarks.
    pub parts: Vec<BenchmarkCases>,
    /// Indices of all nodes, ordered by code.
    by_code: Vec<usize>,
}

/// Cases of a benchmark.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BenchmarkCases {
    /// Number of cases that it was planned for.
    pub planned: u64,
    /// Results by case.
    pub cases: BenchmarkCaseList,
}

/// Reason why a run can't be read as a scorecard run.
#[derive(Debug, thiserror::Error)]
pub enum ScorecardRunError {
    /// The run is not a scorecard run.
    #[error("`{0}` is not a run of a scorecard; `assize scorecard run DIR` creates one")]
    NotACard(String),
    /// The run can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ScorecardRun {
    /// Reads a run from its folder.
    ///
    /// # Errors
    /// If it can't be read, or is not the run of a scorecard.
    pub fn read(folder: &RunFolder) -> Result<Self, ScorecardRunError> {
        Self::from_folder(folder, folder.info()?.scorecard)
    }

    /// Reads the decisions of a run whose tree is known. Passing `None`, for a run without a scorecard, is an
    /// error.
    ///
    /// # Errors
    /// If the decisions can't be read, or there is no tree.
    /// If the decisions can't be read, or there is no tree.
    pub fn from_folder(folder: &RunFolder, tree: Option<ScorecardInfo>) -> Result<Self, ScorecardRunError> {
        Self::with_labels(folder, tree, None)
    }

    /// Reads the decisions of a run and lets people's labels decide the results that wait for them. If
    /// `labels` is `None`, the labels that were applied when the run was made count.
    ///
    /// # Errors
    /// If the decisions can't be read, or there is no tree.
    /// If the decisions can't be read, or there is no tree.
    pub fn with_labels(
        folder: &RunFolder,
        tree: Option<ScorecardInfo>,
        labels: Option<&LabelSet>,
    ) -> Result<Self, ScorecardRunError> {
        let info = tree.ok_or_else(|| ScorecardRunError::NotACard(folder.path().display().to_string()))?;
        let mut run = Self::new(info);
        let mut texts = SharedTexts::default();
        for record in folder.cases()? {
            let mut record = record?;
            if let Some(labels) = labels {
                labels.apply(&mut record, &run.info);
            }
            run.add_record(record, &mut texts);
        }

        for part in &mut run.parts {
            part.cases.sort_and_dedup();
        }

        Ok(run)
    }

    /// Creates the run of a single case that is not stored.
    pub fn of_case(info: ScorecardInfo, record: CaseRecord) -> Self {
        let mut run = Self::new(info);
        run.add_record(record, &mut SharedTexts::default());

        run
    }

    fn add_record(&mut self, record: CaseRecord, texts: &mut SharedTexts) {
        let mut measurements = case_measurements(&record, texts);
        let CaseRecord { result, decisions } = record;
        let id = texts.share(&result.case_id);
        for decided in decisions {
            let measurement = if decided.is_vote() { None } else { measurements.remove(&*decided.grader) };
            self.add(&id, decided, measurement.unwrap_or_default());
        }
    }

    fn new(info: ScorecardInfo) -> Self {
        let parts = info
            .nodes
            .iter()
            .map(|node| BenchmarkCases { planned: node.cases, cases: BenchmarkCaseList::default() })
            .collect();

        let mut by_code: Vec<usize> = (0..info.nodes.len()).collect();
        by_code.sort_by(|a, b| info.nodes[*a].code.cmp(&info.nodes[*b].code));

        Self { info, parts, by_code }
    }

    /// Adds a decision on a case. Decisions on benchmarks that are not in the tree are ignored.
    fn add(&mut self, id: &Arc<str>, decided: CaseDecision, measurement: BenchmarkMeasurement) {
        let Some(place) = self.index_of(&decided.grader) else { return };
        let CaseDecision { decision, vote, .. } = decided;
        let judge = decision.judge.name.to_string();
        let Some(found) = benchmark_case(decision, &self.info.nodes[place]) else { return };
        let cases = &mut self.parts[place].cases;

        // The votes of a panel are rows beside its decision; only the decision counts.
        let Some(vote) = vote else {
            cases.push(Arc::clone(id), BenchmarkCase { measurement, ..found });
            return;
        };
        if let Some(decision) = cases.last_with_id(id) {
            decision.calls += found.calls;
            decision.cached_calls += found.cached_calls;

            decision.votes.push(BenchmarkVote {
                judge,
                repeat: vote.repeat,
                escalated: vote.is_escalation(),
                finding: found.finding,
                score: found.score,
                reason: found.reason,
            });
        }
    }

    /// Returns the index of a node by its code.
    pub fn index_of(&self, code: &str) -> Option<usize> {
        let at = self.by_code.partition_point(|place| self.info.nodes[*place].code.as_str() < code);
        let place = *self.by_code.get(at)?;
        (self.info.nodes[place].code == code).then_some(place)
    }

    /// Returns the cases of a node as a tally for aggregation. Planned cases without a decision count as
    /// missing.
    pub fn tally(&self, place: usize) -> CaseTally {
        self.parts.get(place).map_or(CaseTally::NOT_APPLICABLE, BenchmarkCases::tally)
    }

    /// Returns the cases at or below each node, each counted once. Planned cases that were not run are open.
    pub fn distinct_cases(&self) -> Vec<DistinctCases> {
        let mut counts = count_distinct_cases(&self.info, |place| {
            let applicable = self.parts[place].cases.iter();
            let applicable =
                applicable.filter(|(_, case)| case.finding.state != BenchmarkState::NotApplicable);
            applicable.map(|(id, case)| (id, case.score.is_some())).collect()
        });
        let seen = count_distinct_cases(&self.info, |place| {
            self.parts[place].cases.iter().map(|(id, _)| (id, true)).collect()
        });
        for ((count, seen), part) in counts.iter_mut().zip(seen).zip(&self.parts) {
            count.open += part.planned.saturating_sub(seen.complete);
        }

        counts
    }

    /// Returns the run restricted to the selected cases; the planned number is reduced accordingly.
    #[must_use]
    pub fn restrict_to(&self, takes: impl Fn(&str) -> bool) -> Self {
        let parts = self.parts.iter().map(|part| {
            let cases = part.cases.filter_ids(&takes);
            BenchmarkCases { planned: cases.len() as u64, cases }
        });
        Self { info: self.info.clone(), parts: parts.collect(), by_code: self.by_code.clone() }
    }

    /// Returns the decisions that need review by a person, in the order of the tree, then of the ids.
    pub fn review_rows(&self) -> Vec<ReviewRow> {
        let benchmarks = self.info.nodes.iter().zip(&self.parts);
        let benchmarks = benchmarks.filter(|(node, _)| node.kind == ScorecardPartKind::Benchmark);
        let rows = benchmarks.flat_map(|(node, part)| {
            let evaluator = node.evaluator.as_deref().unwrap_or_default();
            let open = part.cases.iter().filter(|(_, case)| needs_person(case.finding.state, evaluator));
            open.map(|(id, case)| ReviewRow {
                case_id: id.to_owned(),
                benchmark: node.code.clone(),
                why: case.finding.state,
                evaluator: node.evaluator.clone().unwrap_or_default(),
                reason: case.reason.clone(),
                score: case.score,
            })
        });
        rows.collect()
    }

    /// Returns how many labels count and how many don't.
    pub fn label_counts(&self) -> LabelCounts {
        let mut counts = LabelCounts::default();
        for account in
            self.parts.iter().flat_map(|part| part.cases.values()).filter_map(|case| case.labels.as_ref())
        {
            counts.add(account);
        }

        counts
    }
}

impl BenchmarkCases {
    /// Returns the number of cases in a state.
    pub fn count(&self, state: BenchmarkState) -> u64 {
        self.cases.values().filter(|case| case.finding.state == state).count() as u64
    }

    /// Returns the number of cases decided by checks, without a judge call.
    pub fn settled_by_checks(&self) -> u64 {
        self.cases.values().filter(|case| case.finding.decided_by == Some(DecidedBy::Checks)).count() as u64
    }

    fn tally(&self) -> CaseTally {
        let scores: Vec<UnitInterval> = self.cases.values().filter_map(|case| case.score).collect();
        let settled = scores.len() as u64 + self.count(BenchmarkState::NotApplicable);
        CaseTally::new(scores, self.planned.max(self.cases.len() as u64) - settled)
    }
}

fn benchmark_case(decision: Decision, node: &ScorecardNodeInfo) -> Option<BenchmarkCase> {
    let finding = decision.grader()?;
    let benchmark = *finding.benchmark()?;
    let score = finding.score();

    // A panel's votes may combine to a contradiction that no single reply may contain, and so may rows of
    // older versions.
    let limit = failure_limit(node.threshold);
    let contradiction = benchmark
        .pass
        .zip(score)
        .filter(|_| {
            benchmark.state == BenchmarkState::Scored && benchmark.decided_by == Some(DecidedBy::Judge)
        })
        .and_then(|(pass, score)| find_contradiction(pass, score, limit, None));
    let state = match benchmark.state {
        // No run writes a row with the state "scored" and without a score.
        BenchmarkState::Scored | BenchmarkState::Uncertain if score.is_none() => BenchmarkState::Missing,
        _ if contradiction.is_some() => BenchmarkState::Missing,
        state => state,
    };
    let counts = matches!(state, BenchmarkState::Scored | BenchmarkState::Uncertain);
    let error = finding.error().map(str::to_owned);
    let error = error.or_else(|| {
        let reason = &decision.reason;
        contradiction.map(|contradiction| format!("{contradiction}, which is a contradiction: {reason}"))
    });

    let labels = LabelAccount::from_details(finding.details.as_ref()).map(Box::new);

    Some(BenchmarkCase {
        labels,
        finding: BenchmarkFinding { state, ..benchmark },
        score: score.filter(|_| counts),
        reason: error.unwrap_or(decision.reason),
        calls: u64::from(decision.spent.attempts),
        cached_calls: u64::from(decision.spent.cached_calls),
        votes: Vec::new(),
        measurement: BenchmarkMeasurement::default(),
    })
}

/// How each grader of a case was measured, by grader name.
fn case_measurements(record: &CaseRecord, texts: &mut SharedTexts) -> HashMap<String, BenchmarkMeasurement> {
    let mut judges = judge_descriptions(&record.decisions);
    let CaseRecord { result, .. } = record;
    let graders = result.graders.iter().map(|grader| {
        let (judge, prompt) = judges.remove(grader.name.as_str()).unwrap_or_default();
        let mut share =
            |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| texts.share(text));
        let measurement = BenchmarkMeasurement {
            inputs: share(result.case_hash.as_deref()),
            settings: share(grader.settings.as_deref()),
            judge: share(Some(&judge)),
            prompt: share(Some(&prompt)),
        };
        (grader.name.clone(), measurement)
    });
    graders.collect()
}
