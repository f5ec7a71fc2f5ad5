//! Sources of the spread of a run's scores and decisions.

use assize_store::{EstimatedMetric, RunMetrics};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::entry::{entry, entry_pieces, listed, rate_interval};
use crate::number::{self, format_count};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;

/// Renders the noise of a run, with the reason if it is unknown.
pub fn render_noise(figures: &RunMetrics, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    render_noise_entries(&mut page, figures);

    if let Some(noise) = &figures.noise {
        page.add_blank();
        page.add_paragraph(ReportPiece::new(ReportTone::Strong, &noise.says));
    }

    for line in unknown_noise(figures) {
        page.add_paragraph(ReportPiece::new(ReportTone::Open, line));
    }

    page.finish()
}

/// Converts the noise of a run to JSON.
pub fn noise_json(figures: &RunMetrics) -> Value {
    json!({
        "scores": figures.noise,
        "decisions": figures.decision_noise,
        "unstable": figures.unstable,
        "undefined": unknown_noise(figures),
    })
}

/// Explains which kinds of noise are undefined because nothing was repeated.
fn unknown_noise(figures: &RunMetrics) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if figures.noise.is_none() {
        lines.push(
            "Noise of answers: unknown, because no case was answered and scored more than once (`--trials N`).",
        );
    }

    if figures.decision_noise.is_none() {
        lines.push(
            "Noise of judging: unknown, because no answer was judged more than once (`--judge-repeats N`).",
        );
    }

    lines
}

/// Renders the sources of noise, and the criteria whose repeated decisions differ.
pub(crate) fn render_noise_entries(page: &mut ReportPage, figures: &RunMetrics) {
    if let Some(noise) = &figures.noise {
        let parts = format!(
            "{} between cases, {} between answers to a case",
            number::format_significant(noise.between_cases),
            number::format_significant(noise.between_answers)
        );
        entry(page, "Variance", ReportPiece::plain(parts));

        if let Some(flips) = &noise.verdict_flips {
            let rate = flips.value.map_or_else(|| number::UNDEFINED.to_owned(), number::format_rate);
            let text = format!(
                "{rate} of {}{}",
                format_count(flips.n, "case with several trials", "cases with several trials"),
                rate_interval(flips)
            );
            entry(page, "Flips", ReportPiece::plain(text));
        }
    }

    if let Some(noise) = &figures.decision_noise {
        let part = |figure: &EstimatedMetric, what: &str| {
            let value = figure.value.map_or_else(|| number::UNDEFINED.to_owned(), number::format_significant);
            let range = figure.low.zip(figure.high);
            let range = range.map_or_else(String::new, |(low, high)| {
                format!(" ({} to {})", number::format_significant(low), number::format_significant(high))
            });
            format!("{value}{range} {what}")
        };

        let parts = format!(
            "{}, {}, {}",
            part(&noise.between_cases, "between cases"),
            part(&noise.between_answers, "between answers"),
            part(&noise.between_verdicts, "between verdicts on an answer")
        );

        entry(page, "Decisions", ReportPiece::plain(parts));
        entry(page, "", ReportPiece::new(ReportTone::Dim, sanitize::sanitize_text(&noise.says, 400)));
    }

    if figures.unstable.is_empty() {
        return;
    }

    let listed_ones = figures.unstable.iter().map(|one| {
        let name =
            format!("{}/{}", sanitize::sanitize_name(&one.grader), sanitize::sanitize_name(&one.criterion));
        let rate = one.flip_rate.value.map_or_else(String::new, number::format_rate);
        let about = format!(
            " in {rate} of {}",
            format_count(one.flip_rate.n, "case with several trials", "cases with several trials")
        );
        vec![ReportPiece::new(ReportTone::Middling, name), ReportPiece::new(ReportTone::Dim, about)]
    });
    entry_pieces(page, "Unstable", &listed(listed_ones));
}
