//! The folder an agent works in, and what it changed there.

#![warn(missing_docs)]

mod changes;
mod limits;
mod name;
mod render;
mod snapshot;
mod walk;

pub use changes::{Change, ChangeKind, FileChanges};
pub use limits::Limits;
pub use snapshot::Snapshot;
pub use walk::WorkspaceError;
