//! Targets that are commands, compared with `xargs` running the same commands with the same concurrency.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use super::measure::{RunSample, once};
use super::{ProgramUnderTest, table};
use crate::table::FigureTable;

/// Concurrent commands.
const WORKERS: &str = "16";
/// Shell command of each case: waits about 5 ms, then answers.
const COMMAND: &str = "sleep 0.005; echo done";
/// Number of rounds; the fastest one counts, and the two programs take turns.
const ROUNDS: usize = 3;

impl ProgramUnderTest {
    /// Cases per second with a short command, and how time and memory grow with the number of cases.
    pub(super) fn commands(&self, quick: bool) -> Result<FigureTable, String> {
        let mut table = FigureTable::new(
            &format!("Command targets: `{COMMAND}`, {WORKERS} at a time"),
            &["commands", "`assize eval`", "`xargs -P`", "ratio", "peak memory", "memory against the first"],
        );
        self.file(
            "targets.yaml",
            &format!("targets:\n- name: quick\n  provider: cli\n  command: [sh, -c, '{COMMAND}']\n"),
        )?;

        let sizes: &[usize] = if quick { &[100, 1_000] } else { &[100, 1_000, 10_000] };
        let mut first: Option<RunSample> = None;
        for &size in sizes {
            let mut text = String::new();
            for number in 0..size {
                // Writing to a string can't fail.
                let _ = writeln!(
                    text,
                    "{{\"id\": \"case-{number}\", \"input\": \"q\", \"criteria\": \"c\", \"assertions\": \
                     [{{\"type\": \"contains\", \"value\": \"done\"}}]}}"
                );
            }

            self.file("commands.jsonl", &text)?;
            let (mut ours, mut theirs): (Option<RunSample>, Option<Duration>) = (None, None);
            for round in 0..ROUNDS {
                let out = format!("commands-{size}-{round}");
                let mut eval = self.with_path(&[
                    "eval", "commands.jsonl", "--targets", "targets.yaml", "--target", "quick", "--workers",
                    WORKERS, "--json", "--quiet", "--run-dir", &out,
                ]);

                let sample = once(&mut eval)?;
                self.is_complete(&out, size)?;

                let _ = std::fs::remove_dir_all(self.folder.join(&out));
                ours = Some(ours.filter(|best| best.time <= sample.time).unwrap_or(sample));

                let line = format!("seq {size} | xargs -P {WORKERS} -I{{}} sh -c '{COMMAND}' > /dev/null");
                let time = once(Command::new("sh").args(["-c", &line]))?.time;
                theirs = Some(theirs.map_or(time, |best| best.min(time)));
            }

            let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
            table.row([
                &table::count(size),
                &table::time(ours.time),
                &table::time(theirs),
                &table::ratio(ours.time, theirs),
                &table::memory(ours.peak),
                &table::memory_ratio(ours.peak, first.as_ref().unwrap_or(&ours).peak),
            ]);

            first.get_or_insert(ours);
        }

        Ok(table)
    }

    /// The program without environment variables except `PATH`.
    #[expect(clippy::disallowed_methods, reason = "a chore of the developer finds programs as they do")]
    fn with_path(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }
}
