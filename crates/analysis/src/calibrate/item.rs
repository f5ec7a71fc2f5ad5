//! What was judged: one criterion on one answer.

use assize_rubric::{Sampling, Split};

use crate::labels::{Place, Row};

/// What tells one item from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ItemKey {
    /// Name of the suite; empty if there is none.
    pub suite: String,
    /// Id of the case.
    pub case: String,
    /// Who gave the answer; empty if nobody says.
    pub system: String,
    /// Which repeat of the case.
    pub repeat: u32,
    /// Id of the criterion; empty if there is only one.
    pub criterion: String,
}

impl ItemKey {
    /// What a row is about.
    pub(crate) fn of(row: &Row) -> Self {
        Self {
            suite: row.suite.clone().unwrap_or_default(),
            case: row.case.clone(),
            system: row.system.clone().unwrap_or_default(),
            repeat: row.repeat.unwrap_or(1),
            criterion: row.criterion.clone().unwrap_or_default(),
        }
    }
}

/// What somebody decided, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Said {
    /// Met or not.
    Verdict(bool),
    /// A score on the criterion's scale.
    Score(f64),
    /// The criterion does not apply.
    NotApplicable,
    /// A person could not tell, or a judge could not be made to decide.
    Undecided,
}

impl Said {
    /// The number it stands for: 1 and 0 for verdicts.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Verdict(met) => Some(if met { 1.0 } else { 0.0 }),
            Self::Score(score) => Some(score),
            Self::NotApplicable | Self::Undecided => None,
        }
    }
}

/// What the judge said of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSaid {
    /// Its decision.
    pub said: Said,
    /// Its probability of "met", 0 to 1.
    pub probability: Option<f64>,
    /// Whether it comes from the same family of models as the answer; `None` if that is not known.
    pub same_family: Option<bool>,
}

/// One criterion on one answer, with what was said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Which it is.
    pub key: ItemKey,
    /// What people decided, with their names.
    pub people: Vec<(Option<String>, Said)>,
    /// What the judge decided; `None` where it was not asked.
    pub judge: Option<JudgeSaid>,
    /// Length of the answer.
    pub length: Option<f64>,
    /// Items of the same cluster are no independent evidence.
    pub cluster: String,
    /// Criteria of the same case and system that this one depends on.
    pub requires: Vec<String>,
    /// How it came to be labelled, as far as its labels agree on it.
    pub sampled: Option<Sampling>,
    /// What its labels may be used for.
    pub split: Option<Split>,
    /// Where the first thing that is known of it stands.
    pub place: Option<Place>,
}

impl Item {
    /// The mean of what people said, in numbers; verdicts count 1 and 0.
    pub fn people_mean(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.people.iter().filter_map(|(_, said)| said.number()).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }

    /// What the judge said, as a number.
    pub fn judge_number(&self) -> Option<f64> {
        self.judge.as_ref()?.said.number()
    }
}
