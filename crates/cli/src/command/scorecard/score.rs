//! `assize scorecard score`: aggregates existing results.

use std::collections::BTreeMap;

use assize_analysis::{
    RunResult, chosen_weights, conclude_run, count_distinct_cases, min_coverage, missing_policy,
    store_scorecard_options,
};
use assize_engine::{EngineError, ExitStatus, LabelledRun, RunEnding, ScoredCard, labelled_run, runs};
use assize_load::near_path_hint;
use assize_report::{ScorecardPage, format_label_counts, render_result_lines};
use assize_rubric::{CaseTally, LabelCounts};
use assize_run::{card_tallies, describe_scorecard};
use assize_scorecard::load_card_results;
use assize_store::RunFolder;
use serde_json::{Value, json};

use super::load::{load_valid_briefly, weight_set};
use super::show;
use crate::args::ScoreCardArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};

pub(super) fn score(args: &ScoreCardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let path = &args.list.path;
    if path.join("run.json").is_file() {
        return of_run(args, &RunFolder::new(path), context);
    }

    if !path.exists() {
        let folder = path.to_str().and_then(|name| runs::find_run(name, &context.process).ok());
        let folder = folder.ok_or_else(|| {
            format!("{}: no such file, folder or run{}", path.display(), near_path_hint(path))
        })?;
        return of_run(args, &folder, context);
    }

    of_results(args, context)
}

/// Scores a stored run with the tree that it was run with.
fn of_run(
    args: &ScoreCardArgs,
    folder: &RunFolder,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    if args.results.is_some() {
        return Err("a run has its own results; remove `--results`, or name a scorecard".into());
    }

    let LabelledRun { mut info, run, warning, .. } =
        labelled_run(folder, &args.labels.options(), &context.process)?;
    if let Some(warning) = warning {
        output::print_warning(&warning, context);
    }

    let set = args.list.weights.as_deref();
    let own_set = run.info.weight_set.as_deref();
    // Options that are not given keep the run's values.
    let policy = args.result.treat_missing.unwrap_or_else(|| missing_policy(&info.settings));
    let coverage = args.result.min_coverage.or_else(|| min_coverage(&info.settings));
    let other_set = set.filter(|set| Some(*set) != own_set).map(str::to_owned);
    let chosen = other_set.or_else(|| chosen_weights(&info.settings).map(str::to_owned));
    store_scorecard_options(&mut info.settings, policy, coverage, chosen.as_deref());
    let scored = ScoredCard::of_run(&run, set, policy, coverage).map_err(EngineError::from)?;
    info.scorecard = Some(run.info.clone());
    let not_run = info.summary.as_ref().map_or(0, |summary| summary.not_run);
    let (exit, reason) = scored.exit_of(RunEnding::of_stored(&info));
    let result = conclude_run(&info, exit, reason, not_run, Some((&run, &scored)));
    let exit = result.exit;
    info.summary = info.summary.take().map(|summary| result.clone().into_summary(summary));
    let open = run.review_rows();
    // A folder that can't be written can still be read.
    if let Err(error) = folder.write_review(&open) {
        output::print_warning(&error.to_string(), context);
    }

    let counts = run.label_counts();
    let review: Vec<Value> = open
        .iter()
        .map(|row| json!({ "case": row.case_id, "benchmark": row.benchmark, "why": row.why }))
        .collect();
    let page = ScorecardPage { run: Some((&run, &info)) };
    let set = set.or(own_set);
    finish(
        args,
        &page,
        &ScoredOutput { scored, set, labels: counts, review, result: Some(result) },
        context,
    )?;

    Ok(exit)
}

/// Scores results and labels with a scorecard.
fn of_results(args: &ScoreCardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let labels = args.labels.options();
    let scorecard = load_valid_briefly(&args.list.path, &labels, &args.list.root, context)?.scorecard;
    let set = weight_set(&scorecard, args.list.weights.as_deref())?;
    let mut results = Vec::new();
    if let Some(path) = &args.results {
        let loaded = load_card_results(path, &scorecard, &context.process.load_options(&args.list.root));
        output::print_diagnostics(&loaded.diagnostics, &loaded.sources, context);

        if loaded.has_errors() {
            return Err("the results have errors; nothing was scored".into());
        }

        results = loaded.results;
    }

    let found = card_tallies(&scorecard, &results);
    let info = describe_scorecard(&scorecard, set, |_| true);
    let benchmarks: BTreeMap<&str, usize> =
        scorecard.benchmarks.iter().enumerate().map(|(at, found)| (&*found.code, at)).collect();
    let tally = |place: usize| {
        let code = info.nodes.get(place).map(|node| node.code.as_str());
        let at = code.and_then(|code| benchmarks.get(code));
        at.map_or(CaseTally::NOT_APPLICABLE, |at| found.tallies[*at])
    };
    let distinct = count_distinct_cases(&info, |place| {
        let at = info.nodes.get(place).and_then(|node| benchmarks.get(node.code.as_str()));
        at.map_or_else(Vec::new, |at| found.cases[*at].clone())
    });
    let scored = ScoredCard::new(&info, None, tally, args.result.treat_missing.unwrap_or_default())
        .map_err(EngineError::from)?
        .with_distinct_cases(distinct)
        .with_min_coverage(args.result.min_coverage);
    let review = found
        .review
        .iter()
        .map(|(case, benchmark)| {
            json!({ "case": scorecard.cases[*case].id, "benchmark": scorecard.benchmarks[*benchmark].code })
        })
        .collect();

    let page = ScorecardPage { run: None };
    let exit = scored.exit().0;
    let set = info.weight_set.as_deref();
    finish(args, &page, &ScoredOutput { scored, set, labels: found.labels, review, result: None }, context)?;

    Ok(exit)
}

/// Output of the command.
struct ScoredOutput<'a> {
    scored: ScoredCard<'a>,
    /// Weight set of the index.
    set: Option<&'a str>,
    labels: LabelCounts,
    /// Decisions that wait for a person.
    review: Vec<Value>,
    /// Conclusion of the run; `None` for results that are no run.
    result: Option<RunResult>,
}

fn finish(
    args: &ScoreCardArgs,
    page: &ScorecardPage<'_>,
    output: &ScoredOutput<'_>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let ScoredOutput { scored, set, labels, review, result } = output;
    show::write_markdown(scored, &args.out, page)?;
    let delivery = ResultOutput { json: args.list.json, quiet: false, out: &args.out };
    let json = || {
        let mut printed = json!(show::printed(scored, *set, *labels, review.as_slice()));
        if let Some(result) = result {
            printed["exit_code"] = result.exit.code().into();
            printed["exit_reason"] = result.reason.as_str().into();
            printed["conclusion"] = json!(result.conclusion);
        }
        printed
    };
    if delivery.deliver(json)? {
        return Ok(());
    }

    output::print(&show::text(scored, args.result.depth, context));

    if let Some(line) = format_label_counts(*labels) {
        output::print(&format!("labels: {line}\n"));
    }

    if !review.is_empty() {
        output::print(&format!("waiting for review: {}\n", review.len()));
    }
    if let Some(result) = result {
        output::print(&render_result_lines(
            result.exit.code(),
            &result.reason,
            &result.conclusion,
            context.stdout,
        ));
    }

    Ok(())
}
