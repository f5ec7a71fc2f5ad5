//! Storage of runs on disk, written and read back.
//!
//! A run is a folder: [`RunInfo`] (`run.json`), one [`ResultRow`] per case (`results.jsonl`), and one
//! [`JudgementRow`] per decision on a criterion (`judgements.jsonl`). The judgements of a case are written
//! before its result, and only the result row makes the case count: after a crash, judgements without a
//! result are ignored. The run of a scorecard also has `review.jsonl`, with one [`ReviewRow`] for each case a
//! person should look at. A row of `inputs.jsonl` identifies the inputs of a case's result, so that a run can
//! be resumed.
//!
//! The [`ReplyCache`] is stored next to the runs. It is not a record: deleting it only costs money.
//!
//! Design: `docs/design/storage-and-resuming.md`.

#![warn(missing_docs)]

mod answers;
mod batch_journal;
mod cache;
mod case_error;
mod case_key;
mod case_rows;
mod checksum;
mod criterion_rows;
mod disk;
mod early_stop;
mod error;
#[cfg(test)]
mod fault_tests;
mod folder;
mod grader_result;
mod inputs_row;
mod judgement;
mod merge;
mod metrics;
mod panel_summary;
mod pass_rate_gate;
mod private_file;
mod question_key;
mod question_row;
mod reader;
mod result;
mod resume;
mod review_row;
mod row_counts;
mod row_places;
mod run_conclusion;
mod run_info;
mod scan;
mod schema;
mod scorecard_info;
mod shard_info;
mod sorted_records;
mod spool_file;
mod tool_call_row;
mod verdict_counts;

pub use answers::{AnswerIndex, AnswerKey, AnswerNames, AnswerPart};
pub use batch_journal::{BatchJournal, BatchLock, BatchRecord};
pub use cache::{CacheStats, CachedReply, ModelStats, ReplyCache, fence_key};
pub use case_error::{CaseError, CaseErrorKind, CaseStage};
pub use case_key::CaseKey;
pub use case_rows::CaseRows;
pub use criterion_rows::{criterion_rows, criterion_texts};
pub use early_stop::{AnytimeInterval, EarlyStop, HaltReason, StopConclusion, StopMetric};
pub use error::StoreError;
pub use folder::{RunFolder, RunWriter};
pub use grader_result::GraderResult;
pub use inputs_row::InputsRow;
pub use judgement::{JudgementRow, RowOutcome};
pub use merge::RowMerge;
pub use metrics::{
    CaseTrialsRow, CriterionRate, DecisionNoise, DerivedMetric, EstimatedMetric, FlippingCriterion,
    NoiseParts, PairwiseMetrics, PartMetrics, PartTable, PassKRow, PromptMetrics, PublishedMeans, RunMetrics,
    TargetMetrics, TrialMetrics,
};
pub use panel_summary::{EscalationSummary, FlipRate, PanelSummary, UnstableCriterion};
pub use pass_rate_gate::{PassRateGate, PassRateResult};
pub use question_row::QuestionRow;
pub use reader::{
    CaseRecord, CaseRecords, QuestionIndex, RecordPlace, RecordPosition, ResultRows, first_in_order,
};
pub use result::{CriterionRow, GateRow, GraderRow, HistoryRow, MetricScore, ResultRow, TurnRow, named_case};
pub use review_row::ReviewRow;
pub use row_counts::{RowCounts, RowSums};
pub use run_conclusion::{BlockingGate, ConclusionLine, DisputedDecision, RunConclusion};
pub use run_info::{
    FORMAT_VERSION, InputHash, JudgeInfo, MeanScore, ResumedPart, RunInfo, RunSettings, RunSummary,
    SentRequests, SuiteInfo, TargetInfo,
};
pub use scan::{RowsFile, ScannedRows};
pub use schema::schemas;
pub use scorecard_info::{
    ScorecardInfo, ScorecardNodeInfo, ScorecardPartKind, ScorecardScale, ScorecardWeightSet,
};
pub use shard_info::{MergeInfo, MergedShard, ShardInfo};
pub use sorted_records::{RecordsInOrder, SortedRecords};
pub use spool_file::{SpoolFile, SpoolPlace};
pub use tool_call_row::{ToolCallRow, shorten_tool_calls};
pub use verdict_counts::VerdictCounts;

#[cfg(test)]
mod tests;
