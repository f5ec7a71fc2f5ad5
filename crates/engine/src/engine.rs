//! The engine of a process, with its environment and its observer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_document::codes;
use assize_evalfile::{LoadOptions, find_config, load_config, load_targets};
use assize_grade::{FilePrograms, Judge, ProgramSetup};
use assize_llm::{BudgetSource, ReplyStore, SharedRate};
use assize_model::ProjectConfig;
use assize_process::ProgramConsent;
use assize_run::SharedReplies;
use assize_targets::Target;
use tokio_util::sync::CancellationToken;

use crate::consent::ConsentGate;
use crate::error::EngineError;
use crate::event::{EngineEvent, EventObserver};
use crate::options::ProgramUse;
use crate::process::ProcessContext;
use crate::targets::program_setup;

/// Entry point to all operations: the process context, the observer of events, and parts provided by the caller.
#[derive(Clone)]
pub struct Engine {
    process: ProcessContext,
    observer: Arc<dyn EventObserver>,
    provided: ProvidedParts,
}

/// Parts that the caller provides, used instead of those that the engine would make.
#[derive(Clone, Default)]
pub(crate) struct ProvidedParts {
    pub(crate) judges: BTreeMap<String, Arc<dyn Judge>>,
    pub(crate) targets: BTreeMap<String, Arc<dyn Target>>,
    pub(crate) replies: Option<Arc<dyn ReplyStore>>,
    pub(crate) sharing: Option<Sharing>,
}

/// Resources that a process shares with others that work on the same run.
#[derive(Clone)]
pub struct Sharing {
    /// Secret of the fences. It is part of every request, so another secret leads to other cache keys.
    pub fence_key: [u8; 32],
    /// Replies that other processes paid for, looked up on a miss in the local reply cache.
    pub replies: Arc<dyn SharedReplies>,
    /// A shared budget that replaces the one of the options.
    pub budget: Option<Arc<dyn BudgetSource>>,
    /// A shared rate limit that replaces the one of the options.
    pub rate: Option<Arc<dyn SharedRate>>,
}

impl Engine {
    /// Creates an engine for this process.
    pub fn new(process: ProcessContext, observer: impl EventObserver + 'static) -> Self {
        Self { process, observer: Arc::new(observer), provided: ProvidedParts::default() }
    }

    /// The same engine with another observer.
    pub(crate) fn with_observer(self, observer: impl EventObserver + 'static) -> Self {
        Self { observer: Arc::new(observer), ..self }
    }

    /// Adds a judge that the caller provides. Options and files select it by the name of its identity. It takes
    /// precedence over other judges of that name.
    #[must_use]
    pub fn with_judge(mut self, judge: Arc<dyn Judge>) -> Self {
        self.provided.judges.insert(judge.identity().name.to_string(), judge);
        self
    }

    /// Adds a target that the caller provides. Options and files select it by its name. It takes precedence
    /// over other targets of that name.
    #[must_use]
    pub fn with_target(mut self, target: Arc<dyn Target>) -> Self {
        self.provided.targets.insert(target.name().to_owned(), target);
        self
    }

    /// Stores the replies of models in a store that the caller provides, instead of the reply cache of the
    /// working folder.
    #[must_use]
    pub fn with_reply_store(mut self, replies: Arc<dyn ReplyStore>) -> Self {
        self.provided.replies = Some(replies);
        self
    }

    /// Also stops runs when this token is cancelled.
    #[must_use]
    pub fn with_stop(mut self, token: CancellationToken) -> Self {
        let process = self.process.clone();
        self.process = self.process.with_stop_signal(move || {
            let (stopped, token) = (process.stopped(), token.clone());
            Box::pin(async move {
                tokio::select! {
                    () = stopped => {}
                    () = token.cancelled() => {}
                }
            })
        });
        self
    }

    /// Shares replies and limits with the other processes that work on the same run.
    #[must_use]
    pub fn with_sharing(mut self, sharing: Sharing) -> Self {
        self.provided.sharing = Some(sharing);
        self
    }

    /// The parts that the caller provides.
    pub(crate) fn provided(&self) -> &ProvidedParts {
        &self.provided
    }

    /// The process that it belongs to.
    pub fn process(&self) -> &ProcessContext {
        &self.process
    }

    /// Options for reading files here.
    pub(crate) fn load_options(&self, roots: &[PathBuf]) -> LoadOptions {
        self.process.load_options(roots)
    }

    /// Options for reading a file whose programs that write parts of it are run, if the user consents.
    pub fn load_options_with(&self, options: LoadOptions, file: &Path, programs: ProgramUse) -> LoadOptions {
        let gate = ConsentGate::new(&self.process, programs, &[file.to_path_buf()]);
        self.with_programs(options, folder_of(file), None, gate.programs_of(None))
    }

    /// Returns options that, with the user's consent, let eval files read everywhere and run programs that write parts
    /// of them. These programs get the same variables as grading programs: all except keys of models, including the
    /// keys that the targets of this folder use.
    pub(crate) fn with_programs(
        &self,
        options: LoadOptions,
        folder: &Path,
        targets_file: Option<&Path>,
        consent: Option<ProgramConsent>,
    ) -> LoadOptions {
        if consent.is_none() {
            return options;
        }

        let targets_file = targets_file.map(|path| self.process.resolve(path));
        let targets = load_targets(folder, targets_file.as_deref(), &options).targets;
        let setup = ProgramSetup { consent, ..program_setup(&self.process, &targets) };

        LoadOptions { programs: Some(Arc::new(FilePrograms::new(setup))), reads_everywhere: true, ..options }
    }

    /// Reads the configuration file for these files: the nearest one above them, or else the working
    /// folder's. Without files, it is the working folder's.
    ///
    /// # Errors
    /// If it has errors, or the files belong to different configurations. A run has only one.
    pub fn config(&self, files: &[PathBuf], options: &LoadOptions) -> Result<ProjectConfig, EngineError> {
        let working = &self.process.working_folder;
        let folders: BTreeSet<&Path> = files.iter().map(|file| folder_of(file)).collect();
        let mut found: Vec<(&Path, Option<PathBuf>)> = Vec::new();
        for folder in folders {
            let config = find_config(folder, options);
            if found.iter().all(|(_, known)| *known != config) {
                found.push((folder, config));
            }
        }
        if let [first, second, ..] = &found[..] {
            return Err(several_configs(first, second, files, working));
        }

        let start = found.first().map_or(working.as_path(), |(folder, _)| folder);
        let loaded = load_config(start, options);
        self.report_diagnostics(&loaded.diagnostics, &loaded.sources);

        match render::count_by_severity(&loaded.diagnostics) {
            (0, _) => Ok(loaded.config),
            _ => Err(EngineError::invalid_file("the configuration file has errors; nothing was run")),
        }
    }

    /// Reports an event to the observer.
    pub(crate) fn emit(&self, event: impl Into<EngineEvent>) {
        self.observer.observe(event.into());
    }

    /// The observer, for threads that outlive a borrow.
    pub(crate) fn observer(&self) -> Arc<dyn EventObserver> {
        Arc::clone(&self.observer)
    }

    pub(crate) fn notice(&self, message: impl Into<String>) {
        self.emit(EngineEvent::Notice(message.into()));
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.emit(EngineEvent::Warning(message.into()));
    }

    /// Reports the problems of a file that is about to be used. Penalties are not among them: they are valid,
    /// summaries name them, and `assize validate` asks whether they are intended.
    pub(crate) fn report_diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let is_told = |diagnostic: &&Diagnostic| diagnostic.code != codes::PENALTY_WEIGHT;
        let diagnostics: Vec<Diagnostic> = diagnostics.iter().filter(is_told).cloned().collect();
        if !diagnostics.is_empty() {
            self.emit(EngineEvent::Diagnostics { diagnostics, sources: sources.clone() });
        }
    }
}

/// The folder of a file; a folder itself.
pub(crate) fn folder_of(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) }
}

/// The error for files that belong to two configurations, with an example of each.
fn several_configs(
    first: &(&Path, Option<PathBuf>),
    second: &(&Path, Option<PathBuf>),
    files: &[PathBuf],
    working: &Path,
) -> EngineError {
    let describe = |(folder, config): &(&Path, Option<PathBuf>)| {
        let file = files.iter().find(|file| folder_of(file) == *folder).map_or(*folder, PathBuf::as_path);
        let belongs = match config {
            Some(config) => {
                format!("belongs to `{}`", config.strip_prefix(working).unwrap_or(config).display())
            }
            None => "has no configuration file".to_owned(),
        };
        format!("`{}` {belongs}", file.display())
    };

    EngineError::usage(format!(
        "{}, and {}; a run has one configuration. Run the files of each in a command of their own",
        describe(first),
        describe(second)
    ))
}
