//! Grades existing answers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use assize_document::codes;
use assize_evalfile::{AnswerColumns, LoadOptions, TextEncoding, load_answers, load_rubric};
use assize_model::{Case, GivenOutput};
use assize_run::WorkItem;
use assize_store::{RunSettings, SuiteInfo};

use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::eval::rerun_failed;
use crate::load::CaseSelection;
use crate::mode::RunMode;
use crate::options::{DeniedFindings, RunOptions};
use crate::plan::RunPlanner;
use crate::preflight_report::PreflightReport;
use crate::run_outcome::{PlannedRun, RunOutcome};
use crate::samples::any_rubric;
use crate::session::RunSession;
use crate::wiring::{ModelAccess, WiringRequest, wire};

/// Options of grading a file of answers by a rubric.
#[derive(Debug, Clone, Default)]
pub struct GradeOptions {
    /// File with the rubric.
    pub rubric: PathBuf,
    /// File with the answers: one JSON object per line, or a table.
    pub answers: PathBuf,
    /// The file's name in messages, if it differs from its path.
    pub answers_name: Option<PathBuf>,
    /// Columns of that file.
    pub columns: AnswerColumns,
    /// Encoding of that file if it is a text table; found by its bytes without one.
    pub encoding: Option<TextEncoding>,
    /// Patterns of ids of answers; all if empty.
    pub filter: Vec<String>,
    /// Tags of answers; all if empty.
    pub tags: Vec<String>,
    /// Name of a stored run; only answers that failed or are incomplete in it are graded.
    pub rerun_failed: Option<String>,
    /// Grades only this many of the selected answers, the first of the file.
    pub limit: Option<NonZeroUsize>,
    /// Estimates instead of running.
    pub dry_run: bool,
    /// Judging, limits, record.
    pub run: RunOptions,
}

/// A mode that concludes like a plain run and runs each case once.
struct GradeMode;

impl RunMode for GradeMode {
    fn command(&self) -> &'static str {
        "grade"
    }
}

/// The numbers of answers that a judge sees without a question, or that are empty.
#[derive(Default)]
struct BlankCount {
    answers: usize,
    without_question: usize,
    empty: usize,
}

impl BlankCount {
    fn add(&mut self, case: &Case) {
        self.answers += 1;
        self.without_question += usize::from(case.input.is_empty());

        let is_empty = matches!(&case.output, Some(GivenOutput::Text(text)) if text.trim().is_empty());
        self.empty += usize::from(is_empty);
    }

    /// A sentence for each kind.
    fn warnings(&self) -> Vec<String> {
        let of_all = |part: usize| match (part, self.answers) {
            (1, 1) => "the answer".to_owned(),
            (2, 2) => "both answers".to_owned(),
            (part, all) if part == all => format!("all {all} answers"),
            (part, all) => format!("{part} of {all} answers"),
        };
        let mut warnings = Vec::new();
        if self.without_question > 0 {
            let (which, comes) =
                (of_all(self.without_question), if self.without_question == 1 { "comes" } else { "come" });
            warnings.push(format!(
                "{which} {comes} without a question, so the judge sees the answer alone. Add a `question` to each, or name its column with `--columns question=COLUMN`"
            ));
        }
        if self.empty > 0 {
            let (which, are) = (of_all(self.empty), if self.empty == 1 { "is" } else { "are" });
            warnings.push(format!("{which} {are} empty"));
        }

        warnings
    }
}

impl Engine {
    /// Grades a file of answers by a rubric.
    ///
    /// # Errors
    /// When files have errors, or the run can't be carried out as requested. No money was spent in that case.
    pub async fn grade(&self, options: &GradeOptions) -> Result<RunOutcome, EngineError> {
        let load_options = LoadOptions { encoding: options.encoding, ..self.load_options(&[]) };
        let [rubric_path, answers_path] =
            [&options.rubric, &options.answers].map(|path| self.process().resolve(path));
        let rubric = load_rubric(&rubric_path, &load_options);
        self.report_diagnostics(&rubric.diagnostics, &rubric.sources);

        // The answers are read even if the rubric has errors, so that all problems are reported in one pass.
        let is_broken = rubric.has_errors();
        if rubric.diagnostics.iter().any(|diagnostic| diagnostic.code == codes::NOT_A_RUBRIC) {
            // The user may have swapped the two files. Then errors in the second file would be no help.
            return Err(EngineError::invalid_file("the rubric has errors; nothing was graded".to_owned()));
        }
        let read_by = if is_broken { any_rubric() } else { rubric };
        let mut answers = load_answers(&answers_path, &options.columns, &read_by, &load_options);
        let answers_name = options.answers_name.as_ref().unwrap_or(&answers_path);
        answers.sources.rename(&answers_path, answers_name);
        self.report_diagnostics(&answers.diagnostics, &answers.sources);

        let broken = match (is_broken, answers.has_errors()) {
            (true, true) => "the rubric and the answers file have errors",
            (true, false) => "the rubric has errors",
            (false, _) => "the answers file has errors",
        };
        let has_errors = is_broken || answers.has_errors();
        let Some(suite) = answers.suite.filter(|_| !has_errors) else {
            return Err(EngineError::invalid_file(format!("{broken}; nothing was graded")));
        };

        let usd = options.run.spending.budget.usd;
        let access = if options.dry_run {
            ModelAccess::Plan(&options.run)
        } else {
            ModelAccess::Run(&options.run, usd)
        };
        let request = WiringRequest {
            access,
            files: std::slice::from_ref(&rubric_path),
            roots: &[],
            targets_file: None,
            consequence: "nothing was graded",
            keep_workspaces: false,
        };

        let wiring = wire(self, &request)?;
        // No target runs here, but one may be the judge.
        let deps = wiring.deps_for(rubric_path.parent().unwrap_or(Path::new("")))?;
        let planner = RunPlanner::new(&wiring.config, &options.run)?;
        let planned = planner.suite(&suite);

        let selection = CaseSelection::new(&options.filter, &options.tags, &[])?
            .of_failed(options.rerun_failed.as_deref(), self.process())?;
        let limit = options.limit.map_or(usize::MAX, NonZeroUsize::get);
        let selected = || {
            let cases = answers.cases.iter();
            cases.filter(|case| case.as_ref().map_or(true, |case| selection.takes(&suite, case))).take(limit)
        };

        let mut preflight = PreflightReport::default();
        let mut blanks = BlankCount::default();
        for case in selected() {
            let case = case?;
            blanks.add(&case);
            planner.check(&planned, &case, &deps, &mut preflight);
        }

        let mut warnings =
            preflight.conclude(DeniedFindings::default(), &wiring.gate, &wiring.gateway, options.dry_run)?;
        warnings.extend(blanks.warnings());
        warnings.extend(selection.unmatched_warning());
        wiring.gateway.check()?;

        if preflight.items == 0 && !answers.cases.is_empty() {
            let message = selection.no_match_message(&[(Some(&suite), &answers.cases)]);
            return Err(EngineError::usage(message));
        }
        if preflight.items == 0 {
            return Err(EngineError::usage(format!("`{}` holds no answers", answers_name.display())));
        }

        let items = || {
            selected().flat_map(|case| match case {
                Err(error) => vec![Err(error.into())],
                Ok(case) => planner
                    .items(&planned, &case, &deps, &CaseDependencies::default())
                    .into_iter()
                    .map(|item| item.map(|item| WorkItem { format: None, ..item }))
                    .collect(),
            })
        };
        if options.dry_run {
            let limit = (&options.run.spending, usd);
            let planned = PlannedRun::new(items, options.run.shard, &preflight, warnings, limit, &wiring)?;
            return Ok(RunOutcome::Planned(Box::new(planned)));
        }

        let plain = RunSession::new(GradeMode.command(), &wiring, &options.run, std::iter::empty());
        let session = RunSession {
            settings: RunSettings {
                filter: options.filter.clone(),
                tags: options.tags.clone(),
                other: (plain.settings.other.clone().into_iter())
                    .chain(rerun_failed(options.rerun_failed.as_ref()))
                    .chain(options.limit.map(|limit| ("limit".to_owned(), limit.to_string())))
                    .collect(),
                ..plain.settings
            },
            label: suite.name.clone(),
            suites: vec![SuiteInfo {
                name: suite.name.clone(),
                path: rubric_path.display().to_string(),
                format: None,
                cases: preflight.cases,
                all_cases: Some(answers.cases.len()),
                derived_metrics: Vec::new(),
            }],
            inputs: vec![rubric_path, answers_path],
            total: preflight.items,
            warnings,
            ..plain
        };

        Box::pin(session.carry_out(&GradeMode, items, &options.run, self)).await
    }
}
