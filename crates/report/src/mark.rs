//! Sign, word and tone of verdicts and outcomes.

use assize_rubric::{OutcomeKind, Verdict};
use assize_store::{CriterionRow, ResultRow};

use crate::number;
use crate::style::ReportTone;

/// The display of a verdict or outcome. The sign shows good or bad, the word names the result.
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

    /// Mark of a remark, which alone decides nothing.
    pub(crate) const fn remark() -> Self {
        Self { sign: "·", word: String::new(), tone: ReportTone::Dim }
    }

    /// Returns the mark of a criterion, `negated` if its grader is.
    pub(crate) fn for_criterion(row: &CriterionRow, negated: bool) -> Self {
        Self::for_outcome(row.outcome, row.score_out_of_ten(), row.weight < 0.0, negated)
    }

    /// Returns the mark of an outcome and its score, 0 to 10. A penalty is incurred or avoided; a criterion
    /// of a negated grader is good if its text is not met.
    pub(crate) fn for_outcome(
        outcome: OutcomeKind,
        points: Option<f64>,
        penalty: bool,
        negated: bool,
    ) -> Self {
        let (sign, word, tone) = match (outcome, points) {
            (OutcomeKind::Met | OutcomeKind::Unmet, _) => {
                let is_met = (outcome == OutcomeKind::Met) != negated;
                let (sign, tone) =
                    if is_met == penalty { ("✗", ReportTone::Bad) } else { ("✓", ReportTone::Good) };
                (sign, outcome_word(is_met, penalty).to_owned(), tone)
            }
            (OutcomeKind::Scored, Some(points)) => {
                let tone = match if penalty == negated { points } else { 10.0 - points } {
                    8.0.. => ReportTone::Good,
                    5.0.. => ReportTone::Middling,
                    _ => ReportTone::Bad,
                };
                ("•", format_raw_score(points), tone)
            }
            // The whole answer got a score, which is shown with the grader.
            (OutcomeKind::Scored, None) => ("•", "scored".to_owned(), ReportTone::Plain),
            (OutcomeKind::NotApplicable, _) => ("–", "n/a".to_owned(), ReportTone::Dim),
            (OutcomeKind::Ungraded, _) => ("?", "ungraded".to_owned(), ReportTone::Open),
        };
        Self { sign, word, tone }
    }
}

/// Returns the word of a decided outcome: `met` or `unmet`, of a penalty `incurred` or `avoided`.
pub const fn outcome_word(is_met: bool, penalty: bool) -> &'static str {
    match (is_met, penalty) {
        (true, false) => "met",
        (false, false) => "unmet",
        (true, true) => "incurred",
        (false, true) => "avoided",
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
    fn what_counts_against_an_answer_is_shown_as_bad() {
        use OutcomeKind::{Met, NotApplicable, Scored, Ungraded, Unmet};
        for outcome in [Met, Unmet, Scored, NotApplicable, Ungraded] {
            for (points, weight) in [None, Some(0.0), Some(4.5), Some(5.0), Some(9.0)]
                .into_iter()
                .flat_map(|points| [1.0, -1.0].map(|weight| (points, weight)))
            {
                let row = CriterionRow {
                    id: "c".into(),
                    outcome,
                    raw_score: None,
                    points,
                    value: None,
                    weight,
                    gate: None,
                    reason: String::new(),
                    evidence: Vec::new(),
                    judge: assize_rubric::JudgeIdentity::default(),
                    panel: None,
                    truncated: None,
                };
                for negated in [false, true] {
                    let is_bad = VerdictMark::for_criterion(&row, negated).tone == ReportTone::Bad;
                    assert_eq!(row.counts_against(negated), is_bad, "{row:?} {negated}");
                }
            }
        }
    }

    #[test]
    fn meeting_a_penalty_is_bad() {
        let shown = |outcome, points, penalty, negated| {
            let VerdictMark { sign, word, tone } =
                VerdictMark::for_outcome(outcome, points, penalty, negated);
            (sign, word, tone)
        };
        let decided = |outcome, penalty, negated| {
            let (sign, word, _) = shown(outcome, None, penalty, negated);
            format!("{sign} {word}")
        };
        assert_eq!(decided(OutcomeKind::Met, false, false), "✓ met");
        assert_eq!(decided(OutcomeKind::Met, true, false), "✗ incurred");
        assert_eq!(decided(OutcomeKind::Unmet, true, false), "✓ avoided");
        assert_eq!(decided(OutcomeKind::Met, false, true), "✗ unmet");
        assert_eq!(decided(OutcomeKind::Unmet, false, true), "✓ met");

        let scored = |points, penalty, negated| shown(OutcomeKind::Scored, Some(points), penalty, negated);
        assert_eq!(scored(9.0, false, false).2, ReportTone::Good);
        assert_eq!(scored(9.0, true, false).2, ReportTone::Bad);
        assert_eq!(scored(9.0, false, true).2, ReportTone::Bad);
        assert_eq!(scored(23.0 / 3.0, false, false).1, "7.67/10");
        assert_eq!(scored(7.0, false, false).1, "7/10");
    }
}
