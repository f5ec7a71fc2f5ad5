//! Judges that options and assertions of tests define.

use assize_diagnostic::Span;

use super::providers::{ProviderReader, is_embedding_id};
use super::tests::MatrixTest;
use crate::decode::DecodeContext;
use crate::tree::TreeNode;

/// Names of the judges that assertions and options define, by the place of the definition.
pub(super) type JudgeNames = Vec<(Span, String)>;

/// Adds the judges that options and assertions define to the targets of the file. Returns their names.
pub(super) fn judges_of(
    cx: &mut DecodeContext,
    providers: &mut ProviderReader<'_>,
    default: &MatrixTest,
    tests: &[MatrixTest],
) -> JudgeNames {
    let mut names = JudgeNames::new();
    for test in std::iter::once(default).chain(tests) {
        if let Some(judge) = &test.options.judge {
            add_judge(cx, providers, judge, &mut names);
        }
        for assertion in &test.assertions {
            add_judges_of(cx, providers, assertion, &mut names);
        }
    }

    names
}

fn add_judges_of(
    cx: &mut DecodeContext,
    providers: &mut ProviderReader<'_>,
    assertion: &TreeNode,
    names: &mut JudgeNames,
) {
    if let Some(judge) = assertion.get("provider") {
        add_judge(cx, providers, judge, names);
    }
    for inner in assertion.get("assert").and_then(TreeNode::as_seq).unwrap_or_default() {
        add_judges_of(cx, providers, inner, names);
    }
}

fn add_judge(
    cx: &mut DecodeContext,
    providers: &mut ProviderReader<'_>,
    node: &TreeNode,
    names: &mut JudgeNames,
) {
    // A map may name a judge for each kind of question.
    let kinds = Some(node).filter(|_| node.get("id").is_none());
    if let Some(embedding) = kinds.and_then(|node| node.get("embedding"))
        && !names.iter().any(|(span, _)| *span == embedding.span)
        && let Some(name) = providers.read_judge(cx, embedding)
    {
        names.push((embedding.span, name));
    }

    let by_kind = kinds.and_then(|node| node.get("text"));
    let settings = by_kind.unwrap_or(node);
    let is_named = settings.as_str().is_some() || settings.get("id").is_some();
    if !is_named || names.iter().any(|(span, _)| *span == node.span) {
        return;
    }

    if let Some(name) = providers.read_judge(cx, settings) {
        names.push((node.span, name));
    }
}

/// Returns the name of the model for embeddings that a setting of judges names. A judge that answers is none.
pub(super) fn embedder_of(node: &TreeNode, judges: &JudgeNames) -> Option<String> {
    let id = |node: &TreeNode| node.as_str().or_else(|| node.get("id")?.as_str()).map(str::to_owned);
    let settings = match node.get("embedding") {
        Some(embedding) if node.get("id").is_none() => embedding,
        _ => Some(node).filter(|node| id(node).is_some_and(|id| is_embedding_id(&id)))?,
    };
    let known = judges.iter().find(|(span, _)| *span == settings.span).map(|(_, name)| name.clone());

    known.or_else(|| id(settings))
}
