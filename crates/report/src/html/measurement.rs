//! The common form of calibrations and audits: measurements of judges as charts with their numbers.

use askama::Template;
use assize_analysis::MetricEstimate;
use assize_stats::{Interval, UndefinedReason};

use crate::chart::{ChartAxis, ChartTone, IntervalMark, axis_labels, interval_point};
use crate::metrics::MetricForm;
use crate::number::{UNDEFINED, grouped, no_interval};
use crate::sanitize::{cut_text, escape_lines};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// Measurements, block by block.
#[derive(Template)]
#[template(path = "measurement.html")]
pub(super) struct MeasurementView {
    pub(super) title: String,
    pub(super) lead: Vec<ToneLine>,
    pub(super) blocks: Vec<MeasurementBlock>,
}

/// A sentence with the class of its tone.
pub(super) struct ToneLine {
    pub(super) class: &'static str,
    pub(super) text: String,
}

impl ToneLine {
    pub(super) fn new(class: &'static str, text: impl AsRef<str>) -> Self {
        Self { class, text: escape_lines(text.as_ref()) }
    }
}

/// Measurements under one heading.
#[derive(Default)]
pub(super) struct MeasurementBlock {
    pub(super) heading: String,
    pub(super) lines: Vec<ToneLine>,
    /// Captions with their charts.
    pub(super) charts: Vec<(&'static str, String)>,
    pub(super) tables: Vec<MetricTable>,
}

/// Metrics as rows of a forest plot.
pub(super) struct MetricTable {
    pub(super) caption: String,
    /// Heading of the first column.
    pub(super) first: &'static str,
    pub(super) axis: String,
    pub(super) rows: Vec<MetricRow>,
}

pub(super) struct MetricRow {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) chart: String,
    pub(super) interval: String,
    pub(super) n: String,
    pub(super) says: String,
}

/// A metric with its name in a table.
pub(super) struct NamedMetric {
    pub(super) name: String,
    /// Format of its value.
    pub(super) form: MetricForm,
    pub(super) value: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
    /// Why the metric or its interval is undefined; empty if both are defined.
    pub(super) undefined: String,
    /// Size of the sample, with the unit.
    pub(super) n: String,
    pub(super) says: String,
}

impl From<&MetricEstimate> for NamedMetric {
    fn from(metric: &MetricEstimate) -> Self {
        Self {
            form: MetricForm::new(metric),
            n: format!("{} {}", grouped(metric.n), metric.of),
            says: metric.says.to_owned(),
            ..Self::new(metric.name, metric.value, metric.interval)
        }
    }
}

impl NamedMetric {
    /// Creates a metric from its value and its interval only.
    pub(super) fn new(
        name: impl Into<String>,
        value: Result<f64, UndefinedReason>,
        interval: Result<Interval, UndefinedReason>,
    ) -> Self {
        let undefined = match (value, interval) {
            (Err(reason), _) => reason.to_string(),
            (Ok(_), Err(reason)) => no_interval(reason),
            (Ok(_), Ok(_)) => String::new(),
        };
        Self {
            name: name.into(),
            form: MetricForm::Number,
            value: value.ok(),
            interval: interval.ok().map(|found| (found.low, found.high)),
            undefined,
            n: String::new(),
            says: String::new(),
        }
    }

    /// The value and the ends of the interval, if they are defined.
    fn ends(&self) -> impl Iterator<Item = f64> {
        [self.value, self.interval.map(|ends| ends.0), self.interval.map(|ends| ends.1)].into_iter().flatten()
    }
}

impl MetricTable {
    /// Creates a table of metrics on one axis: from 0 to 1, or from -1 to 1 if a value is negative. Metrics
    /// beyond that are not drawn.
    pub(super) fn new(caption: impl Into<String>, first: &'static str, metrics: &[NamedMetric]) -> Self {
        let mut drawn = metrics.iter().filter(|metric| is_drawn(metric)).flat_map(NamedMetric::ends);
        let is_signed = drawn.any(|value| value < 0.0);
        let axis = if is_signed { ChartAxis::SIGNED } else { ChartAxis::UNIT };
        Self::on_axis(caption, first, metrics, axis)
    }

    /// Creates a table of differences, drawn around 0.
    pub(super) fn of_differences(
        caption: impl Into<String>,
        first: &'static str,
        metrics: &[NamedMetric],
    ) -> Self {
        let ends = metrics.iter().flat_map(NamedMetric::ends);
        Self::on_axis(caption, first, metrics, ChartAxis::around_zero(ends))
    }

    fn on_axis(
        caption: impl Into<String>,
        first: &'static str,
        metrics: &[NamedMetric],
        axis: ChartAxis,
    ) -> Self {
        Self {
            caption: caption.into(),
            first,
            axis: axis_labels(axis, |value| shared_form(metrics).format_short(value)),
            rows: metrics.iter().map(|metric| row(metric, axis)).collect(),
        }
    }
}

/// Returns the format that all metrics share; a plain number if they differ.
fn shared_form(metrics: &[NamedMetric]) -> MetricForm {
    let first = metrics.first().map_or(MetricForm::Number, |metric| metric.form);
    if metrics.iter().all(|metric| metric.form == first) { first } else { MetricForm::Number }
}

/// Returns true if a metric fits on an axis that ends at 1.
fn is_drawn(metric: &NamedMetric) -> bool {
    metric.value.is_some_and(|value| ChartAxis::SIGNED.contains(value))
}

fn row(metric: &NamedMetric, axis: ChartAxis) -> MetricRow {
    let name = escape_lines(&cut_text(&metric.name, MAX_NAME));
    let value = metric.value.map_or_else(|| UNDEFINED.to_owned(), |value| metric.form.format(value));
    let range = metric.interval.map(|ends| metric.form.format_range(ends));
    let interval = range.unwrap_or_else(|| metric.undefined.clone());
    let title = format!("{name} {value}, interval {interval}");
    let is_within = metric.value.is_some_and(|value| axis.contains(value));
    let mark = IntervalMark {
        value: metric.value,
        interval: metric.interval,
        tone: ChartTone::Plain,
        title: &title,
    };

    MetricRow {
        chart: if is_within { interval_point(axis, mark, Some(0.0)) } else { String::new() },
        name,
        value,
        interval,
        n: metric.n.clone(),
        says: escape_lines(&metric.says),
    }
}
