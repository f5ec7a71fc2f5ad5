//! Fields of a result row that describe its case: the cluster and the hash of the question.

use assize_model::Case;
use assize_store::QuestionRow;

use crate::WorkItem;

/// Hash of a case's question and expectations. Two cases with the same id and different hashes are different
/// questions.
pub fn hash_case(case: &Case) -> String {
    let mut hasher = blake3::Hasher::new();
    let turns = case.turns().iter().flat_map(|turn| {
        let turn = case.turn_case(turn, &[]);
        [Some(turn.question()), turn.reference()]
    });
    for part in
        [Some(case.question()), case.expected_outcome.clone(), case.reference()].into_iter().chain(turns)
    {
        let part = part.unwrap_or_default();
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }

    hasher.finalize().to_hex()[..32].to_owned()
}

/// The question and the expectations of an item, with secrets removed.
pub(crate) fn question_row(item: &WorkItem) -> QuestionRow {
    let case = &item.case;
    let redact = |text: String| match &item.programs.redactor {
        Some(redactor) => redactor.redact(&text).into_owned(),
        None => text,
    };
    let question = Some(case.question()).filter(|text| !text.trim().is_empty());

    QuestionRow {
        case_hash: hash_case(case),
        question: question.map(redact),
        expected_outcome: case.expected_outcome.clone().map(redact),
        reference: case.reference().map(redact),
    }
}
