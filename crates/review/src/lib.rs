//! Human review: items to decide, decisions, and label files.
//!
//! A [`ReviewSession`] is a state machine over [`ReviewItem`]s: keys in, [`ReviewStep`]s out. [`render_screen`] renders it as lines of
//! text for a window of any size, and [`parse_line`] reads the same decisions from lines of text. Neither
//! depends on a terminal. No line reveals the judge's decision before the reviewer's own has been recorded.

#![warn(missing_docs)]

mod item;
mod key;
mod label_file;
mod order;
mod plain_text;
mod screen;
mod script;
mod session;
mod wrap;

pub use item::{
    FailureChoice, JudgeAccount, ReviewItem, ReviewQuestion, ReviewReason, ReviewSection, ReviewSectionKind,
    ReviewWeight, ScoreScale,
};
pub use key::ReviewKey;
pub use label_file::{ReviewLabelMetadata, ReviewerLabelError, ReviewerLabelFile, label_file_path};
pub use order::{ReviewOrder, ReviewOrderError};
pub use plain_text::{render_plain_item, render_plain_judge};
pub use screen::{ReviewScreen, ScreenLine, ScreenLook, render_screen};
pub use script::{ReviewScriptLine, parse_decision_fields, parse_line};
pub use session::{ReviewAnswer, ReviewDecision, ReviewProgress, ReviewSession, ReviewStep};
