//! A text that is open in the editor.

use std::path::PathBuf;

use lsp_types::Uri;

use crate::check::DocumentCheck;

/// A text that is open in the editor.
pub(crate) struct Open {
    pub(crate) uri: Uri,
    pub(crate) path: PathBuf,
    /// The editor's number for this state of the text.
    pub(crate) version: Option<i32>,
    pub(crate) text: String,
    /// Result of checking this state; `None` until it was checked.
    pub(crate) checked: Option<DocumentCheck>,
}
