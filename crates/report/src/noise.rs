//! Sources of the spread of a run's scores and decisions.

use assize_store::{Figure, RunFigures};
use serde_json::{Value, json};

use crate::Style;
use crate::clean;
use crate::entry::{entry, interval, listed};
use crate::number::{self, count};
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Renders the noise of a run, with the reason if it is unknown.
pub fn noise(figures: &RunFigures, style: Style) -> String {
    let mut page = Page::new(style);
    entries(&mut page, figures);
    if let Some(noise) = &figures.noise {
        page.blank();
        page.text(&[], &[Piece::new(Tone::Strong, &noise.says)]);
    }
    for line in unknown(figures) {
        page.text(&[], &[Piece::new(Tone::Open, line)]);
    }
    page.finish()
}

/// Converts the noise of a run to JSON.
pub fn noise_json(figures: &RunFigures) -> Value {
    json!({
        "scores": figures.noise,
        "decisions": figures.decision_noise,
        "unstable": figures.unstable,
        "undefined": unknown(figures),
    })
}

/// Explains which kinds of noise are undefined because nothing was repeated.
fn unknown(figures: &RunFigures) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if figures.noise.is_none() {
        lines.push(
            "The noise of answers is undefined, because no case was answered and scored more than once.",
        );
    }
    if figures.decision_noise.is_none() {
        lines.push(
            "The noise of judging is undefined, because no answer was judged more than once (`--judge-repeats N`).",
        );
    }
    lines
}

/// Renders the sources of noise, and the criteria whose repeated decisions differ.
pub(crate) fn entries(page: &mut Page, figures: &RunFigures) {
    if let Some(noise) = &figures.noise {
        let parts = format!(
            "{} between cases, {} between answers to a case",
            number::plain(noise.between_cases),
            number::plain(noise.between_answers)
        );
        entry(page, "Variance", vec![Piece::plain(parts)]);
        if let Some(flips) = &noise.verdict_flips {
            let rate = flips.value.map_or_else(|| "undefined".to_owned(), number::score);
            let text =
                format!("{rate} of {}{}", count(flips.n, "repeated case", "repeated cases"), interval(flips));
            entry(page, "Flips", vec![Piece::plain(text)]);
        }
    }
    if let Some(noise) = &figures.decision_noise {
        let part = |figure: &Figure, what: &str| {
            let value = figure.value.map_or_else(|| "undefined".to_owned(), number::plain);
            let range = figure.low.zip(figure.high);
            let range = range.map_or_else(String::new, |(low, high)| {
                format!(" ({} to {})", number::plain(low), number::plain(high))
            });
            format!("{value}{range} {what}")
        };
        let parts = format!(
            "{}, {}, {}",
            part(&noise.between_cases, "between cases"),
            part(&noise.between_answers, "between answers"),
            part(&noise.between_verdicts, "between verdicts on an answer")
        );
        entry(page, "Decisions", vec![Piece::plain(parts)]);
        entry(page, "", vec![Piece::new(Tone::Dim, clean::said(&noise.says, 400))]);
    }
    if figures.unstable.is_empty() {
        return;
    }
    let listed_ones = figures.unstable.iter().map(|one| {
        let name = format!("{}/{}", clean::name(&one.grader), clean::name(&one.criterion));
        let rate = one.flip_rate.value.map_or_else(String::new, number::score);
        let about = format!(" in {rate} of {}", count(one.flip_rate.n, "repeated case", "repeated cases"));
        vec![Piece::new(Tone::Middling, name), Piece::new(Tone::Dim, about)]
    });
    entry(page, "Unstable", listed(listed_ones));
}
