//! One file per command, and shared parts.

mod agreement;
pub(crate) mod attempt;
pub(crate) mod audit;
pub(crate) mod cache;
pub(crate) mod calibrate;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod compare;
mod compare_watch;
mod compared_run;
pub(crate) mod completions;
pub(crate) mod convert;
mod criteria;
pub(crate) mod doctor;
mod drift;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod grade;
pub(crate) mod init;
mod labels;
pub(crate) mod lint;
pub(crate) mod list;
#[cfg(feature = "lsp")]
pub(crate) mod lsp;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod merge;
#[cfg(not(all(feature = "cluster", feature = "lsp", feature = "mcp", feature = "serve")))]
mod missing;
mod noise;
mod page_server;
mod pairwise;
mod panel_rates;
mod power;
mod present;
mod record_cases;
pub(crate) mod report;
mod report_matrix;
mod reported_run;
mod rescoring;
pub(crate) mod review;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod scorecard;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod transcript;
mod trend;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod view;

#[cfg(not(feature = "cluster"))]
pub(crate) use missing::cluster;
#[cfg(not(feature = "lsp"))]
pub(crate) use missing::lsp;
#[cfg(not(feature = "mcp"))]
pub(crate) use missing::mcp;
#[cfg(not(feature = "serve"))]
pub(crate) use missing::serve;
