//! Hash of what a person saw before deciding, which binds a label to it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Criterion, Identify, IdentityWriter};

/// Version of the hashed content. Raising it makes every existing label stale.
const VERSION: u64 = 1;
/// Number of bytes that are kept of a hash. This is enough to make it infeasible to find two answers with the
/// same hash.
const HASH_BYTES: usize = 16;

/// Hash of a question and the inputs of a case: everything that a person sees except the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubjectHash([u8; HASH_BYTES]);

impl SubjectHash {
    /// Creates the hash of a question and the texts that it is about.
    pub fn new(question: &impl Identify, inputs: &impl Identify) -> Self {
        let mut identity = IdentityWriter::new("label_subject", VERSION);
        identity.fields(&[question, inputs]);
        Self(hash(&identity))
    }
}

impl fmt::Display for SubjectHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(self.0, f)
    }
}

impl Identify for SubjectHash {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.bytes(&self.0);
    }
}

/// Hash of what a person saw: the question, the inputs, the target and the answer. A label whose hash differs
/// from the run's is about something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SeenHash([u8; HASH_BYTES]);

impl SeenHash {
    /// Creates the hash of a target's answer to a question about these inputs. An answer from the eval file
    /// has no target.
    pub fn new(subject: SubjectHash, target: Option<&str>, answer: &str) -> Self {
        let mut identity = IdentityWriter::new("label", VERSION);
        identity.fields(&[&subject, &target]);
        identity.text(answer);
        Self(hash(&identity))
    }

    /// Creates the hash of a target's answer that was judged by a criterion of a rubric. `case` is the hash
    /// of the case's question and expectations, if the run stores it.
    pub fn from_criterion(
        criterion: &Criterion,
        case: Option<&str>,
        target: Option<&str>,
        answer: &str,
    ) -> Self {
        let question = (&criterion.text, (&criterion.scale, &criterion.operator));
        let inputs: Vec<String> = case.into_iter().map(str::to_owned).collect();
        Self::new(SubjectHash::new(&question, &inputs), target, answer)
    }
}

fn hash(identity: &IdentityWriter) -> [u8; HASH_BYTES] {
    let mut short = [0; HASH_BYTES];
    short.copy_from_slice(&blake3::hash(identity.as_bytes()).as_bytes()[..HASH_BYTES]);
    short
}

impl fmt::Display for SeenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(self.0, f)
    }
}

fn write_hex(bytes: [u8; HASH_BYTES], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Error: not a hash of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the hash of what was labelled: 32 hexadecimal digits, as `assize review` writes them")]
pub struct SeenHashError(String);

impl FromStr for SeenHash {
    type Err = SeenHashError;

    fn from_str(text: &str) -> Result<Self, SeenHashError> {
        let wrong = || SeenHashError(text.to_owned());
        if text.len() != 2 * HASH_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }

        let mut bytes = [0; HASH_BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }

        Ok(Self(bytes))
    }
}

impl Serialize for SeenHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SeenHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for SeenHash {
    fn schema_name() -> Cow<'static, str> {
        "SeenHash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Hash of what was labelled: the question, the inputs, the target and its answer.",
            "type": "string",
            "pattern": "^[0-9a-fA-F]{32}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_what_was_seen_has_a_part_in_the_hash() {
        let seen = |question: &str, input: &str, target: Option<&str>, answer: &str| {
            let subject = SubjectHash::new(&question.to_owned(), &input.to_owned());
            SeenHash::new(subject, target, answer).to_string()
        };
        let base = seen("q", "i", Some("t"), "a");
        // Stored labels contain these bytes, so they must not change.
        assert_eq!(base, "c8db1048f919be0c61edb774d3144d52");
        for other in [
            seen("Q", "i", Some("t"), "a"),
            seen("q", "I", Some("t"), "a"),
            seen("q", "i", Some("T"), "a"),
            seen("q", "i", None, "a"),
            seen("q", "i", Some("t"), "A"),
            seen("qi", "", Some("t"), "a"),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(base.parse::<SeenHash>().map(|hash| hash.to_string()), Ok(base));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in ["", "1", "zz112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff0"] {
            assert!(text.parse::<SeenHash>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<SeenHash>("\"00112233445566778899aabbccddeeff\"").is_ok());
    }
}
