//! Summary of a run on one screen.

use std::fmt::Write as _;

use assize_rubric::{PartialCost, Tokens, Usd};
use assize_store::{Counts, Figure, JudgeInfo, MeanScore, ResultRow, RunFigures, RunInfo, RunSummary};

use crate::case_block::brief;
use crate::clean;
use crate::entry::{entry, interval, listed, tallies};
use crate::noise;
use crate::number::{self, count, grouped};
use crate::page::{Page, Piece};
use crate::panel;
use crate::repeated;
use crate::style::{Style, Tone};

/// Additional content of a summary beside `run.json`. Everything is optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct SummaryExtra<'a> {
    /// Run folder, as the user should write it.
    pub folder: Option<&'a str>,
    /// Number of cases with a failed gate.
    pub gated: Option<usize>,
    /// Number of quotes that were found in the judge's material, and of all quotes.
    pub quotes: Option<(u64, u64)>,
    /// Cases to show, such as the lowest scores. A line each.
    pub worst: &'a [ResultRow],
}

/// A run as a ruled block: what came of it, who judged, what it took, where it is, and everything
/// the reader should be warned of.
pub fn summary_block(info: &RunInfo, extra: SummaryExtra<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    page.rule("Summary");
    match &info.summary {
        Some(summary) => figures(&mut page, summary, extra),
        None => entry(
            &mut page,
            "Cases",
            vec![Piece::new(Tone::Open, "the run has not ended: nothing is added up yet")],
        ),
    }
    who(&mut page, info);
    if let Some(summary) = &info.summary {
        spent(&mut page, summary);
    }
    entry(&mut page, "Run", vec![Piece::said(Tone::Plain, extra.folder.unwrap_or(&info.run_id), 400)]);
    if !extra.worst.is_empty() {
        page.blank();
        for row in extra.worst {
            brief(&mut page, row);
        }
    }
    if let Some(figures) = info.summary.as_ref().and_then(|summary| summary.figures.as_ref()) {
        if let Some(repeats) = &figures.repeats {
            repeated::cases(&mut page, repeats);
            repeated::pass_k(&mut page, repeats);
        }
        repeated::targets(&mut page, &figures.targets);
    }
    warnings(&mut page, info);
    remarks(&mut page, info);
    if let Some(summary) = &info.summary {
        page.blank();
        let tone = match summary.exit_code {
            0 => Tone::Good,
            1 | 2 => Tone::Bad,
            _ => Tone::Open,
        };
        page.text(
            &[Piece::new(Tone::Dim, "Result  ")],
            &[
                Piece::said(tone, &summary.exit_reason, clean::REASON),
                Piece::new(Tone::Dim, format!(" (exit code {})", summary.exit_code)),
            ],
        );
    }
    page.finish()
}

fn figures(page: &mut Page, summary: &RunSummary, extra: SummaryExtra<'_>) {
    let counts = summary.counts;
    let total = counts.total();
    let repeats = summary.figures.as_ref().and_then(|figures| figures.repeats.as_ref());
    // Cases are counted first; of cases with several trials, the trials come after.
    let settled = repeats.map_or(counts, |repeats| repeats.counts);
    let number = settled.total() as u64;
    let mut cases = vec![Piece::new(Tone::Strong, count(number, "case", "cases"))];
    let verdicts = repeated::verdicts(settled);
    if !verdicts.is_empty() {
        cases.push(Piece::plain(": "));
        cases.extend(verdicts);
    }
    for (number, words) in
        [(summary.not_run, "not run"), (summary.left_out, "left out of a file with problems")]
    {
        if number > 0 {
            cases.push(Piece::plain("; "));
            cases.push(Piece::new(Tone::Open, format!("{} {words}", grouped(number as u64))));
        }
    }
    entry(page, "Cases", cases);
    bar(page, settled);
    if repeats.is_some() {
        let mut runs = vec![Piece::plain(count(total as u64, "run", "runs")), Piece::plain(": ")];
        runs.extend(repeated::verdicts(counts));
        entry(page, "Runs", runs);
    }
    if total > 0 {
        entry(page, "Pass rate", pass_rate(summary));
    }
    let mut mean_score = mean(summary.mean_score.as_ref());
    if let Some([low, high]) = summary.figures.as_ref().and_then(|figures| figures.mean_score_bounds) {
        let open = (total as u64).saturating_sub(summary.mean_score.as_ref().map_or(0, |mean| mean.n));
        let bounds = format!(
            "; {} to {} with the {} undecided",
            number::score(low),
            number::score(high),
            grouped(open)
        );
        mean_score.push(Piece::new(Tone::Open, bounds));
    }
    entry(page, "Mean score", mean_score);
    if let Some(figures) = &summary.figures {
        noise::entries(page, figures);
        pairwise(page, figures);
    }
    if let Some(gated) = extra.gated {
        entry(
            page,
            "Gates",
            vec![match gated {
                0 => Piece::plain("none failed"),
                gated => Piece::new(Tone::Bad, format!("failed in {}", count(gated as u64, "case", "cases"))),
            }],
        );
    }
    let judged = summary.criteria.saturating_sub(summary.criteria_ungraded);
    let mut criteria = vec![Piece::plain(format!("{} judged", grouped(judged)))];
    if summary.criteria_ungraded > 0 {
        criteria.push(Piece::plain(", "));
        criteria.push(Piece::new(Tone::Open, format!("{} ungraded", grouped(summary.criteria_ungraded))));
    }
    if summary.criteria_truncated > 0 {
        let text = format!(", {} not shown whole to the judge", grouped(summary.criteria_truncated));
        criteria.push(Piece::new(Tone::Middling, text));
    }
    if let Some((verified, quotes)) = extra.quotes.filter(|(_, quotes)| *quotes > 0) {
        criteria.push(Piece::plain(format!(
            "; {} of {} found",
            grouped(verified),
            count(quotes, "quote", "quotes")
        )));
    }
    entry(page, "Criteria", criteria);
    if let Some(panel) = &summary.panel {
        panel::summary(page, panel);
    }
}

/// Formats the pass rate of the decided cases with its interval; for runs without stored metrics only the
/// share.
fn pass_rate(summary: &RunSummary) -> Vec<Piece> {
    let counts = summary.counts;
    let passed = counts.pass as u64;
    let Some(figures) = &summary.figures else {
        let total = counts.total() as u64;
        let share = number::percent(passed, total);
        return vec![Piece::plain(format!("{}/{} ({share})", grouped(passed), grouped(total)))];
    };
    let rate = &figures.pass_rate;
    if rate.value.is_none() {
        return vec![Piece::new(Tone::Open, "undefined: no case was decided")];
    }
    let share = number::percent(passed, rate.n);
    let mut pieces =
        vec![Piece::new(Tone::Strong, format!("{}/{} ({share})", grouped(passed), grouped(rate.n)))];
    pieces.push(Piece::plain(interval(rate)));
    if let Some([low, high]) = figures.pass_rate_bounds {
        let open = (counts.total() as u64).saturating_sub(rate.n);
        let bounds = format!(
            "; {} to {} with the {} undecided",
            number::score(low),
            number::score(high),
            grouped(open)
        );
        pieces.push(Piece::new(Tone::Open, bounds));
    }
    pieces
}

/// What comparisons with other answers came to, and whether the judge prefers a place.
fn pairwise(page: &mut Page, figures: &RunFigures) {
    let Some(pairs) = &figures.pairwise else { return };
    let share = |figure: &Figure, word: &str| {
        let count = figure.value.map_or(0, |rate| (rate * figure.n as f64).round() as u64);
        format!("{} {word}", grouped(count))
    };
    let mut text = format!(
        "{}: {}, {}, {}, {}",
        count(pairs.win.n, "comparison", "comparisons"),
        share(&pairs.win, "won"),
        share(&pairs.loss, "lost"),
        share(&pairs.tie, "tied"),
        share(&pairs.inconsistent, "inconsistent")
    );
    if pairs.ungraded > 0 {
        let _ = write!(text, "; {} could not be judged", grouped(pairs.ungraded));
    }
    entry(page, "Pairwise", vec![Piece::plain(text)]);
    let won = pairs.win.value.map_or_else(|| "undefined".to_owned(), number::score);
    entry(page, "Win rate", vec![Piece::plain(format!("{won}{}", interval(&pairs.win)))]);
    let place = pairs.first_place.value.map_or_else(|| "undefined".to_owned(), number::score);
    entry(
        page,
        "First place",
        vec![
            Piece::plain(format!(
                "preferred in {place} of {}{}. ",
                count(pairs.first_place.n, "decision", "decisions"),
                interval(&pairs.first_place)
            )),
            Piece::new(Tone::Dim, clean::said(&pairs.says, 300)),
        ],
    );
}

/// The verdicts as a coloured bar. Without colour it would say nothing the words don't.
fn bar(page: &mut Page, counts: Counts) {
    const LENGTH: usize = 40;
    let total = counts.total();
    if !page.style().color || total < 2 {
        return;
    }
    let mut pieces = Vec::new();
    let (mut seen, mut drawn) = (0, 0);
    for (number, _, tone) in tallies(counts) {
        seen += number;
        // At least one column for every verdict that occurs, if there is space.
        let end = ((seen as f64 / total as f64 * LENGTH as f64).round() as usize)
            .max(drawn + usize::from(number > 0))
            .min(LENGTH);
        pieces.push(Piece::new(tone, "━".repeat(end.saturating_sub(drawn))));
        drawn = end.max(drawn);
    }
    entry(page, "", pieces);
}

fn mean(mean: Option<&MeanScore>) -> Vec<Piece> {
    let Some(mean) = mean else {
        return vec![Piece::new(Tone::Open, "undefined: no case has a known score")];
    };
    let over = count(mean.n, "case", "cases");
    let mut pieces = vec![Piece::new(Tone::Strong, number::score(mean.mean))];
    pieces.push(match (mean.low, mean.high) {
        (Some(low), Some(high)) => {
            // The method's name may already end with the unit.
            let over = if mean.method.ends_with("over cases") || mean.method.ends_with("clusters") {
                format!("n = {}", grouped(mean.n))
            } else {
                format!("over {over}")
            };
            Piece::plain(format!(
                ", {}% interval {} to {} ({}, {over})",
                number::plain(mean.level * 100.0),
                number::score(low),
                number::score(high),
                clean::said(&mean.method, 100),
            ))
        }
        _ => Piece::plain(format!(" over {over} ({})", clean::said(&mean.method, 200))),
    });
    pieces
}

fn who(page: &mut Page, info: &RunInfo) {
    if !info.judges.is_empty() {
        entry(page, plural(info.judges.len(), "Judge", "Judges"), listed(info.judges.iter().map(judge)));
    }
    let targets = info.targets.iter().map(|target| {
        let model = target.model.as_deref().map(|model| format!(", {}", clean::name(model)));
        let about = format!(" ({}{})", clean::name(&target.kind), model.unwrap_or_default());
        vec![Piece::name(Tone::Plain, &target.name), Piece::new(Tone::Dim, about)]
    });
    if !info.targets.is_empty() {
        entry(page, plural(info.targets.len(), "Target", "Targets"), listed(targets));
    }
    if info.suites.len() > 1 {
        let suites = info.suites.iter().map(|suite| {
            let cases = format!(" ({})", count(suite.cases as u64, "case", "cases"));
            vec![Piece::name(Tone::Plain, &suite.name), Piece::new(Tone::Dim, cases)]
        });
        entry(page, "Suites", listed(suites));
    }
}

fn judge(judge: &JudgeInfo) -> Vec<Piece> {
    let identity = &judge.identity;
    let mut about = Vec::new();
    // A model that is part of the name is not repeated.
    if let Some(model) = identity.model.as_deref().filter(|model| !identity.name.ends_with(model)) {
        about.push(clean::name(model));
    }
    if !judge.chosen_by.is_empty() {
        about.push(format!("chosen by {}", clean::name(&judge.chosen_by)));
    }
    let mut pieces = vec![Piece::name(Tone::Plain, &identity.name)];
    if !about.is_empty() {
        pieces.push(Piece::new(Tone::Dim, format!(" ({})", about.join(", "))));
    }
    pieces
}

fn plural(number: usize, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

fn spent(page: &mut Page, summary: &RunSummary) {
    let calls = format!(
        "{}, {} from the cache",
        count(summary.judge_calls, "judge call", "judge calls"),
        grouped(summary.judge_calls_cached)
    );
    let time = number::duration(summary.duration_ms);
    entry(page, "Time", vec![Piece::plain(time), Piece::new(Tone::Dim, format!(" ({calls})"))]);
    entry(page, "Tokens", vec![Piece::plain(tokens(summary.tokens))]);
    entry(
        page,
        "Cost",
        vec![match summary.cost_usd {
            Some(cost) => Piece::plain(number::dollars(cost.dollars())),
            None => Piece::plain(partial_cost(summary.cost_partial)),
        }],
    );
}

/// Describes a cost that is only partly known.
fn partial_cost(partial: Option<PartialCost>) -> String {
    match partial {
        None => "unknown: not every price is known".to_owned(),
        Some(PartialCost { at_least_usd, unpriced_calls }) => {
            let unknown = format!("{} of unknown price", count(unpriced_calls, "call", "calls"));
            if at_least_usd == Usd::ZERO {
                format!("unknown: {unknown}")
            } else {
                format!("at least {}; {unknown}", number::dollars(at_least_usd.dollars()))
            }
        }
    }
}

fn tokens(tokens: Tokens) -> String {
    let part = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), grouped);
    if tokens.input.is_none() && tokens.output.is_none() {
        return "none reported".to_owned();
    }
    let cached = tokens.cached.map(|cached| format!(" ({} cached)", grouped(cached)));
    format!("{} in{}, {} out", part(tokens.input), cached.unwrap_or_default(), part(tokens.output))
}

fn remarks(page: &mut Page, info: &RunInfo) {
    let Some(figures) = info.summary.as_ref().and_then(|summary| summary.figures.as_ref()) else { return };
    if !figures.remarks.is_empty() {
        page.blank();
    }
    for remark in &figures.remarks {
        page.text(&[Piece::new(Tone::Dim, "  ")], &[Piece::said(Tone::Dim, remark, clean::REASON)]);
    }
}

fn warnings(page: &mut Page, info: &RunInfo) {
    let mut warnings: Vec<&str> = info.warnings.iter().map(String::as_str).collect();
    let offline = info.judges.iter().any(|judge| &*judge.identity.name == "offline");
    if offline && !warnings.iter().any(|warning| warning.to_lowercase().contains("offline")) {
        warnings.push(
            "The offline judge compares words and understands nothing: take its verdicts as a rough \
             baseline. --judge names a model to judge instead.",
        );
    }
    if !warnings.is_empty() {
        page.blank();
    }
    for warning in warnings {
        page.text(
            &[Piece::new(Tone::Middling, "⚠ ")],
            &[Piece::said(Tone::Middling, warning, clean::REASON)],
        );
    }
}
