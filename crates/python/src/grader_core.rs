//! What all batches of a grader share.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_diagnostic::render::{TextOptions, to_text};
use assize_engine::{EngineEvent, GradingStop, ProcessContext, SampleGrader, SampleService};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::failure::LibraryError;
use crate::rubric::{RubricCache, RubricText};

/// Messages that are kept until they are taken.
const MAX_MESSAGES: usize = 200;

/// State that all batches of a grader share.
pub(crate) struct GraderCore {
    /// Id of the process that created it.
    pub(crate) process: u32,
    pub(crate) context: ProcessContext,
    pub(crate) service: SampleService,
    pub(crate) grader: SampleGrader,
    /// Names of the judges for rubrics that name none.
    pub(crate) judges: Vec<String>,
    pub(crate) rubrics: RubricCache,
    /// Permits for samples being graded.
    pub(crate) slots: Semaphore,
    pub(crate) stop: GradingStop,
    pub(crate) messages: Arc<MessageLog>,
}

/// Warnings for Python's logger, and the diagnostics of files that were last reported.
#[derive(Default)]
pub(crate) struct MessageLog {
    pub(crate) warnings: Mutex<Vec<String>>,
    diagnostics: Mutex<String>,
}

impl MessageLog {
    pub(crate) fn observe(&self, event: EngineEvent) {
        match event {
            EngineEvent::Diagnostics { diagnostics, sources } => {
                let text = to_text(&diagnostics, &sources, TextOptions::default());
                self.diagnostics.lock().push_str(&text);
            }
            EngineEvent::Warning(message) | EngineEvent::Failure(message) => self.warn(message),
            EngineEvent::ServerGivenUp { account, reason } => self.warn(format!("{account}: {reason}")),
            EngineEvent::BudgetReached { reason } => self.warn(reason),
            _ => {}
        }
    }

    fn warn(&self, message: String) {
        let mut warnings = self.warnings.lock();
        if warnings.len() < MAX_MESSAGES {
            warnings.push(message);
        }
    }

    pub(crate) fn take_diagnostics(&self) -> String {
        std::mem::take(&mut *self.diagnostics.lock())
    }
}

impl GraderCore {
    pub(crate) fn prepare(
        &self,
        rubric: &RubricText,
        vars: Option<&BTreeMap<String, serde_json::Value>>,
    ) -> Result<Arc<assize_engine::PreparedRubric>, LibraryError> {
        let prepared = self.rubrics.prepare(rubric, vars, &self.grader, &self.context);
        prepared.map_err(|error| error.with_details(&self.messages.take_diagnostics()))
    }

    /// Stop signal for one batch.
    pub(crate) fn stop(&self) -> GradingStop {
        self.stop.child()
    }
}
