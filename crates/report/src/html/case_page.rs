//! One case: what was asked, the answer with its quotes marked, and each decision with its reason.

use askama::Template;
use assize_rubric::EvidenceQuote;
use assize_store::{CaseRecord, CriterionRow, GraderRow, QuestionRow, ResultRow};

use super::highlight::{TextPiece, highlight_quotes};
use super::tone;
use crate::case_block::{gate_sentence, main_reason, stored_texts};
use crate::criterion::{CriterionLine, NOT};
use crate::export::has_failed_gate;
use crate::mark::VerdictMark;
use crate::number;
use crate::sanitize::{cut_text, escape_lines};

/// Longest question, reference or answer that is shown, in characters.
const MAX_TEXT: usize = 20_000;
/// Longest reason or quote that is shown, in characters.
const MAX_REASON: usize = 2_000;

/// A case as the template shows it.
#[derive(Template)]
#[template(path = "case.html")]
struct CaseView {
    anchor: String,
    open: bool,
    mark: MarkView,
    case_id: String,
    suite: String,
    target: Option<String>,
    trial: Option<u32>,
    score: String,
    why: String,
    error: Option<String>,
    gates: Vec<String>,
    question: Option<String>,
    expected: Option<String>,
    reference: Option<String>,
    answer: Option<Vec<PieceView>>,
    answer_cut: Option<String>,
    file_changes: Option<String>,
    graders: Vec<GraderView>,
}

/// Sign and word of a verdict or an outcome.
pub(super) struct MarkView {
    pub(super) sign: &'static str,
    pub(super) word: String,
    pub(super) class: &'static str,
}

impl From<VerdictMark> for MarkView {
    fn from(mark: VerdictMark) -> Self {
        Self { sign: mark.sign, word: mark.word, class: tone(mark.tone).class() }
    }
}

/// A piece of the answer.
struct PieceView {
    piece: TextPiece,
    class: &'static str,
}

struct GraderView {
    /// Name and type, where the case has several graders or the grader has a name of its own.
    title: Option<String>,
    score: String,
    class: &'static str,
    error: Option<String>,
    criteria: Vec<CriterionView>,
}

struct CriterionView {
    number: usize,
    mark: MarkView,
    text: String,
    weight: Option<String>,
    gate: Option<String>,
    gate_failed: bool,
    reason: String,
    notes: Vec<String>,
    quotes: Vec<QuoteView>,
}

struct QuoteView {
    text: String,
    /// Remark about a quote that is not marked in the answer.
    remark: Option<&'static str>,
    class: &'static str,
}

/// Shows a case as a `<details>` element. Texts are escaped and cut to some thousand characters. `anchor` begins the ids of
/// its elements and must be unique in the page: ASCII letters and digits.
pub fn case_fragment(
    record: &CaseRecord,
    question: Option<&QuestionRow>,
    anchor: &str,
    open: bool,
) -> String {
    let row = &record.result;
    let answer = row.answer.as_deref().map(|answer| cut(answer, MAX_TEXT));
    let numbered = number_criteria(row);
    let quotes: Vec<(usize, &str)> = numbered
        .iter()
        .flat_map(|(number, _, criterion)| {
            criterion.evidence.iter().map(|quote| (*number, quote.quote.as_str()))
        })
        .collect();
    let highlighted = highlight_quotes(answer.as_ref().map_or("", |(shown, _)| shown), &quotes);
    let mut found = highlighted.found.into_iter();

    let texts = stored_texts(&record.decisions);
    let mut graders: Vec<GraderView> = row.graders.iter().map(|grader| grader_view(row, grader)).collect();
    let mut classes = vec!["plain"];
    for (number, grader, criterion) in &numbered {
        let view = criterion_view(row, &row.graders[*grader], (*number, criterion), &texts, &mut found);
        classes.push(view.mark.class);
        graders[*grader].criteria.push(view);
    }

    let pieces = highlighted.pieces.into_iter().map(|piece| {
        let class = match piece.numbers.as_slice() {
            [only] => classes.get(*only).copied().unwrap_or("plain"),
            _ => "plain",
        };
        PieceView { piece, class }
    });
    let asked = |text: &Option<String>| text.as_deref().map(|text| escape_lines(&cut_text(text, MAX_TEXT)));
    let view = CaseView {
        anchor: anchor.to_owned(),
        open,
        mark: VerdictMark::for_case(row).into(),
        case_id: escape_lines(&row.case_id),
        suite: escape_lines(&row.suite),
        target: row.target.as_deref().map(escape_lines),
        trial: (row.trial > 1).then_some(row.trial),
        score: number::format_score_or_range(row.score, row.score_low, row.score_high).unwrap_or_default(),
        why: escape_lines(&cut_text(&main_reason(row).unwrap_or_default(), 300)),
        error: row.error.as_ref().map(|error| {
            let message = escape_lines(&cut_text(&error.message, MAX_REASON));
            format!("{} failed ({}): {message}", error.stage.name(), error.kind.name())
        }),
        gates: row.gates_failed.iter().map(|gate| gate_sentence(row, gate)).collect(),
        question: question.and_then(|row| asked(&row.question)),
        expected: question.and_then(|row| asked(&row.expected_outcome)),
        reference: question.and_then(|row| asked(&row.reference)),
        answer_cut: answer.as_ref().and_then(|(_, cut)| cut.clone()),
        answer: answer.map(|_| pieces.collect()),
        file_changes: asked(&row.file_changes).filter(|changes| !changes.is_empty()),
        graders,
    };

    // The template reads nothing that can fail, and writing to a string does not fail.
    view.render().unwrap_or_default()
}

/// Criteria with their numbers, from 1, and the places of their graders.
fn number_criteria(row: &ResultRow) -> Vec<(usize, usize, &CriterionRow)> {
    let criteria = row
        .graders
        .iter()
        .enumerate()
        .flat_map(|(at, grader)| grader.criteria.iter().map(move |criterion| (at, criterion)));
    criteria.enumerate().map(|(index, (at, criterion))| (index + 1, at, criterion)).collect()
}

fn grader_view(row: &ResultRow, grader: &GraderRow) -> GraderView {
    let has_name = grader.name != grader.type_name;
    let title =
        if has_name { format!("{} ({})", grader.name, grader.type_name) } else { grader.name.clone() };
    let score = match (grader.verdict, grader.score) {
        (Some(verdict), Some(score)) => format!("{verdict} {}", number::format_score(score)),
        (Some(verdict), None) => verdict.to_string(),
        (None, _) => "does not apply".to_owned(),
    };

    GraderView {
        title: (has_name || row.graders.len() > 1).then(|| escape_lines(&title)),
        score,
        class: grader
            .verdict
            .map_or("dim", |verdict| MarkView::from(VerdictMark::for_verdict(verdict)).class),
        error: grader.error.as_deref().map(|error| escape_lines(&cut_text(error, MAX_REASON))),
        criteria: Vec::new(),
    }
}

fn criterion_view(
    row: &ResultRow,
    grader: &GraderRow,
    (number, criterion): (usize, &CriterionRow),
    texts: &dyn Fn(&str, &str) -> Option<String>,
    found: &mut impl Iterator<Item = bool>,
) -> CriterionView {
    let text = texts(&grader.name, &criterion.id).filter(|text| !text.trim().is_empty());
    let mark = VerdictMark::for_criterion(criterion, grader.negate);
    let mut quotes: Vec<QuoteView> =
        criterion.evidence.iter().map(|quote| quote_view(quote, found.next() == Some(true))).collect();
    // Judges quote one passage for several facts.
    quotes.dedup_by(|later, earlier| later.text == earlier.text);

    CriterionView {
        number,
        mark: mark.into(),
        text: format!(
            "{}{}",
            if grader.negate { NOT } else { "" },
            escape_lines(&cut_text(text.as_deref().unwrap_or(&criterion.id), MAX_REASON))
        ),
        weight: (criterion.weight != 1.0).then(|| number::format_plain(criterion.weight)),
        gate: criterion.gate.as_deref().map(escape_lines),
        gate_failed: has_failed_gate(row, &grader.name, &criterion.id),
        reason: escape_lines(&cut_text(criterion.reason.trim(), MAX_REASON)),
        notes: CriterionLine::notes(criterion),
        quotes,
    }
}

fn quote_view(quote: &EvidenceQuote, is_marked: bool) -> QuoteView {
    let (remark, class) = match (is_marked, quote.verified) {
        (true, _) => (None, "marked"),
        (false, true) => (Some("not in the answer; found in other material"), "elsewhere"),
        (false, false) => (Some("not found in what the judge was shown"), "missing"),
    };
    QuoteView { text: escape_lines(&cut_text(quote.quote.trim(), MAX_REASON)), remark, class }
}

/// Cuts a text to its first characters; says so if there are more.
fn cut(text: &str, limit: usize) -> (&str, Option<String>) {
    let Some((end, _)) = text.char_indices().nth(limit) else { return (text, None) };
    let all = number::grouped(text.chars().count() as u64);

    (&text[..end], Some(format!("cut: the answer has {all} characters")))
}
