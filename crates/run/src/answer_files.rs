//! Adds files of an answer to its text.

use std::path::{Path, PathBuf};

use assize_grade::{AnswerFile, convert_file};
use assize_model::FilePreprocessor;
use assize_targets::TargetAnswer;
use assize_workspace::WorkspaceLease;
use serde_json::Value;

use crate::WorkItem;

/// Maximum size of a file that is read as text.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Adds the text of files in the last message of an answer. Each follows a line with its path. If a file is not text
/// and has no preprocessor, its path and the reason are added. A failed preprocessor is an error, because the content
/// of the file is unknown then.
pub(crate) async fn add_answer_files(
    item: &WorkItem,
    stay: Option<&WorkspaceLease>,
    answer: &mut TargetAnswer,
) -> Result<(), String> {
    // A recorded answer already holds the text of the files, and its author could name any file of this machine.
    if answer.attempts == 0 {
        return Ok(());
    }

    let Some(messages) = answer.messages.as_ref().and_then(Value::as_array) else { return Ok(()) };
    let last = messages
        .iter()
        .rev()
        .find(|message| message.get("role").and_then(Value::as_str) == Some("assistant"));
    let blocks = last.and_then(|message| message.get("content")).and_then(Value::as_array);
    let mut parts: Vec<String> =
        Some(answer.text.clone()).into_iter().filter(|text| !text.is_empty()).collect();
    let before = parts.len();
    let folder = stay.map_or(&*item.suite_folder, WorkspaceLease::folder);
    for block in blocks.into_iter().flatten() {
        let text = |keys: [&str; 2]| keys.into_iter().find_map(|key| block.get(key)).and_then(Value::as_str);
        if text(["type", "type"]) != Some("file") {
            continue;
        }
        // A block with the text of a file has no path.
        let Some(written) = text(["path", "value"]) else { continue };
        let media_type = text(["media_type", "mediaType"]).unwrap_or_default();
        parts.push(file_text(item, folder, written, media_type).await?);
    }

    if parts.len() > before {
        answer.text = parts.join("\n");
    }
    Ok(())
}

async fn file_text(
    item: &WorkItem,
    folder: &Path,
    written: &str,
    media_type: &str,
) -> Result<String, String> {
    let not_shown = |reason: &str| format!("[[ file: {written} ]]\n[not shown: {reason}]");
    let Some(path) = local_path(folder, written) else {
        return Ok(not_shown("it is not on this machine"));
    };
    let wanted = FilePreprocessor::media_type(media_type);
    let preprocessor = item.case.preprocessors.iter().find(|preprocessor| preprocessor.media_type == wanted);
    let text = match preprocessor {
        Some(preprocessor) => {
            let file = AnswerFile { written, path: &path, media_type };
            convert_file(file, preprocessor, &item.programs).await?
        }
        None => match assize_files::read_bytes(&path, MAX_BYTES).map(String::from_utf8) {
            Ok(Ok(text)) if !text.contains('\0') => text.replace("\r\n", "\n"),
            Ok(_) => return Ok(not_shown("it is not text; `preprocessors` can convert it")),
            Err(error) => return Ok(not_shown(&error.to_string())),
        },
    };

    Ok(format!("[[ file: {written} ]]\n{text}"))
}

/// Returns the path of a file, relative to the folder the target worked in.
fn local_path(folder: &Path, written: &str) -> Option<PathBuf> {
    let path = written.strip_prefix("file://").unwrap_or(written);
    if path.contains("://") {
        return None;
    }

    Some(std::path::absolute(folder.join(path)).unwrap_or_else(|_| folder.join(path)))
}
