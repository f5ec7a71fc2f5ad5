//! Checks eval files and scorecards without running them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap, Span, did_you_mean, render};
use assize_document::{codes, note_unset_variables};
use assize_evalfile::{
    LoadOptions, LoadedConfig, LoadedRubric, is_rubric_in_place_of_suite, load_config, load_rubric,
    load_targets,
};
use assize_llm::ModelName;
use assize_model::{Case, FilePosition, Grader, NamedProgram, Suite};
use assize_scorecard::load_scorecard;
use serde_json::{Value, json};

use crate::capability::CapabilityList;
use crate::case_sequence::CaseSequence;
use crate::engine::{Engine, folder_of};
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::extensions::ExtensionUse;
use crate::graders::{grader_problem, visit_graders};
use crate::judges::OFFLINE;
use crate::load::{LoadedFile, LoadedFiles};
use crate::options::{EvalOptions, RunOptions, SequenceOptions};
use crate::plan::RunPlanner;
use crate::preflight_report::PreflightReport;
use crate::scorecard::ScorecardOptions;
use crate::targets::{ECHO, default_target};
use crate::wiring::{ModelAccess, WiringRequest, wire};

/// An eval file, rubric, scorecard or configuration file, with its diagnostics.
#[derive(Debug)]
pub struct ValidatedFile {
    /// Path of the file, or of the folder of the scorecard.
    pub path: PathBuf,
    /// The number of files that it consists of.
    pub files: usize,
    /// True for a scorecard.
    pub is_scorecard: bool,
    /// The number of valid cases.
    pub cases: usize,
    /// The number of invalid cases.
    pub left_out: usize,
    /// Cases that run in order.
    pub in_order: Vec<CaseSequence>,
    /// Problems and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Sources that diagnostics point into.
    pub sources: SourceMap,
}

/// Files that were checked.
#[derive(Debug)]
pub struct ValidationReport {
    /// Eval files and rubrics, then scorecards, then the configuration files with problems.
    pub files: Vec<ValidatedFile>,
    /// YAML files in folders that are none of these, such as files of other programs. They were not checked.
    pub unchecked: Vec<PathBuf>,
    /// Requests of the files that need consent.
    pub capabilities: CapabilityList,
}

impl ValidatedFile {
    /// A file without cases.
    fn new(path: PathBuf, diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Self {
        let in_order = Vec::new();
        Self { path, files: 1, is_scorecard: false, cases: 0, left_out: 0, in_order, diagnostics, sources }
    }
}

impl ValidationReport {
    /// The numbers of errors and warnings in all files.
    pub fn tally(&self) -> (usize, usize) {
        render::count_by_severity(self.files.iter().flat_map(|file| &file.diagnostics))
    }

    /// Returns the report in the form of `--json`.
    pub fn to_json(&self) -> Value {
        let (errors, warnings) = self.tally();
        let mut diagnostics = Vec::new();
        let mut files = Vec::new();
        for file in &self.files {
            let found = render::json_report(&file.diagnostics, &file.sources).diagnostics;
            let path = file.path.display().to_string();
            let mut shown = json!({ "path": path, "cases": file.cases, "problems": found.len() });
            if !file.in_order.is_empty() {
                shown["in_order"] = json!(file.in_order);
            }
            files.push(shown);
            diagnostics.extend(found);
        }

        let unchecked: Vec<String> = self.unchecked.iter().map(|path| path.display().to_string()).collect();
        json!({
            "files": files,
            "unchecked": unchecked,
            "capabilities": self.capabilities.to_json(),
            "diagnostics": diagnostics,
            "errors": errors,
            "warnings": warnings,
        })
    }
}

impl Engine {
    /// Finds eval files, rubrics and scorecards and checks them, with the configuration that they run with.
    /// Variables need not be set, because no case runs. `roots` are folders that eval files may read from, in
    /// addition to their own repository; `targets_file` replaces the project's targets file.
    ///
    /// # Errors
    /// If a path does not exist, or holds neither an eval file nor a scorecard.
    pub fn validate(
        &self,
        paths: &[PathBuf],
        roots: &[PathBuf],
        targets_file: Option<&Path>,
    ) -> Result<ValidationReport, EngineError> {
        let options = self.load_options(roots);
        let with_check = LoadOptions { case_check: Some(Arc::new(check_graders)), ..options.clone() };
        let mut found = self.find(paths);
        let rubrics = found.take_rubrics(&options);
        let loaded = self.load_found(found, |_| with_check.clone())?;
        let targets_file = targets_file.map(|path| self.process().resolve(path));
        let given_targets = targets_file.as_deref().map(|path| check_targets_file(path, &options));

        let (rubrics, unchecked) = check_rubrics(&loaded, rubrics, &options);
        let mut capabilities = CapabilityList::default();
        let misplaced: Vec<_> = (loaded.files.iter())
            .map(|file| {
                let (asked, misplaced) =
                    self.plan_file(file, roots, targets_file.as_deref()).unwrap_or_default();
                capabilities.extend(asked);
                misplaced
            })
            .collect();
        let silent = self.clone().with_observer(|_: EngineEvent| {});
        let configs = check_configs(&loaded, targets_file.as_deref(), &options);
        let suites = loaded.files.into_iter().zip(misplaced).map(|(file, misplaced)| {
            let is_other = file.suite.is_none();
            let unrunnable = check_suite(&file, targets_file.as_deref(), &options, false);
            let mut file = ValidatedFile {
                cases: file.cases.len(),
                left_out: file.cases.invalid_count(),
                in_order: CaseSequence::of_cases(&file.cases),
                ..ValidatedFile::new(file.path, file.diagnostics, file.sources)
            };
            file.diagnostics.extend(unrunnable);
            file.diagnostics.extend(misplaced);
            if is_other { as_rubric(file, &options) } else { file }
        });
        let cards: Vec<ValidatedFile> = loaded
            .scorecards
            .into_iter()
            .map(|path| {
                let card = load_scorecard(&path, &options);
                let run = ScorecardOptions {
                    path: self.process().resolve(&path),
                    roots: roots.to_vec(),
                    targets_file: targets_file.clone(),
                    ..ScorecardOptions::default()
                };
                let found = card.scorecard.as_ref().map(|card| silent.capabilities_of_scorecard(card, &run));
                capabilities.extend(found.transpose().ok().flatten().unwrap_or_default());

                ValidatedFile {
                    files: card.files,
                    is_scorecard: true,
                    cases: card.cases,
                    ..ValidatedFile::new(path, card.diagnostics, card.sources)
                }
            })
            .collect();

        let mut files: Vec<ValidatedFile> =
            suites.chain(rubrics).chain(cards).chain(configs).chain(given_targets.flatten()).collect();
        for file in &mut files {
            note_unset_variables(&mut file.diagnostics);
        }

        Ok(ValidationReport { files, unchecked, capabilities })
    }

    /// What a file asks for that needs consent, and warnings of its programs that need a workspace where there is none.
    /// `None` for a file that can't be read; its problems are reported elsewhere.
    fn plan_file(
        &self,
        file: &LoadedFile,
        roots: &[PathBuf],
        targets_file: Option<&Path>,
    ) -> Option<(CapabilityList, Vec<Diagnostic>)> {
        let silent = self.clone().with_observer(|_: EngineEvent| {});
        let (options, sequence) = (RunOptions::default(), SequenceOptions::default());
        let suite = file.suite.as_ref()?;
        let files = std::slice::from_ref(&file.path);
        let request = WiringRequest::new(ModelAccess::Plan(&options), files, "nothing was run");
        let wiring = wire(&silent, &request.reading(roots, targets_file)).ok()?;
        let deps = wiring.deps_of_suite(suite).ok()?;
        let planner = RunPlanner {
            workspaces: Some(&wiring.workspaces),
            sequence: Some(&sequence),
            extensions: ExtensionUse::Planned,
            ..RunPlanner::new(&wiring.config, &options).ok()?
        };
        let (planned, mut found) = (planner.suite(suite), PreflightReport::default());
        found.programs.extend(suite.unrun_code.iter().cloned());
        found.note_variables(suite);
        for case in file.cases.iter_ahead().filter_map(Result::ok) {
            planner.check(&planned, &case, &deps, &mut found);
        }

        let warn = |NamedProgram { place, what }: &NamedProgram| {
            let span = file.sources.word_at(place.path(), place.line, place.column)?;
            let warning = Diagnostic::warning(codes::NO_WORKSPACE, what.as_str()).at(span, "this grader");
            Some(warning.with_help(
                "add `workspace: {template: FOLDER}` and a target that works in it, or name another `cwd`",
            ))
        };
        Some((found.capabilities(&wiring.gateway), found.misplaced.iter().filter_map(warn).collect()))
    }
}

/// Reports the problems of the files. Returns a summary of problems that do not prevent a run of the other cases.
pub(crate) fn check_files(
    loaded: &LoadedFiles,
    options: &EvalOptions,
    engine: &Engine,
) -> Result<Option<String>, EngineError> {
    if let Some(scorecard) = loaded.scorecards.first() {
        let shown = scorecard.display();
        let message =
            format!("`{shown}` is a scorecard, not an eval file; use `assize scorecard run {shown}`");
        if loaded.files.is_empty() {
            return Err(EngineError::usage(message));
        }

        engine.warn(message);
    }

    loaded.report_diagnostics(engine);
    let (errors, warnings) = loaded.tally();
    // If the run is refused anyway, all problems that `validate` would find are reported.
    let unusable =
        if errors > 0 && !options.keep_going { report_unusable_suites(loaded, options, engine) } else { 0 };
    let errors = errors + unusable;
    let problems = format!("{errors} error{} in the eval files", if errors == 1 { "" } else { "s" });
    let has_valid = unusable == 0 && loaded.files.iter().any(LoadedFile::can_run_in_part);
    if errors > 0 && (!options.keep_going || !has_valid) {
        let advice = if has_valid { "; `--keep-going` runs the valid cases" } else { "" };
        return Err(EngineError::invalid_file(format!("{problems}, so nothing was run{advice}")));
    }

    if warnings > 0 && options.deny.warnings {
        return Err(EngineError::invalid_file(format!(
            "{warnings} warnings, denied with `--deny warnings`; nothing was run"
        )));
    }

    Ok((errors > 0).then(|| problems + &loaded.left_out_files()))
}

/// Reports other problems that prevent the suites from running. Returns the number of errors.
fn report_unusable_suites(loaded: &LoadedFiles, options: &EvalOptions, engine: &Engine) -> usize {
    let load_options = engine.load_options(&options.roots);
    let targets_file = options.targets_file.as_deref().map(|path| engine.process().resolve(path));
    let judge_given = !options.run.judges.is_empty();
    let report = |file: &LoadedFile| {
        let mut errors = check_suite(file, targets_file.as_deref(), &load_options, judge_given);
        errors.retain(|found| found.severity == Severity::Error);
        engine.report_diagnostics(&errors, &file.sources);
        errors.len()
    };

    loaded.files.iter().map(report).sum()
}

/// Checks the rubrics among the other YAML files in folders, and returns the files of other kinds. Rubrics
/// that an eval file reads were checked with it.
fn check_rubrics(
    loaded: &LoadedFiles,
    rubrics: Vec<PathBuf>,
    options: &LoadOptions,
) -> (Vec<ValidatedFile>, Vec<PathBuf>) {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let read: BTreeSet<PathBuf> = loaded
        .files
        .iter()
        .flat_map(|file| file.sources.files().map(|(_, source)| real(source.path())))
        .collect();
    let is_unread = |path: &PathBuf| !read.contains(&real(path));

    let checked = rubrics.into_iter().filter(is_unread).map(|path| {
        let LoadedRubric { diagnostics, sources, .. } = load_rubric(&path, options);
        ValidatedFile::new(path, diagnostics, sources)
    });

    (checked.collect(), loaded.other_yaml.iter().filter(|path| is_unread(path)).cloned().collect())
}

/// The file with its problems as a rubric if it is one, or else unchanged.
fn as_rubric(file: ValidatedFile, options: &LoadOptions) -> ValidatedFile {
    let rubric = load_rubric(&file.path, options);
    if rubric.has_errors() && !is_rubric_in_place_of_suite(&file.diagnostics) {
        return file;
    }

    ValidatedFile { diagnostics: rubric.diagnostics, sources: rubric.sources, ..file }
}

/// The configuration files that these files run with, if they have problems.
fn check_configs(
    loaded: &LoadedFiles,
    targets_file: Option<&Path>,
    options: &LoadOptions,
) -> Vec<ValidatedFile> {
    let paths = loaded.files.iter().map(|file| &file.path).chain(&loaded.scorecards);
    let folders: BTreeSet<&Path> = paths.map(|path| folder_of(path)).collect();
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for folder in folders {
        let config = load_config(folder, options);
        let unknown_judge = check_judge(&config, folder, targets_file, options);
        let Some(path) = config.path.filter(|path| known.insert(path.clone())) else { continue };
        let diagnostics: Vec<Diagnostic> = config.diagnostics.into_iter().chain(unknown_judge).collect();
        if diagnostics.is_empty() {
            continue;
        }

        let shown = path.strip_prefix(&options.working_folder).unwrap_or(&path).to_path_buf();
        found.push(ValidatedFile::new(shown, diagnostics, config.sources));
    }

    found
}

/// An error if the judge of a configuration is neither the offline one, nor a target, nor a model.
fn check_judge(
    config: &LoadedConfig,
    folder: &Path,
    targets_file: Option<&Path>,
    options: &LoadOptions,
) -> Option<Diagnostic> {
    let (name, span) = (config.config.judge.as_deref()?, config.judge_span?);
    let targets = load_targets(folder, targets_file.or(config.config.targets.as_deref()), options);
    if name == OFFLINE || targets.targets.iter().any(|target| target.name == name) {
        return None;
    }

    unknown_judge(name, span)
}

/// An error for a judge that is not a target, unless it is the offline one or a model.
fn unknown_judge(name: &str, span: Span) -> Option<Diagnostic> {
    let error = ModelName::from_str(name).err().filter(|_| name != OFFLINE)?;
    let title = format!("unknown judge `{name}`");
    let help = match did_you_mean(name, [OFFLINE]) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{error}; a judge is `{OFFLINE}`, a target or a model"),
    };

    Some(Diagnostic::error(codes::WRONG_TYPE, title).at(span, "not a judge").with_help(help))
}

/// The problems that prevent an eval file from running with any options, and warnings about targets that only
/// other options replace. With `judge_given`, the judge of the file does not matter.
pub(crate) fn check_suite(
    file: &LoadedFile,
    targets_file: Option<&Path>,
    options: &LoadOptions,
    judge_given: bool,
) -> Vec<Diagnostic> {
    let Some(suite) = &file.suite else { return Vec::new() };
    let span_of = |place: &FilePosition| file.sources.word_at(place.path(), place.line, place.column);
    let folder = folder_of(&file.path);
    let config = load_config(folder, options).config;
    let defined = load_targets(folder, targets_file.or(config.targets.as_deref()), options).targets;
    let is_target =
        |name: &str| suite.defined_targets.iter().chain(&defined).any(|target| target.name == name);

    let settings = &suite.settings;
    let judge = settings.judge.as_deref().zip(settings.judge_place.as_ref().and_then(span_of));
    let mut found: Vec<Diagnostic> = judge
        .filter(|(name, _)| !judge_given && !is_target(name))
        .and_then(|(name, span)| unknown_judge(name, span))
        .into_iter()
        .collect();

    for target in &suite.defined_targets {
        found.extend(target.errors.iter().filter_map(|error| {
            let title = format!("target `{}`: {}", target.name, error.title);
            let warning =
                Diagnostic::warning(codes::UNUSABLE_TARGET, title).at(span_of(&error.place)?, "can't be run");
            Some(warning.with_help("remove it, or run the file with `--target`"))
        }));
        found.extend(target.without_effect.iter().filter_map(|idle| {
            let title = format!("{} has no effect", idle.feature);
            let warning =
                Diagnostic::warning(codes::NO_EFFECT, title).at(span_of(&idle.place)?, "not used here");
            Some(warning.with_help("remove it"))
        }));
    }

    for reference in &settings.targets {
        let name = reference.real_name();
        if name != ECHO && !is_target(name) && ModelName::from_str(name).is_err() {
            let Some(span) = span_of(&reference.place) else { continue };
            let known = suite.defined_targets.iter().chain(&defined).map(|target| target.name.as_str());
            let help = match did_you_mean(name, known.chain([ECHO])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => assize_evalfile::model_hint(name).unwrap_or_else(|| {
                    "define it in `.assize/targets.yaml`, or run the file with `--target`".to_owned()
                }),
            };
            let title = format!("target `{name}` is not defined");
            found.push(
                Diagnostic::warning(codes::UNUSABLE_TARGET, title).at(span, "not found").with_help(help),
            );
        }
    }

    if default_target(suite.defined_targets.iter().chain(&defined).map(|target| target.name.as_str()))
        .is_none()
    {
        found.extend(unanswered(file, suite, &span_of));
    }

    let (run, sequence) = (RunOptions::default(), SequenceOptions::default());
    if let Ok(planner) = RunPlanner::new(&config, &run) {
        let planner = RunPlanner { sequence: Some(&sequence), ..planner };
        let mut problems =
            file.cases.kept().filter_map(|case| Some((planner.trials_problem(suite, case)?, case)));
        if let Some((problem, case)) = problems.next()
            && let Some(span) = span_of(&case.place)
        {
            let others = match problems.count() {
                0 => None,
                1 => Some("the same for 1 other case".to_owned()),
                more => Some(format!("the same for {more} other cases")),
            };
            let error = Diagnostic::error(codes::OUT_OF_RANGE, problem).at(span, "can't pass");
            found.push(others.into_iter().fold(error, Diagnostic::with_note));
        }
    }

    // Cases share graders, and a problem of such a grader is reported once.
    let mut seen = BTreeSet::new();
    let of_suite = suite.graders.iter().flat_map(|grader| grader_errors(grader, &file.sources));
    let of_cases = file.cases.kept().flat_map(|case| check_graders(case, &file.sources));
    found.extend(
        of_suite.chain(of_cases).filter(|error| seen.insert((error.primary.span.start, error.title.clone()))),
    );

    found
}

/// A note at the first case without an answer and a target, if there is no default target. Options of the run
/// may name one.
fn unanswered(
    file: &LoadedFile,
    suite: &Suite,
    span_of: &dyn Fn(&FilePosition) -> Option<Span>,
) -> Option<Diagnostic> {
    let lacks = |case: &&Arc<Case>| {
        case.output.is_none() && case.targets.is_empty() && suite.settings.targets.is_empty()
    };
    let mut cases = file.cases.kept().filter(lacks);
    let first = cases.next()?;
    let title = format!("case `{}` has no `output`, and no target is named", first.id);
    let found = Diagnostic::warning(codes::UNUSABLE_TARGET, title).at(span_of(&first.place)?, "not answered");
    let found = match cases.count() {
        0 => found,
        1 => found.with_note("1 other case has neither"),
        more => found.with_note(format!("{more} other cases have neither")),
    };
    let found = Diagnostic { severity: Severity::Note, ..found };

    Some(found.with_help("add `output`, or `execution: {target: NAME}`, or run the file with `--target`"))
}

/// The errors of a case's graders that are defined in these sources.
fn check_graders(case: &Case, sources: &SourceMap) -> Vec<Diagnostic> {
    case.all_graders().flat_map(|grader| grader_errors(grader, sources)).collect()
}

/// The errors of a grader and its members that are defined in these sources.
fn grader_errors(grader: &Grader, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    visit_graders(grader, &mut |grader| {
        let Some(problem) = grader_problem(grader) else { return };
        let place = &grader.place;
        let Some(span) = sources.word_at(place.path(), place.line, place.column) else { return };
        Diagnostic::error(codes::UNUSABLE_GRADER, problem)
            .at(span, "can't be run")
            .with_help("no run of the file begins while a grader of it can't be used")
            .add_to(&mut found);
    });

    found
}

/// The targets file that was named, if it has problems.
fn check_targets_file(path: &Path, options: &LoadOptions) -> Option<ValidatedFile> {
    let loaded = load_targets(&options.working_folder, Some(path), options);
    let shown = path.strip_prefix(&options.working_folder).unwrap_or(path).to_path_buf();
    let is_told = !loaded.diagnostics.is_empty();
    is_told.then(|| ValidatedFile::new(shown, loaded.diagnostics, loaded.sources))
}
