//! Checkout of a git repository at a commit into a workspace.
//!
//! Git runs without prompts, without hooks, over known transports only, and is isolated from a repository
//! that this process may have been started in.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use assize_evalfile::{RepoSource, RepoSpec};
use assize_process::{Command, Environment, Limits, ProcessError};

use crate::PlaceError;
use crate::setup::Setup;

/// Time limit for one git command, which may use the network.
const STEP: Duration = Duration::from_mins(10);
/// Bytes of git's output that an error shows, from the end.
const TAIL: usize = 2000;

/// Settings that override the user's configuration.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "init.templateDir=",
];

/// Clones `repo` into the folder `into`, checks out its commit and returns the commit's hash.
pub(crate) async fn check_out(repo: &RepoSpec, into: &Path, setup: &Setup) -> Result<String, PlaceError> {
    let git = Git { repo, into, env: environment(setup.env()), setup };
    let source = match &repo.source {
        RepoSource::Url(url) => OsString::from(url),
        RepoSource::Folder(folder) => folder
            .canonicalize()
            .map_err(|error| PlaceError::io("find the repository", folder, &error))?
            .into_os_string(),
    };
    let commit = if repo.depth.is_some() { git.shallow(&source).await? } else { git.whole(&source).await? };
    git.disconnect().await?;
    Ok(commit)
}

fn environment(base: &Environment) -> Environment {
    base.clone()
        .with("GIT_TERMINAL_PROMPT", "0")
        .with("GIT_ASKPASS", "true")
        .with("SSH_ASKPASS", "true")
        .with("SSH_ASKPASS_REQUIRE", "never")
        .with("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
        .with("GCM_INTERACTIVE", "never")
        .with("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .with("LC_ALL", "C")
}

struct Git<'a> {
    repo: &'a RepoSpec,
    into: &'a Path,
    env: Environment,
    setup: &'a Setup,
}

impl Git<'_> {
    /// Clones the whole history, so that every commit can be named.
    async fn whole(&self, source: &OsString) -> Result<String, PlaceError> {
        let mut words = texts(&["clone", "--quiet", "--no-checkout", "--no-local", "--template="]);
        words.extend(self.repo.filter.iter().map(|filter| format!("--filter={filter}").into()));
        words.extend([OsString::from("--"), source.clone(), self.into.into()]);
        self.run(words).await?;
        self.choose_files().await?;
        let Some(name) = &self.repo.revision else {
            let commit = self.commit(&self.back("HEAD")).await?;
            if self.repo.ancestor == 0 {
                self.here(&["reset", "--quiet", "--hard"]).await?;
            } else {
                self.here(&["checkout", "--quiet", "--detach", &commit]).await?;
            }
            return Ok(commit);
        };
        let branch = format!("refs/remotes/origin/{name}");
        if let Ok(commit) = self.commit(&self.back(&branch)).await {
            let words: &[&str] = match self.repo.ancestor {
                0 => &["checkout", "--quiet", "-B", name, &commit],
                _ => &["checkout", "--quiet", "--detach", &commit],
            };
            self.here(words).await?;
            return Ok(commit);
        }
        let commit = match self.commit(&self.back(name)).await {
            Ok(commit) => commit,
            // A commit that is on no branch may still be fetched by its name.
            Err(error) => match self.here(&["fetch", "--quiet", "origin", name]).await {
                Ok(_) => self.commit(&self.back("FETCH_HEAD")).await?,
                Err(_) => return Err(error),
            },
        };
        self.here(&["checkout", "--quiet", "--detach", &commit]).await?;
        Ok(commit)
    }

    /// Fetches only the newest commits of the requested revision.
    async fn shallow(&self, source: &OsString) -> Result<String, PlaceError> {
        let words = texts(&["init", "--quiet", "--template=", "--"]);
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
        let commit = self.commit(&self.back("FETCH_HEAD")).await?;
        self.here(&["checkout", "--quiet", "--detach", &commit]).await?;
        Ok(commit)
    }

    async fn choose_files(&self) -> Result<(), PlaceError> {
        if self.repo.sparse.is_empty() {
            return Ok(());
        }
        let mut words = vec!["sparse-checkout", "set", "--no-cone"];
        words.extend(self.repo.sparse.iter().map(String::as_str));
        self.here(&words).await.map(drop)
    }

    /// Disconnects the clone: an agent must not reach a repository of the user through its copy, nor read a
    /// key in its URL.
    async fn disconnect(&self) -> Result<(), PlaceError> {
        match &self.repo.source {
            RepoSource::Folder(_) => self.here(&["remote", "remove", "origin"]).await.map(drop),
            RepoSource::Url(url) => match without_user(url) {
                Some(url) => self.here(&["remote", "set-url", "origin", &url]).await.map(drop),
                None => Ok(()),
            },
        }
    }

    fn back(&self, name: &str) -> String {
        match self.repo.ancestor {
            0 => format!("{name}^{{commit}}"),
            count => format!("{name}~{count}^{{commit}}"),
        }
    }

    async fn commit(&self, name: &str) -> Result<String, PlaceError> {
        let found = self.here(&["rev-parse", "--verify", "--end-of-options", name]).await;
        let found = found.map_err(|_| {
            let wanted = name.trim_end_matches("^{commit}").trim_start_matches("refs/remotes/origin/");
            self.failed(&format!("there is no commit `{wanted}` in it"))
        })?;
        Ok(found.trim().to_owned())
    }

    fn in_repo(&self, words: &[&str]) -> Vec<OsString> {
        [OsString::from("-C"), self.into.into()].into_iter().chain(texts(words)).collect()
    }

    async fn here(&self, words: &[&str]) -> Result<String, PlaceError> {
        self.run(self.in_repo(words)).await
    }

    async fn run(&self, words: Vec<OsString>) -> Result<String, PlaceError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]);
        let words = [OsString::from("git")].into_iter().chain(settings).chain(words);
        let limits = Limits { timeout: Some(STEP), ..Limits::default() };
        match Command::argv(words, self.env.clone()).with_limits(limits).run().await {
            Ok(done) if done.exit.success() => Ok(done.stdout.text().into_owned()),
            Ok(done) => Err(self.failed(done.stderr.tail(TAIL).trim())),
            Err(error @ ProcessError::Timeout { .. }) => {
                Err(PlaceError { kind: "timeout", ..self.failed(&error.to_string()) })
            }
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    fn failed(&self, why: &str) -> PlaceError {
        let source = match &self.repo.source {
            RepoSource::Url(url) => without_user(url).unwrap_or_else(|| url.clone()),
            RepoSource::Folder(folder) => folder.display().to_string(),
        };
        self.setup.said("repository", &format!("{}: the repository `{source}`: {why}", self.repo.place))
    }
}

fn texts(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Returns a URL without user name and key, if it has any. The user of an ssh URL is not secret and is kept.
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
