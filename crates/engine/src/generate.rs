//! Drafts rubrics for the cases of eval files.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_analysis::ExitStatus;
use assize_author::draft::{
    CaseOutcome, DraftBrief, DraftJob, DraftNeed, DraftOptions, DraftOutcome, DraftWriter, EditedFile,
    ModelDrafter, PROMPT_VERSION, RubricForm, need, prompt_hash,
};
use assize_document::CaseLocation;
use assize_evalfile::LoadOptions;
use assize_load::load_suite;
use assize_model::{Case, TextVariable};
use globset::GlobSet;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::exit::CallStop;
use crate::files::replace_file;
use crate::judges::OFFLINE;
use crate::load::id_patterns;
use crate::options::SpendingOptions;
use crate::wiring::{ModelAccess, RunWiring, WiringRequest, wire};

/// Options of drafting rubrics.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// Eval files.
    pub files: Vec<PathBuf>,
    /// Target whose model writes the drafts.
    pub target: Option<String>,
    /// Model that writes the drafts, or `offline`.
    pub judge: Option<String>,
    /// File that defines the targets.
    pub targets_file: Option<PathBuf>,
    /// Criteria with score ranges instead of yes or no.
    pub ranges: bool,
    /// Leaves the files on disk as they are.
    pub dry_run: bool,
    /// Replaces the existing rubrics of cases.
    pub replace: bool,
    /// Patterns of case ids; all cases if empty.
    pub filter: Vec<String>,
    /// The number of cases that are drafted concurrently.
    pub workers: NonZeroUsize,
    /// Folders that files may be read from.
    pub roots: Vec<PathBuf>,
    /// Cache and budget.
    pub spending: SpendingOptions,
    /// Reports only files with problems.
    pub quiet: bool,
}

/// Result of drafting rubrics.
pub struct GenerateReport {
    /// The edited files.
    pub files: Vec<EditedFile>,
    /// Outcome of each case.
    pub outcomes: Vec<CaseOutcome>,
    /// The author that the remark of each draft names.
    pub author: String,
    /// Why drafting was stopped, if it was.
    pub stop: Option<CallStop>,
    drafter: String,
    options: GenerateOptions,
}

impl Engine {
    /// Drafts criteria for every case that has an expected outcome and no rubric.
    ///
    /// # Errors
    /// When files have errors, or the model can't be called. No money was spent in that case.
    pub async fn generate(&self, options: &GenerateOptions) -> Result<GenerateReport, EngineError> {
        let load_options = self.load_options(&options.roots);
        let wanted = id_patterns(&options.filter)?;
        let mut work = DraftPlan::default();
        for path in &options.files {
            let path = self.process().resolve(path);
            work.take(&path, options, wanted.as_ref(), &load_options, self)?;
        }

        let files: Vec<PathBuf> = options.files.iter().map(|path| self.process().resolve(path)).collect();
        let request = WiringRequest {
            files: &files,
            access: ModelAccess::Alone(&options.spending),
            roots: &options.roots,
            targets_file: options.targets_file.as_deref(),
            consequence: "nothing was spent",
            keep_workspaces: false,
        };

        let wiring = wire(self, &request)?;
        let named = options.target.clone().or_else(|| options.judge.clone());
        let environment = || self.process().variable("JUDGE_MODEL").filter(|name| !name.trim().is_empty());
        let by = named.or_else(|| wiring.config.judge.clone()).or_else(environment);
        let by = by.unwrap_or_else(|| OFFLINE.to_owned());
        let drafter = drafter(&by, options, &wiring, &work.variables)?;

        wiring.gateway.check()?;

        if !work.jobs.is_empty() && drafter.is_none() && options.judge.is_none() {
            self.emit(EngineEvent::DraftingOffline);
        }

        let author = match drafter {
            None => "the offline drafter".to_owned(),
            Some(_) => format!("{by} (prompt {PROMPT_VERSION})"),
        };
        let gateway = &wiring.gateway;
        gateway.begin_alone("generate");

        let writing = DraftOptions {
            drafter,
            author: author.clone(),
            save: (!options.dry_run).then_some(&|edited| save(edited).map_err(|error| error.message)),
            observe: &|event| self.emit(event),
        };

        let writer = DraftWriter::new(writing, work.jobs, work.files, work.outcomes, gateway.limit().clone());
        let (files, outcomes) = writer.write_all(options.workers).await;

        if let Err(error) = gateway.flush() {
            self.warn(error.message);
        }

        let stop = gateway.stop();
        Ok(GenerateReport { files, outcomes, author, stop, drafter: by, options: options.clone() })
    }
}

/// The model that writes drafts; `None` for drafts without a model.
fn drafter(
    by: &str,
    options: &GenerateOptions,
    wiring: &RunWiring<'_>,
    texts: &BTreeSet<TextVariable>,
) -> Result<Option<Arc<ModelDrafter>>, EngineError> {
    if by == OFFLINE && options.target.is_none() {
        return Ok(None);
    }

    let folder = options.files.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    let deps = wiring.deps_for(folder)?;
    if options.target.is_some() && deps.targets.ask(by).is_none() && !by.contains([':', '/']) {
        // This returns the usual message about unknown targets.
        deps.targets.target(by).map(drop)?;
    }

    let ask = wiring.model(by, &deps, texts)?;

    Ok(Some(Arc::new(ModelDrafter::new(ask, wiring.fences()))))
}

/// The cases that need a draft, with their files.
#[derive(Default)]
struct DraftPlan {
    files: Vec<EditedFile>,
    known: BTreeMap<PathBuf, usize>,
    jobs: Vec<DraftJob>,
    outcomes: Vec<CaseOutcome>,
    /// Variables of the environment in the texts of the files.
    variables: BTreeSet<TextVariable>,
}

impl DraftPlan {
    /// Reads an eval file and collects the cases that need a draft.
    fn take(
        &mut self,
        path: &Path,
        options: &GenerateOptions,
        wanted: Option<&GlobSet>,
        load_options: &LoadOptions,
        engine: &Engine,
    ) -> Result<(), EngineError> {
        let loaded = load_suite(path, load_options);
        let errors = loaded.has_errors();
        if errors || !options.quiet {
            engine.report_diagnostics(&loaded.diagnostics, &loaded.sources);
        }

        let Some(suite) = loaded.suite.as_ref().filter(|_| !errors) else {
            let message = format!("`{}` has errors; nothing was drafted", path.display());
            return Err(EngineError::invalid_file(message));
        };
        self.variables.extend(suite.variables.iter().cloned());
        let form = if options.ranges { RubricForm::Ranges } else { RubricForm::Checklist };
        for case in &loaded.cases {
            let case = case?;
            if wanted.is_some_and(|globs| !globs.is_match(case.id.as_str())) {
                continue;
            }

            let need = need(&case);
            let brief = DraftBrief::from_case(&case, form);
            let result = match (need, brief) {
                (DraftNeed::NoOutcome, _) | (_, None) => DraftOutcome::NoOutcome,
                (DraftNeed::HasRubric, _) if !options.replace => DraftOutcome::HasRubric,
                (need, Some(brief)) => match self.place(&case) {
                    Err(error) => DraftOutcome::LeftAlone(error.message),
                    Ok((file, spot)) => {
                        let replaces = need == DraftNeed::HasRubric;
                        let outcome = self.outcomes.len();
                        let case = Arc::clone(&case);
                        self.jobs.push(DraftJob {
                            case,
                            brief,
                            file,
                            spot,
                            format: suite.format,
                            replaces,
                            outcome,
                        });

                        DraftOutcome::NotReached
                    }
                },
            };
            self.outcomes.push(CaseOutcome {
                path: case.place.path().to_path_buf(),
                id: case.id.to_string(),
                line: case.place.line,
                result,
            });
        }

        Ok(())
    }

    /// Where a case is written: its file, opened once, and the position in it.
    fn place(&mut self, case: &Case) -> Result<(usize, CaseLocation), EngineError> {
        let path = case.place.path();
        let key = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let index = if let Some(index) = self.known.get(&key) {
            *index
        } else {
            let text = read(path)?;
            self.files.push(EditedFile::new(path, text));
            self.known.insert(key, self.files.len() - 1);
            self.files.len() - 1
        };

        let spot =
            self.files[index].file().find(case).map_err(|error| EngineError::usage(error.to_string()))?;
        Ok((index, spot))
    }
}

impl GenerateReport {
    /// The number of cases with such an outcome.
    pub fn count(&self, which: fn(&DraftOutcome) -> bool) -> usize {
        self.outcomes.iter().filter(|outcome| which(&outcome.result)).count()
    }

    /// The number of cases for which no draft could be made or written.
    pub fn left_alone(&self) -> usize {
        self.count(|result| matches!(result, DraftOutcome::LeftAlone(_)))
    }

    /// The number of cases that were not reached.
    pub fn unreached(&self) -> usize {
        self.count(|result| matches!(result, DraftOutcome::NotReached))
    }

    /// The number of drafts.
    pub fn drafted(&self) -> usize {
        self.count(|result| matches!(result, DraftOutcome::Drafted { .. }))
    }

    /// The exit code of drafting.
    pub fn exit(&self) -> ExitStatus {
        let unreached = self.unreached();
        let mut exits = vec![ExitStatus::Passed];
        if unreached > 0 {
            exits.extend(self.stop.as_ref().map(CallStop::exit));
        }
        if self.left_alone() + unreached > 0 {
            exits.push(ExitStatus::Incomplete);
        }

        ExitStatus::strongest(exits)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let cases: Vec<Value> = self
            .outcomes
            .iter()
            .map(|outcome| {
                let mut row = json!({"file": outcome.path.display().to_string(), "line": outcome.line, "case_id": outcome.id});
                match &outcome.result {
                    DraftOutcome::Drafted { criteria, findings, calls, recalled } => {
                        row["result"] = json!("drafted");
                        row["criteria"] = json!(criteria);
                        row["findings"] = json!(findings);
                        row["calls"] = json!(calls);
                        row["calls_cached"] = json!(recalled);
                    }
                    DraftOutcome::HasRubric => row["result"] = json!("has_rubric"),
                    DraftOutcome::NoOutcome => row["result"] = json!("no_expected_outcome"),
                    DraftOutcome::NotReached => row["result"] = json!("not_reached"),
                    DraftOutcome::LeftAlone(reason) => {
                        row["result"] = json!("left_alone");
                        row["reason"] = json!(reason);
                    }
                }

                row
            })
            .collect();
        json!({
            "drafted": self.drafted(),
            "left_alone": self.left_alone(),
            "drafter": self.drafter,
            "prompt_version": PROMPT_VERSION,
            "prompt_hash": prompt_hash(),
            "ranges": self.options.ranges,
            "dry_run": self.options.dry_run,
            "diff": self.files.iter().filter(|_| self.options.dry_run).map(EditedFile::diff).collect::<String>(),
            "cases": cases,
            "exit_code": self.exit().code(),
        })
    }
}

fn read(path: &Path) -> Result<String, EngineError> {
    assize_files::read_text(path).map_err(|error| EngineError::unreadable(format!("can't be read: {error}")))
}

/// Writes the text of a file, unless the file was changed in the meantime.
fn save(edited: &EditedFile) -> Result<(), EngineError> {
    let path = edited.path();
    let on_disk = read(path)?;
    if on_disk != edited.written() {
        let message = "the file changed while the command ran; run it again, drafts that were paid for are in the cache";
        return Err(EngineError::storage(message));
    }

    replace_file(path, edited.file().text())
}
