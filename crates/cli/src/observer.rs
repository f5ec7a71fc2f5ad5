//! Events of the engine on stderr: diagnostics, warnings, notices, progress.

use std::sync::{Mutex, PoisonError};

use assize_author::AuthorEvent;
use assize_engine::{Event, Observer};

use crate::context::Context;
use crate::output;
use crate::progress::Progress;

/// Observer that writes to stderr.
pub(crate) struct TerminalObserver {
    context: Context,
    /// Leaves notices out.
    quiet: bool,
    /// Shows how far a run is.
    shows_progress: bool,
    progress: Mutex<Progress>,
}

impl TerminalObserver {
    /// Observer in this context.
    pub(crate) fn new(context: &Context, quiet: bool, shows_progress: bool) -> Self {
        Self { context: context.clone(), quiet, shows_progress, progress: Mutex::new(Progress::Silent) }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            output::say(text);
        }
    }

    /// Redraws the line of an operation that makes no run.
    fn count(&self, done: usize, total: usize, what: &str) {
        if self.context.live_progress {
            let end = if done == total { "\n" } else { "" };
            self.say(&format!("\r{done} of {total} {what}{end}"));
        }
    }
}

impl Observer for TerminalObserver {
    fn observe(&self, event: Event) {
        let context = &self.context;
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.observe(&event);

        match event {
            Event::Diagnostics { diagnostics, sources } => {
                output::say_diagnostics(&diagnostics, &sources, context);
            }
            Event::Notice(message) if !self.quiet => output::warn(&message, context),
            Event::Warning(message) => output::warn(&message, context),
            Event::Failure(message) => output::complain(&message, context),
            Event::Shuffled { seed } => {
                self.say(&format!("shuffled; `--shuffle --seed {seed}` gives the same order again\n"));
            }
            Event::Resumed { folder, done, changed, gone } => {
                let changed = match changed {
                    0 => String::new(),
                    _ => format!("; {changed} done before changed since, and are run again"),
                };
                let gone = match gone {
                    0 => String::new(),
                    _ => format!("; {gone} done before are no longer among them"),
                };
                let folder = folder.display();
                self.say(&format!("going on with {folder}: {done} cases are done{changed}{gone}\n"));
            }
            Event::RunStarted { cases } => {
                *progress = Progress::new(cases, !self.shows_progress, context.live_progress);
            }
            Event::RunEnded => progress.finish(),
            Event::DraftingOffline => self.say(
                "drafting offline: clauses of the expected outcomes. `--judge MODEL` has a model write the criteria\n",
            ),
            Event::Author(AuthorEvent::CaseDrafted { done, total }) => self.count(done, total, "cases"),
            Event::Author(AuthorEvent::RubricReviewed { done, total }) => self.count(done, total, "rubrics"),
            _ => {}
        }
    }
}
