//! Calibration of a judge against people: agreement, biases, and pass rates corrected for its errors.
//!
//! [`Material`] holds the judged items and their labels, from a run or from tables; [`calibrate`] computes
//! the metrics.

mod bias;
mod gates;
mod item;
mod material;
mod pairing;
mod people;
mod rates;
mod report;
mod run;
mod scores;
mod split;
mod verdicts;

pub use bias::{Bias, BiasKind, model_family};
pub use gates::{GateOn, GateRequest, GateResult, check_gates};
pub use item::{Item, ItemKey, JudgeSaid, Said};
pub use material::{JudgeReading, Keep, LeftOut, Material, MaterialError, keep};
pub use pairing::{Cells, Truth};
pub use rates::{Gated, GivenRates, PassRate, Rates};
pub use report::{Calibration, Options, Section, calibrate};
pub use run::{RunItems, from_run};
pub use split::{SplitChoice, is_held_out};
