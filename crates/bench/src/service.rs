//! `assize serve` beside the judge that it asks: throughput, processor time, latency and memory.
//!
//! Four processes, so that the system says what each costs: the mock judge, the server, the clients, and `assize eval` for the
//! processor time of the same decisions without HTTP before them.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

use super::ProgramUnderTest;
use super::judge::MockProcess;
use super::measure::{costed, cpu_of, peak_of};
use super::table::{self, FigureTable};

/// Samples in flight against the slow judge.
const IN_FLIGHT: usize = 1_000;
/// Latency of the slow judge.
const SLOW: Duration = Duration::from_millis(200);
/// Criteria of a sample where the processor time is measured.
const CRITERIA: [&str; 4] = [
    "States the refund window of 30 days",
    "Names the support address to write to",
    "Apologises for the delay",
    "Says what the next step is and when it comes",
];

/// A server in a process of its own.
struct ServeProcess {
    child: Child,
    port: u16,
}

impl ServeProcess {
    fn start(bench: &ProgramUnderTest, judge: u16, in_flight: usize) -> Result<Self, String> {
        let in_flight = in_flight.to_string();
        let mut child = bench
            .command(&[
                "serve", "--listen", "127.0.0.1:0", "--judge", "openai:bench-1", "--no-cache", "--quiet",
                "--max-concurrency", &in_flight, "--workers", &in_flight, "--queue", "100000",
            ])
            .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
            .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{judge}/v1"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("can't start the server: {error}"))?;

        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| format!("the server said `{}`", line.trim()))?;
        Ok(Self { child, port })
    }

    fn cpu(&self) -> Option<Duration> {
        cpu_of(self.child.id())
    }

    fn peak(&self) -> Option<u64> {
        peak_of(&std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?)
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What clients saw.
#[derive(Clone, Copy)]
struct ClientTimes {
    /// From the first request to the last reply.
    all: Duration,
    median: Duration,
    p99: Duration,
}

/// The same load on the judge alone, on a server that was just started, and on the same server again.
struct LoadRound {
    raw: ClientTimes,
    new: ClientTimes,
    warm: ClientTimes,
}

/// Times of one way in a round, and its throughput against that of the raw load.
type LoadRatio = fn(&LoadRound) -> (ClientTimes, f64);

impl LoadRound {
    fn of_new(&self) -> (ClientTimes, f64) {
        (self.new, self.raw.all.as_secs_f64() / self.new.all.as_secs_f64())
    }

    fn of_warm(&self) -> (ClientTimes, f64) {
        (self.warm, self.raw.all.as_secs_f64() / self.warm.all.as_secs_f64())
    }
}

impl ProgramUnderTest {
    /// The tables of the service.
    pub(super) fn service(&self, quick: bool) -> Result<Vec<FigureTable>, String> {
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let count = if quick { 5_000 } else { 25_000 };
        Ok(vec![
            self.service_load(&tools, count)?,
            self.service_cpu(&tools, if quick { 2_000 } else { 10_000 })?,
            self.service_memory(
                &tools,
                if quick { &[5_000, 20_000] } else { &[20_000, 180_000, 200_000, 200_000, 200_000, 200_000] },
            )?,
        ])
    }

    /// Throughput with all samples in flight, and latency with half of them, beside the judge alone.
    fn service_load(&self, tools: &Path, count: usize) -> Result<FigureTable, String> {
        let ours = self.grading_requests("one.bin", count, 1, 1)?;
        let recorded = self.folder.join("judge.bin");
        let recorder = MockProcess::start(tools, Duration::ZERO, Some(&recorded))?;
        let server = ServeProcess::start(self, recorder.port(), IN_FLIGHT)?;
        clients(tools, server.port, &ours, IN_FLIGHT)?;
        drop(server);
        recorder.stop()?;

        let mut table = FigureTable::new(
            &format!(
                "Service: samples of one criterion, a judge that takes {} ms, no cache",
                SLOW.as_millis()
            ),
            &[
                "what", "in flight", "calls", "calls a second", "against the raw load", "median", "p99",
                "p99 above the raw load",
            ],
        );
        let mock = MockProcess::start(tools, SLOW, None)?;
        for in_flight in [IN_FLIGHT, IN_FLIGHT / 2] {
            let mut rounds = Vec::new();
            for _ in 0..3 {
                // A new server finds out how much the judge takes, beginning with few calls at a time; the second load meets one
                // that knows.
                let server = ServeProcess::start(self, mock.port(), IN_FLIGHT)?;
                let new = clients(tools, server.port, &ours, in_flight)?;
                let raw = clients(tools, mock.port(), &recorded, in_flight)?;
                rounds.push(LoadRound { raw, new, warm: clients(tools, server.port, &ours, in_flight)? });
            }

            let ways: [(&str, LoadRatio); 3] = [
                ("raw load: the same clients ask the judge", |round| (round.raw, 1.0)),
                ("`assize serve`, just started", LoadRound::of_new),
                ("`assize serve`, after that load", LoadRound::of_warm),
            ];
            for (what, ratio) in ways {
                rounds.sort_by(|a, b| ratio(a).1.total_cmp(&ratio(b).1));
                let [lowest, middle, highest] = [0, 1, 2].map(|at| ratio(&rounds[at]));
                let (times, raw) = (middle.0, rounds[1].raw);
                table.row([
                    what,
                    &table::count(in_flight),
                    &table::count(count),
                    &table::count((count as f64 / times.all.as_secs_f64()) as usize),
                    &format!("{:.2} ({:.2} to {:.2})", middle.1, lowest.1, highest.1),
                    &table::time(times.median),
                    &table::time(times.p99),
                    &format!("{:+.1} ms", (times.p99.as_secs_f64() - raw.p99.as_secs_f64()) * 1e3),
                ]);
            }
        }

        Ok(table)
    }

    /// Processor time of a decision, beside `assize eval`.
    fn service_cpu(&self, tools: &Path, samples: usize) -> Result<FigureTable, String> {
        const AT_ONCE: usize = 64;

        let decisions = samples * CRITERIA.len();
        let mock = MockProcess::start(tools, Duration::ZERO, None)?;
        let each = |cpu: Option<Duration>| cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / decisions as f64);
        let shown = |micros: Option<f64>| {
            micros.map_or_else(|| "not known".to_owned(), |micros| format!("{micros:.0} µs"))
        };
        let mut table = FigureTable::new(
            "Service: processor time, samples of four criteria, 64 calls in flight, a judge that takes 0 ms, no cache",
            &["what", "decisions", "CPU a decision", "above `assize eval`"],
        );

        self.file("judged.jsonl", &super::data::judged(samples))?;
        let mut evals = Vec::new();
        for round in 0..3 {
            let out = format!("eval-{round}");
            let mut command = self.command(&[
                "eval", "judged.jsonl", "--judge", "openai:bench-1", "--json", "--quiet", "--no-cache",
                "--run-dir", &out, "--max-concurrency", "64",
            ]);
            command
                .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
                .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", mock.port()));
            evals.push(each(costed(&mut command)?.0.cpu));
            let _ = std::fs::remove_dir_all(self.folder.join(&out));
        }
        let eval = middle(evals);
        table.row(["`assize eval`, with its run folder", &table::count(decisions), &shown(eval), ""]);

        for (what, batch) in [("requests of one sample", 1), ("requests of 50 samples", 50)] {
            let file =
                self.grading_requests(&format!("batch-{batch}.bin"), samples, CRITERIA.len(), batch)?;
            let mut costs = Vec::new();
            for _ in 0..3 {
                let server = ServeProcess::start(self, mock.port(), AT_ONCE)?;
                let before = server.cpu();
                clients(tools, server.port, &file, if batch == 1 { AT_ONCE / CRITERIA.len() } else { 2 })?;
                costs
                    .push(each(server.cpu().zip(before).map(|(after, before)| after.saturating_sub(before))));
            }
            let cost = middle(costs);
            let above = cost.zip(eval).map(|(cost, eval)| format!("{:+.0} µs", cost - eval));
            let name = format!("`assize serve`, {what}");
            table.row([&name, &table::count(decisions), &shown(cost), &above.unwrap_or_default()]);
        }

        Ok(table)
    }

    /// Peak memory of one server over more and more samples.
    fn service_memory(&self, tools: &Path, sizes: &[usize]) -> Result<FigureTable, String> {
        let mock = MockProcess::start(tools, Duration::ZERO, None)?;
        let server = ServeProcess::start(self, mock.port(), 64)?;
        let mut table = FigureTable::new(
            "Service: memory of one server, requests of 50 samples of one criterion, a judge that takes 0 ms",
            &["samples so far", "samples a second", "peak memory", "memory against the first"],
        );

        let (mut total, mut first) = (0, None);
        for &size in sizes {
            let file = self.grading_requests("memory.bin", size, 1, 50)?;
            let times = clients(tools, server.port, &file, 4)?;
            total += size;
            let peak = server.peak();
            table.row([
                &table::count(total),
                &table::count((size as f64 / times.all.as_secs_f64()) as usize),
                &table::memory(peak),
                &table::memory_ratio(peak, first.unwrap_or(peak)),
            ]);
            first.get_or_insert(peak);
        }

        Ok(table)
    }

    /// Writes requests to grade so many samples, each as the yardsticks read them: its length before it.
    fn grading_requests(
        &self,
        name: &str,
        samples: usize,
        criteria: usize,
        batch: usize,
    ) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let failed = |error: std::io::Error| format!("{name}: {error}");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(failed)?);
        let mut number = 0;
        while number < samples {
            let end = (number + batch).min(samples);
            let list: Vec<_> = (number..end)
                .map(|number| {
                    json!({
                        "id": format!("case-{number}"),
                        "input": format!("Where is order {number}, and can I return it?"),
                        "output": super::data::answer(number),
                    })
                })
                .collect();
            number = end;

            let body = json!({ "rubric": CRITERIA[..criteria], "samples": list }).to_string();
            let mut request = String::new();
            let _ = write!(
                request,
                "POST /v1/grade HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            file.write_all(&(request.len() as u64).to_le_bytes()).map_err(failed)?;
            file.write_all(request.as_bytes()).map_err(failed)?;
        }

        file.flush().map_err(failed)?;
        Ok(path)
    }
}

/// The middle one of an odd number of measurements.
fn middle(mut values: Vec<Option<f64>>) -> Option<f64> {
    values.sort_by(|a, b| a.unwrap_or(f64::MAX).total_cmp(&b.unwrap_or(f64::MAX)));
    values[values.len() / 2]
}

/// Sends the requests of a file from a process of its own.
fn clients(tools: &Path, port: u16, file: &Path, in_flight: usize) -> Result<ClientTimes, String> {
    let mut command = Command::new(tools);
    command.args(["timed", &port.to_string()]).arg(file).arg(in_flight.to_string());
    let (_, said) = costed(&mut command)?;
    let seconds: Vec<f64> = said.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    match seconds[..] {
        [all, median, p99] => {
            let [all, median, p99] = [all, median, p99].map(Duration::from_secs_f64);
            Ok(ClientTimes { all, median, p99 })
        }
        _ => Err(format!("the clients said `{said}`")),
    }
}

/// Sends every request of the file, so many at a time, and prints three numbers of seconds: from the first request to the last
/// reply, the median of a request, and its 99th percentile. `assize-bench timed PORT FILE IN_FLIGHT`.
pub(crate) fn run_timed(port: &str, file: &str, in_flight: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| "the port is a number")?;
    let in_flight: usize = in_flight.parse().map_err(|_| "the number in flight is a number")?;
    let requests = super::load::read(file)?
        .iter()
        .map(|bytes| super::load::addressed(bytes, port))
        .collect::<Result<Vec<Request<Full<Bytes>>>, _>>()?;
    let client =
        Client::builder(TokioExecutor::new()).pool_max_idle_per_host(usize::MAX).build_http::<Full<Bytes>>();

    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
        let begun = Instant::now();
        let senders: Vec<_> = (0..in_flight)
            .map(|_| {
                let (client, requests, next) = (client.clone(), Arc::clone(&requests), Arc::clone(&next));
                tokio::spawn(async move {
                    let mut times = Vec::new();
                    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let begun = Instant::now();
                        let reply =
                            client.request(request.clone()).await.map_err(|error| error.to_string())?;
                        let status = reply.status();
                        let body =
                            reply.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
                        if status != 200 || is_lacking(&body) {
                            return Err(format!("{status}: {}", String::from_utf8_lossy(&body)));
                        }
                        times.push(begun.elapsed());
                    }
                    Ok::<_, String>(times)
                })
            })
            .collect();

        let mut times = Vec::with_capacity(requests.len());
        for sender in senders {
            times.extend(sender.await.map_err(|error| error.to_string())??);
        }
        let all = begun.elapsed();
        times.sort_unstable();
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
        println!("{} {} {}", all.as_secs_f64(), at(0.5).as_secs_f64(), at(0.99).as_secs_f64());
        Ok(())
    })
}

/// True for a reply of the service with samples that were not graded.
fn is_lacking(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    text.contains("\"summary\"") && !text.contains("\"partial\":0,\"ungraded\":0")
}
