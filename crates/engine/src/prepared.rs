//! A plan that is made once, for a process that runs many parts of it.

use std::collections::BTreeSet;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::evaluation::{Evaluated, Purpose};
use crate::mode::{EvalMode, RunMode};
use crate::options::EvalOptions;
use crate::plan_identity::PlanIdentity;
use crate::prepared_plan::{PreparedPlan, stamp};
use crate::run_outcome::RunOutcome;

/// Whether the shard of a case is known from its position in the files.
pub(crate) fn is_deal_known(mode: &dyn RunMode) -> bool {
    mode.sequence().is_none_or(|sequence| !sequence.shuffle)
}

impl PreparedPlan {
    /// Identity of the plan.
    pub fn identity(&self) -> &PlanIdentity {
        &self.identity
    }

    /// The plan, with the addresses of its models' servers.
    pub(crate) fn asked_at(mut self, addresses: BTreeSet<String>) -> Self {
        self.identity.addresses = addresses;
        self
    }

    /// Whether none of its files has changed.
    pub fn is_current(&self) -> bool {
        self.stamps.iter().all(|(path, known)| known.is_some() && stamp(path) == *known)
    }
}

impl Engine {
    /// Plans a run with this number of shards once, for [`Engine::evaluate_prepared`]. Sends no requests.
    ///
    /// # Errors
    /// As in [`Engine::identify`] with `is_worker`.
    pub async fn prepare(
        &self,
        mode: &EvalMode,
        options: &EvalOptions,
        shards: u32,
    ) -> Result<PreparedPlan, EngineError> {
        let loaded = self.load_for_run(&options.paths, options)?;
        match self.evaluate_for(Purpose::Prepare { shards }, mode, &loaded, options, None, None).await? {
            Evaluated::Prepared(prepared) => Ok(PreparedPlan { loaded, ..*prepared }),
            _ => Err(EngineError::internal("a plan was not prepared")),
        }
    }

    /// Runs the part of a plan that the options select. All other options must be the same as when it was prepared.
    ///
    /// # Errors
    /// As in [`Engine::evaluate`], and when files have changed since.
    pub async fn evaluate_prepared(
        &self,
        prepared: &PreparedPlan,
        mode: &EvalMode,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        if prepared.dealt.is_none() {
            return self.evaluate(mode.clone(), options).await;
        }

        let loaded = &prepared.loaded;
        self.evaluate_for(Purpose::Run, mode, loaded, options, Some(prepared), None).await?.into_outcome()
    }
}
