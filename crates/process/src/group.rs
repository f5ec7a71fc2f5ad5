//! A running process group, which is certain to end.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};

use crate::lookup::find_in_path;
use crate::{ProcessCommand, ProcessError, ProcessExit, ProgramConsent, guard};

/// Polling interval while a group ends.
const POLL: Duration = Duration::from_millis(10);

/// Number of groups of this process that are being ended in the background.
static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Counts a group in [`ENDING`] until it is dropped.
struct EndingCount;

impl EndingCount {
    fn new() -> Self {
        ENDING.fetch_add(1, Ordering::AcqRel);
        Self
    }
}

impl Drop for EndingCount {
    fn drop(&mut self) {
        ENDING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Waits until every command whose run was dropped has ended, gracefully or not. Call it before the program
/// exits: the shutdown of the async runtime kills without grace.
pub async fn wait_for_ending_groups() {
    while ENDING.load(Ordering::Acquire) > 0 {
        tokio::time::sleep(POLL).await;
    }
}

/// Process group of a running command.
///
/// Dropping it ends the group: with TERM, grace and KILL while the async runtime is running, else with KILL
/// at once. No path leaves a process running.
#[derive(Debug)]
pub(crate) struct CommandGroup {
    child: Option<Box<dyn ChildWrapper>>,
    #[cfg(unix)]
    leader: Option<nix::unistd::Pid>,
    grace: Duration,
    asked_to_end: bool,
    over: bool,
}

impl CommandGroup {
    /// Starts `command` as the leader of a new group, with pipes for its streams, if there is consent.
    pub(crate) fn start(
        command: &ProcessCommand,
        consent: Option<ProgramConsent>,
    ) -> Result<Self, ProcessError> {
        let words = command.words();
        let (program, arguments) = words.split_first().ok_or(ProcessError::Empty)?;
        if program.is_empty() {
            return Err(ProcessError::Empty);
        }

        if consent.is_none() {
            return Err(ProcessError::NoConsent { program: program.to_string_lossy().into_owned() });
        }

        reject_nul(command, &words)?;

        let found = find_in_path(program, &command.env);
        let mut inner = tokio::process::Command::new(found.as_deref().map_or(*program, Path::as_os_str));
        #[cfg(unix)]
        inner.arg0(program);
        inner.args(arguments).env_clear().envs(command.env.iter());

        if let Some(mark) = guard::guard_mark() {
            inner.env(guard::MARK_VARIABLE, mark);
        }
        if let Some(folder) = &command.cwd {
            inner.current_dir(folder);
        }

        inner
            .stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut wrap = CommandWrap::from(inner);
        wrap.wrap(KillOnDrop);
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject);

        let child = wrap.spawn().map_err(|source| explain_start_failure(source, command, program, &words))?;
        #[cfg(unix)]
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw);
        #[cfg(unix)]
        if let Some(leader) = leader {
            guard::notify_guard(true, leader.as_raw());
        }

        Ok(Self {
            #[cfg(unix)]
            leader,
            child: Some(child),
            grace: command.limits.grace,
            asked_to_end: false,
            over: false,
        })
    }

    pub(crate) fn child(&mut self) -> Option<&mut Box<dyn ChildWrapper>> {
        self.child.as_mut()
    }

    /// Waits until the leader has exited. Cancellation safe.
    ///
    /// Waits for the leader alone: if this process inherits orphans (process 1 of a container), waiting for
    /// the group would block until all other members end.
    pub(crate) async fn leader_exit(&mut self) -> io::Result<ProcessExit> {
        match self.child.as_mut() {
            #[cfg(unix)]
            Some(child) => Ok(ProcessExit::from_status(child.inner_mut().wait().await?)),
            #[cfg(not(unix))]
            Some(child) => Ok(ProcessExit::from_status(child.wait().await?)),
            None => Err(io::Error::other("the process was already given up")),
        }
    }

    /// Returns true if any process of the group is running.
    #[cfg(unix)]
    pub(crate) fn alive(&mut self) -> bool {
        // Reaps members that this process inherited; they would count as alive otherwise.
        if self.asked_to_end
            && let Some(child) = self.child.as_mut()
        {
            let _ = child.try_wait();
        }
        self.leader.is_some_and(|leader| nix::sys::signal::killpg(leader, None).is_ok())
    }

    #[cfg(not(unix))]
    pub(crate) fn alive(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Asks the group to end. It is not an error if the group has already ended.
    pub(crate) fn request_end(&mut self) {
        self.asked_to_end = true;

        #[cfg(unix)]
        if let Some(leader) = self.leader {
            let _ = nix::sys::signal::killpg(leader, nix::sys::signal::Signal::SIGTERM);
        }

        #[cfg(not(unix))]
        self.kill();
    }

    /// Kills the rest of the group.
    pub(crate) fn kill(&mut self) {
        if let Some(child) = self.child.as_mut() {
            let _ = child.start_kill();
        }
    }

    /// Ends the group: TERM, at most the grace period of waiting, KILL.
    pub(crate) async fn end(&mut self) {
        self.request_end();
        let waited = tokio::time::timeout(self.grace, async {
            while self.alive() {
                tokio::time::sleep(POLL).await;
            }
        });
        if waited.await.is_err() {
            self.kill();
        }

        self.mark_ended();
    }

    /// Marks the group as ended, so that dropping it does nothing. The leader must have been waited for.
    pub(crate) fn mark_ended(&mut self) {
        self.over = true;
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            guard::notify_guard(false, leader.as_raw());
        }
    }
}

impl Drop for CommandGroup {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        // A second drop without an end in between means that the runtime is shutting down, so there is no time for a
        // grace period.
        if self.asked_to_end {
            self.kill();
            return;
        }

        self.request_end();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            self.kill();
            return;
        };
        let mut rest = Self {
            child: self.child.take(),
            #[cfg(unix)]
            leader: self.leader,
            grace: self.grace,
            asked_to_end: true,
            over: false,
        };

        let ending = EndingCount::new();
        runtime.spawn(async move {
            rest.end().await;
            drop(ending);
        });
    }
}

fn reject_nul(command: &ProcessCommand, words: &[&OsStr]) -> Result<(), ProcessError> {
    let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    if let Some(index) = words.iter().position(|word| has_nul(word)) {
        return Err(ProcessError::NulByte { place: format!("argument {index}") });
    }

    match command.env.iter().find(|(name, value)| has_nul(name) || has_nul(value)) {
        Some((name, _)) => {
            Err(ProcessError::NulByte { place: format!("the variable {}", name.to_string_lossy()) })
        }
        None => Ok(()),
    }
}

/// Explains a failed start; the system's error codes do not distinguish a missing folder from a missing
/// program.
fn explain_start_failure(
    source: io::Error,
    command: &ProcessCommand,
    program: &OsStr,
    words: &[&OsStr],
) -> ProcessError {
    let name = program.to_string_lossy().into_owned();

    if let Some(folder) = &command.cwd
        && let Err(problem) = std::fs::metadata(folder.join("."))
        && matches!(
            problem.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
        )
    {
        return ProcessError::WorkingDirectory { path: folder.clone(), source: problem };
    }

    match source.kind() {
        io::ErrorKind::NotFound => {
            let path = Path::new(program);
            let looked_in_path = path.components().count() == 1 && !name.contains('/');
            let file = command.cwd.as_ref().map_or_else(|| path.to_path_buf(), |folder| folder.join(path));
            let file_exists = !looked_in_path && file.is_file();
            ProcessError::NotFound { program: name, looked_in_path, file_exists }
        }
        io::ErrorKind::PermissionDenied => ProcessError::PermissionDenied { program: name },
        io::ErrorKind::ArgumentListTooLong => {
            let arguments: usize = words.iter().map(|word| word.len() + 1).sum();
            let variables: usize = command.env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
            ProcessError::TooLong { program: name, bytes: arguments + variables }
        }
        _ => ProcessError::Io { doing: "start", program: name, source },
    }
}
