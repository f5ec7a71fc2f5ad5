//! `assize eval --cluster` with a very large number of small cases, and the memory of every process during the run, to
//! find memory that grows with the number of cases.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::ProgramUnderTest;
use super::cluster::{MessageServer, Running, nats_server};
use super::judge::MockProcess;
use super::table::{self, FigureTable};

/// Number of cases unless another number is given.
pub(super) const MILLION: usize = 1_000_000;
/// Workers of the run.
const WORKERS: usize = 2;
/// Cases per unit, and calls in flight per worker.
const UNIT: usize = 500;
const WINDOW: &str = "64";
/// Time between two reads of the memory of all processes.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Percentages of finished units at which memory is recorded.
const PERCENTAGES: [usize; 4] = [25, 50, 75, 100];

/// Memory of the processes of a run.
#[derive(Default)]
struct MemoryRecord {
    /// By percentage of finished units: bytes of each process.
    marks: BTreeMap<usize, Vec<u64>>,
    /// Peak of each process while units were left, and after that.
    peaks: [Vec<u64>; 2],
}

impl MemoryRecord {
    /// Adds a reading.
    fn add(&mut self, done: usize, units: usize, now: Vec<u64>) {
        let share = done * 100 / units;
        let peaks = &mut self.peaks[usize::from(done >= units)];
        peaks.resize(now.len(), 0);
        for (peak, bytes) in peaks.iter_mut().zip(&now) {
            *peak = (*peak).max(*bytes);
        }
        for mark in PERCENTAGES.into_iter().filter(|mark| share >= *mark) {
            self.marks.entry(mark).or_insert_with(|| now.clone());
        }
    }

    /// Bytes of a process: at each mark, its peak before all units were done, and its peak after that.
    fn of(&self, process: usize) -> Vec<Option<u64>> {
        let marks = PERCENTAGES.iter().map(|mark| self.marks.get(mark)?.get(process).copied());
        marks.chain(self.peaks.iter().map(|peak| peak.get(process).copied())).collect()
    }
}

impl ProgramUnderTest {
    /// The table of one large run: `cases` cases of one call each, judged by a mock server that replies at
    /// once, or offline.
    pub(super) fn million(&self, cases: usize, offline: bool) -> Result<FigureTable, String> {
        let binary = nats_server(&self.folder.with_file_name("bench-nats"))?;
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let mock = MockProcess::start(&tools, Duration::ZERO, None)?;
        let server = MessageServer::start(&binary, &self.folder.join("nats"))?;
        let address = server.address();
        let data = self.folder.join("judged.jsonl");
        write_cases(&data, cases).map_err(|error| format!("{}: {error}", data.display()))?;
        let results = self.folder.join("results");

        let command = |name: &str, arguments: &[&str]| -> Result<Command, String> {
            let folder = self.folder.join(name);
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::hard_link(&data, folder.join("judged.jsonl")))
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            let mut command = self.command(arguments);
            command
                .current_dir(folder)
                .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
                .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", mock.port()));
            Ok(command)
        };
        let mut workers = Vec::new();
        for at in 0..WORKERS {
            let mut command = command(&format!("worker-{at}"), &["worker", "--cluster", &address, "-q"])?;
            workers.push(Running::start(&mut command, "a worker")?);
        }

        let judge = if offline { "offline" } else { "openai:bench-1" };
        // A unit must be large enough for the largest number of units.
        let unit = UNIT.max(cases.div_ceil(100_000));
        let (unit_text, place) = (unit.to_string(), results.display().to_string());
        let mut eval = command(
            "boss",
            &[
                "eval", "judged.jsonl", "--judge", judge, "--json", "--quiet", "--run-dir", "run",
                "--cluster", &address, "--unit-size", &unit_text, "--results", &place, "--max-concurrency",
                WINDOW, "-j", WINDOW,
            ],
        )?;
        let summary_path = self.folder.join("said.json");
        let out = std::fs::File::create(&summary_path).map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut boss = Running::spawn(eval.stdin(Stdio::null()).stdout(out), "the coordinator")?;

        let units = cases.div_ceil(unit);
        let mut record = MemoryRecord::default();
        while !boss.has_ended()? {
            let processes = std::iter::once(&boss).chain(&workers).chain([&server.process]);
            let now: Vec<u64> = processes.map(|process| process.resident().unwrap_or(0)).collect();
            record.add(files_below(&results), units, now);
            std::thread::sleep(POLL_INTERVAL);
        }
        let time = begun.elapsed();
        expect_all(&summary_path, cases, offline)?;

        let title = format!(
            "Workers: memory, {} cases of {} calls, {WORKERS} workers, units of {unit}, {}",
            table::count(cases),
            if offline { "no" } else { "one" },
            table::time(time)
        );
        let columns =
            ["process", "25 % done", "50 %", "75 %", "100 %", "most until then", "most while merging"];
        let mut table = FigureTable::new(&title, &columns);
        let names = ["coordinator", "first worker", "second worker", "message server"];
        for (at, name) in names.into_iter().enumerate() {
            let cells: Vec<String> = record.of(at).into_iter().map(table::memory).collect();
            table.row([name, &cells[0], &cells[1], &cells[2], &cells[3], &cells[4], &cells[5]]);
        }

        Ok(table)
    }
}

/// Writes the cases one after the other, since a million of them take some hundred megabytes.
fn write_cases(path: &Path, cases: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for number in 1..=cases {
        writeln!(file, "{}", super::data::judged_case(number))?;
    }

    file.flush()
}

/// Number of results that workers have stored in the job's folder.
fn files_below(folder: &Path) -> usize {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = |folder: &Path| entries(folder).map(|entry| entry.path()).collect::<Vec<_>>();
    let is_result = |path: &Path| path.is_file() && !path.to_string_lossy().contains('#');
    let mut waiting = below(folder);
    let mut found = 0;
    while let Some(path) = waiting.pop() {
        found += usize::from(is_result(&path));
        if path.is_dir() {
            waiting.extend(below(&path));
        }
    }

    found
}

/// Fails if the run lost cases or paid for some twice.
fn expect_all(summary_path: &Path, cases: usize, offline: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(summary_path)
        .map_err(|error| format!("{}: {error}", summary_path.display()))?;
    let summary: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("the summary: {error}: {text}"))?;
    let counts = &summary["counts"];
    let total: u64 = counts
        .as_object()
        .into_iter()
        .flat_map(|all| all.values())
        .filter_map(serde_json::Value::as_u64)
        .sum();
    let calls = if offline { 0 } else { cases as u64 };
    if total != cases as u64 || summary["judge_calls"].as_u64().unwrap_or(0) != calls {
        return Err(format!("not all of {cases} cases were judged once: {summary}"));
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_noted_when_a_share_of_the_units_is_done() {
        let mut record = MemoryRecord::default();
        for (done, bytes) in [(0, 9), (3, 1), (5, 2), (6, 7), (8, 3), (8, 4)] {
            record.add(done, 8, vec![bytes]);
        }
        assert_eq!(record.of(0), [1, 2, 7, 3, 9, 4].map(Some));
        assert_eq!(record.of(1), [None; 6]);
    }
}
