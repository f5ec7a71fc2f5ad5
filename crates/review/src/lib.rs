//! Human review: items to decide, decisions, and label files.
//!
//! A [`ReviewSession`] is a state machine over [`ReviewItem`]s: it takes keys and returns [`ReviewStep`]s.
//! [`render_screen`] renders it as lines of text for a window of any size. [`parse_line`] reads the same
//! decisions from lines of text. Neither depends on a terminal.
//!
//! No line reveals the judge's decision before the reviewer's own decision has been recorded.

#![warn(missing_docs)]

mod draw;
mod item;
mod key;
mod label_file;
mod material;
mod ongoing;
mod options;
mod order;
mod plain_text;
mod queue;
mod recorder;
mod screen;
mod script;
mod session;
mod spreadsheet;
mod wrap;

pub use draw::DrawTarget;
pub use item::{
    FailureChoice, JudgeAccount, NamedItem, ReviewItem, ReviewQuestion, ReviewReason, ReviewSection,
    ReviewSectionKind, ReviewWeight, ScoreScale,
};
pub use key::ReviewKey;
pub use label_file::{ReviewLabelMetadata, ReviewerLabelError, ReviewerLabelFile, label_file_path};
pub use material::{
    ReviewMaterial, part_sections, scorecard_case_items, scorecard_items, scorecard_run_items,
    suite_case_items, suite_run_items,
};
pub use ongoing::{DecisionEffect, DecisionError, OngoingReview};
pub use options::ReviewOptions;
pub use order::{ReviewOrder, ReviewOrderError};
pub use plain_text::{render_plain_item, render_plain_judge};
pub use queue::ReviewQueue;
pub use recorder::{LabelRecorder, not_recorded};
pub use screen::{ReviewScreen, ScreenLine, ScreenLook, decision_words, judge_words, render_screen};
pub use script::{
    EarlierDecision, ReviewScriptLine, parse_answer, parse_decision_fields, parse_line, parse_severity,
};
pub use session::{ReviewAnswer, ReviewDecision, ReviewProgress, ReviewSession, ReviewStep};
pub use spreadsheet::{SpreadsheetCount, write_spreadsheet};
