//! Decoder of the checks of a benchmark: graders that need no judge.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::{AssertionContext, DecodeContext, decode_assertions, is_text_check};
use assize_model::{EvaluatorType, Grader, GraderKind};

/// Decodes `deterministic`. Checks are written like the assertions of an eval file, but may not need a judge. Invalid
/// ones are reported and skipped.
pub(super) fn decode_checks(
    cx: &mut DecodeContext,
    node: &TreeNode,
    evaluator: Option<EvaluatorType>,
) -> Vec<Arc<Grader>> {
    if let Some(evaluator @ (EvaluatorType::LlmJudge | EvaluatorType::ManualSme)) = evaluator {
        Diagnostic::error(codes::UNUSED_SETTING, format!("`{}` runs no checks", evaluator.name()))
            .at(node.use_span(), "has no effect here")
            .with_help("remove them, or use `code`, or `hybrid` to ask a model after the checks")
            .add_to(&mut cx.problems);
        return Vec::new();
    }

    let NodeValue::Seq(items) = &node.data else {
        cx.problems.add(wrong_type(node, "`deterministic`", "a list of checks"));
        return Vec::new();
    };
    // A plain string would become a criterion for a judge.
    let mut texts = items.iter().filter(|item| item.as_map().is_none()).peekable();
    if texts.peek().is_some() {
        for text in texts {
            wrong_type(text, "a check", "a map")
                .with_help("write `- {type: contains, value: ...}`")
                .add_to(&mut cx.problems);
        }
        return Vec::new();
    }

    let flat: Vec<TreeNode> = items.iter().cloned().map(flatten_config).collect();
    let flat = TreeNode { data: NodeValue::Seq(flat), ..node.clone() };
    let graders = decode_assertions(cx, &flat, AssertionContext::default());
    let (sound, judged): (Vec<_>, Vec<_>) = graders.into_iter().partition(|grader| decides_alone(grader));
    for grader in judged {
        // Find the entry of the grader: the last one that does not begin after it.
        let begins = |span: &Span| {
            let place = cx.position(*span);
            (place.line, place.column) <= (grader.place.line, grader.place.column)
        };
        let span = items.iter().map(TreeNode::use_span).take_while(begins).last();
        Diagnostic::error(
            codes::CHECK_NEEDS_JUDGE,
            format!("`{}` can't decide without a judge", grader.type_name),
        )
        .at(span.unwrap_or_else(|| node.use_span()), "calls a judge")
        .with_help("move the question into the prompt file, or use a check such as `contains` or `regex`")
        .add_to(&mut cx.problems);
    }

    sound
}

/// Converts a check to the form of assertions. The entries of its `config` are moved to the check itself, and a
/// type in camel case (`ContainsAny`) is hyphenated. Checks of other types, such as programs, keep their
/// `config`.
fn flatten_config(mut check: TreeNode) -> TreeNode {
    let NodeValue::Map(entries) = &mut check.data else { return check };
    let Some(place) = entries.iter().position(|entry| entry.key == "type") else { return check };
    let Some(name) = entries[place].value.as_str().map(hyphenate_word) else { return check };
    if !is_text_check(&name) {
        return check;
    }

    entries[place].value.data = NodeValue::Str(name);
    let config = entries.iter().position(|entry| entry.key == "config" && entry.value.as_map().is_some());
    if let Some(at) = config
        && let NodeValue::Map(inner) = entries.remove(at).value.data
    {
        entries.extend(inner);
    }

    check
}

/// Hyphenates a word in camel case: `ContainsAny` becomes `contains-any`. Other words are returned unchanged.
fn hyphenate_word(word: &str) -> String {
    let is_camel = word.chars().all(char::is_alphanumeric) && word.starts_with(char::is_uppercase);
    if !is_camel || word.chars().all(char::is_uppercase) {
        return word.to_owned();
    }

    let mut out = String::new();
    for c in word.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }

    out
}

/// Reports a benchmark whose evaluator has nothing to run.
pub(super) fn report_missing_checks(
    cx: &mut DecodeContext,
    head: Span,
    evaluator: Option<EvaluatorType>,
    has_checks: bool,
) {
    let Some(evaluator @ (EvaluatorType::Code | EvaluatorType::Hybrid)) = evaluator else { return };

    if has_checks {
        return;
    }

    let label = match evaluator {
        EvaluatorType::Code => "it can be listed, but not run",
        _ => "the judge is called for every case",
    };
    Diagnostic::warning(codes::NO_CHECKS, format!("a benchmark with `{}` has no checks", evaluator.name()))
        .at(head, label)
        .with_help("write `evaluator_config: {deterministic: [{type: contains, value: ...}]}`")
        .add_to(&mut cx.problems);
}

fn decides_alone(grader: &Grader) -> bool {
    !matches!(grader.kind, GraderKind::Rubric(_) | GraderKind::Llm(_) | GraderKind::Composite(_))
}
