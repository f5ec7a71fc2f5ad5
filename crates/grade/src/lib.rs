//! Judging an answer against a rubric, one decision per criterion.
//!
//! [`RubricJudge`] is the trait everything above depends on. [`ModelJudge`] puts the criteria to a model and takes
//! only what the model plainly said; [`OfflineJudge`] needs no model and compares words. [`check`] holds the graders
//! that need nobody, [`Program`] runs those that are programs. No judge ever sees or
//! computes a score of more than one criterion: weights, gates and verdicts belong to the rubric crate.

#![warn(missing_docs)]

mod behaviour;
mod check;
mod evidence;
mod exchange;
mod fence;
mod forecast;
mod judge;
mod judged;
mod model;
mod offline;
mod pair;
mod program;
mod prompt;
mod reply;
mod task;
mod whole;

pub use behaviour::{BehaviourDecision, BehaviourJudgement, BehaviourTask};
pub use check::{Checked, Facts, Finding, check, schema_problem};
pub use evidence::EvidenceIndex;
pub use exchange::{fenced, reply_object};
pub use fence::{FenceSource, KeyedFences};
pub use forecast::Forecast;
pub use judge::RubricJudge;
pub use judged::{Judged, Spent};
pub use model::{JudgeOptions, ModelJudge, WarmUp};
pub use offline::OfflineJudge;
pub use pair::{PairJudgement, PairTask};
pub use program::{Program, ProgramEnvironment, ProgramGrade, ProgramInput, ProgramReply, ProgramSetup};
pub use prompt::{
    BEHAVIOUR_PROMPT_VERSION, COMBINE_PROMPT, PAIR_PROMPT_VERSION, PROMPT_VERSION, WHOLE_PROMPT_VERSION,
    prompt_hash,
};
pub use task::{Asking, Material, RubricTask};
pub use whole::{WholeJudgement, WholeScore, WholeTask};
