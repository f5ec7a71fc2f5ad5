//! A workspace as a suite describes it: prepared once, then acquired by one case after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use assize_evalfile::{Hook, Hooks, Isolation, Moment, RepoSpec, Reset, WorkspaceMode, WorkspaceSpec};
use assize_rubric::IdentityWriter;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::copy::{Links, copy, names};
use crate::ignored::Ignored;
use crate::remove::remove;
use crate::restore::restore;
use crate::setup::Setup;
use crate::turns::Turns;
use crate::{Limits, PlaceError, Snapshot, Stay, Turn, git, hook};

/// Data of a case, as passed to hooks.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Id of the case; may contain any characters.
    pub case_id: String,
    /// Input of the case as text.
    pub input: String,
    /// Metadata of the case from the eval file.
    pub metadata: Map<String, Value>,
}

/// A workspace as a suite or a case describes it, for one target. Nothing is created before the first case
/// acquires it.
#[derive(Debug)]
pub struct Workplace {
    spec: WorkspaceSpec,
    /// Hooks of the target, which run inside those of the workspace.
    target: Arc<Hooks>,
    setup: Arc<Setup>,
    made: OnceCell<Result<Made, PlaceError>>,
    /// Restored workspaces, ready for the next case.
    pool: Mutex<Vec<PathBuf>>,
    turns: Turns,
    identity: OnceLock<Vec<u8>>,
}

/// State that is prepared once.
#[derive(Debug)]
pub(crate) struct Made {
    /// The workspace itself if cases share it, else the original of each case's copy.
    base: PathBuf,
    /// Original state of a shared workspace, if a reset may need it.
    pristine: Option<PathBuf>,
    /// Paths that a fast reset does not restore.
    ignored: Arc<Ignored>,
}

impl Workplace {
    /// Creates the workspace that `spec` describes, with the hooks of the target that works in it.
    pub fn new(spec: WorkspaceSpec, target: Option<Arc<Hooks>>, setup: Arc<Setup>) -> Self {
        Self {
            spec,
            target: target.unwrap_or_default(),
            setup,
            made: OnceCell::new(),
            pool: Mutex::default(),
            turns: Turns::default(),
            identity: OnceLock::new(),
        }
    }

    /// Returns a position in the queue. Call it in the order in which cases start: those that share a
    /// workspace acquire it in this order.
    pub fn queue(&self) -> Turn {
        self.turns.queue()
    }

    /// Everything that decides about what cases find in it: the same bytes as long as nothing of it changed, in every
    /// build. Of repositories it is how they are named.
    pub fn identity(&self) -> &[u8] {
        self.identity.get_or_init(|| identity(&self.spec, &self.target))
    }

    /// Prepares the workspace for a case and returns a lease. Waits for its turn if cases share it.
    pub async fn enter(self: &Arc<Self>, mut turn: Turn, visitor: Visitor) -> Result<Stay, PlaceError> {
        let shared = self.spec.isolation() == Isolation::Shared;
        if shared {
            turn.come().await;
        }
        let made = self.made.get_or_init(|| self.make()).await.as_ref().map_err(Clone::clone)?;
        let folder = if shared { made.base.clone() } else { self.own_copy(made, &visitor).await? };
        let mut stay = Stay::new(Arc::clone(self), folder, visitor, shared.then_some(turn));
        match self.arrive(made, &stay).await {
            Ok(snapshot) => {
                stay.before(snapshot);
                Ok(stay)
            }
            Err(error) => {
                self.leave(stay.folder()).await;
                Err(error)
            }
        }
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        self.setup.hide(text)
    }

    async fn arrive(&self, made: &Made, stay: &Stay) -> Result<Snapshot, PlaceError> {
        let moment = Moment::BeforeEach;
        if let Some(reset) = self.spec.hooks.at(moment).and_then(|hook| hook.reset) {
            self.reset(made, stay.folder(), reset).await?;
        }
        self.run(moment, stay.folder(), Some(stay.visitor())).await?;
        let (folder, state) = (stay.folder().to_path_buf(), self.setup.state()?.to_path_buf());
        blocking(move || {
            Snapshot::take(&folder, Limits::default(), &state)
                .map_err(|error| PlaceError::new("changes", error.to_string()))
        })
        .await
    }

    /// Runs the hooks after a case, and resets or releases the workspace.
    pub(crate) async fn depart(&self, stay: &Stay) -> Result<(), PlaceError> {
        let folder = stay.folder();
        let done = self.run(Moment::AfterEach, folder, Some(stay.visitor())).await;
        let reset = self.spec.hooks.at(Moment::AfterEach).and_then(|hook| hook.reset);
        let done = match (done, reset, self.made.get()) {
            (Ok(()), Some(reset), Some(Ok(made))) if self.spec.isolation() == Isolation::Shared => {
                self.reset(made, folder, reset).await
            }
            (done, ..) => done,
        };
        self.leave(folder).await;
        done
    }

    /// Releases a case's own workspace: into the pool if it can be restored, else it is removed.
    async fn leave(&self, folder: &Path) {
        if self.spec.isolation() == Isolation::Shared || self.setup.keeps() {
            return;
        }
        let folder = folder.to_path_buf();
        let base = match self.made.get() {
            Some(Ok(made)) if self.spec.mode() == WorkspaceMode::Pooled => Some(made.base.clone()),
            _ => None,
        };
        let restored = blocking(move || match base {
            Some(base) if restore(&base, &folder, None).is_ok() => Ok(Some(folder)),
            _ => {
                // Remains are removed at the end, or by the next process.
                drop(remove(&folder));
                Ok(None)
            }
        });
        if let Ok(Some(folder)) = restored.await {
            self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
        }
    }

    async fn own_copy(&self, made: &Made, visitor: &Visitor) -> Result<PathBuf, PlaceError> {
        let waiting = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(folder) = waiting {
            return Ok(folder);
        }
        let folder = self.setup.depot()?.fresh(&visitor.case_id);
        self.copied(&made.base, &folder, Links::AsTheyAre).await?;
        Ok(folder)
    }

    async fn copied(&self, from: &Path, to: &Path, links: Links) -> Result<(), PlaceError> {
        let (from, to, setup) = (from.to_path_buf(), to.to_path_buf(), Arc::clone(&self.setup));
        blocking(move || copy(&from, &to, links, setup.depot()?.in_use())).await
    }

    /// Prepares the shared state: template, repositories, then the hooks before all cases.
    async fn make(&self) -> Result<Made, PlaceError> {
        let depot = self.setup.depot()?;
        let shared = self.spec.isolation() == Isolation::Shared;
        let base = if let (Some(path), WorkspaceMode::Static) = (&self.spec.path, self.spec.mode()) {
            std::fs::create_dir_all(path).map_err(|error| PlaceError::io("make", path, &error))?;
            path.canonicalize().map_err(|error| PlaceError::io("find", path, &error))?
        } else {
            let base = depot.fresh(if shared { "shared" } else { "base" });
            std::fs::create_dir_all(&base).map_err(|error| PlaceError::io("make", &base, &error))?;
            base
        };
        let empty = names(&base).map_err(|error| PlaceError::io("read", &base, &error))?.is_empty();
        if let Some(template) = self.spec.template.as_ref().filter(|_| empty) {
            self.copied(template, &base, Links::Inside).await?;
        }
        for repo in &self.spec.repos {
            let into = base.join(&repo.path);
            // In a folder of the user's own, existing files are used as they are.
            let there = self.spec.mode() == WorkspaceMode::Static
                && names(&into).is_ok_and(|names| !names.is_empty());
            if !there {
                if let Some(above) = into.parent() {
                    std::fs::create_dir_all(above).map_err(|error| PlaceError::io("make", above, &error))?;
                }
                git::check_out(repo, &into, &self.setup).await?;
            }
        }
        self.run(Moment::BeforeAll, &base, None).await?;
        let resets = |moment| self.spec.hooks.at(moment).is_some_and(|hook| hook.reset.is_some());
        let mut pristine = None;
        if shared && (resets(Moment::BeforeEach) || resets(Moment::AfterEach)) {
            let folder = depot.fresh("pristine");
            self.copied(&base, &folder, Links::AsTheyAre).await?;
            pristine = Some(folder);
        }
        let folder = base.clone();
        let ignored = blocking(move || Ok(Arc::new(Ignored::read(&folder)))).await?;
        Ok(Made { base, pristine, ignored })
    }

    async fn reset(&self, made: &Made, folder: &Path, reset: Reset) -> Result<(), PlaceError> {
        let pristine = made.pristine.clone().unwrap_or_else(|| made.base.clone());
        let (folder, ignored) = (folder.to_path_buf(), Arc::clone(&made.ignored));
        blocking(move || restore(&pristine, &folder, (reset == Reset::Fast).then_some(&*ignored))).await
    }

    /// Runs the hooks of one moment: those of the workspace outside, those of the target inside.
    async fn run(&self, moment: Moment, folder: &Path, visitor: Option<&Visitor>) -> Result<(), PlaceError> {
        let mut hooks = [(&self.spec.hooks, "workspace"), (&*self.target, "target")];
        if matches!(moment, Moment::AfterEach | Moment::AfterAll) {
            hooks.reverse();
        }
        let mut first = Ok(());
        for (hooks, whose) in hooks {
            let Some(hook) = hooks.at(moment) else { continue };
            let done = hook::run(hook, moment, whose, folder, visitor, &self.setup).await;
            // Hooks that clean up run whatever became of the others; hooks that prepare need all before them.
            if done.is_err() && matches!(moment, Moment::BeforeAll | Moment::BeforeEach) {
                return done;
            }
            first = first.and(done);
        }
        first
    }

    /// Runs the hooks after all cases. Does nothing if no case acquired the workspace.
    pub async fn finish(&self) -> Result<(), PlaceError> {
        match self.made.get() {
            Some(Ok(made)) => self.run(Moment::AfterAll, &made.base, None).await,
            _ => Ok(()),
        }
    }
}

impl Drop for Workplace {
    /// Removes everything created, as no case can acquire it any more.
    fn drop(&mut self) {
        let own = self.spec.mode() != WorkspaceMode::Static;
        if self.setup.keeps() {
            return;
        }
        let pool = self.pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        let made = match self.made.get() {
            Some(Ok(made)) => [made.pristine.as_ref(), Some(&made.base).filter(|_| own)],
            _ => [None, None],
        };
        for folder in pool.iter().chain(made.into_iter().flatten()) {
            // Remains are removed at the end, or by the next process.
            drop(remove(folder));
        }
    }
}

/// The identity of a workspace with the hooks of a target.
fn identity(spec: &WorkspaceSpec, target: &Hooks) -> Vec<u8> {
    let WorkspaceSpec { template, repos, hooks, isolation: _, mode: _, path } = spec;
    let mut identity = IdentityWriter::new("workspace", 1);
    identity.field(&spec.isolation());
    identity.field(&spec.mode());
    identity.field(path);

    identity.field(&repos.len());
    for repo in repos {
        // How much of the history is fetched, and when, changes no file.
        let RepoSpec { path, source, revision, ancestor, depth: _, filter: _, sparse, place: _ } = repo;
        identity.field(path);
        identity.field(source);
        identity.field(revision);
        identity.field(ancestor);
        identity.field(sparse);
    }

    for hooks in [hooks, target] {
        // What runs after all cases is seen by none of them.
        for moment in [Moment::BeforeAll, Moment::BeforeEach, Moment::AfterEach] {
            let hook = hooks.at(moment);
            identity
                .field(&hook.map(|Hook { command, cwd: _, timeout: _, reset, place: _ }| (command, reset)));
        }
    }
    identity.field(&template.as_deref().map(fingerprint));
    identity.into_bytes()
}

/// A hash of what is in a folder: names, contents, links.
fn fingerprint(folder: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    let mut levels = vec![PathBuf::new()];
    while let Some(level) = levels.pop() {
        for name in names(&folder.join(&level)).unwrap_or_default() {
            let path = level.join(name);
            let real = folder.join(&path);
            hash.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
            let Ok(found) = std::fs::symlink_metadata(&real) else { continue };
            if found.is_dir() {
                levels.push(path);
            } else if found.is_symlink() {
                hash.update(std::fs::read_link(&real).unwrap_or_default().as_os_str().as_encoded_bytes());
            } else if let Ok(file) = std::fs::File::open(&real) {
                let mut contents = blake3::Hasher::new();
                // An unreadable entry is hashed by its name only: copying it fails.
                let _ = contents.update_reader(file);
                hash.update(contents.finalize().as_bytes());
            }
        }
    }
    hash.finalize().to_hex().to_string()
}

/// Runs blocking file operations on a thread for them.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PlaceError> + Send + 'static,
) -> Result<T, PlaceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(PlaceError::new("cancelled", "the work on the workspace was given up")),
    }
}

#[cfg(test)]
mod tests {
    use assize_evalfile::{Command, Place, RepoSource};

    use super::*;

    #[test]
    fn the_identity_of_a_workspace_is_held() {
        let hook = Hook {
            command: Some(Command::Shell("make".to_owned())),
            cwd: PathBuf::from("suites"),
            timeout: None,
            reset: Some(Reset::Fast),
            place: Place::new("a.yaml", 1, 1),
        };
        let repo = RepoSpec {
            path: PathBuf::from("repo"),
            source: RepoSource::Url("https://example.com/r.git".to_owned()),
            revision: Some("main".to_owned()),
            ancestor: 1,
            depth: None,
            filter: None,
            sparse: vec!["src".to_owned()],
            place: Place::new("a.yaml", 1, 1),
        };
        let spec = WorkspaceSpec {
            repos: vec![repo],
            hooks: Hooks { before_each: Some(hook), ..Hooks::default() },
            isolation: Some(Isolation::Shared),
            ..WorkspaceSpec::default()
        };

        let held = blake3::hash(&identity(&spec, &Hooks::default())).to_hex();

        assert_eq!(held[..16], *"abc461ef49ab283c");
    }
}
