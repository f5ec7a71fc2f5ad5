//! The folder that a case is worked on in, as eval files describe it.

use std::path::PathBuf;
use std::time::Duration;

use super::{Command, Place};

/// `workspace` of a suite or a case. What is `None` or empty was not said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkspaceSpec {
    /// `template`: the folder whose contents it begins with.
    pub template: Option<PathBuf>,
    /// `repos`: repositories in it.
    pub repos: Vec<RepoSpec>,
    /// `hooks`: commands around its use.
    pub hooks: Hooks,
    /// `isolation`: whether cases share it.
    pub isolation: Option<Isolation>,
    /// `mode`: how it is made and what becomes of it.
    pub mode: Option<WorkspaceMode>,
    /// `path`: a folder of the user's own, for [`WorkspaceMode::Static`].
    pub path: Option<PathBuf>,
}

impl WorkspaceSpec {
    /// What a case says about its workspace, with what its suite says where the case is silent.
    pub fn or(&self, suite: &Self) -> Self {
        Self {
            template: self.template.clone().or_else(|| suite.template.clone()),
            repos: if self.repos.is_empty() { suite.repos.clone() } else { self.repos.clone() },
            hooks: self.hooks.or(&suite.hooks),
            isolation: self.isolation.or(suite.isolation),
            mode: self.mode.or(suite.mode),
            path: self.path.clone().or_else(|| suite.path.clone()),
        }
    }

    /// How it is made: as `mode` says, else a `path` means that folder.
    pub fn mode(&self) -> WorkspaceMode {
        let unsaid = if self.path.is_some() { WorkspaceMode::Static } else { WorkspaceMode::Temp };
        self.mode.unwrap_or(unsaid)
    }

    /// Whether cases share it. A folder of the user's own is there once.
    pub fn isolation(&self) -> Isolation {
        if self.mode() == WorkspaceMode::Static {
            return Isolation::Shared;
        }
        self.isolation.unwrap_or(Isolation::PerTest)
    }
}

/// Whether cases share a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Each case finds it as it was made.
    PerTest,
    /// One case after the other works in the same one, and finds what those before it left.
    Shared,
}

/// How a workspace is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceMode {
    /// Made for its use, removed after it.
    Temp,
    /// Used again after its contents were put back, by one case at a time.
    Pooled,
    /// A folder of the user's own: filled if it is empty, never removed.
    Static,
}

/// A git repository in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoSpec {
    /// Its folder in the workspace: relative, without `..`.
    pub path: PathBuf,
    /// Where it comes from.
    pub source: RepoSource,
    /// The branch, tag or commit to check out; the default branch unless given.
    pub revision: Option<String>,
    /// How many first parents to go back from there.
    pub ancestor: u32,
    /// How many commits of history are fetched; all unless given.
    pub depth: Option<u32>,
    /// What git leaves out until it is needed, such as `blob:none`.
    pub filter: Option<String>,
    /// Patterns of the files that are checked out; all unless given.
    pub sparse: Vec<String>,
    /// Where it is written.
    pub place: Place,
}

/// Where a repository comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoSource {
    /// An address that git understands.
    Url(String),
    /// A repository on this machine.
    Folder(PathBuf),
}

/// Commands around the use of a workspace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hooks {
    /// `enabled: false` turns all of them off.
    pub enabled: Option<bool>,
    /// Once, before the first case.
    pub before_all: Option<Hook>,
    /// Before each case.
    pub before_each: Option<Hook>,
    /// After each case was graded.
    pub after_each: Option<Hook>,
    /// Once, after the last case.
    pub after_all: Option<Hook>,
}

impl Hooks {
    /// These hooks, with others where there is none of a kind.
    pub fn or(&self, other: &Self) -> Self {
        let pick = |own: &Option<Hook>, other: &Option<Hook>| own.clone().or_else(|| other.clone());
        Self {
            enabled: self.enabled.or(other.enabled),
            before_all: pick(&self.before_all, &other.before_all),
            before_each: pick(&self.before_each, &other.before_each),
            after_each: pick(&self.after_each, &other.after_each),
            after_all: pick(&self.after_all, &other.after_all),
        }
    }

    /// The hook of a moment, unless hooks are turned off.
    pub fn at(&self, moment: Moment) -> Option<&Hook> {
        let hook = match moment {
            Moment::BeforeAll => &self.before_all,
            Moment::BeforeEach => &self.before_each,
            Moment::AfterEach => &self.after_each,
            Moment::AfterAll => &self.after_all,
        };
        hook.as_ref().filter(|_| self.enabled != Some(false))
    }
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Once, before the first case.
    BeforeAll,
    /// Before each case.
    BeforeEach,
    /// After each case was graded.
    AfterEach,
    /// Once, after the last case.
    AfterAll,
}

assize_rubric::named_variants!(Moment {
    BeforeAll = "before_all", BeforeEach = "before_each", AfterEach = "after_each", AfterAll = "after_all",
});

/// What happens at a moment: a reset, a command, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// What to run.
    pub command: Option<Command>,
    /// The folder it runs in: as written, else that of the file the hook stands in.
    pub cwd: PathBuf,
    /// Wall-clock limit, if one is set.
    pub timeout: Option<Duration>,
    /// How the workspace is put back, if it is.
    pub reset: Option<Reset>,
    /// Where it is written.
    pub place: Place,
}

/// How much of a workspace is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// All but what `.gitignore` files exclude, such as installed packages.
    Fast,
    /// Everything.
    Strict,
}
