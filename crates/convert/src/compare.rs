//! Compares the meaning of two eval files.

use assize_model::{Case, EvalFileFormat, Grader, GraderKind, Suite};
use assize_rubric::{CriterionOperator, CriterionScale, Gate, Rubric, VerdictThresholds};

/// Describes the differences between two files, each given as a suite with its cases: cases, questions,
/// answers, graders, criteria, weights, gates and thresholds. Empty if both give every outcome the same
/// score.
///
/// Names, spellings and positions may differ.
pub fn differences(a: (&Suite, &[Case]), b: (&Suite, &[Case])) -> Vec<String> {
    let mut found = Vec::new();
    for case in a.1 {
        match b.1.iter().find(|other| other.id == case.id) {
            None => found.push(format!("case `{}` is missing", case.id)),
            Some(other) => {
                compare_case((a.0, case), (b.0, other), &mut found);
            }
        }
    }

    for case in b.1.iter().filter(|case| a.1.iter().all(|other| other.id != case.id)) {
        found.push(format!("case `{}` is new", case.id));
    }

    found
}

fn compare_case(a: (&Suite, &Case), b: (&Suite, &Case), found: &mut Vec<String>) {
    let (case, other) = (a.1, b.1);
    let mut differs = |what: &str| found.push(format!("case `{}`: {what}", case.id));
    if case.question() != other.question() || case.input.len() != other.input.len() {
        differs("the question differs");
    }
    if case.reference() != other.reference() {
        differs("the reference answer differs");
    }
    if case.expected_outcome != other.expected_outcome {
        differs("the expected outcome differs");
    }
    if case.output != other.output || case.vars != other.vars {
        differs("the given answer or the variables differ");
    }
    if thresholds_in_millionths(a.0, case) != thresholds_in_millionths(b.0, other) {
        differs("the pass or borderline threshold differs");
    }
    let codes = |case: &Case| case.transforms.iter().map(|one| one.code.clone()).collect::<Vec<_>>();
    if codes(case) != codes(other) {
        differs("the code that changes the answer differs");
    }
    if case.graders.len() != other.graders.len() {
        differs(&format!("{} graders became {}", case.graders.len(), other.graders.len()));
        return;
    }

    for (grader, same) in case.graders.iter().zip(&other.graders) {
        if let Some(what) = compare_grader(grader, same) {
            differs(&format!("grader `{}`: {what}", grader.name));
        }
    }
}

/// Returns the pass and borderline thresholds of a case in millionths. A borderline threshold that has no
/// effect counts as absent.
fn thresholds_in_millionths(suite: &Suite, case: &Case) -> (i64, Option<i64>) {
    let whole = |line: f64| (line * 1e6).round() as i64;
    let pass = case
        .thresholds
        .pass
        .or(suite.settings.thresholds.pass)
        .map_or(VerdictThresholds::DEFAULT_PASS, assize_rubric::UnitInterval::get);

    let own = case.thresholds.borderline.or(suite.settings.thresholds.borderline);
    let borderline = own.or(suite.format.default_borderline()).map(assize_rubric::UnitInterval::get);
    (whole(pass), borderline.filter(|line| *line < pass - assize_rubric::TOLERANCE).map(whole))
}

fn compare_grader(a: &Grader, b: &Grader) -> Option<&'static str> {
    if a.weighting != b.weighting {
        return Some("its weight, gate or minimum differs");
    }
    match (&a.kind, &b.kind) {
        (GraderKind::Rubric(a), GraderKind::Rubric(b)) => {
            if !same_rubric(&a.rubric, &b.rubric) {
                return Some("its criteria differ");
            }
            ((&a.judging, &a.evidence, &a.judge) != (&b.judging, &b.evidence, &b.judge))
                .then_some("how it is judged differs")
        }
        (GraderKind::Composite(a), GraderKind::Composite(b)) => {
            if a.members.len() != b.members.len() || a.aggregator != b.aggregator {
                return Some("its members differ");
            }
            a.members.iter().zip(&b.members).find_map(|(a, b)| compare_grader(a, b))
        }
        (GraderKind::Transformed(a), GraderKind::Transformed(b)) => {
            if a.transform != b.transform {
                return Some("the code that changes the answer differs");
            }
            compare_grader(&a.inner, &b.inner)
        }
        (a, b) => (a != b).then_some("it does something else"),
    }
}

/// Id, text, bits of the weight, scale, gate, operator, and whether the criterion may be not applicable.
type CriterionMeaning = (String, String, u64, CriterionScale, Option<i64>, CriterionOperator, bool);

fn same_rubric(a: &Rubric, b: &Rubric) -> bool {
    let key = |rubric: &Rubric| -> Vec<CriterionMeaning> {
        rubric
            .criteria()
            .iter()
            .map(|c| {
                let weight = (c.weight.get() + 0.0).to_bits();
                (
                    c.id.to_string(),
                    c.text.clone(),
                    weight,
                    c.scale.clone(),
                    gate_minimum(c.gate, &c.scale),
                    c.operator,
                    c.may_not_apply,
                )
            })
            .collect()
    };
    key(a) == key(b)
}

/// Returns a gate as a minimum score in millionths, or -1 if the minimum is the pass threshold.
fn gate_minimum(gate: Option<Gate>, scale: &CriterionScale) -> Option<i64> {
    let whole = |value: f64| (value * 1e6).round() as i64;
    let value = match gate? {
        Gate::PassLine => return Some(-1),
        Gate::Met => 1.0,
        Gate::MinRaw(raw) => raw.value(),
        Gate::MinValue(unit) => unit.get(),
    };
    match scale {
        // For a checklist criterion, every minimum above 0 has the same effect.
        CriterionScale::Checklist if value > 0.0 => Some(whole(1.0)),
        // A minimum of 0 is always reached.
        _ if value <= 0.0 => None,
        _ => Some(whole(value)),
    }
}

/// Returns the other format.
pub(crate) fn other_format(format: EvalFileFormat) -> EvalFileFormat {
    format.choose(EvalFileFormat::Two, EvalFileFormat::One)
}
