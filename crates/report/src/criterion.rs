//! Decision on one criterion as lines of text.

use assize_rubric::{Evidence, OutcomeKind};
use assize_store::CriterionRow;

use crate::clean;
use crate::mark::Mark;
use crate::number;
use crate::page::{Page, Piece};
use crate::style::Tone;

/// A decision as lines of text.
pub(crate) struct CriterionLine<'a> {
    pub(crate) id: &'a str,
    /// Criterion text; the id is shown without one.
    pub(crate) text: Option<&'a str>,
    /// Its outcome; `None` for a remark, which decides nothing.
    pub(crate) outcome: Option<OutcomeKind>,
    /// The score from 0 to 10, when there is one.
    pub(crate) points: Option<f64>,
    pub(crate) weight: f64,
    pub(crate) gate: Option<&'a str>,
    pub(crate) gate_failed: bool,
    pub(crate) reason: &'a str,
    pub(crate) evidence: &'a [Evidence],
    /// Additional lines below the rest.
    pub(crate) notes: &'a [String],
}

/// Width of the longest outcome word.
const WORD: usize = 8;

impl<'a> CriterionLine<'a> {
    /// The decision that is on record. `notes` come from [`CriterionLine::notes`].
    pub(crate) fn of(
        row: &'a CriterionRow,
        text: Option<&'a str>,
        gate_failed: bool,
        notes: &'a [String],
    ) -> Self {
        Self {
            id: &row.id,
            text,
            outcome: Some(row.outcome),
            points: row.score_of_ten(),
            weight: row.weight,
            gate: row.gate.as_deref(),
            gate_failed,
            reason: &row.reason,
            evidence: &row.evidence,
            notes,
        }
    }

    /// Returns notes on how a stored decision was reached.
    pub(crate) fn notes(row: &CriterionRow) -> Vec<String> {
        let shown = row.truncated.map(crate::truncation::brief);
        row.panel.iter().map(crate::panel::brief).chain(shown).collect()
    }
}

impl CriterionLine<'_> {
    /// Sets the decision, its sign `indent` columns in.
    pub(crate) fn put(&self, page: &mut Page, indent: usize) {
        let of = |outcome| Mark::outcome(outcome, self.points, self.weight);
        let mark = self.outcome.map_or(Mark::remark(), of);
        let lead = [
            Piece::plain(" ".repeat(indent)),
            Piece::new(mark.tone, format!("{} {:WORD$}  ", mark.sign, mark.word)),
        ];
        page.text(&lead, &self.heading());
        let below = [Piece::plain(" ".repeat(indent + 2 + WORD + 2))];
        if !self.reason.trim().is_empty() {
            page.text(&below, &[Piece::said(Tone::Plain, self.reason, clean::REASON)]);
        }
        for evidence in self.evidence {
            page.text(&below, &quote(evidence));
        }
        for note in self.notes {
            page.text(&below, &[Piece::said(Tone::Dim, note, clean::REASON)]);
        }
    }

    fn heading(&self) -> Vec<Piece> {
        let text = self.text.filter(|text| !text.trim().is_empty());
        let mut pieces = Vec::new();
        let mut about: Vec<Piece> = Vec::new();
        match text {
            Some(text) => {
                pieces.push(Piece::said(Tone::Strong, text, clean::LABEL));
                about.extend((!self.id.is_empty()).then(|| Piece::name(Tone::Dim, self.id)));
            }
            None => pieces.push(Piece::name(Tone::Strong, self.id)),
        }
        if self.weight < 0.0 {
            about.push(Piece::new(Tone::Dim, format!("penalty {}", number::plain(-self.weight))));
        } else if self.weight != 1.0 {
            about.push(Piece::new(Tone::Dim, format!("weight {}", number::plain(self.weight))));
        }
        if let Some(rule) = self.gate {
            let tone = if self.gate_failed { Tone::Bad } else { Tone::Dim };
            about.push(Piece::said(tone, rule, clean::ID));
        }
        for (index, piece) in about.into_iter().enumerate() {
            pieces.push(Piece::new(Tone::Dim, if index == 0 { "  [" } else { ", " }));
            pieces.push(piece);
        }
        if pieces.len() > 1 {
            pieces.push(Piece::new(Tone::Dim, "]"));
        }
        pieces
    }
}

/// Formats a quote, with a note if it was not found.
pub(crate) fn quote(evidence: &Evidence) -> Vec<Piece> {
    let tone = if evidence.verified { Tone::Dim } else { Tone::Plain };
    let mut pieces =
        vec![Piece::new(tone, "“"), Piece::said(tone, &evidence.quote, clean::QUOTE), Piece::new(tone, "”")];
    if !evidence.verified {
        pieces.push(Piece::new(Tone::Middling, " (not found in what the judge was shown)"));
    }
    pieces
}
