//! Folders that a workspace names.

use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::codes;

use crate::decode::DecodeContext;

/// Decodes the path of an existing folder.
pub(super) fn find_existing_folder(
    cx: &mut DecodeContext,
    written: &SpannedValue<String>,
) -> Option<PathBuf> {
    let found = cx.find_file(&written.value, written.span)?;
    if !found.is_dir() {
        return Diagnostic::error(codes::FILE_UNREADABLE, "this is not a folder")
            .at(written.span, format!("`{}` is a file", written.value))
            .with_help("name the folder")
            .reject_in(&mut cx.problems);
    }

    Some(found)
}
