//! `schemas/`: the JSON Schemas of the program's files, as it writes them.

use std::path::Path;

use super::commands::printed;
use super::shells::names_in;

/// The schemas: path in the checkout and text.
pub(super) fn files(program: &Path) -> Result<Vec<(String, String)>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("can't make a folder for schemas: {error}"))?;
    let path =
        folder.path().to_str().ok_or("the folder for temporary files has a name that is not Unicode")?;
    printed(program, &["schema", "--out", path])?;
    names_in(folder.path())?
        .into_iter()
        .map(|name| {
            let schema = std::fs::read_to_string(folder.path().join(&name))
                .map_err(|error| format!("can't read the schema `{name}`: {error}"))?;
            Ok((format!("schemas/{name}"), schema))
        })
        .collect()
}
