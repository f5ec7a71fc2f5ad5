//! Summary of a run on one screen.

use std::fmt::Write as _;

use assize_rubric::{OFFLINE_NOTICE, OFFLINE_STORED_NOTICE, UnitInterval, VerdictThresholds};
use assize_store::{
    EstimatedMetric, JudgeInfo, MeanScore, ResultRow, RunConclusion, RunInfo, RunMetrics, RunSummary,
    VerdictCounts,
};

use crate::case_block::render_brief;
use crate::case_trials;
use crate::cost::{
    format_judge_calls, format_resumed, format_run_cost, format_run_time, format_spent, format_tokens,
};
use crate::criterion_rates::render_criterion_rates;
use crate::derived::render_derived;
use crate::entry::{entry, entry_pieces, listed, rate_interval, tallies};
use crate::noise;
use crate::number::{self, format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::panel;
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};

/// Cases of a suite that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingCases {
    /// Name of the suite, if the run has several.
    pub suite: Option<String>,
    /// Their ids, each with its target if the run has several.
    pub cases: Vec<String>,
}

/// Additional content of a summary beside `run.json`. Everything is optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct SummaryExtra<'a> {
    /// Run folder, as the user should write it.
    pub folder: Option<&'a str>,
    /// Number of cases with a failed gate.
    pub gated: Option<usize>,
    /// Reasons why cases are incomplete, each with the number of cases and what to do about it.
    pub incomplete: &'a [String],
    /// First cases that did not pass, and the number of further ones; empty if the page lists them elsewhere.
    pub failing: (&'a [FailingCases], usize),
    /// Number of quotes that were found in the judge's material, and number of all quotes.
    pub quotes: Option<(u64, u64)>,
    /// Thresholds of the verdicts.
    pub thresholds: &'a [VerdictThresholds],
    /// Cases to show in one line each, such as those with the lowest scores.
    pub worst: &'a [ResultRow],
    /// Suggested next commands, each with its effect.
    pub next: &'a [(String, &'static str)],
    /// Whether sources of noise are omitted and tables cut to a few rows.
    pub is_brief: bool,
}

/// Renders a run as a block under a rule: result, judges, duration and cost, folder, and all warnings.
pub fn render_summary(info: &RunInfo, extra: SummaryExtra<'_>, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    page.add_rule("Summary");

    match &info.summary {
        Some(summary) => render_metrics(&mut page, summary, extra),
        None => entry(
            &mut page,
            "Cases",
            ReportPiece::new(ReportTone::Open, "the run has not ended; nothing is aggregated yet"),
        ),
    }

    render_judges_and_targets(&mut page, info);

    if let Some(summary) = &info.summary {
        render_cost(&mut page, info, summary);
    }

    page.add_command(
        &[ReportPiece::new(ReportTone::Dim, format!("{:<12}", "Run"))],
        &[ReportPiece::untrusted(ReportTone::Plain, extra.folder.unwrap_or(&info.run_id), 400)],
        &[],
    );

    if let Some(summary) = &info.summary {
        render_criterion_rates(&mut page, summary, extra.is_brief);
    }

    if !extra.worst.is_empty() {
        page.add_blank();
        for row in extra.worst {
            render_brief(&mut page, row);
        }
    }

    if let Some(figures) = info.summary.as_ref().and_then(|summary| summary.figures.as_ref()) {
        if let Some(repeats) = &figures.trials {
            case_trials::render_case_trials(&mut page, repeats, extra.is_brief);
            case_trials::render_pass_k(&mut page, repeats);
        }
        for (kind, parts) in figures.tables() {
            case_trials::render_parts(&mut page, kind, &parts);
        }
        render_derived(&mut page, &figures.derived);
    }

    render_warnings(&mut page, info);
    render_remarks(&mut page, info);

    if let Some(summary) = &info.summary {
        page.add_blank();
        render_result(&mut page, summary);
    }

    for (command, effect) in extra.next {
        render_next(&mut page, command, effect);
    }

    // The last line, so that the reader does not take the numbers above for a model's decisions.
    if let Some(notice) = run_warnings(info).into_iter().find(is_offline_notice) {
        if info.summary.is_none() {
            page.add_blank();
        }
        page.add_labelled(ReportTone::Middling, "⚠ ", ReportPiece::new(ReportTone::Middling, notice));
    }

    page.finish()
}

/// Renders the reason of the exit code.
pub(crate) fn render_result(page: &mut ReportPage, summary: &RunSummary) {
    render_conclusion(page, summary.exit_code, &summary.exit_reason, &summary.conclusion);
}

/// Renders the exit code, its reason, and notes that a reader must know.
pub fn render_result_lines(
    exit_code: u8,
    reason: &str,
    conclusion: &RunConclusion,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    render_conclusion(&mut page, exit_code, reason, conclusion);

    page.finish()
}

fn render_conclusion(page: &mut ReportPage, exit_code: u8, reason: &str, conclusion: &RunConclusion) {
    let tone = ReportTone::of_exit_code(Some(exit_code));
    page.add_text(
        &[ReportPiece::new(ReportTone::Dim, "Result  ")],
        &[
            ReportPiece::untrusted(tone, reason, sanitize::MAX_REASON),
            ReportPiece::new(ReportTone::Dim, format!(" (exit code {exit_code})")),
        ],
    );
    for line in conclusion.lines() {
        page.add_indented(8, ReportPiece::untrusted(ReportTone::Open, &line.text, sanitize::MAX_REASON));
    }
}

/// Renders a suggested command, with its effect as a shell comment.
pub(crate) fn render_next(page: &mut ReportPage, command: &str, effect: &str) {
    page.add_command(
        &[ReportPiece::new(ReportTone::Dim, "Next    ")],
        &[ReportPiece::untrusted(ReportTone::Plain, command, sanitize::MAX_REASON)],
        &[ReportPiece::new(ReportTone::Dim, format!("# {effect}"))],
    );
}

fn render_metrics(page: &mut ReportPage, summary: &RunSummary, extra: SummaryExtra<'_>) {
    let counts = summary.counts;
    let total = counts.total();
    let repeats = summary.figures.as_ref().and_then(|figures| figures.trials.as_ref());

    // Cases are counted first; if they have several trials, the counts of trials follow.
    let settled = repeats.map_or(counts, |repeats| repeats.counts);
    let number = settled.total() as u64;
    // If cases have several trials, the number not run is a number of trials.
    let not_run_of = if repeats.is_some() { " trials not run" } else { " not run" };
    let missing = [(summary.not_run, not_run_of), (summary.excluded, " excluded as invalid")];
    let all = number + if repeats.is_some() { 0 } else { summary.not_run as u64 } + summary.excluded as u64;
    let heading = if all == number {
        format_count(number, "case", "cases")
    } else {
        format!("{}/{} run", grouped(number), format_count(all, "case", "cases"))
    };

    let mut parts = case_trials::format_verdict_counts(settled);
    for (number, words) in missing.into_iter().filter(|(number, _)| *number > 0) {
        if !parts.is_empty() {
            parts.push(ReportPiece::plain(", "));
        }
        parts.push(ReportPiece::new(ReportTone::Open, format!("{}{words}", grouped(number as u64))));
    }
    let mut cases = vec![ReportPiece::new(ReportTone::Strong, heading)];
    if !parts.is_empty() {
        cases.push(ReportPiece::plain(": "));
        cases.extend(parts);
    }

    entry_pieces(page, "Cases", &cases);
    render_bar(page, settled);
    let (failing, more_failing) = extra.failing;
    render_failing(page, failing, more_failing);
    for (index, reason) in extra.incomplete.iter().enumerate() {
        let label = if index == 0 { "Incomplete" } else { "" };
        entry(page, label, ReportPiece::untrusted(ReportTone::Open, reason, sanitize::MAX_REASON));
    }

    if repeats.is_some() {
        let mut trials = vec![ReportPiece::plain(format!("{}: ", grouped(total as u64)))];
        trials.extend(case_trials::format_verdict_counts(counts));
        entry_pieces(page, "Trials", &trials);
    }

    if total > 0 {
        entry_pieces(page, "Pass rate", &format_pass_rate(summary, repeats.is_some()));
    }
    if let Some(text) = describe_thresholds(extra.thresholds) {
        entry(page, "Threshold", ReportPiece::plain(text));
    }

    let is_judged = counts.pass + counts.borderline + counts.fail > 0;
    let mut mean_score = format_mean(summary.mean_score.as_ref());
    if let Some([low, high]) = summary.figures.as_ref().and_then(|figures| figures.mean_score_bounds) {
        let open = (total as u64).saturating_sub(summary.mean_score.as_ref().map_or(0, |mean| mean.n));
        let bounds = format!(
            "; {} to {} counting the {} without a score",
            number::format_score(low),
            number::format_score(high),
            format_count(open, "case", "cases")
        );
        mean_score.push(ReportPiece::new(ReportTone::Open, bounds));
    }

    if summary.mean_score.is_some() || is_judged {
        entry_pieces(page, "Mean score", &mean_score);
    }

    if let Some(figures) = &summary.figures {
        if !extra.is_brief {
            noise::render_noise_entries(page, figures);
        }
        render_pairwise_metrics(page, figures);
    }

    let criteria = &summary.criterion_rates;
    let mut gates = Vec::new();
    match (criteria.iter().filter(|one| one.gate == Some(true)).count(), criteria.len()) {
        (0, _) => {}
        (1, all) => gates.push(ReportPiece::plain(format!("1 of {} is a gate", criteria_count(all)))),
        (some, all) => {
            gates.push(ReportPiece::plain(format!(
                "{} of {} are gates",
                grouped(some as u64),
                criteria_count(all)
            )));
        }
    }
    if let Some(gated) = extra.gated.filter(|gated| *gated > 0) {
        let divider = if gates.is_empty() { "" } else { "; " };
        let text = format!("{divider}failed in {}", format_count(gated as u64, "case", "cases"));
        gates.push(ReportPiece::new(ReportTone::Bad, text));
    }
    if !gates.is_empty() {
        entry_pieces(page, "Gates", &gates);
    }

    if summary.criteria > 0 {
        render_criterion_counts(page, summary, extra);
    }

    if let Some(panel) = &summary.panel {
        panel::render_panel_summary(page, panel, extra.is_brief);
    }
}

fn criteria_count(count: usize) -> String {
    format_count(count as u64, "criterion", "criteria")
}

/// Names the cases that did not pass.
fn render_failing(page: &mut ReportPage, suites: &[FailingCases], more: usize) {
    if suites.is_empty() {
        return;
    }

    let mut pieces = Vec::new();
    for failing in suites {
        if !pieces.is_empty() {
            pieces.push(ReportPiece::plain("; "));
        }
        if let Some(suite) = &failing.suite {
            pieces.push(ReportPiece::untrusted_name(ReportTone::Plain, suite));
            pieces.push(ReportPiece::plain(": "));
        }
        let names: Vec<String> = failing.cases.iter().map(|case| sanitize::sanitize_name(case)).collect();
        pieces.push(ReportPiece::new(ReportTone::Bad, names.join(", ")));
    }
    if more > 0 {
        pieces.push(ReportPiece::plain(format!(" and {} more", grouped(more as u64))));
    }
    entry_pieces(page, "Not passed", &pieces);
}

/// Counts the criteria and the quotes.
fn render_criterion_counts(page: &mut ReportPage, summary: &RunSummary, extra: SummaryExtra<'_>) {
    let judged = summary.criteria.saturating_sub(summary.criteria_ungraded);
    let mut criteria = vec![ReportPiece::plain(format!("{} judged", grouped(judged)))];
    if summary.criteria_ungraded > 0 {
        criteria.push(ReportPiece::plain(", "));
        criteria.push(ReportPiece::new(
            ReportTone::Open,
            format!("{} ungraded", grouped(summary.criteria_ungraded)),
        ));
    }

    if summary.criteria_truncated > 0 {
        let text = format!(", {} truncated for the judge", grouped(summary.criteria_truncated));
        criteria.push(ReportPiece::new(ReportTone::Middling, text));
    }

    let counted = extra.quotes.or(summary.quotes_found.zip(summary.quotes));
    if let Some((verified, quotes)) = counted.filter(|(_, quotes)| *quotes > 0) {
        let tone = if verified * 2 < quotes { ReportTone::Bad } else { ReportTone::Plain };
        let text = format!("; {} of {} found", grouped(verified), format_count(quotes, "quote", "quotes"));
        criteria.push(ReportPiece::new(tone, text));
    }

    entry_pieces(page, "Criteria", &criteria);
}

/// Formats the pass rate of the decided cases with its interval; for runs without stored metrics only the share. If
/// cases have several trials, the rate is over trials, not over cases.
fn format_pass_rate(summary: &RunSummary, has_trials: bool) -> Vec<ReportPiece> {
    let counts = summary.counts;
    let Some(figures) = &summary.figures else {
        let passed = counts.pass as u64;
        let total = counts.total() as u64;
        let share = number::format_percent(passed, total);
        return vec![ReportPiece::plain(format!("{}/{} ({share})", grouped(passed), grouped(total)))];
    };
    let rate = &figures.pass_rate;
    if rate.value.is_none() {
        return vec![ReportPiece::new(ReportTone::Open, number::undefined_because("no case has a verdict"))];
    }

    // If trials end at the first pass, the metric counts only the first trials, so the counts over all runs
    // don't apply.
    let passed = rate.value.map_or(0, |value| (value * rate.n as f64).round() as u64);
    let share = number::format_percent(passed, rate.n);
    let mut pieces = vec![ReportPiece::new(
        ReportTone::Strong,
        format!(
            "{}/{}{} ({share})",
            grouped(passed),
            grouped(rate.n),
            if has_trials { " trials" } else { "" }
        ),
    )];
    pieces.push(ReportPiece::plain(rate_interval(rate)));

    if let Some([low, high]) = figures.pass_rate_bounds {
        let open = (counts.total() as u64).saturating_sub(rate.n);
        let bounds = format!(
            "; {} to {} counting the {} without a verdict",
            number::format_rate(low),
            number::format_rate(high),
            if has_trials {
                format_count(open, "trial", "trials")
            } else {
                format_count(open, "case", "cases")
            }
        );
        pieces.push(ReportPiece::new(ReportTone::Open, bounds));
    }

    pieces
}

/// Describes the thresholds of verdicts, if they are known. Cases may have different ones.
pub(crate) fn describe_thresholds(thresholds: &[VerdictThresholds]) -> Option<String> {
    // Sorted, because cases finish in a different order in each run.
    let mut thresholds = thresholds.to_vec();
    let key = |one: &VerdictThresholds| (one.pass().get(), one.borderline().map_or(0.0, UnitInterval::get));
    thresholds.sort_by(|a, b| key(b).0.total_cmp(&key(a).0).then(key(b).1.total_cmp(&key(a).1)));

    match thresholds.as_slice() {
        [] => None,
        [only] => Some(format_thresholds(*only)),
        // promptfoo's tests, some with a minimum score and some without.
        [several @ .., last]
            if last.pass() == UnitInterval::ZERO && several.iter().all(has_no_borderline) =>
        {
            let numbers: Vec<_> = several.iter().map(|one| number::format_plain(one.pass().get())).collect();
            Some(format!("set by each case: {}, or none (no gate may fail)", numbers.join(", ")))
        }
        several => {
            let texts: Vec<_> = several.iter().map(|one| format_thresholds(*one)).collect();
            Some(format!("differs by case: {}", texts.join("; or ")))
        }
    }
}

fn has_no_borderline(thresholds: &VerdictThresholds) -> bool {
    thresholds.borderline().is_none_or(|borderline| borderline >= thresholds.pass())
}

/// Describes thresholds in words.
fn format_thresholds(thresholds: VerdictThresholds) -> String {
    let pass = thresholds.pass();
    // A promptfoo test has no threshold unless it sets one; each assertion is a gate instead.
    if pass == UnitInterval::ZERO {
        return "no minimum score; a case passes if no gate fails (promptfoo: if every assertion passes)"
            .to_owned();
    }

    let passes = format!("score ≥ {} passes", number::format_plain(pass.get()));
    match thresholds.borderline().filter(|borderline| *borderline < pass) {
        Some(borderline) => format!("{passes}, ≥ {} is borderline", number::format_plain(borderline.get())),
        None => passes,
    }
}

/// Renders the results of comparisons with other answers, and the judge's position bias.
fn render_pairwise_metrics(page: &mut ReportPage, figures: &RunMetrics) {
    let Some(pairs) = &figures.pairwise else { return };
    let share = |figure: &EstimatedMetric, word: &str| {
        let count = figure.value.map_or(0, |rate| (rate * figure.n as f64).round() as u64);
        format!("{} {word}", grouped(count))
    };
    let mut text = format!(
        "{}: {}, {}, {}, {}",
        format_count(pairs.win.n, "comparison", "comparisons"),
        share(&pairs.win, "won"),
        share(&pairs.loss, "lost"),
        share(&pairs.tie, "tied"),
        share(&pairs.inconsistent, "inconsistent")
    );
    if pairs.ungraded > 0 {
        let _ = write!(text, "; {} ungraded", grouped(pairs.ungraded));
    }

    entry(page, "Pairwise", ReportPiece::plain(text));
    let won = pairs.win.value.map_or_else(|| number::UNDEFINED.to_owned(), number::format_rate);
    entry(page, "Win rate", ReportPiece::plain(format!("{won}{}", rate_interval(&pairs.win))));

    let place = pairs.first_place.value.map_or_else(|| number::UNDEFINED.to_owned(), number::format_rate);
    entry_pieces(
        page,
        "First place",
        &[
            ReportPiece::plain(format!(
                "preferred in {place} of {}{}. ",
                format_count(pairs.first_place.n, "decision", "decisions"),
                rate_interval(&pairs.first_place)
            )),
            ReportPiece::new(ReportTone::Dim, sanitize::sanitize_text(&pairs.says, 300)),
        ],
    );
}

/// Renders the verdicts as a coloured bar. Without colour it would only repeat the text.
fn render_bar(page: &mut ReportPage, counts: VerdictCounts) {
    // The label uses the rest of the narrowest page.
    let length = page.columns().saturating_sub(12).clamp(1, 40);

    let total = counts.total();
    if !page.style().color || total < 2 {
        return;
    }

    let mut pieces = Vec::new();
    let (mut seen, mut drawn) = (0, 0);
    for (number, _, tone) in tallies(counts) {
        seen += number;
        // At least one column for every verdict that occurs, if there is space.
        let end = ((seen as f64 / total as f64 * length as f64).round() as usize)
            .max(drawn + usize::from(number > 0))
            .min(length);
        pieces.push(ReportPiece::new(tone, "━".repeat(end.saturating_sub(drawn))));

        drawn = end.max(drawn);
    }

    entry_pieces(page, "", &pieces);
}

fn format_mean(mean: Option<&MeanScore>) -> Vec<ReportPiece> {
    let Some(mean) = mean else {
        return vec![ReportPiece::new(
            ReportTone::Open,
            number::undefined_because("no case has a known score"),
        )];
    };
    let mut pieces = vec![ReportPiece::new(ReportTone::Strong, number::format_score(mean.mean))];
    pieces.push(ReportPiece::plain(match (mean.low, mean.high) {
        (Some(low), Some(high)) => format!(
            ", {}% CI {} to {}",
            number::format_plain(mean.level * 100.0),
            number::format_score(low),
            number::format_score(high)
        ),
        _ => format!(" ({})", sanitize::sanitize_text(&mean.method, 200)),
    }));

    pieces
}

fn render_judges_and_targets(page: &mut ReportPage, info: &RunInfo) {
    if !info.judges.is_empty() {
        entry_pieces(
            page,
            plural(info.judges.len(), "Judge", "Judges"),
            &listed(info.judges.iter().map(format_judge)),
        );
    }

    let targets = info.targets.iter().map(|target| {
        let model = target.model.as_deref().map(|model| format!(", {}", sanitize::sanitize_name(model)));
        let about = format!(" ({}{})", sanitize::sanitize_name(&target.kind), model.unwrap_or_default());
        vec![
            ReportPiece::untrusted_name(ReportTone::Plain, &target.name),
            ReportPiece::new(ReportTone::Dim, about),
        ]
    });
    if !info.targets.is_empty() {
        entry_pieces(page, plural(info.targets.len(), "Target", "Targets"), &listed(targets));
    }

    let suites = info.suites_with_cases();
    if info.suites.len() > 1 {
        let suites = suites.into_iter().map(|suite| {
            let cases = format!(" ({})", format_count(suite.cases as u64, "case", "cases"));
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &suite.name),
                ReportPiece::new(ReportTone::Dim, cases),
            ]
        });
        entry_pieces(page, "Suites", &listed(suites));
    }
}

fn format_judge(judge: &JudgeInfo) -> Vec<ReportPiece> {
    let identity = &judge.identity;
    let mut about = Vec::new();

    // A model that is part of the judge's name is not repeated.
    if let Some(model) = identity.model.as_deref().filter(|model| !identity.name.ends_with(model)) {
        about.push(sanitize::sanitize_name(model));
    }
    if !judge.chosen_by.is_empty() {
        about.push(format!("chosen by {}", sanitize::sanitize_name(&judge.chosen_by)));
    }

    let mut pieces = vec![ReportPiece::untrusted_name(ReportTone::Plain, &identity.name)];
    if !about.is_empty() {
        pieces.push(ReportPiece::new(ReportTone::Dim, format!(" ({})", about.join(", "))));
    }

    pieces
}

fn plural(number: usize, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

fn render_cost(page: &mut ReportPage, info: &RunInfo, summary: &RunSummary) {
    let calls = format_judge_calls(summary);
    if summary.resumed.is_none() {
        let time = format_run_time(info, summary);
        let calls = if summary.judge_calls == 0 { String::new() } else { format!(" ({calls})") };
        entry_pieces(page, "Time", &[ReportPiece::plain(time), ReportPiece::new(ReportTone::Dim, calls)]);
    } else {
        entry(page, "Calls", ReportPiece::plain(calls));
    }
    if let Some(tokens) = format_tokens(info, summary) {
        entry(page, "Tokens", ReportPiece::plain(tokens));
    }
    entry(page, "Cost", ReportPiece::plain(format_run_cost(info, summary)));

    // Money spent on cases that did not finish is in none of the rows.
    if let Some(spent) = format_spent(info, summary) {
        entry(page, "Spent", ReportPiece::new(ReportTone::Open, spent));
    }
    if let Some(resumed) = format_resumed(summary) {
        entry(page, "Resumed", ReportPiece::plain(resumed));
    }
}

fn render_remarks(page: &mut ReportPage, info: &RunInfo) {
    let Some(figures) = info.summary.as_ref().and_then(|summary| summary.figures.as_ref()) else { return };
    if !figures.remarks.is_empty() {
        page.add_blank();
    }

    for remark in &figures.remarks {
        page.add_indented(2, ReportPiece::untrusted(ReportTone::Dim, remark, sanitize::MAX_REASON));
    }
}

/// Returns true for the notice that no model judged.
fn is_offline_notice(warning: &&str) -> bool {
    [OFFLINE_NOTICE, OFFLINE_STORED_NOTICE].contains(warning)
}

/// Returns everything that the reader of a run should be warned about.
pub fn run_warnings(info: &RunInfo) -> Vec<&str> {
    let mut warnings: Vec<&str> = info.warnings.iter().map(String::as_str).collect();
    let offline = info.judges.iter().any(|judge| &*judge.identity.name == "offline");
    if offline && !warnings.iter().any(|warning| warning.to_lowercase().contains("offline")) {
        warnings.push(OFFLINE_NOTICE);
    }
    if info.command == "score" {
        for warning in warnings.iter_mut().filter(|warning| **warning == OFFLINE_NOTICE) {
            *warning = OFFLINE_STORED_NOTICE;
        }
    }

    warnings
}

fn render_warnings(page: &mut ReportPage, info: &RunInfo) {
    let warnings: Vec<&str> =
        run_warnings(info).into_iter().filter(|warning| !is_offline_notice(warning)).collect();
    if !warnings.is_empty() {
        page.add_blank();
    }

    for warning in warnings {
        page.add_labelled(
            ReportTone::Middling,
            "⚠ ",
            ReportPiece::untrusted(ReportTone::Middling, warning, sanitize::MAX_REASON),
        );
    }
}
