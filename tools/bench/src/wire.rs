//! Just enough of HTTP/1.1 for both ends of the measurement: consecutive messages with a `content-length`.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes per read.
const CHUNK: usize = 16 * 1024;

/// Reads whole messages from a connection.
pub(crate) struct HttpMessages<R> {
    from: R,
    buffer: Vec<u8>,
    /// Bytes at the beginning of the buffer that were returned already.
    done: usize,
}

impl<R: AsyncRead + Unpin> HttpMessages<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, buffer: Vec::with_capacity(CHUNK), done: 0 }
    }

    /// The next message, head and body; `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.buffer.drain(..self.done);
        self.done = 0;

        loop {
            if let Some(length) = whole(&self.buffer) {
                self.done = length;
                return Ok(Some(&self.buffer[..length]));
            }

            self.buffer.reserve(CHUNK);

            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// The length of the first message, if all of it is there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let length = head + content_length(&bytes[..head]);
    (bytes.len() >= length).then_some(length)
}

fn content_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length:";
    head.split(|byte| *byte == b'\n')
        .find(|line| line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))
        .and_then(|line| std::str::from_utf8(&line[NAME.len()..]).ok()?.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_told_apart_however_they_arrive() {
        let one = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let two = b"POST / HTTP/1.1\r\nhost: x\r\n\r\n";
        let bytes: Vec<u8> = [&one[..], &two[..], &one[..20]].concat();
        let mut messages = HttpMessages::new(&bytes[..]);
        assert_eq!(messages.next().await.unwrap(), Some(&one[..]));
        assert_eq!(messages.next().await.unwrap(), Some(&two[..]));
        assert_eq!(messages.next().await.unwrap(), None);
    }
}
