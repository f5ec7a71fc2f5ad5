//! Pipe reader that keeps a bounded part of the output.

use std::borrow::Cow;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes per read: the usual size of a pipe's buffer.
const CHUNK: usize = 64 * 1024;

/// Which end of a stream is kept if it is longer than the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptEnd {
    First,
    Last,
}

/// The kept part of an output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedStream {
    /// Bytes kept, at most the cap of the command.
    pub bytes: Vec<u8>,
    /// Number of bytes the program wrote in total.
    pub total: u64,
}

impl CapturedStream {
    /// Returns true if the program wrote more than was kept.
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// Returns the kept bytes as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Returns the last `limit` kept bytes as text, starting at a character boundary.
    pub fn tail(&self, limit: usize) -> Cow<'_, str> {
        let mut start = self.bytes.len().saturating_sub(limit);

        // A UTF-8 character has at most three continuation bytes. Text in another encoding may be cut inside a
        // character.
        for _ in 0..3 {
            if start > 0 && self.bytes.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
                start += 1;
            }
        }

        String::from_utf8_lossy(&self.bytes[start..])
    }
}

/// A pipe with the output kept so far.
///
/// The bytes are stored here and not in a future, so that they survive when reading is cancelled.
#[derive(Debug)]
pub(crate) struct StreamCapture<R> {
    pipe: Option<R>,
    cap: usize,
    keep: KeptEnd,
    seen: CapturedStream,
}

impl<R: AsyncRead + Unpin> StreamCapture<R> {
    pub(crate) fn new(pipe: Option<R>, cap: usize, keep: KeptEnd) -> Self {
        Self { pipe, cap, keep, seen: CapturedStream::default() }
    }

    /// Reads until every writer has closed the pipe. Bytes above the cap are read and discarded, because a
    /// full pipe would block the program.
    pub(crate) async fn drain(&mut self) {
        let mut chunk = vec![0; CHUNK];
        while let Some(pipe) = self.pipe.as_mut() {
            match pipe.read(&mut chunk).await {
                // A pipe that fails to read has no more data; the earlier output still counts.
                Ok(0) | Err(_) => self.pipe = None,
                Ok(count) => self.take(&chunk[..count]),
            }
        }
    }

    fn take(&mut self, new: &[u8]) {
        let seen = &mut self.seen;
        seen.total = seen.total.saturating_add(new.len() as u64);

        match self.keep {
            KeptEnd::First => {
                let room = self.cap.saturating_sub(seen.bytes.len());
                seen.bytes.extend_from_slice(&new[..new.len().min(room)]);
            }
            KeptEnd::Last => {
                seen.bytes.extend_from_slice(new);
                // Cutting only when twice the cap is reached keeps the cost per byte constant.
                if seen.bytes.len() > self.cap.saturating_mul(2) {
                    self.trim();
                }
            }
        }
    }

    fn trim(&mut self) {
        let surplus = self.seen.bytes.len().saturating_sub(self.cap);
        self.seen.bytes.drain(..surplus);
    }

    pub(crate) fn finish(&mut self) -> CapturedStream {
        self.pipe = None;
        self.trim();
        std::mem::take(&mut self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn capture(input: &[u8], cap: usize, keep: KeptEnd) -> CapturedStream {
        let mut capture = StreamCapture::new(Some(input), cap, keep);
        capture.drain().await;
        capture.finish()
    }

    #[tokio::test]
    async fn the_first_or_the_last_bytes_are_kept_and_all_are_counted() {
        let input: Vec<u8> = (0..=255u8).cycle().take(1_000_003).collect();
        let first = capture(&input, 1000, KeptEnd::First).await;
        assert_eq!(first.bytes, input[..1000]);
        assert_eq!(first.total, 1_000_003);
        assert!(first.is_truncated());
        let last = capture(&input, 1000, KeptEnd::Last).await;
        assert_eq!(last.bytes, input[input.len() - 1000..]);
        assert!(last.is_truncated());
        let whole = capture(b"abc", 3, KeptEnd::Last).await;
        assert_eq!(whole.bytes, b"abc");
        assert!(!whole.is_truncated());
        assert!(capture(b"abc", 0, KeptEnd::Last).await.bytes.is_empty());
    }

    #[test]
    fn a_tail_begins_at_a_whole_character() {
        let captured = CapturedStream { bytes: "aé€".as_bytes().to_vec(), total: 6 };
        assert_eq!(captured.tail(100), "aé€");
        assert_eq!(captured.tail(4), "€");
        assert_eq!(captured.tail(2), "");
        assert_eq!(captured.tail(0), "");
    }
}
