//! Checks the description at the end of a Parquet file before the library reads it.
//!
//! The library follows columns inside of columns by recursion, reserves room for as many as a part claims to have, and
//! needs many times the size of the description.

use assize_limits::{NESTING, PARQUET_FOOTER_BYTES, TABLE_COLUMNS};

use crate::TableError;
use crate::parquet_error::{damaged, too_large};

/// Bytes at the end of a file: the length of its description, and `PAR1`.
const TAIL_BYTES: usize = 8;
/// The field of the description that lists columns, and the field of a column that counts its members.
const SCHEMA: i16 = 2;
const MEMBERS: i16 = 5;

/// Types of values in Thrift's compact form.
const BYTE: u8 = 3;
const STRUCT: u8 = 12;

/// Checks the length of the description, and the number and depth of the columns in it.
pub(crate) fn check_footer(file: &[u8]) -> Result<(), TableError> {
    let cut_off = || damaged(&"its description is cut off");
    let (rest, tail) = file.split_last_chunk::<TAIL_BYTES>().ok_or_else(cut_off)?;
    let [a, b, c, d, ..] = *tail;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > PARQUET_FOOTER_BYTES {
        return Err(too_large(&format!("its description is larger than {} MiB", PARQUET_FOOTER_BYTES >> 20)));
    }
    let start = rest.len().checked_sub(length).ok_or_else(cut_off)?;

    let mut values = CompactValues(&rest[start..]);
    let mut id = 0;
    loop {
        match values.field(&mut id).ok_or_else(cut_off)? {
            0 => return Ok(()),
            kind if id == SCHEMA && matches!(kind, 9 | 10) => check_columns(&mut values)?,
            kind => values.skip(kind, NESTING).ok_or_else(cut_off)?,
        }
    }
}

/// Checks the list of columns: each is followed by its members.
fn check_columns(values: &mut CompactValues<'_>) -> Result<(), TableError> {
    let cut_off = || damaged(&"its list of columns is cut off");
    let (_, count) = values.list().ok_or_else(cut_off)?;
    // The first one is the table.
    if count > TABLE_COLUMNS as u64 + 1 {
        return Err(too_large(&format!(
            "it has more than {TABLE_COLUMNS} columns, members of columns counted"
        )));
    }

    let mut open: Vec<u64> = Vec::new();
    for _ in 0..count {
        let members = values.members().ok_or_else(cut_off)?;
        if members > count {
            return Err(damaged(&"a column has more members than there are"));
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(members);
        if open.len() > NESTING {
            return Err(too_large(&format!("its columns are nested more than {NESTING} deep")));
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }

    Ok(())
}

/// Values in Thrift's compact form. Methods return `None` where they are cut off.
struct CompactValues<'f>(&'f [u8]);

impl CompactValues<'_> {
    fn bytes(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Sets the id of the next field, and returns its type; 0 at the end of a struct.
    fn field(&mut self, id: &mut i16) -> Option<u8> {
        let head = self.byte()?;
        *id = match head >> 4 {
            0 if head != 0 => signed(self.number()?) as i16,
            more => id.wrapping_add(i16::from(more)),
        };
        Some(head & 0x0f)
    }

    /// The type and the number of the values of a list.
    fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        Some((head & 0x0f, count))
    }

    /// Reads a column; returns the number of its members.
    fn members(&mut self) -> Option<u64> {
        let (mut id, mut members) = (0, 0);
        loop {
            match self.field(&mut id)? {
                0 => return Some(members),
                4..=6 if id == MEMBERS => members = u64::try_from(signed(self.number()?)).ok()?,
                kind => self.skip(kind, NESTING)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // Of a truth value there is only the type.
            1 | 2 => Some(()),
            BYTE => self.bytes(1),
            4..=6 => self.number().map(drop),
            7 => self.bytes(8),
            8 => self.number().and_then(|length| self.bytes(length)),
            9 | 10 => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip(kind.max(BYTE), depth))
            }
            STRUCT => {
                let mut id = 0;
                loop {
                    match self.field(&mut id)? {
                        0 => return Some(()),
                        kind => self.skip(kind, depth)?,
                    }
                }
            }
            // Parquet has no maps.
            _ => None,
        }
    }
}

/// A number whose last bit is its sign.
const fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(mut number: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    /// A file whose columns have these numbers of members.
    fn file(members: &[usize]) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        footer.extend(number(members.len()));
        for members in members {
            footer.extend([0x55]);
            footer.extend(number(members * 2));
            footer.push(0);
        }
        footer.push(0);
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1".to_vec(), footer, length.to_vec(), b"PAR1".to_vec()].concat()
    }

    fn problem(file: &[u8]) -> String {
        check_footer(file).map_or_else(|error| error.to_string(), |()| "none".to_owned())
    }

    #[test]
    fn columns_are_counted_before_they_are_read() {
        let flat = |columns: usize| file(&[&[columns][..], &vec![0; columns]].concat());
        assert_eq!(problem(&flat(TABLE_COLUMNS)), "none");
        let found = problem(&flat(TABLE_COLUMNS + 1));
        assert!(found.contains("more than 10000 columns"), "{found}");

        let deep = |levels: usize| file(&[&vec![1; levels][..], &[0]].concat());
        assert_eq!(problem(&deep(NESTING - 1)), "none");
        let found = problem(&deep(NESTING));
        assert!(found.contains("nested more than 96 deep"), "{found}");

        let found = problem(&file(&[1_000_000, 0]));
        assert!(found.contains("more members than there are"), "{found}");
    }

    #[test]
    fn a_description_that_is_too_long_or_cut_off_is_not_read() {
        let mut long = vec![0; PARQUET_FOOTER_BYTES + 1];
        long.extend((PARQUET_FOOTER_BYTES as u32 + 1).to_le_bytes());
        long.extend(b"PAR1");
        let found = problem(&long);
        assert!(found.contains("its description is larger than 4 MiB"), "{found}");

        let whole = file(&[2, 0, 0]);
        let footer = &whole[4..whole.len() - TAIL_BYTES];
        for cut in 0..footer.len() {
            let length = (cut as u32).to_le_bytes();
            let found = problem(&[&footer[..cut], &length, b"PAR1"].concat());
            assert!(found.contains("damaged"), "cut at {cut}: {found}");
        }
        for cut in 0..TAIL_BYTES {
            assert!(problem(&whole[whole.len() - cut..]).contains("damaged"), "{cut} bytes");
        }
    }
}
