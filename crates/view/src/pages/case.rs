//! One case.

use askama::Template;
use assize_report::html::TextPiece;

use crate::pages::RunHeader;
use crate::text::ResultMark;

/// A case with all decisions.
#[derive(Template, Default)]
#[template(path = "case.html")]
pub(crate) struct CasePage {
    pub(crate) header: RunHeader,
    pub(crate) id: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) because: String,
    pub(crate) list_url: String,
    /// Address that stays the same when the run is resumed.
    pub(crate) link: String,
    /// Address of the case, whose criteria people can mark.
    pub(crate) mark_url: String,
    /// Position in the list that the case was opened from, such as `3 of 40`; empty if it is not in that list.
    pub(crate) place: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) disagreements: Vec<String>,
    pub(crate) question: Option<String>,
    pub(crate) expected: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) has_answer: bool,
    /// True if the turns contain the whole conversation, so that it need not be shown a second time.
    pub(crate) is_told_by_turn: bool,
    pub(crate) answer: Vec<AnswerPiece>,
    pub(crate) turns: Vec<TurnText>,
    pub(crate) calls: Vec<ToolCallText>,
    /// Number of further calls that the run did not store.
    pub(crate) calls_dropped: usize,
    pub(crate) changes: Vec<FileDiff>,
    pub(crate) changes_known: bool,
    pub(crate) graders: Vec<GraderText>,
    pub(crate) equations: Vec<String>,
    pub(crate) bounds: String,
    pub(crate) gates: Vec<(String, String)>,
}

/// A piece of an answer, and the criteria that quote it.
pub(crate) struct AnswerPiece {
    pub(crate) piece: TextPiece,
    /// Criteria whose first quote begins here: links lead to this piece.
    pub(crate) begins: Vec<usize>,
}

/// A turn of a conversation.
pub(crate) struct TurnText {
    pub(crate) number: u32,
    /// Messages before the answer, from the transcript; empty if it is not clear which ones belong to this
    /// turn.
    pub(crate) asked: String,
    pub(crate) answer: Vec<AnswerPiece>,
    pub(crate) error: Option<String>,
    pub(crate) note: String,
}

/// A call of a tool by the target.
pub(crate) struct ToolCallText {
    pub(crate) number: usize,
    pub(crate) tool: String,
    /// The beginning of the input, in one line.
    pub(crate) brief: String,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) has_failed: bool,
    pub(crate) note: String,
}

/// Changes to one file.
pub(crate) struct FileDiff {
    /// Its name; empty if the diff names none.
    pub(crate) name: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) lines: Vec<DiffLine>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine {
    pub(crate) class: &'static str,
    pub(crate) text: String,
}

/// A grader of a case.
#[derive(Template, Default)]
#[template(path = "grader.html")]
pub(crate) struct GraderText {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) mark: Option<ResultMark>,
    pub(crate) weight: String,
    pub(crate) score: String,
    pub(crate) because: String,
    pub(crate) judge: String,
    pub(crate) problem: Option<String>,
    /// True if it only waits for a person, which is not a failure.
    pub(crate) waits: bool,
    /// Address of its scorecard part; empty outside scorecards.
    pub(crate) part_url: String,
    /// The question of that part, from the current files.
    pub(crate) asks: String,
    pub(crate) criteria: Vec<CriterionText>,
    pub(crate) whole: Option<CriterionText>,
    pub(crate) aggregator: Option<String>,
    pub(crate) notes: Vec<GraderNoteText>,
    pub(crate) formula: Option<&'static str>,
    pub(crate) equations: Vec<String>,
    pub(crate) weighting_effects: Vec<String>,
    pub(crate) has_weights: bool,
    pub(crate) members: Vec<GraderText>,
}

/// A detail that a grader reports.
pub(crate) struct GraderNoteText {
    pub(crate) mark: Option<ResultMark>,
    pub(crate) text: String,
    pub(crate) reason: String,
}

/// A decision on a criterion, or of a grader as a whole.
#[derive(Default)]
pub(crate) struct CriterionText {
    pub(crate) number: usize,
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) mark: Option<ResultMark>,
    pub(crate) band: Option<String>,
    pub(crate) weight: String,
    pub(crate) value: String,
    pub(crate) points: String,
    pub(crate) gate: Option<GateText>,
    pub(crate) reason: String,
    pub(crate) quotes: Vec<QuoteText>,
    pub(crate) notes: Vec<String>,
    /// What people said, a text for each person.
    pub(crate) people: Vec<String>,
    /// True if people contradict the judge or each other.
    pub(crate) is_disputed: bool,
    pub(crate) votes: Vec<VoteText>,
    pub(crate) replies: Vec<(String, String)>,
}

/// A gate with its comparison.
pub(crate) struct GateText {
    pub(crate) rule: String,
    pub(crate) comparison: String,
    pub(crate) mark: ResultMark,
}

/// A quote of a judge.
pub(crate) struct QuoteText {
    pub(crate) text: String,
    /// Element of the answer to link to.
    pub(crate) anchor: Option<String>,
    /// Line number of the quote in the answer, or that it was not found.
    pub(crate) note: String,
    pub(crate) is_found: bool,
}

/// The vote of a judge.
pub(crate) struct VoteText {
    pub(crate) judge: String,
    pub(crate) mark: ResultMark,
    pub(crate) reason: String,
    pub(crate) note: String,
}
