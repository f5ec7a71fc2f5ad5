//! Encodings of text tables.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;

use assize_files::{MAX_FILE_BYTES, open_file, read_bytes};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8};

use crate::encoding_guess::{SAMPLE_BYTES, known_encoding};
use crate::{FaultyRow, RowFault, RowProblem, TableError};

/// Encoding of a text, by a name of the WHATWG's list, such as `windows-1252`, `gbk` or `shift-jis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// Parses a name, ignoring letter case.
    ///
    /// # Errors
    /// If there is no encoding of this name.
    pub fn parse(name: &str) -> Result<Self, String> {
        // Windows calls its code pages by numbers.
        let page = match name.trim().to_ascii_lowercase().as_str() {
            "cp936" | "936" => Some("gbk"),
            "cp932" | "932" => Some("shift-jis"),
            "cp949" | "949" => Some("euc-kr"),
            "cp950" | "950" => Some("big5"),
            _ => None,
        };
        Encoding::for_label(page.unwrap_or(name).as_bytes())
            .filter(|encoding| *encoding != REPLACEMENT)
            .map(Self)
            .ok_or_else(|| {
                "no such encoding; there are utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, gbk, \
                 gb18030, big5, shift-jis, euc-jp, euc-kr, koi8-r and the others of the WHATWG's list"
                    .to_owned()
            })
    }
}

/// A text table, opened.
pub enum TextSource {
    /// A file in UTF-8, at its beginning.
    File(File),
    /// The text of a file in another encoding.
    Decoded(String),
}

/// Opens a text table: UTF-8, of any size; UTF-16, recognized by its bytes; or a named encoding. Returns it with its
/// first bytes in UTF-8.
///
/// # Errors
/// If the file can't be read, or is not text in the expected encoding. The message contains a guess of the real one.
/// The guess is not used, because the same bytes can be text in several encodings.
pub fn open_text_table(
    path: &Path,
    encoding: Option<TextEncoding>,
) -> Result<(TextSource, Vec<u8>), TableError> {
    let mut file = open_file(path)?;
    let mut sample = Vec::new();
    (&mut file).take(SAMPLE_BYTES as u64).read_to_end(&mut sample)?;
    if encoding.is_some() || known_encoding(&sample).is_some() {
        let text = decode_text(read_bytes(path, MAX_FILE_BYTES)?, encoding)?;
        sample = text.as_bytes()[..text.len().min(SAMPLE_BYTES)].to_vec();
        return Ok((TextSource::Decoded(text), sample));
    }

    match std::str::from_utf8(&sample) {
        // A character may continue beyond the sample.
        Err(error) if error.error_len().is_some() => Err(fault_of(&sample, error.valid_up_to()).into()),
        _ => {
            file.rewind()?;
            Ok((TextSource::File(file), sample))
        }
    }
}

/// Returns the text of a file: in the named encoding, in UTF-16 if its bytes show it, or else in UTF-8.
///
/// # Errors
/// The line with the first byte that is not text in the encoding.
pub fn decode_text(bytes: Vec<u8>, encoding: Option<TextEncoding>) -> Result<String, FaultyRow> {
    let known = known_encoding(&bytes).or_else(|| encoding.map(|encoding| encoding.0));
    let Some(encoding) = known.filter(|encoding| *encoding != UTF_8) else {
        return utf8_text(bytes);
    };

    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut text = String::with_capacity(bytes.len() * 2);
    let mut read = 0;
    loop {
        text.reserve(bytes.len() - read + 16);
        let (result, used) = decoder.decode_to_string_without_replacement(&bytes[read..], &mut text, true);
        read += used;
        match result {
            encoding_rs::DecoderResult::InputEmpty => return Ok(text),
            encoding_rs::DecoderResult::OutputFull => {}
            encoding_rs::DecoderResult::Malformed(length, after) => {
                let at = read.saturating_sub(usize::from(length) + usize::from(after));
                let line = text.rfind(['\r', '\n']).map_or(0, |end| end + 1);
                let fault = RowFault {
                    problem: RowProblem::NotText {
                        byte: bytes.get(at).copied().unwrap_or_default(),
                        read_as: encoding.name(),
                        probably: None,
                    },
                    column: None,
                    at: text.len() - line..text.len() - line + '\u{fffd}'.len_utf8(),
                    text: format!("{}\u{fffd}", &text[line..]).into(),
                };
                return Err(FaultyRow { number: line_of(text.as_bytes()), start: line, fault });
            }
        }
    }
}

/// Returns the text of a file that must be UTF-8.
///
/// # Errors
/// The line with the first byte that is not UTF-8.
pub fn utf8_text(bytes: Vec<u8>) -> Result<String, FaultyRow> {
    String::from_utf8(bytes).map_err(|error| fault_of(error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// Returns the fault at a byte that is not UTF-8, after `valid` valid bytes.
fn fault_of(bytes: &[u8], valid: usize) -> FaultyRow {
    let start = memchr::memrchr2(b'\r', b'\n', &bytes[..valid]).map_or(0, |end| end + 1);
    let end = memchr::memchr2(b'\r', b'\n', &bytes[valid..]).map_or(bytes.len(), |end| valid + end);

    let fault = RowFault::not_utf8(&bytes[start..end], valid - start, bytes);
    FaultyRow { number: line_of(&bytes[..valid]), start, fault }
}

/// Returns the number of the line that the bytes end in.
fn line_of(before: &[u8]) -> usize {
    let returns = memchr::memchr_iter(b'\r', before).filter(|at| before.get(at + 1) != Some(&b'\n'));
    1 + memchr::memchr_iter(b'\n', before).count() + returns.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding_guess::guess_encoding;

    #[test]
    fn the_right_encoding_is_guessed_and_the_text_is_read_with_it() {
        for (name, text) in [
            ("windows-1252", "id,answer\n1,Die Lieferung dauert für gewöhnlich drei Tage.\n"),
            ("GBK", "id,answer\n1,您有30天的时间申请退款，请发电子邮件给我们。\n"),
            (
                "Shift_JIS",
                "id,answer\n1,返金は３０日以内に申請してください。電子メールで連絡してください。\n",
            ),
            ("UTF-16LE", "id,answer\n1,您有30天\n"),
            ("UTF-16BE", "id,answer\n1,für\n"),
        ] {
            let encoding = TextEncoding::parse(name).expect("an encoding");
            let bytes = match name {
                "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                _ => encoding.0.encode(text).0.into_owned(),
            };
            assert_eq!(guess_encoding(&bytes), name);
            assert_eq!(decode_text(bytes.clone(), Some(encoding)).expect("text"), text);
            let plain = decode_text(bytes, None);
            if name.starts_with("UTF-16") {
                assert_eq!(plain.expect("text"), text);
            } else {
                let FaultyRow { number, fault, .. } = plain.expect_err("not UTF-8");
                assert_eq!(number, 2);
                assert!(fault.to_string().contains(&format!("`--encoding {name}`")), "{fault}");
            }
        }
    }

    #[test]
    fn bytes_that_are_none_of_the_named_encoding_are_refused_with_their_line() {
        let FaultyRow { number, fault, .. } =
            decode_text(b"a,b\n1,x\xff\xff\n".to_vec(), Some(TextEncoding::parse("gbk").expect("known")))
                .expect_err("not GBK");
        assert_eq!((number, &*fault.text), (2, "1,x\u{fffd}"));
        assert!(TextEncoding::parse("latin9000").is_err());
        assert!(TextEncoding::parse("iso-2022-kr").is_err(), "it is read as nothing");
    }
}
