//! Decisions by judge, target and criterion.

use std::collections::{BTreeMap, BTreeSet};

use assize_analysis::calibrate::model_family;
use assize_rubric::{JudgeIdentity, VoteValue};
use assize_store::{CaseRecord, TargetInfo};

use crate::ScaleDecision;
use crate::variant_id::split_variant_id;

/// Model families of judges and targets.
#[derive(Debug, Clone, Default)]
pub struct ModelFamilies {
    /// Families given by the user for judges and targets, by name; they override the family that follows from
    /// the model's name.
    pub said: BTreeMap<String, String>,
    /// Models of targets, by name.
    pub models: BTreeMap<String, String>,
}

impl ModelFamilies {
    /// Creates the table from the families given by the user and the models of the targets.
    pub fn new(said: BTreeMap<String, String>, targets: &[TargetInfo]) -> Self {
        let models =
            targets.iter().filter_map(|target| Some((target.name.clone(), target.model.clone()?))).collect();
        Self { said, models }
    }

    fn family_of_target(&self, name: &str) -> Option<String> {
        self.said.get(name).cloned().or_else(|| model_family(self.models.get(name)?))
    }

    fn family_of_judge(&self, judge: &JudgeIdentity) -> Option<String> {
        let model = judge.model.as_deref().filter(|model| !model.is_empty());
        self.said.get(&*judge.name).cloned().or_else(|| model_family(model?))
    }
}

/// One criterion of one answer: suite, case, target, grader, criterion.
pub(super) type CriterionCell = (String, String, String, String, String);
/// A cell, a judge, and the repeat of the vote.
type CellVote = (CriterionCell, String, u32);

/// Stored decisions in the form in which a self-preference audit needs them.
#[derive(Debug, Clone, Default)]
pub struct SelfPreferenceFacts {
    /// Families of judges.
    pub(super) judges: BTreeMap<String, Option<String>>,
    /// Families of targets.
    pub(super) targets: BTreeMap<String, Option<String>>,
    /// Values of decisions, 0 to 1 with higher being better, by cell and judge.
    pub(super) values: BTreeMap<CriterionCell, BTreeMap<String, Vec<f64>>>,
    /// Decisions of one judge on one cell, by trial.
    pub(super) again: BTreeMap<CellVote, BTreeMap<u32, ScaleDecision>>,
    /// Suite and id of each case.
    pub(super) cases: BTreeSet<(String, String)>,
    /// Number of missing decisions.
    pub(super) ungraded: usize,
    /// Targets with at least one answer.
    pub(super) answered: BTreeSet<String>,
    /// Suite, case and target of each missing answer.
    pub(super) unanswered: BTreeSet<(String, String, String)>,
    /// Suite and id of each case with a given answer, whose model is unknown.
    pub(super) given: BTreeSet<(String, String)>,
}

impl SelfPreferenceFacts {
    /// Adds a record.
    pub fn add(&mut self, record: &CaseRecord, families: &ModelFamilies) {
        let result = &record.result;
        let Some((case, _)) = split_variant_id(&result.case_id) else { return };
        self.cases.insert((result.suite.to_string(), case.to_owned()));

        if let Some(target) = &result.target {
            self.targets.entry(target.to_string()).or_insert_with(|| families.family_of_target(target));
        }
        if result.error.is_some() {
            let target = result.target.as_deref().unwrap_or_default();
            self.unanswered.insert((result.suite.to_string(), case.to_owned(), target.to_owned()));
            return;
        }

        let Some(target) = &result.target else {
            self.given.insert((result.suite.to_string(), case.to_owned()));
            return;
        };
        self.answered.insert(target.to_string());

        for row in &record.decisions {
            // The decision of a panel is not the decision of a judge.
            let Some(criterion) = row.criterion().filter(|_| row.panel.is_none()) else { continue };
            let judge = row.decision.judge.name.to_string();
            let family = self.judges.entry(judge.clone()).or_default();
            if family.is_none() {
                *family = families.family_of_judge(&row.decision.judge);
            }

            let cell = (
                result.suite.to_string(),
                case.to_owned(),
                target.to_string(),
                row.grader.to_string(),
                row.shown_criterion().to_string(),
            );

            let vote = row.vote.map_or(1, |vote| vote.repeat);
            let again = self.again.entry((cell.clone(), judge.clone(), vote)).or_default();
            again.insert(result.trial, ScaleDecision::from_row(&row.decision));

            let costs = criterion.weight.is_penalty() != row.weighting.negate;
            match row.decision.vote_value() {
                VoteValue::Value(value) => {
                    let value = if costs { 1.0 - value } else { value };
                    self.values.entry(cell).or_default().entry(judge).or_default().push(value);
                }
                VoteValue::Missing => self.ungraded += 1,
                VoteValue::NotApplicable => {}
            }
        }
    }
}
