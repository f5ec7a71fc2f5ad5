//! Builds an endpoint from a provider's row and the variables of the environment.

use std::borrow::Cow;

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use crate::address::{self, MISSING_REGION};
use crate::aws::{self, AccessKey, RequestSigner};
use crate::config::{ConfigError, Lookup};
use crate::endpoint::ModelEndpoint;
use crate::provider::{JUDGE_BASE_URL, JUDGE_KEY, ProviderRow};
use crate::proxies::HttpProxies;

/// Shorter keys are placeholders, which may occur in an address by chance.
const SHORTEST_STRAY_KEY: usize = 8;

/// A pseudo-variable. Its value is the names of the variables that were set by a file in the working folder,
/// separated by spaces. The code that read the file answers it; it is never taken from an environment.
pub const FILE_VARIABLES: &str = "ASSIZE_ENV_FILE_VARIABLES";

/// The endpoint of a provider. Variables with nothing but white space count as not set.
pub(crate) fn endpoint(row: &'static ProviderRow, env: Lookup<'_>) -> Result<ModelEndpoint, ConfigError> {
    from(row, row.key_variables, row.base_url_variables, env)
}

/// The endpoint of a judge with separate variables. The provider's own key is not sent to another address.
pub(crate) fn judge_endpoint(
    row: &'static ProviderRow,
    env: Lookup<'_>,
) -> Result<ModelEndpoint, ConfigError> {
    const ADDRESS: &[&str] = &[JUDGE_BASE_URL];
    let moved = env(JUDGE_BASE_URL).is_some_and(|value| !value.trim().is_empty());
    from(row, &[JUDGE_KEY], if moved { ADDRESS } else { row.base_url_variables }, env)
}

fn from(
    row: &'static ProviderRow,
    key_variables: &'static [&'static str],
    base_url_variables: &'static [&'static str],
    env: Lookup<'_>,
) -> Result<ModelEndpoint, ConfigError> {
    let set = |variable: &str| env(variable).filter(|value| !value.trim().is_empty());
    let first = |variables: &'static [&'static str]| {
        variables.iter().find_map(|variable| Some((*variable, set(variable)?)))
    };
    let usual_variable = base_url_variable(row);
    let (variable, written) = match (first(base_url_variables), row.base_url) {
        (Some((variable, value)), _) => (variable, Cow::Owned(value)),
        (None, Some(usual)) => (usual_variable, Cow::Borrowed(usual)),
        (None, None) => {
            return Err(ConfigError::MissingBaseUrl {
                provider: row.name.to_owned(),
                variable: usual_variable.to_owned(),
            });
        }
    };

    let access = match first(key_variables) {
        None if key_variables == row.key_variables => access_key(row, &set)?,
        _ => None,
    };
    let signing =
        access.as_ref().map(|access| (access.source.as_str(), access.secret.expose_secret().to_owned()));
    let mut key = first(key_variables).or(signing);

    // An address is shown to people and looked up by name, so a key in it would be exposed.
    if let Some((key_variable, key)) = &key
        && key.trim().len() >= SHORTEST_STRAY_KEY
        && written.contains(key.trim())
    {
        return Err(ConfigError::BadBaseUrl {
            variable: variable.to_owned(),
            reason: format!("it holds the API key, which belongs in {key_variable} only"),
        });
    }

    if let Some((variable, key)) = &key
        && let Some(what) = odd(key.trim())
    {
        return Err(ConfigError::OddKey { variable: (*variable).to_owned(), what });
    }

    let mut endpoint = ModelEndpoint::new(&(row.address)(&written, &set)?, variable)?;
    endpoint.is_usual_address = matches!(written, Cow::Borrowed(_));
    address::complete(&mut endpoint.base_url, row.base_url, !row.key_needed);

    if let Some((file_variable, server)) = route_from_file(variable, &endpoint, env)
        && let Some((key_variable, _)) = key
    {
        let is_foreign = |variable: &str| !is_from_file(variable, env);
        key = match key {
            Some((aws::SECRET, secret)) if !is_foreign(aws::SECRET) => Some((aws::SECRET, secret)),
            _ => key_variables
                .iter()
                .filter(|variable| !is_foreign(variable))
                .find_map(|variable| Some((*variable, set(variable)?))),
        };
        if key.is_none() && !endpoint.is_loopback() {
            return Err(ConfigError::ForeignAddress {
                variable: key_variable.to_owned(),
                file_variable: file_variable.to_owned(),
                server,
            });
        }
    }

    match key {
        Some((variable, key)) => {
            if let Some(access) = &access {
                let region = aws::region_of(&endpoint.base_url).map(str::to_owned);
                let region = region.or(aws::region(&set)?.map(|(_, region)| region)).ok_or(MISSING_REGION)?;
                endpoint.signer = Some(RequestSigner { key: access.clone(), region });
            }
            Ok(endpoint.with_key(&SecretString::from(key), variable))
        }
        None if !row.key_needed || endpoint.is_loopback() => {
            key_variables.first().copied().unwrap_or_default().clone_into(&mut endpoint.key_source);
            Ok(endpoint)
        }
        None => Err(ConfigError::MissingKey {
            variable: key_names(row, key_variables),
            base_url_variable: variable.to_owned(),
            host: endpoint.host(),
        }),
    }
}

/// The access key of AWS with which requests to this provider are signed, if there is one.
pub(crate) fn access_key(row: &ProviderRow, env: Lookup<'_>) -> Result<Option<AccessKey>, ConfigError> {
    if row.takes_access_key { AccessKey::find(env) } else { Ok(None) }
}

/// The alternative variables of a key, for messages.
pub(crate) fn key_names(row: &ProviderRow, key_variables: &[&str]) -> String {
    let signing = (row.takes_access_key && key_variables == row.key_variables).then_some(aws::KEY_ID);
    key_variables.iter().copied().chain(signing).collect::<Vec<_>>().join(" or ")
}

/// The variable from a file that determines which server receives a key, and that server. The author of the file may
/// have named a server of their own.
fn route_from_file(
    variable: &'static str,
    endpoint: &ModelEndpoint,
    env: Lookup<'_>,
) -> Option<(&'static str, String)> {
    if is_from_file(variable, env) {
        return Some((variable, endpoint.host()));
    }

    let proxy = HttpProxies::from_env(env).variable_for(&endpoint.base_url)?;
    is_from_file(proxy, env).then(|| (proxy, "the proxy that it names".to_owned()))
}

/// Whether requests to an address go through a proxy that a file in the working folder names.
pub fn is_routed_by_file(address: &str, env: Lookup<'_>) -> bool {
    let proxies = HttpProxies::from_env(env);
    let proxy = Url::parse(address.trim()).ok().and_then(|url| proxies.variable_for(&url));
    proxy.is_some_and(|variable| is_from_file(variable, env))
}

/// Whether a file in the working folder has set a variable.
pub(crate) fn is_from_file(variable: &str, env: Lookup<'_>) -> bool {
    env(FILE_VARIABLES).is_some_and(|names| names.split(' ').any(|name| name == variable))
}

/// What is wrong with a key that no server could accept.
fn odd(key: &str) -> Option<&'static str> {
    let quoted = |mark: char| key.len() > 1 && key.starts_with(mark) && key.ends_with(mark);
    if quoted('"') || quoted('\'') {
        return Some("it is in quotation marks, which would be sent as part of it");
    }

    let word = key.split_whitespace().next().unwrap_or_default();
    match key.contains(char::is_whitespace) {
        true if word.eq_ignore_ascii_case("bearer") => {
            Some("it begins with `Bearer`, which is added by itself")
        }
        true => Some("there is white space in it"),
        false => None,
    }
}

/// The key variable to name in messages.
pub(crate) fn key_variable(row: &ProviderRow) -> &'static str {
    row.key_variables.first().copied().unwrap_or_default()
}

/// The address variable to name in messages. If there is no usual address, it is the best known variable, which is the
/// last one.
pub(crate) fn base_url_variable(row: &ProviderRow) -> &'static str {
    let known =
        if row.base_url.is_some() { row.base_url_variables.first() } else { row.base_url_variables.last() };
    known.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::provider::PROVIDERS;

    /// The key that is sent, given variables from the environment and from a file.
    fn sent(
        row: &'static ProviderRow,
        judge: bool,
        environment: &[(&str, &str)],
        file: &[(&str, &str)],
    ) -> Result<Option<String>, ConfigError> {
        let names: Vec<&str> = file.iter().map(|(name, _)| *name).collect();
        let env = |name: &str| match name {
            FILE_VARIABLES => Some(names.join(" ")),
            name => environment
                .iter()
                .chain(file)
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned()),
        };

        let found = if judge { judge_endpoint(row, &env) } else { endpoint(row, &env) }?;
        Ok(found.key.map(|key| key.secret.expose_secret().to_owned()))
    }

    #[test]
    fn the_usual_address_does_not_come_from_a_variable() {
        let row = PROVIDERS.iter().find(|row| row.name == "openai").expect("known");
        let origin = |base_url: Option<&str>| {
            let env = |name: &str| match name {
                "OPENAI_API_KEY" => Some("key-of-test".to_owned()),
                "OPENAI_BASE_URL" => base_url.map(str::to_owned),
                _ => None,
            };
            endpoint(row, &env).expect("usable").address_origin()
        };

        assert_eq!(origin(None), "the default, as OPENAI_BASE_URL is not set");
        assert_eq!(origin(Some(" ")), "the default, as OPENAI_BASE_URL is not set");
        assert_eq!(origin(Some("http://127.0.0.1:9/v1")), "from OPENAI_BASE_URL");
    }

    const PLACES: [(&str, &str); 2] = [("AWS_REGION", "eu-west-1"), ("GOOGLE_CLOUD_PROJECT", "p")];

    #[test]
    fn an_address_of_a_file_gets_a_key_of_that_file_only() {
        for row in PROVIDERS {
            for &address in row.base_url_variables {
                for &key in row.key_variables {
                    let far = [&PLACES[..], &[(address, "https://far.example.com/v1")]].concat();
                    let near = [&PLACES[..], &[(address, "http://127.0.0.1:9/v1")]].concat();
                    let with_key = [&far[..], &[(key, "key-of-file")]].concat();
                    let environment = [(key, "key-of-environment")];

                    let error = sent(row, false, &environment, &far).expect_err(row.name);
                    assert!(matches!(error, ConfigError::ForeignAddress { .. }), "{}: {error}", row.name);
                    assert_eq!(sent(row, false, &environment, &near), Ok(None), "{}", row.name);
                    let own = sent(row, false, &[], &with_key);
                    assert_eq!(own, Ok(Some("key-of-file".to_owned())), "{}", row.name);
                    let own = sent(row, false, &[&environment[..], &far].concat(), &[]);
                    assert_eq!(own, Ok(Some("key-of-environment".to_owned())), "{}", row.name);
                    let judge = sent(row, true, &[(JUDGE_KEY, "key-of-environment")], &far);
                    assert!(judge.is_err(), "{}", row.name);
                    let far = [(JUDGE_BASE_URL, "https://far.example.com/v1")];
                    let judge =
                        sent(row, true, &[(JUDGE_KEY, "key-of-environment"), PLACES[0], PLACES[1]], &far);
                    assert!(judge.is_err(), "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn a_proxy_of_a_file_is_an_address_too() {
        let row = &PROVIDERS[0];
        let key = [("OPENAI_API_KEY", "key-of-environment")];
        for proxy in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            assert!(sent(row, false, &key, &[(proxy, "http://far.example.com")]).is_err(), "{proxy}");
        }

        assert!(
            sent(row, false, &key, &[("HTTP_PROXY", "http://far.example.com")]).is_ok(),
            "it is not asked"
        );
        assert!(sent(row, false, &[key[0], ("HTTPS_PROXY", "http://far.example.com")], &[]).is_ok());
    }
}
