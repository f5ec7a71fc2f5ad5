//! Workspaces: the folders that agents work in, and the changes made there.
//!
//! A [`Workspace`] prepares a workspace as a suite describes it, and cases acquire and release it; a [`WorkspaceLease`]
//! is the use by one case. A [`WorkspaceSnapshot`] is the state of a folder, and later reports the changes since.
//!
//! Design: `docs/design/workspaces.md`.

#![warn(missing_docs)]

mod blocking;
mod case_info;
mod changes;
mod copy;
mod error;
mod folder_handle;
mod git;
mod hook;
mod ignore_rules;
mod lease;
mod lease_queue;
mod limits;
mod path_text;
mod remove;
mod render;
mod restore;
mod setup;
mod snapshot;
mod walk;
mod workspace;
mod workspace_root;

pub use case_info::CaseInfo;
pub use changes::{ChangeKind, FileChange, FileChanges};
pub use error::WorkspaceError;
pub use lease::WorkspaceLease;
pub use lease_queue::LeaseQueuePosition;
pub use limits::SnapshotLimits;
pub use setup::{RedactText, WorkspaceSetup};
pub use snapshot::WorkspaceSnapshot;
pub use walk::WalkError;
pub use workspace::Workspace;
pub use workspace_root::remove_abandoned;

#[cfg(test)]
mod tests;
