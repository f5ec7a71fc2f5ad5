//! Servers with rate limits: `assize` compared with a client that knows the limit, or with a raw load if there
//! is no limit.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::ProgramUnderTest;
use super::judge::MockProcess;
use super::measure::costed;
use super::table::{self, FigureTable};

/// Number of concurrent cases to ask for.
const WORKERS: usize = 100;

/// A server with a token bucket.
#[derive(Clone, Copy)]
struct LimitedServer {
    rate: f64,
    burst: f64,
    latency: Duration,
    /// Number of calls in a measurement.
    calls: usize,
}

/// A run of `assize` that made all calls.
struct LimitedRun {
    time: Duration,
    refused: usize,
}

impl ProgramUnderTest {
    /// Share of the allowed rate that is used, and share of the calls that are refused.
    pub(super) fn rates(&self, quick: bool) -> Result<FigureTable, String> {
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let title = format!("Servers that limit requests, one call a case, `--workers {WORKERS}`");
        let columns =
            ["server", "pause asked for", "calls", "best", "`assize eval`", "ratio", "refused calls"];
        let mut table = FigureTable::new(&title, &columns);

        let slow = Duration::from_millis(200);
        let fast = LimitedServer {
            rate: 100.0,
            burst: 100.0,
            latency: slow,
            calls: if quick { 1_000 } else { 3_000 },
        };
        let few = LimitedServer {
            rate: 10.0,
            burst: 10.0,
            latency: Duration::from_millis(800),
            calls: if quick { 300 } else { 1_000 },
        };

        for server in [fast, few] {
            let requests = self.recorded(&tools, server.calls)?;
            let best = Self::known(&tools, server, &requests)?;
            for asked in ["whole", "exact", "absent"] {
                for headers in ["no", "headers"] {
                    let LimitedServer { rate, burst, latency, calls } = server;
                    let limit = [&*rate.to_string(), &*burst.to_string(), asked, headers, "0"];
                    let run = self.limited(&tools, latency, limit, calls)?;
                    let reported = if headers == "headers" { ", headers" } else { "" };
                    let name = format!("{rate} a second, {} ms{reported}", latency.as_millis());
                    add(&mut table, &name, asked, calls, best, &run);
                }
            }
        }

        let requests = self.recorded(&tools, 1_000)?;
        let mock = MockProcess::start(&tools, slow, None)?;
        let raw = Self::raw(&tools, &mock, "client", &requests, WORKERS)?.time;
        mock.stop()?;
        let run = self.limited(&tools, slow, ["1e9", "1e9", "absent", "no", "0"], 1_000)?;
        add(&mut table, "no limit, 200 ms; best: raw load of 100 in flight", "", 1_000, raw, &run);

        let run = self.limited(&tools, slow, ["1e9", "1e9", "whole", "no", "20"], 1_000)?;
        add(&mut table, "5% refused at random, 200 ms; best: the same raw load", "whole", 1_000, raw, &run);

        Ok(table)
    }

    /// The requests for this many cases.
    fn recorded(&self, tools: &Path, calls: usize) -> Result<std::path::PathBuf, String> {
        let record = self.folder.join("rates.bin");
        self.file("rates.jsonl", &super::data::judged_once(calls))?;
        let mock = MockProcess::start(tools, Duration::ZERO, Some(&record))?;
        self.eval_all(mock.port(), calls)?;
        mock.stop()?;

        Ok(record)
    }

    /// Time of the client that knows the limit.
    fn known(tools: &Path, server: LimitedServer, requests: &Path) -> Result<Duration, String> {
        let LimitedServer { rate, burst, latency, .. } = server;
        let [rate, burst] = [rate, burst].map(|number| number.to_string());
        let mock = limited_mock(tools, latency, [&*rate, &*burst, "absent", "no", "0"])?;
        let mut command = Command::new(tools);
        command.args(["paced", &mock.port().to_string()]).arg(requests).args([&rate, &burst]);

        let (_, output) = costed(&mut command)?;
        mock.stop()?;
        let seconds: f64 = output.trim().parse().map_err(|_| format!("the client said `{output}`"))?;
        Ok(Duration::from_secs_f64(seconds))
    }

    fn limited(
        &self,
        tools: &Path,
        latency: Duration,
        limit: [&str; 5],
        calls: usize,
    ) -> Result<LimitedRun, String> {
        let mock = limited_mock(tools, latency, limit)?;
        let run = self.eval_all(mock.port(), calls)?;
        mock.stop()?;

        Ok(run)
    }

    /// Runs `assize eval` from scratch, and checks that every case is judged.
    fn eval_all(&self, port: u16, calls: usize) -> Result<LimitedRun, String> {
        let _ = std::fs::remove_dir_all(self.folder.join("rates"));
        let workers = WORKERS.to_string();
        let mut command = self.command(&[
            "eval", "rates.jsonl", "--judge", "openai:bench-1", "--no-cache", "--json", "--quiet",
            "--run-dir", "rates", "--workers", &workers,
        ]);
        command
            .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
            .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"));

        let begun = Instant::now();
        let (_, output) = costed(&mut command)?;
        let time = begun.elapsed();
        let summary: serde_json::Value =
            serde_json::from_str(&output).map_err(|error| format!("the summary: {error}: {output}"))?;
        if summary["counts"]["pass"] != calls {
            return Err(format!("not all of {calls} cases were judged: {summary}"));
        }

        let made =
            summary["judge_calls"].as_u64().and_then(|made| usize::try_from(made).ok()).unwrap_or(calls);
        Ok(LimitedRun { time, refused: made.saturating_sub(calls) })
    }
}

fn limited_mock(tools: &Path, latency: Duration, limit: [&str; 5]) -> Result<MockProcess, String> {
    let mut command = Command::new(tools);
    command.arg("limited").arg(latency.as_millis().to_string()).args(limit);
    MockProcess::spawn(command)
}

fn add(table: &mut FigureTable, name: &str, asked: &str, calls: usize, best: Duration, run: &LimitedRun) {
    let made = calls + run.refused;
    table.row([
        name,
        asked,
        &table::count(calls),
        &table::time(best),
        &table::time(run.time),
        &format!("{:.3}", best.as_secs_f64() / run.time.as_secs_f64()),
        &format!("{:.1} %", 100.0 * run.refused as f64 / made as f64),
    ]);
}
