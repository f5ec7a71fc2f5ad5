//! Mapping of table columns to roles, and of spellings to outcomes.

use std::collections::BTreeMap;

use assize_diagnostic::{NamePairError, parse_name_pairs};
use assize_rubric::{LabelOutcome, composed_name};
use assize_table::parse_number;

/// Role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRole {
    /// Id of the case.
    Case,
    /// Name of the suite.
    Suite,
    /// Target that gave the answer.
    System,
    /// Number of the trial.
    Trial,
    /// Id of the criterion.
    Criterion,
    /// Label of a person, or a list with the labels of several.
    Label,
    /// Name of the reviewer, or a list beside a list of labels.
    Who,
    /// Prompt or version of the judge that gave the label.
    Prompt,
    /// Time of the label.
    At,
    /// Reason for the label.
    Note,
    /// Severity of the failure.
    Severity,
    /// Version of the criterion.
    Version,
    /// Hash of the material that the reviewer saw.
    Seen,
    /// Sampling of the labelled case.
    Sampled,
    /// Probability with which the case was drawn for labelling.
    Drawn,
    /// Permitted use of the label.
    Split,
    /// True for a label that decides where others disagree.
    Adjudicates,
    /// Decision of the judge.
    Judge,
    /// The judge's probability of "met".
    Probability,
    /// The judge's probability of each score: an object from score to probability.
    Probabilities,
    /// Length of the answer.
    Length,
    /// Name shared by related items, which are not independent evidence.
    Cluster,
    /// Criteria of the same case that this one depends on.
    Requires,
    /// The judge's preference with the answers in their order.
    First,
    /// The judge's preference with the answers exchanged, already mapped back to their names.
    Second,
    /// Which of two answers people prefer.
    Preferred,
    /// Repeated scores: a list, or a list of lists with one for each answer.
    Scores,
}

impl ColumnRole {
    /// Every role with its default column names. The first is the name of the role.
    pub(super) const NAMES: [(Self, &'static [&'static str]); 27] = [
        (Self::Case, &["case", "case_id", "trace_id"]),
        (Self::Suite, &["suite"]),
        (Self::System, &["system", "target"]),
        (Self::Trial, &["repeat", "trial"]),
        (Self::Criterion, &["criterion", "criterion_id", "benchmark_code", "benchmark"]),
        (Self::Label, &["label", "outcome"]),
        (Self::Who, &["who", "reviewer", "rater", "annotator"]),
        (Self::Prompt, &["prompt"]),
        (Self::At, &["at", "when"]),
        (Self::Note, &["note"]),
        (Self::Severity, &["severity"]),
        (Self::Version, &["version"]),
        (Self::Seen, &["seen"]),
        (Self::Sampled, &["sampled"]),
        (Self::Drawn, &["drawn"]),
        (Self::Split, &["split"]),
        (Self::Adjudicates, &["adjudicates"]),
        (Self::Judge, &["judge"]),
        (Self::Probability, &["probability"]),
        (Self::Probabilities, &["probabilities"]),
        (Self::Length, &["length"]),
        (Self::Cluster, &["cluster"]),
        (Self::Requires, &["requires"]),
        (Self::First, &["first"]),
        (Self::Second, &["second"]),
        (Self::Preferred, &["preferred"]),
        (Self::Scores, &["scores"]),
    ];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Returns the default names of its column. The first is also its name on the command line.
    pub fn names(self) -> &'static [&'static str] {
        Self::NAMES.iter().find(|(role, _)| *role == self).map_or(&[""], |(_, names)| names)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, names)| names[0] == name).map(|(role, _)| *role)
    }
}

/// Mapping of roles to columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnMapping {
    pub(super) given: BTreeMap<ColumnRole, String>,
}

impl ColumnMapping {
    /// Parses `case=item_id,label=verdict`. Roles that are not named keep their default column names.
    pub fn parse(text: &str) -> Result<Self, NamePairError> {
        let mut columns = Self::default();
        for (name, column) in parse_name_pairs(text)? {
            let role = ColumnRole::from_name(&name).ok_or_else(|| {
                NamePairError::unknown(&name, ColumnRole::NAMES.iter().map(|(_, names)| names[0]))
            })?;
            columns.insert(role, column)?;
        }

        Ok(columns)
    }

    /// Combines several mappings into one, as if they had been written as one.
    ///
    /// # Errors
    /// If two of them name a column for the same role.
    pub fn merge(lists: impl IntoIterator<Item = Self>) -> Result<Self, NamePairError> {
        let mut all = Self::default();
        for (role, column) in lists.into_iter().flat_map(|list| list.given) {
            all.insert(role, column)?;
        }

        Ok(all)
    }

    fn insert(&mut self, role: ColumnRole, column: String) -> Result<(), NamePairError> {
        let column = composed_name(column);
        if let Some(first) = self.given.get(&role) {
            return Err(NamePairError::conflict((role.name(), first), (role.name(), &column)));
        }

        self.given.insert(role, column);
        Ok(())
    }

    /// Returns true if any column was named. The table is then from another tool, and its other columns are
    /// ignored.
    pub fn is_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Returns the column given for a role.
    pub(super) fn given(&self, role: ColumnRole) -> Option<&str> {
        self.given.get(&role).map(String::as_str)
    }

    /// Returns the column names to look for, without columns that were given to another role.
    pub(super) fn names(&self, role: ColumnRole) -> Vec<&str> {
        let is_free = |name: &&&str| self.given.values().all(|column| column != **name);
        match self.given(role) {
            Some(column) => vec![column],
            None => role.names().iter().filter(is_free).copied().collect(),
        }
    }
}

/// Spellings of outcomes, such as `1` for "met".
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutcomeSpellings {
    spelled: Vec<(String, LabelOutcome)>,
}

impl OutcomeSpellings {
    const WORDS: [&'static str; 4] = ["met", "unmet", "not_applicable", "unsure"];

    /// Parses `met=1,unmet=0,not_applicable=-`: the outcome on the left, its spelling on the right.
    pub fn parse(text: &str) -> Result<Self, NamePairError> {
        let mut spelled: Vec<(String, LabelOutcome)> = Vec::new();
        for (name, spelling) in parse_name_pairs(text)? {
            let outcome = Self::WORDS
                .contains(&name.as_str())
                .then(|| LabelOutcome::from_word(&name))
                .flatten()
                .ok_or_else(|| NamePairError::unknown(&name, Self::WORDS.into_iter()))?;

            if spelled.iter().any(|(other, _)| *other == spelling) {
                return Err(NamePairError::Twice(spelling));
            }

            spelled.push((spelling, outcome));
        }

        Ok(Self { spelled })
    }

    /// Returns the outcome of a spelling; numbers are compared as numbers, so that `0.0` equals `0`.
    pub(super) fn outcome_of_text(&self, text: &str) -> Option<LabelOutcome> {
        let number = parse_number(text).ok();
        let same = |spelling: &str| {
            spelling.eq_ignore_ascii_case(text) || (number.is_some() && parse_number(spelling).ok() == number)
        };
        self.spelled.iter().find(|(spelling, _)| same(spelling)).map(|(_, outcome)| *outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_and_mistakes_named() {
        let columns = ColumnMapping::parse("case=item_id, label=verdict").expect("sound");
        assert_eq!(columns.names(ColumnRole::Case), ["item_id"]);
        assert_eq!(columns.names(ColumnRole::Who), ["who", "reviewer", "rater", "annotator"]);
        let taken = ColumnMapping::parse("preferred=label").expect("sound");
        assert_eq!(taken.names(ColumnRole::Label), ["outcome"], "the column has another role");
        let error = ColumnMapping::parse("lable=x").expect_err("misspelt").to_string();
        assert!(error.contains("did you mean `label`"), "{error}");
        assert_eq!(ColumnMapping::parse("case"), Err(NamePairError::Form("case".to_owned())));
        assert_eq!(ColumnMapping::parse("case=a,case=a"), Err(NamePairError::Twice("case=a".to_owned())));

        let lists = ["case=a,label=l", "case=b"].map(|text| ColumnMapping::parse(text).expect("valid"));
        let conflict = ColumnMapping::merge(lists).expect_err("two columns").to_string();
        assert!(conflict.contains("the field `case` has two columns, `a` and `b`"), "{conflict}");
    }

    #[test]
    fn spellings_are_compared_as_numbers_where_they_are_some() {
        let values = OutcomeSpellings::parse("met=1,unmet=0").expect("sound");
        assert_eq!(values.outcome_of_text("0.0"), Some(LabelOutcome::Unmet));
        assert_eq!(values.outcome_of_text("2"), None);
        assert!(OutcomeSpellings::parse("good=1").is_err());
    }
}
