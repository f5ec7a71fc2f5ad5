//! The comparison with a baseline: metrics with the intervals of their differences, then the changed cases.

use askama::Template;
use assize_analysis::compare::{
    ComparisonGroup, ComparisonSet, Conclusion, CriterionFlip, MetricDifference, RunComparison, VerdictFlip,
};

use crate::chart::{ChartAxis, ChartTone, IntervalMark, interval_point};
use crate::comparison::{
    describe_conclusions, describe_methods, difference_axis, flip_values, format_case_counts,
    format_deciding_p, format_difference, format_interval, format_metric, format_rescored, group_name,
    shared_axis, side_text, table_title,
};
use crate::sanitize::{cut_text, escape_lines};

/// Maximum number of rows of a table of groups.
const MAX_ROWS: usize = 100;
/// Maximum number of regressions, and of improvements.
const MAX_FLIPS: usize = 200;
/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 600;

/// Comparison of a run with its baseline.
#[derive(Template)]
#[template(path = "comparison.html")]
pub(super) struct ComparisonView {
    base: String,
    candidate: String,
    base_result: String,
    candidate_result: String,
    /// Each with its class; those corrected by people's labels come first.
    conclusions: Vec<(&'static str, String)>,
    counts: String,
    /// What people's labels, other weights or differences between the runs mean for the comparison.
    notes: Vec<String>,
    metrics: Vec<DifferenceView>,
    tables: Vec<GroupTableView>,
    flips: Vec<FlipListView>,
    /// Caution about choosing the best of several candidates.
    selection: Option<String>,
    methods: String,
}

struct GroupTableView {
    title: String,
    /// Axis shared by all rows; empty if each row has its own.
    axis: String,
    rows: Vec<DifferenceView>,
    more: usize,
}

struct DifferenceView {
    name: String,
    pairs: usize,
    base: String,
    candidate: String,
    change: String,
    interval: String,
    /// Axis of the chart; empty if the table has a shared one.
    axis: String,
    chart: String,
    p: String,
    call: &'static str,
    class: &'static str,
    says: String,
}

struct FlipListView {
    title: &'static str,
    count: usize,
    open: bool,
    flips: Vec<FlipView>,
    more: usize,
}

struct FlipView {
    case: String,
    base: String,
    candidate: String,
    criteria: Vec<CriterionFlipView>,
}

struct CriterionFlipView {
    text: String,
    base: String,
    candidate: String,
    base_reason: String,
    candidate_reason: String,
}

/// The comparisons of a set, in order.
pub(super) fn comparison_views(set: &ComparisonSet, adjusted_by: Option<&str>) -> Vec<ComparisonView> {
    set.comparisons.iter().map(|comparison| ComparisonView::new(set, comparison, adjusted_by)).collect()
}

impl ComparisonView {
    fn new(set: &ComparisonSet, comparison: &RunComparison, adjusted_by: Option<&str>) -> Self {
        let labelled = set.labelled_of(comparison);
        let differences = [("Pass rate", &comparison.pass_rate), ("Mean score", &comparison.score)];
        let rows = comparison.tables.iter().flat_map(|table| table.rows.iter().take(MAX_ROWS));
        let all = differences.iter().map(|(_, difference)| *difference).chain(rows.map(|row| &row.contrast));
        let ends = all.flat_map(|one| [one.difference, one.low, one.high]).flatten();
        let axis = ChartAxis::around_zero(ends);

        let tables = comparison.tables.iter().filter(|table| !table.rows.is_empty()).map(|table| {
            let rows = table.rows.iter().take(MAX_ROWS);
            let shared = shared_axis(axis, rows.clone().map(|row| &row.contrast));
            let own = shared.is_none();
            GroupTableView {
                title: table_title(table, adjusted_by),
                axis: shared.unwrap_or_default(),
                rows: rows
                    .map(|row| {
                        difference_view(&name_of(row, &table.rows), &row.contrast, adjusted_by, axis, own)
                    })
                    .collect(),
                more: table.rows.len().saturating_sub(MAX_ROWS),
            }
        });
        let by_people =
            labelled.iter().map(|found| format!("By people's labels: {}", escape_lines(&found.says)));
        let rescored = set.rescored_with.iter().map(|with| format!("Runs {}.", format_rescored(with)));
        let mismatches = comparison.mismatches.iter().map(|mismatch| {
            format!(
                "Not comparable ({}): {}",
                mismatch.aspect.name(),
                escape_lines(&mismatch.describe(comparison.common))
            )
        });

        Self {
            base: escape_lines(&comparison.base),
            candidate: escape_lines(&comparison.candidate),
            conclusions: describe_conclusions(comparison, &labelled)
                .into_iter()
                .map(|(call, basis)| (class(call), format!("{} {basis}", call.words())))
                .collect(),
            base_result: escape_lines(&comparison.base_result),
            candidate_result: escape_lines(&comparison.candidate_result),
            counts: format_case_counts(comparison),
            notes: by_people.chain(rescored).chain(mismatches).collect(),
            metrics: differences
                .map(|(name, one)| difference_view(name, one, adjusted_by, axis, true))
                .into(),
            flips: [
                flip_list("Regressions", &comparison.regressions, true),
                flip_list("Improvements", &comparison.improvements, false),
            ]
            .into_iter()
            .filter(|list| list.count > 0)
            .collect(),
            tables: tables.collect(),
            selection: set.selection.as_ref().map(|chosen| chosen.says.clone()),
            methods: describe_methods(comparison),
        }
    }
}

fn name_of(row: &ComparisonGroup, rows: &[ComparisonGroup]) -> String {
    escape_lines(&cut_text(&group_name(row, rows), MAX_TEXT))
}

const fn class(call: Conclusion) -> &'static str {
    match call {
        Conclusion::Better => ChartTone::Good.class(),
        Conclusion::Worse | Conclusion::NotComparable => ChartTone::Bad.class(),
        Conclusion::Equivalent | Conclusion::NoDifference => ChartTone::Plain.class(),
        Conclusion::Inconclusive => ChartTone::Open.class(),
    }
}

/// Row of a metric, with or without its own axis.
fn difference_view(
    name: &str,
    found: &MetricDifference,
    adjusted_by: Option<&str>,
    axis: ChartAxis,
    has_axis: bool,
) -> DifferenceView {
    let change = format_difference(found);
    let interval = format_interval(found);
    let tone = match found.call {
        Conclusion::Better => ChartTone::Good,
        Conclusion::Worse => ChartTone::Bad,
        _ => ChartTone::Plain,
    };
    let title = format!("{name}: change {change}, interval {interval}");
    let mark =
        IntervalMark { value: found.difference, interval: found.low.zip(found.high), tone, title: &title };

    DifferenceView {
        name: name.to_owned(),
        pairs: found.n,
        base: format_metric(found.base, found.unit),
        candidate: format_metric(found.candidate, found.unit),
        axis: if has_axis { difference_axis(axis, found.unit) } else { String::new() },
        chart: interval_point(axis, mark, Some(0.0)),
        change,
        interval,
        p: format_deciding_p(found, adjusted_by),
        call: found.call.words(),
        class: class(found.call),
        says: escape_lines(&found.says),
    }
}

fn flip_list(title: &'static str, flips: &[VerdictFlip], open: bool) -> FlipListView {
    FlipListView {
        title,
        count: flips.len(),
        open,
        flips: flips.iter().take(MAX_FLIPS).map(flip_view).collect(),
        more: flips.len().saturating_sub(MAX_FLIPS),
    }
}

fn flip_view(flip: &VerdictFlip) -> FlipView {
    FlipView {
        case: escape_lines(&flip.name()),
        base: side_text(flip.base),
        candidate: side_text(flip.candidate),
        criteria: flip.criteria.iter().map(criterion_view).collect(),
    }
}

fn criterion_view(flip: &CriterionFlip) -> CriterionFlipView {
    let reason = |reason: &Option<String>| {
        escape_lines(&cut_text(reason.as_deref().unwrap_or_default().trim(), MAX_TEXT))
    };

    let [base, candidate] = flip_values(flip);
    CriterionFlipView {
        text: escape_lines(&cut_text(&flip.name(), MAX_TEXT)),
        base,
        candidate,
        base_reason: reason(&flip.base_reason),
        candidate_reason: reason(&flip.candidate_reason),
    }
}
