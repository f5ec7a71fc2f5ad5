//! Rubrics about the context of an answer, with one criterion per statement.

use std::sync::Arc;

use assize_grade::{ContextRubric, ContextText, context_rubric};
use assize_model::{ContextGrader, ContextSource, RubricGrader};
use assize_rubric::{CaseDecision, Criterion, GraderFinding, GraderNote, Rubric};
use serde_json::Value;

use super::path::GraderPath;
use super::transform::run_transform;
use super::{GradingContext, rubrics};

pub(super) async fn grade(path: &GraderPath<'_>, grader: &ContextGrader) -> Vec<CaseDecision> {
    let context = match read_context(path.context, grader).await {
        Ok(context) => context,
        Err(message) => return vec![path.broken_decision(message)],
    };
    let (question, answer) = (path.context.item.case.question(), &path.context.answer.text);
    let ContextRubric { rubric, material } = match context_rubric(grader, &context, &question, answer) {
        Ok(Some(made)) => made,
        Ok(None) => {
            let note = GraderNote::remark("statements", "there is none to decide on");
            return vec![path.own_decision(GraderFinding::new(None, vec![note]), String::new())];
        }
        Err(message) => return vec![path.broken_decision(message)],
    };

    let context = path.context.with_material(material);
    let inner = GraderPath { context: &context, ..path.clone() };
    rubrics::grade(&inner, &rubric_grader(grader, rubric)).await
}

/// Reads the context of an answer. The error is the reason why there is none.
async fn read_context(context: &GradingContext<'_>, grader: &ContextGrader) -> Result<ContextText, String> {
    let code = match &grader.context {
        ContextSource::Text(text) => return Ok(ContextText::Text(text.clone())),
        ContextSource::Passages(passages) => return Ok(ContextText::Passages(passages.clone())),
        ContextSource::Question => return Ok(ContextText::Text(context.item.case.question())),
        ContextSource::Code(code) => code,
    };

    let ran = run_transform(code, context.facts_before_test(), &context.item.programs).await;
    let found =
        ran.map(|(text, value)| value.unwrap_or(Value::String(text))).and_then(ContextText::from_value);
    found.map_err(|message| format!("`context_transform`: {message}"))
}

fn rubric_grader(grader: &ContextGrader, rubric: Arc<Rubric>) -> RubricGrader {
    RubricGrader {
        rubric,
        places: Vec::new(),
        marks: Vec::new(),
        instructions: None,
        judging: grader.judging,
        evidence: grader.evidence,
        truncate: grader.truncate,
        judge: grader.judge.clone(),
        panel: grader.panel.clone(),
    }
}

/// An estimate of a grader's rubric and material, before its code's result and the answer are known: at least one
/// criterion.
pub(crate) fn likely_grader<'a>(
    context: &'a GradingContext<'_>,
    grader: &ContextGrader,
) -> (GradingContext<'a>, RubricGrader) {
    let known = match &grader.context {
        ContextSource::Text(text) => ContextText::Text(text.clone()),
        ContextSource::Passages(passages) => ContextText::Passages(passages.clone()),
        ContextSource::Question | ContextSource::Code(_) => ContextText::Text(context.item.case.question()),
    };
    let made = context_rubric(grader, &known, &context.item.case.question(), &context.answer.text);
    let (rubric, material) = if let Ok(Some(ContextRubric { rubric, material })) = made {
        (rubric, material)
    } else {
        let criterion = Criterion::checklist("statement-1", "a statement that is not known yet");
        let rubric = Rubric::new(vec![criterion]).expect("one criterion with a text is a rubric");
        (Arc::new(rubric), Arc::clone(&context.material))
    };

    (context.with_material(material), rubric_grader(grader, rubric))
}
