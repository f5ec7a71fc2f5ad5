//! Text as JSON, written fast: a request is nearly all text, and the same rules and material go out with every call.

use std::sync::OnceLock;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);

/// Sets the highest bit of each of eight bytes that has another form inside a JSON string, and no other bit.
///
/// In each byte something is taken from a number with its highest bit set, so that nothing is borrowed from a neighbour;
/// the bit is gone afterwards just where the lower bits were less than what was taken.
const fn escaped(bytes: u64) -> u64 {
    const fn less(bytes: u64, than: u64) -> u64 {
        !((bytes | HIGHEST) - ONES * than) & !bytes & HIGHEST
    }
    let quotes = bytes ^ (ONES * b'"' as u64);
    let backslashes = bytes ^ (ONES * b'\\' as u64);
    less(bytes, 0x20) | less(quotes, 1) | less(backslashes, 1)
}

/// Appends the inside of a JSON string, the same bytes that serde_json writes.
pub(super) fn push(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // What comes before it is written.
    let mut done = 0;
    let (words, end) = bytes.as_chunks::<8>();
    // A byte that needs no escape fills up the last word.
    let mut last = [b' '; 8];
    last[..end.len()].copy_from_slice(end);
    for (number, word) in words.iter().chain([&last]).enumerate() {
        let mut found = escaped(u64::from_le_bytes(*word));
        while found != 0 {
            let at = number * 8 + found.trailing_zeros() as usize / 8;
            out.extend_from_slice(&bytes[done..at]);
            push_escape(out, bytes[at]);
            done = at + 1;
            found &= found - 1;
        }
    }
    out.extend_from_slice(&bytes[done..]);
}

/// The shortest text that is worth remembering.
const LONG: usize = 512;

/// The same for a text that may stand in every request, as the rules of a judge do: the first long one is kept as it is
/// written.
pub(super) fn push_standing(out: &mut Vec<u8>, text: &str) {
    static STANDING: OnceLock<(String, Vec<u8>)> = OnceLock::new();
    if text.len() < LONG {
        return push(out, text);
    }
    let (known, written) = STANDING.get_or_init(|| {
        let mut written = Vec::with_capacity(text.len() + text.len() / 8);
        push(&mut written, text);
        (text.to_owned(), written)
    });
    if known == text {
        out.extend_from_slice(written);
    } else {
        push(out, text);
    }
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let [high, low] = [byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = vec![b'"'];
        push(&mut out, text);
        out.push(b'"');
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_standing_text_is_written_as_any_other() {
        for text in ["first\n".repeat(200), "second\"".repeat(200), "short\t".to_owned()] {
            for _ in 0..2 {
                let mut out = Vec::new();
                push_standing(&mut out, &text);
                assert_eq!(format!("\"{}\"", String::from_utf8(out).unwrap()), written(&text));
            }
        }
    }

    #[test]
    fn every_character_of_ascii_is_written_as_serde_json_does() {
        let all: String = (0..=127).map(char::from).collect();
        assert_eq!(written(&all), serde_json::to_string(&all).unwrap());
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_serde_json_does(text in "(\\PC|[\"\\\\\n\t\u{0}-\u{1f}é漢🦀]){0,200}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
