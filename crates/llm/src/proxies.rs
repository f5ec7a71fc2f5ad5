//! Proxies for other machines, as the usual variables name them.

use reqwest::{NoProxy, Proxy, Url};
use secrecy::{ExposeSecret, SecretString};

use crate::config::Lookup;
use crate::endpoint::is_loopback;
use crate::transport::{TransportError, innermost};

/// Proxies that requests go through. Addresses may hold credentials, so `Debug` does not show them.
#[derive(Debug, Clone, Default)]
pub struct HttpProxies {
    https: Option<ProxyAddress>,
    http: Option<ProxyAddress>,
    /// Hosts that are reached directly, separated by commas.
    except: Option<String>,
}

/// An address and the variable that holds it.
#[derive(Debug, Clone)]
struct ProxyAddress {
    variable: &'static str,
    address: SecretString,
}

/// The variables for HTTPS and HTTP. In each list the first one that is set is used.
const HTTPS: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const HTTP: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const EXCEPT: [&str; 2] = ["NO_PROXY", "no_proxy"];

impl HttpProxies {
    /// Reads the proxies from variables. Empty variables count as not set.
    pub fn from_env(env: Lookup<'_>) -> Self {
        let set = |variable: &str| env(variable).filter(|value| !value.trim().is_empty());
        let find = |variables: [&'static str; 4]| {
            variables.into_iter().find_map(|variable| {
                let address = set(variable)?.trim().to_owned().into();
                Some(ProxyAddress { variable, address })
            })
        };
        Self { https: find(HTTPS), http: find(HTTP), except: EXCEPT.into_iter().find_map(set) }
    }

    /// The variables that name them, each once.
    pub fn variables(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.all().map(|(found, _)| found.variable).collect();
        names.dedup();
        names
    }

    /// The variable that names the proxy for an address.
    pub(crate) fn variable_for(&self, url: &Url) -> Option<&'static str> {
        let found = if url.scheme() == "https" { &self.https } else { &self.http };
        found.as_ref().filter(|_| !is_loopback(url)).map(|found| found.variable)
    }

    /// Why requests to other machines can't be made, if an address is not valid. The address is not shown.
    pub fn problem(&self) -> Option<String> {
        self.to_reqwest().err().map(|error| error.to_string())
    }

    fn all(&self) -> impl Iterator<Item = (&ProxyAddress, bool)> {
        let https = self.https.iter().map(|found| (found, true));
        https.chain(self.http.iter().map(|found| (found, false)))
    }

    /// Converts them for the HTTP client.
    ///
    /// # Errors
    /// If an address is not valid; it is not shown.
    pub(crate) fn to_reqwest(&self) -> Result<Vec<Proxy>, TransportError> {
        self.all()
            .map(|(found, https)| {
                let unusable = |why: &str| {
                    TransportError::Unusable(format!("{} names no usable proxy: {why}", found.variable))
                };
                let written = found.address.expose_secret();

                // A proxy is often written without its scheme.
                let address =
                    if written.contains("://") { written.to_owned() } else { format!("http://{written}") };
                let url = Url::parse(&address).map_err(|error| unusable(&error.to_string()))?;
                if !matches!(url.scheme(), "http" | "https") {
                    return Err(unusable("only http:// and https:// are understood"));
                }

                let to_reqwest = if https { Proxy::https(url) } else { Proxy::http(url) };
                let to_reqwest = to_reqwest.map_err(|error| unusable(&innermost(&error)))?;
                Ok(to_reqwest.no_proxy(self.except.as_deref().and_then(NoProxy::from_string)))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> HttpProxies {
        let env =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        HttpProxies::from_env(&env)
    }

    #[test]
    fn the_usual_variables_are_read_and_addresses_are_not_shown() {
        assert!(of(&[("HTTPS_PROXY", " ")]).variables().is_empty());
        let both =
            of(&[("https_proxy", "http://user:geheim@p:3128"), ("HTTP_PROXY", "p:80"), ("NO_PROXY", "a,b")]);
        assert_eq!(both.variables(), ["https_proxy", "HTTP_PROXY"]);
        assert_eq!(both.to_reqwest().unwrap().len(), 2);
        assert!(!format!("{both:?}").contains("geheim"), "{both:?}");
        assert_eq!(of(&[("ALL_PROXY", "http://p:1")]).variables(), ["ALL_PROXY"]);
    }

    #[test]
    fn what_is_no_proxy_is_told_without_being_shown() {
        for address in ["socks5://geheim@p:1080", "http://geheim:x", "http://"] {
            let error = of(&[("HTTPS_PROXY", address)]).to_reqwest().unwrap_err().to_string();
            assert!(error.contains("HTTPS_PROXY") && !error.contains("geheim"), "{error}");
        }
    }
}
