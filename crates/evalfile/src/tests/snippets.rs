//! Helpers for tests: decode snippets.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::Diagnostic;
use assize_document::{TreeNode, read_yaml};
use assize_model::{EvalFileFormat, Grader};

use crate::decode::DecodeContext;
use crate::decode::grader::{AssertionContext, decode_assertions};

/// Returns a context whose only file is `text`, as if it were at `path`.
pub(crate) fn read_at(path: &Path, text: &str) -> (DecodeContext, TreeNode) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let roots: Vec<_> = folder.canonicalize().into_iter().collect();
    let mut cx = DecodeContext::new(Arc::new(|_| None), Vec::new(), roots);
    let id = cx.sources.add(path, text);
    let node = read_yaml(&cx.sources, id, &mut cx.problems).expect("valid YAML");

    (cx, node)
}

pub(crate) fn read(text: &str) -> (DecodeContext, TreeNode) {
    read_at(Path::new("test.yaml"), text)
}

/// Returns the codes and lines of the diagnostics, in the order in which they are shown.
pub(crate) fn complaints(cx: DecodeContext) -> Vec<(String, usize)> {
    let DecodeContext { sources, problems, .. } = cx;
    let mut list = problems.into_vec();
    assize_diagnostic::sort_diagnostics(&mut list);
    list.iter().map(|d| (d.code.as_str().to_owned(), sources.position(d.primary.span).line)).collect()
}

/// The graders of an assertion list, and its diagnostics.
pub(crate) fn graders(text: &str, format: EvalFileFormat) -> (Vec<Arc<Grader>>, Vec<Diagnostic>) {
    let (mut cx, node) = read(text);
    cx.format = format;
    let graders = decode_assertions(&mut cx, &node, AssertionContext::default());
    let mut problems = cx.problems.into_vec();
    assize_diagnostic::sort_diagnostics(&mut problems);
    (graders, problems)
}

/// The single grader of a sound list in format 2.
pub(crate) fn one(text: &str) -> Arc<Grader> {
    let (mut graders, problems) = graders(text, EvalFileFormat::Two);
    assert_eq!(problems, vec![], "{text}");
    assert_eq!(graders.len(), 1, "{text}");
    graders.remove(0)
}

/// The codes of the complaints about a list in format 2.
pub(crate) fn codes(text: &str) -> Vec<&'static str> {
    graders(text, EvalFileFormat::Two).1.iter().map(|d| d.code.as_str()).collect()
}
