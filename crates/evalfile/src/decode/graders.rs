//! Graders of a suite and of its cases: the lists that apply, and their order.

use std::sync::Arc;

use assize_diagnostic::Diagnostic;
use assize_document::{MapEntry, codes};
use assize_model::Grader;

use super::DecodeContext;
use super::common::non_empty_list;
use super::grader::{AssertionContext, decode_assertions, distinct_names};

/// Decodes a list of graders. An empty list is an error, because it would leave a case ungraded.
pub(crate) fn decode_list(
    cx: &mut DecodeContext,
    entry: &MapEntry,
    base: AssertionContext,
) -> Vec<Arc<Grader>> {
    match non_empty_list(cx, entry) {
        Some(_) => decode_assertions(cx, &entry.value, base),
        None => Vec::new(),
    }
}

/// Returns the graders of a case, with unique names: its own first, then the suite's. `entry` is the case's
/// own list.
pub(crate) fn combine_with_suite(
    cx: &mut DecodeContext,
    entry: Option<&MapEntry>,
    own: Vec<Arc<Grader>>,
    suite: &[Arc<Grader>],
) -> Vec<Arc<Grader>> {
    for grader in &own {
        // A name that equals the type was generated in one of the two lists, so it is not a clash.
        let clash = suite.iter().find(|other| other.name == grader.name && grader.name != grader.type_name);
        if let (Some(other), Some(entry)) = (clash, entry) {
            Diagnostic::warning(
                codes::DUPLICATE_GRADER_NAME,
                format!("the case and its suite both have a grader called `{}`", grader.name),
            )
            .at(entry.key_span, format!("results will list the suite's as `{}-2`", grader.name))
            .with_note(format!("the suite's grader is at {}", other.place))
            .with_help(
                "rename one of them; `execution: {skip_defaults: true}` on the case skips the \
                 suite's graders",
            )
            .add_to(&mut cx.problems);
        }
    }

    let mut graders = own;
    graders.extend(suite.iter().map(Arc::clone));

    distinct_names(graders)
}
