//! Runs the cases of eval files in the mode of a command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_grade::ProgramSetup;
use assize_model::{Case, CasePlace, Suite};
use assize_run::{DealtCase, DealtPlan, ItemError, PlacedItems, ShardNumber, ShardPart, ShardPlan, WorkItem};
use assize_store::{RunSettings, SuiteInfo};

use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evaluation::{Evaluated, Purpose};
use crate::event::EngineEvent;
use crate::extensions::{ExtensionPool, ExtensionUse};
use crate::load::{CaseSelection, LoadedFile, LoadedFiles};
use crate::mode::{EvalMode, Items, RunMode};
use crate::options::{CacheUse, DeniedFindings, EvalOptions, RunOptions, UnknownPrice};
use crate::order;
use crate::plan::{PlannedSuite, RunPlanner};
use crate::plan_identity::PlanIdentity;
use crate::preflight_report::PreflightReport;
use crate::prepared::is_deal_known;
use crate::prepared_plan::{PreparedFile, PreparedPlan, stamps};
use crate::prices;
use crate::resume::EXCLUDED_TAGS;
use crate::run_deps::RunDeps;
use crate::run_outcome::{PlannedRun, RunOutcome};
use crate::session::{DealtShard, RunSession, hash_inputs};
use crate::shard;
use crate::validate::check_files;
use crate::wiring::{RunWiring, WiringRequest, wire};

impl Engine {
    /// Plans a run and returns the identity of the plan. Sends no requests. With `is_worker`, it also checks that this
    /// process could run the plan: the keys of its models must be present.
    ///
    /// # Errors
    /// When files have errors, or the run can't be carried out as requested.
    pub async fn identify(
        &self,
        mode: &dyn RunMode,
        options: &EvalOptions,
        is_worker: bool,
    ) -> Result<PlanIdentity, EngineError> {
        let loaded = self.load_for_run(&options.paths, options)?;
        let purpose = Purpose::Identify { is_worker };

        match self.evaluate_for(purpose, mode, &loaded, options, None, None).await? {
            Evaluated::Identity(identity) => Ok(identity),
            _ => Err(EngineError::internal("a plan has no identity")),
        }
    }

    /// Runs eval files as `assize eval` does.
    ///
    /// # Errors
    /// When files have errors, or the run can't be carried out as requested. No money was spent in that case.
    pub async fn evaluate(
        &self,
        mut mode: EvalMode,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        let sequence = &mut mode.sequence;
        if sequence.stop_against.is_some() {
            check_stop(options)?;
            // The first cases of a file may be the easy ones.
            sequence.shuffle = true;
        }
        if sequence.shuffle && sequence.seed.is_none() && options.run.shard.is_some() {
            return Err(EngineError::usage(
                "`--shard` with `--shuffle` needs `--seed N`, the same for all shards: each would use another order",
            ));
        }
        if sequence.shuffle && sequence.seed.is_none() {
            // 32 random bits: short enough to type.
            let seed = u64::from(uuid::Uuid::new_v4().as_fields().0);
            sequence.seed = Some(seed);
            if !options.dry_run {
                self.emit(EngineEvent::Shuffled { seed });
            }
        }

        self.evaluate_as(&mode, options).await
    }

    /// Runs eval files in this mode.
    ///
    /// # Errors
    /// As in [`Engine::evaluate`].
    pub async fn evaluate_as(
        &self,
        mode: &dyn RunMode,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        let loaded = self.load_for_run(&options.paths, options)?;

        self.evaluate_loaded(mode, &loaded, options).await
    }

    /// Runs eval files that were read.
    ///
    /// # Errors
    /// As in [`Engine::evaluate`].
    pub async fn evaluate_loaded(
        &self,
        mode: &dyn RunMode,
        loaded: &LoadedFiles,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        let purpose = if options.dry_run { Purpose::Plan } else { Purpose::Run };
        let mut suites = loaded.files.iter().filter_map(|file| file.suite.as_ref());
        if purpose == Purpose::Run
            && suites.any(|suite| suite.extensions.as_ref().is_some_and(|all| !all.in_workspace))
        {
            return Box::pin(self.evaluate_extended(mode, loaded, options)).await;
        }

        self.evaluate_for(purpose, mode, loaded, options, None, None).await?.into_outcome()
    }

    pub(crate) async fn evaluate_for(
        &self,
        purpose: Purpose,
        mode: &dyn RunMode,
        loaded: &LoadedFiles,
        options: &EvalOptions,
        prepared: Option<&PreparedPlan>,
        extensions: Option<&ExtensionPool>,
    ) -> Result<Evaluated, EngineError> {
        let options = &with_cache_of_suites(options, loaded);
        let problems = match prepared {
            None => check_files(loaded, options, self)?,
            Some(prepared) => prepared.problems.clone(),
        };

        let usd = prices::limit(&options.run, loaded.files.iter().filter_map(|file| file.suite.as_ref()))?;
        let files: Vec<PathBuf> = loaded.files.iter().map(|file| file.path.clone()).collect();
        let request = WiringRequest::new(purpose.access(&options.run, usd), &files, "nothing was run")
            .reading(&options.roots, options.targets_file.as_deref());
        let keep_workspaces = options.keep_workspaces;
        let wiring = wire(self, &WiringRequest { keep_workspaces, ..request })?;

        let target_names = distinct(&options.targets);
        let planner = RunPlanner {
            workspaces: Some(&wiring.workspaces),
            target_names: &target_names,
            sequence: mode.sequence(),
            extensions: ExtensionUse::new(purpose, mode, extensions),
            ..RunPlanner::new(&wiring.config, &options.run)?
        };

        let mut run = EvalRun {
            mode,
            planner,
            selection: CaseSelection::new(&options.filter, &options.tags, &options.exclude_tags)?
                .of_failed(options.rerun_failed.as_deref(), self.process())?,
            preflight: PreflightReport::default(),
            parts: Vec::new(),
            prepared,
        };

        let suites = run.plan_files(loaded, &wiring)?;
        let mut warnings =
            run.preflight.conclude(options.deny, &wiring.gate, &wiring.gateway, options.dry_run)?;
        if let (Some(name), true) = (options.targets.first(), run.preflight.targets.is_empty()) {
            warnings.push(format!("`--target {name}` has no effect: every case has its answer"));
        }

        if purpose != Purpose::Check || !run.awaits_tests() {
            run.check(loaded)?;
        }
        run.preflight.check_batches(&options.run)?;
        warnings.extend(match prepared {
            None => run.selection.unmatched_warning(),
            Some(prepared) => prepared.unmatched.clone(),
        });
        wiring.gateway.check()?;

        if purpose == Purpose::Check {
            return Ok(Evaluated::Checked(run.extended_suites()));
        }
        if let Purpose::Prepare { shards } = purpose {
            let prepared = run.prepare(loaded, shards, &self.process().working_folder, suites, problems)?;
            return Ok(Evaluated::Prepared(Box::new(prepared.asked_at(wiring.gateway.addresses()))));
        }
        if let Purpose::Identify { .. } = purpose {
            // Every worker would refuse such a unit, so it would never run.
            if usd.is_some() && options.run.unknown_price == UnknownPrice::Refuse {
                wiring.gateway.check_prices(None)?;
            }
            let identity = run.identity(loaded, &options.run, suites_label(&suites))?;
            return Ok(Evaluated::Identity(PlanIdentity {
                budget: options.run.spending.budget_with(usd),
                rates: options.run.rates(&wiring.config),
                ..identity
            }));
        }
        if purpose == Purpose::Plan {
            warnings.extend(wiring.gateway.exposed_keys());
            let limit = (&options.run.spending, usd);
            let (items, found) = (|| run.items(), &run.preflight);
            let planned = PlannedRun::new(items, options.run.shard, found, warnings, limit, &wiring)?;
            return Ok(Evaluated::Outcome(Box::new(RunOutcome::Planned(Box::new(planned)))));
        }

        let left_out = problems.as_ref().map_or(0, |_| loaded.left_out());
        warnings.extend(problems.map(|problems| format!("{problems}; only the valid cases were run")));

        let outcome = self.carry_out(&run, &wiring, loaded, options, (suites, warnings, left_out));
        Box::pin(outcome).await.map(|outcome| Evaluated::Outcome(Box::new(outcome)))
    }

    /// Carries out the plan.
    async fn carry_out(
        &self,
        run: &EvalRun<'_>,
        wiring: &RunWiring<'_>,
        loaded: &LoadedFiles,
        options: &EvalOptions,
        (suites, warnings, left_out): (Vec<SuiteInfo>, Vec<String>, usize),
    ) -> Result<RunOutcome, EngineError> {
        let (mode, prepared) = (run.mode, run.prepared);
        let plain = RunSession::new(mode.command(), wiring, &options.run, run.worker_wishes());
        let session = RunSession {
            label: suites_label(&suites),
            inputs: prepared.map_or_else(|| run.inputs(loaded), |_| Vec::new()),
            dealt: prepared.map(|prepared| run.dealt_shard(prepared, &options.run)).transpose()?.flatten(),
            settings: RunSettings {
                filter: options.filter.clone(),
                tags: options.tags.clone(),
                keep_going: options.keep_going,
                other: (plain.settings.other.into_iter())
                    .chain(mode.settings())
                    .chain(excluded_tags(options))
                    .chain(rerun_failed(options.rerun_failed.as_ref()))
                    .collect(),
                ..plain.settings
            },
            warnings,
            workspaces: Some(Arc::clone(&wiring.workspaces)),
            total: mode.total(run.preflight.items, run.items())?,
            excluded: left_out,
            suites,
            ..plain
        };

        let dealt = session.dealt.as_ref().map(|dealt| dealt.plan.shard());
        match prepared.zip(dealt) {
            None => session.carry_out(mode, || run.items(), &options.run, self).await,
            Some((prepared, shard)) => {
                session.carry_out(mode, || run.items_of_shard(prepared, shard), &options.run, self).await
            }
        }
    }
}

/// Refuses to end a run early when part of the results is elsewhere.
fn check_stop(options: &EvalOptions) -> Result<(), EngineError> {
    let run = &options.run;
    let others = [
        (run.shard.is_some(), "`--shard`"),
        (run.resume.is_some(), "`--resume`"),
        (run.judge_batch.is_some(), "`--judge-batch`"),
        (run.exchange.export.is_some(), "`--export-requests`"),
    ];
    match others.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, name)) => Err(EngineError::usage(format!(
            "`--stop-when decided` needs each result as it arrives, so it can't be combined with {name}"
        ))),
    }
}

/// Word for the id of a run of these suites.
pub(crate) fn suites_label(suites: &[SuiteInfo]) -> String {
    match suites {
        [only] => only.name.clone(),
        several => format!("{}-suites", several.len()),
    }
}

fn excluded_tags(options: &EvalOptions) -> Option<(String, String)> {
    let tags = &options.exclude_tags;
    (!tags.is_empty()).then(|| (EXCLUDED_TAGS.to_owned(), tags.join(", ")))
}

/// The setting of a run that names the run whose failed cases were repeated.
pub(crate) fn rerun_failed(run: Option<&String>) -> Option<(String, String)> {
    run.map(|run| ("rerun_failed".to_owned(), run.clone()))
}

/// The options, without the cache if any suite disables it.
fn with_cache_of_suites(options: &EvalOptions, loaded: &LoadedFiles) -> EvalOptions {
    let uncached =
        |file: &LoadedFile| file.suite.as_ref().is_some_and(|suite| suite.settings.cache == Some(false));

    let mut options = options.clone();
    let cache = &mut options.run.spending.cache;
    if *cache == CacheUse::On && loaded.files.iter().any(uncached) {
        *cache = CacheUse::Off;
    }

    options
}

/// A run of eval files that is being planned.
struct EvalRun<'a> {
    mode: &'a dyn RunMode,
    planner: RunPlanner<'a>,
    selection: CaseSelection<'a>,
    preflight: PreflightReport,
    parts: Vec<RunPart<'a>>,
    /// The earlier plan of the files, if there is one.
    prepared: Option<&'a PreparedPlan>,
}

/// An eval file of a run, and the settings and dependencies of its cases.
struct RunPart<'a> {
    file: &'a LoadedFile,
    suite: PlannedSuite<'a>,
    deps: Arc<RunDeps>,
    dependencies: Arc<CaseDependencies>,
    /// Cases for which a judge, a target or a model was made.
    makers: Vec<Arc<Case>>,
}

impl RunPart<'_> {
    /// Number of judges, targets and models made so far.
    fn made(&self) -> usize {
        self.deps.judges.made() + self.deps.targets.made()
    }

    fn takes(&self, selection: &CaseSelection<'_>, case: &Case) -> bool {
        selection.takes(self.suite.suite, case) || self.dependencies.extra.contains_key(&case.id)
    }
}

impl<'a> EvalRun<'a> {
    /// Plans every selected case of the files.
    fn plan_files(
        &mut self,
        loaded: &'a LoadedFiles,
        wiring: &RunWiring<'_>,
    ) -> Result<Vec<SuiteInfo>, EngineError> {
        let files = loaded.files.iter().filter_map(|file| Some((file, file.suite.as_ref()?)));
        let Some(prepared) = self.prepared else {
            return files.map(|(file, suite)| self.plan_file(file, suite, wiring)).collect();
        };

        // The cases were planned before. Only cases that need a judge, a target or a model are planned again,
        // to create it.
        for ((file, suite), known) in files.zip(&prepared.files) {
            let deps = wiring.deps_of_suite(suite)?;
            let suite = self.planner.suite(suite);
            for case in &known.makers {
                self.planner.check(&suite, case, &deps, &mut self.preflight);
            }
            let dependencies = Arc::clone(&known.dependencies);
            self.parts.push(RunPart { file, suite, deps, dependencies, makers: Vec::new() });
        }
        std::mem::replace(&mut self.preflight, prepared.preflight.clone()).conclude(
            DeniedFindings::default(),
            &wiring.gate,
            &wiring.gateway,
            false,
        )?;

        Ok(prepared.suites.clone())
    }

    fn plan_file(
        &mut self,
        file: &'a LoadedFile,
        suite: &'a Suite,
        wiring: &RunWiring<'_>,
    ) -> Result<SuiteInfo, EngineError> {
        self.preflight.programs.extend(suite.unrun_code.iter().cloned());
        let deps = wiring.deps_of_suite(suite)?;
        let suite = self.planner.suite(suite);
        let dependencies = match self.planner.sequence {
            None => CaseDependencies::default(),
            Some(_) => CaseDependencies::from_cases(
                &file.cases,
                |case| self.selection.takes(suite.suite, case),
                |case| self.planner.names_of(suite.suite, case, &deps),
            )?,
        };

        self.preflight.remark_extra(suite.suite, &dependencies);
        if matches!(self.planner.extensions, ExtensionUse::Planned) {
            self.preflight.remark_order(suite.suite, &file.cases);
        }

        let mut part =
            RunPart { file, suite, deps, dependencies: Arc::new(dependencies), makers: Vec::new() };
        let before = self.preflight.cases;
        let mut excluded = 0;

        for case in file.cases.iter_ahead() {
            let case = case?;
            if part.takes(&self.selection, &case) {
                for case in self.mode.cases(part.suite.suite, case)? {
                    let made = part.made();
                    self.planner.check(&part.suite, &case, &part.deps, &mut self.preflight);
                    if part.made() > made {
                        part.makers.push(case);
                    }
                }
            } else {
                excluded += 1;
            }
        }

        let info = SuiteInfo {
            name: part.suite.suite.name.clone(),
            path: file.path.display().to_string(),
            format: Some(part.suite.suite.format.number()),
            cases: self.preflight.cases - before,
            all_cases: Some(self.preflight.cases - before + excluded),
            derived_metrics: part.suite.suite.derived_metrics.clone(),
        };

        self.parts.push(part);
        Ok(info)
    }

    /// Whether there are no cases yet, but extensions may add tests.
    fn awaits_tests(&self) -> bool {
        self.preflight.items == 0 && self.parts.iter().any(|part| may_add_tests(part.suite.suite))
    }

    /// Suites whose extensions the run needs, each with the setup of its programs.
    fn extended_suites(&self) -> Vec<(Suite, Arc<ProgramSetup>)> {
        let awaits = self.awaits_tests();
        let needed = self.parts.iter().filter(|part| {
            let suite = part.suite.suite;
            self.preflight.extended.contains(&suite.path) || awaits && may_add_tests(suite)
        });
        needed.map(|part| (part.suite.suite.clone(), part.deps.targets.programs())).collect()
    }

    /// Keeps the findings for runs of parts of the plan.
    fn prepare(
        &mut self,
        loaded: &LoadedFiles,
        shards: u32,
        beside: &Path,
        suites: Vec<SuiteInfo>,
        problems: Option<String>,
    ) -> Result<PreparedPlan, EngineError> {
        let inputs = self.inputs(loaded);
        let files = hash_inputs(&inputs)?;
        let (hash, items, dealt) = if is_deal_known(self.mode) {
            let dealt = DealtPlan::new(shards, beside, || self.items_by_case())?;
            (dealt.hash().to_owned(), dealt.items(), Some(dealt))
        } else {
            let whole = ShardPlan::new(ShardNumber::WHOLE, ShardPart::default(), || self.items())?;
            (whole.hash().to_owned(), whole.items(), None)
        };
        let parts = self.parts.iter_mut().map(|part| PreparedFile {
            makers: std::mem::take(&mut part.makers),
            dependencies: Arc::clone(&part.dependencies),
        });
        let identity = PlanIdentity {
            hash: shard::hash_with_files(&hash, &files),
            files,
            label: suites_label(&suites),
            items,
            own_items: items,
            ..PlanIdentity::default()
        };

        Ok(PreparedPlan {
            stamps: stamps(&inputs),
            preflight: self.preflight.take_without_files(),
            unmatched: self.selection.unmatched_warning(),
            files: parts.collect(),
            suites,
            problems,
            dealt,
            identity,
            loaded: LoadedFiles::default(),
        })
    }

    /// The shard that the options name, if the plan was divided before.
    fn dealt_shard(
        &self,
        prepared: &PreparedPlan,
        options: &RunOptions,
    ) -> Result<Option<DealtShard>, EngineError> {
        let Some((dealt, shard)) = prepared.dealt.as_ref().zip(options.shard) else { return Ok(None) };
        let part = options.unit.as_ref().map(|unit| unit.part.clone()).unwrap_or_default();
        let plan = dealt.shard(shard, part, || self.items_of_shard(prepared, shard))?;

        Ok(Some(DealtShard { plan, inputs: prepared.identity.files.clone() }))
    }

    /// The items of a shard. Only its cases are read.
    fn items_of_shard<'i>(
        &'i self,
        prepared: &'i PreparedPlan,
        shard: ShardNumber,
    ) -> impl Iterator<Item = Result<WorkItem, ItemError>> + 'i {
        let dealt = prepared.dealt.as_ref().map(|dealt| dealt.cases_of(shard)).transpose();
        let (cases, failed) = match dealt {
            Ok(cases) => (cases.unwrap_or_default(), None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        let mut before = 0;
        let mut from = 0;
        let read = self.parts.iter().flat_map(move |part| {
            let first = before;
            before += part.file.cases.len();
            let end = from + cases[from..].partition_point(|case| case.index < before);
            let own = cases[from..end].to_vec();
            from = end;

            let picked = own.clone().into_iter().map(move |case| (case.index - first, case.place));
            part.file.cases.pick(picked).zip(own).flat_map(move |(case, DealtCase { first, .. })| {
                let items = match case {
                    Err(error) => vec![Err(error.into())],
                    Ok(case) => self.items_of(part, case),
                };
                let placed = items.into_iter().zip(first..);
                placed.map(|(item, place)| item.map(|item| WorkItem { place, ..item })).collect::<Vec<_>>()
            })
        });

        failed.into_iter().chain(read)
    }

    /// Identity of the plan.
    fn identity(
        &self,
        loaded: &LoadedFiles,
        options: &RunOptions,
        label: String,
    ) -> Result<PlanIdentity, EngineError> {
        let whole = || ShardPlan::new(ShardNumber::WHOLE, ShardPart::default(), || self.items());
        let plan = shard::plan(options, || self.items())?.map_or_else(whole, Ok)?;
        let files = hash_inputs(&self.inputs(loaded))?;
        let hash = shard::plan_hash(&plan, &files);

        Ok(PlanIdentity {
            hash,
            files,
            label,
            items: plan.items(),
            own_items: plan.own_items(),
            ..PlanIdentity::default()
        })
    }

    /// Refuses a run without cases, and workspaces in a mode that judges several forms of an answer.
    fn check(&self, loaded: &LoadedFiles) -> Result<(), EngineError> {
        if self.preflight.items == 0 {
            // A comparison makes its cases from answers, so there may be none even without a filter.
            if self.selection.is_everything() && self.mode.command() == "pairwise" {
                let message =
                    "no case has an answer of two systems; answers are matched by the id of their case";
                return Err(EngineError::usage(message.to_owned()));
            }
            let parts: Vec<_> = loaded.files.iter().map(|file| (file.suite.as_ref(), &file.cases)).collect();
            return Err(EngineError::usage(self.selection.no_match_message(&parts)));
        }

        let command = self.mode.command();
        if self.preflight.in_workspaces && command != EvalMode::default().command() {
            return Err(EngineError::unrunnable(format!(
                "`{command}` judges several versions suite each answer, but changes in a workspace belong to only one \
                 suite them; run `assize eval` once, and grade its answers"
            )));
        }

        Ok(())
    }

    /// The items of each selected case, in the order of the files.
    fn items_by_case(&self) -> impl Iterator<Item = PlacedItems> {
        self.parts.iter().flat_map(move |part| {
            let mut cases = part.file.cases.iter();

            std::iter::from_fn(move || {
                Some(match cases.next_placed()? {
                    Err(error) => (CasePlace::default(), vec![Err(error.into())]),
                    Ok((place, case)) if part.takes(&self.selection, &case) => {
                        (place, self.items_of(part, case))
                    }
                    Ok((place, _)) => (place, Vec::new()),
                })
            })
        })
    }

    /// The items, made on demand.
    fn items(&self) -> Items<'_> {
        let by_case = self.items_by_case().map(|(_, items)| items);
        let shuffled = self.mode.sequence().filter(|sequence| sequence.shuffle);
        let plain: Items<'_> = match shuffled.and_then(|sequence| sequence.seed) {
            None => Box::new(by_case.flatten()),
            Some(seed) => {
                let mut cases: Vec<_> = by_case.collect();
                if shuffled.is_some_and(|sequence| sequence.stop_against.is_some()) {
                    cases = order::join_clusters(cases);
                }
                Box::new(order::shuffle(cases, seed).into_iter().flatten())
            }
        };
        self.mode.items(plain, self.preflight.items)
    }

    fn items_of(&self, part: &RunPart<'_>, case: Arc<Case>) -> Vec<Result<WorkItem, ItemError>> {
        match self.mode.cases(part.suite.suite, case) {
            Err(error) => vec![Err(ItemError::Source(error.into()))],
            Ok(cases) => cases
                .iter()
                .flat_map(|case| self.planner.items(&part.suite, case, &part.deps, &part.dependencies))
                .collect(),
        }
    }

    /// The numbers of concurrent cases that suites and targets ask for.
    fn worker_wishes(&self) -> impl Iterator<Item = usize> {
        let of_suites = self.parts.iter().filter_map(|part| part.suite.suite.settings.workers);
        let targets = || self.preflight.targets.iter().map(String::as_str);
        let of_targets = self.parts.iter().filter_map(move |part| part.deps.targets.workers(targets()));

        of_suites.chain(of_targets)
    }

    /// Every file that the run depends on: eval files, their includes, datasets, attachments, targets.
    fn inputs(&self, loaded: &LoadedFiles) -> Vec<PathBuf> {
        let of_files = loaded.files.iter().flat_map(|file| {
            let read = file.sources.files().map(|(_, source)| source.path());
            read.chain(file.cases.datasets()).filter(|path| path.is_file())
        });
        let attachments = self.preflight.attachments.iter().map(PathBuf::as_path);
        let targets = self.parts.iter().filter_map(|part| part.deps.targets.path());

        let all: BTreeSet<&Path> = of_files.chain(attachments).chain(targets).collect();
        all.into_iter().map(Path::to_path_buf).collect()
    }
}

/// Whether extensions of a suite may add tests before the first one runs.
fn may_add_tests(suite: &Suite) -> bool {
    suite.extensions.as_ref().is_some_and(|extensions| extensions.may_add_tests())
}

/// The names without duplicates.
fn distinct(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();

    names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
}
