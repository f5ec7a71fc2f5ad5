//! A stored run of a scorecard, benchmark by benchmark.

use std::collections::{BTreeMap, HashMap};

use assize_rubric::{CaseTally, Unit};
use assize_store::{
    BenchmarkState, CardInfo, CardPartKind, CaseRecord, DecidedBy, JudgementRow, ReviewRow, RunFolder,
    StoreError,
};

/// A run of a scorecard: its tree and what each benchmark came to on each case.
#[derive(Debug, Clone, PartialEq)]
pub struct CardRun {
    /// The tree as it was run.
    pub info: CardInfo,
    /// For each part of the tree its cases; empty for what is no benchmark.
    pub parts: Vec<BenchmarkCases>,
    /// The place of each part by its code.
    places: HashMap<String, usize>,
}

/// The cases of a benchmark.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BenchmarkCases {
    /// Cases it was planned for.
    pub planned: u64,
    /// What it came to, by the id of the case.
    pub cases: BTreeMap<String, CaseOfBenchmark>,
}

/// What a benchmark came to on a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseOfBenchmark {
    /// What became of it.
    pub state: BenchmarkState,
    /// Its score, where it has one.
    pub score: Option<Unit>,
    /// Whether the case passes, where that was decided.
    pub pass: Option<bool>,
    /// Who decided.
    pub decided_by: Option<DecidedBy>,
    /// Why.
    pub reason: String,
    /// Judge calls made for it.
    pub calls: u64,
    /// Judge calls answered from the cache.
    pub cached_calls: u64,
}

/// Why a run can't be read as one of a scorecard.
#[derive(Debug, thiserror::Error)]
pub enum CardRunError {
    /// It was no scorecard that was run.
    #[error("`{0}` is not the run of a scorecard; `assize scorecard run DIR` makes one")]
    NotACard(String),
    /// It can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CardRun {
    /// Reads a run from its folder.
    ///
    /// # Errors
    /// When it can't be read, or is not the run of a scorecard.
    pub fn read(folder: &RunFolder) -> Result<Self, CardRunError> {
        let info = folder.info()?.scorecard;
        let info = info.ok_or_else(|| CardRunError::NotACard(folder.path().display().to_string()))?;
        let mut run = Self::new(info);
        for record in folder.cases()? {
            run.add(&record?);
        }
        Ok(run)
    }

    /// A run without a finished case.
    pub fn new(info: CardInfo) -> Self {
        let parts = info
            .nodes
            .iter()
            .map(|node| BenchmarkCases { planned: node.cases, cases: BTreeMap::new() })
            .collect();
        let places = info.nodes.iter().enumerate().map(|(at, node)| (node.code.clone(), at)).collect();
        Self { info, parts, places }
    }

    /// Adds a finished case. Decisions on benchmarks that the tree does not have are left out.
    pub fn add(&mut self, record: &CaseRecord) {
        for row in &record.judgements {
            let Some(found) = case_of(row) else { continue };
            let Some(place) = self.place(&row.grader) else { continue };
            self.parts[place].cases.insert(row.case_id.clone(), found);
        }
    }

    /// The place of a part in the tree, by its code.
    pub fn place(&self, code: &str) -> Option<usize> {
        self.places.get(code).copied()
    }

    /// The cases of a part as the arithmetic takes them. What was planned and has no decision is missing.
    pub fn tally(&self, place: usize) -> CaseTally {
        self.parts.get(place).map_or(CaseTally::NOT_APPLICABLE, BenchmarkCases::tally)
    }

    /// The same run with these cases only. What was planned for other cases is no longer.
    #[must_use]
    pub fn only(&self, takes: impl Fn(&str) -> bool) -> Self {
        let parts = self.parts.iter().map(|part| {
            let cases: BTreeMap<String, CaseOfBenchmark> = part
                .cases
                .iter()
                .filter(|(id, _)| takes(id))
                .map(|(id, case)| (id.clone(), case.clone()))
                .collect();
            BenchmarkCases { planned: cases.len() as u64, cases }
        });
        Self { info: self.info.clone(), parts: parts.collect(), places: self.places.clone() }
    }

    /// What a person should look at, in the order of the tree, then of the ids.
    pub fn review(&self) -> Vec<ReviewRow> {
        let benchmarks = self.info.nodes.iter().zip(&self.parts);
        let benchmarks = benchmarks.filter(|(node, _)| node.kind == CardPartKind::Benchmark);
        let rows = benchmarks.flat_map(|(node, part)| {
            part.cases.iter().filter(|(_, case)| case.state.is_for_review()).map(|(id, case)| ReviewRow {
                case_id: id.clone(),
                benchmark: node.code.clone(),
                why: case.state,
                evaluator: node.evaluator.clone().unwrap_or_default(),
                reason: case.reason.clone(),
                score: case.score,
            })
        });
        rows.collect()
    }
}

impl BenchmarkCases {
    /// How many cases are in this state.
    pub fn count(&self, state: BenchmarkState) -> u64 {
        self.cases.values().filter(|case| case.state == state).count() as u64
    }

    /// Cases that checks decided so that no judge was asked.
    pub fn settled_by_checks(&self) -> u64 {
        self.cases.values().filter(|case| case.decided_by == Some(DecidedBy::Checks)).count() as u64
    }

    fn tally(&self) -> CaseTally {
        let scores: Vec<Unit> = self.cases.values().filter_map(|case| case.score).collect();
        let settled = scores.len() as u64 + self.count(BenchmarkState::NotApplicable);
        CaseTally::new(scores, self.planned.max(self.cases.len() as u64) - settled)
    }
}

fn case_of(row: &JudgementRow) -> Option<CaseOfBenchmark> {
    let result = row.grader_result.as_ref()?;
    let benchmark = result.benchmark?;
    let score = result.score.and_then(|score| Unit::new(score).ok());
    let state = match benchmark.state {
        // A row that says "scored" and has no score can't have been written by a run.
        BenchmarkState::Scored | BenchmarkState::Uncertain if score.is_none() => BenchmarkState::Missing,
        state => state,
    };
    let counts = matches!(state, BenchmarkState::Scored | BenchmarkState::Uncertain);
    Some(CaseOfBenchmark {
        state,
        score: score.filter(|_| counts),
        pass: benchmark.pass,
        decided_by: benchmark.decided_by,
        reason: result.error.clone().unwrap_or_else(|| row.reason.clone()),
        calls: u64::from(row.attempts),
        cached_calls: u64::from(row.cached_calls),
    })
}
