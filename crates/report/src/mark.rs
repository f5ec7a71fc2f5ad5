//! Sign, word and tone of verdicts and outcomes.

use assize_rubric::{OutcomeKind, Verdict};
use assize_store::ResultRow;

use crate::number;
use crate::style::Tone;

/// Presentation of a verdict or outcome. The sign says good or bad, the word names the result.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    pub(crate) tone: Tone,
}

impl Mark {
    pub(crate) fn verdict(verdict: Verdict) -> Self {
        let (sign, tone) = match verdict {
            Verdict::Pass => ("✓", Tone::Good),
            Verdict::Borderline => ("≈", Tone::Middling),
            Verdict::Fail => ("✗", Tone::Bad),
            Verdict::Incomplete => ("?", Tone::Open),
        };
        Self { sign, word: verdict.name().to_owned(), tone }
    }

    /// Returns the mark of a case.
    pub(crate) fn row(row: &ResultRow) -> Self {
        if row.is_skipped() { Self::skipped() } else { Self::verdict(row.verdict) }
    }

    /// Returns the mark of a case that was skipped because of another one.
    pub(crate) fn skipped() -> Self {
        Self { sign: "–", word: "skipped".to_owned(), tone: Tone::Open }
    }

    /// A remark: said along the way; alone it decides nothing.
    pub(crate) const fn remark() -> Self {
        Self { sign: "·", word: String::new(), tone: Tone::Dim }
    }

    /// An outcome: the points of a score, 0 to 10, and the weight, which says whether meeting it is good.
    pub(crate) fn outcome(outcome: OutcomeKind, points: Option<f64>, weight: f64) -> Self {
        let penalty = weight < 0.0;
        let (sign, word, tone) = match (outcome, points) {
            (OutcomeKind::Met | OutcomeKind::Unmet, _) => {
                let good = (outcome == OutcomeKind::Met) != penalty;
                let tone = if good { Tone::Good } else { Tone::Bad };
                (if good { "✓" } else { "✗" }, outcome.name().to_owned(), tone)
            }
            (OutcomeKind::Scored, Some(points)) => {
                let tone = match if penalty { 10.0 - points } else { points } {
                    8.0.. => Tone::Good,
                    5.0.. => Tone::Middling,
                    _ => Tone::Bad,
                };
                ("•", of_ten(points), tone)
            }
            // A judge or a program scored something as a whole; the figure stands with the grader.
            (OutcomeKind::Scored, None) => ("•", "scored".to_owned(), Tone::Plain),
            (OutcomeKind::NotApplicable, _) => ("–", "n/a".to_owned(), Tone::Dim),
            (OutcomeKind::Ungraded, _) => ("?", "ungraded".to_owned(), Tone::Open),
        };
        Self { sign, word, tone }
    }
}

/// Formats a raw score: `7/10`, `7.67/10`.
pub(crate) fn of_ten(points: f64) -> String {
    format!("{}/10", number::hundredths(points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_a_penalty_is_bad() {
        assert_eq!(Mark::outcome(OutcomeKind::Met, None, -1.0).sign, "✗");
        assert_eq!(Mark::outcome(OutcomeKind::Unmet, None, -1.0).tone, Tone::Good);
        assert_eq!(Mark::outcome(OutcomeKind::Scored, Some(9.0), 1.0).tone, Tone::Good);
        assert_eq!(Mark::outcome(OutcomeKind::Scored, Some(9.0), -1.0).tone, Tone::Bad);
        assert_eq!(Mark::outcome(OutcomeKind::Scored, Some(23.0 / 3.0), 1.0).word, "7.67/10");
        assert_eq!(Mark::outcome(OutcomeKind::Scored, Some(7.0), 1.0).word, "7/10");
    }
}
