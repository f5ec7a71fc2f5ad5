//! Purposes of planning eval files, and the result of each.

use std::sync::Arc;

use assize_grade::ProgramSetup;
use assize_model::Suite;
use assize_rubric::Usd;

use crate::options::RunOptions;
use crate::plan_identity::PlanIdentity;
use crate::prepared_plan::PreparedPlan;
use crate::run_outcome::RunOutcome;
use crate::wiring::ModelAccess;

/// Why eval files are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Run,
    Plan,
    /// To check that a run can be carried out, before extensions run.
    Check,
    Identify {
        is_worker: bool,
    },
    /// To plan once for runs of single shards. There are `shards` of them.
    Prepare {
        shards: u32,
    },
}

impl Purpose {
    /// How models are reached, given the limit in money.
    pub(crate) fn access(self, options: &RunOptions, usd: Option<Usd>) -> ModelAccess<'_> {
        match self {
            Self::Plan | Self::Identify { is_worker: false } => ModelAccess::Plan(options),
            Self::Run | Self::Check | Self::Identify { is_worker: true } | Self::Prepare { .. } => {
                ModelAccess::Run(options, usd)
            }
        }
    }
}

/// Result of planning eval files for a purpose.
pub(crate) enum Evaluated {
    Outcome(Box<RunOutcome>),
    Identity(PlanIdentity),
    Prepared(Box<PreparedPlan>),
    /// Suites with extensions that a run needs, each with the setup of its programs.
    Checked(Vec<(Suite, Arc<ProgramSetup>)>),
}

impl From<RunOutcome> for Evaluated {
    fn from(outcome: RunOutcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}
