//! People's labels on the cases of a run, as `review` stores them and `calibrate` counts them.

use std::collections::BTreeSet;

use assize_analysis::LabelSet;
use assize_analysis::calibrate::{CalibrationItem, DecisionValue, LabelInclusion, RunItems, from_run};
use assize_analysis::labels::LabelRow;
use assize_rubric::{BenchmarkState, LabelAccount, LabelOutcome, at_least};
use assize_store::{CaseRecord, RunInfo, ScorecardInfo};

use crate::calibration::label_rows;
use crate::error::EngineError;
use crate::labels::{LabelOptions, current_scorecard, label_set};
use crate::process::ProcessContext;

/// The current labels of a run.
#[derive(Debug)]
pub struct PeopleLabels(LabelSource);

#[derive(Debug)]
enum LabelSource {
    Files(Vec<LabelRow>),
    Scorecard(Box<(LabelSet, ScorecardInfo)>),
}

/// A criterion, or a benchmark, that people labelled.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledItem {
    /// Id of the criterion, with the name of its grader if several graders have this id; or code of the benchmark.
    pub criterion: String,
    /// Labels on exactly this answer and question.
    pub people: Vec<PersonDecision>,
    /// True if people contradict the judge or each other.
    pub is_disputed: bool,
}

/// The label of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonDecision {
    /// Name of the person; empty if the label has none.
    pub who: String,
    /// The decision as text.
    pub says: String,
    /// Reason of the person; empty if there is none.
    pub note: String,
}

impl PeopleLabels {
    /// Reads the labels of a run.
    ///
    /// # Errors
    /// If a file of labels can't be read.
    pub fn read(info: &RunInfo, process: &ProcessContext) -> Result<Self, EngineError> {
        let source = match &info.scorecard {
            None => LabelSource::Files(label_rows(info, process)?),
            Some(tree) => {
                let labels = label_set(&current_scorecard(info, &LabelOptions::default(), process)?);
                LabelSource::Scorecard(Box::new((labels, tree.clone())))
            }
        };
        Ok(Self(source))
    }

    /// Ids of the cases with labels.
    pub fn cases(&self) -> BTreeSet<&str> {
        match &self.0 {
            LabelSource::Files(rows) => rows.iter().map(|row| row.case.as_str()).collect(),
            LabelSource::Scorecard(card) => card.0.cases().collect(),
        }
    }

    /// The labelled criteria of a case.
    pub fn of(&self, info: &RunInfo, record: CaseRecord) -> Vec<LabelledItem> {
        match &self.0 {
            LabelSource::Files(rows) => of_criteria(info, record, rows),
            LabelSource::Scorecard(card) => of_benchmarks(record, &card.0, &card.1),
        }
    }
}

fn of_criteria(info: &RunInfo, record: CaseRecord, rows: &[LabelRow]) -> Vec<LabelledItem> {
    let rows: Vec<LabelRow> = rows.iter().filter(|row| row.case == *record.result.case_id).cloned().collect();
    let pass = record.decisions.first().map_or(1.0, |decided| decided.thresholds.pass().get());
    let Ok(RunItems { mut material, .. }) = from_run(info, [Ok(record)]) else { return Vec::new() };
    // `calibrate` reports labels that match no decision.
    let _ = material.attach_labels(&rows, |_| LabelInclusion::Included);

    let items = material.items.iter().filter(|item| !item.people().is_empty());
    let labelled = items.map(|item| {
        let people = item.people().iter().map(|(who, said)| PersonDecision {
            who: who.clone().unwrap_or_default(),
            says: decision_word(*said),
            note: item.note_of(&rows, who.as_deref(), *said).unwrap_or_default().to_owned(),
        });
        LabelledItem {
            criterion: item.key.criterion.to_string(),
            people: people.collect(),
            is_disputed: is_disputed(item, pass),
        }
    });
    labelled.collect()
}

/// Returns true if the decisions that were made on an item are not the same; scores are the same on one side of the pass
/// threshold.
fn is_disputed(item: &CalibrationItem, pass: f64) -> bool {
    const MAX_SCORE: f64 = 10.0;
    let sides = |said| match said {
        DecisionValue::Score(score) => DecisionValue::Verdict(at_least(score / MAX_SCORE, pass)),
        other => other,
    };
    let judge = item.judge.as_ref().map(|judge| judge.said);
    let decided = judge.into_iter().chain(item.truths()).filter(|said| *said != DecisionValue::Undecided);
    let mut decided = decided.map(sides);
    let first = decided.next();
    decided.any(|other| Some(other) != first)
}

fn decision_word(decision: DecisionValue) -> String {
    match decision {
        DecisionValue::Verdict(true) => "met".to_owned(),
        DecisionValue::Verdict(false) => "unmet".to_owned(),
        DecisionValue::Score(score) => score.to_string(),
        DecisionValue::NotApplicable => "does not apply".to_owned(),
        DecisionValue::Undecided => "unsure".to_owned(),
    }
}

fn of_benchmarks(mut record: CaseRecord, labels: &LabelSet, tree: &ScorecardInfo) -> Vec<LabelledItem> {
    labels.apply(&mut record, tree);
    let decided = record.decisions.iter().filter(|row| row.member.is_empty() && !row.is_vote());
    let labelled = decided.filter_map(|row| {
        let account = LabelAccount::from_details(row.finding()?.details.as_ref())?;
        let state = row.decision.benchmark()?.state;
        let people = account.current.iter().map(|label| PersonDecision {
            who: label.who.clone().unwrap_or_default(),
            says: match label.label {
                LabelOutcome::Met => "pass".to_owned(),
                LabelOutcome::Unmet => "fail".to_owned(),
                other => other.to_string().replace('_', " "),
            },
            note: label.note.clone().unwrap_or_default(),
        });
        let item = LabelledItem {
            criterion: row.grader.to_string(),
            people: people.collect(),
            is_disputed: account.disputes.is_some()
                || matches!(state, BenchmarkState::Disputed | BenchmarkState::ReviewersDiffer),
        };
        (!item.people.is_empty()).then_some(item)
    });
    labelled.collect()
}
