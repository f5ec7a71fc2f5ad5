//! A long-running program that communicates line by line.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use crate::group::CommandGroup;
use crate::{ProcessCommand, ProcessError, ProgramConsent};

/// Bytes of a line of standard error that are passed on.
const MAX_ERROR_LINE: usize = 4096;

/// A running program that reads lines from its standard input and writes lines to its standard output.
///
/// Like that of a command, its process group ends when this is dropped.
#[derive(Debug)]
pub struct LineProcess {
    group: CommandGroup,
    stdin: Option<ChildStdin>,
    grace: Duration,
}

/// Lines that a program writes to its standard output.
#[derive(Debug)]
pub struct LineReader {
    stdout: Option<BufReader<ChildStdout>>,
    max_bytes: usize,
}

impl LineProcess {
    /// Starts a command, if there is consent. Its `stdin` is not used, and `stdout_cap` of its limits is the longest line in bytes.
    /// Every line on standard error is sent through the channel, with long ones cut.
    ///
    /// # Errors
    /// If the program can't be started.
    pub fn start(
        command: &ProcessCommand,
        consent: Option<ProgramConsent>,
        errors: mpsc::UnboundedSender<String>,
    ) -> Result<(Self, LineReader), ProcessError> {
        let command = ProcessCommand { stdin: Some(Vec::new()), ..command.clone() };
        let mut group = CommandGroup::start(&command, consent)?;
        let (stdin, stdout, stderr) = match group.child() {
            Some(child) => (child.stdin().take(), child.stdout().take(), child.stderr().take()),
            None => (None, None, None),
        };
        if let Some(stderr) = stderr {
            tokio::spawn(pass_on(stderr, errors));
        }

        let reader = LineReader { stdout: stdout.map(BufReader::new), max_bytes: command.limits.stdout_cap };
        Ok((Self { group, stdin, grace: command.limits.grace }, reader))
    }

    /// Writes a line.
    ///
    /// # Errors
    /// If the program no longer reads.
    pub async fn send(&mut self, line: &str) -> io::Result<()> {
        let pipe = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        pipe.write_all(line.as_bytes()).await?;
        pipe.write_all(b"\n").await?;
        pipe.flush().await
    }

    /// Ends the program: closes its input and, after the grace period of its limits, stops it with everything
    /// it started.
    pub async fn end(mut self) {
        self.stdin = None;
        let _ = tokio::time::timeout(self.grace, self.group.leader_exit()).await;
        self.group.end().await;
    }
}

impl LineReader {
    /// Returns the next line; `None` at the end of the output.
    ///
    /// # Errors
    /// If a line is too long or not UTF-8, or the pipe fails.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        let Some(stdout) = self.stdout.as_mut() else { return Ok(None) };
        let mut line = Vec::new();
        let limit = u64::try_from(self.max_bytes).unwrap_or(u64::MAX).saturating_add(1);
        if stdout.take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line.len() > self.max_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("a line has more than {} bytes", self.max_bytes),
            ));
        }

        let line =
            String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(Some(line.trim_end().to_owned()))
    }
}

/// Sends the lines of a stream through a channel until the stream ends. It is read to the end even if the
/// receiver is gone, because a full pipe would block the program.
async fn pass_on(stream: impl AsyncRead + Unpin, to: mpsc::UnboundedSender<String>) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        let (used, is_end) = match stream.fill_buf().await {
            Ok([]) | Err(_) => (0, true),
            Ok(bytes) => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let part = &bytes[..end.unwrap_or(bytes.len())];
                let room = MAX_ERROR_LINE.saturating_sub(line.len());
                line.extend_from_slice(&part[..part.len().min(room)]);
                if end.is_some() {
                    let _ = to.send(String::from_utf8_lossy(&line).trim_end().to_owned());
                    line.clear();
                }
                (part.len() + usize::from(end.is_some()), false)
            }
        };
        if is_end {
            if !line.is_empty() {
                let _ = to.send(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            return;
        }
        stream.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, ProcessLimits};

    const CONSENT: Option<ProgramConsent> = Some(ProgramConsent::of_user());

    fn shell(script: &str) -> ProcessCommand {
        let env = Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin")]);
        let limits =
            ProcessLimits { stdout_cap: 100, grace: Duration::from_millis(200), ..ProcessLimits::default() };
        ProcessCommand::shell(script, env).with_limits(limits)
    }

    #[tokio::test]
    async fn lines_go_both_ways_and_the_end_of_the_input_ends_the_program() {
        let (to, mut errors) = mpsc::unbounded_channel();
        let command = shell("while read -r line; do echo \"got $line\"; echo \"note $line\" >&2; done");
        let (mut process, mut lines) = LineProcess::start(&command, CONSENT, to).expect("a shell");
        for word in ["one", "two"] {
            process.send(word).await.expect("a reader");
            assert_eq!(lines.next().await.expect("a line"), Some(format!("got {word}")));
            assert_eq!(errors.recv().await, Some(format!("note {word}")));
        }
        process.end().await;
        assert_eq!(lines.next().await.expect("the end"), None);
    }

    #[tokio::test]
    async fn a_program_that_does_not_end_is_stopped_and_long_lines_are_refused() {
        let (to, _errors) = mpsc::unbounded_channel();
        let (process, mut lines) =
            LineProcess::start(&shell("head -c 200 /dev/zero | tr '\\0' x; echo; sleep 60"), CONSENT, to)
                .expect("a shell");
        assert_eq!(lines.next().await.expect_err("too long").kind(), io::ErrorKind::FileTooLarge);
        let begun = std::time::Instant::now();
        process.end().await;
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_refused_and_a_line_that_a_kill_cut_off_is_read() {
        let (to, _errors) = mpsc::unbounded_channel();
        let (process, mut lines) =
            LineProcess::start(&shell("printf 'a\\0b\\n\\377\\n\\ncut'; kill -9 $$"), CONSENT, to)
                .expect("a shell");
        assert_eq!(lines.next().await.expect("a line").as_deref(), Some("a\0b"));
        assert_eq!(lines.next().await.expect_err("no text").kind(), io::ErrorKind::InvalidData);
        assert_eq!(lines.next().await.expect("a line").as_deref(), Some(""));
        assert_eq!(lines.next().await.expect("a line").as_deref(), Some("cut"));
        assert_eq!(lines.next().await.expect("the end"), None);
        process.end().await;
    }
}
