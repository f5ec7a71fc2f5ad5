//! The environment variables that grading programs see.

use std::collections::BTreeSet;
use std::path::Path;

use assize_llm::ModelProxy;
use assize_process::Environment;

/// Variables with the address and the token of a program's model proxy.
const PROXY_VARIABLES: (&str, &str) = ("ASSIZE_PROXY_URL", "ASSIZE_PROXY_TOKEN");
/// The same in the `tests` format.
const FORMAT_PROXY_VARIABLES: (&str, &str) = ("AGENTV_TARGET_PROXY_URL", "AGENTV_TARGET_PROXY_TOKEN");
/// The same in AgentV's newest format.
const NEWEST_PROXY_VARIABLES: (&str, &str) = ("AGENTV_PROVIDER_PROXY_URL", "AGENTV_PROVIDER_PROXY_TOKEN");
/// The same in client libraries; the address is the one for chat completions.
const CLIENT_PROXY_VARIABLES: (&str, &str) = ("OPENAI_BASE_URL", "OPENAI_API_KEY");

/// Variables with the workspace of the case; the second is the `tests` format's name.
const WORKSPACE_VARIABLES: [&str; 2] = ["ASSIZE_WORKSPACE_PATH", "AGENTV_WORKSPACE_PATH"];

/// The variables of this process, without API keys.
///
/// A grading program has no use for the keys that pay for judges and targets. A program that calls models
/// itself lists the variables that it needs.
#[derive(Debug, Clone, Default)]
pub struct ProgramEnvironment {
    all: Environment,
    kept: BTreeSet<String>,
}

impl ProgramEnvironment {
    /// Creates an environment from these variables. Programs don't get the variables in `kept`.
    pub fn new(all: Environment, kept: impl IntoIterator<Item = String>) -> Self {
        Self { all, kept: kept.into_iter().collect() }
    }

    /// The environment of a program that lists these variables, sees this workspace and may use a model proxy.
    pub(super) fn build_environment(
        &self,
        named: &[String],
        workspace: Option<&Path>,
        proxy: Option<&ModelProxy>,
    ) -> Environment {
        let is_named = |name: &str| named.iter().any(|known| known == name);
        let mut env =
            self.kept.iter().filter(|name| !is_named(name)).fold(self.all.clone(), Environment::without_var);
        if let Some(folder) = workspace {
            env = WORKSPACE_VARIABLES.into_iter().fold(env, |env, name| env.with_var(name, folder));
        }

        let Some(proxy) = proxy else { return env };
        for (address, token) in [PROXY_VARIABLES, FORMAT_PROXY_VARIABLES, NEWEST_PROXY_VARIABLES] {
            env = env.with_var(address, proxy.url()).with_var(token, proxy.token());
        }

        // A program that lists its own account there keeps it.
        let (address, token) = CLIENT_PROXY_VARIABLES;
        if !is_named(address) && !is_named(token) {
            env = env.with_var(address, format!("{}/v1", proxy.url())).with_var(token, proxy.token());
        }

        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_unless_they_are_named() {
        let all = Environment::from_vars([("PATH", "/bin"), ("OPENAI_API_KEY", "k"), ("MY_KEY", "m")]);
        let environment = ProgramEnvironment::new(all, ["OPENAI_API_KEY".to_owned(), "MY_KEY".to_owned()]);
        let seen = |named: &[&str]| -> Vec<String> {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            let env = environment.build_environment(&named, None, None);
            env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(seen(&[]), ["PATH"]);
        assert_eq!(seen(&["MY_KEY", "ABSENT"]), ["MY_KEY", "PATH"]);
    }

    #[test]
    fn the_workspace_of_the_case_is_told() {
        let environment = ProgramEnvironment::default();
        let env = environment.build_environment(&[], Some(Path::new("/work")), None);
        assert_eq!(WORKSPACE_VARIABLES.map(|name| env.get(name)), [Some("/work".as_ref()); 2]);
        let env = environment.build_environment(&[], None, None);
        assert_eq!(WORKSPACE_VARIABLES.map(|name| env.get(name)), [None; 2]);
    }
}
