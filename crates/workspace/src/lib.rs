//! The folder an agent works in, and what it changed there.
//!
//! A [`Workplace`] makes a workspace as a suite describes it and lends it to cases; a [`Stay`] is one case's use of it. A
//! [`Snapshot`] is the state of a folder, and says later what has changed since.

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
