//! Warns about keys of an assertion that its type does not use.

use super::assertion_grader::AssertionGrader;
use super::assertion_types::AssertionSupport;
use super::values::no_effect;

/// Built-in code that compares a score or a distance with a threshold.
const CODE_WITH_THRESHOLD: [&str; 3] = ["levenshtein", "rouge-n", "tool-call-f1"];
/// Built-in code that looks only at the answer.
const CODE_WITHOUT_VALUE: [&str; 5] =
    ["contains-html", "guardrails", "is-html", "is-refusal", "is-valid-function-call"];

impl AssertionGrader<'_> {
    /// Warns about keys that every assertion may have but that have no effect on this type.
    pub(super) fn warn_about_idle_keys(&mut self) {
        let label = format!("`{}` does not use it", self.full_name());
        let support = self.kind.support;
        let idle = [
            ("value", takes_value(support) || self.kind.name == "context-recall"),
            ("threshold", takes_threshold(support)),
            ("provider", asks_model(support)),
            ("rubricPrompt", takes_prompt(support)),
            ("rubric_prompt", takes_prompt(support)),
            ("contextTransform", support == AssertionSupport::Context),
            ("context_transform", support == AssertionSupport::Context),
        ];
        for (key, _) in idle.into_iter().filter(|(_, is_used)| !is_used) {
            if let Some(entry) = self.object.foreign(key).filter(|entry| !entry.value.is_null()) {
                self.cx.problems.add(no_effect(entry, &label));
            }
        }
    }
}

fn takes_value(support: AssertionSupport) -> bool {
    match support {
        AssertionSupport::BuiltIn(name) => !CODE_WITHOUT_VALUE.contains(&name),
        AssertionSupport::AnswerRelevance
        | AssertionSupport::Context
        | AssertionSupport::Conversation
        | AssertionSupport::Cost
        | AssertionSupport::Latency
        | AssertionSupport::Set => false,
        _ => true,
    }
}

/// Returns true for types that may use a threshold. Criteria are included, because there is a separate warning
/// about their threshold.
fn takes_threshold(support: AssertionSupport) -> bool {
    match support {
        AssertionSupport::BuiltIn(name) => CODE_WITH_THRESHOLD.contains(&name),
        AssertionSupport::Equals
        | AssertionSupport::Json
        | AssertionSupport::MaxScore
        | AssertionSupport::Moderation
        | AssertionSupport::SelectBest
        | AssertionSupport::Skill
        | AssertionSupport::Sql
        | AssertionSupport::Text
        | AssertionSupport::TextList => false,
        _ => true,
    }
}

/// Returns true for types that ask a judge with a prompt. Types with a built-in prompt have their own warning.
fn takes_prompt(support: AssertionSupport) -> bool {
    matches!(
        support,
        AssertionSupport::AnswerRelevance
            | AssertionSupport::Context
            | AssertionSupport::Conversation
            | AssertionSupport::Criterion
            | AssertionSupport::Fact
            | AssertionSupport::SameKeys(_)
            | AssertionSupport::ScoredCriterion
            | AssertionSupport::SelectBest
    )
}

/// Returns true for types that use a judge or another model.
fn asks_model(support: AssertionSupport) -> bool {
    takes_prompt(support)
        || matches!(
            support,
            AssertionSupport::Classifier | AssertionSupport::Moderation | AssertionSupport::Similar(_)
        )
}
