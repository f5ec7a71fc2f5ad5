//! Sign, word and tone of verdicts and outcomes.

use assize_rubric::{OutcomeKind, Verdict};
use assize_store::ResultRow;

use crate::number;
use crate::style::ReportTone;

/// Presentation of a verdict or outcome. The sign says good or bad, the word names the result.
#[derive(Debug, Clone)]
pub(crate) struct VerdictMark {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    pub(crate) tone: ReportTone,
}

impl VerdictMark {
    pub(crate) fn for_verdict(verdict: Verdict) -> Self {
        let (sign, tone) = match verdict {
            Verdict::Pass => ("✓", ReportTone::Good),
            Verdict::Borderline => ("≈", ReportTone::Middling),
            Verdict::Fail => ("✗", ReportTone::Bad),
            Verdict::Incomplete => ("?", ReportTone::Open),
        };
        Self { sign, word: verdict.name().to_owned(), tone }
    }

    /// Returns the mark of a case.
    pub(crate) fn for_case(row: &ResultRow) -> Self {
        if row.is_skipped() { Self::skipped() } else { Self::for_verdict(row.verdict) }
    }

    /// Returns the mark of a case that was skipped because of another one.
    pub(crate) fn skipped() -> Self {
        Self { sign: "–", word: "skipped".to_owned(), tone: ReportTone::Open }
    }

    /// A remark: said along the way; alone it decides nothing.
    pub(crate) const fn remark() -> Self {
        Self { sign: "·", word: String::new(), tone: ReportTone::Dim }
    }

    /// An outcome: the points of a score, 0 to 10, and the weight, which says whether meeting it is good.
    pub(crate) fn for_outcome(outcome: OutcomeKind, points: Option<f64>, weight: f64) -> Self {
        let penalty = weight < 0.0;
        let (sign, word, tone) = match (outcome, points) {
            (OutcomeKind::Met | OutcomeKind::Unmet, _) => {
                let good = (outcome == OutcomeKind::Met) != penalty;
                let tone = if good { ReportTone::Good } else { ReportTone::Bad };
                (if good { "✓" } else { "✗" }, outcome.name().to_owned(), tone)
            }
            (OutcomeKind::Scored, Some(points)) => {
                let tone = match if penalty { 10.0 - points } else { points } {
                    8.0.. => ReportTone::Good,
                    5.0.. => ReportTone::Middling,
                    _ => ReportTone::Bad,
                };
                ("•", format_raw_score(points), tone)
            }
            // A judge or a program scored something as a whole; the figure stands with the grader.
            (OutcomeKind::Scored, None) => ("•", "scored".to_owned(), ReportTone::Plain),
            (OutcomeKind::NotApplicable, _) => ("–", "n/a".to_owned(), ReportTone::Dim),
            (OutcomeKind::Ungraded, _) => ("?", "ungraded".to_owned(), ReportTone::Open),
        };
        Self { sign, word, tone }
    }
}

/// Formats a raw score: `7/10`, `7.67/10`.
pub(crate) fn format_raw_score(points: f64) -> String {
    format!("{}/10", number::format_hundredths(points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_a_penalty_is_bad() {
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Met, None, -1.0).sign, "✗");
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Unmet, None, -1.0).tone, ReportTone::Good);
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Scored, Some(9.0), 1.0).tone, ReportTone::Good);
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Scored, Some(9.0), -1.0).tone, ReportTone::Bad);
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Scored, Some(23.0 / 3.0), 1.0).word, "7.67/10");
        assert_eq!(VerdictMark::for_outcome(OutcomeKind::Scored, Some(7.0), 1.0).word, "7/10");
    }
}
