//! Progress on stderr: a line that is redrawn on a terminal, plain lines elsewhere.

use std::fmt::Write;
use std::time::{Duration, Instant};

use assize_engine::EngineEvent;
use assize_llm::ErrorKind;
use assize_report::{LongWords, wrap_lines};
use assize_rubric::Verdict;
use assize_run::RunEvent as CaseEvent;
use assize_store::VerdictCounts;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::context::terminal_columns;
use crate::output;

/// Terminal width below which the bar is short.
const NARROW_COLUMNS: usize = 60;
/// Smallest terminal width that is assumed.
const MIN_COLUMNS: usize = 20;

/// Time between plain lines, so that a log of a long run stays readable.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Progress of a run.
pub(crate) enum ProgressDisplay {
    /// Progress is not shown.
    Silent,
    /// A bar that is redrawn. It appears after a moment, so short runs show none.
    Live { bar: ProgressBar, counts: VerdictCounts, retries: usize },
    /// A line from time to time.
    Plain { total: usize, kept: usize, counts: VerdictCounts, started: Instant, last: Instant },
}

impl ProgressDisplay {
    /// Progress over the remaining `cases` of a run that continues after the `kept` ones; silent if there are none.
    pub(crate) fn new(cases: usize, kept: usize, quiet: bool, live: bool) -> Self {
        if quiet || cases == 0 {
            return Self::Silent;
        }
        let total = cases + kept;

        if live {
            let bar =
                ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(10));

            let width = if columns() < NARROW_COLUMNS { 8 } else { 24 };
            // If the template is broken, the default look remains.
            let template = format!("{{bar:{width}.cyan/dim}} {{pos}}/{{len}}  {{left}}  {{wide_msg}}");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                // An estimate needs at least one finished case.
                let first = kept as u64;
                bar.set_style(style.with_key("left", move |state: &ProgressState, text: &mut dyn Write| {
                    let _ = match state.pos() {
                        pos if pos <= first => text.write_str("time unknown"),
                        _ => write!(text, "{:#} left", HumanDuration(state.eta())),
                    };
                }));
            }
            bar.set_position(kept as u64);
            bar.reset_eta();

            bar.enable_steady_tick(Duration::from_millis(200));
            return Self::Live { bar, counts: VerdictCounts::default(), retries: 0 };
        }

        let now = Instant::now();
        Self::Plain { total, kept, counts: VerdictCounts::default(), started: now, last: now }
    }

    /// Updates the progress with an event.
    pub(crate) fn observe(&mut self, event: &EngineEvent) {
        match (self, event) {
            (Self::Live { bar, counts, retries }, EngineEvent::Run(CaseEvent::CaseFinished { row })) => {
                counts.add_row(row);
                bar.set_message(with_retries(tally(*counts), *retries));
                bar.inc(1);
            }
            (Self::Live { bar, counts, retries }, EngineEvent::CallRetrying { .. }) => {
                *retries += 1;
                bar.set_message(with_retries(tally(*counts), *retries));
            }
            (Self::Live { bar, .. }, EngineEvent::BudgetReached { .. }) => {
                bar.set_message("stopped by the budget");
            }
            (Self::Live { bar, .. }, EngineEvent::ServerHeld { account, reason }) => {
                bar.println(wrap_lines(&held(account, *reason), columns(), LongWords::Keep));
            }
            (Self::Plain { .. }, EngineEvent::ServerHeld { account, reason }) => {
                output::print_message(&format!("{}\n", held(account, *reason)));
            }
            (Self::Live { bar, .. }, EngineEvent::RequestUnanswered { account, silence }) => {
                bar.println(wrap_lines(&unanswered(account, *silence), columns(), LongWords::Keep));
            }
            (Self::Plain { .. }, EngineEvent::RequestUnanswered { account, silence }) => {
                output::print_message(&format!("{}\n", unanswered(account, *silence)));
            }
            (Self::Plain { .. }, EngineEvent::ServerBack { account }) => {
                output::print_message(&format!("{account} responds again\n"));
            }
            (Self::Live { bar, .. }, EngineEvent::ServerGivenUp { account, .. }) => {
                let text = format!("{account} is unavailable; no more requests are sent to it");
                bar.println(wrap_lines(&text, columns(), LongWords::Keep));
            }
            (Self::Live { bar, .. }, EngineEvent::Run(CaseEvent::Stopping)) => bar.set_message("stopping"),
            (
                Self::Plain { total, kept, counts, started, last },
                EngineEvent::Run(CaseEvent::CaseFinished { row }),
            ) => {
                counts.add_row(row);
                if last.elapsed() >= PLAIN_INTERVAL {
                    *last = Instant::now();
                    output::print_message(&format!(
                        "{}/{total} cases after {} s: {}\n",
                        counts.total() + *kept,
                        started.elapsed().as_secs(),
                        tally(*counts)
                    ));
                }
            }
            (Self::Plain { .. }, EngineEvent::Run(CaseEvent::Stopping)) => {
                output::print_message("stopping\n");
            }
            _ => {}
        }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        if let Self::Live { bar, .. } = self {
            bar.finish_and_clear();
        }
    }
}

/// Width of the terminal.
fn columns() -> usize {
    terminal_columns(&console::Term::stderr()).unwrap_or(80).max(MIN_COLUMNS)
}

/// Text about a request that waits while others are answered.
fn unanswered(account: &str, silence: Duration) -> String {
    format!(
        "{account} has not begun to answer a request for {} s, and answers others; `--request-timeout` limits the wait",
        silence.as_secs()
    )
}

/// Text about a server that gets one request at a time.
fn held(account: &str, reason: ErrorKind) -> String {
    format!(
        "{account} keeps failing ({}); sending one request at a time until it responds",
        reason_words(reason)
    )
}

/// Why a server fails, in a few words.
fn reason_words(reason: ErrorKind) -> String {
    match reason {
        ErrorKind::NotFound => "unknown model or address".to_owned(),
        other => other.name().replace('_', " "),
    }
}

fn with_retries(tally: String, retries: usize) -> String {
    match retries {
        0 => tally,
        1 => format!("{tally}; 1 call retried"),
        more => format!("{tally}; {more} calls retried"),
    }
}

fn tally(counts: VerdictCounts) -> String {
    [
        (counts.pass, Verdict::Pass),
        (counts.borderline, Verdict::Borderline),
        (counts.fail, Verdict::Fail),
        (counts.incomplete, Verdict::Incomplete),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, verdict)| format!("{count} {verdict}"))
    .collect::<Vec<_>>()
    .join(", ")
}
