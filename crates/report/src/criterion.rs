//! Decision on one criterion as lines of text.

use assize_rubric::{EvidenceQuote, OutcomeKind};
use assize_store::CriterionRow;

use crate::mark::VerdictMark;
use crate::number;
use crate::page::{ReportPage, ReportPiece};
use crate::quote_place::QuotePlace;
use crate::sanitize;
use crate::style::ReportTone;

/// A decision as lines of text.
pub(crate) struct CriterionLine<'a> {
    pub(crate) id: &'a str,
    /// Criterion text; without one, the id is shown.
    pub(crate) text: Option<&'a str>,
    /// Its outcome; `None` for a remark, which decides nothing.
    pub(crate) outcome: Option<OutcomeKind>,
    /// The score from 0 to 10, when there is one.
    pub(crate) points: Option<f64>,
    pub(crate) weight: f64,
    /// True if its grader is negated.
    pub(crate) negated: bool,
    pub(crate) gate: Option<&'a str>,
    pub(crate) gate_failed: bool,
    pub(crate) reason: &'a str,
    pub(crate) evidence: &'a [EvidenceQuote],
    /// Position of each quote in the answer; empty if the quotes were not searched for.
    pub(crate) places: &'a [Option<QuotePlace>],
    /// Additional lines at the end.
    pub(crate) notes: &'a [String],
}

/// Prefix of the text of a criterion of a negated grader.
pub(crate) const NEGATION_PREFIX: &str = "not: ";

/// Width of the longest outcome word.
pub(crate) const WORD_WIDTH: usize = 8;

impl<'a> CriterionLine<'a> {
    /// Creates a line from a stored decision. `notes` come from [`CriterionLine::notes`].
    pub(crate) fn from_row(
        row: &'a CriterionRow,
        text: Option<&'a str>,
        negated: bool,
        gate_failed: bool,
        notes: &'a [String],
    ) -> Self {
        Self {
            id: &row.id,
            text,
            outcome: Some(row.outcome),
            points: row.score_out_of_ten(),
            weight: row.weight,
            negated,
            gate: row.gate.as_deref(),
            gate_failed,
            reason: &row.reason,
            evidence: &row.evidence,
            places: &[],
            notes,
        }
    }

    /// Returns notes on how a stored decision was reached.
    pub(crate) fn notes(row: &CriterionRow) -> Vec<String> {
        let shown = row.truncated.map(crate::truncation::truncation_note);
        row.panel.iter().map(crate::panel::format_votes).chain(shown).collect()
    }
}

impl CriterionLine<'_> {
    /// Adds the decision to the page, its sign indented by `indent` columns.
    pub(crate) fn put(&self, page: &mut ReportPage, indent: usize) {
        let of = |outcome| VerdictMark::for_outcome(outcome, self.points, self.weight < 0.0, self.negated);
        let mark = self.outcome.map_or(VerdictMark::remark(), of);
        let lead = [
            ReportPiece::plain(" ".repeat(indent)),
            ReportPiece::new(mark.tone, format!("{} {:WORD_WIDTH$}  ", mark.sign, mark.word)),
        ];
        page.add_text(&lead, &self.heading());

        let below = [ReportPiece::plain(" ".repeat(indent + 2 + WORD_WIDTH + 2))];
        if !self.reason.trim().is_empty() {
            page.add_text(
                &below,
                &[ReportPiece::untrusted(ReportTone::Plain, self.reason, sanitize::MAX_REASON)],
            );
        }

        let mut places = self.places.iter().copied();
        for evidence in self.evidence {
            page.add_text(&below, &quote_pieces(evidence, places.next().flatten()));
        }

        for note in self.notes {
            page.add_text(&below, &[ReportPiece::untrusted(ReportTone::Dim, note, sanitize::MAX_REASON)]);
        }
    }

    fn heading(&self) -> Vec<ReportPiece> {
        let text = self.text.filter(|text| !text.trim().is_empty());
        let mut pieces = Vec::new();
        let mut about: Vec<ReportPiece> = Vec::new();
        if self.negated {
            pieces.push(ReportPiece::new(ReportTone::Strong, NEGATION_PREFIX));
        }

        match text {
            Some(text) => {
                pieces.push(ReportPiece::untrusted(ReportTone::Strong, text, sanitize::MAX_CRITERION_TEXT));
                about.extend(
                    (!self.id.is_empty() && !text.starts_with(self.id))
                        .then(|| ReportPiece::untrusted_name(ReportTone::Dim, self.id)),
                );
            }
            None => pieces.push(ReportPiece::untrusted_name(ReportTone::Strong, self.id)),
        }

        if self.weight < 0.0 {
            about.push(ReportPiece::new(
                ReportTone::Dim,
                format!("penalty {}", number::format_plain(-self.weight)),
            ));
        } else if self.weight != 1.0 {
            about.push(ReportPiece::new(
                ReportTone::Dim,
                format!("weight {}", number::format_plain(self.weight)),
            ));
        }

        if let Some(rule) = self.gate {
            let tone = if self.gate_failed { ReportTone::Bad } else { ReportTone::Dim };
            about.push(ReportPiece::untrusted(tone, rule, sanitize::MAX_NAME));
        }

        let has_notes = !about.is_empty();
        for (index, piece) in about.into_iter().enumerate() {
            pieces.push(ReportPiece::new(ReportTone::Dim, if index == 0 { "  [" } else { ", " }));
            pieces.push(piece);
        }

        if has_notes {
            pieces.push(ReportPiece::new(ReportTone::Dim, "]"));
        }

        pieces
    }
}

/// Formats a quote with its place in the answer, or with a note if it was not found.
pub(crate) fn quote_pieces(evidence: &EvidenceQuote, place: Option<QuotePlace>) -> Vec<ReportPiece> {
    let tone = if evidence.verified { ReportTone::Dim } else { ReportTone::Plain };
    let mut pieces = vec![
        ReportPiece::new(tone, "“"),
        ReportPiece::untrusted(tone, &evidence.quote, sanitize::MAX_QUOTE),
        ReportPiece::new(tone, "”"),
    ];
    if let Some(QuotePlace { turn, line, start, end }) = place {
        let answer =
            turn.map_or_else(|| "the answer".to_owned(), |turn| format!("the answer of turn {turn}"));
        let text = format!(" (line {line} of {answer}, characters {} to {end})", start + 1);
        pieces.push(ReportPiece::new(ReportTone::Dim, text));
    } else if !evidence.verified {
        pieces.push(ReportPiece::new(ReportTone::Middling, " (not found in what the judge was shown)"));
    }

    pieces
}
