//! A case of a matrix file as a value of `tests`, for conversions.

use std::path::Path;

use assize_diagnostic::Span;
use assize_document::{NodeValue, TreeNode};
use assize_evalfile::reading::{
    AssertionContext, DecodeContext, DecodedCase, SuiteDefaults, decode_assertions, decode_prepared_case,
};
use assize_model::{AnswerSelection, GraderKind};
use serde_json::{Map, Value, json};

use super::nodes::list_node;
use super::pending::PendingCase;
/// Keeps a case, with the data that its node does not hold.
pub(super) fn keep_case(
    cx: &mut DecodeContext,
    node: &TreeNode,
    vars: &Map<String, Value>,
    pending: &PendingCase<'_>,
    read: &DecodedCase,
) {
    let Some(case) = &read.case else { return };
    let Some(mut lowered) = cx.lowered.take() else { return };
    let mut value = lowered_value(cx, &lowered.folder, node);
    if !vars.is_empty() {
        value["vars"] = Value::Object(vars.clone());
    }

    let test = &pending.test;
    let at = |span: Span| cx.position(span);
    if let Some(scoring) = &test.scoring {
        let what =
            "the function that computes the score is not converted: the weighted mean of the graders decides";
        lowered.lose(&at(scoring.span), "`assertScoringFunction`", what);
    }
    if case.compares_answers() && case.prompt.is_some() {
        let what = "the answers to several prompts are not compared with each other: each prompt has cases of its own";
        lowered.lose(&at(pending.span), "`select-best` or `max-score`", what);
    }
    for (at, grader) in case.graders.iter().enumerate() {
        if let GraderKind::Selection(AnswerSelection::MaxScore(rule)) = &grader.kind
            && !rule.weights.is_empty()
        {
            value["assertions"][at]["weights"] = json!(rule.weights);
        }
    }
    for feature in &case.unbuilt {
        lowered.lose(
            &feature.place,
            "prompt",
            &format!("{} are sent as the path of the file", feature.feature),
        );
    }
    for code in &case.unrun_code {
        let what = format!("{} was not run; `convert --allow-code` runs it", code.what);
        lowered.lose(&at(pending.span), "code", &what);
    }

    lowered.cases.push(value);
    cx.lowered = Some(lowered);
}

/// Decodes a case without the graders that can't be read, which diagnostics have named. Returns it as a node too.
pub(super) fn decode_readable_graders(
    cx: &mut DecodeContext,
    mut node: TreeNode,
    defaults: &SuiteDefaults,
    vars: &Map<String, Value>,
) -> (TreeNode, DecodedCase) {
    let quiet = cx.problems.fork();
    let known = std::mem::replace(&mut cx.problems, quiet);
    let mut kept = Vec::new();
    for grader in assertions_of(&mut node).map(std::mem::take).unwrap_or_default() {
        let before = cx.problems.error_count();
        let alone = list_node(grader.span, vec![grader.clone()]);
        decode_assertions(cx, &alone, AssertionContext::default());
        if cx.problems.error_count() == before {
            kept.push(grader);
        } else if let Some(lowered) = &mut cx.lowered {
            lowered.leave_out(grader.span);
        }
    }
    if let Some(list) = assertions_of(&mut node) {
        *list = kept;
    }
    let read = decode_prepared_case(cx, &node, defaults, vars.clone().into_iter().collect());
    cx.problems = known;

    (node, read)
}

/// Returns the graders of a case.
fn assertions_of(node: &mut TreeNode) -> Option<&mut Vec<TreeNode>> {
    let NodeValue::Map(entries) = &mut node.data else { return None };
    match &mut entries.iter_mut().find(|entry| entry.key == "assertions")?.value.data {
        NodeValue::Seq(graders) => Some(graders),
        _ => None,
    }
}

/// Returns a node as a value. References to files that were written in a file of another folder become relative to this
/// file's folder.
fn lowered_value(cx: &DecodeContext, folder: &Path, node: &TreeNode) -> Value {
    match &node.data {
        NodeValue::Str(text) => {
            Value::from(reference_from(cx, folder, text, node.use_span()).unwrap_or(text.clone()))
        }
        NodeValue::Seq(items) => items.iter().map(|item| lowered_value(cx, folder, item)).collect(),
        NodeValue::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), lowered_value(cx, folder, &entry.value)))
            .collect::<Map<_, _>>()
            .into(),
        _ => node.to_json(),
    }
}

/// Returns a reference relative to a folder, if it was written in a file of another folder and a file exists at the
/// path from there.
fn reference_from(cx: &DecodeContext, folder: &Path, text: &str, span: Span) -> Option<String> {
    let written = text.strip_prefix("file://").filter(|path| !path.contains('\n'))?;
    let home = cx.folder_of(span.source);
    let inner = home
        .strip_prefix(folder)
        .ok()
        .filter(|inner| !inner.as_os_str().is_empty() && *inner != Path::new("."))?;
    let file = written.rsplit_once(':').map_or(written, |(file, _)| file);
    let exists = [written, file].iter().any(|path| home.join(path).exists());

    exists.then(|| format!("file://{}", inner.join(written).display()))
}
