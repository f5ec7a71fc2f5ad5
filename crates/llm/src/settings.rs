//! From a provider's row and the variables of the environment to an endpoint.

use std::borrow::Cow;

use secrecy::SecretString;

use crate::address::{self, Lookup};
use crate::config::ConfigError;
use crate::endpoint::ModelEndpoint;
use crate::provider::{JUDGE_BASE_URL, JUDGE_KEY, ProviderRow};

/// Shorter keys are placeholders, which may well occur in an address.
const SHORTEST_STRAY_KEY: usize = 8;

/// The endpoint of a provider. Variables that hold nothing but white space count as not set.
pub(crate) fn endpoint(row: &'static ProviderRow, env: Lookup<'_>) -> Result<ModelEndpoint, ConfigError> {
    from(row, row.key_variables, row.base_url_variables, env)
}

/// The endpoint of a judge with variables of its own. The provider's own key is not sent to another address.
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

    let key = first(key_variables);

    // An address is shown to people and looked up by name, so a key that strayed into it would get around.
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
    address::complete(&mut endpoint.base_url, row.base_url, !row.key_needed);

    match key {
        Some((variable, key)) => Ok(endpoint.with_key(&SecretString::from(key), variable)),
        None if !row.key_needed || endpoint.is_loopback() => {
            Ok(endpoint.without_key(key_variables.first().copied().unwrap_or_default()))
        }
        None => Err(ConfigError::MissingKey {
            variable: key_variables.join(" or "),
            base_url_variable: variable.to_owned(),
            host: endpoint.host(),
        }),
    }
}

/// Problem of a key that no server could accept, however it came about.
fn odd(key: &str) -> Option<&'static str> {
    let quoted = |mark: char| key.len() > 1 && key.starts_with(mark) && key.ends_with(mark);
    if quoted('"') || quoted('\'') {
        return Some("it stands in quotation marks, which would be sent with it");
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

/// The key variable that is named to people.
pub(crate) fn key_variable(row: &ProviderRow) -> &'static str {
    row.key_variables.first().copied().unwrap_or_default()
}

/// The address variable that is named to people: where there is no usual address, the one people know, which is last.
pub(crate) fn base_url_variable(row: &ProviderRow) -> &'static str {
    let known =
        if row.base_url.is_some() { row.base_url_variables.first() } else { row.base_url_variables.last() };
    known.copied().unwrap_or_default()
}
