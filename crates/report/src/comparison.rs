//! Comparison of runs as terminal text.
//!
//! Results of writing to strings are ignored: it does not fail.

use std::fmt::Write as _;

use assize_analysis::compare::{Call, Comparison, Contrast, Flip, Headline, Many, Side, Table, Undecided};

use crate::clean;
use crate::mark::Mark;
use crate::number::{self, count, grouped};
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};
use crate::table::{Column, table};

/// Limits on the length of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonLimits {
    /// Number of changed cases, for each direction.
    pub flips: usize,
    /// Number of rows of each table.
    pub rows: usize,
    /// Number of names in a list.
    pub names: usize,
}

impl Default for ComparisonLimits {
    fn default() -> Self {
        Self { flips: 10, rows: 20, names: 8 }
    }
}

/// Renders a comparison: with one candidate in full, with several a matrix and the metrics of each.
pub fn comparison(many: &Many, adjusted_by: Option<&str>, limits: ComparisonLimits, style: Style) -> String {
    let mut page = Page::new(style);
    for comparison in &many.comparisons {
        page.blank();
        one(&mut page, comparison, adjusted_by, limits, many.comparisons.len() == 1);
    }
    if !many.matrix.is_empty() {
        page.blank();
        matrix(&mut page, many, adjusted_by);
    }
    page.finish()
}

fn entry(page: &mut Page, label: &str, body: Vec<Piece>) {
    page.text(&[Piece::new(Tone::Dim, format!("{label:<11}"))], &body);
}

fn one(
    page: &mut Page,
    comparison: &Comparison,
    adjusted_by: Option<&str>,
    limits: ComparisonLimits,
    in_full: bool,
) {
    page.rule("Comparison");
    entry(page, "Base", vec![Piece::said(Tone::Strong, &comparison.base, 300)]);
    entry(page, "Candidate", vec![Piece::said(Tone::Strong, &comparison.candidate, 300)]);
    entry(page, "Cases", vec![Piece::plain(cases(comparison))]);
    for mismatch in &comparison.mismatches {
        let mut text = format!(
            "NOT COMPARABLE ({}): in {} {}",
            mismatch.respect.name(),
            count(mismatch.cases as u64, "case", "cases"),
            mismatch.respect.what()
        );
        if !mismatch.base.is_empty() {
            let _ = write!(
                text,
                ": {} / {}",
                clean::said(&mismatch.base, 200),
                clean::said(&mismatch.candidate, 200)
            );
        }
        page.text(&[Piece::new(Tone::Bad, "⚠ ")], &[Piece::new(Tone::Bad, text)]);
    }
    page.blank();
    let (sign, tone) = call(comparison.verdict);
    let word = Piece::new(tone, format!("{sign} {}", comparison.verdict.words()));
    entry(
        page,
        "Verdict",
        vec![word, Piece::new(Tone::Dim, format!(" (by the {})", headline(comparison.headline)))],
    );
    page.blank();
    figures(page, comparison);
    for (name, contrast) in [("Pass rate", &comparison.pass_rate), ("Mean score", &comparison.score)] {
        entry(page, name, vec![Piece::said(Tone::Plain, &contrast.says, clean::REASON)]);
    }
    if let Some([low, high]) = comparison.score_bounds {
        let text = format!(
            "With the undecided cases, the mean score of all {} cases changes by {} to {}.",
            grouped(comparison.common as u64),
            change(low),
            change(high)
        );
        entry(page, "Bounds", vec![Piece::new(Tone::Open, text)]);
    }
    entry(page, "Methods", vec![Piece::new(Tone::Dim, methods(comparison))]);
    if !in_full {
        return;
    }
    for parts in &comparison.tables {
        rows(page, parts, adjusted_by, limits.rows);
    }
    flips(page, "Regressions", &comparison.regressions, limits.flips);
    flips(page, "Improvements", &comparison.improvements, limits.flips);
    lists(page, comparison, limits.names);
}

/// Formats the number of cases on both sides, and of the others.
pub(crate) fn cases(comparison: &Comparison) -> String {
    let mut text = format!("{} on both sides", grouped(comparison.common as u64));
    for (number, word) in [
        (comparison.undecided.len(), "of them undecided"),
        (comparison.new.len(), "new"),
        (comparison.gone.len(), "gone"),
    ] {
        if number > 0 {
            let _ = write!(text, ", {} {word}", grouped(number as u64));
        }
    }
    if comparison.gone_passed > 0 {
        let _ = write!(text, " ({} of which had passed)", grouped(comparison.gone_passed as u64));
    }
    text
}

pub(crate) fn headline(headline: Headline) -> &'static str {
    match headline {
        Headline::Score => "mean score",
        Headline::PassRate => "pass rate",
    }
}

/// Returns the sign and tone of a conclusion.
fn call(call: Call) -> (&'static str, Tone) {
    match call {
        Call::Better => ("✓", Tone::Good),
        Call::Worse => ("✗", Tone::Bad),
        Call::Equivalent | Call::NoDifference => ("≈", Tone::Plain),
        Call::Inconclusive => ("?", Tone::Open),
    }
}

/// Formats a change with its sign and three decimals.
pub(crate) fn change(value: f64) -> String {
    let text = format!("{value:+.3}");
    if text == "-0.000" || text == "+0.000" { "0.000".to_owned() } else { text }
}

/// Formats a p value.
pub(crate) fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

fn figures(page: &mut Page, comparison: &Comparison) {
    const COLUMNS: [Column; 8] = [
        Column::left(""),
        Column::right("pairs"),
        Column::right("base"),
        Column::right("candidate"),
        Column::right("change"),
        Column::right("interval"),
        Column::right("p"),
        Column::right("up/down"),
    ];
    let row = |name: &str, contrast: &Contrast| {
        vec![
            Piece::new(Tone::Strong, name),
            Piece::plain(grouped(contrast.n as u64)),
            Piece::plain(figure(contrast.base)),
            Piece::plain(figure(contrast.candidate)),
            Piece::plain(contrast.difference.map_or_else(|| "–".to_owned(), change)),
            Piece::plain(interval(contrast)),
            Piece::plain(p_value(contrast.p_adjusted.or(contrast.p))),
            Piece::plain(format!("{}/{}", grouped(contrast.higher as u64), grouped(contrast.lower as u64))),
        ]
    };
    table(
        page,
        0,
        &COLUMNS,
        &[row("pass rate", &comparison.pass_rate), row("mean score", &comparison.score)],
    );
    page.blank();
}

pub(crate) fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), number::score_column)
}

pub(crate) fn interval(contrast: &Contrast) -> String {
    match (contrast.low, contrast.high) {
        (Some(low), Some(high)) => format!("{} to {}", change(low), change(high)),
        _ => "undefined".to_owned(),
    }
}

/// Names the method of each metric.
pub(crate) fn methods(comparison: &Comparison) -> String {
    let of = |name: &str, contrast: &Contrast| {
        let method = contrast.interval_method.as_deref().unwrap_or("no interval");
        let clusters = contrast
            .clusters
            .map(|n| format!(" over {}", count(n as u64, "cluster", "clusters")))
            .unwrap_or_default();
        format!("{name}: {method}{clusters}, p {}", contrast.test)
    };
    format!(
        "{}% intervals. {}; {}.",
        number::plain(comparison.score.level * 100.0),
        of("Pass rate", &comparison.pass_rate),
        of("mean score", &comparison.score)
    )
}

/// Returns the title of a table by groups.
pub(crate) fn title(parts: &Table, adjusted_by: Option<&str>) -> String {
    let mut text = format!("By {}", parts.by);
    let mut about = Vec::new();
    if parts.rows.len() > 1 {
        about.push(match adjusted_by {
            Some(name) => format!("p adjusted by {name} for {} comparisons", parts.rows.len()),
            None => format!("{} comparisons, p not adjusted", parts.rows.len()),
        });
    }
    if parts.too_small > 0 {
        let fewest = assize_analysis::compare::FEWEST_PAIRS;
        about.push(format!("{} with fewer than {fewest} pairs not tested", grouped(parts.too_small as u64)));
    }
    if !about.is_empty() {
        let _ = write!(text, " ({})", about.join("; "));
    }
    text
}

fn rows(page: &mut Page, parts: &Table, adjusted_by: Option<&str>, limit: usize) {
    const COLUMNS: [Column; 8] = [
        Column::shrinking(""),
        Column::right("pairs"),
        Column::right("base"),
        Column::right("cand"),
        Column::right("change"),
        Column::right("interval"),
        Column::right("p"),
        Column::left("verdict"),
    ];
    page.blank();
    page.text(&[], &[Piece::new(Tone::Strong, title(parts, adjusted_by))]);
    let lines: Vec<Vec<Piece>> = parts
        .rows
        .iter()
        .take(limit)
        .map(|row| {
            let contrast = &row.contrast;
            let (_, tone) = call(contrast.call);
            vec![
                Piece::name(Tone::Plain, &row.name),
                Piece::plain(grouped(contrast.n as u64)),
                Piece::plain(figure(contrast.base)),
                Piece::plain(figure(contrast.candidate)),
                Piece::plain(contrast.difference.map_or_else(|| "–".to_owned(), change)),
                Piece::plain(interval(contrast)),
                Piece::plain(p_value(contrast.p_adjusted.or(contrast.p))),
                Piece::new(tone, contrast.call.words()),
            ]
        })
        .collect();
    if !lines.is_empty() {
        table(page, 2, &COLUMNS, &lines);
    }
    rest(page, parts.rows.len(), limit);
}

fn rest(page: &mut Page, all: usize, limit: usize) {
    if all > limit {
        page.line(&[Piece::new(Tone::Dim, format!("  and {} more", grouped((all - limit) as u64)))]);
    }
}

fn flips(page: &mut Page, what: &str, flips: &[Flip], limit: usize) {
    if flips.is_empty() {
        return;
    }
    page.blank();
    page.line(&[Piece::new(Tone::Strong, format!("{what} ({})", grouped(flips.len() as u64)))]);
    for flip in flips.iter().take(limit) {
        let mut line = vec![Piece::plain("  "), Piece::name(Tone::Strong, &flip.case_id)];
        if flip.repeat > 1 {
            line.push(Piece::plain(format!(" (repeat {})", flip.repeat)));
        }
        line.push(Piece::plain("  "));
        line.extend(side(flip.base));
        line.push(Piece::plain(" → "));
        line.extend(side(flip.candidate));
        page.text(&[], &line);
        for criterion in &flip.criteria {
            let name = format!("{}/{}", clean::name(&criterion.grader), clean::name(&criterion.criterion));
            page.text(
                &[Piece::plain("    ")],
                &[
                    Piece::plain(format!("{name}  ")),
                    Piece::new(
                        Tone::Dim,
                        format!("{} → {}", value(criterion.base), value(criterion.candidate)),
                    ),
                ],
            );
            for (who, reason) in [("was", &criterion.base_reason), ("now", &criterion.candidate_reason)] {
                if let Some(reason) = reason.as_deref().filter(|reason| !reason.trim().is_empty()) {
                    page.text(
                        &[Piece::new(Tone::Dim, format!("      {who}: "))],
                        &[Piece::said(Tone::Plain, reason, clean::QUOTE)],
                    );
                }
            }
        }
    }
    rest(page, flips.len(), limit);
}

fn side(side: Side) -> Vec<Piece> {
    let mark = Mark::verdict(side.verdict);
    let score = side.score.map(|score| format!(" {}", number::score(score)));
    vec![Piece::new(mark.tone, mark.word), Piece::plain(score.unwrap_or_default())]
}

pub(crate) fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "undecided".to_owned(), number::score)
}

/// Describes a case that is incomplete on at least one side.
pub(crate) fn undecided(case: &Undecided) -> String {
    let said = |passed: Option<bool>| match passed {
        Some(true) => "passed",
        Some(false) => "not passed",
        None => "undecided",
    };
    format!(
        "{} ({} → {})",
        clean::name(&case.name.case_id),
        said(case.base_passed),
        said(case.candidate_passed)
    )
}

fn lists(page: &mut Page, comparison: &Comparison, limit: usize) {
    let name = |case: &assize_analysis::compare::CaseName| clean::name(&case.case_id);
    let lists: [(&str, Vec<String>, usize); 3] = [
        (
            "Undecided",
            comparison.undecided.iter().take(limit).map(undecided).collect(),
            comparison.undecided.len(),
        ),
        ("New", comparison.new.iter().take(limit).map(name).collect(), comparison.new.len()),
        ("Gone", comparison.gone.iter().take(limit).map(name).collect(), comparison.gone.len()),
    ];
    if lists.iter().any(|(_, names, _)| !names.is_empty()) {
        page.blank();
    }
    for (label, names, all) in lists {
        if names.is_empty() {
            continue;
        }
        let mut text = names.join(", ");
        if all > names.len() {
            let _ = write!(text, " and {} more", grouped((all - names.len()) as u64));
        }
        entry(page, label, vec![Piece::plain(text)]);
    }
}

/// Renders each run against each: the change of the headline metric from the column's run to the row's.
fn matrix(page: &mut Page, many: &Many, adjusted_by: Option<&str>) {
    page.rule("Each against each");
    let figure = many.comparisons.first().map_or("", |comparison| headline(comparison.headline));
    let adjusted =
        adjusted_by.map_or_else(|| "p not adjusted".to_owned(), |name| format!("p adjusted by {name}"));
    page.text(
        &[],
        &[Piece::new(
            Tone::Dim,
            format!("Change of the {figure} from the run of the column to the run of the row; * shown beyond chance ({adjusted})."),
        )],
    );
    let mut lines = Vec::new();
    for (at, row) in many.matrix.iter().enumerate() {
        let mut line = vec![Piece::plain(format!("{}", at + 1)), Piece::name(Tone::Strong, &many.runs[at])];
        for cell in row {
            line.push(match cell {
                None => Piece::new(Tone::Dim, "·"),
                Some(contrast) => {
                    let shown = matches!(contrast.call, Call::Better | Call::Worse);
                    let text = contrast.difference.map_or_else(|| "–".to_owned(), change);
                    Piece::new(call(contrast.call).1, format!("{text}{}", if shown { "*" } else { " " }))
                }
            });
        }
        lines.push(line);
    }
    let columns: Vec<Column> = [Column::right(""), Column::shrinking("run")]
        .into_iter()
        .chain(HEADS.iter().take(many.runs.len()).map(|head| Column::right(head)))
        .collect();
    table(page, 0, &columns, &lines);
    if many.runs.len() > HEADS.len() {
        page.line(&[Piece::new(
            Tone::Dim,
            format!("columns beyond the first {} are left out; --json has them", HEADS.len()),
        )]);
    }
}

/// Titles of a matrix's columns: the numbers of its rows.
const HEADS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];
