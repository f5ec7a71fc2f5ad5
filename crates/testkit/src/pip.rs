//! Python packages that tests need, each installed into a separate folder.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// File with the packages that were installed last. The folder may be left from an earlier version of the tests.
const INSTALLED: &str = "installed.txt";

/// Installs packages into this folder with pip, unless it already contains the same ones. The error is the reason why
/// they can't be installed.
pub(crate) fn install(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Tests in other processes may be installing the same packages.
    let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let (wanted, installed) = (arguments.join(" "), folder.join(INSTALLED));
    if fs::read_to_string(&installed).is_ok_and(|present| present == wanted) {
        return Ok(());
    }

    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(folder).args(arguments);
    let output = pip.output().map_err(|error| format!("there is no `python3`: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "pip can't install {wanted}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    fs::write(&installed, wanted).map_err(|error| format!("{}: {error}", installed.display()))
}
