//! Metrics that eval files derive from named scores: a line for each target and prompt.

use assize_store::DerivedMetric;

use crate::number::{UNDEFINED, format_plain, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Longest text of a name, in characters.
const MAX_NAME: usize = 80;
/// Longest reason, in characters.
const MAX_REASON: usize = 160;

/// Note beside a value without an interval. Resampling does not work for every formula: with few cases, many
/// resamples leave it undefined.
const NO_INTERVAL: &str = "no CI";

/// Texts of a derived metric. They may contain anything and must still be escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedMetricText {
    /// Name.
    pub name: String,
    /// Value; `undefined` if there is none.
    pub value: String,
    /// Why the value is undefined, with its bounds; for a value, the note that it has no interval.
    pub reason: String,
    /// Target, prompt and suite; each only if there are several.
    pub of: String,
    /// Number of results.
    pub results: String,
    /// Formula.
    pub formula: String,
}

impl DerivedMetricText {
    /// Returns the texts with everything that others wrote made safe for a page by `shown`.
    #[must_use]
    pub fn escaped(self, shown: impl Fn(&str) -> String) -> Self {
        Self {
            name: shown(&self.name),
            reason: shown(&self.reason),
            of: shown(&self.of),
            formula: shown(&self.formula),
            ..self
        }
    }
}

/// Formats derived metrics.
pub fn derived_metric_texts(metrics: &[DerivedMetric]) -> Vec<DerivedMetricText> {
    let several_suites = metrics.iter().any(|metric| metric.suite != metrics[0].suite);
    metrics.iter().map(|metric| text(metric, several_suites)).collect()
}

fn text(metric: &DerivedMetric, several_suites: bool) -> DerivedMetricText {
    let suite = Some(&metric.suite).filter(|_| several_suites);
    let of: Vec<&str> = [suite, metric.target.as_ref(), metric.prompt.as_ref()]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let reason = match (&metric.undefined, metric.bounds) {
        (None, _) => NO_INTERVAL.to_owned(),
        (Some(reason), None) => reason.clone(),
        (Some(reason), Some([low, high])) => {
            format!("between {} and {}: {reason}", format_plain(low), format_plain(high))
        }
    };

    DerivedMetricText {
        name: metric.name.clone(),
        value: metric.value.map_or_else(|| UNDEFINED.to_owned(), format_plain),
        reason,
        of: of.join(" · "),
        results: grouped(metric.n),
        formula: metric.formula.clone(),
    }
}

/// Renders derived metrics, a line each.
pub(crate) fn render_derived(page: &mut ReportPage, metrics: &[DerivedMetric]) {
    if metrics.is_empty() {
        return;
    }

    let lines: Vec<Vec<ReportPiece>> = derived_metric_texts(metrics)
        .into_iter()
        .zip(metrics)
        .map(|(text, metric)| {
            let tone = if metric.value.is_some() { ReportTone::Strong } else { ReportTone::Open };
            vec![
                ReportPiece::plain(sanitize::sanitize_text(&text.name, MAX_NAME)),
                ReportPiece::new(tone, text.value),
                ReportPiece::plain(sanitize::sanitize_text(&text.of, 3 * MAX_NAME)),
                ReportPiece::plain(text.results),
                ReportPiece::new(ReportTone::Dim, sanitize::sanitize_text(&text.reason, MAX_REASON)),
            ]
        })
        .collect();

    page.add_blank();
    let columns = [
        ReportColumn::shrinking("derived metric").naming_row(),
        ReportColumn::right("value"),
        ReportColumn::shrinking("of"),
        ReportColumn::right("results"),
        ReportColumn::shrinking("note"),
    ];
    render_table(page, 2, &columns, &lines);
}
