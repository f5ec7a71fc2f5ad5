//! What texts of others take in memory.

use crate::values::{ARCHIVE_VALUE_BYTES, EXPANSION_FACTOR, MEMBER_BYTES, VALUE_BYTES};

/// Values for which the first one of a list makes room.
const VALUES_OF_A_LIST: usize = 4;

/// An estimate of the bytes that JSON takes when it is parsed, in addition to its own length: `[1,1,1]` takes sixty times its
/// size as text.
pub fn json_memory(text: &[u8]) -> usize {
    let (mut values, mut members, mut in_text, mut is_escaped) = (0_usize, 0_usize, false, false);
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' => values += VALUES_OF_A_LIST,
            b'{' | b',' => values += 1,
            b':' => members += 1,
            _ => {}
        }
    }

    values * VALUE_BYTES + members * MEMBER_BYTES
}

/// The reason why JSON of another tool is not parsed, if its values would take more memory than they may.
pub fn excess_of_values(text: &str) -> Option<String> {
    let allowed = ARCHIVE_VALUE_BYTES.max((text.len() as u64).saturating_mul(EXPANSION_FACTOR));
    (json_memory(text.as_bytes()) as u64 > allowed).then(|| {
        let least = ARCHIVE_VALUE_BYTES >> 20;
        format!(
            "its values take more than {least} MiB of memory, and more than {EXPANSION_FACTOR} times its size"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_memory_and_texts_do_not() {
        for (text, expected) in [
            ("", 0),
            ("[1,1,1]", 6 * VALUE_BYTES),
            ("[[[1]]]", 12 * VALUE_BYTES),
            (r#"{"a": [{"b": "[[,,::\"["}]}"#, 6 * VALUE_BYTES + 2 * MEMBER_BYTES),
        ] {
            assert_eq!(json_memory(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn dense_records_are_too_many_values_and_long_ones_are_not() {
        assert_eq!(None, excess_of_values(&"1,".repeat(100_000)));
        assert!(excess_of_values(&"1,".repeat(1_000_000)).is_some());
        assert!(excess_of_values(&"[],".repeat(1_000_000)).is_some());
        assert_eq!(None, excess_of_values(&r#"{"key": "a text of some length"},"#.repeat(1_000_000)));
    }
}
