//! Reads the editor's messages from a stream, and writes the server's.
//!
//! A message that can't be parsed is answered with an error, as JSON-RPC requires, and the next one is read.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message};
use parking_lot::Mutex;
use serde_json::json;

/// Longest line of a header, in bytes.
const MAX_HEADER_LINE: u64 = 8 * 1024;
/// Maximum number of bytes of a message. A document is sent as a whole when it is opened.
const MAX_MESSAGE: u64 = 64 << 20;

/// An unreadable message, after which the next one can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadMessage {
    code: i32,
    message: String,
}

impl BadMessage {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code as i32, message: message.into() }
    }
}

/// Reads the next message; `None` at the end of the stream.
pub(crate) fn read_message(input: &mut impl BufRead) -> io::Result<Option<Result<Message, BadMessage>>> {
    let length = match read_header(input)? {
        MessageHeader::Length(length) => length,
        MessageHeader::WithoutLength => {
            return Ok(Some(Err(BadMessage::new(ErrorCode::ParseError, "a message has no Content-Length"))));
        }
        MessageHeader::End => return Ok(None),
    };

    if length > MAX_MESSAGE {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        let limit = MAX_MESSAGE >> 20;
        let message = format!("a message of {length} bytes is longer than {limit} MiB, and was not read");
        return Ok(Some(Err(BadMessage::new(ErrorCode::ParseError, message))));
    }

    let mut bytes = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut bytes)? as u64 != length {
        return Ok(None);
    }

    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => return Ok(Some(Err(BadMessage::new(ErrorCode::ParseError, error.to_string())))),
    };
    Ok(Some(serde_json::from_str(text).map_err(|error| {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let code = if is_json { ErrorCode::InvalidRequest } else { ErrorCode::ParseError };
        BadMessage::new(code, error.to_string())
    })))
}

/// The header of a message.
enum MessageHeader {
    /// It gives the number of bytes of the message.
    Length(u64),
    WithoutLength,
    /// The stream has ended.
    End,
}

fn read_header(input: &mut impl BufRead) -> io::Result<MessageHeader> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(MessageHeader::End);
        }

        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return Ok(length.map_or(MessageHeader::WithoutLength, MessageHeader::Length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

/// Writes the error for an unreadable message, whose id is unknown.
pub(crate) fn write_error(output: &Mutex<impl Write>, error: &BadMessage) -> io::Result<()> {
    let BadMessage { code, message } = error;
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}}).to_string();

    let mut output = output.lock();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    #[test]
    fn what_is_no_message_is_told_and_the_next_one_is_read() {
        let good = framed(br#"{"jsonrpc":"2.0","method":"exit"}"#);
        let bad: [(&[u8], i32); 5] =
            [(b"{broken", -32700), (b"[1, 2]", -32600), (b"\xff\xfe", -32700), (b"", -32700), (b"7", -32600)];
        for (body, code) in bad {
            let stream = [framed(body), good.clone()].concat();
            let mut input = &stream[..];
            let first = read_message(&mut input).expect("readable").expect("there");
            assert_eq!(first.expect_err("no message").code, code, "{body:?}");
            assert!(matches!(read_message(&mut input), Ok(Some(Ok(Message::Notification(_))))), "{body:?}");
            assert!(matches!(read_message(&mut input), Ok(None)));
        }
    }

    #[test]
    fn lengths_are_believed_up_to_a_limit_and_reserve_nothing() {
        for header in ["Content-Length: 99999999999999\r\n\r\n{}", "Content-Length: 4000000\r\n\r\n{}"] {
            let mut input = header.as_bytes();
            assert!(!matches!(read_message(&mut input), Ok(Some(Ok(_)))));
        }
        let mut input = &b"Nonsense\r\nX: 1\r\n\r\n"[..];
        assert!(matches!(read_message(&mut input), Ok(Some(Err(_)))));
        let endless = "x".repeat(100_000);
        assert!(matches!(read_message(&mut endless.as_bytes()), Ok(None)));
    }
}
