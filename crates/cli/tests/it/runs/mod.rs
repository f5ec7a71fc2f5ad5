//! What a run keeps from one process to the next: cached replies, finished cases, spent budgets.

mod bounds;
mod budget;
mod cache;
mod compare;
mod context;
mod conversation;
mod exchange;
mod first_runs;
mod graders;
mod judge_batch;
mod limits;
mod money;
mod plan;
mod proxy;
mod resume;
mod sequence;
mod stopping;
mod support;
mod trials;
