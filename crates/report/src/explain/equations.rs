//! Calculations of scores, written out in numbers.
//!
//! The results come from `assize-rubric`; the sums here only show the steps.

use assize_rubric::{Outcome, ScoringFormula};

use super::model::ScoreEquation;
use crate::number::format_plain;

/// Sums of weights by state, in the same unit. Penalties are stored as positive numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WeightSums {
    earned: f64,
    points_judged: f64,
    points_open: f64,
    incurred: f64,
    penalty_judged: f64,
    penalty_open: f64,
}

impl WeightSums {
    /// Adds a criterion.
    pub(crate) fn add(&mut self, weight: f64, outcome: Outcome) {
        match (outcome, outcome.value(), weight < 0.0) {
            (Outcome::NotApplicable, ..) => {}
            (_, Some(value), false) => {
                self.points_judged += weight;
                self.earned += weight * value;
            }
            (_, None, false) => self.points_open += weight,
            (_, Some(value), true) => {
                self.penalty_judged -= weight;
                self.incurred -= weight * value;
            }
            (_, None, true) => self.penalty_open -= weight,
        }
    }

    /// Returns the calculations of the score, or of its bounds.
    pub(crate) fn equations(&self, formula: ScoringFormula) -> Vec<ScoreEquation> {
        let has_ungraded = self.points_open > 0.0 || self.penalty_open > 0.0;
        if !has_ungraded {
            return vec![new_equation("score", "", self.completion_text(formula, false))];
        }

        let (worst, best) = match (self.points_open > 0.0, self.penalty_open > 0.0) {
            (true, false) => ("ungraded criteria earn nothing", "ungraded criteria earn all their points"),
            (false, true) => ("every ungraded penalty is incurred", "no ungraded penalty is incurred"),
            _ => (
                "ungraded criteria earn nothing and every ungraded penalty is incurred",
                "ungraded criteria earn all their points and no ungraded penalty is incurred",
            ),
        };

        let mut equations = vec![
            new_equation("worst", worst, self.completion_text(formula, false)),
            new_equation("best", best, self.completion_text(formula, true)),
        ];
        if formula == ScoringFormula::WithPenalties && self.points_judged == 0.0 {
            let when = "no criterion with points applies; only penalties do";
            for best in [false, true] {
                equations.push(new_equation(
                    "otherwise",
                    when,
                    self.completion_text(ScoringFormula::PenaltiesOnly, best),
                ));
            }

            equations.dedup();
        }

        equations
    }

    fn completion_text(&self, formula: ScoringFormula, best: bool) -> String {
        let points = self.points_judged + self.points_open;
        let penalties = self.penalty_judged + self.penalty_open;
        let gained = if best { self.points_open } else { 0.0 };
        let lost = if best { 0.0 } else { self.penalty_open };
        let mut terms = format_plain(self.earned);
        let mut several = false;
        let mut add = |sign: &str, value: f64| {
            if value > 0.0 {
                terms = format!("{terms} {sign} {}", format_plain(value));
                several = true;
            }
        };

        if formula == ScoringFormula::PenaltiesOnly {
            let incurred = match (self.incurred > 0.0, lost > 0.0) {
                (true, true) => format!("({} + {})", format_plain(self.incurred), format_plain(lost)),
                (_, true) => format_plain(lost),
                _ => format_plain(self.incurred),
            };
            let result = 1.0 - (self.incurred + lost) / penalties;
            return format!("1 - {incurred} / {} = {}", format_plain(penalties), format_clamped(result));
        }

        add("+", gained);
        add("-", self.incurred);
        add("-", lost);

        let result = (self.earned + gained - self.incurred - lost) / points;
        let terms = if several { format!("({terms})") } else { terms };
        format!("{terms} / {} = {}", format_plain(points), format_clamped(result))
    }
}

/// Describes the formula in words.
pub const fn formula_text(formula: ScoringFormula) -> &'static str {
    match formula {
        ScoringFormula::WeightedMean => "weighted mean: sum of points / sum of weights",
        ScoringFormula::WithPenalties => {
            "with penalties: (points earned - penalties incurred) / sum of the positive weights, clamped to 0 and 1"
        }
        ScoringFormula::PenaltiesOnly => {
            "penalties only: 1 - penalties incurred / sum of all penalties, clamped to 0 and 1"
        }
    }
}

/// Returns the calculations of a case from its graders: weight and bounds of those that apply.
pub(crate) fn case_equations(graders: &[(f64, (f64, f64))]) -> Vec<ScoreEquation> {
    let total: f64 = graders.iter().map(|(weight, _)| weight).sum();
    if total <= 0.0 || !total.is_finite() {
        return Vec::new();
    }

    if let [(_, (low, high))] = graders {
        let text = if low == high {
            format_plain(*low)
        } else {
            format!("{} to {}", format_plain(*low), format_plain(*high))
        };
        return vec![new_equation("score", "score of the only grader", text)];
    }

    let known = graders.iter().all(|(_, (low, high))| low == high);
    let line = |of, when: &str, pick: fn(&(f64, f64)) -> f64| {
        let terms: Vec<String> = graders
            .iter()
            .map(|(weight, bounds)| format!("{} × {}", format_plain(*weight), format_plain(pick(bounds))))
            .collect();
        let sum: f64 = graders.iter().map(|(weight, bounds)| weight * pick(bounds)).sum();
        let terms = if terms.len() == 1 { terms.concat() } else { format!("({})", terms.join(" + ")) };
        new_equation(of, when, format!("{terms} / {} = {}", format_plain(total), format_plain(sum / total)))
    };
    if known {
        vec![line("score", "", |bounds| bounds.0)]
    } else {
        vec![
            line("worst", "every grader at its lowest score", |bounds| bounds.0),
            line("best", "every grader at its highest score", |bounds| bounds.1),
        ]
    }
}

/// Returns the calculations of a composite that takes the score of one member: `word` names the choice,
/// `pick` makes it.
pub(crate) fn extreme_equations(
    word: &str,
    graders: impl Iterator<Item = (f64, (f64, f64))>,
    pick: fn(f64, f64) -> f64,
) -> Vec<ScoreEquation> {
    let bounds: Vec<(f64, f64)> = graders.filter(|(weight, _)| *weight > 0.0).map(|(_, of)| of).collect();
    let line = |of, when: &str, side: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = bounds.iter().map(side).collect();
        let result = values.iter().copied().reduce(pick)?;
        let listed: Vec<String> = values.iter().map(|value| format_plain(*value)).collect();
        Some(new_equation(of, when, format!("{word} of {} = {}", listed.join(", "), format_plain(result))))
    };
    if bounds.iter().all(|(low, high)| low == high) {
        line("score", "", |bounds| bounds.0).into_iter().collect()
    } else {
        let worst = line("worst", "every grader at its lowest score", |bounds| bounds.0);
        worst
            .into_iter()
            .chain(line("best", "every grader at its highest score", |bounds| bounds.1))
            .collect()
    }
}

fn format_clamped(result: f64) -> String {
    if result < 0.0 && format_plain(result) != "0" {
        format!("{}, clamped to 0", format_plain(result))
    } else if result > 1.0 && format_plain(result) != "1" {
        format!("{}, clamped to 1", format_plain(result))
    } else {
        format_plain(result.clamp(0.0, 1.0))
    }
}

fn new_equation(of: &'static str, when: &str, text: String) -> ScoreEquation {
    ScoreEquation { of, when: when.to_owned(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(criteria: &[(f64, Outcome)]) -> WeightSums {
        let mut sums = WeightSums::default();
        for (weight, outcome) in criteria {
            sums.add(*weight, *outcome);
        }
        sums
    }

    fn texts(sums: WeightSums, formula: ScoringFormula) -> Vec<String> {
        sums.equations(formula).into_iter().map(|equation| equation.text).collect()
    }

    #[test]
    fn each_formula_is_written_out() {
        let mean = sums(&[(2.0, Outcome::Met), (1.0, Outcome::Unmet), (5.0, Outcome::NotApplicable)]);
        assert_eq!(texts(mean, ScoringFormula::WeightedMean), ["2 / 3 = 0.666667"]);
        let penalised = sums(&[(2.0, Outcome::Unmet), (-1.0, Outcome::Met)]);
        assert_eq!(texts(penalised, ScoringFormula::WithPenalties), ["(0 - 1) / 2 = -0.5, clamped to 0"]);
        let only = sums(&[(-3.0, Outcome::Met), (-1.0, Outcome::Unmet)]);
        assert_eq!(texts(only, ScoringFormula::PenaltiesOnly), ["1 - 3 / 4 = 0.25"]);
    }

    #[test]
    fn what_is_ungraded_is_completed_both_ways() {
        let open = sums(&[(2.0, Outcome::Met), (2.0, Outcome::Ungraded), (-1.0, Outcome::Ungraded)]);
        assert_eq!(texts(open, ScoringFormula::WithPenalties), ["(2 - 1) / 4 = 0.25", "(2 + 2) / 4 = 1"]);
        let nothing = sums(&[(2.0, Outcome::Ungraded), (-1.0, Outcome::Unmet)]);
        assert_eq!(
            texts(nothing, ScoringFormula::WithPenalties),
            ["0 / 2 = 0", "(0 + 2) / 2 = 1", "1 - 0 / 1 = 1"]
        );
    }

    #[test]
    fn the_member_that_counts_is_named_by_its_score() {
        let texts = |graders: Vec<_>, pick| -> Vec<String> {
            extreme_equations("lowest", graders.into_iter(), pick).into_iter().map(|line| line.text).collect()
        };
        assert_eq!(texts(vec![(1.0, (0.5, 0.5)), (1.0, (0.9, 0.9))], f64::min), ["lowest of 0.5, 0.9 = 0.5"]);
        assert_eq!(
            texts(vec![(1.0, (0.0, 1.0)), (1.0, (0.9, 0.9))], f64::min),
            ["lowest of 0, 0.9 = 0", "lowest of 1, 0.9 = 0.9"]
        );
        assert!(texts(vec![], f64::max).is_empty());
    }

    #[test]
    fn graders_are_averaged_by_weight() {
        let texts: Vec<String> = case_equations(&[(2.0, (0.5, 0.5)), (1.0, (0.9, 0.9))])
            .into_iter()
            .map(|line| line.text)
            .collect();
        assert_eq!(texts, ["(2 × 0.5 + 1 × 0.9) / 3 = 0.633333"]);
        assert_eq!(
            case_equations(&[(1.0, (0.0, 1.0)), (1.0, (1.0, 1.0))])[0].text,
            "(1 × 0 + 1 × 1) / 2 = 0.5"
        );
        assert_eq!(case_equations(&[(2.0, (0.25, 1.0))])[0].text, "0.25 to 1");
        assert!(case_equations(&[]).is_empty());
    }
}
