//! Renders diagnostics, with one module for each output form.
//!
//! All of them keep the order of the diagnostics. Sort with [`crate::sort_diagnostics`] first.

mod excerpt;
mod github;
mod json;
mod location;
mod repeated;
mod sanitize;
mod sarif;
mod summary;
mod text;

pub use github::{github_command, to_github};
pub use json::{
    JsonDiagnostic, JsonLocation, JsonReport, JsonSecondaryLabel, JsonSuggestion, json_report, to_json,
};
pub use location::to_uri as file_uri;
pub use repeated::{MAX_VARIANTS, MIN_REPEATS, describe_lines};
pub use sarif::{
    ReportingTool, SarifArtifactChange, SarifArtifactLocation, SarifDriver, SarifFix, SarifLocation,
    SarifLog, SarifMessage, SarifPhysicalLocation, SarifRegion, SarifReplacement, SarifResult, SarifRule,
    SarifRun, SarifTool, sarif_log, to_sarif,
};
pub use summary::count_by_severity;
pub use text::{TextOptions, to_text};
