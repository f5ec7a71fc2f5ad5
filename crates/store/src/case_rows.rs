//! The rows of a finished case in the form in which they are written to the files of a run. They are
//! serialised on the thread that ran the case, so that the single thread that appends them only copies bytes.

use assize_rubric::CaseDecision;
use serde::Serialize;

use crate::checksum::end_row;
use crate::{InputsRow, JudgementRow, QuestionRow, ResultRow, StoreError};

/// Initial capacity for a decision with a reply of a few sentences, in bytes.
const USUAL_JUDGEMENT: usize = 1536;
/// Initial capacity for a result, and for each of its decisions, in bytes.
const USUAL_RESULT: usize = 1024;
const USUAL_CRITERION: usize = 512;

/// The rows of one case, one JSON value on each line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseRows {
    pub(crate) judgements: Vec<u8>,
    pub(crate) inputs: Vec<u8>,
    pub(crate) result: Vec<u8>,
    /// Row of the question, with the hash that identifies it.
    pub(crate) question: Option<(String, Vec<u8>)>,
}

impl CaseRows {
    /// Serialises the rows. `inputs` is the hash of everything the result depends on; it is only needed for
    /// runs that can be resumed.
    pub fn new(
        decisions: &[CaseDecision],
        result: &ResultRow,
        inputs: Option<String>,
    ) -> Result<Self, StoreError> {
        let mut rows = Self {
            judgements: Vec::with_capacity(decisions.len() * USUAL_JUDGEMENT),
            inputs: Vec::new(),
            result: Vec::with_capacity(USUAL_RESULT + decisions.len() * USUAL_CRITERION),
            question: None,
        };

        let key = result.key();
        for decided in decisions {
            append(&mut rows.judgements, &JudgementRow::new(&key, decided))?;
        }

        if let Some(inputs) = inputs {
            append(&mut rows.inputs, &InputsRow { key, inputs })?;
        }

        append(&mut rows.result, result)?;
        Ok(rows)
    }

    /// Adds the question. It is written once, even if many results share it.
    pub fn with_question(mut self, question: &QuestionRow) -> Result<Self, StoreError> {
        let mut row = Vec::new();
        append(&mut row, question)?;
        self.question = Some((question.case_hash.clone(), row));

        Ok(self)
    }
}

fn append(to: &mut Vec<u8>, row: &impl Serialize) -> Result<(), StoreError> {
    let start = to.len();
    serde_json::to_writer(&mut *to, row).map_err(|source| StoreError::Unwritable { source })?;
    end_row(to, start);

    Ok(())
}
