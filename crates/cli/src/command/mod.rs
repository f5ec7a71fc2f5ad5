//! One file per command, and what several of them share.

pub(crate) mod audit;
pub(crate) mod cache;
pub(crate) mod completions;
pub(crate) mod doctor;
mod estimate;
pub(crate) mod eval;
pub(crate) mod explain;
mod forecast;
pub(crate) mod grade;
mod graders;
pub(crate) mod init;
pub(crate) mod lint;
mod plan;
mod present;
mod resume;
mod runs;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod scorecard;
mod session;
mod shape;
pub(crate) mod validate;
