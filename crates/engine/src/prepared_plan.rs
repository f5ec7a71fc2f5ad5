//! A plan that is made once, for a process that runs many parts of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use assize_model::Case;
use assize_run::DealtPlan;
use assize_store::SuiteInfo;

use crate::dependencies::CaseDependencies;
use crate::load::LoadedFiles;
use crate::plan_identity::PlanIdentity;
use crate::preflight_report::PreflightReport;

/// Eval files that were read, checked and assigned to shards once. A run of a part of the plan then reads only the cases of
/// that part.
///
/// If there are many, the positions of the cases of datasets are in an unnamed file.
pub struct PreparedPlan {
    pub(crate) loaded: LoadedFiles,
    /// Findings about all cases.
    pub(crate) preflight: PreflightReport,
    /// Warning about patterns that select nothing.
    pub(crate) unmatched: Option<String>,
    pub(crate) files: Vec<PreparedFile>,
    pub(crate) suites: Vec<SuiteInfo>,
    /// Summary of problems in files that do not prevent a run of the other cases.
    pub(crate) problems: Option<String>,
    /// The shards; `None` if the cases run in a random order, because finding the cases of one shard then
    /// needs all of them.
    pub(crate) dealt: Option<DealtPlan>,
    pub(crate) identity: PlanIdentity,
    /// All files that were read, each with a stamp to detect changes.
    pub(crate) stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

/// Facts about an eval file of a plan.
pub(crate) struct PreparedFile {
    /// Cases for which judges, targets or models must be made.
    pub(crate) makers: Vec<Arc<Case>>,
    pub(crate) dependencies: Arc<CaseDependencies>,
}

/// Size of a file and time of its last change.
pub(crate) type FileStamp = (u64, Option<SystemTime>);

/// Stamps of files; `None` for a file without accessible metadata.
pub(crate) fn stamps(files: &[PathBuf]) -> Vec<(PathBuf, Option<FileStamp>)> {
    files.iter().map(|path| (path.clone(), stamp(path))).collect()
}

pub(crate) fn stamp(path: &Path) -> Option<FileStamp> {
    let meta = path.metadata().ok()?;
    Some((meta.len(), meta.modified().ok()))
}
