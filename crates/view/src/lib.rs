//! Stored runs as pages for a browser, served on this machine.
//!
//! [`ViewServer`] binds an address and serves pages until it is told to stop. Pages are rendered here from stored rows; what
//! scripts add is the long table of cases, keys, and the progress of a run that goes on. All numbers come from stored
//! summaries, `assize-analysis` and `assize-report`. Nothing is written, and nothing is fetched from anywhere.
//!
//! Texts of cases are untrusted. They reach a page escaped, and the content security policy of every reply forbids scripts
//! and styles that are not the program's own.

#![warn(missing_docs)]

mod access;
mod assets;
mod index;
mod library;
mod open_run;
mod pages;
mod picture;
mod progress;
mod routes;
mod server;
mod text;

pub use server::{ViewError, ViewOptions, ViewServer};
