//! `assize serve` compared with the judge that it calls: throughput, processor time, latency and memory.
//!
//! Separate processes, so that the system reports the cost of each: the mock judge, the server, the clients, a relay
//! instead of the server, and `assize eval` for the processor time of the same decisions without HTTP requests from
//! clients.
//!
//! Clients, server and judge share the processors of one machine. If these are busy, a rate depends on all
//! three, so each load reports how busy they were, and a relay shows how much of the raw load is left for
//! anything between clients and judge.

use std::fmt::{self, Write as _};
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
use super::measure::{costed, cpu_of, memory_of, peak_of};
use super::table::{self, FigureTable};

/// Samples in flight with the slow judge.
const IN_FLIGHT: usize = 1_000;
/// Samples per request if several are sent together, and samples sent for each 100 that are graded at once: a
/// reply waits for the last sample of its request, so without extra samples slots would stay empty.
const TOGETHER: usize = 10;
const AHEAD: usize = 120;
/// Latency of the slow judge.
const SLOW: Duration = Duration::from_millis(200);
/// Criteria of a sample for measuring processor time.
const CRITERIA: [&str; 4] = [
    "States the refund window of 30 days",
    "Names the support address to write to",
    "Apologises for the delay",
    "Says what the next step is and when it comes",
];

/// A server in its own process.
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

    /// Resident memory now, and its peak.
    fn memory(&self) -> (Option<u64>, Option<u64>) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        (memory_of(&status, "VmRSS:"), peak_of(&status))
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Times seen by clients.
#[derive(Clone, Copy)]
struct ClientTimes {
    /// From the first request on, including the time to connect.
    whole: LoadTimes,
    /// Between the first and the last calls: see [`LoadTimes::steady`].
    steady: LoadTimes,
}

/// Times of a part of a load.
#[derive(Clone, Copy)]
struct LoadTimes {
    /// Replies per second.
    rate: f64,
    median: Duration,
    p99: Duration,
}

/// A load: its times, and the processor time of all processes.
struct MeasuredLoad {
    times: ClientTimes,
    /// Processor time of the clients, of the server or relay, and of the judge.
    cpu: Option<[Duration; 3]>,
    /// From the first request to the last reply.
    time: Duration,
    calls: usize,
}

/// The same load in several configurations.
struct LoadRound {
    /// With the judge alone.
    raw: MeasuredLoad,
    /// With a relay.
    relay: MeasuredLoad,
    /// With a server that was just started, and with the same server again.
    new: MeasuredLoad,
    used: MeasuredLoad,
    /// In requests with several samples.
    together: MeasuredLoad,
}

/// A row of the table: its name, its load, and which part of the times counts.
type LoadRow = (&'static str, fn(&LoadRound) -> &MeasuredLoad, fn(&ClientTimes) -> LoadTimes);

/// Rows by name. A new server is compared with loads that also have to connect.
const LOAD_ROWS: [LoadRow; 6] = [
    ("raw load: the same clients ask the judge", |round| &round.raw, |times| times.steady),
    ("a relay between them that does nothing", |round| &round.relay, |times| times.steady),
    ("`assize serve`, used before", |round| &round.used, |times| times.steady),
    ("`assize serve`, used before, 10 samples a request", |round| &round.together, |times| times.steady),
    ("raw load, from its first request", |round| &round.raw, |times| times.whole),
    ("`assize serve`, just started, from its first request", |round| &round.new, |times| times.whole),
];

impl MeasuredLoad {
    /// Processor time per call in microseconds: of the clients, of the server or relay, and of the judge.
    fn costs(&self) -> String {
        let Some(cpu) = self.cpu else { return "not known".to_owned() };
        let [clients, between, judge] = cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / self.calls as f64);
        format!("{clients:.0}, {between:.0}, {judge:.0} µs")
    }

    /// Share of all processors that this load kept busy.
    fn busy(&self) -> String {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let Some(cpu) = self.cpu else { return "not known".to_owned() };
        let busy = cpu.iter().sum::<Duration>().as_secs_f64() / self.time.as_secs_f64();
        format!("{:.0}%", busy / processors as f64 * 100.0)
    }
}

impl ProgramUnderTest {
    /// The tables of the service.
    pub(super) fn service(&self, quick: bool) -> Result<Vec<FigureTable>, String> {
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let sizes: &[usize] = if quick { &[5_000, 20_000] } else { &[100_000, 400_000, 500_000] };
        Ok(vec![
            self.service_load(&tools, if quick { 5_000 } else { 25_000 })?,
            self.service_cpu(&tools, if quick { 8_000 } else { 40_000 })?,
            self.service_memory(&tools, sizes)?,
        ])
    }

    /// Throughput with all samples in flight, and latency with half of them, compared with the judge alone.
    fn service_load(&self, tools: &Path, count: usize) -> Result<FigureTable, String> {
        let ours = self.grading_requests("one.bin", GradingLoad::new(count))?;
        let together = GradingLoad { batch: TOGETHER, ..GradingLoad::new(count) };
        let together = self.grading_requests("together.bin", together)?;
        let recorded = self.folder.join("judge.bin");
        let recorder = MockProcess::start(tools, Duration::ZERO, Some(&recorded))?;
        let server = ServeProcess::start(self, recorder.port(), IN_FLIGHT)?;
        clients(tools, server.port, &ours, Senders::at_once(IN_FLIGHT))?;
        drop(server);
        recorder.stop()?;

        let mut table = FigureTable::new(
            &format!(
                "Service: samples of one criterion, a judge that takes {} ms, no cache",
                SLOW.as_millis()
            ),
            &[
                "what", "in flight", "calls", "calls a second", "against the raw load", "against the relay",
                "median", "p99", "p99 above the raw load", "CPU a call: clients, between, judge",
                "processors busy",
            ],
        );
        let mock = MockProcess::start(tools, SLOW, None)?;
        let mut relay = Command::new(tools);
        relay.args(["relay", &mock.port().to_string()]);
        let relay = MockProcess::spawn(relay)?;
        for (in_flight, spread) in
            [(IN_FLIGHT, Duration::ZERO), (IN_FLIGHT / 2, Duration::ZERO), (IN_FLIGHT / 2, SLOW)]
        {
            let mut rounds = Vec::new();
            for _ in 0..3 {
                // A new server connects to the judge and learns how much it accepts; the second load uses a
                // server that knows.
                let server = ServeProcess::start(self, mock.port(), IN_FLIGHT)?;
                let load = |file: &Path, port, in_flight, batch, between: &dyn Fn() -> Option<Duration>| {
                    let senders = Senders { count: in_flight, spread };
                    measured_load(tools, &mock, (port, file, senders, batch), between)
                };
                let serve = || server.cpu();
                // With half of the load, no slot stays empty while a sample waits.
                let ahead = if in_flight == IN_FLIGHT { AHEAD } else { 100 };
                let requests = in_flight * ahead / 100 / TOGETHER;
                rounds.push(LoadRound {
                    new: load(&ours, server.port, in_flight, 1, &serve)?,
                    raw: load(&recorded, mock.port(), in_flight, 1, &|| Some(Duration::ZERO))?,
                    relay: load(&recorded, relay.port(), in_flight, 1, &|| relay.cpu())?,
                    used: load(&ours, server.port, in_flight, 1, &serve)?,
                    together: load(&together, server.port, requests, TOGETHER, &serve)?,
                });
            }

            for row in LOAD_ROWS {
                let senders = Senders { count: in_flight, spread };
                add_load(&mut table, row, &mut rounds, senders);
            }
        }

        Ok(table)
    }

    /// Processor time of a decision, compared with `assize eval`.
    fn service_cpu(&self, tools: &Path, decisions: usize) -> Result<FigureTable, String> {
        const AT_ONCE: usize = 64;

        let mock = MockProcess::start(tools, Duration::ZERO, None)?;
        let each = |cpu: Option<Duration>| cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / decisions as f64);
        let shown = |micros: Option<f64>| {
            micros.map_or_else(|| "not known".to_owned(), |micros| format!("{micros:.0} µs"))
        };
        let mut table = FigureTable::new(
            "Service: processor time, 64 calls in flight, a judge that takes 0 ms, no cache",
            &["what", "criteria of a sample", "decisions", "CPU a decision", "above `assize eval`"],
        );

        for criteria in [CRITERIA.len(), 1] {
            let samples = decisions / criteria;
            let cases =
                if criteria == 1 { super::data::judged_once(samples) } else { super::data::judged(samples) };
            self.file("judged.jsonl", &cases)?;
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
            let (shown_criteria, shown_decisions) = (criteria.to_string(), table::count(decisions));
            table.row([
                "`assize eval`, with its run folder",
                &shown_criteria,
                &shown_decisions,
                &shown(eval),
                "",
            ]);

            for (what, batch) in [("requests of one sample", 1), ("requests of 50 samples", 50)] {
                let load = GradingLoad { criteria, batch, ..GradingLoad::new(samples) };
                let file = self.grading_requests("cpu.bin", load)?;
                let mut costs = Vec::new();
                for _ in 0..3 {
                    let server = ServeProcess::start(self, mock.port(), AT_ONCE)?;
                    let before = server.cpu();
                    let senders = if batch == 1 { AT_ONCE / criteria } else { 2 };
                    clients(tools, server.port, &file, Senders::at_once(senders))?;
                    let spent = server.cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
                    costs.push(each(spent));
                }
                let cost = middle(costs);
                let above = cost.zip(eval).map(|(cost, eval)| format!("{:+.0} µs", cost - eval));
                let name = format!("`assize serve`, {what}");
                let above = above.unwrap_or_default();
                table.row([&name, &shown_criteria, &shown_decisions, &shown(cost), &above]);
            }
        }

        Ok(table)
    }

    /// Memory of a server for a growing number of samples, without and with idempotency keys; with keys it
    /// remembers results.
    fn service_memory(&self, tools: &Path, sizes: &[usize]) -> Result<FigureTable, String> {
        const BATCH: usize = 50;

        let mock = MockProcess::start(tools, Duration::ZERO, None)?;
        let mut table = FigureTable::new(
            "Service: memory of one server, requests of 50 samples of one criterion, a judge that takes 0 ms",
            &[
                "requests", "samples so far", "samples a second", "memory", "peak memory",
                "memory against the first",
            ],
        );

        for (what, keyed) in [("without keys", false), ("each with an `Idempotency-Key`", true)] {
            let server = ServeProcess::start(self, mock.port(), 64)?;
            let (mut total, mut first) = (0, None);
            for &size in sizes {
                let load = GradingLoad { batch: BATCH, first: total, keyed, ..GradingLoad::new(size) };
                let file = self.grading_requests("memory.bin", load)?;
                let times = clients(tools, server.port, &file, Senders::at_once(4))?.times;
                total += size;
                let (now, peak) = server.memory();
                table.row([
                    what,
                    &table::count(total),
                    &table::count((times.whole.rate * BATCH as f64) as usize),
                    &table::memory(now),
                    &table::memory(peak),
                    &table::memory_ratio(now, first.unwrap_or(now)),
                ]);
                first.get_or_insert(now);
            }
        }

        Ok(table)
    }

    /// Writes grading requests in the format of the yardsticks: each preceded by its length.
    fn grading_requests(&self, name: &str, load: GradingLoad) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let failed = |error: std::io::Error| format!("{name}: {error}");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(failed)?);
        let last = load.first + load.samples;
        for begin in (load.first..last).step_by(load.batch) {
            let list: Vec<_> = (begin..(begin + load.batch).min(last))
                .map(|number| {
                    json!({
                        "id": format!("case-{number}"),
                        "input": format!("Where is order {number}, and can I return it?"),
                        "output": super::data::answer(number),
                    })
                })
                .collect();

            let body = json!({ "rubric": CRITERIA[..load.criteria], "samples": list }).to_string();
            let mut request = String::from("POST /v1/grade HTTP/1.1\r\nhost: localhost\r\n");
            if load.keyed {
                let _ = write!(request, "idempotency-key: from-{begin}\r\n");
            }
            let _ = write!(
                request,
                "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            file.write_all(&(request.len() as u64).to_le_bytes()).map_err(failed)?;
            file.write_all(request.as_bytes()).map_err(failed)?;
        }

        file.flush().map_err(failed)?;
        Ok(path)
    }
}

/// Samples for a server.
#[derive(Clone, Copy)]
struct GradingLoad {
    /// Number of the first sample.
    first: usize,
    samples: usize,
    criteria: usize,
    /// Samples per request.
    batch: usize,
    /// True if each request has an idempotency key.
    keyed: bool,
}

impl GradingLoad {
    /// Samples with one criterion, each in its own request.
    const fn new(samples: usize) -> Self {
        Self { first: 0, samples, criteria: 1, batch: 1, keyed: false }
    }
}

/// Senders of a load: each sends its next request as soon as the last one is answered.
#[derive(Clone, Copy)]
struct Senders {
    count: usize,
    /// Period over which they start, one after another. Senders that start together keep sending in bursts,
    /// because each waits for the same judge for the same time.
    spread: Duration,
}

impl Senders {
    const fn at_once(count: usize) -> Self {
        Self { count, spread: Duration::ZERO }
    }
}

impl fmt::Display for Senders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&table::count(self.count))?;
        if self.spread.is_zero() { Ok(()) } else { f.write_str(", evenly spread") }
    }
}

/// Sends a load to a port: a file of requests with `batch` calls each.
fn measured_load(
    tools: &Path,
    judge: &MockProcess,
    (port, file, senders, batch): (u16, &Path, Senders, usize),
    between: &dyn Fn() -> Option<Duration>,
) -> Result<MeasuredLoad, String> {
    let before = between().zip(judge.cpu());
    let sent = clients(tools, port, file, senders)?;
    let after = between().zip(judge.cpu());

    let spent = |after: Duration, before: Duration| after.saturating_sub(before);
    let cpu = before.zip(after).zip(sent.cpu);
    let cpu = cpu.map(|((before, after), own)| [own, spent(after.0, before.0), spent(after.1, before.1)]);
    let calls = |times: LoadTimes| LoadTimes { rate: times.rate * batch as f64, ..times };
    Ok(MeasuredLoad {
        times: ClientTimes { whole: calls(sent.times.whole), steady: calls(sent.times.steady) },
        cpu,
        time: Duration::from_secs_f64(sent.calls as f64 / sent.times.whole.rate),
        calls: sent.calls * batch,
    })
}

/// Adds a row: the median of three rounds by the ratio to the raw load.
fn add_load(
    table: &mut FigureTable,
    (what, load, part): LoadRow,
    rounds: &mut [LoadRound],
    senders: Senders,
) {
    let ratio = |round: &LoadRound, to: &MeasuredLoad| part(&load(round).times).rate / part(&to.times).rate;
    rounds.sort_by(|a, b| ratio(a, &a.raw).total_cmp(&ratio(b, &b.raw)));

    let round = &rounds[1];
    let [lowest, middle, highest] = [0, 1, 2].map(|at| ratio(&rounds[at], &rounds[at].raw));
    let (measured, times, raw) = (load(round), part(&load(round).times), part(&round.raw.times));
    table.row([
        what,
        &senders.to_string(),
        &table::count(measured.calls),
        &table::count(times.rate as usize),
        &format!("{middle:.2} ({lowest:.2} to {highest:.2})"),
        &format!("{:.2}", ratio(round, &round.relay)),
        &table::time(times.median),
        &table::time(times.p99),
        &format!("{:+.1} ms", (times.p99.as_secs_f64() - raw.p99.as_secs_f64()) * 1e3),
        &measured.costs(),
        &measured.busy(),
    ]);
}

/// The median of an odd number of measurements.
fn middle(mut values: Vec<Option<f64>>) -> Option<f64> {
    values.sort_by(|a, b| a.unwrap_or(f64::MAX).total_cmp(&b.unwrap_or(f64::MAX)));
    values[values.len() / 2]
}

/// A load as the clients saw it.
struct SentLoad {
    times: ClientTimes,
    calls: usize,
    /// Processor time of the clients.
    cpu: Option<Duration>,
}

/// Sends the requests of a file from a separate process.
fn clients(tools: &Path, port: u16, file: &Path, senders: Senders) -> Result<SentLoad, String> {
    let mut command = Command::new(tools);
    command.args(["timed", &port.to_string()]).arg(file);
    command.args([senders.count.to_string(), senders.spread.as_millis().to_string()]);
    let (_, output) = costed(&mut command)?;
    let numbers: Vec<f64> = output.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let times = |numbers: &[f64]| LoadTimes {
        rate: numbers[0],
        median: Duration::from_secs_f64(numbers[1]),
        p99: Duration::from_secs_f64(numbers[2]),
    };
    match *numbers {
        [calls, cpu, ref rest @ ..] if rest.len() == 6 => Ok(SentLoad {
            times: ClientTimes { whole: times(&rest[..3]), steady: times(&rest[3..]) },
            calls: calls as usize,
            cpu: (cpu >= 0.0).then(|| Duration::from_secs_f64(cpu)),
        }),
        _ => Err(format!("the clients said `{output}`")),
    }
}

/// A call: when its request was sent and when its reply arrived, since the start of the load.
#[derive(Debug, Clone, Copy)]
struct TimedCall {
    sent: Duration,
    answered: Duration,
}

impl LoadTimes {
    /// Times of all calls, in the order of their replies.
    fn whole(calls: &[TimedCall]) -> Self {
        Self::of(calls.len(), calls.last().map_or(Duration::ZERO, |call| call.answered), calls.iter())
    }

    /// Times of the steady state: without the first two calls of each sender, which include connecting, and
    /// without its last call, when other senders have nothing left to send. A load too short for that counts as
    /// a whole.
    fn steady(calls: &[TimedCall], in_flight: usize) -> Self {
        let (first, last) = (2 * in_flight, calls.len().saturating_sub(in_flight));
        if last <= first + in_flight {
            return Self::whole(calls);
        }

        let (begin, end) = (calls[first - 1].answered, calls[last - 1].answered);
        let within = calls.iter().filter(|call| call.sent >= begin && call.sent < end);
        Self::of(last - first, end.saturating_sub(begin), within)
    }

    fn of<'c>(count: usize, time: Duration, calls: impl Iterator<Item = &'c TimedCall>) -> Self {
        let mut latencies: Vec<Duration> =
            calls.map(|call| call.answered.saturating_sub(call.sent)).collect();
        latencies.sort_unstable();
        let at = |share: f64| {
            latencies.get((latencies.len() as f64 * share) as usize).copied().unwrap_or_default()
        };

        Self { rate: count as f64 / time.as_secs_f64(), median: at(0.5), p99: at(0.99) }
    }
}

/// Sends every request in the file and prints eight numbers: calls, processor time in seconds (-1 if the system
/// does not report it), then calls per second, median and 99th percentile of a call in seconds, first for all
/// calls and then for the steady state. `assize-bench timed PORT FILE SENDERS SPREAD_MS`.
pub(crate) fn run_timed(port: &str, file: &str, count: &str, spread: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| "the port is a number")?;
    let count: usize = count.parse().map_err(|_| "the number of senders is a number")?;
    let spread = Duration::from_millis(spread.parse().map_err(|_| "the spread is in milliseconds")?);
    let requests = super::load::read(file)?
        .iter()
        .map(|bytes| super::load::addressed(bytes, port))
        .collect::<Result<Vec<Request<Full<Bytes>>>, _>>()?;

    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let cpu = || cpu_of(std::process::id());
    let before = cpu();
    let mut calls = runtime.block_on(timed_calls(requests, Senders { count, spread }))?;
    let spent = cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
    calls.sort_unstable_by_key(|call| call.answered);

    let parts = [LoadTimes::whole(&calls), LoadTimes::steady(&calls, count)];
    let numbers = parts.map(|LoadTimes { rate, median, p99 }| {
        format!("{rate} {} {}", median.as_secs_f64(), p99.as_secs_f64())
    });
    let spent = spent.map_or(-1.0, |spent| spent.as_secs_f64());
    println!("{} {spent} {}", calls.len(), numbers.join(" "));
    Ok(())
}

/// Sends the requests.
async fn timed_calls(
    requests: Vec<Request<Full<Bytes>>>,
    senders: Senders,
) -> Result<Vec<TimedCall>, String> {
    let client =
        Client::builder(TokioExecutor::new()).pool_max_idle_per_host(usize::MAX).build_http::<Full<Bytes>>();
    let count = requests.len();
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let begun = Instant::now();
    let sending: Vec<_> = (0..senders.count)
        .map(|number| {
            let wait = senders.spread.mul_f64(number as f64 / senders.count as f64);
            let (client, requests, next) = (client.clone(), Arc::clone(&requests), Arc::clone(&next));
            tokio::spawn(async move {
                tokio::time::sleep(wait).await;
                let mut calls = Vec::new();
                while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let sent = begun.elapsed();
                    let reply = client.request(request.clone()).await.map_err(|error| error.to_string())?;
                    let status = reply.status();
                    let body =
                        reply.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
                    if status != 200 || is_lacking(&body) {
                        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)));
                    }
                    calls.push(TimedCall { sent, answered: begun.elapsed() });
                }
                Ok::<_, String>(calls)
            })
        })
        .collect();

    let mut calls = Vec::with_capacity(count);
    for sender in sending {
        calls.extend(sender.await.map_err(|error| error.to_string())??);
    }

    Ok(calls)
}

/// True for a reply of the service with ungraded samples.
fn is_lacking(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    text.contains("\"summary\"") && !text.contains("\"partial\":0,\"ungraded\":0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_state_is_without_the_beginning_and_the_end() {
        // Two senders: 100 ms for the first two calls of each, 10 ms for the others.
        let mut calls = Vec::new();
        for sender in 0..2 {
            let mut at = Duration::from_millis(sender);
            for call in 0..10 {
                let sent = at;
                at += Duration::from_millis(if call < 2 { 100 } else { 10 });
                calls.push(TimedCall { sent, answered: at });
            }
        }
        calls.sort_unstable_by_key(|call| call.answered);

        let (whole, steady) = (LoadTimes::whole(&calls), LoadTimes::steady(&calls, 2));
        assert_eq!((whole.p99, steady.p99), (Duration::from_millis(100), Duration::from_millis(10)));
        assert!((steady.rate - 200.0).abs() < 1.0 && whole.rate < 80.0, "{} {}", steady.rate, whole.rate);
        assert!((LoadTimes::steady(&calls[..6], 2).rate - LoadTimes::whole(&calls[..6]).rate).abs() < 1e-9);
    }
}
