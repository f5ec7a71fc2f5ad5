//! Judging an answer against a rubric, one decision per criterion.
//!
//! Other crates depend on the trait [`Judge`]. [`ModelJudge`] asks a model about the criteria and accepts only
//! unambiguous replies; [`OfflineJudge`] needs no model and compares words. [`check`] runs the graders that
//! need no judge, and [`GradingProgram`] those that are programs. No judge sees or computes a score of more
//! than one criterion: weights, gates and verdicts belong to the rubric crate.

#![warn(missing_docs)]

mod answer_score;
mod behaviour;
mod check;
mod check_threads;
mod context;
mod evidence;
mod exchange;
mod fence;
mod forecast;
mod judge;
mod model;
mod offline;
mod pair;
mod program;
mod prompt;
mod question;
mod questions;
mod reply;
mod single_question;
mod statements;
mod task;
mod text_hash;

pub use answer_score::AnswerScoreTask;
pub use behaviour::BehaviourTask;
pub use check::{
    AnswerFacts, CheckResult, check, check_by_program, is_unreported, may_take_long, schema_problem,
    score_by_code, transform_answer, transform_by_program,
};
pub use check_threads::{CHECK_TIME, CheckThreads, MAX_GIVEN_UP_CHECKS};
pub use context::{ContextRubric, ContextText, context_rubric};
pub use evidence::EvidenceIndex;
pub use exchange::{fence_texts, find_reply_object};
pub use fence::{FenceSource, KeyedFences};
pub use forecast::CallForecast;
pub use judge::Judge;
pub use model::{
    JudgeOptions, ModelJudge, WarmUp, answer_relevance_forecast, decide_answer_relevance, decide_labels,
    decide_similarity, label_forecast, questions_task, similarity_forecast,
};
pub use offline::OfflineJudge;
pub use pair::PairTask;
pub use program::{
    AnswerFile, ExtensionCall, ExtensionHost, FilePrograms, GradingProgram, ProgramEnvironment, ProgramGrade,
    ProgramInput, ProgramReply, ProgramSetup, convert_file,
};
pub use prompt::{
    BEHAVIOUR_PROMPT_VERSION, COMBINE_PROMPT, PAIR_PROMPT_VERSION, PROMPT_VERSION, QUESTIONS_PROMPT_VERSION,
    WHOLE_PROMPT_VERSION, prompt_hash,
};
pub use question::JudgeQuestion;
pub use questions::QuestionsTask;
pub use task::{JudgeMaterial, RubricTask, SamplingOptions};

#[cfg(test)]
mod tests;
