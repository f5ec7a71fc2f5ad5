//! Share of a criterion or of a part of a scorecard in the score.

use std::path::Path;

use assize_model::{
    Case, Grader, GraderKind, RubricChildren, RubricGrader, Scorecard, ScorecardMarks, SourceMark,
};
use assize_rubric::{Criticality, Gate, Rubric, ScorecardAggregation, format_rate};

use crate::check::{DocumentCheck, DocumentContent};

/// Maximum number of cases searched for the criterion under the cursor.
const MAX_SEARCHED_CASES: usize = 20_000;

/// Describes the share of the criterion, benchmark or rubric at a byte offset of the text of the file at
/// `path`.
pub(crate) fn describe_share(checked: &DocumentCheck, path: &Path, text: &str, at: usize) -> Option<String> {
    let touched = |mark: &SourceMark| {
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
        DocumentContent::Suite(cases) => {
            for case in cases.iter().take(MAX_SEARCHED_CASES).filter_map(Result::ok) {
                for grader in &case.graders {
                    if let Some(text) = describe_grader_share(grader, &case, &touched) {
                        return Some(text);
                    }
                }
            }
            None
        }
        DocumentContent::Rubric(rubric) => find_criterion(rubric, &touched)
            .map(|index| describe_criterion_share(&rubric.rubric, index, None)),
        DocumentContent::Card(card) => describe_scorecard_share(card, &touched),
        DocumentContent::Nothing => None,
    }
}

fn describe_grader_share(
    grader: &Grader,
    case: &Case,
    touched: &dyn Fn(&SourceMark) -> bool,
) -> Option<String> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let index = find_criterion(rubric, touched)?;
            let all: f64 = case.graders.iter().map(|grader| grader.weighting.weight.get()).sum();
            let part = grader.weighting.weight.get() / all;

            // The share of a member of a composite depends on its siblings.
            let is_own = case.graders.iter().any(|own| std::ptr::eq(&raw const **own, grader));
            let of_case = (is_own && case.graders.len() > 1 && all > 0.0).then_some(part);
            Some(describe_criterion_share(&rubric.rubric, index, of_case))
        }
        GraderKind::Composite(composite) => {
            composite.members.iter().find_map(|member| describe_grader_share(member, case, touched))
        }
        _ => None,
    }
}

/// Returns the index of the criterion at the touched position.
fn find_criterion(rubric: &RubricGrader, touched: &dyn Fn(&SourceMark) -> bool) -> Option<usize> {
    rubric.marks.iter().position(|marks| {
        [&marks.head, &marks.id, &marks.text, &marks.weight, &marks.required, &marks.minimum]
            .into_iter()
            .flatten()
            .chain(&marks.bands)
            .any(touched)
    })
}

fn describe_criterion_share(rubric: &Rubric, index: usize, of_case: Option<f64>) -> String {
    let criterion = &rubric.criteria()[index];
    let weight = criterion.weight.get();
    let earned: f64 = rubric.criteria().iter().map(|c| c.weight.get().max(0.0)).sum();
    let share = weight.abs() / earned;
    let mut text = format!("**criterion `{}`**: weight {weight}", criterion.id);
    if earned > 0.0 {
        text = if weight < 0.0 {
            format!("{text}, takes up to {} of the rubric's score", format_rate(share))
        } else {
            format!("{text} of {earned}, {} of the rubric's score", format_rate(share))
        };
        if let Some(part) = of_case {
            text = format!("{text}, {} of the case's", format_rate(share * part));
        }
    }

    let gate = match criterion.gate {
        Some(Gate::Met) => "\n\nRequired: the case fails without it.".to_owned(),
        Some(Gate::PassLine) => "\n\nRequired: the case fails if it is below the pass threshold.".to_owned(),
        Some(Gate::MinRaw(raw)) => format!("\n\nThe case fails below {} of 10.", raw.get()),
        Some(Gate::MinValue(unit)) => format!("\n\nThe case fails below {}.", unit.get()),
        None => String::new(),
    };
    format!("{text}.{gate}")
}

fn describe_scorecard_share(card: &Scorecard, touched: &dyn Fn(&SourceMark) -> bool) -> Option<String> {
    let is_here = |marks: &ScorecardMarks| {
        [Some(&marks.code), marks.weight.as_ref(), marks.threshold.as_ref(), marks.gate.as_ref()]
            .into_iter()
            .flatten()
            .any(touched)
    };
    if let Some(benchmark) = card.benchmarks.iter().find(|benchmark| is_here(&benchmark.marks)) {
        let gate = match benchmark.criticality {
            Criticality::HardGate => "A hard gate: below its threshold, every node above is blocked.",
            Criticality::ThresholdGate => {
                "Below its threshold it fails; only its score affects the nodes above."
            }
            Criticality::ImprovementSignal => "An improvement signal: reported only; blocks nothing.",
        };

        let weight = benchmark.weight.get();
        let line = benchmark.threshold.get();
        let place = describe_rubric_share(card, benchmark.parent, weight);
        return Some(format!(
            "**benchmark `{}`**: weight {weight}{place}; threshold {line}.\n\n{gate}",
            benchmark.code
        ));
    }

    let rubric = card.rubrics.iter().find(|rubric| is_here(&rubric.marks))?;
    let weight = rubric.weight.get();
    let place = rubric.parent.map(|parent| describe_rubric_share(card, parent, weight)).unwrap_or_default();
    let gate = if rubric.hard_gate { "\n\nA hard gate: failing it blocks every node above." } else { "" };

    Some(format!(
        "**rubric `{}`**: weight {weight}{place}; threshold {}.{gate}",
        rubric.code,
        rubric.threshold.get()
    ))
}

/// Describes the share of a weight in a rubric whose aggregation uses weights.
fn describe_rubric_share(card: &Scorecard, parent: usize, weight: f64) -> String {
    let Some(parent) = card.rubrics.get(parent) else { return String::new() };
    let total: f64 = match &parent.parts {
        RubricChildren::Benchmarks(parts) => {
            parts.iter().map(|part| card.benchmarks[*part].weight.get()).sum()
        }
        RubricChildren::Rubrics(parts) => parts.iter().map(|part| card.rubrics[*part].weight.get()).sum(),
    };
    match parent.aggregation {
        ScorecardAggregation::WeightedAverage if total > 0.0 => {
            format!(", {} of the score of `{}`", format_rate(weight / total), parent.code)
        }
        ScorecardAggregation::Minimum => {
            format!("; only the lowest score below `{}` counts", parent.code)
        }
        ScorecardAggregation::Maximum => {
            format!("; only the highest score below `{}` counts", parent.code)
        }
        ScorecardAggregation::WeightedAverage => String::new(),
    }
}
