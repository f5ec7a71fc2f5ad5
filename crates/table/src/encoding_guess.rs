//! Which encoding the bytes of a table have, or probably have.

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Number of bytes at the beginning of a file that are examined for its encoding and its divider.
pub(crate) const SAMPLE_BYTES: usize = 1024 * 1024;

/// Returns the encoding that bytes probably have, for advice.
pub(crate) fn guess_encoding(bytes: &[u8]) -> &'static str {
    if let Some(encoding) = known_encoding(bytes) {
        return encoding.name();
    }
    let mut detector = EncodingDetector::new();
    detector.feed(&bytes[..bytes.len().min(SAMPLE_BYTES)], true);
    detector.guess(None, false).name()
}

/// Returns the encoding if the bytes show it with certainty: by a byte order mark, or by the zero byte of UTF-16 in the
/// first character.
pub(crate) fn known_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding).filter(|encoding| *encoding != UTF_8);
    }

    // A table begins with the name of a column or with a quotation mark, seldom with a character beyond U+00FF.
    match bytes {
        [1..=255, 0, ..] => Some(UTF_16LE),
        [0, 1..=255, ..] => Some(UTF_16BE),
        _ => None,
    }
}
