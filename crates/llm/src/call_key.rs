//! Identity of a call: every byte that reaches the model, and the repeat.

use std::fmt;
use std::str::FromStr;

use crate::wire::HttpCall;

/// Version of the hashed form. It is raised when the same bytes would otherwise mean another call.
const KEY_VERSION: u64 = 2;

/// The identity of a call: a BLAKE3 hash. The same call has the same key in every process.
///
/// Part of it: wire format, address, model, the body as it would be sent to a server that refuses nothing, the headers
/// the wire format adds, and the repeat. Not part of it: the key and every other secret, timeouts, retries, and the
/// parameters that the server was found to refuse.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey([u8; 32]);

impl CallKey {
    /// The key's bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key of the same call in a separate part of the cache, where replies of other namespaces are not
    /// found.
    #[must_use]
    pub fn in_namespace(self, namespace: &[u8; 32]) -> Self {
        Self(*blake3::keyed_hash(namespace, &self.0).as_bytes())
    }

    /// `address` must hold no secret.
    pub(crate) fn new(wire: &str, address: &str, model: &str, call: &HttpCall, repeat: u32) -> Self {
        let mut form = HashedForm::default();
        form.number(KEY_VERSION);

        for field in [wire, address, &call.path, model] {
            form.field(field.as_bytes());
        }

        let mut headers: Vec<_> = call.headers.iter().collect();
        headers.sort();
        form.number(headers.len() as u64);

        for (name, value) in headers {
            form.field(name.as_bytes());
            form.field(value.as_bytes());
        }

        // The body needs no length before it: the other fields have one, so the rest is the body.
        form.0.update(&call.body);
        form.number(u64::from(repeat));

        Self(*form.0.finalize().as_bytes())
    }
}

impl fmt::Debug for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallKey({self})")
    }
}

/// 64 hexadecimal digits, which fit into the `custom_id` of a batch.
impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

/// Reads the text that [`fmt::Display`] writes. Upper-case digits are refused: each key has exactly one text.
impl FromStr for CallKey {
    type Err = InvalidCallKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| InvalidCallKey)?;
        let key = Self(*hash.as_bytes());
        if key.to_string() == text { Ok(key) } else { Err(InvalidCallKey) }
    }
}

/// A text that is not the key of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the key of a call: 64 hexadecimal digits")]
pub struct InvalidCallKey;

/// Hashes fields with their lengths before them, so that no two lists of fields look the same.
#[derive(Default)]
struct HashedForm(blake3::Hasher);

impl HashedForm {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn field(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(path: &str, body: &str) -> HttpCall {
        HttpCall { path: path.to_owned().into(), headers: vec![("x-version", "1".into())], body: body.into() }
    }

    #[test]
    fn every_field_changes_the_call_key_and_fields_do_not_run_together() {
        let base = CallKey::new("w", "http://h", "m", &call("/p", "b"), 1);
        assert_eq!(base, CallKey::new("w", "http://h", "m", &call("/p", "b"), 1));
        let mut other_header = call("/p", "b");
        other_header.headers[0].1 = "2".into();
        let others = [
            CallKey::new("v", "http://h", "m", &call("/p", "b"), 1),
            CallKey::new("w", "http://i", "m", &call("/p", "b"), 1),
            CallKey::new("w", "http://h", "n", &call("/p", "b"), 1),
            CallKey::new("w", "http://h", "m", &call("/q", "b"), 1),
            CallKey::new("w", "http://h", "m", &call("/p", "c"), 1),
            CallKey::new("w", "http://h", "m", &call("/p", "b"), 2),
            CallKey::new("w", "http://h", "m", &other_header, 1),
            CallKey::new("wh", "ttp://h", "m", &call("/p", "b"), 1),
            CallKey::new("w", "http://h", "mb", &call("/p", ""), 1),
            CallKey::new("w", "http://h", "m", &call("/p", "b\u{1}\0\0\0\0\0\0\0"), 1),
        ];
        for (at, other) in others.iter().enumerate() {
            assert_ne!(base, *other, "{at}");
            assert!(!others[..at].contains(other), "{at}");
        }
    }

    #[test]
    fn each_namespace_has_keys_of_its_own() {
        let key = CallKey::new("w", "http://h", "m", &call("/p", "b"), 1);
        let [one, two] = [[1; 32], [2; 32]].map(|namespace| key.in_namespace(&namespace));
        assert!(one != two && one != key && two != key);
        assert_eq!(one, key.in_namespace(&[1; 32]));
    }

    #[test]
    fn a_key_is_a_custom_id_that_is_read_back_from_its_one_form() {
        let key = CallKey::new("w", "http://h", "m", &call("/p", "b"), 1);
        let text = key.to_string();
        assert_eq!(text.len(), crate::LONGEST_CUSTOM_ID);
        assert_eq!(text.parse(), Ok(key));
        for other in
            ["", "ab", &text[1..], &format!("{text}0"), &text.to_uppercase(), &format!(" {}", &text[1..])]
        {
            assert_eq!(other.parse::<CallKey>(), Err(InvalidCallKey), "{other}");
        }
    }

    #[test]
    fn call_key_is_stable_across_versions() {
        let key = CallKey::new("w", "http://h/v1", "m", &call("/p", "{}"), 1);
        assert_eq!(
            format!("{key:?}"),
            "CallKey(caa85fc075d57ad1f40596aaea9710694ee7c3c07f2d4cb5b0436d3432103c2a)"
        );
    }
}
