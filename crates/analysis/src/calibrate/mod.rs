//! Calibration of a judge against people: agreement, biases, and pass rates corrected for its errors.
//!
//! [`CalibrationMaterial`] holds the judged items and their labels, from a run or from tables; [`calibrate`] computes
//! the metrics.
//!
//! Design: `docs/design/labels.md`.

mod bias;
mod captured_mass;
mod gates;
mod grouped;
mod item;
mod material;
mod pairing;
mod people;
mod rates;
mod replace;
mod report;
mod rescale;
mod run;
mod scores;
mod selection;
mod split;
mod verdicts;

pub use bias::{BiasKind, JudgeBias, model_family};
pub use captured_mass::CapturedMass;
pub use gates::{CalibrationGate, CalibrationGateResult, FewLabels, GateBasis, check_calibration_gates};
pub use item::{CalibrationItem, DecisionValue, ItemKey, JudgeItemDecision};
pub use material::{
    CalibrationMaterial, ExcludedLabels, JudgeReadOptions, LabelInclusion, MaterialError, is_person,
    label_filter,
};
pub use pairing::{PairingCounts, TruthRule};
pub(crate) use rates::drawing_probabilities;
pub use rates::{GatedPassRates, GivenRates, PassRate, TargetPassRates};
pub use replace::{ReplacedAnnotator, ReplacementTest};
pub use report::{
    CalibrationOptions, CalibrationReport, CalibrationSection, DEFAULT_EPSILON, calibrate,
    describe_observed_range,
};
pub use rescale::{
    RescaleError, RescaleFit, RescaleMethod, RescaleReport, RescaleResult, SystemRadius, ThresholdReport,
    rescale,
};
pub use run::{RunItems, from_run};
pub use selection::{SelectionBound, SelectionReport};
pub use split::{SplitChoice, is_held_out};
pub use verdicts::ReliabilityBinRate;
