//! Decoder of `preprocessors`: programs that convert files in answers to text.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{FilePreprocessor, Grader, GraderKind};

use super::DecodeContext;
use super::grader::decode_command;

/// Decodes the list.
pub(crate) fn decode_preprocessors(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Arc<[FilePreprocessor]> {
    let Some(entry) = object.entry("preprocessors").filter(|entry| !entry.value.is_null()) else {
        return Arc::default();
    };
    let NodeValue::Seq(items) = &entry.value.data else {
        wrong_type(&entry.value, "`preprocessors`", "a list")
            .with_help("write it like `[{type: xlsx, command: [python3, to_csv.py]}]`")
            .add_to(&mut cx.problems);
        return Arc::default();
    };

    items.iter().filter_map(|item| decode_preprocessor(cx, item)).collect()
}

/// Returns the converters of a case, from the suite and from its graders. If a grader has its own converter for a type,
/// it replaces the suite's. An answer has only one text here, so a diagnostic is added at `head` if two judges of the
/// case would need different texts of the same file.
pub(crate) fn merge_preprocessors(
    cx: &mut DecodeContext,
    suite: &Arc<[FilePreprocessor]>,
    graders: &[Arc<Grader>],
    head: Span,
) -> Arc<[FilePreprocessor]> {
    let mut own: Vec<&[FilePreprocessor]> = Vec::new();
    collect_preprocessors(graders, &mut own);
    if own.iter().all(|list| list.is_empty()) {
        return Arc::clone(suite);
    }

    let mut merged: Vec<FilePreprocessor> = Vec::new();
    for list in &own {
        // Later entries of a list replace earlier ones of the same type.
        let effective = suite.iter().filter(|entry| find_type(list, entry).is_none());
        let latest = list.iter().filter(|entry| find_type(list, entry) == Some(*entry));
        for entry in effective.chain(latest) {
            match find_type(&merged, entry) {
                None => merged.push(entry.clone()),
                Some(known) if known.command == entry.command => {}
                Some(_) => Diagnostic::error(
                    codes::NOT_SUPPORTED,
                    format!("two graders of this case convert `{}` differently", entry.media_type),
                )
                .at(head, "an answer has one text here")
                .with_help("give them the same `preprocessors`, or write these at the top of the file")
                .add_to(&mut cx.problems),
            }
        }
    }

    merged.into()
}

/// Returns the last converter in a list for the type of `wanted`.
fn find_type<'l>(list: &'l [FilePreprocessor], wanted: &FilePreprocessor) -> Option<&'l FilePreprocessor> {
    list.iter().rev().find(|entry| entry.media_type == wanted.media_type)
}

/// Collects the lists of all graders that ask a judge, including empty lists.
fn collect_preprocessors<'g>(graders: &'g [Arc<Grader>], found: &mut Vec<&'g [FilePreprocessor]>) {
    for grader in graders {
        match &grader.kind {
            GraderKind::Llm(llm) => found.push(&llm.preprocessors),
            GraderKind::Rubric(_) => found.push(&[]),
            GraderKind::Composite(composite) => collect_preprocessors(&composite.members, found),
            _ => {}
        }
    }
}

fn decode_preprocessor(cx: &mut DecodeContext, node: &TreeNode) -> Option<FilePreprocessor> {
    let mut object = MapReader::new(node, "a preprocessor", &mut cx.problems)?;
    let head = object.head();
    let kind = object.text("type", &mut cx.problems);
    let command = object.entry("command").and_then(|entry| decode_command(cx, entry));
    for (key, example) in [("type", "xlsx"), ("command", "[python3, to_csv.py]")] {
        if !object.has(key) {
            Diagnostic::error(codes::MISSING_SETTING, format!("a preprocessor has no `{key}`"))
                .at(head, "this one")
                .with_help(format!("add `{key}: {example}`"))
                .add_to(&mut cx.problems);
        }
    }

    object.finish(&mut cx.problems);
    let media_type = FilePreprocessor::media_type(&kind?.value);
    Some(FilePreprocessor { media_type, command: command?, place: cx.position(head) })
}
