//! The sign, word and tone of verdicts and outcomes.

use assize_rubric::Verdict;

use crate::style::Tone;

/// How something that was decided is shown. The sign says good or bad, the word what was decided.
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

    /// A stored outcome: its word, raw score, and weight, which says whether meeting it is good.
    pub(crate) fn outcome(outcome: &str, raw_score: Option<u8>, weight: f64) -> Self {
        let penalty = weight < 0.0;
        let (sign, word, tone) = match (outcome, raw_score) {
            ("met" | "unmet", _) => {
                let good = (outcome == "met") != penalty;
                (if good { "✓" } else { "✗" }, outcome.to_owned(), if good { Tone::Good } else { Tone::Bad })
            }
            ("scored", Some(raw)) => {
                let tone = match if penalty { 10u8.saturating_sub(raw) } else { raw } {
                    8.. => Tone::Good,
                    5..8 => Tone::Middling,
                    _ => Tone::Bad,
                };
                ("•", format!("{raw}/10"), tone)
            }
            // A judge or a program scored something as a whole; the figure stands with the grader.
            ("scored", None) => ("•", "scored".to_owned(), Tone::Plain),
            ("not_applicable", _) => ("–", "n/a".to_owned(), Tone::Dim),
            ("ungraded", _) => ("?", "ungraded".to_owned(), Tone::Open),
            // A word no version writes: shown as it stands.
            (other, _) => ("?", other.chars().take(12).collect(), Tone::Open),
        };
        Self { sign, word, tone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_a_penalty_is_bad() {
        assert_eq!(Mark::outcome("met", None, -1.0).sign, "✗");
        assert_eq!(Mark::outcome("unmet", None, -1.0).tone, Tone::Good);
        assert_eq!(Mark::outcome("scored", Some(9), 1.0).tone, Tone::Good);
        assert_eq!(Mark::outcome("scored", Some(9), -1.0).tone, Tone::Bad);
    }
}
