//! `assize grade`.

use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::render;
use assize_evalfile::{load_answers, load_rubric, load_targets};
use assize_store::{RunSettings, SuiteInfo};
use tokio::sync::Semaphore;

use super::baselines::Baselines;
use super::eval::{config, load_options};
use super::links::Links;
use super::plan::{Bench, Planner, Preflight};
use super::session::{Session, judging_name, workers};
use crate::access::Access;
use crate::args::GradeArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::judges::JudgeBook;
use crate::money;
use crate::output;
use crate::targets::TargetBook;

pub(crate) fn execute(args: &GradeArgs, context: &Context) -> Result<Exit, String> {
    let options = load_options(&[], context);
    let rubric = load_rubric(&args.rubric, &options);
    output::say_diagnostics(&rubric.diagnostics, &rubric.sources, context);
    if rubric.has_errors() {
        return Err("the rubric has problems; nothing was graded".to_owned());
    }
    let answers = load_answers(&args.answers, &rubric, &options);
    output::say_diagnostics(&answers.diagnostics, &answers.sources, context);
    let has_errors = answers.has_errors();
    let Some(suite) = answers.suite.filter(|_| !has_errors) else {
        return Err("the answers file has problems; nothing was graded".to_owned());
    };
    let config = config(&options, context)?;
    let prices = money::prices(args.run.context_tokens, &options, context)?;
    let access = Arc::new(Access::new(&args.run, &config, prices, args.run.spending.budget_usd, context));
    // No target is run here, but one may be the judge.
    let folder = args.rubric.parent().unwrap_or(Path::new(""));
    let found = load_targets(folder, config.targets.as_deref(), &options);
    output::say_diagnostics(&found.diagnostics, &found.sources, context);
    if render::tally(&found.diagnostics).0 > 0 {
        return Err("the targets file has problems; nothing was graded".to_owned());
    }
    let targets = Arc::new(TargetBook::new(found.targets, found.path, Arc::clone(&access), context));
    let judges = Arc::new(JudgeBook::new(
        args.run.judge.clone(),
        args.run.panel.warm_up.into(),
        config.judge.clone(),
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        Arc::clone(&targets),
        Arc::clone(&access),
        context,
    ));
    let bench = Bench { targets, judges, baselines: Baselines::new(context) };
    let planner = Planner {
        workplaces: None,
        target_names: &[],
        lines: assize_evalfile::LineOverrides { pass: args.run.threshold, borderline: args.run.borderline },
        config: &config,
        judging: args.run.judging,
        panel: args.run.panel()?,
        truncate: args.run.truncate,
        sequence: None,
    };
    let planned = planner.suite(&suite);
    let mut preflight = Preflight::default();
    for case in &answers.cases {
        planner.check(&planned, &case.map_err(|error| error.to_string())?, &bench, &mut preflight);
    }
    preflight.conclude(false)?;
    access.check()?;
    if preflight.items == 0 {
        return Err(format!("`{}` holds no answers", args.answers.display()));
    }
    let session = Session {
        workplaces: None,
        command: "grade",
        label: suite.name.clone(),
        suites: vec![SuiteInfo {
            name: suite.name.clone(),
            path: args.rubric.display().to_string(),
            format: None,
            cases: preflight.cases,
        }],
        inputs: vec![args.rubric.clone(), args.answers.clone()],
        judge_infos: bench.judges.infos(),
        target_infos: Vec::new(),
        settings: RunSettings {
            workers: access.cases_at_once(workers(args.run.workers, config.workers.into_iter())),
            threshold: args.run.threshold.map(assize_rubric::Unit::get),
            borderline: args.run.borderline.map(assize_rubric::Unit::get),
            judging: judging_name(args.run.judging.or(config.judging).unwrap_or_default()),
            filter: Vec::new(),
            tags: Vec::new(),
            keep_going: false,
            other: args.run.panel_settings(access.notes(&args.run)),
        },
        warnings: Vec::new(),
        scorecard: None,
        access,
        total: preflight.items,
        left_out: 0,
    };
    let items = || {
        answers.cases.iter().flat_map(|case| match case {
            Err(error) => vec![Err(error.to_string())],
            Ok(case) => planner
                .items(&planned, &case, &bench, &Links::default())
                .into_iter()
                .map(|item| item.map(|item| assize_run::WorkItem { format: None, ..item }))
                .collect(),
        })
    };
    session.perform(items, &args.run, context)
}
