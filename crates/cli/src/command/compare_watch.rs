//! `assize compare --watch`: a comparison of runs in progress.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

use assize_analysis::compare::{AnytimeComparison, AnytimeTracker, ComparisonOptions, FailOn, compare_many};
use assize_analysis::{NameTable, RunFacts};
use assize_engine::{ExitStatus, runs};
use assize_report::{format_count, render_anytime, render_anytime_line};
use assize_store::{CaseRecord, RunFolder};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::compared_run::{ComparedRun, anytime_json, options, refuse};
use crate::args::CompareArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Time between two looks at the run folders. After a slow look, the pause is as long as the look.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Time between lines if they can't be redrawn, so that a log stays readable.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Most failed looks in a row: a run in progress may be read between the two rows of a case.
const MAX_FAILED_LOOKS: usize = 10;

/// Number of looks at which an unfinished run must be without a writer before it counts as killed: a run that
/// has just begun takes its lock a little later.
const IDLE_LOOKS: usize = 3;

/// Compares two runs repeatedly, until the difference is clear or both have ended.
pub(super) fn execute(args: &CompareArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let [base, candidate] = args.runs.as_slice() else {
        return Err("`--watch` compares two runs, such as `assize compare runs/main last --watch`".into());
    };
    if args.fail_on == Some(FailOn::AnyWorse) {
        return Err("`--watch` follows one metric; use `--fail-on worse`".into());
    }

    let options = options(args)?;
    let tracker = AnytimeTracker::new(args.margin, options.level).map_err(|reason| reason.to_string())?;
    let runs = [WatchedRun::find(base, context)?, WatchedRun::find(candidate, context)?];
    let mut watch = RunWatch {
        runs,
        names: NameTable::default(),
        options,
        tracker,
        checked: false,
        base: None,
        idle: [0; 2],
    };

    let mut line = LiveLine::new(args.json, context);
    let ended = watch.follow(&mut line, context);
    line.clear();
    conclude(args, &watch, &ended?, context)
}

/// Prints the final comparison.
fn conclude(
    args: &CompareArgs,
    watch: &RunWatch,
    seen: &SeenRuns,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let found = watch.tracker.comparison().map_err(|_| {
        let [base, candidate] = &watch.runs;
        format!("`{}` and `{}` have ended without a case that both have scored", base.shown, candidate.shown)
    })?;
    let is_clear = watch.tracker.is_clear();
    let missing = seen.incomplete + if is_clear { 0 } else { seen.killed.len() };
    let exit = exit_of(args, &found, is_clear, missing);
    let candidate = &watch.runs[1].shown;

    if args.json {
        let mut value = anytime_json(candidate, &found);
        value["base"] = watch.runs[0].shown.as_str().into();
        value["conclusion"] = found.conclusion(args.margin).words().into();
        value["cases_left"] = seen.left.map(|left| left.cases).into();
        value["judge_calls_left"] = seen.left.map(|left| left.judge_calls).into();
        value["exit_code"] = exit.code().into();
        output::print_json(&value);
        return Ok(exit);
    }

    output::print(render_anytime(candidate, &found, context.stdout).trim_start_matches('\n'));
    let closing = match seen.left {
        _ if !seen.killed.is_empty() => format!(
            "{} stopped before the end; continue with `assize eval --resume`.\n",
            seen.killed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
        ),
        Some(left) if is_clear => format!(
            "`{candidate}` still runs: stopping it now saves {} and about {}.\n",
            format_count(left.cases as u64, "case", "cases"),
            format_count(left.judge_calls, "judge call", "judge calls")
        ),
        _ if seen.is_over => "Both runs have ended.\n".to_owned(),
        _ => String::new(),
    };
    output::print_text(&closing, context);
    Ok(exit)
}

fn exit_of(args: &CompareArgs, found: &AnytimeComparison, is_clear: bool, missing: usize) -> ExitStatus {
    if args.fail_on.is_some() && found.high < 0.0 {
        ExitStatus::Failed
    } else if args.fail_on.is_some() && missing > 0 {
        ExitStatus::Incomplete
    } else if args.strict && !is_clear {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Passed
    }
}

/// A run that is watched.
struct WatchedRun {
    /// The folder and the part, in the form of [`ComparedRun::read_with`]: `last` may soon be another run.
    name: String,
    shown: String,
    folder: RunFolder,
}

impl WatchedRun {
    fn find(name: &str, context: &CliContext) -> Result<Self, CommandFailure> {
        let (folder, part) = runs::find_answers(name, &context.process)?;
        let resolved = format!("{}{part}", folder.path().display());
        Ok(Self { name: resolved, shown: name.to_owned(), folder })
    }

    /// Size and modification time of the files that grow, to detect new rows.
    fn state(&self) -> FileState {
        ["run.json", "results.jsonl"].map(|name| {
            let found = std::fs::metadata(self.folder.path().join(name)).ok();
            found.map_or((0, None), |file| (file.len(), file.modified().ok()))
        })
    }
}

/// Sizes and modification times of the files of a run.
type FileState = [(u64, Option<SystemTime>); 2];

/// Both runs and the state of their comparison.
struct RunWatch {
    runs: [WatchedRun; 2],
    names: NameTable,
    options: ComparisonOptions,
    tracker: AnytimeTracker,
    /// True once a pair of cases was measured in the same way.
    checked: bool,
    /// The base as last read. It has usually ended and need not be read at each look.
    base: Option<(FileState, ComparedRun)>,
    /// Number of looks in a row at which each run had no writer.
    idle: [usize; 2],
}

/// Result of a look.
struct SeenRuns {
    is_over: bool,
    /// Names of killed runs.
    killed: Vec<String>,
    /// Number of pairs without a score on one side.
    incomplete: usize,
    /// Work left in the candidate, if it is in progress.
    left: Option<WorkLeft>,
}

/// Work left in a run.
#[derive(Debug, Clone, Copy)]
struct WorkLeft {
    cases: usize,
    /// Estimated from the calls of finished cases.
    judge_calls: u64,
}

impl RunWatch {
    /// Reads new rows as they appear, until the difference is clear or both runs have ended.
    fn follow(&mut self, line: &mut LiveLine, context: &CliContext) -> Result<SeenRuns, CommandFailure> {
        let (mut state, mut failed) = (None, 0);
        loop {
            let begun = Instant::now();
            let now = (self.runs.each_ref().map(WatchedRun::state), self.killed());
            if state.as_ref() != Some(&now) {
                match self.read(now.0[0], context) {
                    Ok((candidate, judge_calls)) => {
                        let seen = self.take(candidate, judge_calls, now.1)?;
                        let is_clear = self.tracker.is_clear();
                        if seen.is_over || is_clear && !self.may_be_killed(&seen) {
                            return Ok(seen);
                        }
                        // If the candidate has no writer, even a clear result waits for a few more looks.
                        (state, failed) = (Some(now).filter(|_| !is_clear), 0);
                        line.show(&self.headline());
                    }
                    Err(failure) if failed >= MAX_FAILED_LOOKS => return Err(failure),
                    Err(_) => failed += 1,
                }
            }
            std::thread::sleep(POLL_INTERVAL.max(begun.elapsed()));
        }
    }

    /// Which unfinished runs have been without a writer for several looks, so that they count as killed.
    fn killed(&mut self) -> [bool; 2] {
        for (idle, run) in self.idle.iter_mut().zip(&self.runs) {
            *idle = if run.folder.is_being_written() { 0 } else { *idle + 1 };
        }
        self.idle.map(|looks| looks >= IDLE_LOOKS)
    }

    /// Returns true if the candidate is unfinished and had no writer at the last looks, but not for enough
    /// looks to count as killed.
    fn may_be_killed(&self, seen: &SeenRuns) -> bool {
        seen.left.is_some() && (1..IDLE_LOOKS).contains(&self.idle[1])
    }

    /// Reads the candidate, and the number of its judge calls.
    fn read(
        &mut self,
        base_state: FileState,
        context: &CliContext,
    ) -> Result<(ComparedRun, u64), CommandFailure> {
        let [base, candidate] = &self.runs;
        if self.base.as_ref().is_none_or(|(state, _)| *state != base_state) {
            let mut read = ComparedRun::read(&base.name, &mut self.names, |_| true, context)?;
            read.facts.label.clone_from(&base.shown);
            self.base = Some((base_state, read));
        }

        let judge_calls = Cell::new(0);
        let count = |record: CaseRecord| {
            let calls = record.decisions.iter().map(|decided| u64::from(decided.decision.spent.attempts));
            judge_calls.set(judge_calls.get() + calls.sum::<u64>());
            Some(record)
        };
        let mut run = ComparedRun::read_with(&candidate.name, &mut self.names, count, context)?;
        run.facts.label.clone_from(&candidate.shown);
        if let Some((_, base)) = &mut self.base
            && [&base.part, &run.part].into_iter().any(|part| part.prompt.is_some())
        {
            base.pair_by_test(&self.names)?;
            run.pair_by_test(&self.names)?;
        }
        Ok((run, judge_calls.get()))
    }

    /// Takes in new cases. Runs that were measured differently are refused at the first pair, and checked again
    /// at the end.
    fn take(
        &mut self,
        candidate: ComparedRun,
        judge_calls: u64,
        idle: [bool; 2],
    ) -> Result<SeenRuns, CommandFailure> {
        let Some((_, base)) = &self.base else { return Err("the base was not read".into()) };
        let ended = [&base.info, &candidate.info].map(|info| info.finished_at.is_some());
        let is_killed = [0, 1].map(|at| idle[at] && !ended[at]);
        let is_over = [0, 1].iter().all(|at| ended[*at] || is_killed[*at]);

        self.tracker
            .add_new(&base.facts, &candidate.facts, &candidate.order, self.options.headline, is_over)
            .map_err(|reason| reason.to_string())?;
        let has_pairs = self.tracker.comparison().is_ok();
        let planned: usize = candidate.info.suites.iter().map(|suite| suite.cases).sum();
        let done = candidate.order.len();
        let cases = planned.saturating_sub(done);
        let goes_on = !ended[1] && !is_killed[1];
        let left = (goes_on && cases > 0 && done > 0).then(|| WorkLeft {
            cases,
            judge_calls: (judge_calls as f64 / done as f64 * cases as f64).round() as u64,
        });

        let incomplete = if has_pairs && (!self.checked || is_over || self.tracker.is_clear()) {
            self.checked = true;
            self.check(&base.facts, candidate.facts)?
        } else {
            0
        };
        let killed = self.runs.iter().zip(is_killed).filter(|(_, is_killed)| *is_killed);
        let killed = killed.map(|(run, _)| run.shown.clone()).collect();
        Ok(SeenRuns { is_over, killed, incomplete, left })
    }

    /// Refuses runs that are not comparable. Returns the number of incomplete pairs.
    fn check(&self, base: &RunFacts, candidate: RunFacts) -> Result<usize, CommandFailure> {
        let many = compare_many(base, &[candidate], &self.names, &self.options);
        refuse(&many)?;
        Ok(many.comparisons.iter().map(|found| found.incomplete.len()).sum())
    }

    fn headline(&self) -> String {
        match self.tracker.comparison() {
            Ok(found) => format!("{}: {}", self.runs[1].shown, render_anytime_line(&found)),
            Err(_) => format!("{}: no case yet that both runs have", self.runs[1].shown),
        }
    }
}

/// A line on stderr that is redrawn, or plain lines from time to time.
enum LiveLine {
    Silent,
    Live(ProgressBar),
    Plain(Option<Instant>),
}

impl LiveLine {
    fn new(quiet: bool, context: &CliContext) -> Self {
        if quiet {
            return Self::Silent;
        }
        if !context.live_progress {
            return Self::Plain(None);
        }

        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        // The template is a constant; if it is broken, the default look remains.
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self::Live(bar)
    }

    fn show(&mut self, text: &str) {
        match self {
            Self::Silent => {}
            Self::Live(bar) => bar.set_message(assize_report::escape_unsafe(text)),
            Self::Plain(last) if last.is_some_and(|last| last.elapsed() < PLAIN_INTERVAL) => {}
            Self::Plain(last) => {
                *last = Some(Instant::now());
                output::print_message(&format!("{}\n", assize_report::escape_unsafe(text)));
            }
        }
    }

    fn clear(&self) {
        if let Self::Live(bar) = self {
            bar.finish_and_clear();
        }
    }
}
