//! `assize review`: a person decides, case by case.

mod label_writer;
mod line_input;
mod review_material;
mod scorecard;
mod suite;
mod terminal;

use std::io::IsTerminal as _;
use std::path::Path;

use assize_analysis::ResamplingOptions;
use assize_engine::{ExitStatus, id_patterns, runs};
use assize_report::escape_unsafe;
use assize_review::{ReviewLabelMetadata, ReviewProgress, ReviewSession, ReviewerLabelFile, label_file_path};
use assize_rubric::LabelSplit;
use assize_stats::ConfidenceLevel;
use assize_store::RunFolder;

use label_writer::LabelWriter;
use review_material::ReviewMaterial;

use super::agreement;
use crate::args::{ReviewArgs, SplitWord, TableArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &ReviewArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut material = material(args, context)?;
    let folder = args.labels.clone().or(material.labels.take()).ok_or(
        "a scorecard in one file reads no labels from a folder; say where to put them with `--labels DIR`",
    )?;
    if args.agreement {
        let ResamplingOptions { resamples, seed, .. } = ResamplingOptions::default();
        let table = TableArgs {
            columns: None,
            values: None,
            scale: None,
            level: ConfidenceLevel::P95,
            resamples,
            seed,
            json: args.json,
        };
        return agreement::print(&[folder], &table, context);
    }

    let who = reviewer(args, context)?;
    let mut writer = LabelWriter {
        context: context.clone(),
        labels: ReviewerLabelFile::open(label_file_path(&folder, &who))
            .map_err(|error| escape_unsafe(&error.to_string()))?,
        given: ReviewLabelMetadata {
            who,
            sampled: args.order.sampling(),
            split: args.split.map(|split| match split {
                SplitWord::Test => LabelSplit::Test,
                SplitWord::Train => LabelSplit::Train,
            }),
        },
    };

    let ids = id_patterns(&args.filter)?;
    let all = material.items.len();
    let mut items = material.items;
    items.retain(|item| {
        ids.as_ref().is_none_or(|ids| ids.is_match(&item.case))
            && (args.criterion.is_empty() || args.criterion.contains(&item.criterion))
    });

    let selected = items.len();
    if selected == 0 && all > 0 {
        return Err(format!("none of the {all} items has such a case and criterion").into());
    }

    // A seed must mean the same draw however much of it is done.
    args.order.sort_items(&mut items);
    items.truncate(args.limit.unwrap_or(usize::MAX));

    let before = items.len();

    if !args.again {
        items.retain(|item| !writer.labels.has_label(item, writer.given.sampled));
    }
    if items.is_empty() {
        output::print_message(&nothing(before, args));
        return Ok(ExitStatus::Passed);
    }

    let mut session = ReviewSession::new(items);
    if let Some(path) = &args.decisions {
        line_input::record_file(path, &mut session, &mut writer)?;
    } else if args.plain || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        line_input::review_stdin(&mut session, &mut writer, context)?;
    } else {
        terminal::run(&mut session, &mut writer, context)?;
    }

    let ReviewProgress { decided, all } = session.progress();
    let earlier = match before - all {
        0 => String::new(),
        earlier => format!(", {earlier} decided before"),
    };
    let place = match decided {
        0 => String::new(),
        _ => format!("; labels in {}", writer.labels.path().display()),
    };
    output::print_message(&safe_line(&format!("{decided} decided, {} left{earlier}{place}", all - decided)));

    Ok(ExitStatus::Passed)
}

fn safe_line(text: &str) -> String {
    format!("{}\n", escape_unsafe(text))
}

fn nothing(before: usize, args: &ReviewArgs) -> String {
    if before > 0 {
        return format!("all {before} are decided already; `--again` shows them\n");
    }
    if args.order.covers_all() {
        "there is nothing that a judge or a person decides\n".to_owned()
    } else {
        "nothing waits for a person; `--order random` or `uncertain-first` goes through everything\n"
            .to_owned()
    }
}

fn reviewer(args: &ReviewArgs, context: &CliContext) -> Result<String, String> {
    let login = || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| context.variable(name));
    let who = args.who.clone().or_else(login).unwrap_or_default();
    if who.trim().is_empty() {
        return Err("who decides? Say so with `--who NAME`".to_owned());
    }

    Ok(who.trim().to_owned())
}

fn material(args: &ReviewArgs, context: &CliContext) -> Result<ReviewMaterial, CommandFailure> {
    let path = Path::new(&args.what);
    if path.exists() && !path.join("run.json").is_file() {
        return Ok(scorecard::load_from_folder(path, args, context)?);
    }

    let folder = runs::find_run(&args.what, &context.process)?;
    let info = folder.info().map_err(|error| error.to_string())?;
    if info.scorecard.is_some() {
        Ok(scorecard::load_from_run(&folder, &info, args, context)?)
    } else {
        Ok(of_suites(&folder, args, context)?)
    }
}

fn of_suites(folder: &RunFolder, args: &ReviewArgs, context: &CliContext) -> Result<ReviewMaterial, String> {
    if args.traces {
        return Err("`--traces` needs a scorecard: its benchmarks are the failures to choose from".to_owned());
    }
    suite::of_run(folder, args, context)
}
