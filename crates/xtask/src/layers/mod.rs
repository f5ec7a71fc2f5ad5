//! Which crate may use which: arrows point down, and heavy crates stay in their rooms.

mod rooms;
mod rules;

use crate::metadata;

/// Fails with every arrow that points the wrong way.
pub(crate) fn run() -> Result<(), String> {
    let packages = metadata::packages()?;
    let complaints = rules::complaints(&packages);
    if complaints.is_empty() {
        println!("layers: {} crates, every arrow points down", packages.len());
        return Ok(());
    }
    Err(format!(
        "layers: {} forbidden\n  {}\nThe rules are in crates/xtask/src/layers/rooms.rs; ARCHITECTURE.md says why.",
        complaints.len(),
        complaints.join("\n  ")
    ))
}
