//! Runs a command and measures its time and its peak memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Resources used by one run of a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunSample {
    /// From start to end.
    pub(super) time: Duration,
    /// Peak resident memory in bytes; `None` if the system does not report it.
    pub(super) peak: Option<u64>,
}

/// Time between two reads of the memory. The system keeps the peak itself, so only growth in the last moments
/// of a process can be missed.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Runs a command once. Exit codes 0 and 1 are fine: a case of the data may fail.
pub(super) fn once(command: &mut Command) -> Result<RunSample, String> {
    watched(command, POLL_INTERVAL)
}

/// Runs a command and reads its memory at this interval.
fn watched(command: &mut Command, look: Duration) -> Result<RunSample, String> {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());

    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("can't start {shown}: {error}"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        if let Some(now) = std::fs::read_to_string(&status_file).ok().as_deref().and_then(peak_of) {
            peak = peak.max(Some(now));
        }

        if let Some(status) = child.try_wait().map_err(|error| format!("{shown}: {error}"))? {
            let time = begun.elapsed();
            return match status.code() {
                Some(0 | 1) => Ok(RunSample { time, peak }),
                _ => Err(format!("{shown} failed ({status})")),
            };
        }

        std::thread::sleep(look);
    }
}

/// Cost of one run of a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunCost {
    /// Processor time of the program, in user and system mode; `None` if the system does not report it.
    pub(super) cpu: Option<Duration>,
    /// Peak resident memory in bytes; `None` if the system does not report it.
    pub(super) peak: Option<u64>,
}

/// Runs a command once; returns its cost and its output. The processor time is the increase in the time of our
/// finished children, so that it includes the end of the process. Exit codes 0 and 1 are fine.
pub(super) fn costed(command: &mut Command) -> Result<(RunCost, String), String> {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());

    let before = cpu_of_children();
    let mut child = command.spawn().map_err(|error| format!("can't start {shown}: {error}"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    let status = loop {
        if let Some(now) = std::fs::read_to_string(&status_file).ok().as_deref().and_then(peak_of) {
            peak = peak.max(Some(now));
        }
        if let Some(status) = child.try_wait().map_err(|error| format!("{shown}: {error}"))? {
            break status;
        }

        // Each poll takes processor time from the measured processes.
        std::thread::sleep(5 * POLL_INTERVAL);
    };

    let cpu = cpu_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
    let read = |pipe: Option<&mut dyn std::io::Read>| {
        let mut text = String::new();
        if let Some(pipe) = pipe {
            let _ = pipe.read_to_string(&mut text);
        }
        text
    };

    // Both outputs are smaller than a pipe's buffer.
    let output = read(child.stdout.as_mut().map(|pipe| pipe as _));
    match status.code() {
        Some(0 | 1) => Ok((RunCost { cpu, peak }, output)),
        _ => Err(format!("{shown} failed ({status}): {}", read(child.stderr.as_mut().map(|pipe| pipe as _)))),
    }
}

/// Clock ticks per second in which Linux reports processor time to programs. Does not depend on its internal rate.
const TICKS: f64 = 100.0;

/// The processor time of a running process.
pub(super) fn cpu_of(process: u32) -> Option<Duration> {
    ticks(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?, [14, 15])
}

/// Processor time of all our finished children.
fn cpu_of_children() -> Option<Duration> {
    ticks(&std::fs::read_to_string("/proc/self/stat").ok()?, [16, 17])
}

/// The sum of two fields of a process's `stat` file, numbered from 1 as in its manual page.
fn ticks(stat: &str, fields: [usize; 2]) -> Option<Duration> {
    // The second field is the name in brackets, which may contain anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let numbers: Vec<&str> = rest.split_whitespace().collect();
    let sum: f64 =
        fields.iter().map(|field| numbers.get(field - 3)?.parse::<f64>().ok()).sum::<Option<f64>>()?;
    Some(Duration::from_secs_f64(sum / TICKS))
}

/// Runs a short command repeatedly and keeps the fastest time, since other runs were slowed by something else.
/// The peak is from one more run, whose memory is read without pauses because the run is so short.
pub(super) fn fastest(times: usize, mut make: impl FnMut() -> Command) -> Result<RunSample, String> {
    let mut best: Option<Duration> = None;
    for _ in 0..times {
        let mut command = make();
        let shown = format!("{command:?}");

        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let status = command.status().map_err(|error| format!("can't start {shown}: {error}"))?;
        let time = begun.elapsed();

        if !status.success() {
            return Err(format!("{shown} failed ({status})"));
        }

        best = Some(best.map_or(time, |best| best.min(time)));
    }

    let peak = watched(&mut make(), Duration::ZERO)?.peak;
    Ok(RunSample { time: best.unwrap_or_default(), peak })
}

/// Peak resident memory in bytes, from the text of a process's status file.
pub(super) fn peak_of(status: &str) -> Option<u64> {
    memory_of(status, "VmHWM:")
}

/// Memory in bytes from the line with this name in a process's status file.
pub(super) fn memory_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_from_a_stat_file() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 50 25 30 10 20 0 4 0 100 1 1";
        assert_eq!(ticks(stat, [14, 15]), Some(Duration::from_millis(750)));
        assert_eq!(ticks(stat, [16, 17]), Some(Duration::from_millis(400)));
        assert_eq!(ticks("7 (x) S", [14, 15]), None);
    }

    #[test]
    fn the_peak_is_read_from_a_status_file() {
        assert_eq!(peak_of("Name:\tx\nVmPeak:\t   9 kB\nVmHWM:\t    2048 kB\n"), Some(2_097_152));
        assert_eq!(peak_of("Name:\tx\n"), None);
        assert_eq!(memory_of("VmHWM:\t 9 kB\nVmRSS:\t 4 kB\n", "VmRSS:"), Some(4_096));
    }
}
