//! Rubrics about the context of an answer: one criterion for each statement.

use std::sync::Arc;

use assize_limits::CONTEXT_STATEMENTS as MAX_STATEMENTS;
use assize_model::{ContextGrader, ContextMeasure};
use assize_rubric::{Criterion, Rubric};
use serde_json::Value;

use crate::JudgeMaterial;
use crate::statements::split_statements;

/// Note to the judge about the text in place of the answer.
const NOTE: &str = "(The answer to be judged is no answer to this question. It is the text that was found for the question.)";
const ANSWER_NOTE: &str = "An assistant that was given this text answered the question so:";

/// A context: a text or passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextText {
    /// A text; each of its sentences is a statement.
    Text(String),
    /// Passages; each of them is a statement.
    Passages(Vec<String>),
}

impl ContextText {
    /// Reads the context that a script returned.
    ///
    /// # Errors
    /// When it is neither a text nor a list of texts, or empty.
    pub fn from_value(value: Value) -> Result<Self, String> {
        let context = match value {
            Value::String(text) => Self::Text(text),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts = items.iter().filter_map(Value::as_str);
                Self::Passages(texts.filter(|text| !text.trim().is_empty()).map(str::to_owned).collect())
            }
            _ => return Err("the context must be a text or a list of texts".to_owned()),
        };
        if context.to_text().trim().is_empty() { Err("the context is empty".to_owned()) } else { Ok(context) }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Passages(passages) => passages.join("\n\n"),
        }
    }

    fn statements(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => split_statements(text),
            Self::Passages(passages) => passages.iter().map(|passage| passage.trim()).collect(),
        }
    }
}

/// A rubric about a context, and the material to judge it with.
#[derive(Debug, Clone)]
pub struct ContextRubric {
    /// Criteria, one for each statement.
    pub rubric: Arc<Rubric>,
    /// The material, with the context in place of the answer.
    pub material: Arc<JudgeMaterial>,
}

/// Builds the rubric about a context. Returns `None` if it has no statement.
///
/// # Errors
/// When there are too many statements.
pub fn context_rubric(
    grader: &ContextGrader,
    context: &ContextText,
    question: &str,
    answer: &str,
) -> Result<Option<ContextRubric>, String> {
    let (statements, what) = match &grader.measure {
        ContextMeasure::Recall { expected } => (split_statements(expected), "expected answer"),
        ContextMeasure::Relevance => (context.statements(), "context"),
        ContextMeasure::Faithfulness => (split_statements(answer), "answer"),
    };
    if statements.len() > MAX_STATEMENTS {
        return Err(format!(
            "the {what} has {} statements, and at most {MAX_STATEMENTS} are decided on",
            statements.len()
        ));
    }

    let criteria = statements.iter().enumerate().map(|(at, statement)| {
        let text = match grader.measure {
            ContextMeasure::Recall { .. } => format!("The text says or shows that this is so: {statement}"),
            ContextMeasure::Relevance => {
                format!("To answer the question, this part of the text is needed: {statement}")
            }
            ContextMeasure::Faithfulness => {
                format!("The text says or shows that what this part of the answer says is so: {statement}")
            }
        };
        let may_not_apply = grader.measure == ContextMeasure::Faithfulness;
        Criterion { may_not_apply, ..Criterion::checklist(format!("statement-{}", at + 1), text) }
    });
    let Ok(rubric) = Rubric::new(criteria.collect()) else { return Ok(None) };

    let query = grader.query.as_deref().unwrap_or(question);
    let question = match grader.measure {
        ContextMeasure::Faithfulness => format!("{query}\n\n{NOTE}\n\n{ANSWER_NOTE}\n{answer}"),
        ContextMeasure::Recall { .. } | ContextMeasure::Relevance => format!("{query}\n\n{NOTE}"),
    };
    let material = JudgeMaterial { question, answer: context.to_text(), ..JudgeMaterial::default() };
    Ok(Some(ContextRubric { rubric: Arc::new(rubric), material: Arc::new(material) }))
}

#[cfg(test)]
mod tests {
    use assize_model::{ContextSource, PanelSpec};
    use serde_json::json;

    use super::*;

    fn grader(measure: ContextMeasure) -> ContextGrader {
        ContextGrader {
            measure,
            context: ContextSource::Question,
            query: Some("Where?".to_owned()),
            judging: None,
            evidence: None,
            truncate: None,
            judge: None,
            panel: PanelSpec::default(),
        }
    }

    fn texts(measure: ContextMeasure, context: &ContextText, answer: &str) -> Vec<String> {
        let made =
            context_rubric(&grader(measure), context, "q", answer).expect("few statements").expect("some");
        assert!(made.material.question.starts_with("Where?"));
        assert_eq!(made.material.answer, context.to_text());
        made.rubric.criteria().iter().map(|criterion| criterion.text.clone()).collect()
    }

    #[test]
    fn each_measure_has_its_statements() {
        let passages = ContextText::Passages(vec!["One. Two.".to_owned(), "Three.".to_owned()]);
        let recall = ContextMeasure::Recall { expected: "Four. Five.".to_owned() };
        assert!(texts(recall, &passages, "Six.")[1].ends_with(": Five."));
        assert!(texts(ContextMeasure::Relevance, &passages, "Six.")[0].ends_with(": One. Two."));
        let text = ContextText::Text("One. Two. Three.".to_owned());
        assert_eq!(texts(ContextMeasure::Relevance, &text, "").len(), 3);
        assert_eq!(texts(ContextMeasure::Faithfulness, &text, "Six. Seven!").len(), 2);
    }

    #[test]
    fn nothing_to_decide_on_is_no_rubric_and_too_much_is_refused() {
        let context = ContextText::Text("A.".to_owned());
        let faithfulness = grader(ContextMeasure::Faithfulness);
        assert!(context_rubric(&faithfulness, &context, "q", " ").unwrap().is_none());
        assert!(context_rubric(&faithfulness, &context, "q", &"A.\n".repeat(201)).is_err());
    }

    #[test]
    fn scripts_return_texts_or_lists_of_them() {
        assert_eq!(ContextText::from_value(json!("a")), Ok(ContextText::Text("a".to_owned())));
        let passages = ContextText::Passages(vec!["a".to_owned()]);
        assert_eq!(ContextText::from_value(json!(["a", " "])), Ok(passages));
        for bad in [json!(""), json!([]), json!([1]), json!({"a": "b"}), json!(null)] {
            assert!(ContextText::from_value(bad.clone()).is_err(), "{bad}");
        }
    }
}
