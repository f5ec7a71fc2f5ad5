//! Drafts rubrics from expected outcomes.
//!
//! A [`DraftBrief`] contains the known facts about a case. [`ModelDrafter`] has a model write criteria and
//! accepts only those that pass the checks; [`draft_offline`] makes a modest draft from the clauses of the
//! expected outcome. [`CaseDraft`] writes a draft into a file of cases. A person corrects the draft; this
//! module does not judge whether it is good.

mod brief;
mod check;
mod criteria;
mod model;
mod need;
mod offline;
mod phrase;
mod place;
mod prompt;
mod writer;

pub use brief::{DraftBrief, RubricForm};
pub use check::{MAX_CRITERIA, MIN_CRITERIA};
pub use model::{CriteriaDraft, DraftError, ModelDrafter};
pub use need::{DraftNeed, need};
pub use offline::draft_offline;
pub use place::{CaseDraft, PlaceError};
pub use prompt::{PROMPT_VERSION, prompt_hash};
pub use writer::{CaseOutcome, DraftJob, DraftOptions, DraftOutcome, DraftWriter, EditedFile, SaveFile};
