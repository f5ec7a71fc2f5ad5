//! Metrics with their intervals: as lines of text and as JSON.

use assize_analysis::Figure;
use assize_stats::{ClusteredMean, Interval, Proportion, Undefined};
use serde_json::{Value, json};

use crate::number::grouped;
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Formats a number with three decimals, or with one if it is at least 100.
pub(crate) fn value(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.1}") } else { format!("{value:.3}") }
}

/// Formats a p value; one too small for three decimals gets an exponent.
pub(crate) fn chance(p: f64) -> String {
    if p > 0.0 && p < 0.0005 { format!("{p:.1e}") } else { format!("{p:.3}") }
}

/// Formats a value, or "undefined".
pub(crate) fn or_undefined(found: Result<f64, Undefined>) -> String {
    found.map_or_else(|_| "undefined".to_owned(), value)
}

/// Formats `low to high`; empty if there is no interval.
pub(crate) fn range(interval: Result<Interval, Undefined>) -> String {
    interval.map_or_else(|_| String::new(), |found| format!("{} to {}", value(found.low), value(found.high)))
}

/// Formats a share of counts: `12 of 20, 0.600 (0.387 to 0.781)`.
pub(crate) fn share(found: &Proportion) -> String {
    let counts = format!("{} of {}", grouped(found.successes), grouped(found.n));
    match (found.rate, found.interval) {
        (Ok(rate), Ok(interval)) => {
            format!("{counts}, {} ({} to {})", value(rate), value(interval.low), value(interval.high))
        }
        (Ok(rate), Err(_)) => format!("{counts}, {}", value(rate)),
        (Err(reason), _) => format!("{counts}: undefined, because {reason}"),
    }
}

/// Renders metrics one per line, each with its interpretation.
pub(crate) fn figure_lines(page: &mut Page, figures: &[Figure]) {
    let names = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    let ranges = figures.iter().map(|figure| range(figure.interval).len()).max().unwrap_or(0);
    let numbers = figures.iter().map(|figure| or_undefined(figure.value).len()).max().unwrap_or(0);
    for figure in figures {
        let name = format!("  {:<names$}  ", figure.name);
        let (tone, number) = match figure.value {
            Ok(found) => (Tone::Strong, value(found)),
            Err(_) => (Tone::Open, "undefined".to_owned()),
        };
        let around = match (figure.value, figure.interval) {
            (Err(reason), _) => format!("  because {reason}"),
            (Ok(_), Err(reason)) => format!("  no interval: {reason}"),
            (Ok(_), Ok(_)) => format!("  {:<ranges$}", range(figure.interval)),
        };
        let n = format!("  {} {}", grouped(figure.n), figure.of);
        page.text(
            &[Piece::plain(name)],
            &[
                Piece::new(tone, format!("{number:>numbers$}")),
                Piece::plain(around),
                Piece::new(Tone::Dim, n),
            ],
        );
        page.text(&[Piece::plain("      ")], &[Piece::new(Tone::Dim, figure.says)]);
    }
}

/// Adds an interval to an object; null with the reason if there is none.
fn put_interval(object: &mut Value, interval: Result<Interval, Undefined>) {
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
pub(crate) fn with_interval(
    found: Result<f64, Undefined>,
    interval: Result<Interval, Undefined>,
    n: u64,
) -> Value {
    let mut object = json!({ "value": found.ok(), "n": n });
    if let Err(reason) = found {
        object["undefined"] = reason.to_string().into();
    }
    put_interval(&mut object, interval);
    object
}

/// Converts metrics to an object keyed by id.
pub(crate) fn figures_json(figures: &[Figure]) -> Value {
    let one = |figure: &Figure| {
        let mut object = with_interval(figure.value, figure.interval, figure.n);
        object["of"] = figure.of.into();
        object["name"] = figure.name.into();
        object["says"] = figure.says.into();
        (figure.id.to_owned(), object)
    };
    Value::Object(figures.iter().map(one).collect())
}

/// Converts a share of counts to an object.
pub(crate) fn share_json(found: &Proportion) -> Value {
    let mut object = with_interval(found.rate, found.interval, found.n);
    object["count"] = found.successes.into();
    object
}

/// Converts a mean with its clustered error to an object.
pub(crate) fn clustered_json(found: &Result<ClusteredMean, Undefined>) -> Value {
    match found {
        Ok(found) => {
            let mut object = with_interval(Ok(found.mean), found.interval, found.n as u64);
            object["clusters"] = found.clusters.into();
            object["se"] = found.se_cr1.ok().into();
            object["se_cr0"] = found.se_cr0.ok().into();
            object["se_independent"] = found.se_independent.ok().into();
            object
        }
        Err(reason) => json!({ "value": null, "undefined": reason.to_string() }),
    }
}
