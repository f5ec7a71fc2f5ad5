//! Texts and small charts of pages.

use std::fmt;

use assize_report::chart::ChartAxis;
use assize_report::{UNDEFINED, format_rate, format_score, outcome_word};
use assize_rubric::{OutcomeKind, Verdict};
use assize_store::EstimatedMetric;
use serde::Serialize;

use crate::index::{CaseStatus, CriterionEntry};
use crate::picture::interval_picture;

/// Escapes characters that are invisible or reorder text, such as terminal escape sequences; line breaks and
/// tabs stay.
pub(crate) use assize_report::escape_lines as visible;

/// A sentence with names in back-ticks, which a page shows in quotation marks.
pub(crate) fn sentence(text: &str) -> String {
    let mut is_open = false;
    let shown = visible(text);
    let quoted = shown.chars().map(|character| match character {
        '`' => {
            is_open = !is_open;
            if is_open { '“' } else { '”' }
        }
        other => other,
    });
    quoted.collect()
}

/// A score, or the bounds of an unknown one.
pub(crate) fn range_text(score: Option<f64>, bounds: Option<(f64, f64)>) -> String {
    match (score, bounds) {
        (Some(score), _) => format_score(score),
        (None, Some((low, high))) => format!("{}–{}", format_score(low), format_score(high)),
        (None, None) => String::new(),
    }
}

/// Sign, word and style class of a verdict or outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ResultMark {
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) word: String,
}

impl ResultMark {
    pub(crate) fn new(class: &'static str, sign: &'static str, word: impl Into<String>) -> Self {
        Self { class, sign, word: word.into() }
    }

    /// The result of a run in one line, with the mark of its exit code.
    pub(crate) fn of_run(exit_code: Option<u8>, result: &str) -> Self {
        let (class, sign) = match exit_code {
            Some(0) => ("good", "✓"),
            Some(1) => ("bad", "✗"),
            _ => ("open", "?"),
        };
        Self::new(class, sign, visible(result))
    }

    pub(crate) fn of_verdict(verdict: Verdict) -> Self {
        Self::of_status(CaseStatus::new(verdict, false))
    }

    pub(crate) fn of_status(status: CaseStatus) -> Self {
        let (class, sign) = match status {
            CaseStatus::Pass => ("good", "✓"),
            CaseStatus::Borderline => ("middling", "≈"),
            CaseStatus::Fail => ("bad", "✗"),
            CaseStatus::Incomplete => ("open", "?"),
            CaseStatus::Skipped => ("open", "–"),
        };
        Self::new(class, sign, status.name())
    }

    pub(crate) fn of_criterion(criterion: CriterionEntry) -> Self {
        let points = criterion.points.map(f64::from);
        Self::of_outcome(criterion.outcome, points, criterion.is_penalty, criterion.is_negated)
    }

    /// An outcome with its score from 0 to 10, if it has one. A penalty is incurred or avoided; a negated
    /// criterion is met when its text is not.
    pub(crate) fn of_outcome(
        outcome: OutcomeKind,
        points: Option<f64>,
        is_penalty: bool,
        is_negated: bool,
    ) -> Self {
        match outcome {
            OutcomeKind::Met | OutcomeKind::Unmet => {
                let is_met = (outcome == OutcomeKind::Met) != is_negated;
                let (class, sign) = if is_met == is_penalty { ("bad", "✗") } else { ("good", "✓") };
                Self::new(class, sign, outcome_word(is_met, is_penalty))
            }
            OutcomeKind::Scored => {
                let word =
                    points.map_or_else(|| "scored".to_owned(), |points| format!("{}/10", trim(points)));
                Self::new("middling", "•", word)
            }
            OutcomeKind::NotApplicable => Self::new("dim", "–", "n/a"),
            OutcomeKind::Ungraded => Self::new("open", "?", "ungraded"),
        }
    }
}

impl fmt::Display for ResultMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, sign, word } = self;
        write!(f, r#"<span class="mark {class}"><span aria-hidden="true">{sign}</span>&nbsp;{word}</span>"#)
    }
}

/// A number with at most two decimals, truncated rather than rounded.
fn trim(points: f64) -> String {
    let text = format!("{:.2}", (points * 100.0).floor() / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `2026-01-02 15:30` from a time in RFC 3339.
pub(crate) fn minute(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}

/// A metric as a page shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetricText {
    /// The value, or `undefined`.
    pub(crate) value: String,
    /// `low to high`; empty if it is undefined.
    pub(crate) interval: String,
    /// Why the metric or its interval is undefined.
    pub(crate) undefined: String,
    pub(crate) n: u64,
    /// Chart of the interval between 0 and 1, as SVG.
    pub(crate) picture: String,
}

impl MetricText {
    /// A share, as percentages.
    pub(crate) fn rate(metric: &EstimatedMetric) -> Self {
        Self::new(metric, format_rate)
    }

    /// A mean of scores from 0 to 1.
    pub(crate) fn score(metric: &EstimatedMetric) -> Self {
        Self::new(metric, format_score)
    }

    fn new(metric: &EstimatedMetric, format: fn(f64) -> String) -> Self {
        let interval = metric.low.zip(metric.high);
        Self {
            value: metric.value.map_or_else(|| UNDEFINED.to_owned(), format),
            interval: interval
                .map_or_else(String::new, |(low, high)| format!("{} to {}", format(low), format(high))),
            undefined: metric.undefined.clone().unwrap_or_default(),
            n: metric.n,
            picture: interval_picture(metric.value, interval, ChartAxis::UNIT, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_not_lifted_onto_whole_numbers() {
        assert_eq!(trim(6.999), "6.99");
        assert_eq!(trim(7.0), "7");
    }
}
