//! Checks out a git repository at a commit into a workspace.
//!
//! Git runs without prompts and hooks and only over known transports. It is isolated from a repository that
//! this process may have been started in.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use assize_model::{RepoSource, RepoSpec};
use assize_process::{Environment, OwnProgram, ProcessError, ProcessLimits};

use crate::WorkspaceError;
use crate::setup::WorkspaceSetup;

/// Time limit for one git command, which may use the network.
const GIT_TIMEOUT: Duration = Duration::from_mins(10);
/// Bytes of git's output that an error shows, from the end.
const STDERR_TAIL: usize = 2000;

/// Settings that override the user's configuration.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never",
    "advice.detachedHead=false", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
    "init.templateDir=",
];

/// Clones `repo` into the folder `into`, checks out its commit and returns the commit's hash.
pub(crate) async fn check_out(
    repo: &RepoSpec,
    into: &Path,
    setup: &WorkspaceSetup,
) -> Result<String, WorkspaceError> {
    let git = GitCheckout { repo, into, env: environment(&setup.env), setup };
    let source = match &repo.source {
        RepoSource::Url(url) => OsString::from(url),
        RepoSource::Folder(folder) => folder
            .canonicalize()
            .map_err(|error| WorkspaceError::io("find the repository", folder, &error))?
            .into_os_string(),
    };

    let commit = if repo.depth.is_some() {
        git.fetch_shallow(&source).await?
    } else {
        git.clone_full(&source).await?
    };

    git.disconnect().await?;
    Ok(commit)
}

fn environment(base: &Environment) -> Environment {
    base.clone()
        .with_var("GIT_TERMINAL_PROMPT", "0")
        .with_var("GIT_ASKPASS", "true")
        .with_var("SSH_ASKPASS", "true")
        .with_var("SSH_ASKPASS_REQUIRE", "never")
        .with_var("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
        .with_var("GCM_INTERACTIVE", "never")
        .with_var("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .with_var("LC_ALL", "C")
}

struct GitCheckout<'a> {
    repo: &'a RepoSpec,
    into: &'a Path,
    env: Environment,
    setup: &'a WorkspaceSetup,
}

impl GitCheckout<'_> {
    /// Clones the whole history, so that every commit can be named.
    async fn clone_full(&self, source: &OsString) -> Result<String, WorkspaceError> {
        let mut words = to_words(&["clone", "--quiet", "--no-checkout", "--no-local", "--template="]);
        words.extend(self.repo.filter.iter().map(|filter| format!("--filter={filter}").into()));
        words.extend([OsString::from("--"), source.clone(), self.into.into()]);
        self.run(words).await?;
        self.choose_files().await?;

        let Some(name) = &self.repo.revision else {
            let commit = self.resolve_commit(&self.revision_name("HEAD")).await?;
            if self.repo.ancestor == 0 {
                self.run_in_repo(&["reset", "--quiet", "--hard"]).await?;
            } else {
                self.run_in_repo(&["checkout", "--quiet", "--detach", &commit]).await?;
            }

            return Ok(commit);
        };

        let branch = format!("refs/remotes/origin/{name}");
        if let Ok(commit) = self.resolve_commit(&self.revision_name(&branch)).await {
            let words: &[&str] = match self.repo.ancestor {
                0 => &["checkout", "--quiet", "-B", name, &commit],
                _ => &["checkout", "--quiet", "--detach", &commit],
            };
            self.run_in_repo(words).await?;

            return Ok(commit);
        }

        let commit = match self.resolve_commit(&self.revision_name(name)).await {
            Ok(commit) => commit,
            // A commit that is not on any branch may still be fetched by its name.
            Err(error) => match self.run_in_repo(&["fetch", "--quiet", "origin", name]).await {
                Ok(_) => self.resolve_commit(&self.revision_name("FETCH_HEAD")).await?,
                Err(_) => return Err(error),
            },
        };

        self.run_in_repo(&["checkout", "--quiet", "--detach", &commit]).await?;
        Ok(commit)
    }

    /// Fetches only the newest commits of the requested revision.
    async fn fetch_shallow(&self, source: &OsString) -> Result<String, WorkspaceError> {
        let words = to_words(&["init", "--quiet", "--template=", "--"]);
        self.run(words.into_iter().chain([self.into.into()]).collect()).await?;

        let mut words = self.in_repo(&["remote", "add", "--", "origin"]);
        words.push(source.clone());
        self.run(words).await?;
        self.choose_files().await?;

        let depth = self.repo.depth.unwrap_or(1).max(self.repo.ancestor.saturating_add(1));
        let mut words = self.in_repo(&["fetch", "--quiet", "--no-tags", "--depth", &depth.to_string()]);
        words.extend(self.repo.filter.iter().map(|filter| format!("--filter={filter}").into()));
        words.extend(["origin", self.repo.revision.as_deref().unwrap_or("HEAD")].map(OsString::from));
        self.run(words).await?;

        let commit = self.resolve_commit(&self.revision_name("FETCH_HEAD")).await?;
        self.run_in_repo(&["checkout", "--quiet", "--detach", &commit]).await?;

        Ok(commit)
    }

    async fn choose_files(&self) -> Result<(), WorkspaceError> {
        if self.repo.sparse.is_empty() {
            return Ok(());
        }

        let mut words = vec!["sparse-checkout", "set", "--no-cone"];
        words.extend(self.repo.sparse.iter().map(String::as_str));

        self.run_in_repo(&words).await.map(drop)
    }

    /// Disconnects the clone: an agent must neither reach a repository of the user through its copy, nor read a
    /// key in its URL.
    async fn disconnect(&self) -> Result<(), WorkspaceError> {
        match &self.repo.source {
            RepoSource::Folder(_) => self.run_in_repo(&["remote", "remove", "origin"]).await.map(drop),
            RepoSource::Url(url) => match without_user(url) {
                Some(url) => self.run_in_repo(&["remote", "set-url", "origin", &url]).await.map(drop),
                None => Ok(()),
            },
        }
    }

    fn revision_name(&self, name: &str) -> String {
        match self.repo.ancestor {
            0 => format!("{name}^{{commit}}"),
            count => format!("{name}~{count}^{{commit}}"),
        }
    }

    async fn resolve_commit(&self, name: &str) -> Result<String, WorkspaceError> {
        let found = self.run_in_repo(&["rev-parse", "--verify", "--end-of-options", name]).await;
        let found = found.map_err(|_| {
            let wanted = name.trim_end_matches("^{commit}").trim_start_matches("refs/remotes/origin/");
            self.repository_error(&format!("there is no commit `{wanted}` in it"))
        })?;
        Ok(found.trim().to_owned())
    }

    fn in_repo(&self, words: &[&str]) -> Vec<OsString> {
        [OsString::from("-C"), self.into.into()].into_iter().chain(to_words(words)).collect()
    }

    async fn run_in_repo(&self, words: &[&str]) -> Result<String, WorkspaceError> {
        self.run(self.in_repo(words)).await
    }

    async fn run(&self, words: Vec<OsString>) -> Result<String, WorkspaceError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]);
        let words = settings.chain(words);
        let limits = ProcessLimits { timeout: Some(GIT_TIMEOUT), ..ProcessLimits::default() };
        match OwnProgram::Git.run(words, self.env.clone(), limits).await {
            Ok(done) if done.exit.is_success() => Ok(done.stdout.text().into_owned()),
            Ok(done) => Err(self.repository_error(done.stderr.tail(STDERR_TAIL).trim())),
            Err(error @ ProcessError::Timeout { .. }) => {
                Err(WorkspaceError { kind: "timeout", ..self.repository_error(&error.to_string()) })
            }
            Err(error) => Err(self.repository_error(&error.to_string())),
        }
    }

    fn repository_error(&self, why: &str) -> WorkspaceError {
        let source = match &self.repo.source {
            RepoSource::Url(url) => without_user(url).unwrap_or_else(|| url.clone()),
            RepoSource::Folder(folder) => folder.display().to_string(),
        };
        self.setup
            .redacted_error("repository", &format!("{}: the repository `{source}`: {why}", self.repo.place))
    }
}

fn to_words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// The URL without user name and key, if it has any. The user of an ssh URL is not secret and is kept.
fn without_user(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (user, host) = rest.split_once('@')?;
    (scheme.starts_with("http") && !user.contains('/')).then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_stay_in_addresses() {
        assert_eq!(without_user("https://me:key@host/a.git").as_deref(), Some("https://host/a.git"));
        assert_eq!(without_user("https://host/a@b"), None);
        assert_eq!(without_user("ssh://git@host/a"), None);
        assert_eq!(without_user("git@host:a"), None);
    }
}
