//! Limits the length of a client's messages (one per line), and answers requests that are too long.
//!
//! The transport of the library silently drops messages beyond its limit, so a client would wait forever for a
//! reply.

pub(crate) use assize_limits::AGENT_MESSAGE_BYTES as MAX_MESSAGE;
use rmcp::ErrorData;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream};

/// Method of the request that replaces one that is too long.
pub(crate) const TOO_LONG: &str = "assize/message-too-long";
/// Longest id that gets a reply, in bytes.
const MAX_ID: usize = 256;

/// The error for a message that is too long.
pub(crate) fn too_long() -> ErrorData {
    let message = format!(
        "the message is longer than {} MiB; send fewer samples in a call, or put them into a file and use `run_eval`",
        MAX_MESSAGE >> 20
    );
    ErrorData::invalid_request(message, None)
}

/// Passes messages on until the reader ends. A request longer than `limit` bytes is replaced by a short one
/// with the same id, so that the client gets a reply; other long messages are dropped.
pub(crate) async fn pass_messages(
    reader: impl AsyncRead + Unpin,
    mut writer: DuplexStream,
    limit: usize,
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut line = Vec::new();
    let mut ids = IdScanner::default();
    let mut is_long = false;
    loop {
        let (taken, ends) = {
            let bytes = reader.fill_buf().await?;
            if bytes.is_empty() {
                return writer.shutdown().await;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let bytes = &bytes[..taken];

            for byte in bytes {
                ids.read(*byte);
            }
            is_long = is_long || line.len() + taken > limit;
            if is_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(bytes);
            }
            (taken, end.is_some())
        };
        reader.consume(taken);
        if !ends {
            continue;
        }

        if is_long && let Some(id) = ids.id() {
            line = json!({ "jsonrpc": "2.0", "id": id, "method": TOO_LONG }).to_string().into_bytes();
            line.push(b'\n');
        }
        writer.write_all(&line).await?;
        line.clear();
        (ids, is_long) = (IdScanner::default(), false);
    }
}

/// Scans a JSON object byte by byte for its `id`, and keeps nothing else.
#[derive(Debug, Default)]
struct IdScanner {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The key or value being read, in the outermost object.
    token: Vec<u8>,
    /// True while the value of `id` is being read.
    is_id: bool,
    id: Option<Vec<u8>>,
}

impl IdScanner {
    fn read(&mut self, byte: u8) {
        if self.in_text {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }

        match byte {
            b'"' => {
                self.in_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_value(),
            b':' if self.depth == 1 => {
                self.is_id = self.token == br#""id""#;
                self.token.clear();
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            let token = std::mem::take(&mut self.token);
            if std::mem::take(&mut self.is_id) {
                self.id = Some(token);
            }
        }
    }

    /// The id, if it is valid.
    fn id(&self) -> Option<Value> {
        let id: Value = serde_json::from_slice(self.id.as_deref()?).ok()?;

        (id.is_string() || id.is_i64() || id.is_u64()).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn passed(sent: &str, limit: usize) -> String {
        let (writer, mut reader) = tokio::io::duplex(1 << 16);
        pass_messages(sent.as_bytes(), writer, limit).await.expect("it passes");
        let mut text = String::new();
        reader.read_to_string(&mut text).await.expect("text");
        text
    }

    #[tokio::test]
    async fn a_request_that_is_too_long_becomes_one_with_its_id() {
        let long = "x".repeat(200);
        for (id, wanted) in [("7", json!(7)), (r#""a\"b""#, json!("a\"b"))] {
            for request in [
                format!(r#"{{"jsonrpc":"2.0","id": {id} ,"params":{{"id":1,"t":"{long}"}}}}"#),
                format!(r#"{{"params":[{{"id":1}},"\"id\":3,{long}"],"id":{id}}}"#),
            ] {
                let text = passed(&format!("{{\"id\":1}}\n{request}\n{{\"id\":2}}\n"), 100).await;
                let lines: Vec<Value> =
                    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
                assert_eq!(
                    (&lines[0]["id"], &lines[1]["id"], &lines[2]["id"]),
                    (&json!(1), &wanted, &json!(2))
                );
                assert_eq!(lines[1]["method"], TOO_LONG);
            }
        }
    }

    #[tokio::test]
    async fn what_has_no_id_is_dropped_and_the_rest_passes_as_it_is() {
        let long = "x".repeat(200);
        for dropped in [format!(r#"{{"method":"{long}"}}"#), long.clone(), format!(r#"{{"id":{long}}}"#)] {
            assert_eq!(passed(&format!("a\n{dropped}\nb\n"), 100).await, "a\nb\n");
        }
        assert_eq!(passed("no end", 100).await, "");
    }
}
