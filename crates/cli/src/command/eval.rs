//! `assize eval`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_evalfile::{
    Case, Cases, Config, LoadOptions, Suite, find_suites, load_config, load_suite, load_targets,
};
use assize_llm::{ModelCard, PriceTable};
use assize_rubric::Usd;
use assize_store::{RunSettings, SuiteInfo};
use globset::{Glob, GlobSet, GlobSetBuilder};
use tokio::sync::Semaphore;

use super::baselines::Baselines;
use super::forecast::{Cards, Plan};
use super::links::Links;
use super::order;
use super::plan::{Bench, PlannedSuite, Planner, Preflight};
use super::session::{Session, judging_name, workers};
use super::shape::{Items, Ordinary, Shape};
use crate::access::Access;
use crate::args::{Deny, EvalArgs, EvalCommandArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::judges::JudgeBook;
use crate::money;
use crate::output;
use crate::targets::TargetBook;
use crate::workplaces::Workplaces;

/// Eval files with their diagnostics.
pub(super) struct Loaded {
    pub(super) files: Vec<LoadedFile>,
    /// Scorecards found beside them, not read.
    pub(super) scorecards: Vec<PathBuf>,
}

/// An eval file with its diagnostics.
pub(super) struct LoadedFile {
    pub(super) path: PathBuf,
    pub(super) suite: Option<Suite>,
    pub(super) cases: Cases,
    pub(super) sources: SourceMap,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Numbers of errors and warnings in all files.
    pub(super) fn tally(&self) -> (usize, usize) {
        self.files
            .iter()
            .map(|file| render::tally(&file.diagnostics))
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn say_diagnostics(&self, context: &Context) {
        for file in &self.files {
            output::say_diagnostics(&file.diagnostics, &file.sources, context);
        }
    }
}

/// Finds and reads eval files.
pub(super) fn load(paths: &[PathBuf], roots: &[PathBuf], context: &Context) -> Result<Loaded, String> {
    let found = find_suites(paths);
    if !found.problems.is_empty() {
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        return Err(problems.join("\n"));
    }
    let options = load_options(roots, context);
    // A file may be given twice in different spellings, and be found in a folder as well.
    let mut known = BTreeSet::new();
    let mut files: Vec<LoadedFile> = found
        .files
        .into_iter()
        .filter(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
        .map(|path| {
            let loaded = load_suite(&path, &options);
            LoadedFile {
                path,
                suite: loaded.suite,
                cases: loaded.cases,
                sources: loaded.sources,
                diagnostics: loaded.diagnostics,
            }
        })
        .collect();
    tell_apart(&mut files);
    Ok(Loaded { files, scorecards: found.scorecards })
}

/// Appends the path to suites that share a name, because results are identified by suite names.
fn tell_apart(files: &mut [LoadedFile]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for suite in files.iter().filter_map(|file| file.suite.as_ref()) {
        *seen.entry(suite.name.clone()).or_default() += 1;
    }
    for file in files {
        if let Some(suite) = file.suite.as_mut().filter(|suite| seen.get(&suite.name).is_some_and(|n| *n > 1))
        {
            suite.name = format!("{} ({})", suite.name, file.path.display());
        }
    }
}

/// Options for reading files in this context.
pub(super) fn load_options(roots: &[PathBuf], context: &Context) -> LoadOptions {
    LoadOptions {
        environment: context.environment(),
        working_folder: context.working_folder.clone(),
        extra_roots: roots.to_vec(),
    }
}

/// The environment file that the configuration names. Errors in the configuration are ignored here and
/// reported when a command reads it.
pub(crate) fn configured_env_file(context: &Context) -> Option<PathBuf> {
    load_config(&context.working_folder, &load_options(&[], context)).config.env_file
}

/// Reads the configuration file, if there is one.
pub(super) fn config(options: &LoadOptions, context: &Context) -> Result<Config, String> {
    let loaded = load_config(&context.working_folder, options);
    output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
    match render::tally(&loaded.diagnostics) {
        (0, _) => Ok(loaded.config),
        _ => Err("the configuration file has problems; nothing was run".to_owned()),
    }
}

pub(crate) fn execute(args: &EvalCommandArgs, context: &Context) -> Result<Exit, String> {
    let mut sequence = args.sequence.clone();
    if sequence.shuffle && sequence.seed.is_none() {
        let seed = order::new_seed();
        sequence.seed = Some(seed);
        if !args.eval.run.quiet && !args.eval.dry_run {
            output::say(&format!("shuffled; `--shuffle --seed {seed}` gives the same order again\n"));
        }
    }
    execute_as(&Ordinary { sequence }, &args.eval, context)
}

/// Runs the cases of eval files in the mode of a command.
pub(super) fn execute_as(shape: &dyn Shape, args: &EvalArgs, context: &Context) -> Result<Exit, String> {
    let loaded = load(&args.paths, &args.root, context)?;
    execute_loaded(shape, &loaded, args, context)
}

/// Runs the cases of eval files that are already read.
pub(super) fn execute_loaded(
    shape: &dyn Shape,
    loaded: &Loaded,
    args: &EvalArgs,
    context: &Context,
) -> Result<Exit, String> {
    let uncached = |file: &LoadedFile| file.suite.as_ref().is_some_and(|of| of.settings.cache == Some(false));
    let mut args = args.clone();
    args.run.spending.no_cache |= !args.run.spending.cache_only && loaded.files.iter().any(uncached);
    let args = &args;
    if let Some(scorecard) = loaded.scorecards.first() {
        let shown = scorecard.display();
        let message =
            format!("`{shown}` is a scorecard, not an eval file; `assize scorecard list {shown}` shows it");
        if loaded.files.is_empty() {
            return Err(message);
        }
        output::warn(&message, context);
    }
    loaded.say_diagnostics(context);
    let (errors, warnings) = loaded.tally();
    let problems = format!("{errors} problem{} in the eval files", if errors == 1 { "" } else { "s" });
    if errors > 0 && !args.keep_going {
        return Err(format!("{problems}; nothing was run. `--keep-going` runs the sound cases"));
    }
    if warnings > 0 && args.deny.contains(&Deny::Warnings) {
        return Err(format!("{warnings} warnings, and warnings are denied; nothing was run"));
    }
    let options = load_options(&args.root, context);
    let config = config(&options, context)?;
    let prices = money::prices(args.run.context_tokens, &options, context)?;
    let usd = money::limit(&args.run, loaded.files.iter().filter_map(|file| file.suite.as_ref()))?;
    let benches = Benches::new(args, &config, &options, prices, usd, context);
    let selection = Selection { ids: globs(&args.filter)?, tags: args.tag.clone() };

    let target_names = args.target.iter().cloned().fold(Vec::new(), push_new);
    let workplaces = Arc::new(Workplaces::new(args.keep_workspaces, context));
    let planner = Planner {
        workplaces: Some(&workplaces),
        target_names: &target_names,
        lines: assize_evalfile::LineOverrides { pass: args.run.threshold, borderline: args.run.borderline },
        config: &config,
        judging: args.run.judging,
        panel: args.run.panel()?,
        truncate: args.run.truncate,
        sequence: shape.sequence(),
    };
    let mut preflight = Preflight::default();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut suites = Vec::new();
    for file in &loaded.files {
        let Some(suite) = &file.suite else { continue };
        let bench = benches.bench_of(file)?;
        let suite = planner.suite(suite);
        let links = match planner.sequence {
            None => Links::default(),
            Some(_) => Links::of(
                &file.cases,
                |case| selection.takes(suite.suite, case),
                |case| planner.names_of(suite.suite, case, &bench),
            )?,
        };
        preflight.remark_extra(suite.suite, &links);
        let before = preflight.cases;
        for case in file.cases.iter_at_once() {
            let case = case.map_err(|error| error.to_string())?;
            if selection.takes(suite.suite, &case) || links.extra.contains_key(&case.id) {
                for case in shape.cases(suite.suite, case)? {
                    planner.check(&suite, &case, &bench, &mut preflight);
                }
            }
        }
        suites.push(SuiteInfo {
            name: suite.suite.name.clone(),
            path: file.path.display().to_string(),
            format: Some(suite.suite.format.number()),
            cases: preflight.cases - before,
        });
        parts.push(Part { file, suite, bench, links });
    }
    let self_judging = preflight.conclude(args.deny.contains(&Deny::SelfJudging))?;
    if preflight.items == 0 {
        return Err(Selection::found_nothing(loaded));
    }
    if preflight.in_workspaces && shape.command() != Ordinary::default().command() {
        return Err(format!(
            "`{}` judges answers in several forms, and what a target changes in a workspace goes with one of them; \
             run `assize eval` once, and grade its answers",
            shape.command()
        ));
    }

    let items = || -> Items<'_> {
        let by_case = parts.iter().flat_map(|part| {
            let (planner, selection) = (&planner, &selection);
            part.file.cases.iter().map(move |case| match case {
                Err(error) => vec![Err(error.to_string())],
                Ok(case) if part.takes(selection, &case) => match shape.cases(part.suite.suite, case) {
                    Err(error) => vec![Err(error)],
                    Ok(cases) => cases
                        .iter()
                        .flat_map(|case| planner.items(&part.suite, case, &part.bench, &part.links))
                        .collect(),
                },
                Ok(_) => Vec::new(),
            })
        });
        let seed = shape.sequence().filter(|sequence| sequence.shuffle).and_then(|sequence| sequence.seed);
        let plain: Items<'_> = match seed {
            None => Box::new(by_case.flatten()),
            Some(seed) => Box::new(order::shuffled(by_case.collect(), seed).into_iter().flatten()),
        };
        shape.items(plain, preflight.items)
    };
    benches.access.check()?;
    if args.dry_run {
        let plan = Plan::of(
            items(),
            args.run.spending.budget(benches.usd),
            &Known { access: &benches.access, parts: &parts },
        )?;
        let warnings: Vec<String> = self_judging.into_iter().chain(benches.access.missing_keys()).collect();
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
    let mut run_warnings = self_judging;
    if errors > 0 {
        run_warnings.push(format!("{problems}; only the sound cases were run"));
    }
    let wishes = parts.iter().filter_map(|part| part.suite.suite.settings.workers);
    let target_wish = parts
        .iter()
        .filter_map(|part| part.bench.targets.workers(preflight.targets.iter().map(String::as_str)));
    let judging = args.run.judging.or(config.judging).unwrap_or_default();
    let session = Session {
        command: shape.command(),
        label: match suites.as_slice() {
            [only] => only.name.clone(),
            several => format!("{}-suites", several.len()),
        },
        inputs: inputs(loaded, &preflight, parts.iter().filter_map(|part| part.bench.targets.path())),
        judge_infos: parts.iter().flat_map(|part| part.bench.judges.infos()).fold(Vec::new(), push_new),
        target_infos: parts.iter().flat_map(|part| part.bench.targets.infos()).fold(Vec::new(), push_new),
        settings: RunSettings {
            workers: benches
                .access
                .cases_at_once(workers(args.run.workers, wishes.chain(target_wish).chain(config.workers))),
            threshold: args.run.threshold.map(assize_rubric::Unit::get),
            borderline: args.run.borderline.map(assize_rubric::Unit::get),
            judging: judging_name(judging),
            filter: args.filter.clone(),
            tags: args.tag.clone(),
            keep_going: args.keep_going,
            other: args
                .run
                .panel_settings(benches.access.notes(&args.run))
                .into_iter()
                .chain(shape.settings())
                .collect(),
        },
        warnings: run_warnings,
        scorecard: None,
        access: Arc::clone(&benches.access),
        workplaces: Some(Arc::clone(&workplaces)),
        total: shape.total(preflight.items, items())?,
        left_out: if errors > 0 { left_out(loaded) } else { 0 },
        suites,
    };
    session.perform_as(shape, items, &args.run, context)
}

/// An eval file of a run with its targets, judges and dependencies.
struct Part<'a> {
    file: &'a LoadedFile,
    suite: PlannedSuite<'a>,
    bench: Arc<Bench>,
    links: Links,
}

impl Part<'_> {
    fn takes(&self, selection: &Selection, case: &Case) -> bool {
        selection.takes(self.suite.suite, case) || self.links.extra.contains_key(&case.id)
    }
}

/// Model cards of the judges and models of a run.
struct Known<'a> {
    access: &'a Access,
    parts: &'a [Part<'a>],
}

impl Cards for Known<'_> {
    fn judge(&self, name: &str) -> ModelCard {
        self.parts.iter().find_map(|part| part.bench.judges.card(name)).unwrap_or_default()
    }

    fn model(&self, name: &str) -> ModelCard {
        self.access.card(name)
    }
}

/// Every file that the run depends on: eval files, their includes, datasets, attachments, targets.
fn inputs<'a>(
    loaded: &'a Loaded,
    preflight: &'a Preflight,
    targets: impl Iterator<Item = &'a Path>,
) -> Vec<PathBuf> {
    let of_files = loaded.files.iter().flat_map(|file| {
        let read = file.sources.files().map(|(_, source)| source.path());
        read.chain(file.cases.datasets()).filter(|path| path.is_file())
    });
    let all = of_files.chain(preflight.attachments.iter().map(PathBuf::as_path)).chain(targets);
    let distinct: BTreeSet<&Path> = all.collect();
    distinct.into_iter().map(Path::to_path_buf).collect()
}

fn push_new<T: PartialEq>(mut list: Vec<T>, item: T) -> Vec<T> {
    if !list.contains(&item) {
        list.push(item);
    }
    list
}

/// Number of cases excluded because of errors. A file that could not be read counts as one.
fn left_out(loaded: &Loaded) -> usize {
    loaded
        .files
        .iter()
        .map(|file| match &file.suite {
            None => 1,
            Some(_) => file.cases.left_out(),
        })
        .sum()
}

/// Filter for cases by id and tag.
struct Selection {
    ids: Option<GlobSet>,
    tags: Vec<String>,
}

impl Selection {
    fn takes(&self, suite: &Suite, case: &Case) -> bool {
        let has_tag = |tag: &String| case.tags.contains(tag) || suite.tags.contains(tag);
        self.ids.as_ref().is_none_or(|ids| ids.is_match(case.id.as_str()))
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
    }

    fn found_nothing(loaded: &Loaded) -> String {
        let cases: usize = loaded.files.iter().map(|file| file.cases.len()).sum();
        if cases == 0 {
            return "there are no sound cases to run".to_owned();
        }
        let first: Vec<String> = loaded
            .files
            .iter()
            .flat_map(|file| file.cases.iter())
            .take(3)
            .filter_map(|case| case.ok().map(|case| case.id.to_string()))
            .collect();
        format!("no case matches `--filter` and `--tag`; there are {cases}, such as {}", first.join(", "))
    }
}

pub(super) fn globs(patterns: &[String]) -> Result<Option<GlobSet>, String> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = Glob::new(pattern).map_err(|error| format!("`--filter {pattern}`: {error}"))?;
        set.add(glob);
    }
    set.build().map(Some).map_err(|error| format!("`--filter`: {error}"))
}

/// The targets and judges of each eval file; files in one project share them.
struct Benches<'a> {
    args: &'a EvalArgs,
    config: &'a Config,
    options: &'a LoadOptions,
    context: &'a Context,
    access: Arc<Access>,
    /// The spending limit in US dollars, from the command line or a suite.
    usd: Option<Usd>,
    limit: Arc<Semaphore>,
    made: std::cell::RefCell<BTreeMap<Option<PathBuf>, Arc<Bench>>>,
}

impl<'a> Benches<'a> {
    fn new(
        args: &'a EvalArgs,
        config: &'a Config,
        options: &'a LoadOptions,
        prices: PriceTable,
        usd: Option<Usd>,
        context: &'a Context,
    ) -> Self {
        Self {
            args,
            config,
            options,
            context,
            access: Arc::new(if args.dry_run {
                Access::without_cache(&args.run.spending, prices, context)
            } else {
                Access::new(&args.run, config, prices, usd, context)
            }),
            usd,
            limit: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            made: std::cell::RefCell::default(),
        }
    }

    fn bench_of(&self, file: &LoadedFile) -> Result<Arc<Bench>, String> {
        let folder = file.path.parent().map(PathBuf::from).unwrap_or_default();
        let explicit = self.args.targets.as_deref().or(self.config.targets.as_deref());
        let loaded = load_targets(&folder, explicit, self.options);
        if let Some(bench) = self.made.borrow().get(&loaded.path) {
            return Ok(Arc::clone(bench));
        }
        output::say_diagnostics(&loaded.diagnostics, &loaded.sources, self.context);
        if render::tally(&loaded.diagnostics).0 > 0 {
            return Err("the targets file has problems; nothing was run".to_owned());
        }
        let targets = Arc::new(TargetBook::new(
            loaded.targets,
            loaded.path.clone(),
            Arc::clone(&self.access),
            self.context,
        ));
        let judges = Arc::new(JudgeBook::new(
            self.args.run.judge.clone(),
            self.args.run.panel.warm_up.into(),
            self.config.judge.clone(),
            Arc::clone(&self.limit),
            Arc::clone(&targets),
            Arc::clone(&self.access),
            self.context,
        ));
        let baselines = Baselines::new(self.context);
        let bench = Arc::new(Bench { targets, judges, baselines });
        self.made.borrow_mut().insert(loaded.path, Arc::clone(&bench));
        Ok(bench)
    }
}
