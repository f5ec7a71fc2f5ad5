//! Everything that happens while the engine works. What a person sees is drawn from these.

use std::path::PathBuf;

use assize_author::AuthorEvent;
use assize_diagnostic::{Diagnostic, SourceMap};
use assize_llm::CallEvent;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A file was read and has problems, or something to be warned about.
    Diagnostics {
        /// Errors, warnings and notes. Never empty.
        diagnostics: Vec<Diagnostic>,
        /// Texts that they point into.
        sources: SourceMap,
    },
    /// Something about the options or the files that changes nothing about the exit code. Kept in the record of a run.
    Notice(String),
    /// Something that a person has to know even where notices are not wanted.
    Warning(String),
    /// Failure after which the work goes on or ends in good order.
    Failure(String),
    /// The cases are run in a random order.
    Shuffled {
        /// Seed that gives the same order again.
        seed: u64,
    },
    /// An earlier run goes on.
    Resumed {
        /// Folder of the run.
        folder: PathBuf,
        /// Cases that are done.
        done: usize,
        /// Cases that were done and are run again, because something about them is different now.
        changed: usize,
        /// Cases that were done and do not belong to the run any more.
        gone: usize,
    },
    /// A run begins.
    RunStarted {
        /// Cases that are to be run.
        cases: usize,
    },
    /// Something happened to a case, or the run stops.
    Run(assize_run::Event),
    /// The budget refused a call: nothing more is begun.
    BudgetReached {
        /// Limit that was reached, in words.
        reason: String,
    },
    /// A run has ended, and nothing is in flight any more.
    RunEnded,
    /// A call to a model has to wait, or is made again.
    Call(CallEvent),
    /// Drafts are made without a model, because nobody named one.
    DraftingOffline,
    /// A draft or a critique is done.
    Author(AuthorEvent),
}

impl From<assize_run::Event> for Event {
    fn from(event: assize_run::Event) -> Self {
        Self::Run(event)
    }
}

impl From<AuthorEvent> for Event {
    fn from(event: AuthorEvent) -> Self {
        Self::Author(event)
    }
}

impl From<CallEvent> for Event {
    fn from(event: CallEvent) -> Self {
        Self::Call(event)
    }
}

/// Receiver of events. It is called from several threads, and never twice at a time by the same one.
pub trait Observer: Send + Sync {
    /// Takes note of an event.
    fn observe(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Observer for F {
    fn observe(&self, event: Event) {
        self(event);
    }
}
