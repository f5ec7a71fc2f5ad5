//! `assize review`: a person decides, case by case.

mod browser;
mod export;
mod line_input;
mod material;
mod terminal;

use std::io::IsTerminal as _;
use std::path::Path;

use assize_analysis::ResamplingOptions;
use assize_engine::{ExitStatus, LabelOptions, runs, write_review_list};
use assize_report::escape_unsafe;
use assize_review::{
    LabelRecorder, ReviewProgress, ReviewQueue, ReviewSession, ReviewerLabelFile, label_file_path,
};
use assize_stats::ConfidenceLevel;

use material::load_material;

use super::agreement;
use crate::args::{ReviewArgs, TableArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Notice that a weighted draw is in fact an unweighted one.
const PLAIN_DRAW: &str = "all items are drawn with the same probability, as with `--order random`: the judge is equally confident of \
    all, or all strata have the same size\n";

pub(crate) fn execute(args: &ReviewArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if let Some(option) = args.server.given().filter(|_| !args.browser) {
        return Err(format!("`{option}` needs `--browser`").into());
    }

    let options = args.options();
    let (material, folder) = load_material(args, &options, context)?;
    if args.agreement {
        if args.labels.is_none() && !folder.is_dir() {
            let folder = escape_unsafe(&folder.display().to_string());
            return Err(format!(
                "no labels in `{folder}` yet; `assize review {}` records them, or name another folder with `--labels DIR`",
                escape_unsafe(&args.what)
            )
            .into());
        }

        let ResamplingOptions { resamples, seed, .. } = ResamplingOptions::default();
        let table = TableArgs {
            columns: Vec::new(),
            values: None,
            encoding: None,
            scale: None,
            level: ConfidenceLevel::P95,
            resamples,
            seed,
            json: args.json,
        };
        return agreement::print(&[folder], &table, context);
    }

    let reviewers = reviewers(args, context)?;
    if args.browser {
        if material.outdated > 0 {
            output::print_warning(&outdated_message(material.outdated, args), context);
        }
        if browser::serve_reviews(args, &options, &reviewers, material, &folder, context)? {
            count_labels(args, &folder, context)?;
        } else {
            output::print_notice(&nothing(0, args), context);
        }
        return Ok(ExitStatus::Passed);
    }

    let [who] = reviewers.as_slice() else {
        return Err("several reviewers at once need `--browser`; in a terminal, name one".into());
    };
    let given = options.label_metadata(who);
    let labels = ReviewerLabelFile::open(label_file_path(&folder, who))
        .map_err(|error| escape_unsafe(&error.to_string()))?;
    if material.outdated > 0 {
        output::print_warning(&outdated_message(material.outdated, args), context);
    }

    let mut queue = ReviewQueue::new(material, &options, &given, &labels)?;
    let before = queue.items.len();
    if !args.again {
        queue = queue.without_decided(&labels);
    }

    let ReviewQueue { items, others, is_plain_draw, .. } = queue;
    if is_plain_draw && args.limit.is_some() && items.len() > 1 {
        output::print_notice(PLAIN_DRAW, context);
    }
    if items.is_empty() && args.decisions.is_none() {
        output::print_notice(&nothing(before, args), context);
        return Ok(ExitStatus::Passed);
    }

    let stale = items.iter().filter(|item| item.is_stale).count();
    if stale > 0 {
        let text = "asked again: the answer, target, case or question changed since it was labelled";
        output::print_notice(&format!("{stale} {text}\n"), context);
    }

    if let Some(path) = &args.export {
        export::write_items(path, &items, who, context)?;
        return Ok(ExitStatus::Passed);
    }

    let session = ReviewSession::with_others(items, others);
    let mut writer = LabelRecorder::new(context.process.clone(), labels, given);
    let ReviewProgress { decided, all, .. } = record_decisions(session, args, &mut writer, context)?;
    let earlier = match before.saturating_sub(all) {
        0 => String::new(),
        earlier => format!(", {earlier} decided before"),
    };
    let place = match decided {
        0 => String::new(),
        _ => format!("; labels in {}", writer.labels().path().display()),
    };
    let text = format!("{decided} decided, {} remaining{earlier}{place}", all - decided);
    output::print_notice(&safe_line(&text), context);
    if decided > 0 {
        count_labels(args, &folder, context)?;
    }

    Ok(ExitStatus::Passed)
}

/// Takes decisions from a file, from input lines, or on the screen.
fn record_decisions(
    mut session: ReviewSession,
    args: &ReviewArgs,
    writer: &mut LabelRecorder,
    context: &CliContext,
) -> Result<ReviewProgress, CommandFailure> {
    if let Some(path) = &args.decisions {
        line_input::record_file(path, args.encoding, &mut session, writer)?;
    } else if args.plain || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        line_input::review_stdin(&mut session, writer, context)?;
    } else {
        terminal::run(&mut session, writer, context)?;
    }

    Ok(session.progress())
}

/// Writes the items that still wait for people into the reviewed run, and prints the command that shows the decisions.
fn count_labels(args: &ReviewArgs, labels: &Path, context: &CliContext) -> Result<(), CommandFailure> {
    let path = Path::new(&args.what);
    if path.exists() && !path.join("run.json").is_file() {
        return Ok(());
    }

    let folder = runs::find_run(&args.what, &context.process)?;
    if folder.info()?.scorecard.is_none() {
        return Ok(());
    }

    let options = LabelOptions { folder: args.labels.clone(), ..LabelOptions::default() };
    let disputed = write_review_list(&folder, &options, &context.process)?;

    let named = match &args.labels {
        Some(_) => format!(" --labels {}", labels.display()),
        None => String::new(),
    };
    let what = &args.what;
    let text = format!("`assize scorecard score {what}{named}` scores the run with these labels");
    output::print_notice(&safe_line(&text), context);
    if disputed > 0 {
        let items = if disputed == 1 { "1 item is".to_owned() } else { format!("{disputed} items are") };
        let text = format!(
            "{items} disputed, because people contradict the judge: a gate stays incomplete until `assize review {what} --adjudicate` settles it, or `--people override` lets people decide"
        );
        output::print_notice(&safe_line(&text), context);
    }
    Ok(())
}

fn outdated_message(outdated: usize, args: &ReviewArgs) -> String {
    format!(
        "{outdated} items are excluded: their question or case changed since `{}`; run the scorecard again",
        args.what
    )
}

fn safe_line(text: &str) -> String {
    format!("{}\n", escape_unsafe(text))
}

fn nothing(before: usize, args: &ReviewArgs) -> String {
    let what = &args.what;
    if before > 0 {
        return format!(
            "all {before} items are decided; `--again` shows them again, `--raters N` asks for more reviewers\n"
        );
    }
    if args.adjudicate {
        return "reviewers agree on all items\n".to_owned();
    }
    if args.order.covers_all() {
        "no item needs a judge or a person\n".to_owned()
    } else {
        format!("Nothing needs review. Use `assize review {what} --order random` to review all items.\n")
    }
}

fn reviewers(args: &ReviewArgs, context: &CliContext) -> Result<Vec<String>, CommandFailure> {
    let login = || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| context.variable(name));
    let named = if args.who.is_empty() { vec![login().unwrap_or_default()] } else { args.who.clone() };

    let mut reviewers: Vec<String> = Vec::new();
    for who in named {
        let who = who.trim().to_owned();
        if who.is_empty() {
            return Err("name the reviewer with `--who NAME`".into());
        }
        if !reviewers.contains(&who) {
            reviewers.push(who);
        }
    }

    Ok(reviewers)
}
