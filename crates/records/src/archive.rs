//! Reads zip archives. Their parts are decompressed up to a limit, and verified with their checksums.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek};

use assize_files::{MAX_EXPANSION, max_expanded};
use assize_limits::ARCHIVE_BYTES as MAX_ARCHIVE_BYTES;
use assize_limits::ARCHIVE_COMMAS as MIN_MAX_COMMAS;
use assize_limits::ARCHIVE_COMMAS_PER_BYTE as COMMAS_PER_BYTE;
use assize_limits::ARCHIVE_PARTS as MAX_PARTS;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use ruzstd::decoding::StreamingDecoder;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::{MAX_RECORD_BYTES, RecordError};

/// Compression methods, by their numbers in the zip format: none, deflate, zstandard.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ZSTANDARD: u16 = 93;

/// Parts of an archive.
pub(crate) struct RecordArchive<R> {
    zip: ZipArchive<R>,
    /// Number of bytes decompressed so far, and the maximum.
    read: u64,
    limit: u64,
    /// Maximum number of further commas. Each separates two values, and a parsed value takes many times the memory of
    /// its text.
    commas: u64,
}

impl RecordArchive<BufReader<File>> {
    pub(crate) fn open(file: File) -> Result<Self, RecordError> {
        let length = file.metadata()?.len();
        let limit = max_expanded(length, MAX_ARCHIVE_BYTES);
        let commas = length.saturating_mul(COMMAS_PER_BYTE).max(MIN_MAX_COMMAS);
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| {
            let why = match error {
                ZipError::Io(error) => error.to_string(),
                // The library's messages use terms of the zip format.
                _ => "the list of its parts, which is at its end, is not there".to_owned(),
            };
            RecordError::Archive(format!("the archive is damaged or not complete: {why}"))
        })?;
        check_parts(zip.len())?;

        Ok(Self { zip, read: 0, limit, commas })
    }
}

fn check_parts(count: usize) -> Result<(), RecordError> {
    if count > MAX_PARTS {
        return Err(RecordError::Archive(format!("the archive has more than {MAX_PARTS} parts")));
    }

    Ok(())
}

impl<R: Read + Seek> RecordArchive<R> {
    /// Iterates over the names of the parts.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.zip.file_names().filter_map(Result::ok).map(Cow::into_owned)
    }

    /// Returns the bytes of a part; `None` if there is no such part.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, RecordError> {
        let damaged = |why: String| RecordError::DamagedPart { part: name.to_owned(), why };
        let Some(index) = self.zip.index_for_name(name) else { return Ok(None) };
        let mut part = self.zip.by_index_raw(index).map_err(|error| damaged(error.to_string()))?;
        if part.encrypted() {
            return Err(damaged("it is encrypted".to_owned()));
        }

        #[expect(deprecated, reason = "the number of a method that is not compiled in")]
        let method = part.compression().to_u16();
        let checksum = part.crc32();
        let mut packed = Vec::new();
        (&mut part).take(MAX_RECORD_BYTES).read_to_end(&mut packed)?;
        drop(part);

        let left = self.limit - self.read;
        let bytes = unpack(&packed, method, MAX_RECORD_BYTES.min(left)).map_err(damaged)?;
        if bytes.len() as u64 > left {
            return Err(self.too_large());
        }
        self.read += bytes.len() as u64;
        if bytes.len() as u64 > MAX_RECORD_BYTES {
            return Err(damaged(format!("it is larger than {} MiB", MAX_RECORD_BYTES / 1024 / 1024)));
        }

        let commas = bytes.iter().map(|byte| u64::from(*byte == b',')).sum();
        self.commas = self.commas.checked_sub(commas).ok_or_else(|| {
            RecordError::Archive("the parts of the archive have more values than can be read".to_owned())
        })?;

        let mut crc = Crc::new();
        crc.update(&bytes);
        if crc.sum() != checksum {
            return Err(damaged("its checksum is wrong".to_owned()));
        }

        Ok(Some(bytes))
    }
}

impl<R> RecordArchive<R> {
    fn too_large(&self) -> RecordError {
        let what = if self.limit == MAX_ARCHIVE_BYTES {
            format!("{} GiB", MAX_ARCHIVE_BYTES >> 30)
        } else {
            format!("{} MiB, and more than {MAX_EXPANSION} times the archive", self.limit >> 20)
        };
        RecordError::Archive(format!("the parts of the archive are larger than {what}"))
    }
}

/// Returns the reason why bytes can't be decompressed. The libraries' own messages contain names of their
/// types.
fn damaged_bytes<E>(_: E) -> String {
    "its compressed bytes are damaged".to_owned()
}

/// Decompresses bytes. Stops after `most` + 1 bytes, so that the caller sees that there are more than `most`.
fn unpack(packed: &[u8], method: u16, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = most + 1;
    match method {
        STORED => bytes.extend_from_slice(packed),
        DEFLATED => {
            let read = DeflateDecoder::new(packed).take(limit).read_to_end(&mut bytes);
            read.map_err(damaged_bytes)?;
        }
        ZSTANDARD => {
            // A part may consist of several frames.
            let mut rest = packed;
            while !rest.is_empty() && (bytes.len() as u64) < limit {
                let left = limit - bytes.len() as u64;
                let frame = StreamingDecoder::new(&mut rest).map_err(damaged_bytes)?;
                frame.take(left).read_to_end(&mut bytes).map_err(damaged_bytes)?;
            }
        }
        other => return Err(format!("method {other} of compression is not known")),
    }

    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_a_million_parts_at_most() {
        assert!(check_parts(1_000_000).is_ok());
        let error = check_parts(1_000_001).unwrap_err();
        assert_eq!(error.to_string(), "the archive has more than 1000000 parts");
    }
}
