//! What the tools do: arguments in, the engine's work, data out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_engine::runs::{self, find_run};
use assize_engine::{
    CacheUse, CallStop, CaseSelector, DeniedFindings, Engine, EngineError, EvalMode, EvalOptions,
    EventObserver, GivenOutput, GradeSummary, GradedSamples, GradingSample, GradingStop, LabelOptions,
    OnUngraded, PreparedRubric, ProcessContext, ProgramUse, ReportMaterial, RewardKind, RubricSource,
    RunOptions, RunOutcome, SampleGrader, SamplePlace, SampleResult, SampleService, ScorecardOptions,
    ScoredCard, SequenceOptions, SpendingOptions, brief_result, concluded_info, find_cases, labelled_run,
    summary_json,
};
use assize_limits::AGENT_SAMPLES as MAX_SAMPLES;
use assize_llm::Budget;
use assize_report::{ListedRun, ScorecardNodeJson, explanation_json, run_list_json};
use assize_rubric::Usd;
use assize_store::{AnswerPart, RunFolder, RunInfo, RunSummary};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::arguments::{
    ExplainArguments, GradeArguments, ListArguments, PlanArguments, ResultDetail, ResultsArguments,
    RunArguments, SampleArgument, SampleArguments, SelectionArguments, ValidateArguments,
};
use crate::background::BackgroundRuns;
use crate::outcome::{CallNotes, ToolFailure};
use crate::results::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageCursor, PageRequest, read_page, row_json};
use crate::root::RootFolder;
use crate::session_budget::SessionBudget;

/// Longest wait for the end of a run, in seconds.
const MAX_WAIT: u32 = 600;
/// Maximum number of trials of a case.
const MAX_TRIALS: u32 = 100;
/// Parts of a run's summary that a client gets.
const SUMMARY_PARTS: [&str; 13] = [
    "counts", "not_run", "excluded", "mean_score", "tokens", "cost_usd", "cost_partial", "judge_calls",
    "judge_calls_cached", "criteria_ungraded", "exit_code", "exit_reason", "conclusion",
];

/// Parts of a row that mean nothing without a run: the client has the answers, and there is no suite.
const ROW_PARTS_WITHOUT_RUN: [&str; 10] =
    ["answer", "case_id", "case_hash", "cluster", "format", "place", "repeat", "suite", "tags", "target"];

/// State that all calls share.
pub(crate) struct ToolState {
    pub(crate) root: RootFolder,
    pub(crate) process: ProcessContext,
    pub(crate) storage: RunStorage,
    pub(crate) programs: ProgramUse,
    pub(crate) budget: SessionBudget,
    pub(crate) runs: BackgroundRuns,
    /// Fires when the server ends.
    pub(crate) stop: CancellationToken,
}

type ToolResult = Result<Value, ToolFailure>;

/// Samples of a call, and the rubric or scorecard to grade them by.
struct GradingRequest {
    by: GradingStandard,
    samples: Vec<GradingSample>,
}

/// Rubric or scorecard of a call.
enum GradingStandard {
    Rubric { source: RubricSource, vars: BTreeMap<String, Value> },
    Scorecard { path: PathBuf, weights: Option<String> },
}

impl GradingRequest {
    /// Folder in which to look for targets, since one of them may be the judge.
    fn folder<'a>(&'a self, root: &'a RootFolder) -> &'a Path {
        match &self.by {
            GradingStandard::Rubric { source: RubricSource::File(path), .. } => {
                path.parent().unwrap_or(Path::new(""))
            }
            GradingStandard::Rubric { source: RubricSource::Text(_), .. } => root.path(),
            GradingStandard::Scorecard { path, .. } => path,
        }
    }
}

impl ToolState {
    fn engine(&self, observer: impl EventObserver + 'static) -> Engine {
        Engine::new(self.process.clone(), observer)
    }

    pub(crate) fn validate(&self, arguments: &ValidateArguments, notes: &CallNotes) -> ToolResult {
        let report = self.engine(notes.clone()).validate(&self.paths(&arguments.paths)?, &[], None)?;
        for file in &report.files {
            self.check_inside(&file.path)?;
        }

        let mut value = report.to_json();
        let (errors, _) = report.tally();
        value["valid"] = (errors == 0).into();
        Ok(value)
    }

    pub(crate) async fn plan(&self, arguments: PlanArguments, notes: &CallNotes) -> ToolResult {
        let PlanArguments { paths, selection, samples, judges, budget_usd } = arguments;
        let engine = self.engine(notes.clone());
        let mut spending = SpendingOptions { cache: CacheUse::Off, ..SpendingOptions::default() };
        spending.budget.usd = budget_usd.map(dollars).transpose()?;
        let run = RunOptions { judges, spending, programs: self.programs, ..RunOptions::default() };

        let is_grading = samples.names_standard() || !samples.samples.is_empty();
        let planned = match (paths.is_empty(), is_grading) {
            (true, true) => {
                let grading = self.grading(samples)?;
                let grader =
                    SampleService::for_plans(&engine, run, grading.folder(&self.root))?.grader(None)?;
                let rubric = self.prepare(&engine, &grader, &grading.by)?;
                self.refuse_exposed_keys(&grader)?;
                grader.plan(&rubric, grading.samples)?
            }
            (false, false) => {
                let options = self.eval_options(&paths, &selection, run)?;
                let options = EvalOptions { dry_run: true, ..options };
                match self.evaluate(&engine, &selection, &options).await? {
                    RunOutcome::Planned(planned) => *planned,
                    RunOutcome::Finished(_) | RunOutcome::Exported(_) => {
                        return Err(ToolFailure::internal("the plan was run"));
                    }
                }
            }
            _ => {
                return Err(ToolFailure::usage(
                    "give either `paths`, to plan a run of eval files, or `rubric`, `rubric_file` or `scorecard_file` with \
                     `samples`, to plan grading",
                ));
            }
        };

        Ok(planned.to_json())
    }

    pub(crate) async fn grade(
        &self,
        arguments: GradeArguments,
        notes: &CallNotes,
        stop: &GradingStop,
    ) -> ToolResult {
        let GradeArguments { samples, judges, budget_usd, budget_calls } = arguments;
        let budget = dollars(budget_usd)?;
        let spending = self.spending(budget, budget_calls);
        let run = RunOptions { judges, spending, programs: self.programs, ..RunOptions::default() };

        let engine = self.engine(notes.clone());
        let grading = self.grading(samples)?;
        let grader = SampleService::new(&engine, run, grading.folder(&self.root))?.grader(None)?;
        let rubric = self.prepare(&engine, &grader, &grading.by)?;
        self.refuse_exposed_keys(&grader)?;

        let reservation = self.budget.reserve(budget)?;
        let graded = grader.grade_all(&rubric, grading.samples, stop).await;
        reservation.settle(graded.summary.cost_usd);
        if rubric.is_scorecard() {
            return Ok(scored_json(graded, &rubric));
        }
        graded_json(&graded, &rubric.warnings)
    }

    /// Reads a rubric or a scorecard and creates its judges.
    fn prepare(
        &self,
        engine: &Engine,
        grader: &SampleGrader,
        by: &GradingStandard,
    ) -> Result<PreparedRubric, ToolFailure> {
        match by {
            GradingStandard::Rubric { source, vars } => {
                Ok(grader.prepare(&engine.read_rubric_with(source, vars)?)?)
            }
            GradingStandard::Scorecard { path, weights } => {
                let input = engine.load_scorecard(path, &[])?;
                for file in &input.files {
                    self.check_inside(file)?;
                }
                Ok(grader.prepare_scorecard(Arc::new(input.scorecard), weights.as_deref())?)
            }
        }
    }

    pub(crate) async fn run_eval(self: &Arc<Self>, arguments: RunArguments, notes: &CallNotes) -> ToolResult {
        if self.storage == RunStorage::Refused {
            return Err(ToolFailure::not_allowed(
                "`run_eval` stores a run, and this server was started without `--write`. `plan` and `grade` store nothing; to \
                 run eval files, the user starts the server with `assize mcp --write`",
            ));
        }
        if arguments.wait_seconds > MAX_WAIT {
            return Err(ToolFailure::usage(format!("`wait_seconds` is {MAX_WAIT} at most")));
        }

        let budget = dollars(arguments.budget_usd)?;
        let spending = self.spending(budget, arguments.budget_calls);
        if let Some(name) = &arguments.resume {
            self.find_run(name)?;
        }
        let run = RunOptions {
            judges: arguments.judges,
            resume: arguments.resume,
            spending,
            ..RunOptions::default()
        };
        let options = self.eval_options(&arguments.paths, &arguments.selection, run)?;

        let (state, selection, handle) = (Arc::clone(self), arguments.selection, Handle::current());
        let started = self.runs.start(notes.clone(), move |observer| {
            let reservation = state.budget.reserve(budget)?;
            let engine = state.engine(observer);
            let outcome = handle.block_on(state.evaluate(&engine, &selection, &options));
            // If this fails, nothing has been spent yet.
            reservation.settle(match &outcome {
                Ok(RunOutcome::Finished(run)) => run.info.summary.as_ref().and_then(spent_by_call),
                Ok(RunOutcome::Planned(_) | RunOutcome::Exported(_)) | Err(_) => Some(Usd::default()),
            });

            match outcome? {
                RunOutcome::Finished(run) => Ok(summary_of(&run.info, &run.folder)),
                RunOutcome::Planned(_) | RunOutcome::Exported(_) => {
                    Err(ToolFailure::internal("the run was only planned"))
                }
            }
        });
        let mut started = started.await?;

        let wait = Duration::from_secs(arguments.wait_seconds.into());
        match tokio::time::timeout(wait, &mut started.ended).await {
            Ok(Ok(ended)) => Ok(json!({ "run_id": started.run_id, "status": "finished", "summary": ended? })),
            Ok(Err(_)) => Err(ToolFailure::internal("the run ended unexpectedly")),
            Err(_) => {
                let (cases, finished) = started.progress.counts();
                Ok(json!({
                    "run_id": started.run_id,
                    "status": "running",
                    "cases": cases,
                    "cases_finished": finished,
                    "next": "call `results` with this `run_id`; the run continues in the meantime",
                }))
            }
        }
    }

    pub(crate) fn list_runs(&self, arguments: &ListArguments) -> ToolResult {
        let limit = page_limit(arguments.limit)?;
        let holds = |run: &ListedRun| {
            arguments.suite.as_ref().is_none_or(|wanted| {
                run.info.as_ref().is_ok_and(|info| info.suites.iter().any(|suite| suite.name == *wanted))
            })
        };

        let mut listed: Vec<ListedRun> = runs::newest_first(&self.process)
            .enumerate()
            .map(|(back, folder)| {
                let info = concluded_info(&folder, &self.process).map_err(|error| error.to_string());
                ListedRun::new(runs::name_of(back), &folder, info)
            })
            .filter(holds)
            .take(limit + 1)
            .collect();
        let has_more = listed.len() > limit;
        listed.truncate(limit);

        let running: Vec<&str> = listed
            .iter()
            .filter(|run| self.runs.progress(&run.id).is_some())
            .map(|run| run.id.as_str())
            .collect();
        Ok(json!({ "runs": run_list_json(&listed), "running": running, "has_more": has_more }))
    }

    pub(crate) fn results(&self, arguments: &ResultsArguments) -> ToolResult {
        let limit = page_limit(arguments.limit)?;
        let cursor = arguments.cursor.as_deref().map(str::parse::<PageCursor>).transpose()?;
        let folder = self.find_run(&arguments.run)?;
        let labels = LabelOptions::default();
        let read = || ReportMaterial::read(folder.clone(), AnswerPart::default(), &labels, &self.process);
        let mut material = read()?;
        let progress = self.runs.progress(&material.info.run_id);
        if progress.is_none() && material.info.finished_at.is_none() {
            // The run may have ended while it was read.
            material = read()?;
        }

        let selector =
            CaseSelector { suite: arguments.suite.as_deref(), target: arguments.target.as_deref() };
        let request = PageRequest {
            selector,
            failures_only: arguments.failures_only,
            limit,
            cursor: cursor.unwrap_or_default(),
        };
        let page = read_page(&material, &request)?;
        let rows: Result<Vec<Value>, ToolFailure> =
            page.rows.iter().map(|row| row_json(row, arguments.detail)).collect();

        let info = &material.info;
        let status = match (&progress, &info.finished_at) {
            (Some(_), _) => "running",
            (None, Some(_)) => "finished",
            (None, None) => "stopped",
        };
        let mut value = json!({
            "run_id": info.run_id,
            "status": status,
            "summary": summary_of(info, &material.folder),
            "results": rows?,
            "next_cursor": page.next.map(|next| next.to_string()),
        });
        if let Some(progress) = progress {
            let (cases, finished) = progress.counts();
            value["cases"] = cases.into();
            value["cases_finished"] = finished.into();
        }
        if info.scorecard.is_some() {
            value["scorecard"] = self.scorecard_parts(&material.folder)?.into();
        }
        if let Some(warning) = material.warning {
            value["labels"] = warning.into();
        }

        Ok(value)
    }

    pub(crate) fn explain(&self, arguments: &ExplainArguments) -> ToolResult {
        let folder = self.find_run(&arguments.run)?;
        let info = concluded_info(&folder, &self.process)?;
        let is_card = info.scorecard.is_some();
        let labels = LabelOptions::default();
        let labelled = is_card.then(|| labelled_run(&folder, &labels, &self.process)).transpose()?;

        let selector =
            CaseSelector { suite: arguments.suite.as_deref(), target: arguments.target.as_deref() };
        let found = find_cases(&folder, &arguments.case, selector, labelled.as_ref())?;
        let cases: Vec<Value> =
            found.iter().map(|found| explanation_json(&found.record, found.question.as_ref())).collect();

        Ok(json!({ "run_result": brief_result(&info), "cases": cases }))
    }

    /// Loads eval files, checks that they are inside the root folder, and runs or plans them.
    async fn evaluate(
        &self,
        engine: &Engine,
        selection: &SelectionArguments,
        options: &EvalOptions,
    ) -> Result<RunOutcome, ToolFailure> {
        let loaded = engine.load(&options.paths, &options.roots)?;
        for path in loaded.files.iter().map(|file| &file.path).chain(&loaded.scorecards) {
            self.check_inside(path)?;
        }
        // The file's programs may run only now, after its location was checked.
        let loaded = if self.programs == ProgramUse::Allow {
            engine.load_for_run(&options.paths, options)?
        } else {
            loaded
        };

        if let ([], [scorecard]) = (&*loaded.files, &*loaded.scorecards) {
            return self.evaluate_scorecard(engine, scorecard, selection, options).await;
        }

        let sequence = SequenceOptions { trials: selection.trials, ..SequenceOptions::default() };
        Ok(engine.evaluate_loaded(&EvalMode { sequence }, &loaded, options).await?)
    }

    /// Runs or plans a scorecard.
    async fn evaluate_scorecard(
        &self,
        engine: &Engine,
        path: &Path,
        selection: &SelectionArguments,
        options: &EvalOptions,
    ) -> Result<RunOutcome, ToolFailure> {
        if selection.trials.is_some() || options.targets.len() > 1 {
            return Err(ToolFailure::usage("a scorecard is run once, against one target at most"));
        }

        let input = engine.load_scorecard(path, &options.roots)?;
        for file in &input.files {
            self.check_inside(file)?;
        }

        let options = ScorecardOptions {
            path: path.to_path_buf(),
            target: options.targets.first().cloned(),
            filter: options.filter.clone(),
            tags: options.tags.clone(),
            deny: options.deny,
            dry_run: options.dry_run,
            run: options.run.clone(),
            ..ScorecardOptions::default()
        };
        options.check()?;
        Ok(engine.run_scorecard(&input, &options).await?)
    }

    /// Parts of the scorecard of a run with their scores.
    fn scorecard_parts(&self, folder: &RunFolder) -> Result<Vec<Value>, ToolFailure> {
        let labelled = labelled_run(folder, &LabelOptions::default(), &self.process)?;
        let run = &labelled.run;
        let scored = ScoredCard::of_stored(run, &labelled.info.settings).map_err(EngineError::from)?;

        let mut parts = Vec::new();
        for (tree, scores) in scored.scores() {
            let contributions = scores.contributions();
            for id in tree.card.ids() {
                let part = ScorecardNodeJson::new(scored.info, tree, &scores, &contributions, id);
                parts.extend(part.map(|part| json!(part)));
            }
        }

        Ok(parts)
    }

    fn eval_options(
        &self,
        paths: &[String],
        selection: &SelectionArguments,
        run: RunOptions,
    ) -> Result<EvalOptions, ToolFailure> {
        if selection.trials.is_some_and(|trials| trials == 0 || trials > MAX_TRIALS) {
            return Err(ToolFailure::usage(format!("`trials` is 1 to {MAX_TRIALS}")));
        }

        Ok(EvalOptions {
            paths: self.paths(paths)?,
            targets: selection.targets.clone(),
            filter: selection.filter.clone(),
            tags: selection.tags.clone(),
            deny: denied(self.programs),
            run: RunOptions { programs: self.programs, ..run },
            ..EvalOptions::default()
        })
    }

    fn grading(&self, arguments: SampleArguments) -> Result<GradingRequest, ToolFailure> {
        let SampleArguments { rubric, rubric_file, scorecard_file, weights, vars, samples } = arguments;
        let has_vars = !vars.is_empty();
        let by_rubric = |source| GradingStandard::Rubric { source, vars };
        let by = match (rubric, rubric_file, scorecard_file) {
            (Some(Value::String(text)), None, None) => by_rubric(RubricSource::Text(text)),
            (Some(value), None, None) => by_rubric(RubricSource::Text(value.to_string())),
            (None, Some(path), None) => by_rubric(RubricSource::File(self.root.existing(&path)?)),
            (None, None, Some(path)) => {
                GradingStandard::Scorecard { path: self.root.existing(&path)?, weights: weights.clone() }
            }
            _ => return Err(ToolFailure::usage("give one of `rubric`, `rubric_file` and `scorecard_file`")),
        };
        if weights.is_some() && matches!(by, GradingStandard::Rubric { .. }) {
            return Err(ToolFailure::usage("`weights` names a weight set of a scorecard; a rubric has none"));
        }
        if has_vars && matches!(by, GradingStandard::Scorecard { .. }) {
            return Err(ToolFailure::usage(
                "`vars` are values for the criteria of a rubric, not of a scorecard",
            ));
        }
        if samples.is_empty() || samples.len() > MAX_SAMPLES {
            let given = samples.len();
            return Err(ToolFailure::usage(format!("give 1 to {MAX_SAMPLES} `samples`; there are {given}")));
        }

        let mut known = BTreeSet::new();
        let mut made = Vec::with_capacity(samples.len());
        for (index, SampleArgument { id, answer, question, reference, expected_outcome, tags }) in
            samples.into_iter().enumerate()
        {
            let id = id.unwrap_or_else(|| format!("sample-{}", index + 1));
            if id.trim().is_empty() {
                return Err(ToolFailure::usage(format!("the id of sample {} is empty", index + 1)));
            }
            if !known.insert(id.clone()) {
                return Err(ToolFailure::usage(format!(
                    "two samples have the id `{id}`; nothing was graded"
                )));
            }

            let mut sample = GradingSample::new(id, &GivenOutput::Text(answer))?;
            if let Some(question) = question {
                sample = sample.with_question(question);
            }
            sample.reference = reference;
            sample.expected_outcome = expected_outcome;
            sample.tags = tags;
            made.push(sample);
        }

        Ok(GradingRequest { by, samples: made })
    }

    /// Limits of a call that may spend money. Replies are cached if runs may be stored.
    fn spending(&self, usd: Usd, calls: Option<u64>) -> SpendingOptions {
        let cache = match self.storage {
            RunStorage::Allowed => CacheUse::On,
            RunStorage::Refused => CacheUse::Off,
        };
        let budget = Budget { usd: Some(usd), calls, tokens: None };

        SpendingOptions { cache, budget, ..SpendingOptions::default() }
    }

    fn paths(&self, written: &[String]) -> Result<Vec<PathBuf>, ToolFailure> {
        if written.is_empty() {
            return Err(ToolFailure::usage("`paths` is empty; name a file or a folder, such as `.`"));
        }

        written.iter().map(|path| self.root.existing(path)).collect()
    }

    /// Refuses a file that was found in a client's folder but is outside the root.
    fn check_inside(&self, path: &Path) -> Result<(), ToolFailure> {
        match path.canonicalize() {
            Ok(real) if self.root.holds(&real) => Ok(()),
            _ => Err(ToolFailure::usage(format!(
                "`{}` leads outside of the folder that this server may read",
                path.display()
            ))),
        }
    }

    /// Refuses keys and values of the environment that a grader would expose, unless files may run programs.
    fn refuse_exposed_keys(&self, grader: &SampleGrader) -> Result<(), ToolFailure> {
        if denied(self.programs).exposed_keys {
            grader.refuse_exposed_keys()?;
        }
        Ok(())
    }

    /// Finds a stored run by its id, or by a folder below the root.
    fn find_run(&self, name: &str) -> Result<RunFolder, ToolFailure> {
        let is_id = !name.contains(['/', '\\']) && name != ".." && name != ".";
        let folder =
            if is_id { find_run(name, &self.process)? } else { RunFolder::new(self.root.existing(name)?) };

        self.check_inside(folder.path())?;
        Ok(folder)
    }
}

/// Findings that no argument can allow. If files may run programs, exposed keys are allowed too, because a program
/// could send them anyway.
fn denied(programs: ProgramUse) -> DeniedFindings {
    DeniedFindings { exposed_keys: programs != ProgramUse::Allow, ..DeniedFindings::default() }
}

fn dollars(usd: f64) -> Result<Usd, ToolFailure> {
    Usd::from_dollars(usd)
        .ok_or_else(|| ToolFailure::usage("`budget_usd` is a number of US dollars, 0 or more"))
}

fn page_limit(limit: Option<usize>) -> Result<usize, ToolFailure> {
    match limit.unwrap_or(DEFAULT_PAGE_SIZE) {
        limit @ 1..=MAX_PAGE_SIZE => Ok(limit),
        _ => Err(ToolFailure::usage(format!("`limit` is 1 to {MAX_PAGE_SIZE}"))),
    }
}

/// Money spent by the call that ended a run, including cases that did not finish, and without earlier calls.
/// `None` if abandoned requests may have been charged.
fn spent_by_call(summary: &RunSummary) -> Option<Usd> {
    summary.sent.filter(|sent| sent.given_up == 0).and_then(|sent| sent.cost_usd)
}

/// The parts of a run's summary that a client gets; null without a summary.
fn summary_of(info: &RunInfo, folder: &RunFolder) -> Value {
    let Value::Object(mut whole) = summary_json(info, folder.path()) else { return Value::Null };
    let parts: Map<String, Value> = SUMMARY_PARTS
        .into_iter()
        .filter_map(|part| Some((part.to_owned(), whole.get_mut(part)?.take())))
        .collect();

    parts.into()
}

/// Results of a scorecard: of its top, and of each of its parts.
fn scored_json(graded: GradedSamples, rubric: &PreparedRubric) -> Value {
    let (reward, on_ungraded) = (RewardKind::Score, OnUngraded::Null);
    let mut summary = GradeSummary::default();
    let mut results = Vec::with_capacity(graded.records.len());
    for (index, record) in graded.records.into_iter().enumerate() {
        let place = SamplePlace { index, id: record.result.case_id.to_string(), group: None };
        let card = rubric.score_parts(&record);
        let result = SampleResult::new(place, record, reward, on_ungraded, &rubric.config_hash);
        let result = match card {
            Some(card) => result.with_scorecard(&card.parts(), reward, on_ungraded),
            None => result,
        };
        summary.add(&result, on_ungraded);
        results.push(result);
    }

    json!({
        "results": results,
        "summary": summary,
        "stopped": graded.stop.as_ref().map(CallStop::reason),
        "warnings": rubric.warnings,
    })
}

fn graded_json(graded: &GradedSamples, warnings: &[String]) -> ToolResult {
    let mut results: Vec<Value> = Vec::with_capacity(graded.records.len());
    for record in &graded.records {
        let Value::Object(row) = row_json(&record.result, ResultDetail::Full)? else { continue };
        let mut value = Map::from_iter([("id".to_owned(), Value::from(&*record.result.case_id))]);
        value.extend(row.into_iter().filter(|(part, _)| !ROW_PARTS_WITHOUT_RUN.contains(&part.as_str())));
        results.push(value.into());
    }

    let summary = &graded.summary;
    Ok(json!({
        "results": results,
        "summary": {
            "counts": summary.counts,
            "mean_score": summary.mean_score,
            "tokens": summary.tokens,
            "cost_usd": summary.cost_usd,
            "cost_partial": summary.cost_partial,
            "judge_calls": summary.judge_calls,
            "judge_calls_cached": summary.judge_calls_cached,
            "criteria_ungraded": summary.criteria_ungraded,
            "exit_code": summary.exit_code,
            "exit_reason": summary.exit_reason,
            "conclusion": summary.conclusion,
        },
        "stopped": graded.stop.as_ref().map(CallStop::reason),
        "warnings": warnings,
    }))
}

/// Whether runs and replies of models may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunStorage {
    /// The server writes nothing, so eval files can't be run.
    #[default]
    Refused,
    /// Runs and replies are stored in the root folder, as by the command line.
    Allowed,
}
