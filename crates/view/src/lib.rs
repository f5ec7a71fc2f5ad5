//! Stored runs as pages for a browser, served from this machine.
//!
//! [`ViewServer`] binds an address and serves pages until it is stopped. Pages are rendered on the server from stored
//! rows; scripts only add the long table of cases, keyboard shortcuts, and the progress of a run. All numbers come from
//! stored summaries, `assize-analysis` and `assize-report`. The server fetches nothing from elsewhere, and writes
//! nothing except labels of people, through `assize-review`.
//!
//! A reviewer has a token that opens the pages of one review and no others. Those pages show a judge's decision
//! only after the reviewer has decided.
//!
//! Texts of cases are untrusted. Pages escape them, and the content security policy of every reply forbids
//! scripts and styles other than the program's own.

#![warn(missing_docs)]

mod access;
mod assets;
mod index;
mod library;
mod open_run;
mod page_reply;
mod page_work;
mod pages;
mod people;
mod picture;
mod progress;
mod reviews;
mod routes;
mod server;
mod text;
mod tls;

pub use reviews::OfferedReview;
pub use server::{ViewError, ViewOptions, ViewServer};
pub use tls::TlsIdentity;

#[cfg(test)]
mod tests;
