//! Checksum of a row: the last member of its JSON object, over the bytes of the row without it.

/// Text between a row and the eight hexadecimal digits of its checksum.
const LEAD: &[u8] = b",\"crc\":\"";
/// Text after the digits.
const TAIL: &[u8] = b"\"}\n";
/// Number of digits.
const DIGITS: usize = 8;

/// State of a row's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowCheck {
    /// The row is as it was written.
    Intact,
    /// The row has no checksum.
    Missing,
    /// The row is not as it was written.
    Changed,
}

/// Adds the checksum to the object that was written to `rows` from `start` on, and ends the line.
pub(crate) fn end_row(rows: &mut Vec<u8>, start: usize) {
    let sum = crc32fast::hash(&rows[start..]);
    let lead = if rows.ends_with(b"{}") { &LEAD[1..] } else { LEAD };

    rows.pop();
    rows.extend_from_slice(lead);
    rows.extend_from_slice(format!("{sum:08x}").as_bytes());
    rows.extend_from_slice(TAIL);
}

/// Checks a line with its line end.
pub(crate) fn check_row(line: &[u8]) -> RowCheck {
    let found = line
        .strip_suffix(TAIL)
        .and_then(|row| row.split_last_chunk::<DIGITS>())
        .and_then(|(row, digits)| Some((row.strip_suffix(LEAD)?, std::str::from_utf8(digits).ok()?)));
    let Some((row, digits)) = found else { return RowCheck::Missing };

    let mut hasher = crc32fast::Hasher::new();
    hasher.update(row);
    hasher.update(b"}");
    if u32::from_str_radix(digits, 16) == Ok(hasher.finalize()) {
        RowCheck::Intact
    } else {
        RowCheck::Changed
    }
}

#[cfg(test)]
mod tests {
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
            // A digit in upper case is the same number.
            let digits = row.len() - TAIL.len() - DIGITS..row.len() - TAIL.len();
            if !(digits.contains(&(bit / 8)) && bit % 8 == 5) {
                assert_ne!(check_row(&changed), RowCheck::Intact, "bit {bit}");
            }
        }

        assert_eq!(check_row(b"{\"id\":\"a\"}\n"), RowCheck::Missing);
    }
}
