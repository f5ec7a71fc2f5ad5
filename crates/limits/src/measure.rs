//! What texts of others take in memory.

use crate::values::{MEMBER_BYTES, VALUE_BYTES};

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
}
