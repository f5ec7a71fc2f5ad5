//! Workspaces as eval files describe them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{FilePosition, GraderCommand};

/// The `workspace` settings of a suite or a case. Fields that are `None` or empty were not given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkspaceSpec {
    /// Folder whose contents are copied into it (`template`).
    pub template: Option<PathBuf>,
    /// Repositories in it (`repos`).
    pub repos: Vec<RepoSpec>,
    /// Commands around its use (`hooks`).
    pub hooks: WorkspaceHooks,
    /// Isolation of cases (`isolation`).
    pub isolation: Option<WorkspaceIsolation>,
    /// Life cycle of the workspace (`mode`).
    pub mode: Option<WorkspaceMode>,
    /// An existing folder of the user, for [`WorkspaceMode::Static`] (`path`).
    pub path: Option<PathBuf>,
    /// Container in which program graders run (`docker`).
    pub docker: Option<Arc<ContainerSpec>>,
}

/// A container in which a program runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerSpec {
    /// Image; it does not begin with a hyphen.
    pub image: String,
    /// Time limit of a program in it.
    pub timeout: Option<Duration>,
    /// Limit of its memory, such as `2g`.
    pub memory: Option<String>,
    /// Limit of its processors.
    pub cpus: Option<f64>,
    /// Position in the file.
    pub place: FilePosition,
}

impl WorkspaceSpec {
    /// Returns the settings of a case, with absent ones taken from its suite.
    pub fn or(&self, suite: &Self) -> Self {
        Self {
            template: self.template.clone().or_else(|| suite.template.clone()),
            repos: if self.repos.is_empty() { suite.repos.clone() } else { self.repos.clone() },
            hooks: self.hooks.or(&suite.hooks),
            isolation: self.isolation.or(suite.isolation),
            mode: self.mode.or(suite.mode),
            path: self.path.clone().or_else(|| suite.path.clone()),
            docker: self.docker.clone().or_else(|| suite.docker.clone()),
        }
    }

    /// Returns true if the settings describe a folder, and not only a container, whose image brings its own
    /// files.
    pub fn describes_folder(&self) -> bool {
        let Self { template, repos, hooks, isolation, mode, path, docker } = self;
        let has_files = template.is_some() || path.is_some() || !repos.is_empty();
        let has_settings = isolation.is_some() || mode.is_some() || *hooks != WorkspaceHooks::default();
        docker.is_none() || has_files || has_settings
    }

    /// Returns the life cycle: `mode` if given, else static if there is a `path`, else temporary.
    pub fn mode(&self) -> WorkspaceMode {
        let unsaid = if self.path.is_some() { WorkspaceMode::Static } else { WorkspaceMode::Temp };
        self.mode.unwrap_or(unsaid)
    }

    /// Returns the isolation of cases. A folder of the user is always shared.
    pub fn isolation(&self) -> WorkspaceIsolation {
        if self.mode() == WorkspaceMode::Static {
            return WorkspaceIsolation::Shared;
        }
        self.isolation.unwrap_or(WorkspaceIsolation::PerTest)
    }
}

/// Isolation of the cases in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceIsolation {
    /// Each case starts from the initial state.
    PerTest,
    /// Cases use the same workspace one after the other, and see the changes of earlier ones.
    Shared,
}

/// Life cycle of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceMode {
    /// Created for its use, removed after it.
    Temp,
    /// Reused after its contents were reset, by one case at a time.
    Pooled,
    /// A folder of the user: filled if it is empty, never removed.
    Static,
}

assize_rubric::named_variants!(WorkspaceMode { Pooled = "pooled", Temp = "temp", Static = "static" });

/// A git repository in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoSpec {
    /// Folder in the workspace: relative, without `..`.
    pub path: PathBuf,
    /// Source of the repository.
    pub source: RepoSource,
    /// Branch, tag or commit to check out; the default branch if absent.
    pub revision: Option<String>,
    /// Number of commits to go back from there, following first parents.
    pub ancestor: u32,
    /// Number of commits of history to fetch; all if absent.
    pub depth: Option<u32>,
    /// Filter of a partial clone, such as `blob:none`.
    pub filter: Option<String>,
    /// Patterns of the files to check out; all if empty.
    pub sparse: Vec<String>,
    /// Position in the file.
    pub place: FilePosition,
}

/// Source of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoSource {
    /// A URL that git understands.
    Url(String),
    /// A repository on this machine.
    Folder(PathBuf),
}

/// Commands around the use of a workspace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkspaceHooks {
    /// False to turn all of them off (`enabled`).
    pub enabled: Option<bool>,
    /// Hook that runs once, before the first case.
    pub before_all: Option<WorkspaceHook>,
    /// Hook that runs before each case.
    pub before_each: Option<WorkspaceHook>,
    /// Hook that runs after each case was graded.
    pub after_each: Option<WorkspaceHook>,
    /// Hook that runs once, after the last case.
    pub after_all: Option<WorkspaceHook>,
    /// Functions of `extensions`, each with its event.
    pub functions: Vec<(HookEvent, WorkspaceHook)>,
}

impl WorkspaceHooks {
    /// Returns these hooks, with absent ones taken from `other`.
    pub fn or(&self, other: &Self) -> Self {
        let pick = |own: &Option<WorkspaceHook>, other: &Option<WorkspaceHook>| {
            own.clone().or_else(|| other.clone())
        };
        Self {
            enabled: self.enabled.or(other.enabled),
            before_all: pick(&self.before_all, &other.before_all),
            before_each: pick(&self.before_each, &other.before_each),
            after_each: pick(&self.after_each, &other.after_each),
            after_all: pick(&self.after_all, &other.after_all),
            functions: self.functions.iter().chain(&other.functions).cloned().collect(),
        }
    }

    /// Returns the hook of an event, unless hooks are turned off.
    pub fn for_event(&self, moment: HookEvent) -> Option<&WorkspaceHook> {
        let hook = match moment {
            HookEvent::BeforeAll => &self.before_all,
            HookEvent::BeforeEach => &self.before_each,
            HookEvent::AfterEach => &self.after_each,
            HookEvent::AfterAll => &self.after_all,
        };
        hook.as_ref().filter(|_| self.enabled != Some(false))
    }

    /// Returns everything that runs at an event, in order: functions of `extensions` come after the hook.
    pub fn all_for_event(&self, moment: HookEvent) -> impl Iterator<Item = &WorkspaceHook> {
        let functions = self.functions.iter().filter(move |(event, _)| *event == moment);
        self.for_event(moment).into_iter().chain(functions.map(|(_, function)| function))
    }
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// Once, before the first case.
    BeforeAll,
    /// Before each case.
    BeforeEach,
    /// After each case was graded.
    AfterEach,
    /// Once, after the last case.
    AfterAll,
}

assize_rubric::named_variants!(HookEvent {
    BeforeAll = "before_all", BeforeEach = "before_each", AfterEach = "after_each", AfterAll = "after_all",
});

/// What happens at an event: a reset, a command, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceHook {
    /// Command to run.
    pub command: Option<GraderCommand>,
    /// Working folder; if none is written, the folder of the hook's file.
    pub cwd: PathBuf,
    /// Wall-clock time limit, if set.
    pub timeout: Option<Duration>,
    /// Reset of the workspace, if any.
    pub reset: Option<WorkspaceReset>,
    /// Position in the file.
    pub place: FilePosition,
}

/// What a reset of the workspace removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceReset {
    /// Everything except files that `.gitignore` excludes, such as installed packages.
    Fast,
    /// Everything.
    Strict,
}
