//! Markdown of runs for a job summary or a comment: changes, failures, and the criteria with their texts.
//!
//! A comment on GitHub holds 65,536 characters, a job summary 1 MiB. The text keeps to the smaller limit, so
//! that one file serves both. Blocks that do not fit are counted.

use std::fmt::Write as _;
use std::io::Write;

use assize_analysis::describe_pass_rate_gate;
use assize_store::{CaseRecord, EstimatedMetric, RunInfo, RunMetrics, RunSummary, VerdictCounts};

use super::case_index::{CaseIndex, CaseState, ReportedCase};
use super::run_conclusion::{ProblemLevel, allowance};
use super::{ReportError, ReportedConclusion, RunReport};
use crate::case_block::main_reason;
use crate::comparison::ComparisonLimits;
use crate::comparison_markdown::{escape_markdown, render_comparison_markdown};
use crate::cost::format_cost;
use crate::criterion::NEGATION_PREFIX;
use crate::criterion_rates::{RateTitles, rate_text, shown_rates};
use crate::derived::derived_metric_texts;
use crate::entry::{criterion_value, percent, percent_interval, score, score_interval};
use crate::number::{self, format_count, grouped};
use crate::scorecard_markdown::{ScorecardPage, render_scorecard_markdown};
use crate::summary::run_warnings;

/// Maximum size of a GitHub comment in characters, minus space for the notes at the end.
const MAX_CHARACTERS: usize = assize_limits::MARKDOWN_CHARACTERS - 1_536;
/// Maximum number of criteria listed.
const MAX_CRITERIA: usize = 100;
/// Maximum length of a criterion text and of a reason, in characters.
const MAX_TEXT: usize = 300;

/// Writes one run below the other.
pub(super) fn write_markdown(
    out: &mut dyn Write,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    let mut page = MarkdownPage::default();
    page.add(&marker(runs));

    for run in runs {
        write_run(&mut page, run)?;
    }
    out.write_all(page.finish().as_bytes())?;

    Ok(Vec::new())
}

/// Text up to a limit; blocks that do not fit are omitted and counted.
#[derive(Default)]
struct MarkdownPage {
    text: String,
    characters: usize,
    left_out: Vec<String>,
}

impl MarkdownPage {
    /// Adds a block if it fits.
    fn add(&mut self, block: &str) -> bool {
        let characters = block.chars().count();
        let fits = self.characters + characters <= MAX_CHARACTERS;
        if fits {
            self.text.push_str(block);
            self.characters += characters;
        }

        fits
    }

    /// Adds a block, or notes that `name` was omitted.
    fn add_or_note(&mut self, block: &str, name: &str) {
        if !self.add(block) {
            self.left_out.push(name.to_owned());
        }
    }

    fn finish(mut self) -> String {
        if !self.left_out.is_empty() {
            let _ = writeln!(
                self.text,
                "\n**Cut to the {} characters of a comment.** Omitted: {}.",
                grouped(MAX_CHARACTERS as u64),
                self.left_out.join(", ")
            );
        }

        self.text
    }
}

/// Invisible line that a script uses to find its earlier comment. It contains the suites, so that two jobs keep
/// separate comments.
fn marker(runs: &[RunReport<'_>]) -> String {
    let mut names: Vec<&str> =
        runs.iter().flat_map(|run| &run.info.suites).map(|suite| suite.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();

    let plain = |c: char| if c.is_ascii_alphanumeric() || "._ ".contains(c) { c } else { '_' };
    let key: String = names.join(" ").chars().map(plain).take(200).collect();
    format!("<!-- assize: {key} -->\n\n")
}

fn write_run(page: &mut MarkdownPage, run: &RunReport<'_>) -> Result<(), ReportError> {
    let index = CaseIndex::read(run)?;
    let conclusion = ReportedConclusion::new(run, &index);
    page.add(&heading(run, &index, &conclusion));
    page.add(&problems(&conclusion));
    if let Some(comparison) = run.comparison {
        let limits = ComparisonLimits { flips: 20, ..ComparisonLimits::default() };
        let text = render_comparison_markdown(comparison.set, comparison.adjusted_by, limits);
        page.add_or_note(&format!("\n{text}"), "the comparison");
    }

    if let Some(summary) = &run.info.summary {
        page.add(&metrics(summary, &index));
    }
    page.add(&warnings(run.info));

    if let Some(card) = run.scorecard {
        let text = render_scorecard_markdown(card.scores, &ScorecardPage { run: Some((card.run, run.info)) });
        page.add_or_note(&format!("\n{text}"), "the scorecard");
    }
    if let Some(summary) = &run.info.summary {
        write_criteria(page, summary);
    }
    write_cases(page, run, &index)?;
    page.add_or_note(&origin(run), "where the metrics come from");

    Ok(())
}

fn heading(run: &RunReport<'_>, index: &CaseIndex, conclusion: &ReportedConclusion) -> String {
    let icon = match conclusion.exit_code {
        _ if !conclusion.ended => "❔",
        0 => "✅",
        1 => "❌",
        _ => "❔",
    };
    let suites = escape_markdown(&run.title(), 200);
    format!("### {icon} {suites}: {}\n", escape_markdown(&headline(run, index, conclusion), MAX_TEXT))
}

/// The verdicts of the cases and the problems of the run, in one line.
fn headline(run: &RunReport<'_>, index: &CaseIndex, conclusion: &ReportedConclusion) -> String {
    let total = format_count(index.len() as u64, "case", "cases");
    let number = |state| index.count(state);
    let problems = conclusion.titles();

    let mut text = match (number(CaseState::Failed), number(CaseState::Ungraded)) {
        _ if number(CaseState::Measured) > 0 => {
            let reason = run.info.summary.as_ref().map(|summary| summary.exit_reason.as_str());
            let reason = reason.filter(|reason| problems.is_empty() && !reason.is_empty());
            let reason = reason.map(|reason| format!("; {reason}")).unwrap_or_default();
            format!("{total} measured{reason}")
        }
        (0, 0) if index.len() == 0 => "no case was run".to_owned(),
        (0, 0) if conclusion.exit_code == 0 && number(CaseState::Allowed) + conclusion.missing > 0 => {
            let passed = number(CaseState::Passed) as u64;
            let share = number::format_percent(passed, index.len() as u64);
            let missing = match conclusion.missing {
                0 => String::new(),
                missing => format!(", {} more without a result", grouped(missing as u64)),
            };
            format!("{} of {total} passed ({share}){missing}; {}", grouped(passed), allowance(run.info))
        }
        (0, 0) if number(CaseState::Skipped) > 0 || conclusion.has_problems() => {
            format!("{} of {total} passed", grouped(number(CaseState::Passed) as u64))
        }
        (0, 0) if index.len() == 1 => "the only case passed".to_owned(),
        (0, 0) => format!("all {total} passed"),
        (failed, 0) => format!("{} of {total} did not pass", grouped(failed as u64)),
        (0, ungraded) => format!("{} of {total} ungraded", grouped(ungraded as u64)),
        (failed, ungraded) => {
            let (failed, ungraded) = (grouped(failed as u64), grouped(ungraded as u64));
            format!("{failed} of {total} did not pass, {ungraded} ungraded")
        }
    };

    if number(CaseState::Skipped) > 0 {
        let _ = write!(text, ", {} skipped", grouped(number(CaseState::Skipped) as u64));
    }
    if !problems.is_empty() {
        let _ = write!(text, "; {problems}");
    }

    text
}

/// Problems of the run as a whole, one per line.
fn problems(conclusion: &ReportedConclusion) -> String {
    let mut text = String::new();
    for problem in &conclusion.problems {
        let sign = match problem.level {
            ProblemLevel::Failed => "❌",
            ProblemLevel::Missing => "❔",
            ProblemLevel::Note => "ℹ️",
        };
        let title = escape_markdown(&problem.title, MAX_TEXT);
        let reason = match problem.reason.as_str() {
            "" => String::new(),
            reason => format!(" – {}", escape_markdown(reason, MAX_TEXT)),
        };
        let _ = write!(text, "\n- {sign} **{title}**{reason}");
    }
    if !text.is_empty() {
        text.push('\n');
    }

    text
}

fn metrics(summary: &RunSummary, index: &CaseIndex) -> String {
    let mut text = "\n| metric | value | 95% CI | of |\n|---|--:|---|--:|\n".to_owned();
    if let Some(figures) = &summary.figures {
        let rows = [
            (
                if figures.trials.is_some() { "pass rate of trials" } else { "pass rate" },
                percent(&figures.pass_rate),
                percent_interval(&figures.pass_rate),
                &figures.pass_rate,
            ),
            (
                "mean score",
                score(&figures.mean_score),
                score_interval(&figures.mean_score),
                &figures.mean_score,
            ),
        ];
        for (name, value, interval, metric) in rows {
            let interval = if interval.is_empty() { undefined(metric) } else { interval };
            let _ = writeln!(text, "| {name} | **{value}** | {interval} | {} |", grouped(metric.n));
        }
    }

    for (kind, parts) in
        summary.figures.iter().flat_map(RunMetrics::tables).filter(|(_, parts)| !parts.is_empty())
    {
        let _ = writeln!(
            text,
            "\n| {kind} | pass rate | 95% CI | of | mean score | cost |\n|---|--:|---|--:|--:|--:|"
        );
        for (name, part) in parts {
            let _ = writeln!(
                text,
                "| {} | **{}** | {} | {} | {} | {} |",
                escape_markdown(name.unwrap_or("answers of the file"), MAX_TEXT),
                percent(&part.pass_rate),
                percent_interval(&part.pass_rate),
                grouped(part.pass_rate.n),
                score(&part.mean_score),
                format_cost(part.cost_usd, None)
            );
        }
    }

    let derived = summary.figures.as_ref().map(|figures| figures.derived.as_slice()).unwrap_or_default();
    if !derived.is_empty() {
        text.push_str("\n| derived metric | value | of | results |\n|---|--:|---|--:|\n");
    }
    for metric in derived_metric_texts(derived) {
        let [name, part_of, reason] =
            [&metric.name, &metric.of, &metric.reason].map(|part| escape_markdown(part, MAX_TEXT));
        let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
        let _ = writeln!(text, "| {name} | **{}**{reason} | {part_of} | {} |", metric.value, metric.results);
    }

    let trials = summary.figures.as_ref().and_then(|figures| figures.trials.as_ref());
    let counts = trials.map_or(summary.counts, |trials| trials.counts);
    let _ = writeln!(text, "\n{}", verdicts(counts));
    if index.gated > 0 {
        let cases = format_count(index.gated as u64, "case", "cases");
        let _ = writeln!(text, "\n**Gates failed in {cases}.**");
    }
    if let Some(gate) = summary.pass_rate_gate {
        let _ = writeln!(text, "\n**Gate: {}.**", describe_pass_rate_gate(&gate));
    }

    text
}

fn undefined(metric: &EstimatedMetric) -> String {
    metric
        .undefined
        .as_deref()
        .map_or_else(String::new, |reason| number::no_interval(escape_markdown(reason, 200)))
}

fn verdicts(counts: VerdictCounts) -> String {
    let parts = crate::entry::tallies(counts).into_iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<String> =
        parts.map(|(number, word, _)| format!("{} {word}", grouped(number as u64))).collect();
    parts.join(", ")
}

fn warnings(info: &RunInfo) -> String {
    let mut text = String::new();
    for warning in run_warnings(info) {
        let _ = writeln!(text, "\n> {}", escape_markdown(warning, MAX_TEXT));
    }

    text
}

fn write_criteria(page: &mut MarkdownPage, summary: &RunSummary) {
    let rates = shown_rates(summary);
    if rates.is_empty() {
        return;
    }

    let RateTitles { heading, column, interval, .. } = RateTitles::new(summary, &rates);
    let mut text = format!(
        "\n#### {heading}, worst first\n\n| met or mean | {interval} | of | ungraded | {column} |\n|--:|---|--:|--:|---|\n"
    );
    for rate in rates.iter().take(MAX_CRITERIA) {
        let (value, interval) = criterion_value(rate);
        let words = rate_text(rate, &rates);
        let penalty = if rate.weight < 0.0 { "penalty incurred: " } else { "" };
        let ungraded = if rate.ungraded == 0 { String::new() } else { grouped(rate.ungraded) };
        let _ = writeln!(
            text,
            "| {value} | {interval} | {} | {ungraded} | {penalty}{} |",
            grouped(rate.rate.n),
            escape_markdown(&words, MAX_TEXT)
        );
    }

    if rates.len() > MAX_CRITERIA {
        let _ = writeln!(text, "\nand {} more", rates.len() - MAX_CRITERIA);
    }
    page.add_or_note(&text, "the criteria");
}

/// Lists the cases that did not pass, as many as fit, each with the criteria that count against it.
fn write_cases(page: &mut MarkdownPage, run: &RunReport<'_>, index: &CaseIndex) -> Result<(), ReportError> {
    let states = [CaseState::Failed, CaseState::Ungraded, CaseState::Allowed];
    let total: usize = states.into_iter().map(|state| index.count(state)).sum();
    if total == 0 {
        return Ok(());
    }

    let figures = run.info.summary.as_ref().and_then(|summary| summary.figures.as_ref());
    let has_prompts = figures.is_some_and(|figures| !figures.prompts.is_empty());
    let (column, line) = if has_prompts { (" prompt |", "---|") } else { ("", "") };
    let head = format!(
        "\n#### Cases that did not pass\n\n| case |{column} verdict | score | why |\n|---|{line}---|--:|---|\n"
    );
    let mut written = 0;
    if page.add(&head) {
        for read in index.cases(run, |case| states.contains(&case.state))? {
            if !page.add(&case_row(&read?, has_prompts)) {
                break;
            }
            written += 1;
        }
    }

    if written < total {
        page.left_out.push(format_count((total - written) as u64, "case", "cases"));
    }
    Ok(())
}

fn case_row(reported: &ReportedCase<'_>, has_prompts: bool) -> String {
    let mut why: Vec<String> = Vec::new();
    if let Some(trials) = &reported.case.trials {
        why.push(escape_markdown(&trials.describe(), MAX_TEXT));
    }
    for record in &reported.records {
        for line in criteria_against(record) {
            if !why.contains(&line) {
                why.push(line);
            }
        }
    }
    let row = reported.row();
    if why.is_empty() {
        why.extend(main_reason(row).map(|reason| escape_markdown(&reason, MAX_TEXT)));
    }

    let mark = reported.mark();
    let prompt = row.prompt.as_deref().map(|prompt| escape_markdown(prompt, 60)).unwrap_or_default();
    let prompt = if has_prompts { format!(" {prompt} |") } else { String::new() };
    let target = row.target.as_deref().map(|target| format!(" → {}", escape_markdown(target, 60)));
    format!(
        "| {}{} |{} {} {} | {} | {} |\n",
        escape_markdown(row.test_id(), 60),
        target.unwrap_or_default(),
        prompt,
        mark.sign,
        mark.word,
        reported.score().unwrap_or_default(),
        why.join("<br>")
    )
}

/// The criteria that count against an answer, with the reasons.
fn criteria_against(record: &CaseRecord) -> Vec<String> {
    let row = &record.result;
    let texts = crate::case_block::stored_texts(&record.decisions);
    let mut why = Vec::new();
    for grader in &row.graders {
        for criterion in &grader.criteria {
            let is_gate = crate::case_block::has_failed_gate(row, &grader.name, &criterion.id);
            if !super::criterion_finding::is_against(grader, criterion, is_gate) {
                continue;
            }
            let text = texts(&grader.name, &criterion.id).filter(|text| !text.trim().is_empty());
            let words = escape_markdown(&text.unwrap_or_else(|| criterion.id.to_string()), MAX_TEXT);
            let reason = escape_markdown(&criterion.reason, MAX_TEXT);
            let gate = if is_gate { "**gate** " } else { "" };
            let not = if grader.negate { NEGATION_PREFIX } else { "" };
            why.push(if reason.is_empty() {
                format!("{gate}{not}{words}")
            } else {
                format!("{gate}{not}{words} – {reason}")
            });
        }
    }

    why
}

/// Judges, cost, and the command that shows more details.
fn origin(run: &RunReport<'_>) -> String {
    let info = run.info;
    let judges: Vec<String> =
        info.judges.iter().map(|judge| escape_markdown(&judge.identity.name, 100)).collect();
    let mut parts = vec![format!("run {}", escape_markdown(&info.run_id, 100))];
    if !judges.is_empty() {
        parts.push(format!("judged by {}", judges.join(", ")));
    }
    if let Some(cost) = info.summary.as_ref().and_then(|summary| summary.cost_usd) {
        parts.push(format!("cost {}", number::dollars(cost.as_dollars())));
    }
    parts.push(format!("assize {}", escape_markdown(&info.assize_version, 30)));

    format!("\n<sub>{}</sub>\n", parts.join(" · "))
}
