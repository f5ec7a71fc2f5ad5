//! A run that a report shows.

use std::io;
use std::path::Path;

use assize_analysis::calibrate::CalibrationReport;
use assize_analysis::compare::ComparisonSet;
use assize_audit::StoredAudit;
use assize_engine::audit::read_audit;
use assize_engine::calibration::calibrate_run;
use assize_engine::{EngineError, ReportMaterial};
use assize_report::ReportError;
use assize_store::StoreError;

use crate::context::CliContext;
use crate::failure::CommandFailure;

/// A run under its given name, and its comparison with a baseline.
pub(super) struct ReportedRun {
    pub(super) name: String,
    pub(super) material: ReportMaterial,
    pub(super) comparison: Option<ComparisonSet>,
    pub(super) measured: JudgeMeasurement,
}

/// Measurements of the judges of a run, for HTML reports.
#[derive(Default)]
pub(super) struct JudgeMeasurement {
    pub(super) calibration: Option<CalibrationReport>,
    pub(super) audit: Option<StoredAudit>,
}

impl JudgeMeasurement {
    /// Measures the judges of a run; also returns why they can't be measured.
    pub(super) fn read(
        material: &ReportMaterial,
        context: &CliContext,
    ) -> Result<(Self, Option<String>), EngineError> {
        let audit = read_audit(&material.folder, &material.info)?;
        let calibrated = match audit {
            Some(_) => Ok(None),
            None => calibrate_run(&material.folder, &material.info, &context.process),
        };

        Ok(match calibrated {
            Ok(calibration) => (Self { calibration, audit }, None),
            Err(error) => (Self { calibration: None, audit }, Some(error.message)),
        })
    }
}

pub(super) fn failure(error: ReportError, path: &Path) -> CommandFailure {
    match error {
        ReportError::Store(error) => error.into(),
        ReportError::Write(error) => unwritable(path, error),
        ReportError::Unsupported(message) => message.into(),
    }
}

pub(super) fn unwritable(path: &Path, source: io::Error) -> CommandFailure {
    StoreError::Io { action: "write", path: path.to_path_buf(), source }.into()
}
