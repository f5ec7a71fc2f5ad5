//! Hand-made runs, with metrics recomputed independently.

mod calibrate;
mod calibration_gates;
mod compare;
mod gates;
mod noise;
mod plans;
mod properties;
mod summary;
mod support;
mod trend;
