//! Execution of a command: writing its input, reading its output, and detecting its end.

use std::future::{Future, pending};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::Instant;

use crate::capture::{KeptEnd, StreamCapture};
use crate::group::CommandGroup;
use crate::{PartialProcessOutput, ProcessCommand, ProcessError, ProcessOutput, ProgramConsent};

/// Time for the pipes of a killed group to close.
const KILLED_PIPES_TIMEOUT: Duration = Duration::from_millis(500);

/// Reason to stop reading the pipes.
enum ProcessRunEnd {
    Exited { pipes_open: bool },
    Timeout(Duration),
    Cancelled,
    Failed(std::io::Error),
}

impl ProcessCommand {
    /// Runs the command to its end or to its limits, if there is consent.
    ///
    /// When the returned future is dropped, the process group is ended as on a timeout: in the background
    /// while the async runtime is running, at once when it shuts down.
    pub async fn run(&self, consent: Option<ProgramConsent>) -> Result<ProcessOutput, ProcessError> {
        self.run_until(consent, pending()).await
    }

    /// Runs the command as [`ProcessCommand::run`] does, but stops it as soon as `cancel` is ready.
    pub async fn run_until(
        &self,
        consent: Option<ProgramConsent>,
        cancel: impl Future<Output = ()>,
    ) -> Result<ProcessOutput, ProcessError> {
        let started = Instant::now();
        let mut group = CommandGroup::start(self, consent)?;
        let (stdin, stdout, stderr) = match group.child() {
            Some(child) => (child.stdin().take(), child.stdout().take(), child.stderr().take()),
            None => (None, None, None),
        };
        let mut out = StreamCapture::new(stdout, self.limits.stdout_cap, KeptEnd::First);
        let mut err = StreamCapture::new(stderr, self.limits.stderr_cap, KeptEnd::Last);

        let mut exit = None;
        let mut duration = Duration::ZERO;
        let stop = {
            let pump = async {
                tokio::join!(write_input(stdin, self.stdin.as_deref()), out.drain(), err.drain());
            };
            let timeout = async {
                match self.limits.timeout {
                    Some(limit) => {
                        tokio::time::sleep(limit).await;
                        limit
                    }
                    None => pending().await,
                }
            };

            tokio::pin!(pump, timeout, cancel);
            let mut pumped = false;
            let mut give_up_at = started;
            loop {
                if pumped && exit.is_some() {
                    break ProcessRunEnd::Exited { pipes_open: false };
                }
                tokio::select! {
                    biased;
                    () = &mut pump, if !pumped => pumped = true,
                    result = group.leader_exit(), if exit.is_none() => match result {
                        Ok(how) => {
                            exit = Some(how);
                            duration = started.elapsed();
                            give_up_at = Instant::now() + self.limits.linger.min(Duration::from_hours(24));
                        }
                        Err(problem) => break ProcessRunEnd::Failed(problem),
                    },
                    () = &mut cancel => break ProcessRunEnd::Cancelled,
                    limit = &mut timeout, if exit.is_none() => break ProcessRunEnd::Timeout(limit),
                    () = tokio::time::sleep_until(give_up_at), if exit.is_some() => {
                        break ProcessRunEnd::Exited { pipes_open: true };
                    }
                }
            }
        };

        let left_processes = self.end_group(&mut group, &stop, &mut out, &mut err).await;
        let stdout = out.finish();
        let stderr = err.finish();
        let partial =
            |stdout, stderr| Box::new(PartialProcessOutput { stdout, stderr, duration: started.elapsed() });
        match (stop, exit) {
            (ProcessRunEnd::Exited { .. }, Some(exit)) => {
                Ok(ProcessOutput { exit, stdout, stderr, duration, left_processes })
            }
            (ProcessRunEnd::Timeout(limit), _) => {
                Err(ProcessError::Timeout { limit, partial: partial(stdout, stderr) })
            }
            (ProcessRunEnd::Failed(source), _) => {
                Err(ProcessError::Io { doing: "wait for", program: self.name(), source })
            }
            (ProcessRunEnd::Cancelled | ProcessRunEnd::Exited { .. }, _) => {
                Err(ProcessError::Cancelled { partial: partial(stdout, stderr) })
            }
        }
    }

    /// Ends the rest of the group and reads its remaining output. Returns true if a program that had exited
    /// left processes running.
    async fn end_group<O, E>(
        &self,
        group: &mut CommandGroup,
        stop: &ProcessRunEnd,
        out: &mut StreamCapture<O>,
        err: &mut StreamCapture<E>,
    ) -> bool
    where
        O: tokio::io::AsyncRead + Unpin,
        E: tokio::io::AsyncRead + Unpin,
    {
        if let ProcessRunEnd::Exited { pipes_open } = stop {
            if !pipes_open && !group.alive() {
                group.mark_ended();
                return false;
            }

            let left = group.alive();
            if left {
                tokio::join!(
                    group.end(),
                    drain_with_limit(out, err, self.limits.grace.saturating_add(KILLED_PIPES_TIMEOUT))
                );
            } else {
                // A process that left the group keeps the pipes open. It can't be ended, so its output is not awaited.
                group.mark_ended();
            }

            return left || *pipes_open;
        }

        // The leader is awaited during the grace period, because until then it counts as a member of the group.
        let ending = async {
            group.request_end();
            let gone = async {
                let _ = group.leader_exit().await;
            };
            if tokio::time::timeout(self.limits.grace, gone).await.is_ok() {
                group.end().await;
            } else {
                group.kill();
                let _ = tokio::time::timeout(KILLED_PIPES_TIMEOUT, group.leader_exit()).await;
                group.mark_ended();
            }
        };

        tokio::join!(
            ending,
            drain_with_limit(
                out,
                err,
                self.limits.grace.saturating_mul(2).saturating_add(KILLED_PIPES_TIMEOUT)
            )
        );
        false
    }

    fn name(&self) -> String {
        self.words().first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Writes the whole input and closes the pipe. A program may ignore its input, so a closed pipe is not an
/// error.
async fn write_input(pipe: Option<ChildStdin>, input: Option<&[u8]>) {
    if let (Some(mut pipe), Some(input)) = (pipe, input) {
        let _ = pipe.write_all(input).await;
        let _ = pipe.shutdown().await;
    }
}

async fn drain_with_limit<O, E>(out: &mut StreamCapture<O>, err: &mut StreamCapture<E>, limit: Duration)
where
    O: tokio::io::AsyncRead + Unpin,
    E: tokio::io::AsyncRead + Unpin,
{
    let _ = tokio::time::timeout(limit, async {
        tokio::join!(out.drain(), err.drain());
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_of_a_run_may_move_between_threads() {
        fn is_send<T: Send>(_: &T) {}
        let command = ProcessCommand::argv(["true"], crate::Environment::empty());
        is_send(&command.run(None));
        assert_eq!(command.name(), "true");
    }
}
