//! What identifies a call: everything that reaches the model, which repeat it is, and nothing else.

use std::fmt;
use std::sync::OnceLock;

use crate::wire::HttpCall;

/// Version of the form that is hashed. Raised when the same call would otherwise get another meaning.
const KEY_VERSION: u64 = 1;

/// The identity of a call: a BLAKE3 hash. The same call has the same key in every process.
///
/// Part of it: wire format, address, model, the body as it would be sent to a server that refuses nothing, the headers
/// the wire format adds, and the repeat. Not part of it: the key and every other secret, timeouts, retries, and what
/// the server turned out to refuse.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey([u8; 32]);

impl CallKey {
    /// The key's bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// `address` must hold no secret.
    pub(crate) fn new(wire: &str, address: &str, model: &str, call: &HttpCall, repeat: u32) -> Self {
        let mut form = Form(Vec::with_capacity(call.body.len() + BESIDE_THE_BODY));
        form.number(KEY_VERSION);
        form.field(wire.as_bytes());
        form.field(address.as_bytes());
        form.field(call.path.as_bytes());
        form.field(model.as_bytes());
        let mut headers: Vec<_> = call.headers.iter().collect();
        headers.sort();
        form.number(headers.len() as u64);
        for (name, value) in headers {
            form.field(name.as_bytes());
            form.field(value.as_bytes());
        }
        form.field(&call.body);
        form.number(u64::from(repeat));
        Self(*hash(&form.0).as_bytes())
    }
}

impl fmt::Debug for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallKey({})", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

/// Room for everything that is hashed beside the body.
const BESIDE_THE_BODY: usize = 512;

/// Bytes that the calls of a run often begin with: the rules of a judge are longer. A whole number of the hash's chunks.
const BEGINNING: usize = 2048;

/// The hash of a form. What the first one began with is hashed once, and not again for those that begin the same.
fn hash(form: &[u8]) -> blake3::Hash {
    static FIRST: OnceLock<(Vec<u8>, blake3::Hasher)> = OnceLock::new();
    let Some((beginning, rest)) = form.split_at_checked(BEGINNING) else { return blake3::hash(form) };
    let (known, hashed) = FIRST.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(beginning);
        (beginning.to_vec(), hasher)
    });
    if known == beginning { hashed.clone().update(rest).finalize() } else { blake3::hash(form) }
}

/// Fields with their lengths before them, so that no two lists of fields look the same.
struct Form(Vec<u8>);

impl Form {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn field(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(path: &str, body: &str) -> HttpCall {
        HttpCall { path: path.to_owned().into(), headers: vec![("x-version", "1".into())], body: body.into() }
    }

    #[test]
    fn every_part_counts_and_parts_do_not_run_into_each_other() {
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
        ];
        for (at, other) in others.iter().enumerate() {
            assert_ne!(base, *other, "{at}");
            assert!(!others[..at].contains(other), "{at}");
        }
    }

    #[test]
    fn the_key_of_a_call_never_changes_by_accident() {
        let key = CallKey::new("w", "http://h/v1", "m", &call("/p", "{}"), 1);
        assert_eq!(
            format!("{key:?}"),
            "CallKey(50dd60e4e9434a5b5d15580a17999415b36a4c174beadb3a49a88fd480973d68)"
        );
    }

    #[test]
    fn a_beginning_that_was_hashed_before_changes_no_hash() {
        let texts = ["a".repeat(BEGINNING), "b".repeat(BEGINNING)];
        for end in ["", "c", &"d".repeat(5000)] {
            for text in &texts {
                let form = format!("{text}{end}");
                assert_eq!(hash(form.as_bytes()), blake3::hash(form.as_bytes()));
            }
        }
        assert_eq!(hash(b"short"), blake3::hash(b"short"));
    }
}
