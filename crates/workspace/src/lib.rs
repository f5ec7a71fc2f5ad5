//! Workspaces: the folders that agents work in, and the changes made there.
//!
//! A [`Workplace`] prepares a workspace as a suite describes it, and cases acquire and release it; a [`Stay`]
//! is the use by one case. A [`Snapshot`] is the state of a folder, and later reports the changes since.

#![warn(missing_docs)]

mod changes;
mod copy;
mod depot;
mod error;
mod git;
mod hook;
mod ignored;
mod limits;
mod name;
mod remove;
mod render;
mod restore;
mod setup;
mod snapshot;
mod stay;
mod turns;
mod walk;
mod workplace;

pub use changes::{Change, ChangeKind, FileChanges};
pub use depot::sweep;
pub use error::PlaceError;
pub use limits::Limits;
pub use setup::{Hide, Setup};
pub use snapshot::Snapshot;
pub use stay::Stay;
pub use turns::Turn;
pub use walk::WorkspaceError;
pub use workplace::{Visitor, Workplace};
