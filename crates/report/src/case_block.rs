//! One case as text: its verdict and the decision on each criterion.

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{CaseDecision, OutcomeKind, Scale, Verdict};
use assize_store::{CriterionRow, GateRow, GraderRow, ResultRow, criterion_texts};

use crate::clean;
use crate::criterion::CriterionLine;
use crate::mark::{Mark, of_ten};
use crate::number;
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};

/// Level of detail of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Every criterion with its reason and evidence.
    Full,
    /// One line.
    Brief,
}

/// Renders a case as text, with a newline after each line.
///
/// `texts` returns the text of a criterion by grader name and criterion id; [`stored_texts`] reads them from
/// a run. Without a text only the id is shown.
pub fn case_block(
    row: &ResultRow,
    texts: &dyn Fn(&str, &str) -> Option<String>,
    show: Show,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    match show {
        Show::Brief => brief(&mut page, row),
        Show::Full => full(&mut page, row, texts),
    }
    page.finish()
}

/// The words of stored criteria by grader name and criterion id, for [`case_block`]. A score-range
/// criterion without words of its own is shown by the band its score fell into.
pub fn stored_texts(decisions: &[CaseDecision]) -> impl Fn(&str, &str) -> Option<String> + '_ {
    let mut texts: HashMap<(&str, Arc<str>), String> = HashMap::new();
    for row in decisions {
        if row.is_vote() {
            continue;
        }
        if row.criterion().is_none() {
            texts.extend(criterion_texts(row).into_iter().map(|(id, text)| ((&*row.grader, id), text)));
        } else if let Some(words) = words(row) {
            texts.entry((&*row.grader, row.shown_criterion())).or_insert_with(|| words.to_owned());
        }
    }
    move |grader, criterion| texts.get(&(grader, criterion.into())).cloned()
}

fn words(row: &CaseDecision) -> Option<&str> {
    let criterion = row.criterion()?;
    if !criterion.text.trim().is_empty() {
        return Some(&criterion.text);
    }
    match (&criterion.scale, row.decision.outcome().raw_score()) {
        (Scale::Bands(bands), Some(raw)) => Some(&bands.band(raw).text),
        _ => None,
    }
}

/// Renders `✗ fail    0.583  case-id  → target  gate failed: correctness`.
pub(crate) fn brief(page: &mut Page, row: &ResultRow) {
    let mark = Mark::row(row);
    let figure = number::score_or_range(row.score, row.score_low, row.score_high);
    let mut pieces = vec![
        Piece::new(mark.tone, format!("{} {:10}", mark.sign, mark.word)),
        Piece::plain(format!("  {:11}  ", figure.unwrap_or_else(|| "no score".to_owned()))),
        Piece::name(Tone::Strong, &row.case_id),
    ];
    pieces.extend(whereabouts(row));
    if let Some(why) = why(row) {
        pieces.push(Piece::plain("  "));
        pieces.push(Piece::said(mark.tone, &why, clean::REASON));
    }
    page.line(&pieces);
}

/// Returns the main reason why a case did not pass, in a few words.
pub(crate) fn why(row: &ResultRow) -> Option<String> {
    if let Some(error) = &row.error {
        return Some(format!("{} {}: {}", error.stage.name(), error.kind.name(), error.message));
    }
    if !row.gates_failed.is_empty() {
        let names: Vec<String> = row
            .gates_failed
            .iter()
            .map(|gate| clean::name(gate.criterion.as_deref().unwrap_or(&gate.grader)))
            .collect();
        let word = if names.len() == 1 { "gate" } else { "gates" };
        return Some(format!("{word} failed: {}", names.join(", ")));
    }
    if let Some(grader) = row.graders.iter().find(|grader| grader.error.is_some()) {
        return Some(format!("grader {} broke", clean::name(&grader.name)));
    }
    match row
        .graders
        .iter()
        .flat_map(|grader| &grader.criteria)
        .filter(|row| row.outcome == OutcomeKind::Ungraded)
        .count()
    {
        0 => None,
        open => Some(format!("{open} ungraded")),
    }
}

/// Returns the target and the trial, where they distinguish cases.
pub(crate) fn whereabouts(row: &ResultRow) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if let Some(target) = &row.target {
        pieces.push(Piece::new(Tone::Dim, " → "));
        pieces.push(Piece::name(Tone::Dim, target));
    }
    if let Some(other) = &row.answered_by {
        pieces.push(Piece::new(Tone::Dim, ", answered by "));
        pieces.push(Piece::name(Tone::Dim, other));
    }
    if row.repeat > 1 {
        pieces.push(Piece::new(Tone::Dim, format!(" (repeat {})", row.repeat)));
    }
    pieces
}

fn full(page: &mut Page, row: &ResultRow, texts: &dyn Fn(&str, &str) -> Option<String>) {
    heading(page, row);
    let several = row.graders.len() > 1;
    for grader in &row.graders {
        let named = grader.name != grader.type_name;
        if several || named || grader.error.is_some() {
            grader_line(page, grader);
        }
        for criterion in &grader.criteria {
            criterion_lines(page, grader, criterion, &row.gates_failed, texts);
        }
    }
    for gate in &row.gates_failed {
        page.text(
            &[Piece::new(Tone::Bad, "  gate failed: ")],
            &[Piece::said(Tone::Bad, &gate_sentence(row, gate), clean::REASON)],
        );
    }
    if let Some(error) = &row.error {
        let lead = format!("  {} failed ({}): ", error.stage.name(), error.kind.name());
        page.text(
            &[Piece::plain("  ")],
            &[
                Piece::new(Tone::Bad, lead.trim_start()),
                Piece::said(Tone::Plain, &error.message, clean::REASON),
            ],
        );
    }
    if let Some(coverage) = row.coverage.filter(|coverage| *coverage < 1.0) {
        let share = number::percent((coverage * 1e6).floor() as u64, 1_000_000);
        page.text(
            &[Piece::plain("  ")],
            &[Piece::new(Tone::Open, format!("only {share} of the weight was judged"))],
        );
    }
}

/// Renders the verdict and the case id, with the score right-aligned.
pub(crate) fn heading(page: &mut Page, row: &ResultRow) {
    let mark = Mark::row(row);
    let mut left = vec![
        Piece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
        Piece::plain("  "),
        Piece::name(Tone::Strong, &row.case_id),
    ];
    left.extend(whereabouts(row));
    left.push(Piece::plain("  "));
    left.push(Piece::name(Tone::Dim, &row.suite));
    let figure = match number::score_or_range(row.score, row.score_low, row.score_high) {
        Some(range) if row.score.is_none() && row.verdict == Verdict::Incomplete => {
            format!("score {range}, incomplete")
        }
        Some(range) if row.score.is_none() => format!("score {range}, partly judged"),
        Some(score) => format!("score {score}"),
        None => "no score".to_owned(),
    };
    page.ends(&left, &[Piece::new(mark.tone, figure)]);
}

fn grader_line(page: &mut Page, grader: &GraderRow) {
    let mut pieces = vec![Piece::name(Tone::Strong, &grader.name)];
    if grader.name != grader.type_name {
        pieces.push(Piece::plain(" "));
        pieces.push(Piece::new(Tone::Dim, format!("({})", clean::name(&grader.type_name))));
    }
    pieces.push(Piece::plain("  "));
    pieces.push(match (grader.verdict, grader.score) {
        (Some(verdict), score) => {
            let figure = score.map(|score| format!(" {}", number::score(score))).unwrap_or_default();
            Piece::new(Mark::verdict(verdict).tone, format!("{verdict}{figure}"))
        }
        (None, _) => Piece::new(Tone::Dim, "does not apply"),
    });
    if grader.weight != 1.0 {
        pieces.push(Piece::new(Tone::Dim, format!("  weight {}", number::plain(grader.weight))));
    }
    page.text(&[Piece::plain("  ")], &pieces);
    if let Some(error) = &grader.error {
        page.text(&[Piece::plain("    ")], &[Piece::said(Tone::Bad, error, clean::REASON)]);
    }
}

fn criterion_lines(
    page: &mut Page,
    grader: &GraderRow,
    criterion: &CriterionRow,
    gates_failed: &[GateRow],
    texts: &dyn Fn(&str, &str) -> Option<String>,
) {
    let text = texts(&grader.name, &criterion.id);
    let gate_failed = gates_failed
        .iter()
        .any(|gate| gate.grader == grader.name && gate.criterion.as_deref() == Some(&criterion.id));
    let notes = CriterionLine::notes(criterion);
    let decision = CriterionLine::of(criterion, text.as_deref(), gate_failed, &notes);
    decision.put(page, 2);
}

/// Formats `` `correctness` has 5/10, required_min_score 7 ``.
fn gate_sentence(row: &ResultRow, gate: &GateRow) -> String {
    let grader = row.graders.iter().find(|grader| grader.name == gate.grader);
    let Some(id) = &gate.criterion else {
        let figure = grader
            .and_then(|grader| grader.score)
            .map_or_else(String::new, |score| format!(" has {}", number::score(score)));
        return format!("grader `{}`{figure}, {}", clean::name(&gate.grader), gate.rule);
    };
    let criterion = grader.and_then(|grader| grader.criteria.iter().find(|criterion| *criterion.id == **id));
    let state = match criterion.map(|criterion| (criterion, criterion.score_of_ten())) {
        Some((_, Some(points))) => format!(" has {}", of_ten(points)),
        Some((criterion, None)) => format!(" is {}", criterion.outcome.name()),
        None => String::new(),
    };
    format!("`{}`{state}, {}", clean::name(id), gate.rule)
}
