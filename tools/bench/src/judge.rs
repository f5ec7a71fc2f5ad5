//! Measures the share of the network's speed that remains from a case to a stored judgement.
//!
//! There are three processes, so that the system reports the cost of each: the mock server, the yardstick, which sends
//! the bytes that `assize` sent earlier, and `assize` itself. Yardstick and `assize` take turns with the same server.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::ProgramUnderTest;
use super::measure::{RunCost, costed, cpu_of};
use super::table::{self, FigureTable};

/// Criteria of each case; each takes one call.
const CRITERIA: usize = 4;
/// Columns of the result tables.
const COLUMNS: [&str; 8] = [
    "what", "calls", "time", "calls a second", "against the raw load", "CPU a call",
    "CPU of the server a call", "peak memory",
];

/// A mock server in its own process.
pub(super) struct MockProcess {
    child: Child,
    port: u16,
}

impl MockProcess {
    pub(super) fn start(program: &Path, latency: Duration, record: Option<&Path>) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.arg("mock").arg(latency.as_millis().to_string()).args(record);

        Self::spawn(command)
    }

    /// Starts a mock server with this command.
    pub(super) fn spawn(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("can't start the mock server: {error}"))?;

        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        }

        let port = line.trim().parse().map_err(|_| format!("the mock server said `{}`", line.trim()))?;
        Ok(Self { child, port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn cpu(&self) -> Option<Duration> {
        cpu_of(self.child.id())
    }

    /// Ends it and waits until its recording is complete.
    pub(super) fn stop(mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        self.child.wait().map(drop).map_err(|error| error.to_string())
    }
}

impl Drop for MockProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A measured way to make the calls.
pub(super) struct CallMeasurement {
    pub(super) time: Duration,
    cost: RunCost,
    server: Option<Duration>,
}

/// Load of one measurement: number of cases, requests in flight, latency of the server.
#[derive(Clone, Copy)]
struct LoadSetting {
    cases: usize,
    in_flight: usize,
    latency: Duration,
    /// Number of turns that yardstick and `assize` take; an odd number. Shorter turns vary more.
    turns: usize,
}

impl ProgramUnderTest {
    /// The tables of the judge path.
    pub(super) fn judging(&self, quick: bool) -> Result<Vec<FigureTable>, String> {
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let slow = LoadSetting {
            cases: if quick { 5_000 } else { 12_500 },
            in_flight: 500,
            latency: Duration::from_millis(200),
            turns: 3,
        };

        let fast = LoadSetting {
            cases: if quick { 2_500 } else { 25_000 },
            in_flight: 64,
            latency: Duration::ZERO,
            turns: if quick { 3 } else { 7 },
        };
        Ok(vec![
            self.against_raw(&tools, slow, &["--no-cache"], "no cache")?,
            self.against_raw(&tools, fast, &["--no-cache"], "no cache")?,
            self.against_raw(&tools, fast, &[], "cache")?,
            self.growth(&tools, if quick { &[2_500, 5_000] } else { &[2_500, 25_000] })?,
        ])
    }

    /// `assize` and the yardstick in turns; the median ratio, with the lowest and the highest.
    fn against_raw(
        &self,
        tools: &Path,
        setting: LoadSetting,
        options: &[&str],
        with: &str,
    ) -> Result<FigureTable, String> {
        let LoadSetting { cases, in_flight, latency, turns } = setting;
        let calls = cases * CRITERIA;
        let record = self.folder.join("requests.bin");

        self.file("judged.jsonl", &super::data::judged(cases))?;
        let recorder = MockProcess::start(tools, Duration::ZERO, Some(&record))?;
        self.judge(recorder.port, "record", setting, options)?;
        recorder.stop()?;

        let recorded = super::load::read(&record.display().to_string())?.len();
        if recorded != calls {
            return Err(format!("{recorded} requests were sent for {calls} criteria"));
        }

        let mock = MockProcess::start(tools, latency, None)?;
        let mut pairs: Vec<(CallMeasurement, CallMeasurement)> = Vec::new();
        let bare = Self::raw(tools, &mock, "sockets", &record, in_flight)?;
        let pool = Self::raw(tools, &mock, "pool", &record, in_flight)?;

        for round in 0..turns {
            let raw = Self::raw(tools, &mock, "client", &record, in_flight)?;
            let ours = self.measured(&mock, &format!("judged-{round}"), setting, options)?;
            pairs.push((raw, ours));
        }

        let ratio = |(raw, ours): &(CallMeasurement, CallMeasurement)| {
            raw.time.as_secs_f64() / ours.time.as_secs_f64()
        };
        pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));

        let middle = &pairs[turns / 2];
        let (raw, ours) = middle;
        let mut table = FigureTable::new(
            &format!(
                "Judging: {in_flight} in flight, a server that takes {} ms, {with}",
                latency.as_millis()
            ),
            &COLUMNS,
        );

        let beside =
            |way: &CallMeasurement| format!("{:.2}", raw.time.as_secs_f64() / way.time.as_secs_f64());
        let [lowest, highest] = [&pairs[0], &pairs[turns - 1]].map(ratio);
        let ratios = format!("{:.2} ({lowest:.2} to {highest:.2})", ratio(middle));

        add(&mut table, "the recorded bytes, bare sockets", calls, &bare, &beside(&bare));
        add(&mut table, "raw load: hyper's client", calls, raw, "1");
        add(&mut table, "the same with a pool of connections", calls, &pool, &beside(&pool));
        add(&mut table, "`assize eval`", calls, ours, &ratios);

        Ok(table)
    }

    /// Peak memory for ten times the cases.
    fn growth(&self, tools: &Path, sizes: &[usize]) -> Result<FigureTable, String> {
        let mock = MockProcess::start(tools, Duration::ZERO, None)?;
        let mut table = FigureTable::new(
            "Judging: memory, 64 in flight, a server that takes 0 ms, cache",
            &[
                "judgements", "time", "judgements a second", "CPU a judgement", "peak memory",
                "memory against the first",
            ],
        );

        let mut first = None;
        for &cases in sizes {
            self.file("judged.jsonl", &super::data::judged(cases))?;
            let setting = LoadSetting { cases, in_flight: 64, latency: Duration::ZERO, turns: 1 };
            let measured = self.measured(&mock, "growth", setting, &[])?;
            let calls = cases * CRITERIA;
            let peak = measured.cost.peak;
            table.row([
                &table::count(calls),
                &table::time(measured.time),
                &table::count((calls as f64 / measured.time.as_secs_f64()) as usize),
                &each(measured.cost.cpu, calls),
                &table::memory(peak),
                &table::memory_ratio(peak, first.unwrap_or(peak)),
            ]);

            first.get_or_insert(peak);
        }

        Ok(table)
    }

    pub(super) fn raw(
        tools: &Path,
        mock: &MockProcess,
        way: &str,
        record: &Path,
        in_flight: usize,
    ) -> Result<CallMeasurement, String> {
        let before = mock.cpu();
        let mut command = Command::new(tools);
        command.args(["load", way, &mock.port.to_string()]).arg(record).arg(in_flight.to_string());

        let (cost, output) = costed(&mut command)?;
        let seconds: f64 = output.trim().parse().map_err(|_| format!("the raw load said `{output}`"))?;
        let server = mock.cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok(CallMeasurement { time: Duration::from_secs_f64(seconds), cost, server })
    }

    fn measured(
        &self,
        mock: &MockProcess,
        out: &str,
        setting: LoadSetting,
        options: &[&str],
    ) -> Result<CallMeasurement, String> {
        let before = mock.cpu();
        let begun = Instant::now();
        let cost = self.judge(mock.port, out, setting, options)?;
        let time = begun.elapsed();
        let server = mock.cpu().zip(before).map(|(after, before)| after.saturating_sub(before));

        Ok(CallMeasurement { time, cost, server })
    }

    /// Runs `assize eval` from scratch, and checks that every judgement is recorded.
    fn judge(&self, port: u16, out: &str, setting: LoadSetting, options: &[&str]) -> Result<RunCost, String> {
        for leftover in [self.folder.join(out), self.folder.join(".assize")] {
            let _ = std::fs::remove_dir_all(leftover);
        }

        let in_flight = setting.in_flight.to_string();
        let arguments =
            ["eval", "judged.jsonl", "--judge", "openai:bench-1", "--json", "--quiet", "--run-dir", out];
        let mut command = self.command(&arguments);
        command
            .args(["--max-concurrency", &in_flight])
            .args(options)
            .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
            .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"));

        let (cost, output) = costed(&mut command)?;
        let summary: serde_json::Value =
            serde_json::from_str(&output).map_err(|error| format!("the summary: {error}: {output}"))?;
        let stored = lines(&self.folder.join(out).join("judgements.jsonl"))?;
        let calls = setting.cases * CRITERIA;
        if stored != calls || summary["judge_calls"] != calls || summary["counts"]["pass"] != setting.cases {
            return Err(format!("{stored} judgements are stored of {calls}: {summary}"));
        }

        let _ = std::fs::remove_dir_all(self.folder.join(out));
        Ok(cost)
    }
}

fn add(table: &mut FigureTable, what: &str, calls: usize, measured: &CallMeasurement, ratio: &str) {
    let CallMeasurement { time, cost, server } = measured;
    table.row([
        what,
        &table::count(calls),
        &table::time(*time),
        &table::count((calls as f64 / time.as_secs_f64()) as usize),
        ratio,
        &each(cost.cpu, calls),
        &each(*server, calls),
        &table::memory(cost.peak),
    ]);
}

/// A total divided by the number of calls.
fn each(total: Option<Duration>, calls: usize) -> String {
    total.map_or_else(
        || "not known".to_owned(),
        |total| format!("{:.0} µs", total.as_secs_f64() * 1e6 / calls as f64),
    )
}

fn lines(path: &PathBuf) -> Result<usize, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(BufReader::new(file).lines().count())
}
