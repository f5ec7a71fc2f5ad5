//! The runs that pages can show: those in the runs folder, and those that the user named.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use assize_analysis::compare::{ComparisonSet, RunComparison};
use assize_analysis::matrix::ColumnMetrics;
use assize_analysis::trend::TrendPoint;
use assize_engine::{EngineError, ProcessContext, concluded_info, label_folders, runs};
use assize_store::{RunFolder, RunInfo};
use parking_lot::Mutex;

use crate::access::AccessRules;
use crate::open_run::OpenRun;

/// File with the description of a run.
const INFO_FILE: &str = "run.json";
/// File with the rows of cases.
const ROWS_FILE: &str = "results.jsonl";
/// Number of runs whose index is kept in memory.
const MAX_OPEN: usize = 4;

/// A run that was named on the command line.
#[derive(Debug, Clone)]
pub(crate) struct NamedRun {
    pub(crate) slug: String,
    pub(crate) folder: RunFolder,
}

/// A run of the list.
pub(crate) struct LibraryRun {
    /// Its name in addresses: the name of its folder.
    pub(crate) slug: String,
    /// Its name on the command line, such as `last~1`; the slug for a run outside the runs folder.
    pub(crate) name: String,
    pub(crate) info: Result<Arc<RunInfo>, String>,
}

/// The folders of labels that the conclusion of a scorecard run depends on, and the files in them. A removed file changes
/// the time of its folder.
fn label_files(info: &RunInfo, process: &ProcessContext) -> Vec<PathBuf> {
    if info.scorecard.is_none() {
        return Vec::new();
    }

    let folders = label_folders(info, process);
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    folders.into_iter().chain(files).collect()
}

/// The last `COUNT` results of a computation, each with a key for its input, most recent first.
pub(crate) struct RecentResults<T, const COUNT: usize>(Mutex<Vec<(String, T)>>);

impl<T: Clone, const COUNT: usize> RecentResults<T, COUNT> {
    pub(crate) fn find(&self, key: &str) -> Option<T> {
        let known = self.0.lock();
        known.iter().find(|(other, _)| other == key).map(|(_, found)| found.clone())
    }

    pub(crate) fn keep(&self, key: String, found: T) {
        let mut known = self.0.lock();
        known.insert(0, (key, found));
        known.truncate(COUNT);
    }
}

/// Description of a run, and when its file or its labels were last modified.
type KnownInfo = (Option<SystemTime>, Arc<RunInfo>);

/// Runs by their names in addresses. An address can reach nothing else of the file system.
pub(crate) struct RunLibrary {
    pub(crate) process: ProcessContext,
    pub(crate) rules: AccessRules,
    named: Vec<NamedRun>,
    infos: Mutex<HashMap<PathBuf, KnownInfo>>,
    /// Most recently used first, each with the stamp that its folder had when it was opened.
    open: Mutex<Vec<(RunStamp, Arc<OpenRun>)>>,
    /// Comparisons of two runs.
    pub(crate) comparisons: RecentResults<Arc<RunComparison>, 2>,
    /// The comparison of several runs that was shown last.
    pub(crate) set: RecentResults<Arc<ComparedColumns>, 1>,
    /// The trend that was shown last.
    pub(crate) trend: RecentResults<TrendPoints, 1>,
}

/// Points of a trend with the slugs of their runs, oldest first.
pub(crate) type TrendPoints = Arc<Vec<(String, TrendPoint)>>;

impl RunLibrary {
    pub(crate) fn new(process: ProcessContext, rules: AccessRules, named: Vec<NamedRun>) -> Self {
        Self {
            process,
            rules,
            named,
            infos: Mutex::default(),
            open: Mutex::default(),
            comparisons: RecentResults(Mutex::default()),
            set: RecentResults(Mutex::default()),
            trend: RecentResults(Mutex::default()),
        }
    }

    /// Runs outside the runs folder: those that the user named, then those that were made elsewhere. Of several folders with
    /// the same name, only the first can be shown.
    fn outside(&self) -> Vec<NamedRun> {
        let mut runs = self.named.clone();
        for (_, folder) in runs::elsewhere(&self.process) {
            let slug = folder_name(&folder);
            if !runs.iter().any(|run| run.slug == slug) {
                runs.push(NamedRun { slug, folder });
            }
        }
        runs
    }

    /// Runs in the runs folder, those that the user named and those that were made elsewhere, newest first. Unreadable ones
    /// come last.
    pub(crate) fn list(&self) -> Vec<LibraryRun> {
        let stored: Vec<(String, String, RunFolder)> = runs::newest_first(&self.process)
            .enumerate()
            .map(|(back, folder)| (folder_name(&folder), runs::name_of(back), folder))
            .collect();
        let outside = self.outside().into_iter();
        let outside = outside.filter(|run| !stored.iter().any(|(slug, ..)| *slug == run.slug));
        let outside: Vec<_> = outside.map(|run| (run.slug.clone(), run.slug, run.folder)).collect();

        let runs = outside.into_iter().chain(stored).map(|(slug, name, folder)| LibraryRun {
            slug,
            name,
            info: self.info(&folder).map_err(|error| error.to_string()),
        });
        let mut runs: Vec<LibraryRun> = runs.collect();
        runs.sort_by_cached_key(|run| Reverse(run.info.as_ref().ok().map(|info| info.started_at.clone())));
        runs
    }

    /// Audits of the audits folder, newest first.
    pub(crate) fn audits(&self) -> Vec<LibraryRun> {
        let folders = runs::audits_newest_first(&self.process);
        let audits = folders.map(|folder| LibraryRun {
            slug: folder_name(&folder),
            name: folder_name(&folder),
            info: self.info(&folder).map_err(|error| error.to_string()),
        });
        audits.collect()
    }

    /// Description of a run, read again if its file was modified.
    pub(crate) fn info(&self, folder: &RunFolder) -> Result<Arc<RunInfo>, EngineError> {
        let path = folder.path().join(INFO_FILE);
        let modified = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let known = self.infos.lock().get(&path).cloned();
        let labels = known.iter().flat_map(|(_, info)| label_files(info, &self.process));
        let changed = labels.filter_map(|file| modified(&file)).chain(modified(&path)).max();
        let mut infos = self.infos.lock();
        if let Some((known, info)) = infos.get(&path)
            && changed.is_some()
            && *known == changed
        {
            return Ok(Arc::clone(info));
        }

        let info = Arc::new(concluded_info(folder, &self.process)?);
        let labels = label_files(&info, &self.process);
        let changed = labels.iter().filter_map(|file| modified(file)).chain(modified(&path)).max();
        infos.insert(path, (changed, Arc::clone(&info)));
        Ok(info)
    }

    /// Finds the folder of a run.
    pub(crate) fn folder(&self, slug: &str) -> Option<RunFolder> {
        let named = self.named.iter().find(|run| run.slug == slug).map(|run| run.folder.clone());
        let found = named.or_else(|| {
            let stored = runs::newest_first(&self.process).chain(runs::audits_newest_first(&self.process));
            stored.into_iter().find(|folder| folder_name(folder) == slug)
        });
        found.or_else(|| self.outside().into_iter().find(|run| run.slug == slug).map(|run| run.folder))
    }

    /// Opens a run, or returns it if it is open. A run whose folder was replaced is opened again; a run whose
    /// folder is gone is not found.
    pub(crate) fn open(&self, slug: &str) -> Option<Arc<OpenRun>> {
        let known = {
            let open = self.open.lock();
            open.iter().find(|(_, run)| run.slug == slug).map(|(_, run)| run.folder.clone())
        };
        let folder = known.or_else(|| self.folder(slug));
        let folder = folder.filter(|folder| folder.path().join(INFO_FILE).exists());
        let stamp = folder.as_ref().map(|folder| self.stamp(folder));

        let mut open = self.open.lock();
        let same = open.iter().position(|(known, run)| run.slug == slug && Some(known) == stamp.as_ref());
        let kept = same.map(|at| open.remove(at));
        open.retain(|(_, run)| run.slug != slug);
        let (stamp, run) = match kept {
            Some(kept) => kept,
            None => (stamp?, Arc::new(OpenRun::new(slug.to_owned(), folder?, self.process.clone()))),
        };

        open.insert(0, (stamp, Arc::clone(&run)));
        open.truncate(MAX_OPEN);
        Some(run)
    }

    fn stamp(&self, folder: &RunFolder) -> RunStamp {
        let info = self.info(folder).ok();
        let rows = std::fs::metadata(folder.path().join(ROWS_FILE)).ok();
        let is_ended = info.as_ref().is_some_and(|info| info.finished_at.is_some());
        RunStamp {
            run: info.map(|info| (info.run_id.clone(), info.started_at.clone())),
            created: rows.as_ref().and_then(|rows| rows.created().ok()),
            ended: rows.filter(|_| is_ended).map(|rows| (rows.len(), rows.modified().ok())),
        }
    }
}

/// Tells the rows of a run from other rows that replace them in the same folder. Rows of a run in progress are
/// only appended, so their length is not part of it.
#[derive(Debug, PartialEq, Eq)]
struct RunStamp {
    /// Id and start of the run; `None` if its description can't be read.
    run: Option<(String, String)>,
    /// When the file of rows was created, if the file system records that.
    created: Option<SystemTime>,
    /// For a finished run, the length of the rows and when they were last modified.
    ended: Option<(u64, Option<SystemTime>)>,
}

/// Name of a run's folder.
pub(crate) fn folder_name(folder: &RunFolder) -> String {
    folder.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Columns with their metrics, compared with the first and with each other.
pub(crate) struct ComparedColumns {
    pub(crate) set: ComparisonSet,
    pub(crate) metrics: Vec<ColumnMetrics>,
}
