//! Checks the parts of a spreadsheet file before they are read.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::TableError;

/// Maximum number of parts: sheets, pictures, settings.
const MAX_PARTS: usize = 10_000;
/// Maximum total size of the decompressed parts.
const MAX_PARTS_BYTES: u64 = 512 * 1024 * 1024;

const DAMAGED_HELP: &str = "open it in a spreadsheet program and save it again";

/// Checks that a file is an archive, that its parts do not exceed a limit, and that its list of shared strings is as
/// long as it claims, because the reader reserves memory for the claimed number.
pub(crate) fn check_parts(bytes: &[u8]) -> Result<(), TableError> {
    if !bytes.starts_with(b"PK") {
        return Err(not_a_spreadsheet(bytes));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    if archive.len() > MAX_PARTS {
        return Err(too_large(&format!("it has more than {MAX_PARTS} parts")));
    }

    let most = assize_files::max_expanded(bytes.len() as u64, MAX_PARTS_BYTES);
    let mut left = most;
    let mut content = Vec::new();
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| damaged(&error))?;
        let is_texts =
            part.name().map_err(|error| damaged(&error))?.to_ascii_lowercase().ends_with("sharedstrings.xml");
        let mut limited = part.take(left + 1);
        let size = if is_texts {
            content.clear();
            limited.read_to_end(&mut content).map_err(|error| damaged(&error))? as u64
        } else {
            std::io::copy(&mut limited, &mut std::io::sink()).map_err(|error| damaged(&error))?
        };
        left = left.checked_sub(size).ok_or_else(|| {
            too_large(&format!("its parts are larger than {}", expanded_size(most, MAX_PARTS_BYTES)))
        })?;
        if is_texts && !has_sound_count(&content) {
            return Err(TableError::refused("its list of texts is damaged", DAMAGED_HELP));
        }
    }

    Ok(())
}

/// Formats the limit on the decompressed size of a file.
pub(crate) fn expanded_size(limit: u64, most: u64) -> String {
    let mebibytes = limit >> 20;
    if limit == most {
        return format!("{mebibytes} MiB");
    }
    format!("{mebibytes} MiB, and more than {} times the file", assize_files::MAX_EXPANSION)
}

/// Returns false if the part claims to have more strings than fit into it.
fn has_sound_count(part: &[u8]) -> bool {
    const KEY: &[u8] = b"uniqueCount";

    // In another encoding, such as UTF-16, the number would not be found.
    if part.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
        return false;
    }
    part.windows(KEY.len()).enumerate().filter(|(_, word)| *word == KEY).all(|(at, _)| {
        let rest = &part[at + KEY.len()..];
        let digits = rest.iter().skip_while(|byte| b"=\"' \t\r\n".contains(byte));
        let count = digits
            .take_while(|byte| byte.is_ascii_digit())
            .try_fold(0usize, |count, digit| count.checked_mul(10)?.checked_add(usize::from(digit - b'0')));
        count.is_some_and(|count| count <= part.len())
    })
}

fn not_a_spreadsheet(bytes: &[u8]) -> TableError {
    // The container format of .xls files, and of files with a password.
    if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return TableError::refused(
            "it is a spreadsheet of an older format, or has a password",
            "save it as .xlsx, without a password",
        );
    }
    if !bytes.is_empty() && std::str::from_utf8(&bytes[..bytes.len().min(512)]).is_ok() {
        return TableError::refused(
            "it is text, not an .xlsx file",
            "if it is a table, give it the ending .csv",
        );
    }

    TableError::refused("it is not an .xlsx file", DAMAGED_HELP)
}

pub(crate) fn damaged(error: &dyn std::fmt::Display) -> TableError {
    TableError::refused(format!("the spreadsheet is damaged: {error}"), DAMAGED_HELP)
}

pub(crate) fn too_large(what: &str) -> TableError {
    TableError::refused(
        format!("the spreadsheet is too large: {what}"),
        "keep only the table in it, or save it as CSV, which can have any size",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_texts_is_no_longer_than_its_part() {
        assert!(has_sound_count(b"<sst count=\"9\" uniqueCount=\"2\"><si/><si/></sst>"));
        assert!(has_sound_count(b"<sst><si/></sst>"));
        for hostile in [
            b"<sst uniqueCount=\"999999999999\"/>".as_slice(),
            b"<sst uniqueCount = '99999999999999999999999'/>",
            b"<\0s\0s\0t\0",
        ] {
            assert!(!has_sound_count(hostile));
        }
    }
}
