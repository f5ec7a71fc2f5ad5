//! Decodes the lines of a dataset, one after the other or, for large files, on several threads.
//!
//! Blocks of lines go to the threads in turn and are taken back in the same order. So the results are in the order of
//! the file without sorting, and the number of blocks in memory is fixed. The price is that a slow block delays the ones
//! after it. A panic of a thread continues in the thread that reads the results.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use super::dataset_lines::{DatasetLine, DatasetLines};

/// Number of lines at the beginning of a file that are decoded on the calling thread. For a short file,
/// starting threads takes longer than it saves.
const SEQUENTIAL_LINES: usize = 64;
/// Number of lines handed to a thread together.
const LINES_PER_BLOCK: usize = 64;
/// Maximum number of threads. One thread consumes the results, so additional threads would be idle.
const MAX_THREADS: usize = 8;
/// Number of blocks in flight per thread: the one being decoded, and the next.
const BLOCKS_PER_THREAD: usize = 2;

/// Decoder of one line.
type LineFunction<T> = Arc<dyn Fn(DatasetLine) -> T + Send + Sync>;

/// Iterator over the decoded lines of a file, in their order. An error ends it.
pub(super) struct LineDecoder<T> {
    lines: DatasetLines<File>,
    decode: LineFunction<T>,
    /// Number of lines that will still be decoded on the calling thread.
    alone: usize,
    /// Threads, used in turn: blocks are handed out and taken back in the same order.
    threads: Vec<DecoderThread<T>>,
    /// Number of blocks handed out.
    given: usize,
    /// Number of blocks returned.
    taken: usize,
    /// Remaining results of the last block returned.
    ready: std::vec::IntoIter<T>,
    /// Result of reading to the end of the file; an error is returned after the lines before it.
    end: Option<io::Result<()>>,
}

/// A thread that decodes blocks of lines.
struct DecoderThread<T> {
    to: Sender<Vec<DatasetLine>>,
    from: Receiver<Vec<T>>,
    handle: JoinHandle<()>,
}

impl<T: Send + 'static> LineDecoder<T> {
    /// Creates a decoder that decodes each line when it is requested.
    pub(super) fn one_by_one(
        lines: DatasetLines<File>,
        decode: impl Fn(DatasetLine) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::new(lines, Arc::new(decode), usize::MAX)
    }

    /// Creates a decoder that decodes ahead on other threads if there are many lines.
    pub(super) fn ahead(
        lines: DatasetLines<File>,
        decode: impl Fn(DatasetLine) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::new(lines, Arc::new(decode), SEQUENTIAL_LINES)
    }

    fn new(lines: DatasetLines<File>, decode: LineFunction<T>, alone: usize) -> Self {
        Self {
            lines,
            decode,
            alone,
            threads: Vec::new(),
            given: 0,
            taken: 0,
            ready: Vec::new().into_iter(),
            end: None,
        }
    }

    /// Starts the threads. With a single processor, or if no thread can be started, the remaining lines are
    /// decoded on the calling thread.
    fn start(&mut self) {
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if processors > 1 {
            let started =
                (0..processors.min(MAX_THREADS)).map(|_| DecoderThread::start(Arc::clone(&self.decode)));
            self.threads = started.map_while(Result::ok).collect();
        }

        if self.threads.is_empty() {
            self.alone = usize::MAX;
        }
    }

    /// Hands out blocks up to the limit per thread.
    fn hand_out(&mut self) {
        while self.end.is_none() && self.given - self.taken < self.threads.len() * BLOCKS_PER_THREAD {
            match self.lines.next_block(LINES_PER_BLOCK) {
                Ok(block) if block.is_empty() => self.end = Some(Ok(())),
                Ok(block) => {
                    let thread = &self.threads[self.given % self.threads.len()];
                    // Sending fails if the thread has panicked. The panic is noticed when its block is requested.
                    let _ = thread.to.send(block);
                    self.given += 1;
                }
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }

    /// Waits for the block that was handed out first.
    fn take_back(&mut self) -> Vec<T> {
        let turn = self.taken % self.threads.len();
        self.taken += 1;

        self.threads[turn].from.recv().unwrap_or_else(|_| {
            let ended = self.threads.swap_remove(turn).handle.join();
            resume_unwind(ended.expect_err("while its sender is there, only a panic ends a thread"))
        })
    }
}

impl<T: Send + 'static> Iterator for LineDecoder<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<io::Result<T>> {
        if self.alone == 0 && self.threads.is_empty() {
            self.start();
        }
        if self.alone > 0 {
            self.alone -= 1;
            return self.lines.next_line().transpose().map(|line| line.map(&*self.decode));
        }

        loop {
            if let Some(decoded) = self.ready.next() {
                return Some(Ok(decoded));
            }

            self.hand_out();

            if self.given == self.taken {
                return self.end.replace(Ok(())).and_then(Result::err).map(Err);
            }

            self.ready = self.take_back().into_iter();
        }
    }
}

impl<T: Send + 'static> DecoderThread<T> {
    fn start(decode: LineFunction<T>) -> io::Result<Self> {
        let (to, blocks) = channel::<Vec<DatasetLine>>();
        let (results, from) = channel();
        let work = move || {
            for block in blocks {
                let decoded = block.into_iter().map(&*decode).collect();
                // Sending fails if the iterator was dropped.
                if results.send(decoded).is_err() {
                    break;
                }
            }
        };
        Ok(Self { to, from, handle: thread::Builder::new().spawn(work)? })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};
    use std::panic::catch_unwind;

    use super::*;

    const MANY: usize = 40 * LINES_PER_BLOCK;

    /// Returns a file with this many lines, each containing its number.
    fn file(lines: usize) -> DatasetLines<File> {
        let mut file = tempfile::tempfile().expect("a file");
        (1..=lines).try_for_each(|number| writeln!(file, "{number}")).expect("written");
        file.rewind().expect("at its beginning");
        DatasetLines::new(file)
    }

    #[test]
    fn the_lines_of_a_long_file_keep_their_order_and_a_short_one_needs_no_thread() {
        let here = thread::current().id();
        let read = |line: DatasetLine| {
            (line.number, line.content.is_ok_and(|text| *text == line.number.to_string()))
        };
        for lines in [0, 1, SEQUENTIAL_LINES, SEQUENTIAL_LINES + 1, MANY] {
            let expected: Vec<(usize, bool)> = (1..=lines).map(|number| (number, true)).collect();
            for decoded in [LineDecoder::ahead(file(lines), read), LineDecoder::one_by_one(file(lines), read)]
            {
                assert_eq!(decoded.collect::<io::Result<Vec<_>>>().expect("readable"), expected);
            }
            let elsewhere = |_: DatasetLine| thread::current().id();
            let short = LineDecoder::ahead(file(lines), elsewhere).take(SEQUENTIAL_LINES);
            assert!(short.into_iter().all(|thread| thread.expect("readable") == here));
        }
    }

    #[test]
    fn a_panic_of_a_thread_is_one_of_whoever_takes_its_lines() {
        let read = |line: DatasetLine| assert_ne!(line.number, MANY / 2, "the middle");
        let panic = catch_unwind(|| LineDecoder::ahead(file(MANY), read).count()).expect_err("a panic");
        assert!(panic.downcast_ref::<String>().is_some_and(|said| said.contains("the middle")));
    }
}
