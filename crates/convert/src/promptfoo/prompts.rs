//! Prompts of the target.

use std::path::Path;

use assize_evalfile::ParsedDocument;
use serde_json::Value;

use crate::note::ConversionNotes;

/// Maximum size of a prompt file in bytes.
const MAX_PROMPT_BYTES: u64 = 1024 * 1024;

/// Returns the texts of the prompts. A prompt that is not available is noted, and the variables alone become
/// the input.
pub(super) fn read_prompts(
    config: &Value,
    document: &ParsedDocument,
    folder: &Path,
    notes: &mut ConversionNotes,
) -> Vec<String> {
    let list: Vec<(Value, String)> = match config.get("prompts") {
        Some(Value::Array(items)) => items
            .iter()
            .cloned()
            .enumerate()
            .map(|(index, item)| (item, format!("/prompts/{index}")))
            .collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(one) => vec![(one.clone(), "/prompts".to_owned())],
    };

    let mut texts = Vec::new();
    for (item, pointer) in list {
        let line = document.line(&pointer);
        let written = item
            .as_str()
            .or_else(|| item.get("raw").and_then(Value::as_str))
            .or_else(|| item.get("id").and_then(Value::as_str));
        for key in ["config", "function"].into_iter().filter(|key| item.get(key).is_some()) {
            notes.add_loss(line, format!("`{key}` of a prompt"), "not converted");
        }

        match written {
            Some(text) => match text.strip_prefix("file://") {
                None => texts.push(text.to_owned()),
                Some(path) => match read_prompt_file(folder, path) {
                    Ok(text) => texts.extend(
                        text.split("\n---\n").map(|text| text.trim().to_owned()).filter(|t| !t.is_empty()),
                    ),
                    Err(why) => notes.add_loss(line, format!("prompt `{text}`"), why),
                },
            },
            None => notes.add_loss(line, "prompt", "is neither a text nor a file"),
        }
    }

    texts
}

/// Reads a prompt file below the configuration's folder.
fn read_prompt_file(folder: &Path, path: &str) -> Result<String, String> {
    if ["js", "mjs", "cjs", "ts", "py", "json", "yaml"]
        .iter()
        .any(|ending| path.ends_with(&format!(".{ending}")))
    {
        return Err("is a program or a list of messages, which is not read".to_owned());
    }

    let root = folder.canonicalize().map_err(|error| error.to_string())?;
    let real = folder.join(path).canonicalize().map_err(|_| "the file is not there".to_owned())?;
    if !real.starts_with(&root) {
        return Err("leads out of the folder of the configuration".to_owned());
    }

    assize_files::read_text_up_to(&real, MAX_PROMPT_BYTES).map_err(|error| format!("can't be read: {error}"))
}
