//! Address and credentials of a model's server.

use std::fmt;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::aws::RequestSigner;
use crate::config::ConfigError;

/// A server's address and the secrets to send to it. `Debug` shows the host only.
#[derive(Clone)]
pub struct ModelEndpoint {
    pub(crate) base_url: Url,
    /// Name of the setting that the base URL was read from, such as `OPENAI_BASE_URL`, for advice.
    pub(crate) base_url_source: String,
    /// True if the base URL is the usual one of a provider, because no setting names another.
    pub(crate) is_usual_address: bool,
    pub(crate) key: Option<ApiKey>,
    /// Name of the setting that a key would have been read from, for advice.
    pub(crate) key_source: String,
    /// Signs requests with the key, which is then not sent.
    pub(crate) signer: Option<RequestSigner>,
}

/// A key and where it was found.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// The key itself.
    pub secret: SecretString,
    /// The variable or setting that held it.
    pub source: String,
}

impl ModelEndpoint {
    /// An endpoint at a base URL such as `https://api.openai.com/v1`. `source` names the setting that it came
    /// from.
    ///
    /// # Errors
    /// If the text is not an absolute http or https URL.
    pub fn new(base_url: &str, source: &str) -> Result<Self, ConfigError> {
        let bad = |reason: String| ConfigError::BadBaseUrl { variable: source.to_owned(), reason };
        let url = Url::parse(base_url.trim()).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad("it does not start with http:// or https://".to_owned()));
        }

        // By the rules of URLs, the first part of the path would otherwise become the host.
        let rest = base_url.trim().get(url.scheme().len() + 1..).and_then(|rest| rest.strip_prefix("//"));
        if rest.is_none_or(|rest| rest.starts_with(['/', '\\'])) {
            return Err(bad("there is no host after `//`".to_owned()));
        }

        Ok(Self {
            base_url: url,
            base_url_source: source.to_owned(),
            is_usual_address: false,
            key: None,
            key_source: String::new(),
            signer: None,
        })
    }

    /// Sends this key. White space around it, a common slip in key files, is removed.
    pub fn with_key(mut self, secret: &SecretString, source: &str) -> Self {
        let secret = SecretString::from(secret.expose_secret().trim());
        self.key = Some(ApiKey { secret, source: source.to_owned() });
        source.clone_into(&mut self.key_source);
        self
    }

    /// Where the address came from, in words that follow it.
    pub(crate) fn address_origin(&self) -> String {
        if self.is_usual_address {
            format!("the default, as {} is not set", self.base_url_source)
        } else {
            format!("from {}", self.base_url_source)
        }
    }

    /// Host, and the port unless it is the scheme's own.
    pub fn host(&self) -> String {
        let host = self.base_url.host_str().unwrap_or_default();
        match self.base_url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.base_url)
    }

    /// The address of a path under the base URL. The base URL's query is kept.
    pub(crate) fn url(&self, path: &str) -> Url {
        joined(self.base_url.clone(), path)
    }

    /// The base URL without credentials and without parameters that may be secret. It distinguishes two
    /// servers.
    pub(crate) fn address(&self) -> String {
        let mut url = self.base_url.clone();
        url.set_query(None);
        url.set_fragment(None);

        // These can't fail for an http or https URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let open: Vec<(String, String)> = self
            .base_url
            .query_pairs()
            .filter(|(name, _)| !names_secret(name))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        if !open.is_empty() {
            url.query_pairs_mut().extend_pairs(open);
        }

        url.as_str().trim_end_matches('/').to_owned()
    }

    /// Everything that must never be shown: the key, and the parts of the address that may be secret.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = SecretString> + '_ {
        let password = self.base_url.password();
        // A user name without a password is a token; some servers accept those.
        let user = Some(self.base_url.username()).filter(|user| password.is_none() && !user.is_empty());
        let in_url = password.or(user).into_iter().flat_map(|text| {
            let sent = percent_decode_str(text).decode_utf8_lossy().into_owned();
            let other = (sent != text).then(|| SecretString::from(sent));
            std::iter::once(SecretString::from(text)).chain(other)
        });

        let in_query = self
            .base_url
            .query_pairs()
            .filter(|(name, _)| names_secret(name))
            .map(|(_, value)| SecretString::from(value.into_owned()));

        let signing = self.signer.iter().flat_map(|signer| signer.key.secrets());
        let keys = self.key.iter().map(|key| key.secret.clone()).chain(signing);
        keys.chain(in_url).chain(in_query)
    }
}

/// Whether the name of a parameter suggests that its value is secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["auth", "key", "token", "secret", "cookie", "pass", "pwd", "sig", "credential"];
    name == "code" || words.iter().any(|word| name.contains(word))
}

impl fmt::Debug for ModelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.as_ref().map(|key| key.source.as_str());
        f.debug_struct("ModelEndpoint")
            .field("host", &self.host())
            .field("key_from", &key)
            .finish_non_exhaustive()
    }
}

/// The address of a path under a base URL.
pub(crate) fn joined(mut url: Url, path: &str) -> Url {
    let joined = format!("{}/{}", url.path().trim_end_matches('/'), path.trim_start_matches('/'));
    url.set_path(&joined);
    url
}

/// Whether an address is on this machine. No proxy is used and no key is required for those.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback() || ip.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> ModelEndpoint {
        ModelEndpoint::new(url, "OPENAI_BASE_URL").unwrap()
    }

    #[test]
    fn an_address_needs_a_host() {
        for address in
            ["http:///v1", "https:///v1", "http:/v1", "http:v1", "http:\\\\h/v1", "http://", "http://:80/v1"]
        {
            let refused = ModelEndpoint::new(address, "OPENAI_BASE_URL").map(|_| ()).unwrap_err();
            assert!(refused.to_string().contains("host"), "{address}: {refused}");
        }
        assert_eq!(endpoint(" HTTP://h:81/v1 ").host(), "h:81");
    }

    #[test]
    fn paths_join_whatever_the_slashes_and_keep_the_query() {
        assert_eq!(endpoint("http://h/v1").url("/chat").as_str(), "http://h/v1/chat");
        assert_eq!(endpoint("http://h/v1/").url("chat").as_str(), "http://h/v1/chat");
        assert_eq!(endpoint("http://h").url("chat").as_str(), "http://h/chat");
        assert_eq!(endpoint("http://h/v1?v=2").url("chat").as_str(), "http://h/v1/chat?v=2");
    }

    #[test]
    fn loopback_is_recognised_in_all_its_spellings() {
        for url in [
            "http://localhost:1/", "http://127.8.9.1", "http://[::1]:80", "http://a.localhost",
            "http://0.0.0.0:8",
        ] {
            assert!(endpoint(url).is_loopback(), "{url}");
        }
        for url in ["http://10.0.0.1", "https://api.openai.com/v1", "http://localhost.example.com"] {
            assert!(!endpoint(url).is_loopback(), "{url}");
        }
    }

    #[test]
    fn bad_addresses_are_explained() {
        for url in ["localhost:8080/v1", "ftp://h/", "", "h/v1"] {
            let error = ModelEndpoint::new(url, "OPENAI_BASE_URL").unwrap_err().to_string();
            assert!(error.contains("OPENAI_BASE_URL") && error.contains("http://"), "{error}");
        }
    }

    #[test]
    fn an_address_tells_servers_apart_and_holds_no_secret() {
        assert_eq!(endpoint("http://h/v1").address(), endpoint("http://h/v1/").address());
        assert_ne!(endpoint("http://h/v1").address(), endpoint("http://h:8/v1").address());
        assert_ne!(endpoint("http://h/v1?v=1").address(), endpoint("http://h/v1?v=2").address());
        let address = endpoint("http://user:passw0rd@h/v1?v=2&api_key=abc").address();
        assert_eq!(address, "http://h/v1?v=2");
    }

    #[test]
    fn debug_shows_neither_key_nor_credentials_in_the_address() {
        let endpoint = endpoint("http://user:passw0rd@h:8/v1?v=2026-01&token=querysecret")
            .with_key(&SecretString::from(" topsecretkey\n"), "OPENAI_API_KEY");
        let debug = format!("{endpoint:?}");
        for secret in ["passw0rd", "topsecret", "querysecret"] {
            assert!(!debug.contains(secret), "{debug}");
        }
        let secrets: Vec<_> = endpoint.secrets().map(|s| s.expose_secret().to_owned()).collect();
        assert_eq!(secrets, ["topsecretkey", "passw0rd", "querysecret"]);
        let in_address = |url: &str| -> Vec<String> {
            super::ModelEndpoint::new(url, "x")
                .unwrap()
                .secrets()
                .map(|s| s.expose_secret().to_owned())
                .collect()
        };
        assert_eq!(in_address("http://me:p%40ss%2fw%zz@h"), ["p%40ss%2fw%zz", "p@ss/w%zz"]);
        assert_eq!(in_address("http://a-token@h/v1?code=c1&encoding=x"), ["a-token", "c1"]);
    }
}
