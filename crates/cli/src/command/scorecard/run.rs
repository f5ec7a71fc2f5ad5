//! `assize scorecard run`.

use std::path::Path;
use std::sync::Arc;

use assize_analysis::CardRun;
use assize_diagnostic::render;
use assize_evalfile::{
    CardCases, Case, Format, LineOverrides, LoadOptions, Scorecard, Suite, SuiteSettings, load_targets,
};
use assize_llm::ModelCard;
use assize_report::{CardPage, card_run_lines};
use assize_rubric::MissingPolicy;
use assize_run::{WorkItem, card_info};
use assize_store::{Counts, ReviewRow, RunFolder, RunSettings, SuiteInfo};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::show::{Printed, Scored, policy};
use super::{sound, weight_set};
use crate::access::Access;
use crate::args::{Deny, RunArgs, RunCardArgs, ShowChoice};
use crate::command::baselines::Baselines;
use crate::command::eval::{config, globs, load_options};
use crate::command::forecast::{Cards, Plan};
use crate::command::links::Links;
use crate::command::plan::{Bench, Planner, Preflight};
use crate::command::present::print_full;
use crate::command::session::{Session, judging_name, stored, summary_json, workers};
use crate::command::shape::{Finished, Shape};
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::judges::JudgeBook;
use crate::money;
use crate::output;
use crate::targets::TargetBook;

pub(super) fn run(args: &RunCardArgs, context: &Context) -> Result<Exit, String> {
    refuse_idle_options(&args.run)?;
    let read = sound(&args.path, &args.root, context)?;
    if read.warnings > 0 && args.deny.contains(&Deny::Warnings) {
        return Err(format!("{} warnings, and warnings are denied; nothing was run", read.warnings));
    }
    let scorecard = &read.scorecard;
    let set = weight_set(scorecard, args.weights.as_deref())?;
    let options = load_options(&args.root, context);
    let config = config(&options, context)?;
    let prices = money::prices(args.run.context_tokens, &options, context)?;
    let access = Arc::new(if args.dry_run {
        Access::without_cache(&args.run.spending, prices, context)
    } else {
        Access::new(&args.run, &config, prices, args.run.spending.budget_usd, context)
    });
    let bench = bench(args, &config, &options, &access, context)?;
    let planner = Planner {
        workplaces: None,
        target_names: args.target.as_slice(),
        lines: LineOverrides::default(),
        config: &config,
        judging: None,
        panel: args.run.panel()?,
        truncate: None,
        sequence: None,
    };

    let suite = suite(scorecard, &args.path);
    let planned = planner.suite(&suite);
    let ids = globs(&args.filter)?;
    let takes = |at: usize| {
        let case = &scorecard.cases[at];
        ids.as_ref().is_none_or(|ids| ids.is_match(&*case.id))
            && (args.tag.is_empty() || args.tag.iter().any(|tag| case.tags.contains(tag)))
    };
    let cases = CardCases::new(scorecard);
    let selected = || {
        (0..scorecard.cases.len())
            .filter(|at| takes(*at))
            .filter_map(|at| cases.case(at))
            // A case that no benchmark applies to needs no work.
            .filter(|case: &Case| !case.graders.is_empty())
            .map(Arc::new)
    };
    if args.target.is_none() && bench.targets.default_name().is_none() {
        refuse_missing_outputs(selected())?;
    }
    let mut preflight = Preflight::default();
    for case in selected() {
        planner.check(&planned, &case, &bench, &mut preflight);
    }
    let warnings = preflight.conclude(args.deny.contains(&Deny::SelfJudging))?;
    access.check()?;
    if preflight.items == 0 {
        return Err(format!(
            "no benchmark applies to any of the {} cases{}",
            scorecard.cases.len(),
            if args.filter.is_empty() && args.tag.is_empty() { "" } else { " that were selected" }
        ));
    }
    let items = || {
        selected().flat_map(|case| {
            let items = planner.items(&planned, &case, &bench, &Links::default());
            items.into_iter().map(|item| item.map(|item| WorkItem { format: None, ..item }))
        })
    };
    if args.dry_run {
        let plan = Plan::of(
            items(),
            args.run.spending.budget(args.run.spending.budget_usd),
            &Known { access: &access, bench: &bench },
        )?;
        let warnings: Vec<String> = warnings.into_iter().chain(access.missing_keys()).collect();
        if args.run.json {
            output::print_json(&plan.to_json(preflight.cases, &warnings));
        } else {
            for warning in &warnings {
                output::warn(warning, context);
            }
            plan.print(preflight.cases);
        }
        return Ok(Exit::Passed);
    }
    let session = Session {
        workplaces: None,
        command: "scorecard run",
        label: scorecard.name.clone(),
        suites: vec![SuiteInfo {
            name: suite.name.clone(),
            path: args.path.display().to_string(),
            format: None,
            cases: preflight.cases,
        }],
        inputs: read.files.iter().cloned().chain(bench.targets.path().map(Path::to_path_buf)).collect(),
        judge_infos: bench.judges.infos(),
        target_infos: bench.targets.infos(),
        settings: RunSettings {
            workers: access.cases_at_once(workers(args.run.workers, config.workers.into_iter())),
            threshold: None,
            borderline: None,
            judging: judging_name(assize_rubric::Judging::PerCriterion),
            filter: args.filter.clone(),
            tags: args.tag.clone(),
            keep_going: false,
            other: args.run.panel_settings(access.notes(&args.run)),
        },
        warnings,
        scorecard: Some(card_info(scorecard, set, takes)),
        access,
        total: preflight.items,
        left_out: 0,
    };
    let closing = OfScorecard {
        policy: policy(args.treat_missing),
        markdown: args.markdown.as_deref(),
        settings: session.scorecard.clone(),
    };
    session.perform_as(&closing, items, &args.run, context)
}

/// Rejects options that have no effect, because benchmarks have thresholds and prompts of their own.
fn refuse_idle_options(args: &RunArgs) -> Result<(), String> {
    let idle = [
        ("--judging", args.judging.is_some(), "every benchmark is a question of its own"),
        ("--threshold", args.threshold.is_some(), "thresholds stand in the files of the scorecard"),
        ("--borderline", args.borderline.is_some(), "scorecards have no borderline"),
        ("--truncate", args.truncate.is_some(), "a judge sees all of what a benchmark is about, or nothing"),
    ];
    match idle.iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => Err(format!("`{option}` has no effect on a scorecard: {why}")),
        None => Ok(()),
    }
}

/// Requires an output in every case that a judge decides, when no target is given.
fn refuse_missing_outputs(cases: impl Iterator<Item = Arc<Case>>) -> Result<(), String> {
    let lacking: Vec<Arc<Case>> = cases.filter(|case| case.output.is_none()).collect();
    let Some(first) = lacking.first() else { return Ok(()) };
    let more = match lacking.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Err(format!(
        "{}: case `{}` has no `candidate_output`{more}; nothing was run. Add it, or name who produces it with \
         `--target NAME`",
        first.place, first.id
    ))
}

fn bench(
    args: &RunCardArgs,
    config: &assize_evalfile::Config,
    options: &LoadOptions,
    access: &Arc<Access>,
    context: &Context,
) -> Result<Bench, String> {
    let explicit = args.targets.as_deref().or(config.targets.as_deref());
    let found = load_targets(&args.path, explicit, options);
    output::say_diagnostics(&found.diagnostics, &found.sources, context);
    if render::tally(&found.diagnostics).0 > 0 {
        return Err("the targets file has problems; nothing was run".to_owned());
    }
    let targets = Arc::new(TargetBook::new(found.targets, found.path, Arc::clone(access), context));
    let judges = Arc::new(JudgeBook::new(
        args.run.judge.clone(),
        args.run.panel.warm_up.into(),
        config.judge.clone(),
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        Arc::clone(&targets),
        Arc::clone(access),
        context,
    ));
    Ok(Bench { targets, judges, baselines: Baselines::new(context) })
}

/// Model cards of the judges and models of a run.
struct Known<'a> {
    access: &'a Access,
    bench: &'a Bench,
}

impl Cards for Known<'_> {
    fn judge(&self, name: &str) -> ModelCard {
        self.bench.judges.card(name).unwrap_or_default()
    }

    fn model(&self, name: &str) -> ModelCard {
        self.access.card(name)
    }
}

/// The scorecard as a suite, which its cases belong to.
fn suite(scorecard: &Scorecard, path: &Path) -> Suite {
    Suite {
        format: Format::Two,
        name: scorecard.name.clone(),
        path: path.to_path_buf(),
        description: None,
        tags: Vec::new(),
        metadata: serde_json::Map::new(),
        graders: Vec::new(),
        settings: SuiteSettings::default(),
        workspace: None,
        preprocessors: None,
        unbuilt: Vec::new(),
    }
}

/// Output of `--json`.
#[derive(Serialize)]
struct WithCard<'a> {
    #[serde(flatten)]
    summary: Value,
    scorecard: Printed<'a, &'a [ReviewRow]>,
}

/// Mode of a scorecard run: the tree decides, not the verdicts of single cases.
struct OfScorecard<'a> {
    policy: MissingPolicy,
    markdown: Option<&'a Path>,
    settings: Option<assize_store::CardInfo>,
}

impl OfScorecard<'_> {
    /// The results stored so far.
    fn stored(&self, folder: &RunFolder) -> Result<CardRun, String> {
        CardRun::of(folder, self.settings.clone()).map_err(|error| error.to_string())
    }
}

impl Shape for OfScorecard<'_> {
    fn exit(&self, folder: &RunFolder, counts: Counts, ending: Ending) -> (Exit, String) {
        let scored = self.stored(folder).and_then(|run| {
            Ok(Scored::new(&run.info, None, |place| run.tally(place), self.policy)?.exit_of(ending))
        });
        scored.unwrap_or_else(|message| {
            let (exit, reason) = of_run(counts, Ending { broke_off: true, ..ending });
            (exit, format!("{reason}; {message}"))
        })
    }

    fn show(&self, shown: &Finished<'_>, args: &RunArgs, context: &Context) -> Result<(), String> {
        let run = self.stored(shown.folder)?;
        let review = run.review();
        shown.folder.write_review(&review).map_err(|error| error.to_string())?;
        let scored = Scored::new(&run.info, None, |place| run.tally(place), self.policy)?;
        if let Some(path) = self.markdown {
            scored.write_markdown(path, &CardPage { run: Some((&run, shown.info)) })?;
        }
        if args.json {
            output::stream_json(&WithCard {
                summary: summary_json(shown.info, shown.folder.path()),
                scorecard: scored.printed(run.info.weight_set.as_deref(), &review),
            });
            return Ok(());
        }
        if matches!(args.show, ShowChoice::All | ShowChoice::Failed) {
            for record in stored(shown.folder)? {
                let record = record?;
                if args.show == ShowChoice::All || record.result.verdict != assize_rubric::Verdict::Pass {
                    print_full(&record, context);
                }
            }
        }
        output::print(&scored.text(context));
        let folder = shown.folder.path().display().to_string();
        output::print(&card_run_lines(&run, shown.info, &folder, context.stdout));
        Ok(())
    }
}
