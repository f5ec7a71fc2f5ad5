//! Running a command and noting its time and its peak memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run of a command took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// From start to end.
    pub(super) time: Duration,
    /// Largest resident memory in bytes; `None` where the system does not tell.
    pub(super) peak: Option<u64>,
}

/// Time between two looks at the memory. The system keeps the peak itself, so only growth in the last moments of a
/// process can be missed.
const LOOK: Duration = Duration::from_millis(2);

/// Runs a command once. Exit codes 0 and 1 are fine: a case of the data may fail.
pub(super) fn once(command: &mut Command) -> Result<Sample, String> {
    watched(command, LOOK)
}

/// Runs a command and looks at its memory every so often.
fn watched(command: &mut Command, look: Duration) -> Result<Sample, String> {
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
                Some(0 | 1) => Ok(Sample { time, peak }),
                _ => Err(format!("{shown} failed ({status})")),
            };
        }
        std::thread::sleep(look);
    }
}

/// Runs a short command often and keeps the fastest time: what slowed the others down was something else. The peak
/// is that of one further run, which is looked at without a pause since it is over so soon.
pub(super) fn fastest(times: usize, mut make: impl FnMut() -> Command) -> Result<Sample, String> {
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
    Ok(Sample { time: best.unwrap_or_default(), peak })
}

/// The peak of resident memory in bytes, from the text of a process's status file.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_a_status_file() {
        assert_eq!(peak_of("Name:\tx\nVmPeak:\t   9 kB\nVmHWM:\t    2048 kB\n"), Some(2_097_152));
        assert_eq!(peak_of("Name:\tx\n"), None);
    }
}
