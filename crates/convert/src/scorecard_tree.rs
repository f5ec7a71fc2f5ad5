//! Converts scorecards and suites to requirement trees.

use assize_model::{Case, Grader, GraderKind, RubricChildren, Scorecard, Suite};
use assize_rubric::{CriterionOperator, CriterionScale, Criticality, Gate, ScorecardAggregation};

use crate::note::{ConversionNotes, lost_names};
use crate::tree::{RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};

/// Converts a scorecard to a tree. Adds notes about the parts that a tree of weighted means can't express.
pub(crate) fn tree_from_scorecard(card: &Scorecard, notes: &mut ConversionNotes) -> RequirementTree {
    let mut root = RequirementBranch::new(card.name.clone(), card.name.clone(), 1.0);
    let parts = match &card.index {
        Some(index) => {
            root.text = index.label.clone().unwrap_or_else(|| index.code.to_string());
            root.threshold = Some(index.threshold.get());
            note_aggregation(index.aggregation, &index.code, None, notes);

            for (at, set) in index.weight_sets.iter().enumerate().filter(|(at, _)| *at != index.active) {
                notes.add_loss(
                    None,
                    format!("weights `{}`", set.name),
                    format!("set {} of the index; only the active one is converted", at + 1),
                );
            }

            let weights = index.weight_sets.get(index.active).map_or(&[][..], |set| &set.weights);
            index
                .components
                .iter()
                .enumerate()
                .map(|(at, rubric)| (*rubric, weights.get(at).map(|w| w.get())))
                .collect::<Vec<_>>()
        }
        None => card.tops.iter().map(|rubric| (*rubric, None)).collect(),
    };
    for (rubric, weight) in parts {
        let mut branch = self::rubric_branch(card, rubric, notes);
        branch.weight = weight.unwrap_or(branch.weight);
        root.parts.push(RequirementNode::Branch(branch));
    }

    if let ([RequirementNode::Branch(_)], None) = (root.parts.as_slice(), &card.index)
        && let Some(RequirementNode::Branch(only)) = root.parts.pop()
    {
        root = only;
    }

    if let Some(first) = card.cases.first() {
        let why = format!("{} cases are not converted", card.cases.len());
        notes.add_loss(first.place.line, "cases", why);
    }

    if !card.labels.is_empty() {
        notes.add_loss(None, "labels", format!("{} labels are not converted", card.labels.len()));
    }

    RequirementTree { name: card.name.clone(), root, graded: 0 }
}

fn note_aggregation(
    aggregation: ScorecardAggregation,
    code: &str,
    line: Option<usize>,
    notes: &mut ConversionNotes,
) {
    if aggregation != ScorecardAggregation::WeightedAverage {
        notes.add_loss(
            line,
            format!("`{code}`"),
            "takes the lowest or highest score below it; it becomes a weighted mean",
        );
    }
}

fn rubric_branch(card: &Scorecard, at: usize, notes: &mut ConversionNotes) -> RequirementBranch {
    let rubric = &card.rubrics[at];
    let line = Some(rubric.place.line);
    let text = rubric.description.as_deref().map_or(rubric.label.as_str(), str::trim);
    let mut branch = RequirementBranch::new(rubric.code.to_string(), text, rubric.weight.get());
    branch.line = line;
    branch.threshold = Some(rubric.threshold.get());
    note_aggregation(rubric.aggregation, &rubric.code, line, notes);

    if rubric.hard_gate {
        notes.add_loss(
            line,
            format!("`{}`", rubric.code),
            "blocks everything above it when it fails; only its weight is converted",
        );
    }

    if rubric.guidelines.is_some() {
        notes.add_loss(line, format!("`{}`", rubric.code), "its evaluation guidelines are not converted");
    }

    match &rubric.parts {
        RubricChildren::Rubrics(below) => {
            branch.parts.extend(
                below.iter().map(|at| RequirementNode::Branch(self::rubric_branch(card, *at, notes))),
            );
        }
        RubricChildren::Benchmarks(below) => {
            for benchmark in below.iter().filter_map(|at| card.benchmarks.get(*at)) {
                let mut leaf = RequirementLeaf::new(
                    benchmark.code.to_string(),
                    benchmark.concept.trim(),
                    benchmark.weight.get(),
                );
                leaf.line = Some(benchmark.place.line);
                leaf.hard = benchmark.criticality == Criticality::HardGate;

                let name = format!("`{}`", benchmark.code);
                let is_gate = benchmark.criticality == Criticality::ThresholdGate;
                let lost = lost_names([
                    ("its threshold as a gate over all cases", is_gate),
                    ("its prompt file", benchmark.prompt.is_some()),
                    ("its program checks", !benchmark.checks.is_empty()),
                    ("its scoring scale (it is met or not)", benchmark.scale.is_some()),
                    ("when it applies", !benchmark.tags.is_empty() || benchmark.exclusion.is_some()),
                ]);
                if !lost.is_empty() {
                    notes.add_loss(benchmark.place.line, name, format!("not converted: {}", lost.join(", ")));
                }

                branch.parts.push(RequirementNode::Leaf(leaf));
            }
        }
    }

    branch
}

/// Converts the rubrics of a suite to a tree: a branch for each case, a leaf for each criterion.
pub(crate) fn tree_from_suite(suite: &Suite, cases: &[Case], notes: &mut ConversionNotes) -> RequirementTree {
    let mut root = RequirementBranch::new(
        suite.name.clone(),
        suite.description.clone().unwrap_or_else(|| suite.name.clone()),
        1.0,
    );
    for case in cases {
        let mut branch = RequirementBranch::new(
            case.id.as_str(),
            case.expected_outcome.clone().unwrap_or_else(|| case.id.to_string()),
            1.0,
        );
        branch.line = Some(case.place.line);

        let pass = case.thresholds.pass.or(suite.settings.thresholds.pass);
        branch.threshold = pass.map(assize_rubric::UnitInterval::get);

        let several = case.graders.len() > 1;
        for grader in &case.graders {
            match &grader.kind {
                GraderKind::Rubric(_) if several => {
                    let mut inner = RequirementBranch::new(
                        grader.name.clone(),
                        format!("{}: {}", case.id, grader.name),
                        grader.weighting.weight.get(),
                    );
                    inner.line = Some(grader.place.line);
                    add_criteria(grader, &mut inner, notes);

                    branch.parts.push(RequirementNode::Branch(inner));
                }
                GraderKind::Rubric(_) => add_criteria(grader, &mut branch, notes),
                _ => notes.add_loss(
                    grader.place.line,
                    format!("grader `{}` of `{}`", grader.name, case.id),
                    format!("a `{}` has no place in a scorecard", grader.type_name),
                ),
            }
        }

        if !branch.parts.is_empty() {
            notes.add_case_loss(case, "only its rubric is converted, not its question and answers");
            root.parts.push(RequirementNode::Branch(branch));
        }
    }

    RequirementTree { name: suite.name.clone(), root, graded: 0 }
}

fn add_criteria(grader: &Grader, branch: &mut RequirementBranch, notes: &mut ConversionNotes) {
    let GraderKind::Rubric(rubric) = &grader.kind else { return };

    if grader.weighting.required || grader.weighting.negate {
        notes.add_loss(
            grader.place.line,
            format!("grader `{}`", grader.name),
            "`required` and `negate` of a grader are not converted",
        );
    }

    for (criterion, place) in rubric.rubric.criteria().iter().zip(&rubric.places) {
        let name = format!("criterion `{}`", criterion.id);
        if criterion.weight.is_penalty() {
            notes.add_loss(place.line, name, "skipped: a scorecard has no penalties");
            continue;
        }

        let text =
            if criterion.text.trim().is_empty() { criterion.id.to_string() } else { criterion.text.clone() };
        let mut leaf = RequirementLeaf::new(criterion.id.as_str(), text, criterion.weight.get());
        leaf.line = Some(place.line);
        leaf.hard = matches!(criterion.gate, Some(Gate::Met));

        if let CriterionScale::Bands(bands) = &criterion.scale {
            leaf.bands = bands.as_slice().iter().map(|band| (band.low.get(), band.text.clone())).collect();
            if criterion.gate.is_some() {
                notes.add_loss(place.line, &name, "its lowest score is not converted");
            }
        }

        if criterion.operator == CriterionOperator::Contradiction {
            notes.add_loss(place.line, &name, "`operator: contradiction` is not converted");
        }

        branch.parts.push(RequirementNode::Leaf(leaf));
    }
}
