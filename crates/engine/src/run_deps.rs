//! Dependencies of the cases of an eval file.

use std::sync::Arc;

use crate::baselines::BaselineRuns;
use crate::judges::JudgeRegistry;
use crate::targets::TargetRegistry;

/// The targets, judges and baselines that the cases of an eval file use.
pub(crate) struct RunDeps {
    pub(crate) targets: Arc<TargetRegistry>,
    pub(crate) judges: Arc<JudgeRegistry>,
    pub(crate) baselines: BaselineRuns,
}
