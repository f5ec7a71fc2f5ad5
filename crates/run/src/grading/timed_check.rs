//! Checks that may take long run on threads that can be abandoned.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assize_grade::{AnswerFacts, CheckResult, check};
use assize_model::{GraderKind, TextRule};

/// Time limit of a check. A schema of a few lines can require more steps than any machine can do.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// The most abandoned checks that may still run. At that number no further checks are begun.
const MAX_GIVEN_UP: usize = 4;

/// The number of abandoned checks that still run. A thread can't be stopped from outside.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Grades like [`check`], within a time limit. Other tasks do not wait for a check that takes long.
pub(super) async fn check_in_time(
    kind: &GraderKind,
    facts: &AnswerFacts,
) -> Option<Result<CheckResult, String>> {
    check_within(kind, facts, CHECK_TIME).await
}

async fn check_within(
    kind: &GraderKind,
    facts: &AnswerFacts,
    limit: Duration,
) -> Option<Result<CheckResult, String>> {
    if !may_take_long(kind) {
        return check(kind, facts);
    }
    if GIVEN_UP.load(Ordering::Acquire) >= MAX_GIVEN_UP {
        return Some(Err(format!(
            "not checked: {MAX_GIVEN_UP} earlier checks exceeded {} s and are still running",
            limit.as_secs()
        )));
    }

    let facts = match kind {
        GraderKind::Script(_) => facts.clone(),
        _ => AnswerFacts { answer: facts.answer.clone(), ..AnswerFacts::default() },
    };
    let kind = kind.clone();
    let mut checked = tokio::task::spawn_blocking(move || check(&kind, &facts));
    match tokio::time::timeout(limit, &mut checked).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => Some(Err(format!("the check failed: {error}"))),
        Err(_) => {
            GIVEN_UP.fetch_add(1, Ordering::AcqRel);
            tokio::spawn(async move {
                // The result comes too late and is ignored.
                let _ = checked.await;
                GIVEN_UP.fetch_sub(1, Ordering::AcqRel);
            });

            Some(Err(format!("the check was stopped after {} s", limit.as_secs())))
        }
    }
}

/// Whether a check uses patterns, schemas or scripts of an author.
fn may_take_long(kind: &GraderKind) -> bool {
    match kind {
        GraderKind::IsJson(check) => check.schema.is_some() || check.embedded,
        GraderKind::Script(_) | GraderKind::Sql(_) => true,
        GraderKind::Text(check) => matches!(check.rule, TextRule::Regex(_)),
        GraderKind::FieldAccuracy(_)
        | GraderKind::ToolTrajectory(_)
        | GraderKind::Latency { .. }
        | GraderKind::Cost { .. }
        | GraderKind::TokenUsage(_)
        | GraderKind::ExecutionMetrics(_)
        | GraderKind::SkillTrigger(_)
        | GraderKind::Transformed(_)
        // These are not checks.
        | GraderKind::Rubric(_)
        | GraderKind::Llm(_)
        | GraderKind::Pairwise(_)
        | GraderKind::Similar(_)
        | GraderKind::Labels(_)
        | GraderKind::Context(_)
        | GraderKind::AnswerRelevance(_)
        | GraderKind::Selection(_)
        | GraderKind::Code(_)
        | GraderKind::Composite(_)
        | GraderKind::Custom(_)
        | GraderKind::Benchmark(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use assize_model::IsJson;
    use serde_json::{Map, Value, json};

    use super::*;

    /// A schema of `levels` definitions, each of which refers to the next one twice.
    fn doubling_schema(levels: usize) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
            definitions.insert(format!("a{level}"), json!({"allOf": [next.clone(), next]}));
        }

        definitions.insert(format!("a{levels}"), json!({"type": "integer"}));
        json!({"$ref": "#/$defs/a0", "$defs": definitions})
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_schema_that_explodes_is_given_up() {
        let facts = AnswerFacts { answer: "1".to_owned(), ..AnswerFacts::default() };
        let check =
            |levels| GraderKind::IsJson(IsJson { schema: Some(doubling_schema(levels)), embedded: false });
        let small = check_in_time(&check(3), &facts).await.unwrap().unwrap();
        assert_eq!(small.score.unwrap().get(), 1.0);

        let error = check_within(&check(18), &facts, Duration::from_millis(5)).await.unwrap().unwrap_err();
        assert!(error.contains("was stopped"), "{error}");
    }
}
