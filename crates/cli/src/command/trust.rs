//! `assize trust`: the folders whose files may run programs.

use std::path::Path;

use assize_engine::{ExitStatus, TrustedFolders};
use serde_json::json;

use crate::args::TrustArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &TrustArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let file = context.process.trust_file().ok_or(NO_DATA_FOLDER)?;
    let mut trusted = TrustedFolders::read(file)?;
    if args.list {
        list(&trusted, args.json);
        return Ok(ExitStatus::Passed);
    }

    let folder = context.process.resolve(args.folder.as_deref().unwrap_or(Path::new(".")));
    if args.revoke {
        if !trusted.remove(&folder) {
            return Err(format!(
                "`{}` is not in the list of trusted folders; `assize trust --list` shows it",
                folder.display()
            )
            .into());
        }
        save(&trusted, file)?;
    } else {
        add(&folder, context)?;
    }

    match args.json {
        true => list(&TrustedFolders::read(file)?, true),
        false if args.revoke => output::print(&format!("no longer trusted: {}\n", folder.display())),
        false => output::print(&format!("trusted: {}\n", folder.display())),
    }
    Ok(ExitStatus::Passed)
}

/// Why there is no list.
const NO_DATA_FOLDER: &str = "there is no place for the list of trusted folders: neither XDG_DATA_HOME nor HOME is set to an absolute path";

/// Adds a folder to the list.
pub(crate) fn add(folder: &Path, context: &CliContext) -> Result<(), CommandFailure> {
    let file = context.process.trust_file().ok_or(NO_DATA_FOLDER)?;
    let mut trusted = TrustedFolders::read(file)?;
    trusted
        .add(folder)
        .map_err(|error| format!("can't trust `{}`, which must be a folder: {error}", folder.display()))?;
    save(&trusted, file)
}

fn save(trusted: &TrustedFolders, file: &Path) -> Result<(), CommandFailure> {
    trusted.write(file).map_err(|error| format!("can't write `{}`: {error}", file.display()).into())
}

fn list(trusted: &TrustedFolders, as_json: bool) {
    if as_json {
        let folders: Vec<_> = trusted
            .folders()
            .iter()
            .map(|folder| json!({ "path": folder.path, "trusted": folder.is_unchanged() }))
            .collect();
        output::print_json(&json!({ "folders": folders }));
        return;
    }

    if trusted.folders().is_empty() {
        output::print("no folder is trusted\n");
    }
    for folder in trusted.folders() {
        let changed = if folder.is_unchanged() { "" } else { "  (gone or replaced, so not trusted)" };
        output::print(&format!("{}{changed}\n", folder.path.display()));
    }
}
