//! Measurements of judges: calibrations against labels, and audits.

use assize_engine::audit::read_audit;
use assize_engine::calibration::calibrate_run;
use assize_engine::label_folders;
use assize_report::html::{audit_fragment, calibration_fragment};
use axum::extract::{Path, State};
use axum::response::Response;

use super::run_header::{run_header, run_result, suite_names};
use crate::library::{LibraryRun, RunLibrary};
use crate::open_run::OpenRun;
use crate::page_reply::{Library, PageError, blocking, open_run, render, run_url};
use crate::pages::{AuditLine, AuditPage, AuditsPage, CalibrationPage};
use crate::text::{ResultMark, minute, visible};

/// The page that compares the judges of a run with the labels next to its files.
pub(crate) async fn calibration(
    State(library): Library,
    Path(slug): Path<String>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let process = &library.process;
        let (fragment, problem) = match calibrate_run(&run.folder, &info, process) {
            Ok(report) => (report.as_ref().map(calibration_fragment), None),
            Err(error) => (None, Some(visible(&error.message))),
        };
        let folders = label_folders(&info, process);
        let folders = folders.iter().map(|folder| visible(&folder.display().to_string()));

        Ok(render(&CalibrationPage {
            header: run_header(&run, &info, "calibration"),
            fragment,
            problem,
            folders: folders.collect(),
        }))
    })
    .await
}

/// The page of a run that is an audit.
pub(super) fn audit_page(
    run: &OpenRun,
    info: &assize_store::RunInfo,
) -> Result<Option<AuditPage>, PageError> {
    let Some(audit) = read_audit(&run.folder, info)? else { return Ok(None) };
    let reason = info.summary.as_ref().map(|summary| summary.exit_reason.clone()).unwrap_or_default();

    Ok(Some(AuditPage {
        header: run_header(run, info, "run"),
        reason: visible(&reason),
        judges: super::runs::judge_names(info),
        warnings: info.warnings.iter().map(|warning| visible(warning)).collect(),
        fragment: audit_fragment(&audit),
    }))
}

/// The list of audits.
pub(crate) async fn audits(State(library): Library) -> Result<Response, PageError> {
    blocking(move || {
        let audits = library.audits();
        Ok(render(&AuditsPage { audits: audits.into_iter().map(|run| audit_line(&library, run)).collect() }))
    })
    .await
}

fn audit_line(library: &RunLibrary, run: LibraryRun) -> AuditLine {
    let url = run_url(&run.slug);
    let slug = visible(&run.slug);
    match run.info {
        Ok(info) => {
            let is_live = info.finished_at.is_none()
                && library.folder(&run.slug).is_some_and(|folder| folder.is_being_written());
            AuditLine {
                url,
                slug,
                kind: visible(info.command.trim_start_matches("audit ")),
                suites: suite_names(&info),
                judges: super::runs::judge_names(&info),
                when: minute(&info.started_at),
                reason: visible(info.summary.as_ref().map_or("", |summary| &summary.exit_reason)),
                result: run_result(&info, is_live),
            }
        }
        Err(error) => AuditLine {
            url,
            slug,
            reason: visible(&error),
            result: ResultMark::new("bad", "✗", "unreadable"),
            ..AuditLine::default()
        },
    }
}
