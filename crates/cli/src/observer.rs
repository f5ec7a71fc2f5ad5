//! Events of the engine on stderr: diagnostics, warnings, notices, progress.

use std::sync::atomic::{AtomicUsize, Ordering};

use assize_author::AuthorEvent;
use assize_engine::{Engine, EngineEvent, EventObserver, runs};
use assize_report::ReportStyle;
use assize_rubric::OFFLINE_NOTICE;
use parking_lot::Mutex;

use crate::context::CliContext;
use crate::output;
use crate::progress::ProgressDisplay;

/// An observer that prints to stderr.
pub(crate) struct TerminalObserver {
    context: CliContext,
    /// True to leave notices out.
    quiet: bool,
    /// True to show the progress of a run.
    shows_progress: bool,
    /// True if the user reads the summary of the run along with the messages. The summary lists the warnings of
    /// the run and ends with the notice about the offline judge, so these need not be printed twice.
    summary_follows: bool,
    progress: Mutex<ProgressDisplay>,
    /// Cases that a resumed run keeps.
    kept: AtomicUsize,
}

impl CliContext {
    /// The engine of a command. With `quiet`, notices are not printed; problems always are.
    pub(crate) fn engine(&self, quiet: bool) -> Engine {
        Engine::new(self.process.clone(), TerminalObserver::new(self, quiet, !quiet))
    }

    /// Returns true if the summary of a run is printed to the same terminal as the messages.
    pub(crate) fn summary_on_terminal(&self, json: bool) -> bool {
        let is_terminal = |style: ReportStyle| style.width != ReportStyle::UNLIMITED;
        !json && is_terminal(self.stdout) && is_terminal(self.stderr)
    }

    /// Returns true if the reader of the messages also sees the summary of a run. False if messages go to the
    /// terminal and the summary to a file.
    pub(crate) fn summary_follows(&self, json: bool) -> bool {
        let is_terminal = |style: ReportStyle| style.width != ReportStyle::UNLIMITED;
        !json && (is_terminal(self.stdout) || !is_terminal(self.stderr))
    }

    /// The engine of a command that runs cases and may print results as JSON.
    pub(crate) fn run_engine(&self, quiet: bool, json: bool) -> Engine {
        let progress = !quiet && (!json || self.live_progress);
        let summary_follows = self.summary_follows(json);
        let observer = TerminalObserver { summary_follows, ..TerminalObserver::new(self, quiet, progress) };

        Engine::new(self.process.clone(), observer)
    }
}

impl TerminalObserver {
    /// An observer in this context.
    pub(crate) fn new(context: &CliContext, quiet: bool, shows_progress: bool) -> Self {
        Self {
            context: context.clone(),
            quiet,
            shows_progress,
            summary_follows: false,
            progress: Mutex::new(ProgressDisplay::Silent),
            kept: AtomicUsize::new(0),
        }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            output::print_notice(text, &self.context);
        }
    }

    /// Redraws the progress line of an operation that creates no run.
    fn count(&self, done: usize, total: usize, what: &str) {
        if self.context.live_progress {
            let end = if done == total { "\n" } else { "" };
            self.say(&format!("\r{done} of {total} {what}{end}"));
        }
    }
}

impl EventObserver for TerminalObserver {
    fn observe(&self, event: EngineEvent) {
        let context = &self.context;
        let mut progress = self.progress.lock();
        progress.observe(&event);

        match event {
            EngineEvent::Diagnostics { diagnostics, sources } => {
                output::print_diagnostics(&diagnostics, &sources, context);
            }
            EngineEvent::Notice(message) | EngineEvent::Warning(message)
                if self.summary_follows && message == OFFLINE_NOTICE => {}
            EngineEvent::RunWarning(_) if self.summary_follows => {}
            EngineEvent::Notice(message) | EngineEvent::RunWarning(message) if !self.quiet => output::print_warning(&message, context),
            EngineEvent::Warning(message) => output::print_warning(&message, context),
            EngineEvent::ProgramOutput { program, line } => {
                self.say(&output::escape_message(&format!("{program}: {line}\n")));
            }
            EngineEvent::Failure(message) => output::print_error(&message, context),
            EngineEvent::Shuffled { seed } => {
                self.say(&format!("shuffled; reproduce the order with `--shuffle --seed {seed}`\n"));
            }
            EngineEvent::Resumed { folder, done, changed, gone } => {
                let changed = match changed {
                    0 => String::new(),
                    1 => ", 1 changed case rerun".to_owned(),
                    _ => format!(", {changed} changed cases rerun"),
                };
                let gone = match gone {
                    0 => String::new(),
                    1 => ", 1 no longer exists".to_owned(),
                    _ => format!(", {gone} no longer exist"),
                };
                self.kept.store(done, Ordering::Relaxed);
                let folder = folder.display();
                let done = if done == 1 { "1 case kept".to_owned() } else { format!("{done} cases kept") };
                self.say(&format!("resuming {folder}: {done}{changed}{gone}\n"));
            }
            EngineEvent::RunOpened { folder, .. } => runs::remember(&folder, &context.process),
            EngineEvent::BatchProgress(message) => self.say(&format!("{message}\n")),
            EngineEvent::RunStarted { cases } => {
                *progress = ProgressDisplay::new(
                    cases,
                    self.kept.load(Ordering::Relaxed),
                    !self.shows_progress,
                    context.live_progress,
                );
            }
            EngineEvent::RunEnded => progress.finish(),
            EngineEvent::DraftingOffline => self.say(
                "drafting offline, from clauses of the expected outcomes; for a model's drafts use `--judge MODEL`\n",
            ),
            EngineEvent::Author(AuthorEvent::CaseDrafted { done, total }) => self.count(done, total, "cases"),
            EngineEvent::Author(AuthorEvent::RubricReviewed { done, total }) => self.count(done, total, "rubrics"),
            _ => {}
        }
    }
}
