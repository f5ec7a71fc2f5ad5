//! Running a scorecard.
//!
//! Design: `docs/design/scorecards.md`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_analysis::{ExitStatus, LabelSet, RunEnding, ScorecardRun, exit_of_run, store_scorecard_options};
use assize_diagnostic::render;
use assize_model::{
    Case, EvalFileFormat, EvaluatorType, GivenOutput, Grader, GraderKind, Scorecard, ScorecardCases, Suite,
    ThresholdOverrides,
};
use assize_rubric::{JudgingMode, MissingPolicy, UnitInterval};
use assize_run::{ItemError, WorkItem, describe_scorecard};
use assize_scorecard::load_scorecard;
use assize_store::{RunFolder, RunSettings, ScorecardInfo, SuiteInfo, VerdictCounts};

use crate::capability::CapabilityList;
use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::labels::{LabelOptions, label_set};
use crate::load::CaseSelection;
use crate::mode::RunMode;
use crate::options::{DeniedFindings, RunOptions};
use crate::plan::RunPlanner;
use crate::preflight_report::PreflightReport;
use crate::run_deps::RunDeps;
use crate::run_outcome::{PlannedRun, RunOutcome};
use crate::session::RunSession;
use crate::wiring::{ModelAccess, RunWiring, WiringRequest, wire};

/// Options of a scorecard run.
#[derive(Debug, Clone, Default)]
pub struct ScorecardOptions {
    /// The scorecard: a folder, or a single file with everything in it.
    pub path: PathBuf,
    /// Index of the weight set to use, instead of the one that the scorecard's index names.
    pub weight_set: Option<usize>,
    /// Target that answers the cases.
    pub target: Option<String>,
    /// File that defines the targets.
    pub targets_file: Option<PathBuf>,
    /// Patterns of case ids; all cases if empty.
    pub filter: Vec<String>,
    /// Tags of cases; all cases if empty.
    pub tags: Vec<String>,
    /// Folders that files may be read from.
    pub roots: Vec<PathBuf>,
    /// Findings that are refused.
    pub deny: DeniedFindings,
    /// What to do with cases without a result.
    pub missing: MissingPolicy,
    /// Labels that count in addition to the scorecard's labels.
    pub labels: LabelOptions,
    /// The smallest share of the weight that results must cover, 0 to 1.
    pub min_coverage: Option<UnitInterval>,
    /// Plans the run and sends no requests.
    pub dry_run: bool,
    /// Judging, limits, record.
    pub run: RunOptions,
}

impl ScorecardOptions {
    /// Refuses options that have no effect on a scorecard, because its files define these settings.
    ///
    /// # Errors
    /// When there is such an option.
    pub fn check(&self) -> Result<(), EngineError> {
        refuse_idle_options(&self.run)
    }
}

/// A scorecard that was read, with its files.
#[derive(Debug)]
pub struct ScorecardInput {
    /// The scorecard.
    pub scorecard: Scorecard,
    /// Files it was read from.
    pub files: Vec<PathBuf>,
    /// Number of warnings about them.
    pub warnings: usize,
}

impl Engine {
    /// Reads a scorecard. Its problems are reported as [`EngineEvent::Diagnostics`](crate::EngineEvent::Diagnostics).
    ///
    /// # Errors
    /// When it has errors.
    pub fn load_scorecard(&self, path: &Path, roots: &[PathBuf]) -> Result<ScorecardInput, EngineError> {
        let loaded = load_scorecard(&self.process().resolve(path), &self.load_options(roots));
        self.report_diagnostics(&loaded.diagnostics, &loaded.sources);

        let (_, warnings) = render::count_by_severity(&loaded.diagnostics);
        let files = loaded.sources.files().map(|(_, source)| source.path().to_path_buf());
        let mut files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
        files.sort();
        files.dedup();

        match loaded.scorecard {
            Some(scorecard) => Ok(ScorecardInput { scorecard, files, warnings }),
            None => Err(EngineError::invalid_file("the scorecard has errors; nothing was run")),
        }
    }

    /// Requests of a scorecard that need consent.
    ///
    /// # Errors
    /// When its configuration or targets have problems.
    pub(crate) fn capabilities_of_scorecard(
        &self,
        scorecard: &Scorecard,
        options: &ScorecardOptions,
    ) -> Result<CapabilityList, EngineError> {
        let wiring = wire(
            self,
            &WiringRequest {
                access: ModelAccess::Plan(&options.run),
                files: std::slice::from_ref(&options.path),
                roots: &options.roots,
                targets_file: options.targets_file.as_deref(),
                consequence: "nothing was run",
                keep_workspaces: false,
            },
        )?;
        let suite = suite_of(scorecard, &options.path);
        let plan = CardPlan::new(scorecard, &suite, options, &wiring)?;
        Ok(plan.check().capabilities(&wiring.gateway))
    }

    /// Runs a scorecard.
    ///
    /// # Errors
    /// When options or files have errors, or the run can't be carried out as requested. No money was spent in that
    /// case.
    pub async fn run_scorecard(
        &self,
        loaded: &ScorecardInput,
        options: &ScorecardOptions,
    ) -> Result<RunOutcome, EngineError> {
        let scorecard = &loaded.scorecard;
        let path = self.process().resolve(&options.path);
        let access = if options.dry_run {
            ModelAccess::Plan(&options.run)
        } else {
            ModelAccess::Run(&options.run, options.run.spending.budget.usd)
        };
        let wiring = wire(
            self,
            &WiringRequest {
                access,
                files: std::slice::from_ref(&path),
                roots: &options.roots,
                targets_file: options.targets_file.as_deref(),
                consequence: "nothing was run",
                keep_workspaces: false,
            },
        )?;

        let suite = suite_of(scorecard, &path);
        let plan = CardPlan::new(scorecard, &suite, options, &wiring)?;

        if !plan.has_target() {
            refuse_missing_outputs(plan.selected())?;
        }

        let preflight = plan.check();
        let warnings = preflight.conclude(options.deny, &wiring.gate, &wiring.gateway, options.dry_run)?;

        preflight.check_batches(options.run.judge_batch.is_some())?;
        wiring.gateway.check()?;

        if preflight.items == 0 {
            return Err(no_items(scorecard, options));
        }

        if options.dry_run {
            let warnings = [warnings, wiring.gateway.exposed_keys()].concat();
            let limit = (&options.run.spending, options.run.spending.budget.usd);
            let shard = options.run.shard;
            let planned = PlannedRun::new(|| plan.items(), shard, &preflight, warnings, limit, &wiring)?;
            return Ok(RunOutcome::Planned(Box::new(planned)));
        }

        let mode = CardMode {
            info: describe_scorecard(scorecard, options.weight_set, |at| plan.takes(at)),
            labels: label_set(scorecard),
        };
        let plain = RunSession::new(mode.command(), &wiring, &options.run, std::iter::empty());
        let session = RunSession {
            label: scorecard.name.clone(),
            suites: vec![SuiteInfo {
                name: suite.name.clone(),
                // The run may be read from another working folder.
                path: self.process().working_folder.join(&options.path).display().to_string(),
                format: None,
                cases: preflight.cases,
                all_cases: Some(plan.applicable().count()),
                derived_metrics: Vec::new(),
            }],
            inputs: loaded
                .files
                .iter()
                .cloned()
                .chain(plan.deps.targets.path().map(Path::to_path_buf))
                .collect(),
            settings: run_settings(plain.settings, scorecard, options, self),
            warnings,
            scorecard: Some(mode.info.clone()),
            total: preflight.items,
            ..plain
        };

        Box::pin(session.carry_out(&mode, || plan.items(), &options.run, self)).await
    }
}

/// The error for a selection to which no benchmark applies.
fn no_items(scorecard: &Scorecard, options: &ScorecardOptions) -> EngineError {
    let is_whole = options.filter.is_empty() && options.tags.is_empty();
    let selected = if is_whole { "" } else { " that were selected" };
    let cases = scorecard.cases.len();

    EngineError::usage(format!("no benchmark applies to any of the {cases} cases{selected}"))
}

/// The settings of a scorecard run. Its files define settings that options define for other runs.
fn run_settings(
    plain: RunSettings,
    scorecard: &Scorecard,
    options: &ScorecardOptions,
    engine: &Engine,
) -> RunSettings {
    let labels = options.labels.settings(&engine.process().working_folder);
    let mut settings = RunSettings {
        threshold: None,
        borderline: None,
        judging: JudgingMode::PerCriterion.to_string(),
        filter: options.filter.clone(),
        tags: options.tags.clone(),
        other: plain.other.into_iter().chain(labels).collect(),
        ..plain
    };

    let weight_set = |set: Option<usize>| describe_scorecard(scorecard, set, |_| false).weight_set;
    let chosen = weight_set(options.weight_set).filter(|chosen| weight_set(None).as_ref() != Some(chosen));
    store_scorecard_options(&mut settings, options.missing, options.min_coverage, chosen.as_deref());
    settings
}

/// The plan of a scorecard run.
struct CardPlan<'a> {
    planner: RunPlanner<'a>,
    suite: &'a Suite,
    scorecard: &'a Scorecard,
    cases: ScorecardCases<&'a Scorecard>,
    selection: CaseSelection<'a>,
    deps: Arc<RunDeps>,
}

impl<'a> CardPlan<'a> {
    fn new(
        scorecard: &'a Scorecard,
        suite: &'a Suite,
        options: &'a ScorecardOptions,
        wiring: &'a RunWiring<'_>,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            planner: RunPlanner {
                target_names: options.target.as_slice(),
                thresholds: ThresholdOverrides::default(),
                judging: None,
                truncate: None,
                ..RunPlanner::new(&wiring.config, &options.run)?
            },
            suite,
            scorecard,
            cases: ScorecardCases::new(scorecard),
            selection: CaseSelection::new(&options.filter, &options.tags, &[])?,
            deps: wiring.deps_for(&suite.path)?,
        })
    }

    /// Whether the case at this index is selected.
    fn takes(&self, at: usize) -> bool {
        let case = &self.scorecard.cases[at];

        self.selection.takes_tagged(&case.id, &case.tags)
    }

    /// The selected cases, without those that no benchmark applies to.
    fn selected(&self) -> impl Iterator<Item = Arc<Case>> {
        self.applicable()
            .filter(|(at, _)| self.takes(*at))
            .map(|(_, case)| self.with_manual_output(case))
            .map(Arc::new)
    }

    /// All cases with their indices, without those that no benchmark applies to.
    fn applicable(&self) -> impl Iterator<Item = (usize, Case)> {
        (0..self.scorecard.cases.len())
            .filter_map(|at| Some((at, self.cases.build_case(at)?)))
            .filter(|(_, case): &(usize, Case)| !case.graders.is_empty())
    }

    /// Whether there is a target for cases without an output.
    fn has_target(&self) -> bool {
        !self.planner.target_names.is_empty() || self.deps.targets.default_name().is_some()
    }

    /// The case, with an empty output if it has none, no target can make one, and only people judge it.
    fn with_manual_output(&self, case: Case) -> Case {
        let is_manual = |grader: &Arc<Grader>| matches!(&grader.kind, GraderKind::Benchmark(found) if found.evaluator == EvaluatorType::ManualSme);
        let is_answered = self.has_target() && !case.input.is_empty();
        if case.output.is_some() || is_answered || !case.graders.iter().all(is_manual) {
            return case;
        }

        Case { output: Some(GivenOutput::Text(String::new())), ..case }
    }

    /// Checks every selected case.
    fn check(&self) -> PreflightReport {
        let planned = self.planner.suite(self.suite);
        let mut preflight = PreflightReport::default();
        for case in self.selected() {
            self.planner.check(&planned, &case, &self.deps, &mut preflight);
        }

        preflight
    }

    fn items(&self) -> impl Iterator<Item = Result<WorkItem, ItemError>> {
        let planned = self.planner.suite(self.suite);

        self.selected().flat_map(move |case| {
            let items = self.planner.items(&planned, &case, &self.deps, &CaseDependencies::default());
            items.into_iter().map(|item| item.map(|item| WorkItem { format: None, ..item }))
        })
    }
}

/// Refuses options that have no effect, because benchmarks have their own values.
fn refuse_idle_options(options: &RunOptions) -> Result<(), EngineError> {
    let idle = [
        ("--judging", options.judging.is_some(), "each benchmark is judged on its own"),
        ("--threshold", options.threshold.is_some(), "thresholds are set in the files of the scorecard"),
        ("--borderline", options.borderline.is_some(), "scorecards have no borderline threshold"),
        ("--truncate", options.truncate.is_some(), "the material of a benchmark is never truncated"),
    ];
    match idle.iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => {
            Err(EngineError::usage(format!("`{option}` has no effect on a scorecard: {why}")))
        }
        None => Ok(()),
    }
}

/// Requires an output in every case that a judge decides, if there is no target.
fn refuse_missing_outputs(cases: impl Iterator<Item = Arc<Case>>) -> Result<(), EngineError> {
    let lacking: Vec<Arc<Case>> = cases.filter(|case| case.output.is_none()).collect();
    let Some(first) = lacking.first() else { return Ok(()) };
    let more = match lacking.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Err(EngineError::usage(format!(
        "{}: case `{}` has no `candidate_output`{more}; nothing was run. Add it, or name who produces it with \
         `--target NAME`",
        first.place, first.id
    )))
}

/// The scorecard as the suite that its cases belong to.
pub(crate) fn suite_of(scorecard: &Scorecard, path: &Path) -> Suite {
    Suite::new(EvalFileFormat::Two, scorecard.name.clone(), path)
}

/// The mode of a run that is concluded from the tree of a scorecard, not from the verdicts of its cases.
struct CardMode {
    info: ScorecardInfo,
    labels: LabelSet,
}

impl RunMode for CardMode {
    fn command(&self) -> &'static str {
        "scorecard run"
    }

    fn shard_exit(&self, _: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        // Verdicts of cases don't determine the result of the tree, and people may still have to decide.
        match exit_of_run(VerdictCounts::default(), ending) {
            (ExitStatus::Passed, _) => (
                ExitStatus::Passed,
                "all cases were run; the scorecard is scored when shards are merged".to_owned(),
            ),
            other => other,
        }
    }

    fn scorecard_run(&self, folder: &RunFolder) -> Result<Option<ScorecardRun>, EngineError> {
        ScorecardRun::with_labels(folder, Some(self.info.clone()), Some(&self.labels))
            .map(Some)
            .map_err(|error| EngineError::unreadable(error.to_string()))
    }
}
