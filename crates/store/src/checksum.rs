//! Checksums of rows and of `run.json`. The checksum is the last member of a JSON object and covers the bytes
//! of the object without it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Text between a row and its checksum.
const LEAD: &[u8] = b",\"crc\":\"";
/// Text after the digits.
const TAIL: &[u8] = b"\"}\n";
/// Number of hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Text between an object of several lines and its checksum.
const DOCUMENT_LEAD: &[u8] = b",\n  \"crc\": \"";
/// Text after its digits.
const DOCUMENT_TAIL: &[u8] = b"\"\n}\n";
/// End of such an object before the checksum is added.
const DOCUMENT_END: &[u8] = b"\n}";

/// State of a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowCheck {
    /// The text is unchanged.
    Intact,
    /// The text has no checksum.
    Missing,
    /// The text was changed.
    Changed,
}

/// Adds the checksum to the object in `rows` that begins at `start`, and ends the line.
pub(crate) fn end_row(rows: &mut Vec<u8>, start: usize) {
    let sum = crc32fast::hash(&rows[start..]);
    let lead = if rows.ends_with(b"{}") { &LEAD[1..] } else { LEAD };

    rows.pop();
    rows.extend_from_slice(lead);
    rows.extend_from_slice(format!("{sum:08x}").as_bytes());
    rows.extend_from_slice(TAIL);
}

/// Checks a line that includes its line end.
pub(crate) fn check_row(line: &[u8]) -> RowCheck {
    let Some((row, digits)) = split_row(line) else { return RowCheck::Missing };

    let mut hasher = crc32fast::Hasher::new();
    hasher.update(row);
    hasher.update(b"}");
    compare(hasher, digits)
}

/// Returns the checksum in a line; `None` if it has none.
pub(crate) fn named_sum(line: &[u8]) -> Option<u32> {
    split_row(line).and_then(|(_, digits)| parse_digits(digits))
}

/// Splits a line into its object, without the closing brace, and the digits of its checksum.
fn split_row(line: &[u8]) -> Option<(&[u8], [u8; DIGITS])> {
    let (row, digits) = line.strip_suffix(TAIL)?.split_last_chunk::<DIGITS>()?;
    Some((row.strip_suffix(LEAD)?, *digits))
}

/// Adds the checksum to an object of several lines, and ends its last line.
pub(crate) fn end_document(text: &mut Vec<u8>) {
    let sum = crc32fast::hash(text);
    text.truncate(text.len() - DOCUMENT_END.len());
    text.extend_from_slice(DOCUMENT_LEAD);
    text.extend_from_slice(format!("{sum:08x}").as_bytes());
    text.extend_from_slice(DOCUMENT_TAIL);
}

/// Checks a file with one object of several lines, without holding its text in memory. Afterwards the file is
/// at its beginning.
pub(crate) fn check_document(file: &mut File) -> io::Result<RowCheck> {
    let mut end = Vec::new();
    let longest = (DOCUMENT_LEAD.len() + DIGITS + DOCUMENT_TAIL.len()) as u64;
    let length = file.seek(SeekFrom::End(0))?;
    let object = length.saturating_sub(longest);
    file.seek(SeekFrom::Start(object))?;
    file.take(longest).read_to_end(&mut end)?;
    file.rewind()?;

    let digits = end.strip_prefix(DOCUMENT_LEAD).and_then(|end| end.strip_suffix(DOCUMENT_TAIL));
    let Some(digits) = digits.and_then(|digits| digits.first_chunk::<DIGITS>().copied()) else {
        return Ok(RowCheck::Missing);
    };

    let mut hasher = crc32fast::Hasher::new();
    let mut rest = file.take(object);
    let mut chunk = [0; 16 * 1024];
    loop {
        match rest.read(&mut chunk)? {
            0 => break,
            read => hasher.update(&chunk[..read]),
        }
    }
    file.rewind()?;

    hasher.update(DOCUMENT_END);
    Ok(compare(hasher, digits))
}

fn compare(hasher: crc32fast::Hasher, digits: [u8; DIGITS]) -> RowCheck {
    if parse_digits(digits) == Some(hasher.finalize()) { RowCheck::Intact } else { RowCheck::Changed }
}

fn parse_digits(digits: [u8; DIGITS]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn every_changed_bit_is_noticed() {
        let mut rows = b"{\"before\":1}\n".to_vec();
        let start = rows.len();
        rows.extend_from_slice("{\"id\":\"a\",\"text\":\"é\"}".as_bytes());
        end_row(&mut rows, start);
        let row = &rows[start..];
        assert_eq!(check_row(row), RowCheck::Intact);
        assert!(serde_json::from_slice::<serde_json::Value>(row).is_ok());

        for bit in 0..row.len() * 8 {
            let mut changed = row.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            // An upper-case digit is the same number.
            let digits = row.len() - TAIL.len() - DIGITS..row.len() - TAIL.len();
            if !(digits.contains(&(bit / 8)) && bit % 8 == 5) {
                assert_ne!(check_row(&changed), RowCheck::Intact, "bit {bit}");
            }
        }

        assert_eq!(check_row(b"{\"id\":\"a\"}\n"), RowCheck::Missing);
    }

    #[test]
    fn a_changed_document_is_noticed() {
        let check = |text: &[u8]| {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(text).expect("written");
            let state = check_document(&mut file).expect("readable");
            let mut read = Vec::new();
            file.read_to_end(&mut read).expect("readable");
            assert_eq!(read, text, "the file is read from its beginning afterwards");
            state
        };

        let plain = b"{\n  \"id\": \"a\",\n  \"threshold\": 0.8\n}".to_vec();
        let mut text = plain.clone();
        end_document(&mut text);
        assert_eq!(check(&text), RowCheck::Intact);
        let parsed: serde_json::Value = serde_json::from_slice(&text).expect("an object");
        assert_eq!(parsed["threshold"], 0.8);

        let changed = String::from_utf8(text).expect("a text").replace("0.8", "0.5");
        assert_eq!(check(changed.as_bytes()), RowCheck::Changed);
        assert_eq!(check(&plain), RowCheck::Missing);
        assert_eq!(check(b""), RowCheck::Missing);
    }
}
