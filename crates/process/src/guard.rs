//! Helper process that ends the commands of this process when it can't do so itself.
//!
//! A killed process can't end its commands. So the first command starts a helper that reads from a pipe only this
//! process holds open. The helper is notified of the start and end of each group. When the pipe closes, for any reason,
//! it ends the remaining groups. Where the system shows the environment of processes (Linux), it also finds processes
//! that left their group, by a variable that every command carries.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use parking_lot::Mutex;

/// Variable that marks processes, so that the helper finds the ones that left their group. Its value is the helper's
/// process id.
pub(crate) const MARK_VARIABLE: &str = "ASSIZE_GUARD";

/// Program and arguments of the helper, if one is wanted.
static HELPER: OnceLock<(PathBuf, Vec<OsString>)> = OnceLock::new();
/// The helper, once the first command has run; `None` inside if it could not be started.
static RUNNING: OnceLock<Option<GuardHelper>> = OnceLock::new();

struct GuardHelper {
    mark: String,
    helper: Mutex<Child>,
}

/// Enables a helper that ends the commands if this process is killed. `program` with `arguments` must call
/// [`run_guard`] with its standard input. The helper starts with the first command; without this call there is
/// none.
pub fn enable_guard(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = impl Into<OsString>>) {
    // A second call would name the same program.
    let _ = HELPER.set((program.into(), arguments.into_iter().map(Into::into).collect()));
}

/// Stops the helper, after it has ended the remaining commands. Call it before this process exits; does
/// nothing if no command has run.
pub fn stop_guard() {
    if let Some(Some(guard)) = RUNNING.get() {
        let mut helper = guard.helper.lock();
        drop(helper.stdin.take());
        // If waiting for the helper fails, nothing else can be done about it.
        let _ = helper.wait();
    }
}

/// Returns the mark that a command must carry if it is guarded. Starts the helper.
pub(crate) fn guard_mark() -> Option<&'static str> {
    let (program, arguments) = HELPER.get()?;
    let running = RUNNING.get_or_init(|| start_helper(program, arguments));
    running.as_ref().map(|guard| guard.mark.as_str())
}

/// Notifies the helper of the start or end of a group. Does nothing if the helper has ended.
#[cfg(unix)]
pub(crate) fn notify_guard(begun: bool, leader: i32) {
    if let Some(Some(guard)) = RUNNING.get() {
        let mut helper = guard.helper.lock();
        if let Some(pipe) = helper.stdin.as_mut() {
            let sign = if begun { '+' } else { '-' };
            let _ = pipe.write_all(format!("{sign}{leader}\n").as_bytes());
        }
    }
}

/// Starts the helper without this process's environment, in a folder that never has to be removed, and outside
/// the group that a terminal interrupts.
fn start_helper(program: &PathBuf, arguments: &[OsString]) -> Option<GuardHelper> {
    let mut command = std::process::Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());

    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.current_dir("/").process_group(0);
    }

    let helper = command.spawn().ok()?;
    let mark = helper.id().to_string();
    Some(GuardHelper { mark, helper: Mutex::new(helper) })
}

/// Runs the helper: reads the start and end of groups until the pipe closes, then ends the groups that are
/// left.
pub fn run_guard(input: impl BufRead) {
    let mut groups: BTreeSet<i32> = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        let Some((sign, number)) = line.split_at_checked(1) else { continue };
        let Ok(leader) = number.parse::<i32>() else { continue };
        match sign {
            "+" if leader > 1 => groups.insert(leader),
            _ => groups.remove(&leader),
        };
    }

    #[cfg(unix)]
    orphans::end(&groups);
}

#[cfg(unix)]
mod orphans {
    //! Ends orphaned processes.

    use std::collections::BTreeSet;
    use std::time::Duration;

    use nix::sys::signal::{Signal, kill, killpg};
    use nix::unistd::Pid;

    use super::MARK_VARIABLE;

    /// Polling interval while processes end.
    const POLL: Duration = Duration::from_millis(10);
    /// Number of polls before the rest is killed: one second.
    const POLLS_BEFORE_KILL: usize = 100;
    /// Number of polls before giving up: a process that can't be killed is not waited for.
    const MAX_POLLS: usize = 300;

    pub(super) fn end(groups: &BTreeSet<i32>) {
        let mark = format!("{MARK_VARIABLE}={}", std::process::id());
        for look in 0..MAX_POLLS {
            let left = groups.iter().filter(|group| killpg(Pid::from_raw(**group), None).is_ok());
            let left: Vec<Pid> = left.map(|group| Pid::from_raw(*group)).collect();
            let marked = marked(&mark);
            if left.is_empty() && marked.is_empty() {
                return;
            }

            let signal = match look {
                0 => Some(Signal::SIGTERM),
                POLLS_BEFORE_KILL.. => Some(Signal::SIGKILL),
                _ => None,
            };
            if let Some(signal) = signal {
                // A process that has ended in the meantime needs no signal.
                for group in left {
                    let _ = killpg(group, signal);
                }
                for process in marked {
                    let _ = kill(process, signal);
                }
            }

            std::thread::sleep(POLL);
        }
    }

    /// Returns the processes that carry the mark; none if the system doesn't show it.
    fn marked(mark: &str) -> Vec<Pid> {
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|process| {
                std::fs::read(format!("/proc/{process}/environ")).is_ok_and(|variables| {
                    variables.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())
                })
            })
            .map(Pid::from_raw)
            .collect()
    }
}
