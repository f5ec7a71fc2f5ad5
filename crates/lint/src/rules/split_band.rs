//! L0303: a minimum in the middle of a score range.

use assize_rubric::Gate;

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0303"),
    name: "minimum-inside-range",
    title: "The minimum is inside a score range, so one text covers pass and fail.",
    reason: "The judge chooses a range by its text, then a number in it. If the minimum splits a range, that number alone decides the case, without guidance. Set the minimum to the lowest score of a range.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- id: facts\n  outcome: The facts\n  min_score: 0.7\n  score_ranges:\n    0: Wrong carrier\n    6: Right carrier\n    9: Right carrier and date",
    ),
    good: RuleExample::Criteria(
        "- id: facts\n  outcome: The facts\n  min_score: 0.6\n  score_ranges:\n    0: Wrong carrier\n    6: Right carrier\n    9: Right carrier and date",
    ),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let (Some(bands), Some(marks)) = (view.bands(), view.marks()) else { return };
    let minimum = match view.criterion().gate {
        Some(Gate::MinRaw(raw)) => raw.get(),
        // A minimum between two scores is reached at the higher one.
        Some(Gate::MinValue(unit)) => (unit.get() * 10.0 - 1e-9).ceil() as u8,
        Some(Gate::Met | Gate::PassLine) | None => return,
    };

    let Some((index, band)) = bands
        .as_slice()
        .iter()
        .enumerate()
        .find(|(_, band)| band.low.get() < minimum && minimum <= band.high.get())
    else {
        return;
    };

    let (low, high) = (band.low.get(), band.high.get());
    let (Some(span), Some(text)) = (out.span(view.gate_mark()), out.span(marks.bands.get(index))) else {
        return;
    };
    let scores = |from: u8, to: u8| if from == to { from.to_string() } else { format!("{from} to {to}") };
    let others = if high < 10 { format!("{low} or {}", high + 1) } else { low.to_string() };

    Diagnostic::warning(RULE.code, "this minimum splits a score range")
        .at(
            span,
            format!("of its scores {} fail and {} pass", scores(low, minimum - 1), scores(minimum, high)),
        )
        .with_secondary(text, format!("one text for {low} to {high}"))
        .with_help(format!("take {others} of 10 as the minimum, or divide the range at {minimum}"))
        .add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    fn found(minimum: &str) -> usize {
        in_criteria(
            "L0303",
            &format!("- id: a1\n  {minimum}\n  score_ranges: {{0: Low, 4: Middle, 7: Top}}\n"),
        )
        .len()
    }

    #[test]
    fn only_the_beginning_of_a_range_is_a_sound_minimum() {
        for (minimum, count) in [
            ("min_score: 0.7", 0),
            ("min_score: 0.4", 0),
            ("min_score: 0.65", 0),
            ("min_score: 0.5", 1),
            ("required_min_score: 8", 1),
            ("required_min_score: 7", 0),
            ("min_score: 1.0", 1),
        ] {
            assert_eq!(found(minimum), count, "{minimum}");
        }
    }
}
