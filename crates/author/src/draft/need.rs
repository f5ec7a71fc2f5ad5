//! Cases that lack a rubric.

use assize_model::{Case, Grader, GraderKind};

/// Need of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftNeed {
    /// It has an expected outcome and no rubric of its own or of its suite.
    Draft,
    /// It has a rubric already.
    HasRubric,
    /// It has no expected outcome to draft from.
    NoOutcome,
}

/// Need of a case. The rubric of one criterion that stands for an expected outcome without graders is none that
/// anybody wrote.
pub fn need(case: &Case) -> DraftNeed {
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    let mut graders = case.graders.iter().chain(turns.flat_map(|turn| &turn.graders));
    if case.expected_outcome.as_deref().is_none_or(|text| text.trim().is_empty()) {
        return if graders.any(|grader| holds_rubric(grader)) {
            DraftNeed::HasRubric
        } else {
            DraftNeed::NoOutcome
        };
    }

    let written = |grader: &Grader| match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let text = rubric.marks.first().and_then(|marks| marks.text.as_ref());
            text.is_none() || text != case.marks.expected_outcome.as_ref()
        }
        _ => holds_rubric(grader),
    };
    if graders.any(|grader| written(grader)) { DraftNeed::HasRubric } else { DraftNeed::Draft }
}

fn holds_rubric(grader: &Grader) -> bool {
    match &grader.kind {
        GraderKind::Rubric(_) => true,
        GraderKind::Composite(composite) => composite.members.iter().any(|member| holds_rubric(member)),
        _ => false,
    }
}
