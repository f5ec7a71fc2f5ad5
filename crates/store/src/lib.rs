//! What is written to disk about a run, and reading it back.
//!
//! A run is a folder: [`RunInfo`] (`run.json`), one [`ResultRow`] a case (`results.jsonl`), one
//! [`JudgementRow`] a criterion decision (`judgements.jsonl`). The judgements of a case are written
//! before its result, and the result row is what makes the case count: after a crash, judgements
//! without a result are leftovers.

#![warn(missing_docs)]

mod cache;
mod error;
mod folder;
mod info;
mod judgement;
mod reader;
mod result;

pub use cache::{CacheStats, CachedReply, ModelStats, ReplyCache, fence_key};
pub use error::StoreError;
pub use folder::{RunFolder, RunWriter};
pub use info::{
    Counts, FORMAT_VERSION, InputHash, JudgeInfo, MeanScore, RunInfo, RunSettings, RunSummary, SuiteInfo,
    TargetInfo,
};
pub use judgement::{JudgementContext, JudgementRow, Standing};
pub use reader::{CaseKey, CaseRecord, CaseRecords, ResultRows};
pub use result::{CaseError, CriterionRow, GateRow, GraderRow, ResultRow};
