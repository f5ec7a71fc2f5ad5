//! `assize convert`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use assize_convert::{
    ConversionNote, ConvertError, ConvertedFile, ExportFormat, ImportFormat, convert, convert_records, detect,
};
use assize_diagnostic::render::json_report;
use assize_engine::{ExitStatus, replace_file};
use assize_records::{RecordFormat, detect_records};
use assize_table::{SheetPath, is_table};
use serde_json::{Value, json};

use super::{record_cases, schema, transcript};
use crate::args::{ConvertArgs, InputKind, OutputKind, programs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &ConvertArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let records = match args.kind {
        Some(InputKind::Records(format)) => Some(format),
        Some(_) => None,
        None => found_records(&args.from)?,
    };
    if let Some(format) = records {
        return match args.output_kind() {
            OutputKind::Cases => record_cases::execute(args, format, context),
            OutputKind::Rubrics(to) => rubrics(args, Some(ConversionSource::Records(format)), to, context),
        };
    }

    match (args.output_kind(), args.kind) {
        (OutputKind::Cases, None) => transcript::execute(args, None, context),
        (OutputKind::Cases, Some(InputKind::Log(format))) => transcript::execute(args, Some(format), context),
        (OutputKind::Cases, Some(InputKind::Rubrics(kind))) => Err(format!(
            "`--to cases` takes session logs of agents, not `{}`; for an eval file use `--to tests`",
            kind.name()
        )
        .into()),
        (OutputKind::Rubrics(_), Some(InputKind::Log(format))) => {
            Err(format!("a session log (`--kind {}`) becomes cases: use `--to cases`", format.name()).into())
        }
        (OutputKind::Rubrics(to), None) => rubrics(args, None, to, context),
        (OutputKind::Rubrics(to), Some(InputKind::Rubrics(kind))) => {
            rubrics(args, Some(ConversionSource::Rubrics(kind)), to, context)
        }
        (_, Some(InputKind::Records(_))) => Err("records were dealt with before".into()),
    }
}

/// Kind of the input, as far as it is known.
#[derive(Debug, Clone, Copy)]
enum ConversionSource {
    Rubrics(ImportFormat),
    Records(RecordFormat),
}

impl ConversionSource {
    fn name(self) -> &'static str {
        match self {
            Self::Rubrics(kind) => kind.name(),
            Self::Records(format) => format.name(),
        }
    }
}

/// Returns the format of the first file if it contains records of another tool.
fn found_records(paths: &[PathBuf]) -> Result<Option<RecordFormat>, CommandFailure> {
    let Some(path) = paths.first().filter(|path| path.is_file()) else { return Ok(None) };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if SheetPath::parse(path).is_some() {
        return Ok(None);
    }

    let found = detect_records(path).map_err(|error| {
        let help = error.help().map(|help| format!("\n{help}")).unwrap_or_default();
        format!("{}: {error}{help}", path.display())
    })?;
    // Tables of criteria and YAML files are never records.
    Ok(found.filter(|_| !["yaml", "yml"].contains(&ending.as_str()) && !is_table(path)))
}

/// Converts a file of rubrics.
fn rubrics(
    args: &ConvertArgs,
    source: Option<ConversionSource>,
    to: ExportFormat,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let [path] = args.from.as_slice() else {
        return Err("several files can be converted with `--to cases` only; give one file".into());
    };
    if args.keep_going && !matches!(source, Some(ConversionSource::Records(_))) {
        return Err("`--keep-going` is for session logs and for records of other tools; remove it".into());
    }

    let from = match source {
        Some(source) => source,
        None => detect(path).map(ConversionSource::Rubrics).map_err(|error| match error {
            ConvertError::UnknownFormat(_) => {
                format!("{error} with `--kind`; session logs of agents need `--to cases`")
            }
            other => other.to_string(),
        })?,
    };

    if let Some(out) = args.out.as_ref().filter(|out| out.exists() && !args.force) {
        return Err(format!("`{}` exists; overwrite it with `--force`", out.display()).into());
    }

    let mut options = context.process.load_options(&args.root);
    options.encoding = args.encoding;
    let options = context.engine(true).load_options_with(options, path, programs(args.allow_code));
    let converted = match from {
        ConversionSource::Records(format) => convert_records(path, format, to, args.keep_going, &options),
        ConversionSource::Rubrics(kind) => convert(path, kind, to, &options),
    };
    let converted = match converted {
        Ok(converted) => converted,
        Err(ConvertError::Invalid(path, diagnostics, sources)) => {
            output::print_diagnostics(&diagnostics, &sources, context);
            return Err(format!("`{}` has errors; nothing was converted", path.display()).into());
        }
        Err(ConvertError::BrokenRecords(path, problems)) => {
            let broken = record_cases::broken_records(&path, &problems);
            return Err(format!("{broken}\n{}", record_cases::KEEP_GOING).into());
        }
        Err(ConvertError::Empty(path, why, notes)) => {
            say_notes(&notes, context);
            return Err(format!("`{}`: {why}", path.display()).into());
        }
        Err(other) => return Err(other.to_string().into()),
    };
    if let Some(out) = &args.out {
        let schema = match to {
            ExportFormat::Format1 | ExportFormat::Format2 => Some("suite"),
            ExportFormat::Scorecard => Some("scorecard"),
            ExportFormat::Promptfoo
            | ExportFormat::HealthBench
            | ExportFormat::PaperBench
            | ExportFormat::Csv => None,
        };

        let line = schema.and_then(|name| schema::line_for(out, name, context)).unwrap_or_default();
        write(out, &format!("{line}{}", converted.text))?;
    }

    let lost = converted.notes.iter().filter(|note| note.lost).count();
    let exit = if lost > 0 { ExitStatus::Incomplete } else { ExitStatus::Passed };
    if args.json {
        output::print_json(&to_json(&converted, from, args, exit));
        return Ok(exit);
    }
    if args.out.is_none() {
        output::print_contents(&converted.text, context)?;
    }

    output::print_diagnostics(&converted.warnings, &converted.sources, context);
    say_notes(&converted.notes, context);
    let what = match converted.cases {
        0 => String::new(),
        1 => "1 case, ".to_owned(),
        count => format!("{count} cases, "),
    };
    let summary = match lost {
        0 => format!("{}: {what}everything was converted\n", from.name()),
        1 => format!("{}: {what}1 item could not be converted\n", from.name()),
        lost => format!("{}: {what}{lost} items could not be converted\n", from.name()),
    };
    output::print_notice(&summary, context);

    Ok(exit)
}

/// Prints notes on stderr, since they are not part of the file.
fn say_notes(notes: &[ConversionNote], context: &CliContext) {
    for note in notes {
        let mark = if note.lost { "lost" } else { "note" };
        output::print_notice(&format!("{mark}: {note}\n"), context);
    }
}

/// Writes a new file, or replaces an existing one.
fn write(out: &Path, text: &str) -> Result<(), CommandFailure> {
    if out.exists() {
        return Ok(replace_file(out, text)?);
    }

    let failed = |error: std::io::Error| format!("{}: can't be written: {error}", out.display());
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }

    let mut file = std::fs::File::create_new(out).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;

    Ok(())
}

fn to_json(converted: &ConvertedFile, from: ConversionSource, args: &ConvertArgs, exit: ExitStatus) -> Value {
    let notes: Vec<Value> = converted
        .notes
        .iter()
        .map(|note| {
            json!({
                "file": note.path.display().to_string(), "line": note.line, "item": note.item, "what": note.what,
                "lost": note.lost,
            })
        })
        .collect();
    json!({
        "kind": from.name(),
        "cases": converted.cases,
        "lost": converted.notes.iter().filter(|note| note.lost).count(),
        "notes": notes,
        "warnings": json_report(&converted.warnings, &converted.sources).diagnostics,
        "out": args.out.as_ref().map(|out| out.display().to_string()),
        "text": args.out.is_none().then_some(&converted.text),
        "exit_code": exit.code(),
    })
}
