//! Python packages that tests need, installed into folders of their own.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// Installs packages into this folder with pip, unless this file or folder is in it already. The error says why it can't be
/// done.
pub(crate) fn install(folder: &Path, installed: &str, arguments: &[&str]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Tests in other processes may be installing the same packages.
    let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if folder.join(installed).exists() {
        return Ok(());
    }

    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--target"])
        .arg(folder)
        .args(arguments)
        .output();
    let output = pip.map_err(|error| format!("there is no `python3`: {error}"))?;
    if output.status.success() && folder.join(installed).exists() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("pip can't install {}: {}", arguments.join(" "), why.trim()))
}
