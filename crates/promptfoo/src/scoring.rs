//! `assertScoringFunction`: a function that computes the score of a test from the scores of its assertions.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{TreeNode, codes};
use assize_evalfile::reading::{DecodeContext, read_code};
use assize_model::{CodeLanguage, CompositeAggregator, Grader, GraderKind};

use super::matrix_test::MatrixTest;
use super::nodes::{MapNode, list_node, text_node};

/// Name of the grader whose score the function computes.
const SCORING_NAME: &str = "scoring-function";

/// Reads the function that a test names. Returns `None` if it names none, and after adding a diagnostic.
pub(super) fn scoring_function(cx: &mut DecodeContext, test: &MatrixTest) -> Option<CompositeAggregator> {
    let written = test.scoring.as_ref()?;
    if !written.value.trim().starts_with("file://") {
        Diagnostic::error(codes::BAD_MATRIX_PART, "a scoring function has to be a function in a file")
            .at(written.span, "not a path that begins with `file://`")
            .with_help("write `file://PATH.js:score`, with the name of a function after the path")
            .add_to(&mut cx.problems);
        return None;
    }

    let node = text_node(written.span, written.value.clone());
    let code = read_code(cx, &node, "assertScoringFunction", CodeLanguage::JavaScript)?;
    Some(CompositeAggregator::Function {
        code,
        threshold: test.threshold.as_ref().map(|threshold| threshold.value),
    })
}

/// Returns a composite of the graders, whose score the function computes. It alone decides about the test.
pub(super) fn scored_by_function(graders: Vec<TreeNode>, span: Span) -> TreeNode {
    let mut scored = MapNode::new(span);
    scored.add_text("name", SCORING_NAME);
    scored.add_text("type", "composite");
    scored.add_flag("required", true);
    scored.add("assertions", span, list_node(span, graders));
    scored.finish()
}

/// Sets the function as the aggregator of the composite.
pub(super) fn set_scoring(grader: &mut Grader, function: CompositeAggregator) {
    if let GraderKind::Composite(composite) = &mut grader.kind {
        composite.aggregator = function;
    }
}
