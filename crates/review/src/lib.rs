//! Human review: items to decide, decisions, and label files.
//!
//! A [`Session`] is a state machine over [`Item`]s: keys in, [`Step`]s out. [`screen`] renders it as lines of
//! text for a window of any size, and [`parse_line`] reads the same decisions from lines of text. Neither
//! depends on a terminal. No line reveals the judge's decision before the reviewer's own has been recorded.

#![warn(missing_docs)]

mod item;
mod key;
mod labels;
mod order;
mod plain;
mod screen;
mod script;
mod session;
mod wrap;

pub use item::{About, Choice, Item, JudgeSaid, NONE_OF_THE_ABOVE, Question, ScoreScale, Section, Why};
pub use key::Key;
pub use labels::{Given, Labels, LabelsError, file_of};
pub use order::{Order, OrderError};
pub use plain::{plain_item, plain_judge};
pub use screen::{Look, Screen, ScreenLine, screen};
pub use script::{Line, parse_line};
pub use session::{Decision, Left, Said, Session, Step};
