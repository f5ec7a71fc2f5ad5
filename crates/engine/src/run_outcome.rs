//! Result of a request for a run: a run that has ended, a plan, or requests in files.

use assize_analysis::ExitStatus;
use assize_rubric::{OFFLINE_NOTICE, OFFLINE_PLAN_NOTICE, Usd};
use assize_run::{ItemError, RunTotals, ShardNumber, ShardPart, ShardPlan, WorkItem};
use assize_store::{RunFolder, RunInfo};
use serde_json::{Value, json};

use crate::capability::CapabilityList;
use crate::case_sequence::CaseSequence;
use crate::error::EngineError;
use crate::exchange::ExportReport;
use crate::forecast::RunPlan;
use crate::options::SpendingOptions;
use crate::preflight_report::PreflightReport;
use crate::shard;
use crate::wiring::RunWiring;

/// The outcome of a request for a run.
pub enum RunOutcome {
    /// The run was only planned.
    Planned(Box<PlannedRun>),
    /// The run has ended.
    Finished(Box<FinishedRun>),
    /// The requests were written to files.
    Exported(Box<ExportReport>),
}

/// A run that has ended.
#[derive(Debug)]
pub struct FinishedRun {
    /// Folder with its record.
    pub folder: RunFolder,
    /// Its description, with the summary.
    pub info: RunInfo,
    /// Sums over its cases.
    pub totals: RunTotals,
    /// Exit code that the run leads to.
    pub exit: ExitStatus,
}

/// The plan of a run that was not started.
pub struct PlannedRun {
    /// Cases, calls, tokens and money.
    pub plan: RunPlan,
    /// Cases that would be run.
    pub cases: usize,
    /// Requests of its files that need consent.
    pub capabilities: CapabilityList,
    /// Cases that run in order.
    pub in_order: Vec<CaseSequence>,
    /// Warnings about the run.
    pub warnings: Vec<String>,
}

impl PlannedRun {
    /// The plan in the form of `--json`.
    pub fn to_json(&self) -> Value {
        let mut plan = self.plan.to_json(self.cases, &self.warnings);
        plan["capabilities"] = self.capabilities.to_json();
        plan["in_order"] = json!(self.in_order);
        plan
    }

    /// Plans these items, and warns about variables that the run itself will need.
    pub(crate) fn new<I: Iterator<Item = Result<WorkItem, ItemError>>>(
        items: impl Fn() -> I,
        shard: Option<ShardNumber>,
        found: &PreflightReport,
        warnings: Vec<String>,
        limit: (&SpendingOptions, Option<Usd>),
        wiring: &RunWiring<'_>,
    ) -> Result<Self, EngineError> {
        let shard = shard.map(|shard| ShardPlan::new(shard, ShardPart::default(), &items)).transpose()?;
        let cases = shard.as_ref().map_or(Ok(found.cases), |shard| shard::count_cases(shard, items()))?;
        let plan =
            RunPlan::new(shard::select(shard.as_ref(), items()), limit.0.budget_with(limit.1), wiring)?
                .with_batches(wiring.gateway.batched.is_some());
        let warnings = warnings
            .into_iter()
            .map(|warning| if warning == OFFLINE_NOTICE { OFFLINE_PLAN_NOTICE.to_owned() } else { warning })
            .chain(wiring.gateway.missing_keys())
            .collect();

        let capabilities = found.capabilities(&wiring.gateway);
        Ok(Self { plan, cases, capabilities, in_order: found.in_order.clone(), warnings })
    }
}
