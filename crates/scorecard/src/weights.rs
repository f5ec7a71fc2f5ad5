//! Checks the weights of the children of a node, and of the weight sets of an index.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;
use assize_model::{RubricChildren, ScorecardIndex, WeightSet};
use assize_rubric::{Criticality, ScorecardAggregation, Weight};

use super::draft::{IndexDraft, PartsDraft, ScorecardDraft, WeightSetDraft};

/// Maximum deviation of a sum of weights from 1. It allows for rounding: three times 0.333333 is 0.999999.
const TOLERANCE: f64 = 1e-6 + 1e-9;

/// Checks the weights of each rubric's children. With minimum or maximum as aggregation, weights have no
/// effect.
pub(super) fn check_weights(cx: &mut DecodeContext, draft: &ScorecardDraft, parts: &[RubricChildren]) {
    for (rubric, parts) in draft.rubrics.iter().zip(parts) {
        if rubric.aggregation != ScorecardAggregation::WeightedAverage {
            continue;
        }

        // If a child could not be decoded or resolved, the sum means nothing.
        let weights: Option<Vec<(f64, bool)>> = match (parts, &rubric.parts) {
            (RubricChildren::Benchmarks(list), PartsDraft::Benchmarks(written))
                if list.len() == written.len() =>
            {
                list.iter()
                    .map(|&at| {
                        let benchmark = &draft.benchmarks[at];
                        let counts = benchmark.criticality != Criticality::ImprovementSignal;
                        Some((benchmark.weight?.get(), counts))
                    })
                    .collect()
            }
            (RubricChildren::Rubrics(list), PartsDraft::Rubrics(written)) if list.len() == written.len() => {
                list.iter().map(|&at| Some((draft.rubrics[at].weight?.get(), true))).collect()
            }
            _ => None,
        };

        let Some(weights) = weights else { continue };
        let whose = format!("the weights below `{}`", rubric.code.value);
        report_weight_sum(cx, &whose, rubric.code.span, &weights);
    }
}

/// Reports weights whose sum is 0, or not 1. Each weight comes with a flag that is false if it does not count
/// (an improvement signal). The sum may be 1 with or without these.
fn report_weight_sum(cx: &mut DecodeContext, whose: &str, at: Span, weights: &[(f64, bool)]) {
    if weights.is_empty() {
        return;
    }

    let sum = |all: bool| {
        weights.iter().filter(|(_, counts)| all || *counts).map(|(weight, _)| weight).sum::<f64>()
    };
    let (counting, all) = (sum(false), sum(true));
    if weights.iter().any(|(_, counts)| *counts) && counting <= 0.0 {
        Diagnostic::error(codes::NO_SHARE, format!("{whose} are all zero"))
            .at(at, "no weighted average")
            .with_help("give at least one of them a weight")
            .add_to(&mut cx.problems);
    } else if (counting - 1.0).abs() > TOLERANCE && (all - 1.0).abs() > TOLERANCE {
        let shown = (all * 1e6).round() / 1e6;
        Diagnostic::warning(codes::SHARES_NOT_ONE, format!("{whose} sum to {shown}, not to 1"))
            .at(
                at,
                if weights.len() == 1 {
                    "one weight".to_owned()
                } else {
                    format!("{} weights", weights.len())
                },
            )
            .with_note(format!(
                "the score is divided by their sum, so a weight of 1 counts as {}",
                (1e4 / all).round() / 1e4
            ))
            .with_help("make them sum to 1")
            .add_to(&mut cx.problems);
    }
}

/// Returns the index. Its components and the weights of each set are in the same order.
pub(super) fn resolve_index(
    cx: &mut DecodeContext,
    draft: &ScorecardDraft,
    parents: &[Option<(usize, Span)>],
    lookup: impl Fn(&mut DecodeContext, &SpannedValue<String>) -> Option<usize>,
) -> Option<ScorecardIndex> {
    let mut found = None;
    for index in &draft.indexes {
        let mut components: Vec<usize> = Vec::new();
        let mut names: Vec<&SpannedValue<String>> = Vec::new();
        for code in &index.components {
            let Some(component) = lookup(cx, code) else { continue };
            if let Some(first) = components.iter().position(|known| *known == component) {
                Diagnostic::error(codes::TWO_PARENTS, format!("the index lists `{}` twice", code.value))
                    .at(code.span, "second time")
                    .with_secondary(names[first].span, "first time")
                    .with_help("list it once")
                    .add_to(&mut cx.problems);
                continue;
            }

            if let Some((parent, place)) = parents[component] {
                let parent = &draft.rubrics[parent].code.value;
                Diagnostic::error(
                    codes::TWO_PARENTS,
                    format!("`{}` is listed under the index and under `{parent}`", code.value),
                )
                .at(code.span, "would count twice")
                .with_secondary(place, "listed here")
                .with_help("list it once, because a scorecard is a tree")
                .add_to(&mut cx.problems);
            }

            components.push(component);
            names.push(code);
        }

        let weight_sets =
            index.sets.iter().filter_map(|set| resolve_weight_set(cx, index, set, &names)).collect();
        let active = find_active_set(cx, index);

        if let Some(ScorecardIndex { code, .. }) = &found {
            Diagnostic::error(codes::NOT_A_SCORECARD, "the scorecard has two indexes")
                .at(index.code.span, format!("`{code}` is one already"))
                .with_help("keep one; put several sets of weights under `weight_sets`")
                .add_to(&mut cx.problems);
            continue;
        }

        found = Some(ScorecardIndex {
            code: Arc::from(index.code.value.as_str()),
            label: index.label.clone(),
            description: index.description.clone(),
            aggregation: index.aggregation,
            threshold: index.threshold,
            optional: index.optional,
            components,
            weight_sets,
            active,
        });
    }

    found
}

fn find_active_set(cx: &mut DecodeContext, index: &IndexDraft) -> usize {
    let Some(wanted) = &index.active else { return 0 };
    if let Some(at) = index.sets.iter().position(|set| set.name == wanted.value) {
        return at;
    }

    let names: Vec<String> = index.sets.iter().map(|set| format!("`{}`", set.name)).collect();
    Diagnostic::error(codes::BAD_WEIGHT_SET, format!("there is no weight set `{}`", wanted.value))
        .at(wanted.span, "not one of the sets")
        .with_help(format!("use one of {}", names.join(", ")))
        .add_to(&mut cx.problems);

    0
}

fn resolve_weight_set(
    cx: &mut DecodeContext,
    index: &IndexDraft,
    set: &WeightSetDraft,
    components: &[&SpannedValue<String>],
) -> Option<WeightSet> {
    let errors = cx.problems.error_count();

    for (code, _) in &set.weights {
        if !components.iter().any(|component| component.value == code.value) {
            Diagnostic::error(
                codes::BAD_WEIGHT_SET,
                format!("`{}` has a weight but is not a component", code.value),
            )
            .at(code.span, "not under `components`")
            .with_help("add it to `components`, or remove the weight")
            .add_to(&mut cx.problems);
        }
    }

    let mut weights: Vec<Weight> = Vec::new();
    for component in components {
        if let Some((_, weight)) = set.weights.iter().find(|(code, _)| code.value == component.value) {
            weights.push(*weight);
        } else {
            Diagnostic::error(
                codes::BAD_WEIGHT_SET,
                format!("the weight set `{}` lacks `{}`", set.name, component.value),
            )
            .at(set.span, "no weight for it")
            .with_help(format!("add `{}: 0.25`, or `0` if it does not count", component.value))
            .add_to(&mut cx.problems);
        }
    }

    if cx.problems.error_count() > errors {
        return None;
    }
    if index.aggregation == ScorecardAggregation::WeightedAverage {
        let counted: Vec<(f64, bool)> = weights.iter().map(|weight| (weight.get(), true)).collect();
        report_weight_sum(cx, &format!("the weights of the set `{}`", set.name), set.span, &counted);
    }

    Some(WeightSet { name: set.name.clone(), weights })
}
