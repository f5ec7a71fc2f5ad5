//! Checks that may take long run on other threads, within a time limit.

use std::time::Duration;

use assize_grade::{AnswerFacts, CHECK_TIME, CheckResult, CheckThreads, check, may_take_long};
use assize_model::AnswerCheck;

use super::GradingContext;

/// Grades like [`check`], within a time limit. Other tasks do not wait for a check that takes long.
pub(super) async fn check_in_time(
    settings: &AnswerCheck,
    context: &GradingContext<'_>,
) -> Option<Result<CheckResult, String>> {
    check_within(settings, context.facts(), &context.item.programs.threads, CHECK_TIME).await
}

async fn check_within(
    settings: &AnswerCheck,
    facts: &AnswerFacts,
    threads: &CheckThreads,
    limit: Duration,
) -> Option<Result<CheckResult, String>> {
    if !may_take_long(settings) {
        return check(settings, facts);
    }

    let facts = match settings {
        AnswerCheck::Script(_) => facts.clone(),
        _ => AnswerFacts { answer: facts.answer.clone(), ..AnswerFacts::default() },
    };
    let settings = settings.clone();
    threads.run_within(limit, move || check(&settings, &facts)).await.unwrap_or_else(|error| Some(Err(error)))
}

#[cfg(test)]
mod tests {
    use assize_model::IsJson;
    use serde_json::{Map, Value, json};

    use super::*;

    /// A schema of `levels` definitions. Each refers to the next one twice.
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
            |levels| AnswerCheck::IsJson(IsJson { schema: Some(doubling_schema(levels)), embedded: false });
        let threads = CheckThreads::default();
        let small = check_within(&check(3), &facts, &threads, CHECK_TIME).await.unwrap().unwrap();
        assert_eq!(small.score.unwrap().get(), 1.0);

        let limit = Duration::from_millis(5);
        let error = check_within(&check(18), &facts, &threads, limit).await.unwrap().unwrap_err();
        assert!(error.contains("was stopped"), "{error}");
    }
}
