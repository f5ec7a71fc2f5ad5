//! `cargo xtask layers`: checks that every crate uses only the crates that its rule allows, and that the files of a crate
//! name each other in one direction only.

mod crates;
mod files;
mod rules;

use std::path::Path;

use crate::metadata;

/// Fails with every dependency that no rule allows, and every circle of files that the data does not require.
pub fn run() -> Result<(), String> {
    let packages = metadata::packages()?;
    let mut violations = rules::violations(&packages);
    for package in &packages {
        violations.extend(files::circles(Path::new(&package.folder))?);
    }
    if violations.is_empty() {
        println!("layers: {} crates, every dependency is allowed, no circle of files", packages.len());
        return Ok(());
    }

    Err(format!(
        "layers: {} not allowed\n  {}\nThe rules are the tables of ARCHITECTURE.md.",
        violations.len(),
        violations.join("\n  ")
    ))
}
