//! Share of a criterion or of a part of a scorecard in the score.

use std::path::Path;

use assize_evalfile::{CardMarks, CardParts, Case, Grader, GraderKind, Mark, RubricGrader, Scorecard};
use assize_rubric::{Aggregation, Criticality, Gate, Rubric};

use crate::check::{Checked, Content};

/// Maximum number of cases searched for the criterion under the cursor.
const MOST_CASES: usize = 20_000;

/// Describes the share of the criterion, benchmark or rubric at a byte offset of the text of the file at
/// `path`.
pub(crate) fn share(checked: &Checked, path: &Path, text: &str, at: usize) -> Option<String> {
    let touched = |mark: &Mark| {
        mark.path() == path && {
            let line = mark.first_line.saturating_sub(1);
            let base = if line == 0 {
                Some(0)
            } else {
                text.match_indices('\n').nth(line - 1).map(|(at, _)| at + 1)
            };
            base.is_some_and(|base| (base + mark.start..=base + mark.end).contains(&at))
        }
    };
    match &checked.content {
        Content::Suite(cases) => {
            for case in cases.iter().take(MOST_CASES).filter_map(Result::ok) {
                for grader in &case.graders {
                    if let Some(said) = in_grader(grader, &case, &touched) {
                        return Some(said);
                    }
                }
            }
            None
        }
        Content::Rubric(rubric) => find(rubric, &touched).map(|index| criterion(&rubric.rubric, index, None)),
        Content::Card(card) => in_card(card, &touched),
        Content::Nothing => None,
    }
}

fn in_grader(grader: &Grader, case: &Case, touched: &dyn Fn(&Mark) -> bool) -> Option<String> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let index = find(rubric, touched)?;
            let all: f64 = case.graders.iter().map(|grader| grader.standing.weight.get()).sum();
            let part = grader.standing.weight.get() / all;
            // The share of a member of a composite depends on its siblings.
            let is_own = case.graders.iter().any(|own| std::ptr::eq(&raw const **own, grader));
            let of_case = (is_own && case.graders.len() > 1 && all > 0.0).then_some(part);
            Some(criterion(&rubric.rubric, index, of_case))
        }
        GraderKind::Composite(composite) => {
            composite.members.iter().find_map(|member| in_grader(member, case, touched))
        }
        _ => None,
    }
}

/// Returns the index of the criterion that is touched.
fn find(rubric: &RubricGrader, touched: &dyn Fn(&Mark) -> bool) -> Option<usize> {
    rubric.marks.iter().position(|marks| {
        [&marks.head, &marks.id, &marks.text, &marks.weight, &marks.required, &marks.minimum]
            .into_iter()
            .flatten()
            .chain(&marks.bands)
            .any(touched)
    })
}

fn criterion(rubric: &Rubric, index: usize, of_case: Option<f64>) -> String {
    let criterion = &rubric.criteria()[index];
    let weight = criterion.weight.get();
    let earned: f64 = rubric.criteria().iter().map(|c| c.weight.get().max(0.0)).sum();
    let share = weight.abs() / earned;
    let mut text = format!("**criterion `{}`**: weight {weight}", criterion.id);
    if earned > 0.0 {
        text = if weight < 0.0 {
            format!("{text}, takes up to {} of the rubric's score", percent(share))
        } else {
            format!("{text} of {earned}, {} of the rubric's score", percent(share))
        };
        if let Some(part) = of_case {
            text = format!("{text}, {} of the case's", percent(share * part));
        }
    }
    let gate = match criterion.gate {
        Some(Gate::Met) => "\n\nRequired: the case fails without it.".to_owned(),
        Some(Gate::PassLine) => "\n\nRequired: the case fails if it stays below the pass line.".to_owned(),
        Some(Gate::MinRaw(raw)) => format!("\n\nThe case fails below {} of 10.", raw.get()),
        Some(Gate::MinValue(unit)) => format!("\n\nThe case fails below {}.", unit.get()),
        None => String::new(),
    };
    format!("{text}.{gate}")
}

fn in_card(card: &Scorecard, touched: &dyn Fn(&Mark) -> bool) -> Option<String> {
    let is_here = |marks: &CardMarks| {
        [Some(&marks.code), marks.weight.as_ref(), marks.threshold.as_ref(), marks.gate.as_ref()]
            .into_iter()
            .flatten()
            .any(touched)
    };
    if let Some(benchmark) = card.benchmarks.iter().find(|benchmark| is_here(&benchmark.marks)) {
        let gate = match benchmark.criticality {
            Criticality::HardGate => "A hard gate: below its threshold every level above is blocked.",
            Criticality::ThresholdGate => "Below its threshold it fails, and only its score counts above.",
            Criticality::ImprovementSignal => "An improvement signal: reported, and blocks nothing.",
        };
        let weight = benchmark.weight.get();
        let line = benchmark.threshold.get();
        let place = place_in(card, benchmark.parent, weight);
        return Some(format!(
            "**benchmark `{}`**: weight {weight}{place}; threshold {line}.\n\n{gate}",
            benchmark.code
        ));
    }
    let rubric = card.rubrics.iter().find(|rubric| is_here(&rubric.marks))?;
    let weight = rubric.weight.get();
    let place = rubric.parent.map(|parent| place_in(card, parent, weight)).unwrap_or_default();
    let gate = if rubric.hard_gate { "\n\nA hard gate: failing it blocks every level above." } else { "" };
    Some(format!(
        "**rubric `{}`**: weight {weight}{place}; passes at {}.{gate}",
        rubric.code,
        rubric.threshold.get()
    ))
}

/// Describes the share of a weight in a rubric whose aggregation uses weights.
fn place_in(card: &Scorecard, parent: usize, weight: f64) -> String {
    let Some(parent) = card.rubrics.get(parent) else { return String::new() };
    let total: f64 = match &parent.parts {
        CardParts::Benchmarks(parts) => parts.iter().map(|part| card.benchmarks[*part].weight.get()).sum(),
        CardParts::Rubrics(parts) => parts.iter().map(|part| card.rubrics[*part].weight.get()).sum(),
    };
    match parent.aggregation {
        Aggregation::WeightedAverage if total > 0.0 => {
            format!(", {} of the score of `{}`", percent(weight / total), parent.code)
        }
        Aggregation::Minimum => {
            format!("; the lowest score below `{}` counts, whatever it weighs", parent.code)
        }
        Aggregation::Maximum => {
            format!("; the highest score below `{}` counts, whatever it weighs", parent.code)
        }
        Aggregation::WeightedAverage => String::new(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
