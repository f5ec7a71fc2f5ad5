//! Comparison of runs as terminal text.
//!
//! Results of writing to strings are ignored: it does not fail.

use std::fmt::Write as _;

use assize_analysis::compare::{
    CaseName, ComparisonGroup, ComparisonSet, ComparisonTable, Conclusion, CriterionFlip, FlipSide,
    HeadlineMetric, IncompletePair, LabelledDifference, MetricDifference, MetricUnit, RunComparison,
    VerdictFlip,
};

use crate::chart::{ChartAxis, axis_labels};
use crate::entry::{entry, entry_pieces};
use crate::mark::{VerdictMark, outcome_word};
use crate::number::{self, format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};

/// Limits on the length of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonLimits {
    /// Number of changed cases, for each direction.
    pub flips: usize,
    /// Number of rows of each table.
    pub rows: usize,
    /// Number of names in a list.
    pub names: usize,
    /// Whether methods and the reasons of changed decisions are shown, and each candidate by itself.
    pub details: bool,
}

impl Default for ComparisonLimits {
    fn default() -> Self {
        Self { flips: 10, rows: 20, names: 8, details: true }
    }
}

impl ComparisonLimits {
    /// These limits, then narrower ones without details, for [`crate::fit_screen`].
    pub fn levels(self) -> impl Iterator<Item = Self> {
        let brief = |(flips, rows)| Self { flips, rows, names: flips, details: false };
        std::iter::once(self).chain([(5, 10), (5, 6), (3, 6), (2, 4), (1, 2)].map(brief))
    }
}

/// Renders a comparison: with one candidate in full, with several a matrix and the metrics of each.
pub fn render_comparison(
    many: &ComparisonSet,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let in_full = many.comparisons.len() == 1;
    if in_full || limits.details {
        for comparison in &many.comparisons {
            page.add_blank();
            let rescored_with = many.rescored_with.as_deref();
            let labelled = many.labelled_of(comparison);
            render_one(&mut page, comparison, adjusted_by, limits, in_full, rescored_with, &labelled);
        }
    } else {
        render_candidates(&mut page, many, adjusted_by, limits.rows);
    }

    if !many.matrix.is_empty() {
        page.add_blank();
        render_matrix(&mut page, many, adjusted_by);
    }
    if let Some(chosen) = &many.selection {
        page.add_paragraph(ReportPiece::untrusted(ReportTone::Plain, &chosen.says, sanitize::MAX_REASON));
    }

    page.finish()
}

/// Renders several candidates, a line each.
fn render_candidates(page: &mut ReportPage, many: &ComparisonSet, adjusted_by: Option<&str>, limit: usize) {
    let comparisons = &many.comparisons;
    let Some(first) = comparisons.first() else { return };
    page.add_rule("Comparison");
    render_run(page, "Base", &first.base, &first.base_result);
    entry(page, "Compared", ReportPiece::plain(first.headline.name()));
    for found in &many.labelled {
        entry(page, "By people", ReportPiece::plain(format!("{}: {}", found.candidate, found.says)));
    }
    render_decided_by(page, first, many.labelled.is_empty());
    page.add_blank();
    let row = |one: &RunComparison| {
        let mut cells = difference_row(&one.candidate, one.headline_difference());
        cells.push(ReportPiece::untrusted(ReportTone::Plain, &one.candidate_result, sanitize::MAX_REASON));
        cells
    };
    let rows: Vec<_> = comparisons.iter().map(row).collect();
    let title = adjusted_by.map_or("p", p_title);
    let columns = [&difference_columns("candidate", title)[..], &[ReportColumn::cut("its run")]].concat();
    render_table(page, 0, &columns, &rows[..rows.len().min(limit)]);
    render_remainder(page, rows.len(), limit);
}

/// Title of the column of p values that were adjusted.
fn p_title(adjusted_by: &str) -> &'static str {
    if adjusted_by == "Holm" { "p (Holm)" } else { "adjusted p" }
}

/// Columns of a table of differences that keeps each on one line.
fn difference_columns(name: &'static str, p: &'static str) -> [ReportColumn; 6] {
    [
        ReportColumn::cut(name),
        ReportColumn::right("pairs"),
        ReportColumn::right("change"),
        ReportColumn::right("CI"),
        ReportColumn::right(p),
        ReportColumn::left("verdict"),
    ]
}

fn difference_row(name: &str, contrast: &MetricDifference) -> Vec<ReportPiece> {
    vec![
        ReportPiece::untrusted_name(ReportTone::Plain, name),
        ReportPiece::plain(grouped(contrast.n as u64)),
        ReportPiece::plain(format_difference(contrast)),
        ReportPiece::plain(format_interval(contrast)),
        ReportPiece::plain(format_p_value(contrast.p_adjusted.or(contrast.p))),
        ReportPiece::new(conclusion_mark(contrast.call).1, contrast.call.words()),
    ]
}

/// Names a run, with its result.
fn render_run(page: &mut ReportPage, label: &str, name: &str, result: &str) {
    let body = [
        ReportPiece::untrusted(ReportTone::Strong, name, 300),
        ReportPiece::plain(": "),
        ReportPiece::untrusted(ReportTone::Plain, result, sanitize::MAX_REASON),
    ];
    entry_pieces(page, label, &body);
}

fn render_one(
    page: &mut ReportPage,
    comparison: &RunComparison,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
    in_full: bool,
    rescored_with: Option<&str>,
    labelled: &[&LabelledDifference],
) {
    page.add_rule("Comparison");
    render_run(page, "Base", &comparison.base, &comparison.base_result);
    render_run(page, "Candidate", &comparison.candidate, &comparison.candidate_result);
    render_verdict(page, comparison, labelled);
    for found in labelled {
        entry(page, "By people", ReportPiece::plain(&found.says));
    }
    entry(page, "Cases", ReportPiece::plain(format_case_counts(comparison)));
    render_decided_by(page, comparison, labelled.is_empty());
    if let Some(with) = rescored_with {
        entry(page, "Rescored", ReportPiece::untrusted(ReportTone::Plain, &format_rescored(with), 400));
    }

    for mismatch in &comparison.mismatches {
        let text =
            format!("NOT COMPARABLE ({}): {}", mismatch.aspect.name(), mismatch.describe(comparison.common));
        page.add_labelled(
            ReportTone::Bad,
            "⚠ ",
            ReportPiece::untrusted(ReportTone::Bad, &text, sanitize::MAX_REASON),
        );
    }

    page.add_blank();
    render_headline_table(page, comparison, adjusted_by);

    for (name, contrast) in [("Pass rate", &comparison.pass_rate), ("Mean score", &comparison.score)] {
        let text = describe_difference(contrast);
        entry(page, name, ReportPiece::untrusted(ReportTone::Plain, &text, sanitize::MAX_REASON));
    }

    if let Some([low, high]) = comparison.score_bounds {
        let text = format_bounds(comparison, [low, high]);
        entry(page, "Bounds", ReportPiece::new(ReportTone::Open, text));
    }

    if limits.details {
        entry(page, "Methods", ReportPiece::new(ReportTone::Dim, describe_methods(comparison)));
    }
    if !in_full {
        return;
    }

    for parts in &comparison.tables {
        render_group_table(page, parts, adjusted_by, limits);
    }

    render_flips(page, "Regressions", &comparison.regressions, limits);
    render_flips(page, "Improvements", &comparison.improvements, limits);

    render_case_lists(page, comparison, limits.names);

    // After a page of tables, the verdict is no longer on the screen, so it is repeated.
    page.add_blank();
    render_verdict(page, comparison, labelled);
}

/// Says that judges decided, unless people's labels correct them.
fn render_decided_by(page: &mut ReportPage, comparison: &RunComparison, alone: bool) {
    if comparison.by_judges && alone {
        let text = "judges; `--labels FILE` takes out their errors by people's labels";
        entry(page, "Decided by", ReportPiece::new(ReportTone::Dim, text));
    }
}

fn render_verdict(page: &mut ReportPage, comparison: &RunComparison, labelled: &[&LabelledDifference]) {
    let mut body = Vec::new();
    for (call, basis) in describe_conclusions(comparison, labelled) {
        let (sign, tone) = conclusion_mark(call);
        let separator = if body.is_empty() { "" } else { "; " };
        body.push(ReportPiece::new(tone, format!("{separator}{sign} {}", call.words())));
        body.push(ReportPiece::new(ReportTone::Dim, format!(" {basis}")));
    }
    entry_pieces(page, "Verdict", &body);
}

/// The conclusions of a comparison, each with its basis. Conclusions corrected by people's labels come first.
pub(crate) fn describe_conclusions(
    comparison: &RunComparison,
    labelled: &[&LabelledDifference],
) -> Vec<(Conclusion, String)> {
    let by_people = |found: &&LabelledDifference| {
        let subject = if found.scores { "scores" } else { "verdicts" };
        (found.call, format!("by people's {subject}"))
    };
    let alone = if labelled.is_empty() { "" } else { "by the judges alone, " };
    let judged = (comparison.verdict, format!("{alone}{}", describe_headline(comparison)));
    labelled.iter().map(by_people).chain([judged]).collect()
}

/// Describes how far the mean score over all cases of the baseline may have changed, for any scores of the cases
/// without a known one.
pub(crate) fn format_bounds(comparison: &RunComparison, [low, high]: [f64; 2]) -> String {
    let with = if comparison.gone.is_empty() { "incomplete" } else { "incomplete and missing" };
    let all = match (comparison.common + comparison.gone.len()) as u64 {
        1 => "the only case".to_owned(),
        all => format!("all {} cases", grouped(all)),
    };
    format!(
        "With the {with} cases, the mean score of {} changes by {} to {}.",
        all,
        MetricUnit::Score.format_change(low),
        MetricUnit::Score.format_change(high)
    )
}

/// Says which rubrics' weights, gates and thresholds the runs were rescored with.
pub(crate) fn format_rescored(with: &str) -> String {
    format!("rescored from stored decisions with the weights, gates and thresholds of {with}")
}

/// Formats the number of cases that both runs have, and of cases that only one has.
pub(crate) fn format_case_counts(comparison: &RunComparison) -> String {
    let mut text = format!("{} in common", format_count(comparison.common as u64, "case", "cases"));
    for (number, word) in [
        (comparison.incomplete.len(), "of them incomplete"),
        (comparison.new.len(), "new"),
        (comparison.gone.len(), "missing"),
    ] {
        if number > 0 {
            let _ = write!(text, ", {} {word}", grouped(number as u64));
        }
    }

    if comparison.gone_passed > 0 {
        let _ = write!(text, " ({} of which passed before)", grouped(comparison.gone_passed as u64));
    }

    text
}

/// Says which metric the verdict rests on, and the conclusion of the other metric if it differs.
pub(crate) fn describe_headline(comparison: &RunComparison) -> String {
    let name = comparison.headline.name();
    let (other, contrast) = match comparison.headline {
        HeadlineMetric::Score => (HeadlineMetric::PassRate, &comparison.pass_rate),
        HeadlineMetric::PassRate => (HeadlineMetric::Score, &comparison.score),
    };
    let other = other.name();
    let mut text = if contrast.call == comparison.verdict {
        format!("on {name} and on {other}")
    } else {
        format!("on {name}; {} on {other}", contrast.call.words())
    };
    // What is missing may differ.
    let is_equal = matches!(comparison.verdict, Conclusion::Equivalent | Conclusion::NoDifference);
    if is_equal && !comparison.gone.is_empty() {
        let missing = format_count(comparison.gone.len() as u64, "case is", "cases are");
        text = format!("{text}, of the cases in common; {missing} missing");
    }
    text
}

/// Returns the sign and tone of a conclusion.
fn conclusion_mark(call: Conclusion) -> (&'static str, ReportTone) {
    match call {
        Conclusion::Better => ("✓", ReportTone::Good),
        Conclusion::Worse => ("✗", ReportTone::Bad),
        Conclusion::Equivalent | Conclusion::NoDifference => ("≈", ReportTone::Plain),
        Conclusion::Inconclusive => ("?", ReportTone::Open),
        Conclusion::NotComparable => ("⚠", ReportTone::Bad),
    }
}

/// Formats the change of a metric in its unit.
pub(crate) fn format_difference(contrast: &MetricDifference) -> String {
    contrast
        .difference
        .map_or_else(|| number::NO_VALUE.to_owned(), |value| contrast.unit.format_change(value))
}

/// Formats the conclusion about a metric, with its directions if it was compared.
fn describe_difference(contrast: &MetricDifference) -> String {
    match contrast.call {
        Conclusion::NotComparable => contrast.says.clone(),
        _ => format!("{} {}.", contrast.says, describe_directions(contrast)),
    }
}

/// Formats the numbers of pairs that improved and regressed.
pub(crate) fn describe_directions(contrast: &MetricDifference) -> String {
    format!("{} improved, {} regressed", grouped(contrast.higher as u64), grouped(contrast.lower as u64))
}

/// Formats a p value.
pub(crate) fn format_p_value(p: Option<f64>) -> String {
    match p {
        None => number::NO_VALUE.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Formats the p value that decides, with the name of its adjustment for several comparisons.
pub(crate) fn format_deciding_p(contrast: &MetricDifference, adjusted_by: Option<&str>) -> String {
    match (contrast.p_adjusted, adjusted_by) {
        (Some(adjusted), Some(name)) => format!("{} ({name})", format_p_value(Some(adjusted))),
        (adjusted, _) => format_p_value(adjusted.or(contrast.p)),
    }
}

fn render_headline_table(page: &mut ReportPage, comparison: &RunComparison, adjusted_by: Option<&str>) {
    const COLUMNS: [ReportColumn; 7] = [
        ReportColumn::left(""),
        ReportColumn::right("pairs"),
        ReportColumn::right("base"),
        ReportColumn::right("candidate"),
        ReportColumn::right("change"),
        ReportColumn::right("CI"),
        ReportColumn::right("p"),
    ];

    let row = |name: &str, contrast: &MetricDifference| {
        vec![
            ReportPiece::new(ReportTone::Strong, name),
            ReportPiece::plain(grouped(contrast.n as u64)),
            ReportPiece::plain(format_metric(contrast.base, contrast.unit)),
            ReportPiece::plain(format_metric(contrast.candidate, contrast.unit)),
            ReportPiece::plain(format_difference(contrast)),
            ReportPiece::plain(format_interval(contrast)),
            ReportPiece::plain(format_deciding_p(contrast, adjusted_by)),
        ]
    };

    render_table(
        page,
        0,
        &COLUMNS,
        &[row("pass rate", &comparison.pass_rate), row("mean score", &comparison.score)],
    );
    page.add_blank();
}

/// Formats a metric in its unit; a dash if it is undefined.
pub fn format_metric(value: Option<f64>, unit: MetricUnit) -> String {
    let format = match unit {
        MetricUnit::Rate => number::format_rate,
        MetricUnit::Score => number::format_score,
    };
    value.map_or_else(|| number::NO_VALUE.to_owned(), format)
}

pub(crate) fn format_interval(contrast: &MetricDifference) -> String {
    match (contrast.low, contrast.high) {
        (Some(low), Some(high)) => contrast.unit.format_interval(low, high),
        _ => number::NO_VALUE.to_owned(),
    }
}

/// Draws the axis of differences of a metric, in its unit.
pub fn difference_axis(axis: ChartAxis, unit: MetricUnit) -> String {
    axis_labels(axis, |value| match unit {
        _ if value == 0.0 => "0".to_owned(),
        MetricUnit::Rate => format!("{:+.0} pp", value * 100.0),
        MetricUnit::Score => format!("{value:+.2}"),
    })
}

/// Draws the axis that the rows of a table share; `None` if their metrics have several units.
pub fn shared_axis<'a>(
    axis: ChartAxis,
    rows: impl IntoIterator<Item = &'a MetricDifference>,
) -> Option<String> {
    let mut units = rows.into_iter().map(|row| row.unit);
    let first = units.next()?;
    units.all(|unit| unit == first).then(|| difference_axis(axis, first))
}

/// Names the method of each metric.
pub(crate) fn describe_methods(comparison: &RunComparison) -> String {
    let method_line = |name: &str, contrast: &MetricDifference| {
        if contrast.call == Conclusion::NotComparable {
            return format!("{name}: not compared");
        }

        let method = match contrast.interval_method.as_deref() {
            Some(method) => format!("CI by {}", in_brackets(method)),
            None => "no CI".to_owned(),
        };
        let clusters = contrast
            .clusters
            .map(|n| format!(" over {}", format_count(n as u64, "cluster", "clusters")))
            .unwrap_or_default();
        let test = match contrast.p {
            Some(_) => format!("p by {}", in_brackets(contrast.test)),
            None => "no p".to_owned(),
        };
        format!("{name}: {method}{clusters}, {test}")
    };
    let judges = if comparison.by_judges { " Judges decided." } else { "" };
    format!(
        "{}% CI. {}. {}.{judges}",
        number::format_plain(comparison.score.level * 100.0),
        method_line("Pass rate", &comparison.pass_rate),
        method_line("Mean score", &comparison.score)
    )
}

/// Puts the variant of a method in brackets, so that the name can be part of a comma-separated list: `McNemar
/// (exact)`.
fn in_brackets(method: &str) -> String {
    match method.split_once(", ") {
        Some((name, variant)) => format!("{name} ({variant})"),
        None => method.to_owned(),
    }
}

/// Returns the title of a table by groups.
pub(crate) fn table_title(parts: &ComparisonTable, adjusted_by: Option<&str>) -> String {
    let mut text = format!("By {}", parts.by);
    let mut about = Vec::new();
    if parts.rows.len() > 1 {
        about.push(match adjusted_by {
            Some(name) => {
                format!("p adjusted by {name} for {} comparisons, CI not adjusted", parts.rows.len())
            }
            None => format!("{} comparisons, p not adjusted", parts.rows.len()),
        });
    }

    if parts.too_small > 0 {
        let fewest = assize_analysis::claims::MIN_PAIRS;
        let (groups, are) = (
            format_count(parts.too_small as u64, "group", "groups"),
            if parts.too_small == 1 { "is" } else { "are" },
        );
        about.push(format!("{groups} with fewer than {fewest} pairs {are} not tested"));
    }
    if !about.is_empty() {
        let _ = write!(text, " ({})", about.join("; "));
    }

    text
}

fn render_group_table(
    page: &mut ReportPage,
    parts: &ComparisonTable,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
) {
    // A title without a table has no information about the runs.
    if parts.rows.is_empty() {
        return;
    }

    page.add_blank();
    page.add_paragraph(ReportPiece::new(ReportTone::Strong, table_title(parts, adjusted_by)));

    let brief = difference_columns("", adjusted_by.filter(|_| parts.rows.len() > 1).map_or("p", p_title));
    let lines: Vec<Vec<ReportPiece>> = parts
        .rows
        .iter()
        .take(limits.rows)
        .map(|row| {
            let contrast = &row.contrast;
            let mut cells = difference_row(&group_name(row, &parts.rows), contrast);
            if limits.details {
                let metric = |value| ReportPiece::plain(format_metric(value, contrast.unit));
                cells.splice(2..2, [metric(contrast.base), metric(contrast.candidate)]);
            }
            cells
        })
        .collect();
    if limits.details {
        let [_, pairs, change @ ..] = brief;
        let mut columns = vec![ReportColumn::shrinking(""), pairs];
        columns.extend([ReportColumn::right("base"), ReportColumn::right("candidate")]);
        columns.extend(change);
        render_table(page, 2, &columns, &lines);
    } else {
        render_table(page, 2, &brief, &lines);
    }

    render_remainder(page, parts.rows.len(), limits.rows);
}

/// Name of a group for people: the text of a criterion, if the run has it. If another row of the table has
/// the same text, the id follows it.
pub(crate) fn group_name(row: &ComparisonGroup, rows: &[ComparisonGroup]) -> String {
    let Some(text) = &row.text else { return row.name.clone() };
    let is_double = rows.iter().filter(|other| other.text.as_ref() == Some(text)).count() > 1;
    let avoided = if row.name.ends_with("(avoided)") { " (avoided)" } else { "" };
    if is_double { format!("{text} ({})", row.name) } else { format!("{text}{avoided}") }
}

fn render_remainder(page: &mut ReportPage, all: usize, limit: usize) {
    if all > limit {
        page.add_line(&[ReportPiece::new(
            ReportTone::Dim,
            format!("  and {} more: `--verbose`", grouped((all - limit) as u64)),
        )]);
    }
}

fn render_flips(page: &mut ReportPage, what: &str, flips: &[VerdictFlip], limits: ComparisonLimits) {
    if flips.is_empty() {
        return;
    }

    page.add_blank();
    page.add_line(&[ReportPiece::new(
        ReportTone::Strong,
        format!("{what} ({})", grouped(flips.len() as u64)),
    )]);

    if !limits.details {
        const COLUMNS: [ReportColumn; 3] =
            [ReportColumn::cut(""), ReportColumn::left(""), ReportColumn::cut("")];
        let row = |flip: &VerdictFlip| {
            let criteria: Vec<&str> = flip.criteria.iter().map(|one| one.criterion.as_str()).collect();
            vec![
                ReportPiece::untrusted_name(ReportTone::Strong, &flip.name()),
                ReportPiece::plain(format!("{} → {}", side_text(flip.base), side_text(flip.candidate))),
                ReportPiece::untrusted_name(ReportTone::Dim, &criteria.join(", ")),
            ]
        };
        let rows: Vec<_> = flips.iter().take(limits.flips).map(row).collect();
        render_table(page, 2, &COLUMNS, &rows);
        render_remainder(page, flips.len(), limits.flips);
        return;
    }

    for flip in flips.iter().take(limits.flips) {
        let mut line =
            vec![ReportPiece::plain("  "), ReportPiece::untrusted_name(ReportTone::Strong, &flip.name())];

        line.push(ReportPiece::plain("  "));
        line.extend(side_pieces(flip.base));
        line.push(ReportPiece::plain(" → "));
        line.extend(side_pieces(flip.candidate));
        page.add_text(&[], &line);

        for criterion in &flip.criteria {
            let name = sanitize::sanitize_text(&criterion.name(), sanitize::MAX_CRITERION_TEXT);
            page.add_text(
                &[ReportPiece::plain("    ")],
                &[
                    ReportPiece::plain(format!("{name}  ")),
                    ReportPiece::new(ReportTone::Dim, flip_values(criterion).join(" → ")),
                ],
            );

            for (who, reason) in
                [("base", &criterion.base_reason), ("candidate", &criterion.candidate_reason)]
            {
                if let Some(reason) = reason.as_deref().filter(|reason| !reason.trim().is_empty()) {
                    page.add_labelled(
                        ReportTone::Dim,
                        format!("      {who}: "),
                        ReportPiece::untrusted(ReportTone::Plain, reason, sanitize::MAX_QUOTE),
                    );
                }
            }
        }
    }

    render_remainder(page, flips.len(), limits.flips);
}

fn side_pieces(side: FlipSide) -> [ReportPiece; 2] {
    let mark = VerdictMark::for_verdict(side.verdict);
    [ReportPiece::new(mark.tone, mark.word), ReportPiece::plain(side_score(side))]
}

fn side_score(side: FlipSide) -> String {
    side.score.map_or_else(String::new, |score| format!(" {}", number::format_score(score)))
}

/// The verdict of a changed case on one side, with its score.
pub(crate) fn side_text(side: FlipSide) -> String {
    VerdictMark::for_verdict(side.verdict).word + &side_score(side)
}

/// Formats the values of a changed criterion in the base and in the candidate: met or unmet (for a penalty,
/// incurred or avoided), or its score; `not applicable` or `ungraded` if it has no value.
pub fn flip_values(criterion: &CriterionFlip) -> [String; 2] {
    let [base_applies, candidate_applies] = criterion.not_applicable.map(|is_not| !is_not);
    let sides = [(criterion.base, base_applies), (criterion.candidate, candidate_applies)];
    sides.map(|(value, applies)| match value {
        None if applies => "ungraded".to_owned(),
        None => "not applicable".to_owned(),
        Some(value) if !criterion.is_scored && (value == 0.0 || value == 1.0) => {
            outcome_word(value == 1.0, criterion.penalty).to_owned()
        }
        Some(value) => number::format_score(value),
    })
}

/// Describes a case that is incomplete on at least one side.
pub(crate) fn describe_incomplete(case: &IncompletePair) -> String {
    let describe_passed = |passed: Option<bool>| match passed {
        Some(true) => "passed",
        Some(false) => "not passed",
        None => "incomplete",
    };
    format!(
        "{} ({} → {})",
        sanitize::sanitize_name(&case.name.name()),
        describe_passed(case.base_passed),
        describe_passed(case.candidate_passed)
    )
}

fn render_case_lists(page: &mut ReportPage, comparison: &RunComparison, limit: usize) {
    let names = |cases: &[CaseName]| {
        cases.iter().take(limit).map(|case| sanitize::sanitize_name(&case.name())).collect()
    };
    let lists: [(&str, Vec<String>, usize); 3] = [
        (
            "Incomplete",
            comparison.incomplete.iter().take(limit).map(describe_incomplete).collect(),
            comparison.incomplete.len(),
        ),
        ("New", names(&comparison.new), comparison.new.len()),
        ("Missing", names(&comparison.gone), comparison.gone.len()),
    ];
    if lists.iter().any(|(_, names, _)| !names.is_empty()) {
        page.add_blank();
    }

    for (label, names, all) in lists {
        if names.is_empty() {
            continue;
        }

        let mut text = names.join(", ");
        if all > names.len() {
            let _ = write!(text, " and {} more", grouped((all - names.len()) as u64));
        }

        entry(page, label, ReportPiece::plain(text));
    }
}

/// Renders every run against every other: the change of the headline metric from the column's run to the
/// row's.
fn render_matrix(page: &mut ReportPage, many: &ComparisonSet, adjusted_by: Option<&str>) {
    page.add_rule("Each against each");
    let figure = many.comparisons.first().map_or("", |comparison| comparison.headline.name());
    let pairs = many.matrix.len() * many.matrix.len().saturating_sub(1) / 2;
    let adjusted = adjusted_by.map_or_else(
        || "p not adjusted".to_owned(),
        |name| format!("p adjusted by {name} for {pairs} comparisons"),
    );
    page.add_paragraph(ReportPiece::new(
        ReportTone::Dim,
        format!("Change of the {figure} from the run of the column to the run of the row; * significant ({adjusted})."),
    ));

    let mut lines = Vec::new();
    for (at, row) in many.matrix.iter().enumerate() {
        let mut line = vec![
            ReportPiece::plain(format!("{}", at + 1)),
            ReportPiece::untrusted_name(ReportTone::Strong, &many.runs[at]),
        ];
        for cell in row {
            line.push(match cell {
                None => ReportPiece::new(ReportTone::Dim, "·"),
                Some(contrast) => {
                    let shown = matches!(contrast.call, Conclusion::Better | Conclusion::Worse);
                    let text = format_difference(contrast);
                    ReportPiece::new(
                        conclusion_mark(contrast.call).1,
                        format!("{text}{}", if shown { "*" } else { " " }),
                    )
                }
            });
        }

        lines.push(line);
    }

    let columns: Vec<ReportColumn> = [ReportColumn::right(""), ReportColumn::shrinking("run")]
        .into_iter()
        .chain(MATRIX_TITLES.iter().take(many.runs.len()).map(|head| ReportColumn::right(head)))
        .collect();
    render_table(page, 0, &columns, &lines);

    if many.runs.len() > MATRIX_TITLES.len() {
        page.add_line(&[ReportPiece::new(
            ReportTone::Dim,
            format!("only the first {} columns are shown; `--json` has all", MATRIX_TITLES.len()),
        )]);
    }
}

/// Titles of a matrix's columns: the numbers of its rows.
const MATRIX_TITLES: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_apply_is_not_called_ungraded() {
        let mut flip = CriterionFlip {
            grader: "g".to_owned(),
            criterion: "c".to_owned(),
            text: String::new(),
            penalty: true,
            is_scored: false,
            base: None,
            candidate: Some(1.0),
            not_applicable: [true, false],
            base_reason: None,
            candidate_reason: None,
        };
        assert_eq!(flip_values(&flip), ["not applicable", "incurred"]);
        flip.not_applicable = [false, false];
        assert_eq!(flip_values(&flip), ["ungraded", "incurred"]);
    }

    #[test]
    fn an_axis_has_the_unit_of_its_metrics() {
        let axis = ChartAxis::around_zero([0.3]);
        assert!(difference_axis(axis, MetricUnit::Rate).contains(">-30 pp<"));
        assert!(difference_axis(axis, MetricUnit::Score).contains(">+0.30<"));
    }
}
