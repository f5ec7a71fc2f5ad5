//! One case: the question, the answer with its quotes marked, and each decision with its reason.

use askama::Template;
use assize_limits::PAGE_TEXT_CHARACTERS as MAX_TEXT;
use assize_rubric::EvidenceQuote;
use assize_store::{CaseRecord, CriterionRow, GraderRow, QuestionRow, ResultRow};

use super::highlight::TextPiece;
use super::marked_answer::{AnswerQuote, mark_answer};
use super::tone;
use crate::case_block::{gate_sentence, has_failed_gate, main_reason, stored_texts};
use crate::criterion::{CriterionLine, NEGATION_PREFIX};
use crate::explain::{CaseExplanation, GraderPart, explain_case};
use crate::mark::VerdictMark;
use crate::number;
use crate::quote_place::QuotePlace;
use crate::sanitize::{cut_text, escape_lines};

/// Maximum length of a reason or quote, in characters.
const MAX_REASON: usize = 2_000;

/// Data of a case for the template.
#[derive(Template)]
#[template(path = "case.html")]
struct CaseView {
    anchor: String,
    open: bool,
    mark: MarkView,
    case: String,
    prompt: Option<String>,
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
    /// The answer; `None` if there is none, or if the turns contain all of it.
    answer: Option<AnswerView>,
    turns: Vec<TurnView>,
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

/// An answer to a case or in a turn.
struct AnswerView {
    pieces: Vec<PieceView>,
    /// Note with the length of the whole text, if it was cut.
    cut: Option<String>,
}

/// A turn of a conversation.
struct TurnView {
    number: u32,
    asked: String,
    answer: AnswerView,
}

/// A piece of the answer.
struct PieceView {
    piece: TextPiece,
    class: &'static str,
}

struct GraderView {
    /// Name and type, if the case has several graders or the grader has its own name.
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
    /// Note about a quote that is not marked in the answer.
    remark: Option<&'static str>,
    class: &'static str,
}

/// Renders a case as a `<details>` element. Texts are escaped and cut to 20,000 characters, reasons and quotes
/// to 2,000. `anchor` is the prefix of the ids of its elements; it must consist of ASCII letters and digits and
/// be unique in the page.
pub fn case_fragment(
    record: &CaseRecord,
    question: Option<&QuestionRow>,
    anchor: &str,
    open: bool,
) -> String {
    let row = &record.result;
    let mut places = EvidencePlaces::new(&explain_case(record, question));
    let numbered = number_criteria(row);

    let texts = stored_texts(&record.decisions);
    let mut graders: Vec<GraderView> = row.graders.iter().map(|grader| grader_view(row, grader)).collect();
    let mut classes = vec!["plain"];
    let mut quotes: Vec<AnswerQuote<'_>> = Vec::new();
    for (number, grader, criterion) in &numbered {
        let grader_row = &row.graders[*grader];
        let mut quote_views = Vec::with_capacity(criterion.evidence.len());
        for quote in &criterion.evidence {
            // A quote that was not verified is not marked, even if the same words are in the answer.
            let place = places.take(&grader_row.name, &criterion.id, quote).filter(|_| quote.verified);
            if let Some(QuotePlace { turn, .. }) = place {
                quotes.push(AnswerQuote { number: *number, text: &quote.quote, turn });
            }
            quote_views.push(quote_view(quote, place));
        }
        let view = criterion_view(row, grader_row, *number, criterion, &texts, quote_views);
        classes.push(view.mark.class);
        graders[*grader].criteria.push(view);
    }

    let marked = mark_answer(row.answer.as_deref(), &row.turns, &quotes);
    let turns = marked.turns.into_iter().map(|turn| TurnView {
        number: turn.turn,
        asked: cut_text(&turn.asked, MAX_TEXT),
        answer: answer_view(turn.answer, &classes),
    });
    let short = |text: &Option<String>| text.as_deref().map(|text| escape_lines(&cut_text(text, MAX_TEXT)));
    let view = CaseView {
        anchor: anchor.to_owned(),
        open,
        mark: VerdictMark::for_case(row).into(),
        case: escape_lines(row.test_id()),
        prompt: row.prompt.as_deref().map(escape_lines),
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
        question: question.and_then(|row| short(&row.question)),
        expected: question.and_then(|row| short(&row.expected_outcome)),
        reference: question.and_then(|row| short(&row.reference)),
        answer: marked.whole.map(|pieces| answer_view(pieces, &classes)),
        turns: turns.collect(),
        file_changes: short(&row.file_changes).filter(|changes| !changes.is_empty()),
        graders,
    };

    // The template only reads values that can't fail, and writing to a string never fails.
    view.render().unwrap_or_default()
}

/// Returns the criteria with their numbers, from 1, and the index of their grader.
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
    number: usize,
    criterion: &CriterionRow,
    texts: &dyn Fn(&str, &str) -> Option<String>,
    mut quotes: Vec<QuoteView>,
) -> CriterionView {
    let text = texts(&grader.name, &criterion.id).filter(|text| !text.trim().is_empty());
    let mark = VerdictMark::for_criterion(criterion, grader.negate);
    // Judges often quote one passage for several facts.
    quotes.dedup_by(|later, earlier| later.text == earlier.text);

    CriterionView {
        number,
        mark: mark.into(),
        text: format!(
            "{}{}",
            if grader.negate { NEGATION_PREFIX } else { "" },
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

fn quote_view(quote: &EvidenceQuote, place: Option<QuotePlace>) -> QuoteView {
    let (remark, class) = match (place, quote.verified) {
        (Some(place), _) if place.end <= MAX_TEXT => (None, "marked"),
        (Some(_), _) => (Some("in the part of the answer that is not shown"), "elsewhere"),
        (None, true) => (Some("not in the answer; found in other material"), "elsewhere"),
        (None, false) => (Some("not found in what the judge was shown"), "missing"),
    };
    QuoteView { text: escape_lines(&cut_text(quote.quote.trim(), MAX_REASON)), remark, class }
}

/// Returns the first characters of a text as pieces. A piece that a single criterion quotes has that
/// criterion's class.
fn answer_view(pieces: Vec<TextPiece>, classes: &[&'static str]) -> AnswerView {
    let all: usize = pieces.iter().map(|piece| piece.text.chars().count()).sum();
    let cut =
        (all > MAX_TEXT).then(|| format!("cut: the answer has {} characters", number::grouped(all as u64)));

    let mut room = MAX_TEXT;
    let mut views = Vec::new();
    for mut piece in pieces {
        if room == 0 {
            break;
        }
        if let Some((end, _)) = piece.text.char_indices().nth(room) {
            piece.text.truncate(end);
        }
        room -= piece.text.chars().count();
        let class = match piece.numbers.as_slice() {
            [only] => classes.get(*only).copied().unwrap_or("plain"),
            _ => "plain",
        };
        views.push(PieceView { piece, class });
    }

    AnswerView { pieces: views, cut }
}

/// Places of the quotes of a case, by grader, criterion and quoted words.
struct EvidencePlaces(Vec<EvidencePlace>);

struct EvidencePlace {
    grader: String,
    criterion: String,
    quote: String,
    place: Option<QuotePlace>,
}

impl EvidencePlaces {
    fn new(explained: &CaseExplanation) -> Self {
        fn collect(grader: &str, part: &GraderPart, found: &mut Vec<EvidencePlace>) {
            for criterion in &part.criteria {
                let places = criterion.evidence.iter().zip(&criterion.evidence_places);
                found.extend(places.map(|(quote, place)| EvidencePlace {
                    grader: grader.to_owned(),
                    criterion: criterion.id.clone(),
                    quote: quote.quote.clone(),
                    place: *place,
                }));
            }
            part.members.iter().for_each(|member| collect(grader, member, found));
        }

        let mut found = Vec::new();
        explained.graders.iter().for_each(|part| collect(&part.name, part, &mut found));
        Self(found)
    }

    /// Takes the place of a quote. Members of a composite may have criteria with the same id and the same
    /// quote; these come in the order of the row, so each place is taken once.
    fn take(&mut self, grader: &str, criterion: &str, quote: &EvidenceQuote) -> Option<QuotePlace> {
        let is_of =
            |id: &str| criterion.strip_suffix(id).is_some_and(|path| path.is_empty() || path.ends_with('/'));
        let at = self
            .0
            .iter()
            .position(|one| one.grader == grader && one.quote == quote.quote && is_of(&one.criterion))?;
        self.0.remove(at).place
    }
}
