//! What a reviewer is asked about.

use assize_rubric::LabelOutcome;

/// The code of a label that finds none of the known failures in a trace.
pub const NONE_OF_THE_ABOVE: &str = "NONE_OF_THE_ABOVE";

/// One question about one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Id of the case.
    pub case: String,
    /// Name of the suite, where a label needs it.
    pub suite: Option<String>,
    /// Who gave the answer, where a label needs it.
    pub system: Option<String>,
    /// Which repeat of the case, from 1, where a label needs it.
    pub repeat: Option<u32>,
    /// Id of the criterion or code of the benchmark; empty for a trace whose failure is to be named.
    pub criterion: String,
    /// A hash of the question's words, so that a label says what it was an answer to.
    pub version: String,
    /// The texts, in the order in which they are shown. None of them may hold what the judge said.
    pub sections: Vec<Section>,
    /// What may be decided.
    pub question: Question,
    /// What the judge said; hidden until the reviewer has decided.
    pub judge: Option<JudgeSaid>,
    /// Why a person should look at it.
    pub why: Why,
}

/// A text with its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// The text, of any length, possibly from a stranger.
    pub text: String,
}

/// What may be decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Pass or fail, not applicable, unsure; with a scale also a score.
    Verdict(Option<ScoreScale>),
    /// Which failure is the first cause, or none of them.
    Primary(Vec<Choice>),
}

/// The scale of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreScale {
    /// The lowest score.
    pub min: f64,
    /// The highest score.
    pub max: f64,
}

/// A failure that a trace can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its code.
    pub code: String,
    /// What it is, in a few words.
    pub text: String,
}

/// What the judge said.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSaid {
    /// Its decision; `None` if it has none.
    pub outcome: Option<LabelOutcome>,
    /// Its reason.
    pub reason: String,
    /// How sure it said it was.
    pub confidence: Option<&'static str>,
}

/// Why a person should look at an item, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Nobody has decided, and only people can.
    Waiting,
    /// People decided differently.
    ReviewersDiffer,
    /// Judges decided differently, so that nothing is decided.
    JudgesDiffer,
    /// The judge was not certain.
    Uncertain,
    /// The judge has no decision.
    Undecided,
    /// The judge decided; a person may agree or not.
    Check,
}

impl Why {
    /// In a few words. They must not tell what the judge decided.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Waiting => "waits for a person",
            Self::ReviewersDiffer => "reviewers differ",
            Self::JudgesDiffer => "judges differ",
            Self::Uncertain => "the judge was not certain",
            Self::Undecided => "the judge could not decide",
            Self::Check => "check of the judge",
        }
    }
}
