//! Review items: the questions for a reviewer.

use assize_rubric::{LabelOutcome, SeenHash};

/// A question to the reviewer about one case.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewItem {
    /// Id of the case.
    pub case: String,
    /// Name of the suite, if the label needs it.
    pub suite: Option<String>,
    /// Name of the target that gave the answer, if the label needs it.
    pub system: Option<String>,
    /// Number of the trial, from 1, if the label needs it.
    pub trial: Option<u32>,
    /// Id of the criterion or code of the benchmark; empty if the question is about the first failure of a trace.
    pub criterion: String,
    /// Hash of the question's text, so that a label records its version.
    pub version: String,
    /// Hash of everything that is shown; a label is only valid for items with this hash.
    pub seen: Option<SeenHash>,
    /// Importance of the decision for scores of the levels above.
    pub weight: ReviewWeight,
    /// True if it has a label for an earlier answer, case or question.
    pub is_stale: bool,
    /// Number of reviewers who still have to decide; `None` for any number.
    pub wanted: Option<usize>,
    /// Texts in display order. None of them may reveal the judge's decision.
    pub sections: Vec<ReviewSection>,
    /// Kind of question.
    pub question: ReviewQuestion,
    /// True if "not applicable" is a decision here.
    pub may_not_apply: bool,
    /// Decision of the judge; hidden until the reviewer has decided.
    pub judge: Option<JudgeAccount>,
    /// Probability with which the item was drawn for labelling, if items were drawn with different
    /// probabilities.
    pub drawn: Option<f64>,
    /// Reason for the review.
    pub why: ReviewReason,
}

/// A text with its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSection {
    /// Kind of text. In a wide window, the two kinds are shown side by side.
    pub about: ReviewSectionKind,
    /// Heading.
    pub title: String,
    /// The text, of any length, possibly untrusted.
    pub text: String,
}

/// Kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewSectionKind {
    /// The question to decide.
    Question,
    /// The material to decide on.
    Material,
}

/// Kind of question, with the possible decisions.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewQuestion {
    /// Pass or fail, not applicable, unsure; with a scale also a score.
    Verdict(Option<ScoreScale>),
    /// The first failure, or the answer that it has no code, or that there is no failure.
    Primary(Vec<FailureChoice>),
}

/// Scale of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreScale {
    /// Lowest score.
    pub min: f64,
    /// Highest score.
    pub max: f64,
}

/// Failure that can be chosen for a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureChoice {
    /// Code of the failure.
    pub code: String,
    /// Short description.
    pub text: String,
    /// Concept and criteria of the failure; empty if the description is enough.
    pub criterion: String,
    /// Hash that ties a label of this failure to the answer.
    pub seen: Option<SeenHash>,
}

/// Importance of a decision, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ReviewWeight {
    /// It can block the levels above.
    Gate,
    /// It counts towards the score.
    #[default]
    Counted,
    /// It is reported but doesn't count towards the score.
    Reported,
}

/// Decision of the judge.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeAccount {
    /// Outcome; `None` if the judge did not decide.
    pub outcome: Option<LabelOutcome>,
    /// Reason of the decision.
    pub reason: String,
    /// Probability of "met" according to the judge's tokens, if it is known.
    pub probability: Option<f64>,
    /// Confidence stated by the judge.
    pub confidence: Option<&'static str>,
}

/// Reason for the review of an item, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReviewReason {
    /// People decided differently.
    ReviewersDiffer,
    /// There is no decision, and only a person can make it.
    Waiting,
    /// Judges decided differently, so that there is no decision.
    JudgesDiffer,
    /// The judge was uncertain.
    Uncertain,
    /// The judge left it ungraded.
    Undecided,
    /// The judge decided; a person checks it.
    Check,
}

impl ReviewReason {
    /// Describes the reason in a few words. They reveal something about the judge's decision, so they are
    /// only shown after the reviewer has decided.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Waiting => "waiting for a person",
            Self::ReviewersDiffer => "reviewers disagree",
            Self::JudgesDiffer => "judges disagree",
            Self::Uncertain => "the judge was not certain",
            Self::Undecided => "the judge left it ungraded",
            Self::Check => "sample for calibration",
        }
    }
}

impl ReviewItem {
    /// Rank of the reason in the queue. All reasons that are about judges share one rank, so that the order
    /// doesn't reveal the judge's doubt.
    pub(crate) fn blind_rank(&self) -> u8 {
        match self.why {
            ReviewReason::ReviewersDiffer => 0,
            ReviewReason::Waiting => 1,
            ReviewReason::JudgesDiffer | ReviewReason::Uncertain | ReviewReason::Undecided => 2,
            ReviewReason::Check => 3,
        }
    }

    /// Returns a short name that stays the same as long as the question and the answer do. It contains
    /// nothing about the judge.
    pub fn key(&self) -> String {
        const SHOWN: usize = 16;

        let seen = self.seen.map(|seen| seen.to_string()).unwrap_or_default();
        let trial = self.trial.unwrap_or_default().to_string();
        let suite = self.suite.as_deref().unwrap_or_default();
        let system = self.system.as_deref().unwrap_or_default();
        let mut hash = blake3::Hasher::new();
        for part in [&*self.case, suite, system, &trial, &self.criterion, &self.version, &seen] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }

        let mut key = hash.finalize().to_hex().to_string();
        key.truncate(SHOWN);
        key
    }

    /// Describes why the item is in the review without a hint at the judge's decision.
    pub fn describe_blindly(&self) -> &'static str {
        match (self.why, self.is_stale) {
            (_, true) => "asked again: the item changed since it was decided",
            (ReviewReason::Waiting, _) => "waiting for a person",
            (ReviewReason::ReviewersDiffer, _) => "reviewers disagree",
            _ => "unlabelled",
        }
    }
}

/// Item named by a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedItem {
    /// Id of the case.
    pub case: String,
    /// Id of the criterion; empty for the first failure of a trace.
    pub criterion: String,
    /// Key of the item, if the line comes from an exported table.
    pub key: Option<String>,
    /// Hash of what the label was given for, if the line comes from a label file.
    pub seen: Option<String>,
}
