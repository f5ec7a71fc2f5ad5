//! Work items of the engine.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use assize_grade::{Judge, ProgramSetup};
use assize_llm::{BoxFuture, ChatModel};
use assize_model::{Case, OnDependencyFailure};
use assize_rubric::{
    EvidencePolicy, IdentityWriter, JudgingMode, TrialPlan, TruncationMode, VerdictThresholds,
};
use assize_store::{CaseErrorKind, CaseKey, CaseRecord};
use assize_targets::{Target, TargetAnswer};
use assize_workspace::Workspace;

use crate::case_cluster::cluster_of_case;
use crate::panel::PanelSettings;
use crate::{JudgeError, JudgeSelector, RivalGroup};

/// A case to be answered and graded.
#[derive(Clone)]
pub struct WorkItem {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Eval-file format, 1 or 2; `None` for answers graded without a suite.
    pub format: Option<u8>,
    /// Folder of the eval file, in which commands of targets run; empty for the folder of this process.
    pub suite_folder: Arc<Path>,
    /// The case.
    pub case: Arc<Case>,
    /// Where its answer comes from.
    pub source: ItemSource,
    /// Number of the trial, from 1.
    pub trial: u32,
    /// Position among the items of the plan, from 1; 0 until the run takes it.
    pub place: u64,
    /// Relations to the other items of its run.
    pub relations: Arc<ItemRelations>,
    /// The thresholds of its verdict.
    pub thresholds: VerdictThresholds,
    /// Provides its judges.
    pub judges: Arc<dyn JudgeProvider>,
    /// The suite's own choice of judge.
    pub judge: Option<Arc<str>>,
    /// How many criteria go into one judge call; overrides graders.
    pub judging_override: Option<JudgingMode>,
    /// How many criteria go into one judge call if a grader does not set it.
    pub judging: JudgingMode,
    /// Panel settings in addition to the graders' own.
    pub panels: Arc<PanelSettings>,
    /// Evidence policy if a grader does not set it.
    pub evidence: EvidencePolicy,
    /// Truncation of material that is too long for a judge; overrides graders.
    pub truncate_override: Option<TruncationMode>,
    /// Truncation of material that is too long for a judge if a grader does not set it.
    pub truncate: TruncationMode,
    /// Setup of graders that are programs.
    pub programs: Arc<ProgramSetup>,
    /// The workspace that the target works in, if it has one.
    pub workplace: Option<Arc<Workspace>>,
    /// Code that runs around the case, if there is any.
    pub hooks: Option<Arc<dyn CaseHooks>>,
}

/// Relations between an item and the others of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRelations {
    /// The trials of its case.
    pub trials: TrialPlan,
    /// The cases that must come before it.
    pub after: Vec<CasePrerequisite>,
    /// What happens to the item if one of them did not pass.
    pub on_failure: OnDependencyFailure,
    /// True if other cases wait for this one.
    pub is_awaited: bool,
    /// The answers that graders compare its answer with, if there are such graders.
    pub rivals: Option<Arc<RivalGroup>>,
    /// True if no further item starts after this one could not be run or judged.
    pub stops_at_errors: bool,
}

impl ItemRelations {
    /// No relations: the case runs once and on its own.
    pub const fn none(thresholds: VerdictThresholds) -> Self {
        Self {
            trials: TrialPlan::single(thresholds),
            after: Vec::new(),
            on_failure: OnDependencyFailure::Skip,
            is_awaited: false,
            rivals: None,
            stops_at_errors: false,
        }
    }
}

/// A case of the same suite that must come before another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasePrerequisite {
    /// Its id.
    pub case_id: String,
    /// The targets whose answers must have passed; `None` for a given answer. Empty if the case is not part of
    /// the run.
    pub targets: Vec<Option<String>>,
}

/// Where an answer comes from.
#[derive(Clone)]
pub enum ItemSource {
    /// It was given.
    Given(Arc<TargetAnswer>),
    /// A target answers.
    Target(Arc<dyn Target>),
    /// There is no answer, for a reason that was found before the run. The case is recorded with this reason.
    Missing {
        /// The kind of failure.
        kind: CaseErrorKind,
        /// Description of the failure.
        message: String,
        /// Name of the target that would have answered, if any.
        target: Option<Arc<str>>,
    },
}

impl ItemSource {
    /// The target's name; `None` if no target is involved.
    pub fn name_of_target(&self) -> Option<&str> {
        match self {
            Self::Target(target) => Some(target.name()),
            Self::Missing { target, .. } => target.as_deref(),
            Self::Given(_) => None,
        }
    }
}

impl WorkItem {
    /// The key shared by cases that belong together: the suite and the cluster, or else the test.
    pub fn cluster_key(&self) -> (Arc<str>, String) {
        let name = match cluster_of_case(&self.case) {
            Some(cluster) => format!("cluster {cluster}"),
            None => format!("test {}", self.case.test_id()),
        };
        (Arc::clone(&self.suite), name)
    }

    /// Name of the target that answers; `None` for a given answer.
    pub(crate) fn target_name(&self) -> Option<&str> {
        self.source.name_of_target()
    }

    /// The item with a failure instead of its answer. It keeps its key and position.
    #[must_use]
    pub fn given_up(self, kind: CaseErrorKind, message: &str) -> Self {
        let target = self.source.name_of_target().map(Arc::from);
        let source = ItemSource::Missing { kind, message: message.to_owned(), target };

        Self { source, workplace: None, hooks: None, ..self }
    }

    /// The key that distinguishes it from other items of its run.
    pub fn key(&self) -> CaseKey {
        CaseKey {
            suite: Arc::clone(&self.suite),
            case_id: self.case.id.clone().into(),
            target: self.source.name_of_target().map(Arc::from),
            trial: self.trial,
        }
    }

    /// The selector of the judge for a grader of this item that names this judge, if the target itself answers.
    pub fn judge_selector<'a>(&'a self, grader: Option<&'a str>) -> JudgeSelector<'a> {
        JudgeSelector {
            grader,
            target: match &self.source {
                ItemSource::Target(target) => Some(target.defined_name()),
                ItemSource::Given(_) | ItemSource::Missing { .. } => None,
            },
            answered_by: None,
            suite: self.judge.as_deref(),
            exactly: None,
        }
    }
}

/// Finds judges.
pub trait JudgeProvider: Send + Sync {
    /// The judge for a selector. The same selector always returns the same judge.
    fn judge(&self, selector: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError>;

    /// The model of the judge for a selector, and its name, for a program that may use it. It is an error if
    /// the judge is not a model.
    fn model(&self, selector: JudgeSelector<'_>) -> Result<(String, Arc<dyn ChatModel>), JudgeError> {
        Err(JudgeError::NotModel(self.judge(selector)?.identity().name))
    }

    /// The model of this name that computes vectors or labels of texts.
    fn measuring_model(&self, name: &str) -> Result<Arc<dyn ChatModel>, JudgeError> {
        Err(JudgeError::Unavailable(format!("`{name}`: models that measure texts are not available here")))
    }

    /// Writes everything about the judge for a selector that may affect its decisions. The bytes are the same
    /// in every build, as long as nothing of it changes.
    fn write_settings(&self, selector: JudgeSelector<'_>, identity: &mut IdentityWriter) {
        identity.begin("judge", 1);
        // The error's text is not part of the identity.
        identity.field(&self.judge(selector).map(|judge| judge.identity()).map_err(|_| ""));
    }
}

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunLimits {
    /// The number of cases worked on concurrently.
    pub workers: NonZeroUsize,
    /// No further case starts after this many cases that did not pass.
    pub bail: Option<NonZeroUsize>,
}

/// Code that runs before and after each case of a suite.
pub trait CaseHooks: Send + Sync {
    /// Returns the case to run instead of the item's own; `None` if it is unchanged. The id of a case never
    /// changes.
    ///
    /// # Errors
    /// Why the case can't be run, in words.
    fn before_case<'a>(&'a self, item: &'a WorkItem) -> BoxFuture<'a, Result<Option<Arc<Case>>, String>>;

    /// Handles the result of an item whose case [`CaseHooks::before_case`] returned.
    fn after_case<'a>(&'a self, item: &'a WorkItem, record: &'a CaseRecord) -> BoxFuture<'a, ()>;

    /// Writes everything about the code that may affect a case.
    fn write_identity(&self, identity: &mut IdentityWriter);
}
