//! Lint rules that need a model: the calls, the result and the cost.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_analysis::ExitStatus;
use assize_author::critique::{
    CritiqueJob, PROMPT_VERSION, RubricCritic, RubricCritique, prompt_hash, review_all,
};
use assize_diagnostic::DiagnosticCode;
use assize_grade::CallForecast;
use assize_lint::{LintReport, ModelLint, RULES};
use assize_llm::ModelCard;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::estimate::RunEstimate;
use crate::exit::CallStop;
use crate::forecast::estimate_text;
use crate::judges::OFFLINE;
use crate::options::SpendingOptions;
use crate::wiring::{ModelAccess, WiringRequest, wire};

/// Options of a review of rubrics by a model.
#[derive(Debug, Clone)]
pub struct CritiqueOptions {
    /// Model, or target that is one.
    pub model: String,
    /// File that defines the targets.
    pub targets_file: Option<PathBuf>,
    /// Folders that files may be read from.
    pub roots: Vec<PathBuf>,
    /// The number of rubrics that are reviewed concurrently.
    pub workers: NonZeroUsize,
    /// Cache and budget.
    pub spending: SpendingOptions,
    /// Plans the review and sends no requests.
    pub dry_run: bool,
}

/// A file whose rubrics are reviewed, with the findings that need no model. `linting` is `None` for a file that
/// is not reviewed.
pub struct CritiqueFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Findings so far.
    pub linting: Option<ModelLint>,
}

/// Result of a review.
pub struct CritiqueReport {
    by: String,
    /// The number of rubrics that the model's rules apply to.
    rubrics: usize,
    calls: u64,
    recalled: u64,
    not_checked: Vec<NotChecked>,
    /// Why the review was stopped, if it was.
    stop: Option<CallStop>,
    /// The estimate of a dry run.
    plan: Option<RunEstimate>,
}

/// Rules that could not be applied to a rubric.
struct NotChecked {
    path: PathBuf,
    line: usize,
    case: Option<String>,
    rules: Vec<DiagnosticCode>,
    reason: String,
}

impl Engine {
    /// Lets a model apply its rules to all rubrics of the files. Returns the findings of each file, including
    /// the model's, in the order of the files. A file that was not reviewed has none, and neither has a dry
    /// run.
    ///
    /// # Errors
    /// If the model can't be called. No money was spent in that case.
    pub async fn critique(
        &self,
        mut files: Vec<CritiqueFile>,
        options: &CritiqueOptions,
        takes: &dyn Fn(DiagnosticCode) -> bool,
    ) -> Result<(CritiqueReport, Vec<Option<LintReport>>), EngineError> {
        if options.model == OFFLINE {
            return Err(EngineError::usage(
                "the rules L06xx need a model: name one, such as `--judge openai:gpt-4o-mini`, or remove `--judge`",
            ));
        }

        let jobs = jobs(&files, takes);
        let access = if options.dry_run {
            ModelAccess::PlanAlone(&options.spending)
        } else {
            ModelAccess::Alone(&options.spending)
        };
        let paths: Vec<PathBuf> = files.iter().map(|file| self.process().resolve(&file.path)).collect();
        let request = WiringRequest {
            access,
            files: &paths,
            roots: &options.roots,
            targets_file: options.targets_file.as_deref(),
            consequence: "nothing was spent",
            keep_workspaces: false,
        };

        let wiring = wire(self, &request)?;
        let folder = files.first().and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        let texts = files.iter().filter_map(|file| file.linting.as_ref()).flat_map(ModelLint::variables);
        let texts = texts.cloned().collect();
        let ask = wiring.model(&options.model, &*wiring.deps_for(folder)?, &texts)?;
        let card = ask.card();
        let critic = RubricCritic::new(ask, wiring.fences());

        wiring.gateway.check()?;

        let mut report = CritiqueReport {
            by: options.model.clone(),
            rubrics: jobs.len(),
            calls: 0,
            recalled: 0,
            not_checked: Vec::new(),
            stop: None,
            plan: options.dry_run.then(|| estimate(&critic, card, &jobs)),
        };
        if options.dry_run {
            return Ok((report, files.iter().map(|_| None).collect()));
        }

        let gateway = &wiring.gateway;
        gateway.begin_alone("lint");

        let observe = |event| self.emit(event);
        let critiques = review_all(jobs, Arc::new(critic), options.workers, gateway.limit(), &observe).await;

        if let Err(error) = gateway.flush() {
            self.warn(error.message);
        }

        report.stop = gateway.stop();
        let open = report.take(critiques, &mut files);

        report.warn_of_gaps(self);
        let linted =
            files.into_iter().zip(open).map(|(file, open)| Some(finish(file.linting?, &open, takes)));
        Ok((report, linted.collect()))
    }
}

/// The rubrics that the model's rules apply to.
fn jobs(files: &[CritiqueFile], takes: &dyn Fn(DiagnosticCode) -> bool) -> Vec<CritiqueJob> {
    let mut jobs = Vec::new();
    for (file, linting) in
        files.iter().enumerate().filter_map(|(at, file)| Some((at, file.linting.as_ref()?)))
    {
        for (index, inquiry) in linting.inquiries().iter().enumerate() {
            let rules = inquiry.applicable_rules(takes);
            if !rules.is_empty() {
                jobs.push(CritiqueJob { file, index, inquiry: Arc::new(inquiry.clone()), rules });
            }
        }
    }

    jobs
}

/// The findings of a file, after all rules except the open ones were applied.
fn finish(
    linting: ModelLint,
    open: &BTreeSet<DiagnosticCode>,
    takes: &dyn Fn(DiagnosticCode) -> bool,
) -> LintReport {
    let applied: Vec<DiagnosticCode> = RULES
        .iter()
        .filter(|rule| rule.question().is_some() && takes(rule.code) && !open.contains(&rule.code))
        .map(|rule| rule.code)
        .collect();

    linting.finish(&applied)
}

/// Tokens and money of the first calls.
fn estimate(critic: &RubricCritic, card: ModelCard, jobs: &[CritiqueJob]) -> RunEstimate {
    let mut forecast = CallForecast::default();
    for job in jobs {
        let request = critic.request(&job.inquiry, &job.rules);
        forecast += CallForecast::from_request(&request, job.rules.len() as u64, &critic.model().model, card);
    }

    RunEstimate::of_judge(&forecast, (0, 0), card)
}

impl CritiqueReport {
    /// Adds the model's findings to each file. Returns the rules that could not be applied to each.
    fn take(
        &mut self,
        critiques: Vec<(CritiqueJob, Option<RubricCritique>)>,
        files: &mut [CritiqueFile],
    ) -> Vec<BTreeSet<DiagnosticCode>> {
        let mut open: Vec<BTreeSet<DiagnosticCode>> = vec![BTreeSet::new(); files.len()];
        let unreached = self.stop.as_ref().map_or("it was not reached", CallStop::reason).to_owned();
        for (job, critique) in critiques {
            let mut failed: Vec<(DiagnosticCode, String)> = Vec::new();
            match critique {
                None => failed.extend(job.rules.iter().map(|rule| (rule.code, unreached.clone()))),
                Some(critique) => {
                    self.calls += u64::from(critique.calls);
                    self.recalled += u64::from(critique.recalled);

                    if let Some(linting) = &mut files[job.file].linting {
                        critique.remarks.iter().for_each(|remark| linting.add_finding(job.index, remark));
                    }

                    failed = critique.not_checked;
                }
            }

            open[job.file].extend(failed.iter().map(|(code, _)| *code));

            // One entry per reason.
            while let Some((_, reason)) = failed.first().cloned() {
                let rules =
                    failed.iter().filter(|(_, other)| *other == reason).map(|(code, _)| *code).collect();
                failed.retain(|(_, other)| *other != reason);

                self.not_checked.push(NotChecked {
                    path: files[job.file].path.clone(),
                    line: job.inquiry.place.as_ref().map_or(1, |place| place.line),
                    case: job.inquiry.case.clone(),
                    rules,
                    reason,
                });
            }
        }

        open
    }

    /// Warns of rubrics that were not checked by every rule.
    fn warn_of_gaps(&self, engine: &Engine) {
        for open in &self.not_checked {
            let case = open.case.as_ref().map(|case| format!(" of case `{case}`")).unwrap_or_default();
            let rules: Vec<&str> = open.rules.iter().map(|code| code.as_str()).collect();
            engine.warn(format!(
                "{}:{}: the rubric{case} was not checked by {}: {}",
                open.path.display(),
                open.line,
                rules.join(", "),
                open.reason
            ));
        }
    }

    /// The exit code of the review.
    pub fn exit(&self) -> ExitStatus {
        match &self.stop {
            Some(stop) => stop.exit(),
            None if self.not_checked.is_empty() => ExitStatus::Passed,
            None => ExitStatus::Incomplete,
        }
    }

    /// Returns a short summary for the last line of output.
    pub fn summary(&self) -> String {
        let count = |count: usize| format!("{count} rubric{}", if count == 1 { "" } else { "s" });
        if let Some(plan) = self.plan {
            return format!(
                "{} would check {}, {}; dry run: nothing was sent",
                self.by,
                count(self.rubrics),
                estimate_text(plan)
            );
        }

        let open: BTreeSet<(&Path, usize)> =
            self.not_checked.iter().map(|open| (open.path.as_path(), open.line)).collect();
        let checked = format!("{} checked by {}", count(self.rubrics - open.len()), self.by);
        match open.len() {
            0 => checked,
            left => format!("{checked}, {} not checked or not by all rules", count(left)),
        }
    }

    /// Returns the report in the form of `--json`.
    pub fn to_json(&self) -> Value {
        let open = |open: &NotChecked| {
            json!({
                "path": open.path.display().to_string(), "line": open.line, "case_id": open.case,
                "rules": open.rules.iter().map(|code| code.as_str()).collect::<Vec<_>>(), "reason": open.reason,
            })
        };
        let (over_budget, server_given_up) = match &self.stop {
            None => (None, None),
            Some(CallStop::OverBudget(reason)) => (Some(reason), None),
            Some(CallStop::ServerGivenUp(reason)) => (None, Some(reason)),
        };
        json!({
            "model": self.by,
            "prompt_version": PROMPT_VERSION,
            "prompt_hash": prompt_hash(),
            "rubrics": self.rubrics,
            "calls": self.calls,
            "calls_cached": self.recalled,
            "not_checked": self.not_checked.iter().map(open).collect::<Vec<_>>(),
            "over_budget": over_budget,
            "server_given_up": server_given_up,
            "dry_run": self.plan.is_some(),
            "plan": self.plan.map(RunEstimate::to_json),
        })
    }
}
