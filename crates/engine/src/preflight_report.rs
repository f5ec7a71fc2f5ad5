//! Findings of planning: problems, warnings and requirements.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use assize_evalfile::SuiteCases;
use assize_llm::ModelId;
use assize_model::{FilePosition, Grader, NamedProgram, Suite, TextVariable};
use assize_rubric::OFFLINE_NOTICE;
use assize_run::JudgeProvider as _;
use assize_targets::{Target, TargetKind};

use crate::capability::CapabilityList;
use crate::case_sequence::CaseSequence;
use crate::consent::ConsentGate;
use crate::dependencies::CaseDependencies;
use crate::error::EngineError;
use crate::gateway::ModelGateway;
use crate::graders::measuring_model;
use crate::judges::OFFLINE;
use crate::options::{DeniedFindings, RunOptions};
use crate::run_deps::RunDeps;

/// The most problems that are printed; the rest is only counted.
const MAX_PROBLEMS: usize = 20;

/// Warning of a plan whose run would be refused.
const UNALLOWED: &str = "a run is refused until you consent to what is listed: look at it, then add `--allow-code`, or run \
     `assize trust DIR` once";

/// Findings of planning.
#[derive(Default, Clone)]
pub(crate) struct PreflightReport {
    /// The number of cases that will run.
    pub(crate) cases: usize,
    /// The number of items that will run: cases times targets times trials.
    pub(crate) items: usize,
    /// Names of the targets they need.
    pub(crate) targets: BTreeSet<String>,
    /// Names of those among them that are commands.
    pub(crate) commands: BTreeSet<String>,
    /// True if any of them works in a workspace.
    pub(crate) in_workspaces: bool,
    /// True if any case takes over answers to others.
    pub(crate) takes_over: bool,
    /// Cases that run in order, as far as the plan names them.
    pub(crate) in_order: Vec<CaseSequence>,
    /// Files that cases refer to.
    pub(crate) attachments: BTreeSet<PathBuf>,
    /// Paths of the suites whose extensions will run.
    pub(crate) extended: BTreeSet<PathBuf>,
    /// Programs that the cases need.
    pub(crate) programs: BTreeSet<NamedProgram>,
    /// Grading programs that need a workspace where there is none, each with the reason.
    pub(crate) misplaced: BTreeSet<NamedProgram>,
    /// Variables of the environment in texts of the suites.
    pub(crate) variables: BTreeSet<TextVariable>,
    /// Paths of the suites whose variables were noted.
    noted: BTreeSet<PathBuf>,
    /// Settings that have no effect in this run.
    pub(crate) remarks: BTreeSet<String>,
    /// File, line, column and message of each problem, in this order.
    pub(crate) problems: BTreeSet<(PathBuf, usize, usize, String)>,
    /// Problems of choices made outside the files, each with the option or variable.
    pub(crate) choice_problems: BTreeSet<String>,
    pub(crate) self_judging: BTreeSet<String>,
    /// True if no judge was chosen for some grader.
    pub(crate) has_default_judge: bool,
}

impl PreflightReport {
    /// Notes a program.
    pub(crate) fn note_program(&mut self, place: &FilePosition, what: String) {
        self.programs.insert(NamedProgram { place: place.clone(), what });
    }

    /// Notes the variables in the texts of a suite.
    pub(crate) fn note_variables(&mut self, suite: &Suite) {
        if !suite.variables.is_empty() && self.noted.insert(suite.path.clone()) {
            self.variables.extend(suite.variables.iter().cloned());
        }
    }

    /// Requests of the files that need consent.
    pub(crate) fn capabilities(&self, gateway: &ModelGateway) -> CapabilityList {
        let mut found = gateway.capabilities(&self.variables);
        found.programs.extend(self.programs.iter().cloned());
        found
    }

    pub(crate) fn remark(&mut self, remark: String) {
        self.remarks.insert(remark);
    }

    pub(crate) fn problem(&mut self, place: &FilePosition, message: impl std::fmt::Display) {
        self.problems.insert((place.path().to_owned(), place.line, place.column, message.to_string()));
    }

    /// Notes a judge that can't be used, at the grader or with the option that names it.
    pub(crate) fn refuse_judge(
        &mut self,
        choice: Option<&str>,
        place: &FilePosition,
        error: impl std::fmt::Display,
    ) {
        match choice {
            Some(choice) => {
                self.choice_problems.insert(format!("{choice}: {error}"));
            }
            None => self.problem(place, error),
        }
    }

    /// Formats the problems, one per line with its first position. A judge without a key is one problem,
    /// however many cases need it.
    pub(crate) fn list_problems(&self) -> String {
        let mut seen: Vec<(&str, String, usize)> = Vec::new();
        for (path, line, column, message) in &self.problems {
            match seen.iter_mut().find(|(text, ..)| *text == message) {
                Some((.., repeats)) => *repeats += 1,
                None => seen.push((message, format!("{}:{line}:{column}", path.display()), 0)),
            }
        }

        let mut lines: Vec<String> = self.choice_problems.iter().take(MAX_PROBLEMS).cloned().collect();
        let in_files = seen.iter().take(MAX_PROBLEMS).map(|(message, place, repeats)| match repeats {
            // The message about a target that is defined where it is used already contains the position.
            0 if message.starts_with(&format!("{place}: ")) => (*message).to_owned(),
            0 => format!("{place}: {message}"),
            1 => format!("{place} and 1 more place: {message}"),
            more => format!("{place} and {more} more places: {message}"),
        });
        lines.extend(in_files);
        if seen.len() > MAX_PROBLEMS {
            lines.push(format!("... and {} more", seen.len() - MAX_PROBLEMS));
        }

        lines.join("\n")
    }

    /// Notes a model that answers if it is also the judge, under any of its names.
    pub(crate) fn add_self_judging(&mut self, answers: Option<String>, judge: Option<ModelId>) {
        let Some((model, judge)) = answers.zip(judge) else { return };
        if judge.is_named(&model) {
            let judge = judge.to_string();
            self.self_judging.insert(if judge == model { model } else { format!("{model} (as {judge})") });
        }
    }

    /// The findings without the files that cases refer to.
    pub(crate) fn take_without_files(&mut self) -> Self {
        Self { attachments: BTreeSet::new(), ..std::mem::take(self) }
    }

    /// Notes cases that run only because other cases depend on them.
    pub(crate) fn remark_extra(&mut self, suite: &Suite, dependencies: &CaseDependencies) {
        for (id, dependent) in &dependencies.extra {
            let path = suite.path.display();
            self.remarks.insert(format!("{path}: `{id}` is also run, because `{dependent}` depends on it"));
        }
    }

    /// Notes that a plan does not know the answers that cases take over.
    pub(crate) fn remark_order(&mut self, suite: &Suite, cases: &SuiteCases) {
        let sequences = CaseSequence::of_cases(cases);
        if let Some(text) = CaseSequence::describe(&sequences) {
            let path = suite.path.display();
            self.remarks.insert(format!("{path}: {text}; their prompts are planned without these answers"));
        }
        self.in_order.extend(sequences);
    }

    /// Notes that no judge was chosen. If a model answers, the run is refused: its answers cost money, and
    /// comparing words says little about them.
    pub(crate) fn note_default_judge(&mut self, target: Option<&Arc<dyn Target>>) {
        self.has_default_judge = true;
        let Some(target) = target.filter(|target| target.describe().kind == TargetKind::Model) else {
            return;
        };
        self.choice_problems.insert(format!(
            "no judge is named for the answers of target `{}`, a model: the offline judge would only compare words. Name a \
             model with `--judge PROVIDER:MODEL`, or with `judge: PROVIDER:MODEL` in `.assize/config.yaml`; \
             `--judge {OFFLINE}` compares words",
            target.name()
        ));
    }

    /// Notes a grader whose model for embeddings or labels can't be used.
    pub(crate) fn check_measuring_model(&mut self, grader: &Grader, deps: &RunDeps) {
        let Some(model) = measuring_model(grader) else { return };
        if let Err(error) = deps.judges.measuring_model(model) {
            self.problem(&grader.place, format!("grader `{}`: {error}", grader.name));
        }
    }

    /// Notes a target.
    pub(crate) fn note_target(&mut self, name: &str, kind: TargetKind) {
        self.targets.insert(name.to_owned());
        if kind == TargetKind::Command {
            self.commands.insert(name.to_owned());
        }
    }

    /// Refuses options that go through the cases several times, for cases that take over answers to others. Refuses
    /// commands as targets if judge calls go out in batches.
    pub(crate) fn check_batches(&self, options: &RunOptions) -> Result<(), EngineError> {
        let are_batches = options.judge_batch.is_some();
        let is_export = options.exchange.export.is_some();
        if self.takes_over && (are_batches || is_export) {
            let name = if are_batches { "--judge-batch" } else { "--export-requests" };
            return Err(EngineError::unrunnable(format!(
                "`{name}` collects the requests of all cases before their replies are there, but tests of this run continue \
                 conversations or use outputs of others; nothing was run. Remove `{name}`"
            )));
        }
        match self.commands.first().filter(|_| are_batches) {
            Some(target) => Err(EngineError::unrunnable(format!(
                "`--judge-batch` goes through the cases several times, and target `{target}` is a command, whose answers \
                 would differ; nothing was run. Judge given answers, recordings or models, or remove `--judge-batch`"
            ))),
            None => Ok(()),
        }
    }

    /// Ends the planning: an error if something can't run or has no consent, or else warnings.
    pub(crate) fn conclude(
        &self,
        denied: DeniedFindings,
        gate: &ConsentGate,
        gateway: &ModelGateway,
        is_plan: bool,
    ) -> Result<Vec<String>, EngineError> {
        let asked = self.capabilities(gateway);
        let refused = gate.refusal(&asked);
        if !self.problems.is_empty() || !self.choice_problems.is_empty() {
            let problems = self.list_problems();
            let refused = refused.map(|refused| format!("\n{refused}")).unwrap_or_default();
            return Err(EngineError::unrunnable(format!(
                "can't run; nothing was spent\n{problems}{refused}"
            )));
        }
        // A plan starts no programs and sends no requests, so it lists the refusals and goes on.
        let refused = match refused {
            Some(refused) if !is_plan => {
                return Err(EngineError::unrunnable(format!("{refused}\nnothing was run")));
            }
            refused => refused.map(|_| UNALLOWED.to_owned()),
        };

        if denied.exposed_keys {
            gateway.deny_exposed(&asked)?;
        }

        let warnings: Vec<String> = self
            .self_judging
            .iter()
            .map(|model| format!("{model} judges its own answers; models tend to overrate themselves"))
            .collect();
        if denied.self_judging && !warnings.is_empty() {
            return Err(EngineError::unrunnable(format!(
                "{} (denied with `--deny`); nothing was run",
                warnings.join("; ")
            )));
        }

        let misplaced = self.misplaced.iter().map(|NamedProgram { place, what }| format!("{place}: {what}"));
        let remarks = misplaced.chain(self.remarks.iter().cloned()).take(MAX_PROBLEMS);
        let unnamed = self.has_default_judge.then(|| OFFLINE_NOTICE.to_owned());
        Ok(warnings.into_iter().chain(remarks).chain(unnamed).chain(refused).collect())
    }
}
