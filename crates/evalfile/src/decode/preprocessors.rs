//! Decoder of `preprocessors`: programs that turn files of answers into text.

use std::sync::Arc;

use assize_diagnostic::Diagnostic;

use super::grader::decode_command;
use super::map_reader::wrong_type;
use super::{DecodeContext, MapReader};
use crate::codes;
use crate::model::FilePreprocessor;
use crate::tree::{NodeValue, TreeNode};

/// Decodes the list.
pub(crate) fn decode_preprocessors(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Arc<[FilePreprocessor]> {
    let Some(entry) = object.entry("preprocessors").filter(|entry| !entry.value.is_null()) else {
        return Arc::default();
    };
    let NodeValue::Seq(items) = &entry.value.data else {
        cx.problems.add(
            wrong_type(&entry.value, "`preprocessors`", "a list")
                .with_help("write it like `[{type: xlsx, command: [python3, to_csv.py]}]`"),
        );
        return Arc::default();
    };

    items.iter().filter_map(|item| decode_preprocessor(cx, item)).collect()
}

fn decode_preprocessor(cx: &mut DecodeContext, node: &TreeNode) -> Option<FilePreprocessor> {
    let mut object = MapReader::new(node, "a preprocessor", &mut cx.problems)?;
    let head = object.head();
    let kind = object.text("type", &mut cx.problems);
    let command = object.entry("command").and_then(|entry| decode_command(cx, entry));
    for (key, example) in [("type", "xlsx"), ("command", "[python3, to_csv.py]")] {
        if !object.has(key) {
            cx.problems.add(
                Diagnostic::error(
                    codes::MISSING_SETTING,
                    format!("a preprocessor has no `{key}`"),
                    head,
                    "this one",
                )
                .with_help(format!("add `{key}: {example}`")),
            );
        }
    }

    object.finish(&mut cx.problems);
    let media_type = FilePreprocessor::media_type(&kind?.value);
    Some(FilePreprocessor { media_type, command: command?, place: cx.position(head) })
}
