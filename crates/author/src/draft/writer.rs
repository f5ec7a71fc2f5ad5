//! Drafts for many cases, several at a time, and inserts each draft into the text of its file.

use std::future::Future;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_document::{CaseFile, CaseLocation, unified_diff};
use assize_model::{Case, EvalFileFormat};
use tokio_util::sync::CancellationToken;

use super::{CaseDraft, CriteriaDraft, DraftBrief, DraftError, ModelDrafter, draft_offline};
use crate::AuthorEvent;
use crate::workload::{Workload, work_through};

/// A case to draft for.
#[derive(Debug, Clone)]
pub struct DraftJob {
    /// The case.
    pub case: Arc<Case>,
    /// Facts about it.
    pub brief: DraftBrief,
    /// Index of its file.
    pub file: usize,
    /// Position of the case in that file.
    pub spot: CaseLocation,
    /// Format of the file.
    pub format: EvalFileFormat,
    /// True to replace the rubric of the case.
    pub replaces: bool,
    /// Index of its outcome.
    pub outcome: usize,
}

/// A file on disk, and its edited text.
#[derive(Debug, Clone)]
pub struct EditedFile {
    file: CaseFile,
    /// Text on disk.
    written: String,
    /// Text before any draft.
    original: String,
}

impl EditedFile {
    /// A file with this text on disk.
    pub fn new(path: &Path, text: String) -> Self {
        Self { file: CaseFile::new(path, text.clone()), written: text.clone(), original: text }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file with its edits.
    pub fn file(&self) -> &CaseFile {
        &self.file
    }

    /// The text last read from disk or written to it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// All changes, as a unified diff.
    pub fn diff(&self) -> String {
        unified_diff(&self.original, self.file.text(), &self.path().display().to_string())
    }
}

/// Result of drafting for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseOutcome {
    /// File of the case.
    pub path: PathBuf,
    /// Id of the case.
    pub id: String,
    /// Line of the case, from 1.
    pub line: usize,
    /// Result.
    pub result: DraftOutcome,
}

/// Result of drafting for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftOutcome {
    /// A draft was inserted into the file.
    Drafted {
        /// Ids of its criteria.
        criteria: Vec<String>,
        /// Lint findings about them.
        findings: Vec<String>,
        /// Number of replies that were paid for.
        calls: u32,
        /// Number of replies from the cache.
        recalled: u32,
    },
    /// The case has a rubric already.
    HasRubric,
    /// The case has no expected outcome to draft from.
    NoOutcome,
    /// No draft was made or written, for this reason.
    LeftAlone(String),
    /// The budget stopped the work first.
    NotReached,
}

/// Writes a file; an error says why it can't be written.
pub type SaveFile<'a> = &'a dyn Fn(&EditedFile) -> Result<(), String>;

/// How to draft, and how to write drafts.
pub struct DraftOptions<'a> {
    /// The model that drafts; `None` drafts offline.
    pub drafter: Option<Arc<ModelDrafter>>,
    /// Author named in the remark of each draft.
    pub author: String,
    /// Writes a file; `None` leaves the files on disk as they are.
    pub save: Option<SaveFile<'a>>,
    /// Receives events.
    pub observe: &'a dyn Fn(AuthorEvent),
}

/// Drafts, and the files that they go into.
pub struct DraftWriter<'a> {
    options: DraftOptions<'a>,
    limit: CancellationToken,
    jobs: std::vec::IntoIter<DraftJob>,
    files: Vec<EditedFile>,
    outcomes: Vec<CaseOutcome>,
    /// Indexes of files that can no longer be written.
    broken: Vec<usize>,
    total: usize,
    done: usize,
}

impl<'a> DraftWriter<'a> {
    /// A writer for these jobs. No further jobs are started once `limit` fires.
    pub fn new(
        options: DraftOptions<'a>,
        jobs: Vec<DraftJob>,
        files: Vec<EditedFile>,
        outcomes: Vec<CaseOutcome>,
        limit: CancellationToken,
    ) -> Self {
        let total = jobs.len();

        Self { options, limit, jobs: jobs.into_iter(), files, outcomes, broken: Vec::new(), total, done: 0 }
    }

    /// Drafts for all cases, `workers` at a time; returns the files and the result of each case.
    pub async fn write_all(mut self, workers: NonZeroUsize) -> (Vec<EditedFile>, Vec<CaseOutcome>) {
        let limit = self.limit.clone();
        work_through(&mut self, workers, &limit).await;

        (self.files, self.outcomes)
    }

    /// Inserts a draft into its file.
    fn insert(&mut self, job: &DraftJob, draft: Result<CriteriaDraft, DraftError>) -> DraftOutcome {
        let draft = match draft {
            Ok(draft) => draft,
            Err(error) => return DraftOutcome::LeftAlone(error.to_string()),
        };
        let edited = &mut self.files[job.file];
        let into = CaseDraft { criteria: &draft.criteria, format: job.format, by: &self.options.author };
        let before = edited.file.clone();

        let inserted = if job.replaces {
            into.replace(&mut edited.file, &job.spot)
        } else {
            into.write(&mut edited.file, &job.spot)
        };
        if let Err(error) = inserted {
            return DraftOutcome::LeftAlone(error.to_string());
        }

        if let Some(save) = self.options.save {
            if let Err(error) = save(edited) {
                edited.file = before;
                self.broken.push(job.file);
                return DraftOutcome::LeftAlone(error);
            }
            edited.file.text().clone_into(&mut edited.written);
        }

        DraftOutcome::Drafted {
            criteria: draft.criteria.iter().map(|criterion| criterion.id.to_string()).collect(),
            findings: draft.findings,
            calls: draft.calls,
            recalled: draft.recalled,
        }
    }
}

impl Workload for DraftWriter<'_> {
    type Job = DraftJob;
    type Outcome = Result<CriteriaDraft, DraftError>;

    fn next_job(&mut self) -> Option<DraftJob> {
        let broken = &self.broken;

        self.jobs.find(|job| !broken.contains(&job.file))
    }

    fn work(&self, job: DraftJob) -> impl Future<Output = (DraftJob, Self::Outcome)> + Send + 'static {
        let drafter = self.options.drafter.clone();

        async move {
            let draft = match drafter {
                Some(drafter) => drafter.draft(&job.brief, Some(&job.case)).await,
                None => draft_offline(&job.brief, Some(&job.case)),
            };
            (job, draft)
        }
    }

    fn finish(&mut self, job: DraftJob, draft: Self::Outcome) {
        self.done += 1;
        (self.options.observe)(AuthorEvent::CaseDrafted { done: self.done, total: self.total });

        // A call that the budget refused is not a failure of the case.
        if draft.is_err() && self.limit.is_cancelled() {
            return;
        }

        self.outcomes[job.outcome].result = self.insert(&job, draft);
    }
}
