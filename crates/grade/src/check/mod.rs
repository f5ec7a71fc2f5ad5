//! Graders that need neither a judge nor a program: pure functions of the answer and of facts about its run.
//!
//! Each check reads [`AnswerFacts`] and returns a score with findings. If a check needs a fact that is not
//! known, that is an error of the grader, never a zero.

mod arguments;
mod date;
mod fields;
mod json;
mod metrics;
mod result;
#[cfg(feature = "json-schema")]
mod schema;
#[cfg(not(feature = "json-schema"))]
#[path = "schema_missing.rs"]
mod schema;
mod script;
mod skill;
#[cfg(feature = "sql")]
mod sql;
#[cfg(not(feature = "sql"))]
#[path = "sql_missing.rs"]
mod sql;
mod text;
mod trajectory;

use assize_model::{AnswerCheck, AuthorCode, TextRule};

pub use metrics::is_unreported;
pub use result::{AnswerFacts, CheckResult};
pub(crate) use result::{shorten, to_unit_interval};
pub use schema::schema_problem;
pub(crate) use script::decided;
pub use script::{check_by_program, score_by_code, transform_answer, transform_by_program};

/// Grades with such a grader; `None` for code that a program must run. The error says which fact is missing.
pub fn check(check: &AnswerCheck, facts: &AnswerFacts) -> Option<Result<CheckResult, String>> {
    Some(match check {
        AnswerCheck::Text(check) => text::check_text(check, &facts.answer),
        AnswerCheck::IsJson(check) => json::check_json(check, &facts.answer),
        AnswerCheck::Sql(check) => sql::check_sql(check, &facts.answer),
        AnswerCheck::FieldAccuracy(check) => {
            fields::check_fields(check, &facts.answer, facts.reference.as_deref())
        }
        AnswerCheck::ToolTrajectory(check) => trajectory::check_trajectory(check, facts.calls.as_deref()),
        AnswerCheck::Latency { threshold } => metrics::check_latency(*threshold, facts),
        AnswerCheck::Cost { budget_usd } => metrics::check_cost(*budget_usd, facts),
        AnswerCheck::TokenUsage(limits) => metrics::check_tokens(*limits, facts),
        AnswerCheck::ExecutionMetrics(limits) => metrics::check_execution(limits, facts),
        AnswerCheck::SkillTrigger(check) => skill::check_skill(check, facts.calls.as_deref()),
        AnswerCheck::Script(check) => match &check.code {
            AuthorCode::Script(script) => script::check_script(check, script, facts),
            AuthorCode::Program(_) => return None,
        },
    })
}

/// Whether a check uses patterns, schemas or scripts of an author.
pub fn may_take_long(check: &AnswerCheck) -> bool {
    match check {
        AnswerCheck::IsJson(json) => json.schema.is_some() || json.embedded,
        AnswerCheck::Script(_) | AnswerCheck::Sql(_) => true,
        AnswerCheck::Text(text) => matches!(text.rule, TextRule::Regex(_)),
        AnswerCheck::FieldAccuracy(_)
        | AnswerCheck::ToolTrajectory(_)
        | AnswerCheck::Latency { .. }
        | AnswerCheck::Cost { .. }
        | AnswerCheck::TokenUsage(_)
        | AnswerCheck::ExecutionMetrics(_)
        | AnswerCheck::SkillTrigger(_) => false,
    }
}
