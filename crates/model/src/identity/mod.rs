//! Stored identities of the contents of eval files. Positions in files are only part of the identities of
//! workspaces and their commands.

mod benchmark;
mod check;
mod message;
mod panel;
mod workspace;
