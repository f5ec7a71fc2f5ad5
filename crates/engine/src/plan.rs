//! Planning: turns cases into work items, and finds every problem that can be found without sending requests.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use assize_evalfile::reading::MAX_TRIALS;
use assize_grade::{Judge, ProgramSetup};
use assize_model::{
    Case, FilePosition, FilePreprocessor, GivenOutput, Grader, GraderKind, HookEvent, NamedProgram,
    PanelSpec, ProjectConfig, ScoringMethod, Suite, TargetRef, ThresholdOverrides,
};
use assize_rubric::{
    CaseMessage, JudgingMode, ThresholdOrderError, TrialPlan, TrialStrategy, TruncationMode,
    VerdictThresholds,
};
use assize_run::{
    CaseHooks, ItemError, ItemRelations, ItemSource, JudgeProvider, JudgeSelector, PanelSettings,
    ThresholdSources, WorkItem, panel_selectors, resolve_thresholds,
};
use assize_stats::{ConfidenceLevel, repeats::ones_for_lower_bound};
use assize_store::CaseErrorKind;
use assize_targets::{Target, TargetAnswer, TargetError, TargetKind, given_answer, turn_answers};
use serde_json::Value;

use crate::dependencies::CaseDependencies;
use crate::error::EngineError;
use crate::extensions::ExtensionUse;
use crate::graders::{
    JudgeDemand, baseline_problem, describe_code, grader_problem, grader_program, judge_demand,
    judge_problem, own_judging, visit_graders, workspace_problem,
};
use crate::judges::{ChosenBy, OFFLINE};
use crate::options::{RunOptions, SequenceOptions};
use crate::preflight_report::PreflightReport;
use crate::run_deps::RunDeps;
use crate::workspaces::{WorkspacePool, spec_of, works_in_folders};

/// Makes work items.
pub(crate) struct RunPlanner<'a> {
    /// Workspaces of targets; `None` if no target runs.
    pub(crate) workspaces: Option<&'a WorkspacePool>,
    /// Targets that override the targets in files.
    pub(crate) target_names: &'a [String],
    /// Thresholds that override the thresholds in files.
    pub(crate) thresholds: ThresholdOverrides,
    pub(crate) config: &'a ProjectConfig,
    /// Judging mode that overrides the mode in files.
    pub(crate) judging: Option<JudgingMode>,
    /// The panel of the options.
    pub(crate) panel: PanelSpec,
    /// Truncation mode that overrides the mode in files.
    pub(crate) truncate: Option<TruncationMode>,
    /// Number and order of executions. Without it, each case runs once.
    pub(crate) sequence: Option<&'a SequenceOptions>,
    /// Treatment of suites with extensions.
    pub(crate) extensions: ExtensionUse<'a>,
}

/// A suite with the settings that its items share.
pub(crate) struct PlannedSuite<'a> {
    pub(crate) suite: &'a Suite,
    name: Arc<str>,
    folder: Arc<Path>,
    judge: Option<Arc<str>>,
    panels: Arc<PanelSettings>,
    /// Setup of programs that hides the variables in its texts.
    programs: OnceLock<Arc<ProgramSetup>>,
}

impl PlannedSuite<'_> {
    /// Setup of programs. It also redacts secrets from their output.
    fn programs(&self, deps: &RunDeps) -> Arc<ProgramSetup> {
        if self.suite.variables.is_empty() {
            return deps.targets.programs();
        }
        Arc::clone(self.programs.get_or_init(|| deps.targets.programs_hiding(&self.suite.variables)))
    }
}

impl<'a> RunPlanner<'a> {
    /// A planner for given answers, with these options.
    pub(crate) fn new(config: &'a ProjectConfig, options: &RunOptions) -> Result<Self, EngineError> {
        if options.shard.is_some() && options.min_pass_rate.is_some() {
            return Err(EngineError::usage(
                "`--min-pass-rate` needs the cases of all shards: merge the runs, then use it with `assize score`",
            ));
        }

        Ok(Self {
            workspaces: None,
            target_names: &[],
            thresholds: options.thresholds(),
            config,
            judging: options.judging,
            panel: options.panel_spec()?,
            truncate: options.truncate,
            sequence: None,
            extensions: ExtensionUse::default(),
        })
    }

    /// Suite with the settings that its items share.
    pub(crate) fn suite<'s>(&self, suite: &'s Suite) -> PlannedSuite<'s> {
        PlannedSuite {
            suite,
            name: suite.name.as_str().into(),
            folder: suite.path.parent().unwrap_or(Path::new("")).into(),
            judge: suite.settings.judge.as_deref().map(Into::into),
            panels: Arc::new(self.panels(suite)),
            programs: OnceLock::new(),
        }
    }

    /// Checks a case without running it.
    pub(crate) fn check(
        &self,
        planned: &PlannedSuite<'_>,
        case: &Arc<Case>,
        deps: &RunDeps,
        found: &mut PreflightReport,
    ) {
        let suite = planned.suite;
        found.cases += 1;
        found.note_variables(suite);
        found.attachments.extend(case.attachments().map(Path::to_path_buf));

        let trials = match self.thresholds_of(suite, case) {
            Ok(thresholds) => self.trials_of(suite, case, thresholds).count as usize,
            Err(error) => {
                found.problem(&case.place, error);
                1
            }
        };

        if let Some(problem) = self.trials_problem(suite, case).or_else(|| self.history_problem(suite, case))
        {
            found.problem(&case.place, problem);
        }
        found.takes_over |= case.history.is_some();
        if self.sequence.is_none()
            && (case.trials.or(suite.settings.trials)).is_some_and(|trials| trials.count > 1)
        {
            found.remarks.insert(format!(
                "{}: `trials` has no effect here: each case is run once",
                suite.path.display()
            ));
        }

        check_graders(case, deps, found);

        if let Some(output) = &case.output {
            found.items += trials;

            match given(output) {
                Err(error) => found.problem(&case.place, error),
                Ok(answer) => {
                    if let Some(message) = turns_problem(case, &answer) {
                        found.problem(&case.place, message);
                    }
                }
            }

            found.remark_idle_extensions(suite);
            for unbuilt in suite.unbuilt.iter().chain(&case.unbuilt) {
                found
                    .remark(format!("{}: {} has no effect on given answers", unbuilt.place, unbuilt.feature));
            }

            check_programs_without_workspace(case, found);
            self.check_judges(planned, case, None, deps, found);
            return;
        }

        for unbuilt in suite.unbuilt.iter().chain(&case.unbuilt) {
            found.problem(&unbuilt.place, format!("{} is not supported yet", unbuilt.feature));
        }

        found.note_extensions(suite, self.extensions);
        if spec_of(suite, case).is_none() {
            check_programs_without_workspace(case, found);
        }
        let targets = self.targets_of(suite, case, deps);
        if targets.is_empty() {
            let help = if suite.has_providers {
                "add `providers: [NAME]` to the file, or `--target NAME`"
            } else {
                "add `output`, or `--target NAME`, or `execution: {target: NAME}`"
            };
            found.problem(
                &case.place,
                format!("case `{}` has no `output`, and no target is named: {help}", case.id),
            );
        }

        for (reference, place) in targets {
            found.items += trials;
            match deps.targets.referred(&reference) {
                Ok(target) => {
                    found.note_target(&reference.name, target.describe().kind);
                    found.programs.extend(deps.targets.programs_of(&reference));
                    found.variables.extend(deps.targets.texts_of(&reference));
                    check_workspace(suite, case, &reference, target.describe().kind, found);
                    found.remarks.extend(deps.targets.remarks(&reference));

                    let is_in_order = case.conversation.is_some() || case.history.is_some();
                    if is_in_order && deps.targets.answers_all_at_once(&reference) {
                        found.problem(
                            &case.place,
                            format!(
                                "case `{}` is a conversation, and target `{}` answers all cases in one run \
                                 (`provider_batching`); name another target for it",
                                case.id, reference.name
                            ),
                        );
                    }

                    self.check_judges(planned, case, Some(&target), deps, found);
                }
                Err(error) => found.problem(&place, error),
            }
        }
    }

    /// The work items of a case. [`RunPlanner::check`] has already found its problems. A problem that appears
    /// only now becomes a recorded failure of the case.
    pub(crate) fn items(
        &self,
        planned: &PlannedSuite<'_>,
        case: &Arc<Case>,
        deps: &RunDeps,
        dependencies: &CaseDependencies,
    ) -> Vec<Result<WorkItem, ItemError>> {
        let suite = planned.suite;
        let thresholds = match self.thresholds_of(suite, case) {
            Ok(thresholds) => thresholds,
            Err(error) => return vec![Err(error.into())],
        };
        let sources = match &case.output {
            Some(output) => vec![match given(output) {
                Ok(answer) => {
                    let file_changes = case.file_changes.clone();
                    (ItemSource::Given(Arc::new(TargetAnswer { file_changes, ..answer })), None)
                }
                Err(error) => {
                    let message = error.to_string();
                    (ItemSource::Missing { kind: CaseErrorKind::BadOutput, message, target: None }, None)
                }
            }],
            None => self
                .targets_of(suite, case, deps)
                .into_iter()
                .map(|(reference, _)| match deps.targets.referred(&reference) {
                    Ok(target) => {
                        let kind = target.describe().kind;
                        let place = self
                            .workspaces
                            .and_then(|places| places.workspace_for(suite, case, &reference, kind));
                        (ItemSource::Target(target), place)
                    }
                    Err(error) => {
                        let (kind, message) = (CaseErrorKind::NoTarget, error.message);
                        (ItemSource::Missing { kind, message, target: None }, None)
                    }
                })
                .collect(),
        };

        let trials = self.trials_of(suite, case, thresholds);
        let hooks = match self.extensions {
            ExtensionUse::Run(pool) => pool.hooks_for(suite).filter(|_| case.output.is_none()),
            ExtensionUse::Refused | ExtensionUse::Planned => None,
        };
        let several = sources.into_iter().flat_map(|(source, workplace)| {
            let relations = Arc::new(ItemRelations {
                trials,
                after: match self.sequence {
                    Some(_) => dependencies.before(case, source.name_of_target()),
                    None => Vec::new(),
                },
                on_failure: case.on_dependency_failure,
                earlier: dependencies.earlier_answers(case, source.name_of_target()),
                is_awaited: dependencies.is_awaited(case),
                rivals: dependencies.rivals_of(case),
                stops_at_errors: suite.settings.fail_on_error.unwrap_or_default(),
            });
            (1..=trials.count)
                .map(move |trial| (source.clone(), workplace.clone(), trial, Arc::clone(&relations)))
        });
        several
            .map(|(source, workplace, trial, relations)| {
                Ok(WorkItem {
                    suite: Arc::clone(&planned.name),
                    format: Some(suite.format.number()),
                    suite_folder: Arc::clone(&planned.folder),
                    case: deps.baselines.fill_answers(&suite.name, case, trial),
                    source,
                    trial,
                    place: 0,
                    relations,
                    thresholds,
                    judges: Arc::clone(&deps.judges) as Arc<dyn JudgeProvider>,
                    judge: planned.judge.clone(),
                    judging_override: self.judging,
                    panels: Arc::clone(&planned.panels),
                    judging: suite.settings.judging.or(self.config.judging).unwrap_or_default(),
                    evidence: suite.settings.evidence.or(self.config.evidence).unwrap_or_default(),
                    truncate_override: self.truncate,
                    truncate: suite.settings.truncate.or(self.config.truncate).unwrap_or_default(),
                    programs: planned.programs(deps),
                    workplace,
                    hooks: hooks.clone().map(|hooks| hooks as Arc<dyn CaseHooks>),
                })
            })
            .collect()
    }

    /// The trials of a case: by the options, or else the case, or else the suite.
    fn trials_of(&self, suite: &Suite, case: &Case, thresholds: VerdictThresholds) -> TrialPlan {
        let Some(command) = self.sequence else { return TrialPlan::single(thresholds) };
        let written = case.trials.or(suite.settings.trials);
        let count = command.trials.or(written.map(|trials| trials.count)).unwrap_or(1);
        if count < 2 {
            return TrialPlan::single(thresholds);
        }

        // A flag that only sets the number of trials must not make the run easier to pass.
        let strategy =
            command.trial_strategy.or(written.map(|trials| trials.strategy)).unwrap_or(TrialStrategy::Mean);
        TrialPlan {
            count,
            strategy,
            early_stop: strategy == TrialStrategy::PassAtK && written.is_some_and(|trials| trials.early_stop),
            cost_limit_usd: written.and_then(|trials| trials.cost_limit),
            thresholds,
        }
    }

    /// Describes why no result of the trials of a case could pass, if that is so.
    pub(crate) fn trials_problem(&self, suite: &Suite, case: &Case) -> Option<String> {
        let thresholds = self.thresholds_of(suite, case).ok()?;
        let plan = self.trials_of(suite, case, thresholds);
        if plan.strategy != TrialStrategy::ConfidenceInterval {
            return None;
        }

        let threshold = thresholds.pass().get();
        let needed = ones_for_lower_bound(threshold, ConfidenceLevel::P95, MAX_TRIALS as usize);
        let advice = match needed {
            Some(needed) if needed <= plan.count as usize => return None,
            Some(needed) => format!("{needed} trials are needed for that"),
            None => "no number of trials is enough for that".to_owned(),
        };
        Some(format!(
            "{} trials can't pass: even if all have the score 1, the lower end of the 95% CI of their mean is below the threshold of {threshold}; \
             {advice}, or the strategy `mean`, or a lower threshold",
            plan.count
        ))
    }

    /// Why a case can't take over answers to others, or hand on its own, in this run.
    fn history_problem(&self, suite: &Suite, case: &Case) -> Option<String> {
        case.history.as_ref()?;
        if self.sequence.is_none() {
            return Some(format!(
                "case `{}` takes over answers to others, and only `assize eval` runs such cases in order",
                case.id
            ));
        }
        let trials = case.trials.or(suite.settings.trials)?;
        (trials.early_stop || trials.cost_limit.is_some()).then(|| {
            format!(
                "case `{}` takes over answers to others, so each of its trials needs the same trial of those: remove `early_stop` \
                 and `cost_limit_usd`",
                case.id
            )
        })
    }

    /// The names of the targets that answer a case; `None` for a given answer.
    pub(crate) fn names_of(&self, suite: &Suite, case: &Arc<Case>, deps: &RunDeps) -> Vec<Option<String>> {
        if case.output.is_some() {
            return vec![None];
        }
        let targets = self.targets_of(suite, case, deps);
        targets.into_iter().map(|(reference, _)| Some(reference.name)).collect()
    }

    fn thresholds_of(&self, suite: &Suite, case: &Case) -> Result<VerdictThresholds, ThresholdOrderError> {
        let choice = ThresholdSources {
            command: self.thresholds,
            case: case.thresholds,
            suite: suite.settings.thresholds,
            config: self.config.thresholds,
        };
        resolve_thresholds(choice, Some(suite.format))
    }

    /// The targets of a case: from the command line, or else from the case, or else from the suite, or else the default
    /// of the targets file.
    fn targets_of(&self, suite: &Suite, case: &Case, deps: &RunDeps) -> Vec<(TargetRef, FilePosition)> {
        let by_name = |name: &str| {
            let place = case.place.clone();
            let reference =
                TargetRef { name: name.to_owned(), use_target: None, hooks: None, place: place.clone() };
            (reference, place)
        };
        if !self.target_names.is_empty() {
            return self.target_names.iter().map(|name| by_name(name)).collect();
        }

        let named = if case.targets.is_empty() { &suite.settings.targets } else { &case.targets };
        if !named.is_empty() {
            return named.iter().map(|reference| (reference.clone(), reference.place.clone())).collect();
        }

        deps.targets.default_name().map(by_name).into_iter().collect()
    }

    /// The panels that apply to graders of a suite that have none.
    fn panels(&self, suite: &Suite) -> PanelSettings {
        let mut config = self.config.panel.clone();

        // A judge that the suite names replaces the panel of the configuration.
        if suite.settings.judge.is_some() {
            config = config.without_judges();
        }

        PanelSettings::new(self.panel.clone(), suite.settings.panel.clone().or(&config))
    }

    /// The judging mode of a grader: by the options, or else the grader, the suite, the configuration.
    fn judging_of(&self, suite: &Suite, grader: &Grader) -> JudgingMode {
        let judging = self.judging.or(own_judging(grader)).or(suite.settings.judging);
        judging.or(self.config.judging).unwrap_or_default()
    }

    /// The truncation mode of a grader, chosen in the same way.
    fn truncation_of(&self, suite: &Suite, grader: &Grader) -> TruncationMode {
        let own = if let GraderKind::Rubric(rubric) = &grader.kind { rubric.truncate } else { None };
        let truncate = self.truncate.or(own).or(suite.settings.truncate);
        truncate.or(self.config.truncate).unwrap_or_default()
    }

    /// Makes the judges of a case, and notes a model that would judge itself.
    fn check_judges(
        &self,
        planned: &PlannedSuite<'_>,
        case: &Case,
        target: Option<&Arc<dyn Target>>,
        deps: &RunDeps,
        found: &mut PreflightReport,
    ) {
        let mut check = JudgeCheck { planner: self, planned, target, deps, found };

        for turn in case.turns() {
            let turn_case = case.turn_case(turn, &[]);
            for grader in &turn.graders {
                visit_graders(grader, &mut |grader| check.add_grader(grader, &turn_case));
            }
        }

        for grader in &case.graders {
            visit_graders(grader, &mut |grader| check.add_grader(grader, case));
        }
    }
}

/// Checks the judges of a case whose answers come from one target.
struct JudgeCheck<'c> {
    planner: &'c RunPlanner<'c>,
    planned: &'c PlannedSuite<'c>,
    /// The target; `None` for a given answer.
    target: Option<&'c Arc<dyn Target>>,
    deps: &'c RunDeps,
    found: &'c mut PreflightReport,
}

impl JudgeCheck<'_> {
    /// Makes the judges of a grader, for every target that may answer.
    fn add_grader(&mut self, grader: &Grader, case: &Case) {
        self.add_judges(grader, case, None);

        // A fallback that answers may have its own judge, and may itself be the judge.
        for fallback in self.target.map(|target| target.fallbacks()).unwrap_or_default() {
            self.add_judges(grader, case, Some(fallback));
        }
    }

    /// Makes the judges of a grader for answers of the target, or of its fallback.
    fn add_judges(&mut self, grader: &Grader, case: &Case, fallback: Option<&Arc<dyn Target>>) {
        let (suite, judges) = (self.planned.suite, &self.deps.judges);
        self.found.check_measuring_model(grader, self.deps);
        let Some(JudgeDemand { named, panel }) = judge_demand(grader) else { return };
        let selector = JudgeSelector {
            grader: named,
            target: self.target.map(|target| target.defined_name()),
            answered_by: fallback.map(|fallback| fallback.name()),
            suite: suite.settings.judge.as_deref(),
            exactly: None,
        };
        let spec = panel.map(|own| self.planned.panels.spec(own, named)).unwrap_or_default();
        let wishes = panel_selectors(&spec, selector);
        if let Some(message) = spec.conflict().or_else(|| judges.duplicate_judges(&wishes)) {
            self.found.problem(&grader.place, format!("grader `{}`: {message}", grader.name));
        }

        let probabilities =
            spec.scoring == Some(ScoringMethod::Logprobs) && matches!(grader.kind, GraderKind::Rubric(_));
        if probabilities && self.planner.judging_of(suite, grader) != JudgingMode::PerCriterion {
            self.found.problem(
                &grader.place,
                format!(
                    "grader `{}`: `scoring: logprobs` needs one call per criterion; remove `judging: batched`",
                    grader.name
                ),
            );
        }

        let answering = fallback.or(self.target);
        for selector in wishes {
            if judges.choose(selector).1 == ChosenBy::Default {
                self.found.note_default_judge(answering);
            }
            match judges.judge(selector) {
                Err(error) => {
                    let place = judges.place_of(selector, suite).unwrap_or(&grader.place);
                    self.found.refuse_judge(judges.chosen_outside_files(selector), place, error);
                }
                Ok(judge) => self.check_judge(grader, case, &*judge, probabilities),
            }

            let answers = answering.and_then(|answering| answering.describe().model);
            self.found.add_self_judging(answers, judges.model_of(selector));
        }
    }

    /// Checks that a judge can judge for a grader.
    fn check_judge(&mut self, grader: &Grader, case: &Case, judge: &dyn Judge, probabilities: bool) {
        let name = judge.identity().name;
        self.found.remarks.extend(self.deps.targets.idle_judge_settings(&name));
        if let Some(message) = judge_problem(grader, case, &name) {
            self.found.problem(&grader.place, message);
        }

        let truncate = self.planner.truncation_of(self.planned.suite, grader);
        let reads = self.deps.judges.card(&name).map(|card| card.context_tokens);
        if truncate != TruncationMode::Never && reads == Some(None) && *name != *OFFLINE {
            self.found.remarks.insert(format!(
                "the context window of `{name}` is unknown, so `truncate: {}` has no effect; set it with `--context-tokens N`",
                truncate.name()
            ));
        }

        if let Some(why) = judge.refuses_probabilities().filter(|_| probabilities) {
            let message = format!("judge `{name}` can't be used with `scoring: logprobs`: {why}");
            self.found.problem(&grader.place, message);
        }
    }
}

/// Checks the graders of a case, whichever judge they have.
fn check_graders(case: &Case, deps: &RunDeps, found: &mut PreflightReport) {
    for code in case.transforms.iter().filter_map(|transform| transform.code.program()) {
        found.note_program(&case.place, format!("`transform` ({})", describe_code(code)));
    }
    found.programs.extend(case.unrun_code.iter().cloned());
    for preprocessor in case.preprocessors.iter() {
        let FilePreprocessor { media_type, command, place } = preprocessor;
        found.note_program(place, format!("preprocessor of `{media_type}`: `{}`", command.shown()));
    }
    for grader in case.all_graders() {
        visit_graders(grader, &mut |grader| {
            if let Some(program) = grader_program(grader) {
                found.note_program(&grader.place, program);
            }
            check_container(case, grader, deps, found);
            if let Some(message) = grader_problem(grader)
                .or_else(|| deps.baselines.check_baseline(grader))
                .or_else(|| baseline_problem(grader, case))
            {
                found.problem(&grader.place, message);
            }
        });
    }
}

/// Checks the container in which a program will run.
fn check_container(case: &Case, grader: &Grader, deps: &RunDeps, found: &mut PreflightReport) {
    let (Some(container), GraderKind::Code(code)) = (&case.container, &grader.kind) else { return };
    if !deps.targets.has_program("docker") {
        found.problem(
            &container.place,
            "a container (`docker` trials the workspace) needs the program `docker`, which is not in PATH; install it, or remove \
             `docker` to run the graders on this machine",
        );
    }
    if code.max_calls.is_some() {
        found.problem(
            &grader.place,
            format!("grader `{}`: a program in a container can't ask a model; remove `target`", grader.name),
        );
    }
}

/// Why a given answer can't be graded turn by turn.
fn turns_problem(case: &Case, answer: &TargetAnswer) -> Option<String> {
    let wanted = case.conversation.as_ref()?.turns.len();
    let answered = turn_answers(answer, wanted).len();
    (answered != wanted).then(|| {
        format!(
            "case `{}` has {wanted} turns, but its `output` has {answered}: write it as alternating messages with `role: user` and `role: assistant`",
            case.id
        )
    })
}

/// Checks that the workspace of a case and the hooks of its target can have an effect.
fn check_workspace(
    suite: &Suite,
    case: &Case,
    target: &TargetRef,
    kind: TargetKind,
    found: &mut PreflightReport,
) {
    let spec = spec_of(suite, case);
    let described = spec.is_some();
    if target.hooks.is_some() && !described {
        let (place, name) = (&target.place, &target.name);
        found.remark(format!("{place}: `hooks` of target `{name}` are not run: the case has no `workspace`"));
    }

    if described && works_in_folders(kind) {
        found.in_workspaces = true;
        let of_spec = spec.iter().map(|spec| (&spec.hooks, "the workspace"));
        let of_target = target.hooks.iter().map(|hooks| (&**hooks, "the target"));
        for (hooks, owner) in of_spec.chain(of_target) {
            for event in HookEvent::ALL {
                for hook in hooks.all_for_event(event) {
                    if let Some(command) = &hook.command {
                        let event = event.name();
                        found.note_program(
                            &hook.place,
                            format!("hook `{event}` of {owner}: `{}`", command.shown()),
                        );
                    }
                }
            }
        }
    } else if described {
        found.remarks.insert(format!(
            "{}: the workspace has no effect on target `{}`, which does not use a folder",
            case.place, target.name
        ));
        check_programs_without_workspace(case, found);
    }
}

/// Notes the grading programs of a case that need a workspace, where there is none.
fn check_programs_without_workspace(case: &Case, found: &mut PreflightReport) {
    for grader in case.all_graders() {
        visit_graders(grader, &mut |grader| {
            if let Some(what) = workspace_problem(grader, case) {
                found.misplaced.insert(NamedProgram { place: grader.place.clone(), what });
            }
        });
    }
}

/// The answer that a case or a file of answers holds.
pub(crate) fn given(output: &GivenOutput) -> Result<TargetAnswer, TargetError> {
    let value = match output {
        GivenOutput::Text(text) => return Ok(TargetAnswer::from_text(text.as_str())),
        GivenOutput::Json(value) => value.clone(),
        GivenOutput::Messages(messages) => Value::Array(messages.iter().map(recorded_json).collect()),
    };
    given_answer(&value)
}

/// A message with everything recorded about it.
fn recorded_json(message: &CaseMessage) -> Value {
    let mut value = message.to_json();

    for (key, recorded) in &message.data {
        value[key.as_str()] = recorded.clone();
    }

    value
}
