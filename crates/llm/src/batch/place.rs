//! A place in a bucket for the requests and results of a batch.

use std::fmt;
use std::str::FromStr;

/// A place in a bucket, written `s3://BUCKET/PREFIX`. The prefix may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPlace {
    pub(super) bucket: String,
    /// Without a slash at either end.
    prefix: String,
}

impl BatchPlace {
    /// Key of an object under the place.
    pub(super) fn key(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) }
    }

    /// Address of an object in the bucket, as other services expect it.
    pub(super) fn uri(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.bucket)
    }

    /// Key of the object with this address, if it is in this bucket.
    pub(super) fn key_of<'a>(&self, uri: &'a str) -> Option<&'a str> {
        let (bucket, key) = uri.strip_prefix("s3://")?.split_once('/')?;
        let key = key.trim_end_matches('/');
        (bucket == self.bucket && (key.is_empty() || is_key(key))).then_some(key)
    }
}

impl FromStr for BatchPlace {
    type Err = InvalidBatchPlace;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix("s3://").ok_or(InvalidBatchPlace)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);

        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
        let is_name = (3..=63).contains(&bucket.len())
            && bucket.chars().all(plain)
            && bucket.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !bucket.contains("..");
        if !is_name || !(prefix.is_empty() || is_key(prefix)) {
            return Err(InvalidBatchPlace);
        }

        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl fmt::Display for BatchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)
    }
}

/// The text is not a place in a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `s3://BUCKET/PREFIX`, with a prefix of letters, digits, and `-_.=+/`")]
pub struct InvalidBatchPlace;

/// Whether all parts of a key are plain names, which no URL normalization changes.
fn is_key(key: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+');
    key.len() <= 800
        && key
            .split('/')
            .all(|part| !part.is_empty() && !matches!(part, "." | "..") && part.chars().all(plain))
}
