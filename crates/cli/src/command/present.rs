//! Prints a run: the cases, then the summary.

use std::collections::HashMap;
use std::path::Path;

use assize_engine::{ExitStatus, FinishedRun, LabelOptions, runs::RUNS_FOLDER, stored_records, summary_json};
use assize_grade::is_unreported;
use assize_report::{
    CaseDetailLevel, FailingCases, SummaryExtra, fit_screen, render_case, render_case_table,
    render_result_lines, render_summary, stored_texts, wrap_message,
};
use assize_rubric::{UngradedKind, Verdict};
use assize_run::{IncompleteReason, RunTotals};
use assize_store::{CaseKey, CaseRecord, ResultRow, RunInfo, first_in_order};

use super::report;
use crate::args::{ShowChoice, resume_command, shell_word};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};

/// Largest run for which `auto` also prints the cases that passed, one line each.
pub(super) const SMALL_RUN: usize = 12;
/// Maximum number of cases that are printed with the reasons against them.
const MAX_LISTED: usize = 10;
/// Most failing cases that the summary names if no cases are printed.
const MAX_NAMED: usize = 10;
/// Most reasons that are printed for incomplete cases.
const MAX_REASONS: usize = 4;
/// Most further cases that are printed as one line each.
const MAX_TABLE: usize = 90;
/// Most failing cases that are printed as one line each on a screen.
const MAX_ON_SCREEN: usize = 20;
/// Minimum number of such cases, even if the output is long.
const MIN_ON_SCREEN: usize = 3;

/// Most records held at a time to print them in the order of the files.
const MAX_HELD: usize = 1024;

/// Prints the results of a finished run.
pub(super) fn finished_run(
    run: &FinishedRun,
    delivery: ResultOutput<'_>,
    show: ShowChoice,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let FinishedRun { folder, info, totals, .. } = run;
    report::write_files(folder, delivery.out, &LabelOptions::default(), context)?;
    if delivery.deliver(|| summary_json(info, folder.path()))? {
        return Ok(());
    }

    self::run(|| stored_records(folder), info, totals, folder.path(), show, context)
}

/// Prints the cases of a run according to `show`, in the order of the files, and its summary. Each call of
/// `records` reads the run from its beginning.
pub(crate) fn run<I, E>(
    records: impl Fn() -> Result<I, E>,
    info: &RunInfo,
    totals: &RunTotals,
    folder: &Path,
    show: ShowChoice,
    context: &CliContext,
) -> Result<(), CommandFailure>
where
    I: Iterator<Item = Result<CaseRecord, E>>,
    E: Into<CommandFailure>,
{
    let total = info.summary.as_ref().map_or(0, |summary| summary.counts.total());
    let is_small = total <= SMALL_RUN;
    let everything = show == ShowChoice::All || (show == ShowChoice::Auto && is_small);
    let needs_attention = |record: &CaseRecord| everything || is_failing(record);
    let read = |after, most| {
        let records = records().map_err(Into::into)?;
        first_in_order(records, needs_attention, after, most).map_err(Into::into)
    };
    let trials = trial_verdicts(info);

    let mut listed: Option<(Vec<CaseRecord>, usize)> = None;
    let mut failing: Option<CaseKey> = None;
    let mut unlisted: (Vec<FailingCases>, usize) = (Vec::new(), 0);
    match show {
        ShowChoice::None => {
            let needs_naming = |record: &CaseRecord| names_a_failing_case(&record.result, &trials);
            let all = first_in_order(records().map_err(Into::into)?, needs_naming, None, MAX_NAMED);
            let (records, found) = all.map_err(Into::into)?;
            failing = records.values().next().map(|record| record.result.key());
            unlisted = (failing_cases(records.values(), info), found - records.len());
        }
        ShowChoice::Auto | ShowChoice::Verbose => {
            let (records, found) = read(None, MAX_LISTED + MAX_TABLE)?;
            failing = records.values().find(|record| is_failing(record)).map(|record| record.result.key());
            let more = found - records.len();
            listed = Some((records.into_values().collect(), more));
        }
        ShowChoice::All | ShowChoice::Failed => {
            let mut after = None;
            loop {
                let (records, found) = read(after, MAX_HELD)?;
                let is_last = found <= records.len();
                after = records.last_key_value().map(|(place, _)| *place);

                failing = failing.or_else(|| {
                    records.values().find(|record| is_failing(record)).map(|record| record.result.key())
                });
                for record in records.values() {
                    print_full(record, context);
                }
                if is_last {
                    break;
                }
            }
        }
    }

    let next = next_commands(info, folder, failing.as_ref(), &totals.incomplete, context);
    let extra = SummaryExtra {
        folder: Some(&folder.display().to_string()),
        gated: Some(totals.gated),
        incomplete: &incomplete_reasons(&totals.incomplete, info),
        failing: (&unlisted.0, unlisted.1),
        quotes: Some((totals.quotes_verified, totals.quotes)),
        thresholds: &totals.thresholds,
        worst: &[],
        next: &next,
        is_brief: false,
    };

    let full = || render_summary(info, extra, context.stdout);
    let Some((records, more)) = listed else {
        output::print(&full());
        return Ok(());
    };
    let brief = (MIN_ON_SCREEN..=MAX_ON_SCREEN).rev().map(Some);
    let levels =
        std::iter::once(None).chain(brief).take(if show == ShowChoice::Verbose { 1 } else { usize::MAX });
    let explain = format!("assize explain {}", run_name(info, folder));
    output::print(&fit_screen(levels, |rows| match rows {
        None => render_some(&records, more, context) + &full(),
        Some(rows) => {
            let failing: Vec<ResultRow> =
                records.iter().filter(|one| is_failing(one)).map(|one| one.result.clone()).collect();
            let more = more + failing.len().saturating_sub(rows);
            let shown = &failing[..rows.min(failing.len())];
            let result = info.summary.as_ref().map(|summary| {
                render_result_lines(
                    summary.exit_code, &summary.exit_reason, &summary.conclusion, context.stdout,
                )
            });
            let table = render_case_table(shown, more, Some(&explain), context.stdout);
            let summary = render_summary(info, SummaryExtra { is_brief: true, ..extra }, context.stdout);
            [result.unwrap_or_default(), table, summary].join("\n")
        }
    }));
    Ok(())
}

/// The run as commands name it: `last` is the newest of the folder of runs.
fn run_name(info: &RunInfo, folder: &Path) -> String {
    if folder.starts_with(RUNS_FOLDER) && info.command != "score" {
        "last".to_owned()
    } else {
        shell_word(&folder.display().to_string())
    }
}

/// Renders cases compactly: the first failing ones in full, the others as a table.
fn render_some(records: &[CaseRecord], more: usize, context: &CliContext) -> String {
    let (mut listed, mut was_block) = (0, false);
    let mut table: Vec<ResultRow> = Vec::new();
    let mut text = String::new();
    for record in records {
        let is_block = is_failing(record);
        if is_block && listed == MAX_LISTED {
            table.push(record.result.clone());
            continue;
        }

        listed += usize::from(is_block);
        // Blank lines separate blocks; cases of one line stay together.
        if !text.is_empty() && (is_block || was_block) {
            text.push('\n');
        }
        let texts = stored_texts(&record.decisions);
        text += &render_case(&record.result, &texts, CaseDetailLevel::Compact, context.stdout);
        was_block = is_block;
    }
    if !text.is_empty() {
        text.push('\n');
    }

    if !table.is_empty() {
        text += &render_case_table(&table, more, None, context.stdout);
        text += &wrap_message("  `--show failed` prints all of these in full\n\n", context.stdout);
    }
    text
}

/// Why cases are incomplete, the most frequent reason first, with advice.
fn incomplete_reasons(reasons: &[IncompleteReason], info: &RunInfo) -> Vec<String> {
    let mut reasons: Vec<&IncompleteReason> = reasons.iter().collect();
    // Cases finish in any order, so the order of reasons must not depend on it.
    reasons.sort_by_key(|one| (std::cmp::Reverse(one.cases), &one.example));
    let more: u64 = reasons.iter().skip(MAX_REASONS).map(|one| one.cases).sum();

    let mut lines: Vec<String> = reasons
        .into_iter()
        .take(MAX_REASONS)
        .map(|one| {
            let cases = format!("{} {}", one.cases, if one.cases == 1 { "case" } else { "cases" });
            let fix = match one.kind {
                Some(UngradedKind::NotJudged) => Some(fix_of_unjudged(&one.example)),
                Some(kind) => fix_of(kind),
                None if !is_unreported(&one.example) => None,
                None if info.targets.is_empty() => {
                    Some("remove the grader, or remove the given answer so that a target answers")
                }
                None => Some("remove the grader, or use a target that reports it"),
            };
            let fix = fix.map(|fix| format!(" Fix: {fix}.")).unwrap_or_default();
            let example = one.example.trim().trim_end_matches('.');
            format!("{cases}: {example}.{fix}")
        })
        .collect();
    if more > 0 {
        lines.push(format!("{more} more for other reasons; `assize explain` names them"));
    }

    lines
}

/// Advice about criteria that could not be judged, unless their message has it already.
const fn fix_of(kind: UngradedKind) -> Option<&'static str> {
    match kind {
        UngradedKind::Transport
        | UngradedKind::Cancelled
        | UngradedKind::Unavailable
        | UngradedKind::NotJudged => None,
        UngradedKind::Refusal => Some("use another judge, or reword the criterion"),
        UngradedKind::Malformed => Some("use a judge that supports structured output"),
        UngradedKind::Truncated => Some("raise `--max-output-tokens`"),
        UngradedKind::ContextLength => Some("set `truncate`, or use a judge with a larger context"),
        UngradedKind::Evidence => Some("use another judge, or don't require evidence"),
        UngradedKind::Tie => Some("give `--ties`, or an odd number of judges"),
        UngradedKind::Probability => Some("use `--scoring written`, or a judge with token probabilities"),
    }
}

/// Advice about criteria that were not judged because there was no reply or no judge.
fn fix_of_unjudged(message: &str) -> &'static str {
    if message.contains(assize_llm::NO_REPLY_IMPORTED) {
        "write the open requests with `--export-requests FILE`, and import the replies to them, too"
    } else if message.contains(assize_llm::ErrorKind::NotCached.phrase()) {
        "run it again without `--cache-only`"
    } else {
        "run it again with a model: `--judge PROVIDER:MODEL`"
    }
}

fn is_failing(record: &CaseRecord) -> bool {
    record.result.verdict != Verdict::Pass
}

/// Overall verdicts of cases with several trials, by suite, id and target.
type TrialVerdicts<'i> = HashMap<(&'i str, &'i str, Option<&'i str>), Verdict>;

fn trial_verdicts(info: &RunInfo) -> TrialVerdicts<'_> {
    let figures = info.summary.as_ref().and_then(|summary| summary.figures.as_ref());
    let cases = figures.and_then(|figures| figures.trials.as_ref()).map(|trials| &trials.cases);
    let trials = cases.into_iter().flatten();
    trials.map(|case| ((&*case.suite, &*case.case_id, case.target.as_deref()), case.verdict)).collect()
}

/// Returns true if the row counts as a case that did not pass. The first trial of a case represents all of
/// them.
fn names_a_failing_case(row: &ResultRow, trials: &TrialVerdicts<'_>) -> bool {
    match trials.get(&(&*row.suite, &*row.case_id, row.target.as_deref())) {
        Some(verdict) => row.trial <= 1 && *verdict != Verdict::Pass,
        None => row.verdict != Verdict::Pass,
    }
}

/// Groups the names of failing cases in the order of the files, by suite, and with their targets if the run has
/// several.
fn failing_cases<'r>(records: impl Iterator<Item = &'r CaseRecord>, info: &RunInfo) -> Vec<FailingCases> {
    let mut found: Vec<FailingCases> = Vec::new();
    for row in records.map(|record| &record.result) {
        let suite = (info.suites.len() > 1).then(|| row.suite.to_string());
        let target = row.target.as_deref().filter(|_| info.targets.len() > 1);
        let case =
            target.map_or_else(|| row.case_id.to_string(), |target| format!("{} ({target})", row.case_id));
        match found.last_mut().filter(|last| last.suite == suite) {
            Some(last) => last.cases.push(case),
            None => found.push(FailingCases { suite, cases: vec![case] }),
        }
    }

    found
}

/// The command that explains a case of a run. With several suites it names the suite, since another one may
/// have the same id.
pub(super) fn explain_command(run: &str, info: &RunInfo, case: &CaseKey) -> String {
    let suite = match info.suites.len() {
        0 | 1 => String::new(),
        _ => format!(" --suite {}", shell_word(&case.suite)),
    };
    format!("assize explain {run} {}{suite}", shell_word(&case.case_id))
}

/// Commands to try after a run with a case that did not pass, with any exit code.
fn next_commands(
    info: &RunInfo,
    folder: &Path,
    failing: Option<&CaseKey>,
    incomplete: &[IncompleteReason],
    context: &CliContext,
) -> Vec<(String, &'static str)> {
    let Some(summary) = &info.summary else { return Vec::new() };
    if summary.exit_code == 0 && failing.is_none() {
        return Vec::new();
    }

    // A run that was scored again without storing it can't be continued.
    if info.command == "score" && info.rows.is_none() {
        return Vec::new();
    }

    // `merge` and `score` print runs of other commands, and only those commands can continue them.
    let is_own = context.command_line.iter().any(|word| info.command.split(' ').next() == Some(word));
    let resumption = |retries_incomplete| {
        let retries = if retries_incomplete { " --retry-incomplete" } else { "" };
        if is_own {
            resume_command(&context.command_line, retries_incomplete)
        } else {
            format!("--resume{retries} with the command of the run")
        }
    };

    let mut next = Vec::new();
    if summary.not_run > 0 && info.command.starts_with("audit ") {
        next.push(("the same command again".to_owned(), "request only what is not in the cache"));
    } else if summary.not_run > 0 {
        let over_budget = summary.exit_code == ExitStatus::OverBudget.code();
        let is_shards = info.merged.as_ref().is_some_and(|merged| merged.job.is_none());
        let is_job = info.merged.is_some() && !is_shards;
        let command = if is_shards {
            let folder = shell_word(&folder.display().to_string());
            format!("--run-dir {folder} --resume with the command of the shards, without --shard")
        } else {
            resumption(false)
        };
        let effect = match summary.sent {
            Some(sent) if over_budget && sent.requests == 0 => {
                "run the remaining cases; needs a larger budget: this one was too small for one request"
            }
            _ if over_budget && is_job => {
                "run the remaining cases; needs a larger budget: it holds for the whole job"
            }
            _ if over_budget => "run the remaining cases, with the same budget once more",
            _ => "run the remaining cases",
        };
        next.push((command, effect));
    }

    // Without a known reason, asking again is worth a try.
    let may_change = incomplete.is_empty() || incomplete.iter().any(|reason| reason.may_change);
    let is_asked = info.command != "score" && !info.command.starts_with("audit ");
    if summary.counts.incomplete > 0 && may_change && is_asked {
        let command = match &info.merged {
            None => resumption(true),
            // Only a single process can complete a merged run.
            Some(merged) => {
                let folder = shell_word(&folder.display().to_string());
                let (command, without) = match merged.job {
                    Some(_) => ("the same command", "--cluster"),
                    None => ("the command of the shards", "--shard"),
                };
                format!("--run-dir {folder} --resume --retry-incomplete with {command}, without {without}")
            }
        };
        next.push((command, "ask again for what the incomplete cases lack"));
    }

    let run = run_name(info, folder);
    match failing {
        Some(case) => {
            next.push((explain_command(&run, info, case), "show why it did not pass"));
        }
        None if summary.counts.total() > summary.counts.pass => {
            next.push((format!("assize explain {run}"), "list its cases"));
        }
        None => {}
    }

    next
}

/// Prints the judges, the number of calls, the run folder and the result, for commands that print no summary.
pub(super) fn print_footer(info: &RunInfo, folder: &Path, context: &CliContext) {
    let Some(summary) = &info.summary else { return };
    let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
    let calls = if summary.judge_calls == 1 { "judge call" } else { "judge calls" };
    let text = format!(
        "\nJudge   {} ({} {calls}, {} from the cache)\nRun     {}\nResult  {} (exit code {})\n",
        judges.join(", "),
        summary.judge_calls,
        summary.judge_calls_cached,
        folder.display(),
        summary.exit_reason,
        summary.exit_code
    );
    output::print_text(&text, context);
}

pub(crate) fn print_full(record: &CaseRecord, context: &CliContext) {
    let texts = stored_texts(&record.decisions);
    output::print(&render_case(&record.result, &texts, CaseDetailLevel::Full, context.stdout));
    output::print("\n");
}
