//! Grades one sample of a request.

use assize_engine::GradingStop;

use crate::api::{OnUngraded, RewardKind, SampleResult};
use crate::job::JobSample;
use crate::service::Service;
use crate::tenant::Tenant;

/// Grades one sample when a slot is free.
pub(crate) async fn grade_sample(
    service: &Service,
    tenant: &Tenant,
    sample: JobSample,
    reward: RewardKind,
    on_ungraded: OnUngraded,
    stop: &GradingStop,
) -> SampleResult {
    let JobSample { place, trace, sample, rubric } = sample;
    let _turn = tenant.turn(stop).await;
    let record = tenant.grader.grade(&rubric, sample, stop).await;

    if let Some(telemetry) = &service.telemetry {
        telemetry.export(&tenant.name, &rubric.config_hash, trace.as_ref(), &record);
    }

    let card = rubric.score_parts(&record);
    let result = SampleResult::new(place, record, reward, on_ungraded, &rubric.config_hash);
    service.note_ungraded(&result);
    match card {
        Some(card) => result.with_scorecard(&card.parts(), reward, on_ungraded),
        None => result,
    }
}
