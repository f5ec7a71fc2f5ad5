//! Obtains the answer of an item, and the data about a case that is known before grading.

use std::sync::Arc;

use assize_model::NamedMetric;
use assize_rubric::{Cost, Tokens};
use assize_store::{CaseError, CaseErrorKind, CaseStage, MetricScore, ResultRow};
use assize_targets::{TargetAnswer, TargetError, TargetInput};
use assize_workspace::WorkspaceLease;

use crate::answer_files::add_answer_files;
use crate::assemble::CaseHead;
use crate::case_cluster::cluster_of_case;
use crate::case_error::target_error_kind;
use crate::case_identity::hash_case;
use crate::{ItemSource, WorkItem, workspace};

/// The record of an item before anything was sent or spent.
pub(crate) fn case_head(item: &WorkItem) -> CaseHead {
    let key = item.key();
    let metric = |metric: &NamedMetric| MetricScore {
        name: Arc::clone(&metric.name),
        grader: metric.grader.clone(),
        weight: 1.0,
        score: None,
        bounds: None,
    };
    let row = ResultRow {
        format: item.format,
        suite: key.suite,
        case_id: key.case_id,
        target: key.target,
        trial: key.trial,
        place: (item.place > 0).then_some(item.place),
        trials: Some(item.relations.trials).filter(|plan| plan.count > 1),
        tags: item.case.tags.clone(),
        cluster: cluster_of_case(&item.case),
        test: item.case.test.clone(),
        prompt: item.case.prompt.clone(),
        metrics: item.case.metrics.iter().map(metric).collect(),
        case_hash: Some(hash_case(&item.case)),
        ..ResultRow::default()
    };
    CaseHead { row, cost: Cost::ZERO }
}

/// The time that an answer took in milliseconds, if it was measured.
pub(crate) fn latency_ms(answer: &TargetAnswer) -> Option<u64> {
    answer.measured_duration().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The answer of an item. A target gets the prepared `input` and works in the folder of `stay`, if there is one. Usage
/// is added to `head`.
pub(crate) async fn obtain_answer(
    item: &WorkItem,
    input: impl FnOnce() -> Result<TargetInput, TargetError>,
    stay: Option<&WorkspaceLease>,
    head: &mut CaseHead,
) -> Result<Arc<TargetAnswer>, CaseError> {
    let failed = |kind, message: String| CaseError { stage: CaseStage::Target, kind, message };
    match &item.source {
        ItemSource::Given(answer) => Ok(Arc::clone(answer)),
        ItemSource::Missing { kind, message, .. } => Err(failed(*kind, message.clone())),
        ItemSource::Target(target) => {
            let mut input =
                input().map_err(|error| failed(target_error_kind(error.kind), error.to_string()))?;
            input.workdir = stay.map(|stay| stay.folder().to_path_buf());
            input.suite_folder = item.suite_folder.to_path_buf();

            match target.answer(&input).await {
                Ok(mut answer) => {
                    // The tokens of a recording were spent when it was made.
                    if answer.attempts == 0 {
                        head.row.tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
                    } else {
                        head.row.tokens = answer.tokens;
                        head.cost = answer.cost.unwrap_or(Cost::UNKNOWN);
                    }

                    head.row.answered_by.clone_from(&answer.answered_by);

                    if let Err(error) = workspace::add_file_changes(stay, &mut answer).await {
                        head.row.answer = Some(answer.text);
                        return Err(error);
                    }
                    if let Err(message) = add_answer_files(item, stay, &mut answer).await {
                        head.row.answer = Some(answer.text);
                        return Err(failed(CaseErrorKind::BadOutput, message));
                    }
                    if answer.is_blank() {
                        let error = TargetError::blank_answer(&answer);
                        return Err(failed(target_error_kind(error.kind), error.to_string()));
                    }

                    Ok(Arc::new(answer))
                }
                Err(error) => {
                    if error.attempts > 0 {
                        head.row.tokens = error.tokens;
                        head.cost = error.cost;
                    }
                    Err(failed(target_error_kind(error.kind), error.to_string()))
                }
            }
        }
    }
}
