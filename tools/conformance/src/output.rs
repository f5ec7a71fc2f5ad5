//! Tables that explain a check. They are printed only on request, since a passing test should be silent.

use std::sync::atomic::{AtomicBool, Ordering};

static SHOWN: AtomicBool = AtomicBool::new(false);

/// Makes `print` print: `cargo test -p assize-conformance -- --nocapture`.
pub(crate) fn show() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Prints a text if that was requested.
pub(crate) fn print(text: &str) {
    if SHOWN.load(Ordering::Relaxed) {
        println!("{text}");
    }
}
