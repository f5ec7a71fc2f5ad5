//! The criteria of a case as a single list, for formats that have neither graders nor gates.

use assize_model::{Case, Grader, GraderKind, RubricGrader, Suite};
use assize_rubric::{Criterion, CriterionOperator, CriterionScale, Gate, UnitInterval, VerdictThresholds};

use crate::note::{ConversionNotes, lost_names};

/// A criterion with its weight in the case.
pub(super) struct FlatCriterion<'c> {
    pub(super) criterion: &'c Criterion,
    /// Weight among all criteria of the case; negative for a penalty.
    pub(super) weight: f64,
    /// True if not meeting the criterion fails the case.
    pub(super) required: bool,
}

/// Returns the criteria of a case. Adds notes about graders and criteria that a plain list can't contain.
pub(super) fn flatten_criteria<'c>(case: &'c Case, notes: &mut ConversionNotes) -> Vec<FlatCriterion<'c>> {
    let mut rubrics: Vec<(&Grader, &RubricGrader)> = Vec::new();
    for grader in &case.graders {
        match &grader.kind {
            GraderKind::Rubric(rubric) => rubrics.push((grader, rubric)),
            _ => notes.add_grader_loss(
                grader,
                case,
                format!("not converted: a `{}` has no place here", grader.type_name),
            ),
        }
    }

    let several = rubrics.len() > 1;
    let mut list = Vec::new();
    for (grader, rubric) in rubrics {
        note_grader_settings(grader, case, notes);
        note_judge_settings(grader, rubric, case, notes);

        let earned: f64 = rubric.rubric.criteria().iter().map(|c| c.weight.get().max(0.0)).sum();
        let penalties = rubric.rubric.criteria().iter().any(|c| c.weight.is_penalty());
        if several && penalties {
            notes.add_grader_loss(
                grader,
                case,
                "its penalties now lower the score of the whole case, not only of this rubric",
            );
        }

        // Each rubric keeps its share of the score, which its weight determines.
        let share = if several && earned > 0.0 { grader.weighting.weight.get() / earned } else { 1.0 };
        for (index, criterion) in rubric.rubric.criteria().iter().enumerate() {
            let line = rubric.places.get(index).map(|place| place.line);
            if let Some(reason) = exclusion_reason(criterion) {
                notes.add_loss(line, format!("criterion `{}` of `{}`", criterion.id, case.id), reason);
                continue;
            }

            list.push(FlatCriterion {
                criterion,
                weight: round_weight(criterion.weight.get() * share),
                required: criterion.gate.is_some_and(can_fail),
            });
        }
    }

    list
}

/// Rounds a weight to twelve decimals, to remove the noise of binary fractions.
fn round_weight(weight: f64) -> f64 {
    let rounded = (weight * 1e12).round() / 1e12;
    if rounded == 0.0 || !rounded.is_finite() { weight } else { rounded }
}

/// Returns the reason why a criterion can't be in a plain list, if there is one.
pub(super) fn exclusion_reason(criterion: &Criterion) -> Option<&'static str> {
    if matches!(criterion.scale, CriterionScale::Bands(_)) {
        Some("skipped: its score ranges can't be written here")
    } else if criterion.operator == CriterionOperator::Contradiction {
        Some("skipped: `operator: contradiction` can't be written here")
    } else if criterion.text.trim().is_empty() {
        Some("skipped: it has no text")
    } else {
        None
    }
}

/// Returns true if the gate of a checklist criterion can fail.
pub(super) fn can_fail(gate: Gate) -> bool {
    match gate {
        Gate::Met | Gate::PassLine => true,
        Gate::MinRaw(raw) => raw.value() > 0.0,
        Gate::MinValue(unit) => unit.get() > 0.0,
    }
}

/// Returns the pass threshold of a case.
pub(super) fn pass_threshold(suite: &Suite, case: &Case) -> f64 {
    case.thresholds
        .pass
        .or(suite.settings.thresholds.pass)
        .map_or(VerdictThresholds::DEFAULT_PASS, UnitInterval::get)
}

/// Adds notes about the loss of the pass and borderline thresholds, for formats that have neither.
pub(super) fn note_thresholds(suite: &Suite, case: &Case, notes: &mut ConversionNotes) {
    let line = pass_threshold(suite, case);
    if (line - VerdictThresholds::DEFAULT_PASS).abs() > assize_rubric::TOLERANCE {
        notes.add_case_loss(case, format!("its pass threshold {line} is not converted"));
    }

    note_borderline(suite, case, notes);
}

/// Adds a note about the loss of a borderline threshold. If the file does not set it and only the default of
/// the `evalcases` format is lost, the note is a remark.
pub(super) fn note_borderline(suite: &Suite, case: &Case, notes: &mut ConversionNotes) {
    if case.thresholds.borderline.or(suite.settings.thresholds.borderline).is_some() {
        notes.add_case_loss(case, "its borderline threshold is not converted");
    } else if suite.format.default_borderline().is_some() {
        notes.add_remark(
            None,
            "borderline",
            "is a verdict of the `evalcases` format only; such cases count as failed",
        );
    }
}

/// Adds notes about all lost parts of a case except its rubric and question.
pub(super) fn note_other_content(
    case: &Case,
    has_reference: bool,
    has_outcome: bool,
    notes: &mut ConversionNotes,
) {
    let lost = lost_names([
        ("the reference answer", case.reference().is_some() && !has_reference),
        ("the expected outcome", case.expected_outcome.is_some() && !has_outcome),
        ("the given answer", case.output.is_some()),
        ("the turns of the conversation", case.conversation.is_some()),
        ("the workspace", case.workspace.is_some()),
    ]);

    if !lost.is_empty() {
        notes.add_case_loss(case, format!("not converted: {}", lost.join(", ")));
    }
}

/// Adds a note about the loss of a grader's gate, minimum and similar settings.
pub(super) fn note_grader_settings(grader: &Grader, case: &Case, notes: &mut ConversionNotes) {
    let lost = lost_names([
        ("`required`", grader.weighting.required),
        ("`negate`", grader.weighting.negate),
        ("`min_score`", grader.weighting.min_score.is_some()),
    ]);

    if !lost.is_empty() {
        notes.add_grader_loss(grader, case, format!("its {} is not converted", lost.join(" and ")));
    }
}

/// Adds a note about the loss of a rubric's judge settings, if it has any.
pub(super) fn note_judge_settings(
    grader: &Grader,
    rubric: &RubricGrader,
    case: &Case,
    notes: &mut ConversionNotes,
) {
    let has_settings = rubric.judge.is_some()
        || rubric.judging.is_some()
        || rubric.evidence.is_some()
        || rubric.truncate.is_some()
        || rubric.panel != assize_model::PanelSpec::default();
    if has_settings {
        notes.add_grader_loss(grader, case, "its judge and the settings of judging are not converted");
    }
}
