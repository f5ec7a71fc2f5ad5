//! Purposes of planning eval files, and the result of each.

use std::sync::Arc;

use assize_grade::ProgramSetup;
use assize_model::Suite;
use assize_rubric::Usd;

use crate::error::EngineError;
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
        let is_plan = matches!(self, Self::Plan | Self::Identify { is_worker: false });
        ModelAccess::of_run(options, is_plan, usd)
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

impl Evaluated {
    /// The outcome of a run.
    pub(crate) fn into_outcome(self) -> Result<RunOutcome, EngineError> {
        match self {
            Self::Outcome(outcome) => Ok(*outcome),
            _ => Err(EngineError::internal("a run ended without an outcome")),
        }
    }
}
