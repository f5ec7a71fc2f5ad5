//! Pages of a review. [`DecidedText`] is the only type here that contains a judge's decision.

use askama::Template;

use super::RunHeader;

/// Head of every page of a review.
pub(crate) struct ReviewHeader {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) who: String,
    pub(crate) decided: usize,
    pub(crate) all: usize,
    pub(crate) skipped: usize,
    /// True if leaving leads to other pages.
    pub(crate) has_home: bool,
    /// True if the visitor asked for another page and was sent here.
    pub(crate) is_held: bool,
    pub(crate) can_undo: bool,
}

/// A text with its heading.
pub(crate) struct SectionText {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A failure to choose from.
pub(crate) struct ChoiceText {
    pub(crate) value: String,
    pub(crate) code: String,
    pub(crate) text: String,
    pub(crate) criterion: String,
}

/// A score that can be entered with one key.
pub(crate) struct WholeScore {
    pub(crate) score: u32,
    /// The digit, or `t` for 10.
    pub(crate) key: char,
}

/// Kind of question.
pub(crate) enum QuestionText {
    /// Pass or fail.
    Verdict,
    /// A score between two numbers; the whole numbers between them if there are few.
    Score { min: String, max: String, whole: Vec<WholeScore> },
    /// One of these failures.
    Failure(Vec<ChoiceText>),
}

/// The reviewer's decision and the judge's. Created only for an item that the reviewer has decided.
pub(crate) struct DecidedText {
    pub(crate) own: String,
    pub(crate) judge: Option<String>,
    pub(crate) reason: &'static str,
}

/// One item.
#[derive(Template)]
#[template(path = "review_item.html")]
pub(crate) struct ReviewItemPage {
    pub(crate) header: ReviewHeader,
    pub(crate) key: String,
    pub(crate) place: usize,
    pub(crate) case: String,
    pub(crate) criterion: String,
    /// Suite, target and trial, if they matter.
    pub(crate) about: String,
    /// Reason for the review of the item, without a hint at the judge's decision.
    pub(crate) reason: &'static str,
    pub(crate) material: Vec<SectionText>,
    pub(crate) question: Vec<SectionText>,
    pub(crate) kind: QuestionText,
    pub(crate) decided: Option<DecidedText>,
}

/// The page after the last item is decided.
#[derive(Template)]
#[template(path = "review_done.html")]
pub(crate) struct ReviewDonePage {
    pub(crate) header: ReviewHeader,
    /// Sentences that sum up the review.
    pub(crate) text: String,
    pub(crate) file: String,
}

/// An item of the list.
pub(crate) struct ReviewLine {
    pub(crate) url: String,
    pub(crate) place: usize,
    pub(crate) case: String,
    pub(crate) criterion: String,
    /// The reviewer's decision, or that there is none.
    pub(crate) state: String,
    pub(crate) is_decided: bool,
}

/// All items with the reviewer's own decisions.
#[derive(Template)]
#[template(path = "review_items.html")]
pub(crate) struct ReviewItemsPage {
    pub(crate) header: ReviewHeader,
    pub(crate) items: Vec<ReviewLine>,
    pub(crate) more: usize,
}

/// The page that starts a review of a run.
#[derive(Template)]
#[template(path = "review_start.html")]
pub(crate) struct ReviewStartPage {
    pub(crate) header: RunHeader,
    pub(crate) has_scorecard: bool,
    pub(crate) who: String,
}

/// The decisions of a case that a person can mark right or wrong.
#[derive(Template)]
#[template(path = "marks.html")]
pub(crate) struct MarkPage {
    /// The person, or a suggestion for the name.
    pub(crate) who: String,
    /// True if the person has given the name before.
    pub(crate) is_named: bool,
    pub(crate) items: Vec<MarkItem>,
}

/// A decision that a person can mark.
pub(crate) struct MarkItem {
    pub(crate) key: String,
    /// Position among the criteria that the row of the case has; `None` for a benchmark.
    pub(crate) at: Option<usize>,
    pub(crate) name: String,
    pub(crate) text: String,
    /// Why the judge decided so.
    pub(crate) reason: String,
    /// The judge's decision; `None` if there is none.
    pub(crate) right: Option<MarkChoice>,
    /// Other decisions.
    pub(crate) wrong: Vec<MarkChoice>,
    /// Scores, if the criterion is scored.
    pub(crate) whole: Vec<WholeScore>,
    pub(crate) own: Option<OwnMark>,
    /// Decisions of all people, once there is an own one.
    pub(crate) people: Vec<String>,
}

/// The person's own decision.
pub(crate) struct OwnMark {
    pub(crate) say: String,
    pub(crate) note: String,
}

/// A decision that can be made with one click.
pub(crate) struct MarkChoice {
    pub(crate) say: String,
    pub(crate) words: String,
}
