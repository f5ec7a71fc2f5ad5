//! The environment of a command, which is always complete and explicit and never inherited from this process by
//! accident.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that point git to a repository regardless of its folder.
const REPOSITORY_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
    "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
];

/// A complete set of environment variables, ordered by name.
///
/// The command sees no other variables. The program's entry point takes a snapshot of the real environment
/// once and passes it down with [`Environment::from_vars`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Creates an environment without variables.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Creates an environment from name and value pairs; a later pair replaces an earlier one with the same
    /// name.
    pub fn from_vars<K: Into<OsString>, V: Into<OsString>>(vars: impl IntoIterator<Item = (K, V)>) -> Self {
        Self { vars: vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }

    /// Adds or replaces one variable.
    pub fn with_var(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Removes one variable.
    pub fn without_var(mut self, name: impl AsRef<OsStr>) -> Self {
        self.vars.remove(name.as_ref());
        self
    }

    /// Removes the variables that would make git use the repository that this process was started in, for
    /// example by one of its hooks.
    pub fn outside_repositories(mut self) -> Self {
        for name in REPOSITORY_VARIABLES {
            self.vars.remove(OsStr::new(name));
        }
        self
    }

    /// Returns the value of a variable, if it is set.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.vars.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Iterates over all variables, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Environment {
        Environment::from_vars([("PATH", "/bin"), ("TOKEN", "secret"), ("MODEL", "m")])
    }

    #[test]
    fn adding_replaces_and_removing_removes() {
        let env = base().with_var("MODEL", "other").without_var("TOKEN");
        assert_eq!(env.get("MODEL"), Some(OsStr::new("other")));
        assert_eq!(env.get("TOKEN"), None);
    }
}
