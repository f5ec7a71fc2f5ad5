//! Known results, properties, and cases without a result.

mod agreement;
mod bootstrap;
mod bounded;
mod cluster;
mod combine;
mod compare;
mod correction;
mod crossed;
mod degenerate;
mod document;
mod drawn;
mod items;
mod judged;
mod latent_class;
mod mean;
mod power;
mod proportion;
mod repeats;
mod rescaling;
mod sequential;
mod ties;

use proptest::prelude::ProptestConfig;

/// The requested number of cases, without a file that remembers failures.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Uniform numbers from 0 to 1 by a fixed generator.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as f64 / f64::from(1u32 << 31)
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!(near(found, expected, tolerance), "{found}, expected {expected}");
}
