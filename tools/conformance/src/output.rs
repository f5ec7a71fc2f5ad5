//! Tables that explain a check: printed on request, since a passing test is silent.

use std::sync::atomic::{AtomicBool, Ordering};

static SHOWN: AtomicBool = AtomicBool::new(false);

/// Prints what the checks explain from now on: `cargo test -p assize-conformance -- --nocapture`.
pub(crate) fn show() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Prints a text if it was asked for.
pub(crate) fn print(text: &str) {
    if SHOWN.load(Ordering::Relaxed) {
        println!("{text}");
    }
}
