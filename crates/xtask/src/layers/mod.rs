//! `cargo xtask layers`: checks that every crate uses only the crates that its rule allows.

mod crates;
mod rules;

use crate::metadata;

/// Fails with every dependency that no rule allows.
pub fn run() -> Result<(), String> {
    let packages = metadata::packages()?;
    let violations = rules::violations(&packages);
    if violations.is_empty() {
        println!("layers: {} crates, every dependency is allowed", packages.len());
        return Ok(());
    }

    Err(format!(
        "layers: {} not allowed\n  {}\nThe rules are the tables of ARCHITECTURE.md.",
        violations.len(),
        violations.join("\n  ")
    ))
}
