//! Determines which providers can be used now, and why others can't. Nothing is sent.

use reqwest::header::HeaderValue;
use secrecy::ExposeSecret;

use crate::config::ConfigError;
use crate::name::ModelName;
use crate::provider::{self, JUDGE_BASE_URL, JUDGE_KEY, PROVIDERS, ProviderRow};
use crate::settings;

/// The state of one provider's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReadiness {
    /// The provider's name.
    pub provider: &'static str,
    /// The source of the key: the variable that is set or a profile, or else the variable to set.
    pub key_variable: String,
    /// The variable for its address: the one that is set, or else the one to set.
    pub base_url_variable: &'static str,
    /// True if any variable of this provider is set. A provider may be ready without one: a server on this
    /// machine needs none.
    pub configured: bool,
    /// Host, and the port unless it is the usual one; `None` if there is no usable address.
    pub host: Option<String>,
    /// State of its settings.
    pub state: ReadyState,
}

/// State of a provider's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyState {
    /// It has an address and a key. Whether the server accepts the key is unknown.
    Ready,
    /// It has an address and needs no key. Whether a server runs there is unknown.
    ReadyWithoutKey,
    /// Something is not set.
    Missing {
        /// All variables to set, the key's variable first. An entry may name alternatives, such as
        /// `GEMINI_API_KEY or GOOGLE_API_KEY`.
        variables: Vec<String>,
        /// A variable that is set but not read, and what to do instead.
        unread: Option<(&'static str, &'static str)>,
    },
    /// The address is not valid.
    BadBaseUrl {
        /// The variable that holds it.
        variable: String,
        /// What is wrong with the value.
        reason: String,
    },
    /// The key or another setting is invalid.
    BadSetting {
        /// What is wrong, in a sentence that names the variable and shows no value.
        reason: String,
    },
}

impl ReadyState {
    /// Whether a question could be sent now.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready | Self::ReadyWithoutKey)
    }
}

/// The readiness of all providers, in the order they are shown to people.
pub fn readiness(env: &dyn Fn(&str) -> Option<String>) -> Vec<ProviderReadiness> {
    PROVIDERS.iter().map(|row| row_readiness(row, false, env)).collect()
}

/// The readiness of the provider of that name; `None` if there is none.
pub fn usable(provider: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<ProviderReadiness> {
    provider::find(&provider.trim().to_ascii_lowercase()).map(|row| row_readiness(row, false, env))
}

/// The readiness of the model that `JUDGE_MODEL` names, if it has its own variables. Otherwise `None`, and
/// [`readiness`] of its provider applies. Also `None` if the text does not name a model.
pub fn judge_readiness(judge_model: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<ProviderReadiness> {
    let name = ModelName::for_judge(judge_model, env).ok()?;
    name.own_variables.then(|| row_readiness(name.provider, true, env))
}

/// `own`: with the judge's own variables instead of the provider's.
fn row_readiness(
    row: &'static ProviderRow,
    own: bool,
    env: &dyn Fn(&str) -> Option<String>,
) -> ProviderReadiness {
    let (key_variables, base_url_variables): (&'static [&'static str], &'static [&'static str]) =
        if own { (&[JUDGE_KEY], &[JUDGE_BASE_URL]) } else { (row.key_variables, row.base_url_variables) };
    let set = |variable: &str| env(variable).is_some_and(|value| !value.trim().is_empty());
    let first = |variables: &'static [&'static str]| variables.iter().copied().find(|variable| set(variable));
    let (key, address) = (first(key_variables), first(base_url_variables));
    let unread = row.unread.iter().copied().find(|(variable, _)| set(variable));
    let missing = |variables| ReadyState::Missing { variables, unread: unread.filter(|_| key.is_none()) };

    // The address is checked first, and the key may be missing as well.
    let with_key = |variable: String| {
        let signs = || !own && matches!(settings::access_key(row, env), Ok(Some(_)));
        let lacks_key = row.key_needed && key.is_none() && !signs();
        lacks_key.then(|| settings::key_names(row, key_variables)).into_iter().chain([variable]).collect()
    };
    let endpoint = if own { settings::judge_endpoint(row, env) } else { settings::endpoint(row, env) };
    let found = endpoint.as_ref().ok().and_then(|endpoint| Some(endpoint.key.as_ref()?.source.clone()));
    let is_meant = found.is_some() || matches!(endpoint, Err(ConfigError::NoAccessKey { .. }));
    let (host, state) = match endpoint {
        Ok(endpoint) => {
            let state = match &endpoint.key {
                None => ReadyState::ReadyWithoutKey,
                Some(key) if HeaderValue::from_str(key.secret.expose_secret()).is_err() => {
                    let error = ConfigError::UnsendableSecret { source_name: key.source.clone() };
                    ReadyState::BadSetting { reason: error.to_string() }
                }
                Some(_) => ReadyState::Ready,
            };
            (Some(endpoint.host()), state)
        }
        Err(ConfigError::MissingKey { variable, host, .. }) => (Some(host), missing(vec![variable])),
        Err(ConfigError::MissingBaseUrl { variable, .. }) => (None, missing(with_key(variable))),
        Err(ConfigError::MissingPlace { variable, .. }) => (None, missing(with_key(variable.to_owned()))),
        Err(ConfigError::BadBaseUrl { variable, reason }) => {
            (None, ReadyState::BadBaseUrl { variable, reason })
        }
        Err(error) => (None, ReadyState::BadSetting { reason: error.to_string() }),
    };
    ProviderReadiness {
        provider: row.name,
        key_variable: found.unwrap_or_else(|| {
            let usual = if own { JUDGE_KEY } else { settings::key_variable(row) };
            key.unwrap_or(usual).to_owned()
        }),
        base_url_variable: address
            .unwrap_or_else(|| if own { JUDGE_BASE_URL } else { settings::base_url_variable(row) }),
        configured: is_meant || key.is_some() || address.is_some() || unread.is_some(),
        host,
        state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(provider: &str, variables: &[(&str, &str)]) -> ProviderReadiness {
        let env = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        usable(provider, &env).unwrap()
    }

    #[test]
    fn only_local_servers_are_ready_without_settings() {
        let all = readiness(&|_| None);
        let ready: Vec<_> = all.iter().filter(|one| one.state.is_ready()).map(|one| one.provider).collect();
        assert_eq!(ready, ["ollama", "vllm", "llamacpp", "lmstudio"]);
        assert!(all.iter().all(|one| !one.configured));
        assert_eq!(all.len(), provider::known_providers().count());
    }

    fn missing(variables: &[&str]) -> ReadyState {
        let variables = variables.iter().map(|variable| (*variable).to_owned()).collect();
        ReadyState::Missing { variables, unread: None }
    }

    #[test]
    fn keys_that_can_be_none_are_told_without_being_shown() {
        for (key, words) in [
            ("\"gsk_quoted\"", "quotation marks"),
            ("'gsk_quoted'", "quotation marks"),
            ("Bearer gsk_quoted", "begins with `Bearer`"),
            ("gsk_quoted gsk_quoted", "white space"),
            ("gsk_quoted\ngsk_quoted", "white space"),
            ("gsk_quoted\u{7}", "can't be sent"),
        ] {
            let state = state("groq", &[("GROQ_API_KEY", key)]).state;
            let ReadyState::BadSetting { reason } = &state else { panic!("{key}: {state:?}") };
            assert!(reason.contains("GROQ_API_KEY") && reason.contains(words), "{reason}");
            assert!(!reason.contains("gsk_quoted"), "{reason}");
        }
    }

    #[test]
    fn keys_and_addresses_decide() {
        let ready = state("anthropic", &[("ANTHROPIC_API_KEY", "k")]);
        assert_eq!((ready.state, ready.host.as_deref()), (ReadyState::Ready, Some("api.anthropic.com")));
        let google = state("Google", &[("GOOGLE_API_KEY", "k")]);
        assert_eq!(
            (google.provider, google.key_variable, google.state),
            ("gemini", "GOOGLE_API_KEY".to_owned(), ReadyState::Ready)
        );
        assert_eq!(
            state("gemini", &[("GEMINI_API_KEY", " ")]).state,
            missing(&["GEMINI_API_KEY or GOOGLE_API_KEY"])
        );
        assert_eq!(
            state("azure", &[("AZURE_OPENAI_API_KEY", "k")]).state,
            missing(&["AZURE_OPENAI_ENDPOINT"])
        );
        assert_eq!(
            state("azure", &[]).state,
            missing(&["AZURE_OPENAI_API_KEY or AZURE_API_KEY", "AZURE_OPENAI_ENDPOINT"])
        );
        assert_eq!(
            state("bedrock", &[]).state,
            missing(&["AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID", "AWS_REGION"])
        );
        let half = state("bedrock", &[("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_REGION", "eu-west-1")]);
        assert!(half.configured, "somebody meant it");
        assert!(
            matches!(&half.state, ReadyState::BadSetting { reason } if reason.contains("AWS_SECRET_ACCESS_KEY is not")),
            "{half:?}"
        );
        let access = [("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "s")];
        assert_eq!(state("bedrock", &access).state, missing(&["AWS_REGION"]));
        let signed = state("bedrock", &[&access[..], &[("AWS_REGION", "eu-west-1")]].concat());
        assert_eq!((&*signed.key_variable, signed.state), ("AWS_SECRET_ACCESS_KEY", ReadyState::Ready));
        let azure = [("AZURE_OPENAI_API_KEY", "k"), ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/")];
        assert_eq!(state("azure", &azure).host.as_deref(), Some("r.openai.azure.com"));
        let bad = state("groq", &[("GROQ_BASE_URL", "nonsense"), ("GROQ_API_KEY", "k")]);
        assert!(matches!(bad.state, ReadyState::BadBaseUrl { variable, .. } if variable == "GROQ_BASE_URL"));
        let unsendable = format!("{:?}", state("groq", &[("GROQ_API_KEY", "geheim\nniss")]));
        assert!(unsendable.contains("BadSetting") && !unsendable.contains("geheim"), "{unsendable}");
        assert_eq!(usable("acme", &|_| None), None);
    }
}
