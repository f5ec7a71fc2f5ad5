//! Loading of eval files in every spelling, and the search for them in folders.
//!
//! [`load_suite`] hands a file to the reader that its keys ask for: that of prompts, providers and tests, or that of cases.

#![warn(missing_docs)]

mod discover;
mod load;

pub use discover::{DiscoveredFiles, DiscoveryError, find_suites, near_path_hint};
pub use load::{load_changed_suite, load_suite, read_suite};

#[cfg(test)]
mod tests;
