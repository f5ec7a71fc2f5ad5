//! Checks that may take long run on other threads, within a time limit.

use std::time::Duration;

use assize_grade::{AnswerFacts, CHECK_TIME, CheckResult, CheckThreads, check};
use assize_model::{GraderKind, TextRule};

use super::GradingContext;

/// Grades like [`check`], within a time limit. Other tasks do not wait for a check that takes long.
pub(super) async fn check_in_time(
    kind: &GraderKind,
    context: &GradingContext<'_>,
) -> Option<Result<CheckResult, String>> {
    check_within(kind, context.facts(), &context.item.programs.threads, CHECK_TIME).await
}

async fn check_within(
    kind: &GraderKind,
    facts: &AnswerFacts,
    threads: &CheckThreads,
    limit: Duration,
) -> Option<Result<CheckResult, String>> {
    if !may_take_long(kind) {
        return check(kind, facts);
    }

    let facts = match kind {
        GraderKind::Script(_) => facts.clone(),
        _ => AnswerFacts { answer: facts.answer.clone(), ..AnswerFacts::default() },
    };
    let kind = kind.clone();
    threads.run_within(limit, move || check(&kind, &facts)).await.unwrap_or_else(|error| Some(Err(error)))
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
        let threads = CheckThreads::default();
        let small = check_within(&check(3), &facts, &threads, CHECK_TIME).await.unwrap().unwrap();
        assert_eq!(small.score.unwrap().get(), 1.0);

        let limit = Duration::from_millis(5);
        let error = check_within(&check(18), &facts, &threads, limit).await.unwrap().unwrap_err();
        assert!(error.contains("was stopped"), "{error}");
    }
}
