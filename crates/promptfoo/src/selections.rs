//! Assertions that compare the answers to a test from all providers and prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_diagnostic::Diagnostic;
use assize_document::{TreeNode, codes, wrong_type};
use assize_evalfile::reading::DecodeContext;
use assize_model::{AnswerSelection, Case, GraderKind};

use super::assertion_grader::{AssertionGrader, prompt_not_used};
use super::assertion_types::AssertionSupport;
use super::matrix_test::MatrixTest;
use super::nodes::text_node;

/// Keys in the `value` of `max-score`. The grader has the same keys.
const MAX_SCORE_KEYS: [&str; 3] = ["method", "weights", "threshold"];

impl AssertionGrader<'_> {
    /// Writes `select-best` or `max-score` as a grader with the same type.
    pub(super) fn write_selection(&mut self) -> Option<()> {
        self.grader.add_text("type", self.kind.name);
        if self.kind.support == AssertionSupport::MaxScore {
            return self.write_max_score();
        }

        let Some(value) = &self.value else { return self.refuse_missing_value() };
        let Some(text) = value.as_str() else {
            return self.cx.problems.reject(wrong_type(value, "`value` of `select-best`", "a text"));
        };
        let span = value.use_span();
        self.grader.add("criteria", span, text_node(span, text.trim()));
        if let Some(prompt) = self.prompt {
            prompt_not_used(
                prompt,
                "answers are compared by the built-in prompt",
                "say what matters in `value`",
            )
            .add_to(&mut self.cx.problems);
        }
        self.add_judge("judge");

        Some(())
    }

    fn write_max_score(&mut self) -> Option<()> {
        let Some(value) = &self.value else { return Some(()) };
        let Some(entries) = value.as_map() else {
            return self.cx.problems.reject(wrong_type(value, "`value` of `max-score`", "a map"));
        };
        for entry in entries.iter().filter(|entry| !entry.value.is_null()) {
            if MAX_SCORE_KEYS.contains(&entry.key.as_str()) {
                self.grader.add(&entry.key, entry.key_span, entry.value.clone());
            } else {
                let reason = "`max-score` has `method`, `weights` and `threshold`";
                self.cx.problems.add(super::values::no_effect(entry, reason));
            }
        }

        Some(())
    }
}

/// Converts the weights of `max-score`: assertions are weighted by type, graders by name. The graders must be
/// in the order of the assertions.
pub(super) fn name_weights(cx: &mut DecodeContext, case: &mut Case, test: &MatrixTest, root: &TreeNode) {
    if !case.compares_answers() || case.graders.len() != test.assertions.len() {
        return;
    }
    let types: Vec<String> = test.assertions.iter().map(|node| written_type(node, root)).collect();
    let named: Vec<(String, String)> =
        types.into_iter().zip(case.graders.iter().map(|grader| grader.name.clone())).collect();

    for (grader, node) in case.graders.iter_mut().zip(&test.assertions) {
        let GraderKind::Selection(AnswerSelection::MaxScore(rule)) = &grader.kind else { continue };
        let mut rule = rule.clone();
        for kind in rule.weights.keys().filter(|kind| !named.iter().any(|(known, _)| known == *kind)) {
            Diagnostic::warning(codes::NO_EFFECT, format!("the weight of `{kind}` has no effect"))
                .at(node.use_span(), "no assertion of the test has this type")
                .with_help("name the type of an assertion, as it is written")
                .add_to(&mut cx.problems);
        }
        let weights = std::mem::take(&mut rule.weights);
        rule.weights = named
            .iter()
            .filter_map(|(kind, name)| Some((name.clone(), *weights.get(kind)?)))
            .collect::<BTreeMap<_, _>>();
        Arc::make_mut(grader).kind = GraderKind::Selection(AnswerSelection::MaxScore(rule));
    }
}

/// Returns the type of an assertion as written, in the assertion itself or in the template that it refers to.
fn written_type(node: &TreeNode, root: &TreeNode) -> String {
    let own = node.get("type").and_then(TreeNode::as_str);
    let of_template = || {
        let path = node.get("$ref")?.as_str()?.strip_prefix("#/")?;
        path.split('/').try_fold(root, |at, key| at.get(key))?.get("type")?.as_str()
    };
    own.or_else(of_template).unwrap_or_default().trim().to_owned()
}
