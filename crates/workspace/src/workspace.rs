//! A workspace as a suite describes it: prepared once, then acquired by one case after another.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assize_model::{
    HookEvent, RepoSpec, WorkspaceHooks, WorkspaceIsolation, WorkspaceMode, WorkspaceReset, WorkspaceSpec,
};
use assize_rubric::IdentityWriter;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::blocking::run_blocking;
use crate::copy::{LinkPolicy, copy_folder};
use crate::folder_handle::{FolderHandle, open_file, sorted_names};
use crate::ignore_rules::IgnoreRules;
use crate::lease_queue::LeaseQueue;
use crate::restore::restore_folder;
use crate::setup::WorkspaceSetup;
use crate::{CaseInfo, LeaseQueuePosition, SnapshotLimits, WorkspaceError, WorkspaceSnapshot, git, hook};

/// A workspace as a suite or a case describes it, for one target. It is created when the first case acquires it.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) spec: WorkspaceSpec,
    /// Hooks of the target, which run inside the workspace's hooks.
    target: Arc<WorkspaceHooks>,
    pub(crate) setup: Arc<WorkspaceSetup>,
    pub(crate) made: OnceCell<Result<PreparedWorkspace, WorkspaceError>>,
    /// Restored workspaces, ready for the next case.
    pool: Mutex<Vec<Arc<FolderHandle>>>,
    turns: LeaseQueue,
    identity: OnceLock<Vec<u8>>,
}

/// State that is prepared once.
#[derive(Debug)]
pub(crate) struct PreparedWorkspace {
    /// The workspace itself if cases share it, or else the original that each case gets a copy of.
    pub(crate) base: Arc<FolderHandle>,
    /// Original state of a shared workspace, if a reset may need it.
    pristine: Option<Arc<FolderHandle>>,
    /// Paths that a fast reset does not restore.
    ignored: Arc<IgnoreRules>,
}

impl Workspace {
    /// Creates the workspace that `spec` describes, with the hooks of the target that works in it.
    pub fn new(spec: WorkspaceSpec, target: Option<Arc<WorkspaceHooks>>, setup: Arc<WorkspaceSetup>) -> Self {
        Self {
            spec,
            target: target.unwrap_or_default(),
            setup,
            made: OnceCell::new(),
            pool: Mutex::default(),
            turns: LeaseQueue::default(),
            identity: OnceLock::new(),
        }
    }

    /// Returns a position in the queue. Call it in the order in which cases start: cases that share a workspace
    /// acquire it in this order.
    pub fn next_position(&self) -> LeaseQueuePosition {
        self.turns.next_position()
    }

    /// Everything that affects the content that cases find in it. The bytes are the same in every build, unless one of
    /// these changes. Repositories are identified by their names.
    pub fn identity(&self) -> &[u8] {
        self.identity.get_or_init(|| identity(&self.spec, &self.target))
    }

    /// Whether cases work in it one after another, so that each may find files of earlier ones.
    pub fn is_shared(&self) -> bool {
        self.spec.isolation() == WorkspaceIsolation::Shared
    }

    pub(crate) async fn prepare(
        &self,
        made: &PreparedWorkspace,
        folder: &Arc<FolderHandle>,
        visitor: &CaseInfo,
    ) -> Result<WorkspaceSnapshot, WorkspaceError> {
        folder.check()?;

        let moment = HookEvent::BeforeEach;
        if let Some(reset) = self.spec.hooks.for_event(moment).and_then(|hook| hook.reset) {
            self.reset(made, folder, reset).await?;
        }

        self.run_hooks(moment, folder, Some(visitor)).await?;
        let (folder, state) = (Arc::clone(folder), self.setup.root()?.path().to_path_buf());
        run_blocking(move || {
            WorkspaceSnapshot::take_folder(folder, SnapshotLimits::default(), &state)
                .map_err(|error| WorkspaceError::new("changes", error.to_string()))
        })
        .await
    }

    /// Runs the hooks after a case, and resets or releases the workspace.
    pub(crate) async fn finish_case(
        &self,
        folder: &Arc<FolderHandle>,
        visitor: &CaseInfo,
    ) -> Result<(), WorkspaceError> {
        folder.check()?;

        let done = self.run_hooks(HookEvent::AfterEach, folder, Some(visitor)).await;
        let reset = self.spec.hooks.for_event(HookEvent::AfterEach).and_then(|hook| hook.reset);
        let done = match (done, reset, self.made.get()) {
            (Ok(()), Some(reset), Some(Ok(made))) if self.spec.isolation() == WorkspaceIsolation::Shared => {
                self.reset(made, folder, reset).await
            }
            (done, ..) => done,
        };

        self.release(folder).await;
        done
    }

    /// Releases a case's own workspace: into the pool if it can be restored, or else by removing it.
    pub(crate) async fn release(&self, folder: &Arc<FolderHandle>) {
        if self.spec.isolation() == WorkspaceIsolation::Shared || self.setup.keep {
            return;
        }

        let (folder, setup) = (Arc::clone(folder), Arc::clone(&self.setup));
        let base = match self.made.get() {
            Some(Ok(made)) if self.spec.mode() == WorkspaceMode::Pooled => Some(Arc::clone(&made.base)),
            _ => None,
        };
        let restored = run_blocking(move || match base {
            Some(base) if restore_folder(&base, &folder, None).is_ok() => Ok(Some(folder)),
            _ => {
                setup.root()?.remove_folder(&folder);
                Ok(None)
            }
        });
        if let Ok(Some(folder)) = restored.await {
            self.pool.lock().push(folder);
        }
    }

    pub(crate) async fn acquire_copy(
        &self,
        made: &PreparedWorkspace,
        visitor: &CaseInfo,
    ) -> Result<Arc<FolderHandle>, WorkspaceError> {
        let waiting = self.pool.lock().pop();
        if let Some(folder) = waiting {
            return Ok(folder);
        }

        let folder = self.create_folder(&visitor.case_id)?;
        self.copy_into(&made.base, &folder, LinkPolicy::Verbatim).await?;

        Ok(folder)
    }

    fn create_folder(&self, name: &str) -> Result<Arc<FolderHandle>, WorkspaceError> {
        let root = self.setup.root()?;
        let created = root.create_folder(name);
        created.map(Arc::new).map_err(|error| WorkspaceError::io("make a folder in", root.path(), &error))
    }

    async fn copy_into(
        &self,
        from: &Arc<FolderHandle>,
        to: &Arc<FolderHandle>,
        links: LinkPolicy,
    ) -> Result<(), WorkspaceError> {
        let (from, to, setup) = (Arc::clone(from), Arc::clone(to), Arc::clone(&self.setup));
        run_blocking(move || {
            from.check()?;
            to.check()?;
            copy_folder(&from, &to, links, &setup.root()?.open)
        })
        .await
    }

    /// Prepares the shared state: template, repositories, then the hooks before all cases.
    pub(crate) async fn prepare_shared(&self) -> Result<PreparedWorkspace, WorkspaceError> {
        let shared = self.spec.isolation() == WorkspaceIsolation::Shared;
        let base = if let (Some(path), WorkspaceMode::Static) = (&self.spec.path, self.spec.mode()) {
            std::fs::create_dir_all(path).map_err(|error| WorkspaceError::io("make", path, &error))?;
            let found = FolderHandle::open(path);
            Arc::new(found.map_err(|error| WorkspaceError::io("find", path, &error))?)
        } else {
            self.create_folder(if shared { "shared" } else { "base" })?
        };

        let is_empty = |folder: &Path| sorted_names(base.dir(), folder).map(|names| names.is_empty());
        let empty =
            is_empty(Path::new("")).map_err(|error| WorkspaceError::io("read", base.path(), &error))?;
        if let Some(template) = self.spec.template.as_ref().filter(|_| empty) {
            let found = FolderHandle::open(template);
            let found = found.map_err(|error| WorkspaceError::io("copy", template, &error))?;
            self.copy_into(&Arc::new(found), &base, LinkPolicy::InsideOnly).await?;
        }

        for repo in &self.spec.repos {
            // In a folder that belongs to the user, existing files are used unchanged.
            let there =
                self.spec.mode() == WorkspaceMode::Static && is_empty(&repo.path).is_ok_and(|empty| !empty);
            if !there {
                if let Some(above) = repo.path.parent().filter(|above| !above.as_os_str().is_empty()) {
                    base.dir()
                        .create_dir_all(above)
                        .map_err(|error| WorkspaceError::io("make", &base.path().join(above), &error))?;
                }
                base.check()?;
                git::check_out(repo, &base.path().join(&repo.path), &self.setup).await?;
            }
        }

        self.run_hooks(HookEvent::BeforeAll, &base, None).await?;
        let resets = |moment| self.spec.hooks.for_event(moment).is_some_and(|hook| hook.reset.is_some());
        let mut pristine = None;
        if shared && (resets(HookEvent::BeforeEach) || resets(HookEvent::AfterEach)) {
            let folder = self.create_folder("pristine")?;
            self.copy_into(&base, &folder, LinkPolicy::Verbatim).await?;
            pristine = Some(folder);
        }

        let folder = Arc::clone(&base);
        let ignored = run_blocking(move || Ok(Arc::new(IgnoreRules::read(folder.dir())))).await?;
        Ok(PreparedWorkspace { base, pristine, ignored })
    }

    async fn reset(
        &self,
        made: &PreparedWorkspace,
        folder: &Arc<FolderHandle>,
        reset: WorkspaceReset,
    ) -> Result<(), WorkspaceError> {
        let pristine = Arc::clone(made.pristine.as_ref().unwrap_or(&made.base));
        let (folder, ignored) = (Arc::clone(folder), Arc::clone(&made.ignored));
        run_blocking(move || {
            restore_folder(&pristine, &folder, (reset == WorkspaceReset::Fast).then_some(&*ignored))
        })
        .await
    }

    /// Runs the hooks for one event. The target's hooks run inside the workspace's hooks.
    async fn run_hooks(
        &self,
        moment: HookEvent,
        folder: &FolderHandle,
        visitor: Option<&CaseInfo>,
    ) -> Result<(), WorkspaceError> {
        let mut hooks = [(&self.spec.hooks, "workspace"), (&*self.target, "target")];
        if matches!(moment, HookEvent::AfterEach | HookEvent::AfterAll) {
            hooks.reverse();
        }

        let mut first = Ok(());
        for (hooks, whose) in hooks {
            for hook in hooks.all_for_event(moment) {
                // If the folder was replaced by a link, a clean-up command would act on the link's target.
                folder.check()?;
                let done = hook::run_hook(hook, moment, whose, folder.path(), visitor, &self.setup).await;

                // Clean-up hooks run even if others failed; preparing hooks need all hooks before them.
                if done.is_err() && matches!(moment, HookEvent::BeforeAll | HookEvent::BeforeEach) {
                    return done;
                }

                first = first.and(done);
            }
        }

        first
    }

    /// Runs the hooks after all cases. Does nothing if no case acquired the workspace.
    pub async fn finish(&self) -> Result<(), WorkspaceError> {
        match self.made.get() {
            Some(Ok(made)) => self.run_hooks(HookEvent::AfterAll, &made.base, None).await,
            _ => Ok(()),
        }
    }
}

impl Drop for Workspace {
    /// Removes everything that was created, since no case can acquire it any more.
    fn drop(&mut self) {
        let own = self.spec.mode() != WorkspaceMode::Static;

        if self.setup.keep {
            return;
        }
        let Some(Ok(made)) = self.made.get() else { return };
        let Ok(root) = self.setup.root() else { return };

        let pool = self.pool.get_mut();
        let own = Some(&made.base).filter(|_| own);
        for folder in pool.iter().chain(&made.pristine).chain(own) {
            root.remove_folder(folder);
        }
    }
}

/// The identity of a workspace with the hooks of a target.
fn identity(spec: &WorkspaceSpec, target: &WorkspaceHooks) -> Vec<u8> {
    let WorkspaceSpec { template, repos, hooks, isolation: _, mode: _, path, docker: _ } = spec;
    let mut identity = IdentityWriter::new("workspace", 1);
    identity.fields(&[&spec.isolation(), &spec.mode(), path, &repos.len()]);

    for repo in repos {
        // The amount of fetched history, and the time of fetching, do not affect files.
        let RepoSpec { path, source, revision, ancestor, depth: _, filter: _, sparse, place: _ } = repo;
        identity.fields(&[path, source, revision, ancestor, sparse]);
    }

    for hooks in [hooks, target] {
        // No case sees the effect of hooks that run after all cases.
        for moment in [HookEvent::BeforeAll, HookEvent::BeforeEach, HookEvent::AfterEach] {
            let hook = hooks.for_event(moment);
            identity.field(&hook.map(|hook| (&hook.command, &hook.reset)));
            for (event, function) in &hooks.functions {
                if *event == moment {
                    identity.field(&(&function.command, &function.reset));
                }
            }
        }
    }

    identity.field(&template.as_deref().map(fingerprint));
    identity.into_bytes()
}

/// A hash of the content of a folder: names, contents, links.
fn fingerprint(folder: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.file_name()).collect::<BTreeSet<_>>()
    };
    // A template that can't be opened can't be copied either, so its hash does not matter.
    let Ok(handle) = FolderHandle::open(folder) else { return String::new() };
    let mut levels = vec![PathBuf::new()];
    while let Some(level) = levels.pop() {
        for name in names(&folder.join(&level)) {
            let path = level.join(name);
            let real = folder.join(&path);

            hash.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
            let Ok(found) = std::fs::symlink_metadata(&real) else { continue };
            if found.is_dir() {
                levels.push(path);
            } else if found.is_symlink() {
                hash.update(std::fs::read_link(&real).unwrap_or_default().as_os_str().as_encoded_bytes());
            } else if let Ok(file) = open_file(handle.dir(), &path) {
                let mut contents = blake3::Hasher::new();
                // An entry that is unreadable or not a file is hashed by its name only: copying it fails
                // anyway.
                let _ = contents.update_reader(file);
                hash.update(contents.finalize().as_bytes());
            }
        }
    }

    hash.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use assize_model::{FilePosition, GraderCommand, RepoSource, WorkspaceHook};

    use super::*;

    #[test]
    fn the_identity_of_a_workspace_is_held() {
        let hook = WorkspaceHook {
            command: Some(GraderCommand::Shell("make".to_owned())),
            cwd: PathBuf::from("suites"),
            timeout: None,
            reset: Some(WorkspaceReset::Fast),
            place: FilePosition::new("a.yaml", 1, 1),
        };
        let repo = RepoSpec {
            path: PathBuf::from("repo"),
            source: RepoSource::Url("https://example.com/r.git".to_owned()),
            revision: Some("main".to_owned()),
            ancestor: 1,
            depth: None,
            filter: None,
            sparse: vec!["src".to_owned()],
            place: FilePosition::new("a.yaml", 1, 1),
        };
        let spec = WorkspaceSpec {
            repos: vec![repo],
            hooks: WorkspaceHooks { before_each: Some(hook), ..WorkspaceHooks::default() },
            isolation: Some(WorkspaceIsolation::Shared),
            ..WorkspaceSpec::default()
        };

        let held = blake3::hash(&identity(&spec, &WorkspaceHooks::default())).to_hex();

        assert_eq!(held[..16], *"abc461ef49ab283c");
    }
}
