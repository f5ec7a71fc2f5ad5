//! `assize report`, and the report files of other commands.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use assize_analysis::ScorecardTree;
use assize_engine::{
    EngineError, ExitStatus, LabelOptions, ReportMaterial, ScoredCard, summary_json, write_report_file,
};
use assize_report::{
    ComparisonMaterial, CriterionName, CriterionPosition, ExportFormat, ReportError, RunReport,
    ScorecardMaterial, inspect_log_name, write_report, write_skill_files,
};
use assize_rubric::ScorecardScores;
use assize_store::{AnswerPart, CaseRecord, RunFolder};

use super::reported_run::{JudgeMeasurement, ReportedRun, failure, unwritable};
use super::{compared_run, report_matrix};
use crate::args::{ReportArgs, ReportFile, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Name of the p value adjustment in a comparison with a baseline.
const ADJUSTED_BY: &str = "Holm";

pub(crate) fn execute(args: &ReportArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut files = args.files()?;
    let labels = args.labels.options();

    let mut runs = Vec::new();
    for name in &args.runs {
        let material = ReportMaterial::find(name, &labels, &context.process)?;
        if let Some(warning) = &material.warning {
            output::print_warning(warning, context);
        }
        compared_run::warn_of_missing(&material.info, name, "reported", context);

        let base = args.baseline.as_ref();
        let comparison = base.map(|base| compared_run::with_baseline(base, name, context)).transpose()?;
        let is_html = |format: ReportFormat| format == ReportFormat::Export(ExportFormat::Html);
        let mut measured = JudgeMeasurement::default();
        if args.format.is_some_and(is_html) || files.iter().any(|file| is_html(file.format)) {
            let (found, problem) = JudgeMeasurement::read(&material, context)?;
            if let Some(problem) = problem {
                output::print_warning(&format!("the judge is not compared with labels: {problem}"), context);
            }
            measured = found;
        }
        runs.push(ReportedRun { name: name.clone(), material, comparison, measured });
    }

    let is_matrix = |format: ReportFormat| matches!(format, ReportFormat::Matrix(_));
    let matrix =
        if args.format.is_some_and(is_matrix) { Some(report_matrix::read(&runs, context)?) } else { None };

    for file in &mut files {
        name_in_folder(file, &runs)?;
        refuse_input(&file.path, &runs, context)?;
    }
    if let Some(matrix) = &matrix {
        report_matrix::write(matrix, &files, context)?;
    } else if files.is_empty() {
        print(&runs, args.format.unwrap_or(ReportFormat::Export(ExportFormat::Markdown)), context)?;
    }
    if matrix.is_none() {
        write(&runs, &files, context)?;
    }
    output::print_written(&files);

    Ok(ExitStatus::Passed)
}

/// Refuses to replace a file that a run was made from.
fn refuse_input(path: &Path, runs: &[ReportedRun], context: &CliContext) -> Result<(), CommandFailure> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    for run in runs {
        let mut inputs = run.material.info.inputs.iter();
        if inputs
            .any(|input| context.process.resolve(&input.path).canonicalize().is_ok_and(|input| input == real))
        {
            let run = &run.name;
            return Err(
                format!("{}: `{run}` has read it, and a report does not replace it", path.display()).into()
            );
        }
    }

    Ok(())
}

/// Completes the path of an Inspect log if a folder was given.
fn name_in_folder(file: &mut ReportFile, runs: &[ReportedRun]) -> Result<(), CommandFailure> {
    if !is_folder(&file.path) || file.format == ReportFormat::Export(ExportFormat::Skills) {
        return Ok(());
    }
    if file.format != ReportFormat::Export(ExportFormat::Inspect) {
        let path = file.path.display();
        return Err(format!(
            "`{path}` is a folder: name a file in it. Only logs of Inspect and files of skills get names"
        )
        .into());
    }

    if let [run, ..] = runs {
        file.path.push(inspect_log_name(&run.material.info));
    }
    Ok(())
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator)
}

/// Writes the report files that need the rows of a run.
pub(super) fn write_files(
    folder: &RunFolder,
    files: &[ReportFile],
    labels: &LabelOptions,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let files: Vec<ReportFile> =
        files.iter().filter(|file| file.format != ReportFormat::Json).cloned().collect();
    if files.is_empty() {
        return Ok(());
    }

    let material = ReportMaterial::read(folder.clone(), AnswerPart::default(), labels, &context.process)?;
    let name = folder.path().display().to_string();
    let measured = JudgeMeasurement::default();
    write(&[ReportedRun { name, material, comparison: None, measured }], &files, context)
}

fn write(runs: &[ReportedRun], files: &[ReportFile], context: &CliContext) -> Result<(), CommandFailure> {
    if files.is_empty() {
        return Ok(());
    }

    with_reports(runs, |reports| {
        for file in files {
            let remarks = write_file(file, runs, reports)?;
            for remark in remarks {
                output::print_warning(&format!("{}: {remark}", file.path.display()), context);
            }
        }
        Ok(())
    })
}

fn write_file(
    file: &ReportFile,
    runs: &[ReportedRun],
    reports: &[RunReport<'_>],
) -> Result<Vec<String>, CommandFailure> {
    if file.format == ReportFormat::Export(ExportFormat::Skills) && is_folder(&file.path) {
        return write_skill_folder(&file.path, reports);
    }
    output::create_parent(&file.path)?;
    write_report_file(&file.path, |out: &mut BufWriter<File>| match file.format {
        ReportFormat::Json => {
            let text = format!("{:#}\n", json(runs));
            out.write_all(text.as_bytes()).map_err(|error| unwritable(&file.path, error))?;
            Ok(Vec::new())
        }
        // The matrix is written for all runs together.
        ReportFormat::Matrix(_) => Ok(Vec::new()),
        ReportFormat::Export(format) => {
            write_report(out, format, reports).map_err(|error| failure(error, &file.path))
        }
    })
}

/// Writes the files of an agent skill into a folder.
fn write_skill_folder(folder: &Path, reports: &[RunReport<'_>]) -> Result<Vec<String>, CommandFailure> {
    let mut refused = None;
    let written = write_skill_files(reports, &mut |name, content| {
        let path = folder.join(name);
        let put = || -> Result<(), CommandFailure> {
            output::create_parent(&path)?;
            write_report_file(&path, |out: &mut BufWriter<File>| {
                out.write_all(content).map_err(|error| unwritable(&path, error))
            })
        };
        put().map_err(|failure| {
            refused = Some(failure);
            io::ErrorKind::Other.into()
        })
    });
    match refused {
        Some(failure) => Err(failure),
        None => written.map_err(|error| failure(error, folder)),
    }
}

/// The metrics of the runs as JSON; a list if there are several.
fn json(runs: &[ReportedRun]) -> serde_json::Value {
    let all = runs.iter().map(|run| summary_json(&run.material.info, run.material.folder.path()));
    let mut all: Vec<serde_json::Value> = all.collect();
    if all.len() == 1 { all.remove(0) } else { all.into() }
}

fn print(runs: &[ReportedRun], format: ReportFormat, context: &CliContext) -> Result<(), CommandFailure> {
    let ReportFormat::Export(format) = format else {
        output::print_json(&json(runs));
        return Ok(());
    };

    with_reports(runs, |reports| {
        let mut text = Vec::new();
        let remarks = if format != ExportFormat::Github && output::takes_any_bytes(context) {
            let mut stdout = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
            let written = write_report(&mut stdout, format, reports);
            // A closed pipe (`| head`) is not a failure.
            let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
            match written.and_then(|remarks| Ok(stdout.flush().map(|()| remarks)?)) {
                Err(ReportError::Write(error)) if is_closed(&error) => Vec::new(),
                other => other.map_err(|error| failure(error, Path::new("stdout")))?,
            }
        } else {
            write_report(&mut text, format, reports).map_err(|error| failure(error, Path::new("stdout")))?
        };

        let text = String::from_utf8_lossy(&text);
        if format == ExportFormat::Github {
            output::print_json_text(&text);
        } else if !text.is_empty() {
            output::print_contents(&text, context)?;
        }
        for remark in remarks {
            output::print_warning(&remark, context);
        }
        Ok(())
    })
}

/// Calls `write` with the runs in the form that reports need.
fn with_reports(
    runs: &[ReportedRun],
    write: impl FnOnce(&[RunReport<'_>]) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    type CardScores<'a> = Vec<(&'a ScorecardTree, ScorecardScores<'a>)>;
    type RecordChange<'a> = Box<dyn Fn(&mut CaseRecord) + 'a>;
    type PositionLookup<'a> = Box<dyn Fn(&CriterionName) -> Option<CriterionPosition> + 'a>;

    let mut cards: Vec<Option<ScoredCard<'_>>> = Vec::new();
    for run in runs {
        let scored =
            run.material.card.as_ref().map(|card| {
                ScoredCard::of_stored(card, &run.material.info.settings).map_err(EngineError::from)
            });
        cards.push(scored.transpose()?);
    }

    let scores: Vec<Option<CardScores<'_>>> =
        cards.iter().map(|card| card.as_ref().map(|card| card.scores().collect())).collect();
    let changes: Vec<RecordChange<'_>> = runs
        .iter()
        .map(|run| -> RecordChange<'_> { Box::new(|record| run.material.prepare(record)) })
        .collect();
    let positions: Vec<PositionLookup<'_>> = runs
        .iter()
        .map(|run| -> PositionLookup<'_> {
            Box::new(|name| {
                let CriterionName { suite, grader, criterion, text } = name;
                let (path, line) = run.material.criterion_place(suite, grader, criterion, text)?;
                Some(CriterionPosition { path, line })
            })
        })
        .collect();

    let reports: Vec<RunReport<'_>> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| RunReport {
            name: &run.name,
            folder: &run.material.folder,
            info: &run.material.info,
            part: &run.material.part,
            prepare: &*changes[at],
            position: &*positions[at],
            scorecard: scores[at]
                .as_deref()
                .zip(run.material.card.as_ref())
                .map(|(scores, run)| ScorecardMaterial { run, scores }),
            comparison: run
                .comparison
                .as_ref()
                .map(|set| ComparisonMaterial { set, adjusted_by: Some(ADJUSTED_BY) }),
            calibration: run.measured.calibration.as_ref(),
            audit: run.measured.audit.as_ref(),
        })
        .collect();
    write(&reports)
}
