//! Stored runs as pages for a browser, served on this machine.
//!
//! [`ViewServer`] binds an address and serves pages until it is told to stop. Pages are rendered here from stored rows; what
//! scripts add is the long table of cases, keys, and the progress of a run. All numbers come from stored
//! summaries, `assize-analysis` and `assize-report`. Nothing is fetched from anywhere, and nothing is written but labels of
//! people, through `assize-review`.
//!
//! A reviewer has a token that opens the pages of one review and no others. They show a judge's decision only together with
//! the reviewer's own.
//!
//! Texts of cases are untrusted. They reach a page escaped, and the content security policy of every reply forbids scripts
//! and styles that are not the program's own.
//!
//! Design: `docs/design/pages.md`.

#![warn(missing_docs)]

mod access;
mod assets;
mod index;
mod library;
mod open_run;
mod page_work;
mod pages;
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
