//! Which cases lack a rubric.

use assize_model::{Case, Grader, GraderKind};

/// Whether a case needs a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftNeed {
    /// It has an expected outcome, but no rubric of its own or of its suite.
    Draft,
    /// It has a rubric already.
    HasRubric,
    /// It has no expected outcome to draft from.
    NoOutcome,
}

/// Whether a case needs a draft. A case with an expected outcome and no graders gets a one-criterion rubric
/// from it when it is loaded. It does not count here, because no one wrote it.
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
