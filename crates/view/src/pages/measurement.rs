//! Measurements of judges: calibrations and audits.

use askama::Template;

use super::RunHeader;
use crate::text::ResultMark;

/// The judges of a run against people.
#[derive(Template)]
#[template(path = "calibration.html")]
pub(crate) struct CalibrationPage {
    pub(crate) header: RunHeader,
    /// Charts and numbers as HTML; `None` without labels.
    pub(crate) fragment: Option<String>,
    /// Why the labels can't be used.
    pub(crate) problem: Option<String>,
    /// Folders that are searched for labels.
    pub(crate) folders: Vec<String>,
}

/// An audit.
#[derive(Template)]
#[template(path = "audit.html")]
pub(crate) struct AuditPage {
    pub(crate) header: RunHeader,
    pub(crate) reason: String,
    pub(crate) judges: String,
    pub(crate) warnings: Vec<String>,
    /// Charts and numbers as HTML.
    pub(crate) fragment: String,
}

/// All audits.
#[derive(Template)]
#[template(path = "audits.html")]
pub(crate) struct AuditsPage {
    pub(crate) audits: Vec<AuditLine>,
}

/// An audit of a list.
#[derive(Default)]
pub(crate) struct AuditLine {
    pub(crate) url: String,
    pub(crate) slug: String,
    /// `order`, `length`, `self` or `injection`.
    pub(crate) kind: String,
    pub(crate) suites: String,
    pub(crate) judges: String,
    pub(crate) when: String,
    pub(crate) reason: String,
    pub(crate) result: ResultMark,
}
