//! Rules for the servers of this program: which hosts they answer for, and how secrets are compared.

#![warn(missing_docs)]

use std::net::IpAddr;
use std::sync::Arc;

/// Names under which a server may be reached.
///
/// A page of another site can point its own name at this machine (DNS rebinding), but it can't change the host
/// name that the browser sends. A server that answers only for its own names is therefore safe from such pages.
#[derive(Debug, Clone)]
pub struct HostRules {
    /// True for a server that listens on this machine only.
    is_local: bool,
    /// Names under which other machines may reach it.
    names: Arc<[String]>,
}

impl HostRules {
    /// Rules of a server. `is_local` is true if it listens on a loopback address; `names` are names of proxies
    /// and of the machine.
    pub fn new(is_local: bool, names: impl Into<Arc<[String]>>) -> Self {
        Self { is_local, names: names.into() }
    }

    /// Names of proxies and of the machine.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns true if the server answers for a host, with or without a port. Numeric addresses can't be another site's
    /// name: a local server answers for loopback addresses, any other server for all addresses.
    pub fn is_allowed(&self, host: &str) -> bool {
        let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = name.map_or(host, |(name, _)| name);
        let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();

        if let Some(address) = address {
            return !self.is_local || address.is_loopback();
        }

        let is_named = |known: &String| known.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost") || self.names.iter().any(is_named)
    }
}

/// Hash of a secret, which may be stored where the secret may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHash(blake3::Hash);

impl SecretHash {
    /// Hash of this secret.
    pub fn new(secret: &str) -> Self {
        Self(blake3::hash(secret.as_bytes()))
    }

    /// A hash written by [`Self::to_hex`]; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }

    /// The hash in hexadecimal.
    pub fn to_hex(self) -> String {
        self.0.to_hex().to_string()
    }

    /// Returns true if this is the hash of a text. The time does not depend on where they differ.
    pub fn matches(self, given: &str) -> bool {
        // Comparing these hashes takes constant time.
        self.0 == blake3::hash(given.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_hosts_are_refused() {
        let rules = |is_local| HostRules::new(is_local, ["runs.example".to_owned()]);
        for host in ["127.0.0.1:4", "localhost", "LOCALHOST:80", "[::1]:4", "runs.example:443"] {
            assert!(rules(true).is_allowed(host), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:4", "", "192.0.2.1:4"]
        {
            assert!(!rules(true).is_allowed(host), "{host}");
        }
        assert!(rules(false).is_allowed("192.0.2.1:4"));
        assert!(!rules(false).is_allowed("evil.example"));
    }

    #[test]
    fn hashes_of_secrets_are_read_back() {
        let hash = SecretHash::new("secret");
        assert!(hash.matches("secret") && !hash.matches("Secret") && !hash.matches(""));
        assert_eq!(SecretHash::from_hex(&hash.to_hex()), Some(hash));
        assert_eq!(SecretHash::from_hex("xyz"), None);
    }
}
