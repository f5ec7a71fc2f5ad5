//! Stored identities of what eval files describe. Places in files have a part only in those of workspaces.

mod benchmark;
mod check;
mod message;
mod panel;
mod workspace;
