//! Rendering of diagnostics: one file per output form.
//!
//! Every form takes diagnostics in the order given; [`crate::sort`] sorts them first.

mod clean;
mod excerpt;
mod github;
mod json;
mod place;
mod sarif;
mod summary;
mod text;

pub use github::to_github;
pub use json::{JsonDiagnostic, JsonPlace, JsonReport, JsonSecondary, JsonSuggestion, json_report, to_json};
pub use sarif::{
    SarifArtifactChange, SarifArtifactLocation, SarifDriver, SarifFix, SarifLocation, SarifLog, SarifMessage,
    SarifPhysicalLocation, SarifRegion, SarifReplacement, SarifResult, SarifRule, SarifRun, SarifTool,
    ToolInfo, sarif_log, to_sarif,
};
pub use summary::{summary_line, tally};
pub use text::{TextOptions, to_text};
