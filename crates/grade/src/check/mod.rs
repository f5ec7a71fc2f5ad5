//! Graders that need neither a judge nor a program: pure functions of the answer and of how it was made.
//!
//! Each check reads [`AnswerFacts`] and returns a score with findings. If a check needs a fact that is not
//! known, that is an error of the grader, never a zero.

mod arguments;
mod date;
mod fields;
mod json;
mod metrics;
mod result;
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

use assize_model::{AuthorCode, GraderKind};

pub use metrics::is_unreported;
pub use result::{AnswerFacts, CheckResult};
pub(crate) use result::{shorten, to_unit_interval};
pub use schema::schema_problem;
pub(crate) use script::decided;
pub use script::{check_by_program, score_by_code, transform_answer, transform_by_program};

/// Grades with such a grader; `None` for a kind that needs a judge, a program or members. The error says which
/// fact is missing.
pub fn check(kind: &GraderKind, facts: &AnswerFacts) -> Option<Result<CheckResult, String>> {
    Some(match kind {
        GraderKind::Text(check) => text::check_text(check, &facts.answer),
        GraderKind::IsJson(check) => json::check_json(check, &facts.answer),
        GraderKind::Sql(check) => sql::check_sql(check, &facts.answer),
        GraderKind::FieldAccuracy(check) => {
            fields::check_fields(check, &facts.answer, facts.reference.as_deref())
        }
        GraderKind::ToolTrajectory(check) => trajectory::check_trajectory(check, facts.calls.as_deref()),
        GraderKind::Latency { threshold } => metrics::check_latency(*threshold, facts),
        GraderKind::Cost { budget_usd } => metrics::check_cost(*budget_usd, facts),
        GraderKind::TokenUsage(limits) => metrics::check_tokens(*limits, facts),
        GraderKind::ExecutionMetrics(limits) => metrics::check_execution(limits, facts),
        GraderKind::SkillTrigger(check) => skill::check_skill(check, facts.calls.as_deref()),
        GraderKind::Script(check) => match &check.code {
            AuthorCode::Script(script) => script::check_script(check, script, facts),
            AuthorCode::Program(_) => return None,
        },
        GraderKind::Rubric(_)
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
        | GraderKind::Transformed(_)
        | GraderKind::Benchmark(_) => return None,
    })
}
