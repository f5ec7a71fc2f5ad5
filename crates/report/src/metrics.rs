//! Metrics with their intervals: as lines of text and as JSON.

use assize_analysis::MetricEstimate;
use assize_analysis::compare::MetricUnit;
use assize_stats::{ClusteredMean, Interval, Proportion, UndefinedReason};
use serde_json::{Value, json};

use crate::number::{
    NO_VALUE, UNDEFINED, format_plain, format_rate, grouped, no_interval, undefined_because,
};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;

/// Formats a number with three decimals, or with one if it is at least 100.
pub(crate) fn format_value(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.1}") } else { format!("{value:.3}") }
}

/// Formats a p value; one too small for three decimals gets an exponent.
pub(crate) fn format_p_value(p: f64) -> String {
    if p > 0.0 && p < 0.0005 { format!("{p:.1e}") } else { format!("{p:.3}") }
}

/// Formats a value, or "undefined".
pub(crate) fn format_or_undefined(found: Result<f64, UndefinedReason>) -> String {
    found.map_or_else(|_| UNDEFINED.to_owned(), format_value)
}

/// Formats `low to high`, or a dash.
pub(crate) fn format_range(interval: Result<Interval, UndefinedReason>) -> String {
    interval.map_or_else(
        |_| NO_VALUE.to_owned(),
        |found| format!("{} to {}", format_value(found.low), format_value(found.high)),
    )
}

/// Formats a share of counts: `12 of 20, 60% (38.7% to 78.1%)`.
pub(crate) fn format_share(found: &Proportion) -> String {
    let counts = format!("{} of {}", grouped(found.successes), grouped(found.n));
    match (found.rate, found.interval) {
        (Ok(rate), Ok(interval)) => {
            format!(
                "{counts}, {} ({} to {})",
                format_rate(rate),
                format_rate(interval.low),
                format_rate(interval.high)
            )
        }
        (Ok(rate), Err(_)) => format!("{counts}, {}", format_rate(rate)),
        (Err(reason), _) => format!("{counts}: {}", undefined_because(reason)),
    }
}

/// Formats a rate, or "undefined".
pub(crate) fn format_defined_rate(rate: Result<f64, UndefinedReason>) -> String {
    rate.map_or_else(|_| format_or_undefined(rate), format_rate)
}

/// Formats an interval of a rate, or a dash.
pub(crate) fn format_rate_range(interval: Result<Interval, UndefinedReason>) -> String {
    interval.map_or_else(
        |_| NO_VALUE.to_owned(),
        |found| format!("{} to {}", format_rate(found.low), format_rate(found.high)),
    )
}

/// Metrics that are shares of a count.
const SHARES: [&str; 10] = [
    "accuracy", "sensitivity", "specificity", "prevalence", "win", "loss", "tie", "inconsistent", "flips",
    "noise",
];
/// Metrics that are a share minus another one.
const SHARE_DIFFERENCES: [&str; 4] = ["beyond_noise", "beyond_control", "first_place", "last_place"];

/// Form in which a metric is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricForm {
    /// A percentage.
    Share,
    /// Percentage points, with their sign.
    Points,
    /// A number with decimals.
    Number,
}

impl MetricForm {
    /// Returns the form of a metric.
    pub(crate) fn new(metric: &MetricEstimate) -> Self {
        match metric.id {
            // In comparisons of pairs this metric is a share of decisions; in audits of order it is a
            // difference.
            "first_place" if metric.name.starts_with("decisions") => Self::Share,
            id if SHARES.contains(&id) => Self::Share,
            id if SHARE_DIFFERENCES.contains(&id) => Self::Points,
            _ => Self::Number,
        }
    }

    /// Formats a value.
    pub(crate) fn format(self, value: f64) -> String {
        match self {
            Self::Share => format_rate(value),
            Self::Points => MetricUnit::Rate.format_change(value),
            Self::Number => format_value(value),
        }
    }

    /// Formats a number for an axis, with as few decimals as possible.
    pub(crate) fn format_short(self, value: f64) -> String {
        match self {
            Self::Share => format!("{}%", format_plain(value * 100.0)),
            Self::Points if value != 0.0 => format!("{:+.0} pp", value * 100.0),
            _ => format_plain(value),
        }
    }

    /// Formats an interval.
    pub(crate) fn format_range(self, (low, high): (f64, f64)) -> String {
        match self {
            Self::Points => MetricUnit::Rate.format_interval(low, high),
            _ => format!("{} to {}", self.format(low), self.format(high)),
        }
    }
}

/// Formats the value of a metric in its form, or "undefined".
pub(crate) fn format_metric_value(metric: &MetricEstimate) -> String {
    metric.value.map_or_else(|_| UNDEFINED.to_owned(), |value| MetricForm::new(metric).format(value))
}

/// Formats the interval of a metric like its value, or a dash.
pub(crate) fn format_metric_range(metric: &MetricEstimate) -> String {
    let form = MetricForm::new(metric);
    metric.interval.map_or_else(|_| String::new(), |found| form.format_range((found.low, found.high)))
}

/// Renders metrics one per line, each with its interpretation if they are to be explained.
pub(crate) fn render_metrics(page: &mut ReportPage, figures: &[MetricEstimate], explained: bool) {
    let names = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    let ranges = figures.iter().map(|figure| format_metric_range(figure).len()).max().unwrap_or(0);
    let numbers = figures.iter().map(|figure| format_metric_value(figure).len()).max().unwrap_or(0);
    for figure in figures {
        let name = format!("  {:<names$}  ", figure.name);
        let tone = if figure.value.is_ok() { ReportTone::Strong } else { ReportTone::Open };
        let number = format_metric_value(figure);
        let around = match (figure.value, figure.interval) {
            (Err(reason), _) => ReportPiece::plain(reason.to_string()),
            (Ok(_), Err(reason)) => ReportPiece::plain(no_interval(reason)),
            (Ok(_), Ok(_)) => {
                ReportPiece::plain(format!("{:<ranges$}", format_metric_range(figure))).unbroken()
            }
        };

        let unit = if figure.n == 1 { figure.of.trim_end_matches('s') } else { figure.of };
        page.add_text(
            &[ReportPiece::plain(name)],
            &[
                ReportPiece::new(tone, format!("{number:>numbers$}")).unbroken(),
                ReportPiece::plain("  "),
                around,
                ReportPiece::plain("  "),
                ReportPiece::new(ReportTone::Dim, format!("{} {unit}", grouped(figure.n))).unbroken(),
            ],
        );

        if explained {
            page.add_indented(6, ReportPiece::new(ReportTone::Dim, figure.says));
        }
    }
}

/// Adds an interval to an object; null with the reason if there is none.
fn insert_interval(object: &mut Value, interval: Result<Interval, UndefinedReason>) {
    match interval {
        Ok(found) => {
            object["low"] = found.low.into();
            object["high"] = found.high.into();
            object["level"] = found.level.get().into();
            object["method"] = found.method.name().into();
        }
        Err(reason) => {
            object["low"] = Value::Null;
            object["high"] = Value::Null;
            object["no_interval"] = reason.to_string().into();
        }
    }
}

/// Converts a value with its interval to an object.
pub(crate) fn value_json(
    found: Result<f64, UndefinedReason>,
    interval: Result<Interval, UndefinedReason>,
    n: u64,
) -> Value {
    let mut object = json!({ "value": found.ok(), "n": n });
    if let Err(reason) = found {
        object["undefined"] = reason.to_string().into();
    }

    insert_interval(&mut object, interval);
    object
}

/// Converts metrics to an object keyed by id.
pub(crate) fn metrics_json(figures: &[MetricEstimate]) -> Value {
    let one = |figure: &MetricEstimate| {
        let mut object = value_json(figure.value, figure.interval, figure.n);
        object["of"] = figure.of.into();
        object["name"] = figure.name.into();
        object["says"] = figure.says.into();
        (figure.id.to_owned(), object)
    };
    Value::Object(figures.iter().map(one).collect())
}

/// Converts a share of counts to an object.
pub(crate) fn share_json(found: &Proportion) -> Value {
    let mut object = value_json(found.rate, found.interval, found.n);
    object["count"] = found.successes.into();
    object
}

/// Converts a mean with its clustered error to an object.
pub(crate) fn clustered_json(found: &Result<ClusteredMean, UndefinedReason>) -> Value {
    match found {
        Ok(found) => {
            let mut object = value_json(Ok(found.mean), found.interval, found.n as u64);
            object["clusters"] = found.clusters.into();
            object["se"] = found.se_cr1.ok().into();
            object["se_cr0"] = found.se_cr0.ok().into();
            object["se_independent"] = found.se_independent.ok().into();

            object
        }
        Err(reason) => json!({ "value": null, "undefined": reason.to_string() }),
    }
}
