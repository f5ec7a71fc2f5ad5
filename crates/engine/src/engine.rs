//! The engine of a process: what it runs in, and who is told what happens.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_evalfile::{LoadOptions, ProjectConfig, load_config};

use crate::error::EngineError;
use crate::event::{EngineEvent, EventObserver};
use crate::process::ProcessContext;

/// Entry to everything that runs: the process it lives in and the observer of its events.
#[derive(Clone)]
pub struct Engine {
    process: ProcessContext,
    observer: Arc<dyn EventObserver>,
}

impl Engine {
    /// Engine in this process.
    pub fn new(process: ProcessContext, observer: impl EventObserver + 'static) -> Self {
        Self { process, observer: Arc::new(observer) }
    }

    /// The process it lives in.
    pub fn process(&self) -> &ProcessContext {
        &self.process
    }

    /// Options for reading files here.
    pub(crate) fn load_options(&self, roots: &[PathBuf]) -> LoadOptions {
        self.process.load_options(roots)
    }

    /// The configuration file, if there is one.
    ///
    /// # Errors
    /// When it has problems.
    pub fn config(&self, options: &LoadOptions) -> Result<ProjectConfig, EngineError> {
        let loaded = load_config(&self.process.working_folder, options);
        self.report_diagnostics(&loaded.diagnostics, &loaded.sources);

        match render::count_by_severity(&loaded.diagnostics) {
            (0, _) => Ok(loaded.config),
            _ => Err(EngineError::invalid_file("the configuration file has problems; nothing was run")),
        }
    }

    /// Tells the observer of an event.
    pub(crate) fn emit(&self, event: impl Into<EngineEvent>) {
        self.observer.observe(event.into());
    }

    /// The observer, for threads that outlive a borrow.
    pub(crate) fn observer(&self) -> Arc<dyn EventObserver> {
        Arc::clone(&self.observer)
    }

    pub(crate) fn notice(&self, message: impl Into<String>) {
        self.emit(EngineEvent::Notice(message.into()));
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.emit(EngineEvent::Warning(message.into()));
    }

    pub(crate) fn report_diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        if !diagnostics.is_empty() {
            self.emit(EngineEvent::Diagnostics {
                diagnostics: diagnostics.to_vec(),
                sources: sources.clone(),
            });
        }
    }
}
