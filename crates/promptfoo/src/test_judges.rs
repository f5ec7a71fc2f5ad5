//! Judges that are defined in options and assertions of tests.

use assize_diagnostic::Span;
use assize_document::TreeNode;
use assize_evalfile::reading::DecodeContext;

use super::assertion_types::AssertionSupport;
use super::matrix_test::MatrixTest;
use super::matrix_tests::MatrixTests;
use super::providers::{ProviderReader, is_embedding_id};

/// Names of these judges, by the spans of their definitions.
pub(super) type JudgeNames = Vec<(Span, String)>;

/// Adds the judges that options and assertions define to the targets of the file. Returns their names.
pub(super) fn judges_of(
    cx: &mut DecodeContext,
    providers: &mut ProviderReader<'_>,
    default: &MatrixTest,
    tests: &MatrixTests,
) -> JudgeNames {
    let mut names = JudgeNames::new();
    for test in std::iter::once(default).chain(tests.parts()) {
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
    // A map may define a judge for each kind of model.
    let kinds = Some(node).filter(|_| node.get("id").is_none());
    for kind in MeasuringModel::ALL {
        if let Some(model) = kinds.and_then(|node| node.get(kind.key()))
            && !names.iter().any(|(span, _)| *span == model.span)
            && let Some(name) = providers.read_judge(cx, model)
        {
            names.push((model.span, name));
        }
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

/// Kind of model that measures answers, as opposed to judging them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MeasuringModel {
    Embeddings,
    Moderation,
    Classification,
}

impl MeasuringModel {
    const ALL: [Self; 3] = [Self::Embeddings, Self::Moderation, Self::Classification];

    /// Returns the kind of model that a type of assertion needs, if any.
    pub(super) const fn asked_by(support: AssertionSupport) -> Option<Self> {
        match support {
            AssertionSupport::Similar(_) | AssertionSupport::AnswerRelevance => Some(Self::Embeddings),
            AssertionSupport::Moderation => Some(Self::Moderation),
            AssertionSupport::Classifier => Some(Self::Classification),
            _ => None,
        }
    }

    /// Returns the key for this kind in a map that defines a judge for each kind.
    const fn key(self) -> &'static str {
        match self {
            Self::Embeddings => "embedding",
            Self::Moderation => "moderation",
            Self::Classification => "classification",
        }
    }

    fn has_id(self, id: &str) -> bool {
        let has_word = |words: &[&str]| id.split(':').any(|word| words.contains(&word));
        match self {
            Self::Embeddings => is_embedding_id(id),
            Self::Moderation => has_word(&["moderation"]),
            Self::Classification => has_word(&["text-classification", "token-classification"]),
        }
    }

    /// Returns the name of the model of this kind that a setting of judges defines. A judge that answers in
    /// words is not such a model.
    pub(super) fn named(self, node: &TreeNode, judges: &JudgeNames) -> Option<String> {
        let id = |node: &TreeNode| node.as_str().or_else(|| node.get("id")?.as_str()).map(str::to_owned);
        let settings = match node.get(self.key()) {
            Some(model) if node.get("id").is_none() => model,
            _ => Some(node).filter(|node| id(node).is_some_and(|id| self.has_id(&id)))?,
        };
        let known = judges.iter().find(|(span, _)| *span == settings.span).map(|(_, name)| name.clone());

        known.or_else(|| id(settings))
    }
}
