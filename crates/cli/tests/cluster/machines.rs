//! Machines of a test: folders with the same project, their workers, a coordinator, and servers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::rule::{judge, suite};
use assize_testkit::mock::{MockOptions, MockReply, MockServer};
use assize_testkit::nats::{NatsServers, nats_server};
use serde_json::Value;

/// The key the workers send.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";
/// Time limit of a run in a test.
pub(crate) const RUN_TIMEOUT: Duration = Duration::from_mins(5);

/// Starts three servers; if they can't start, prints that the test is skipped.
pub(crate) fn servers(test: &str) -> Option<NatsServers> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nats-server");
    match nats_server(&folder) {
        Ok(binary) => Some(NatsServers::start(binary, 3)),
        Err(why) => {
            // Bypasses the test harness, which captures output: the summary counts these lines.
            let line = format!("\nSKIPPED 1 test, {test}: {why}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            None
        }
    }
}

/// A judge with this latency.
pub(crate) fn judge_server(latency: Duration) -> MockServer {
    MockServer::start_with(
        move |incoming: &_| MockReply::After(latency, Box::new(judge(incoming))),
        MockOptions { record: false },
    )
}

/// A machine: a folder with the project, and the address of the judge.
pub(crate) fn machine(judge: &MockServer, cases: usize) -> CliTest {
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", judge.base_url());
    cli.file("suite.yaml", suite(cases, &["says yes", "says no"], true));
    cli
}

/// Arguments of a run of the suite.
pub(crate) const EVAL: [&str; 6] = ["eval", "suite.yaml", "--judge", "openai:judge-1", "-j", "4"];

/// A process that is killed at the end of the test.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self(child.expect("the program can be started"))
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("a started process can be looked at").is_some()
    }

    /// Waits for a line on its standard error that contains this. Its output is not kept.
    pub(crate) fn wait_for(&mut self, part: &'static str) {
        let lines = BufReader::new(self.0.stderr.take().expect("a pipe")).lines();
        let (sender, found) = mpsc::channel();
        // Keeps reading, so that the program never blocks on its output.
        std::thread::spawn(move || {
            for _ in lines.map_while(Result::ok).filter(|line| line.contains(part)) {
                let _ = sender.send(());
            }
        });
        assert!(found.recv_timeout(RUN_TIMEOUT).is_ok(), "it did not say `{part}`");
    }

    /// Waits for the process to end; returns its exit code and both outputs.
    pub(crate) fn finish(mut self) -> (Option<i32>, String, String) {
        let until = Instant::now() + RUN_TIMEOUT;
        while !self.has_ended() {
            if Instant::now() > until {
                self.kill();
                let (_, out, err) = self.output();
                panic!("it did not end in time\n--- stdout\n{out}\n--- stderr\n{err}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.output()
    }

    fn output(&mut self) -> (Option<i32>, String, String) {
        let read = |pipe: Option<&mut dyn std::io::Read>| {
            let mut text = Vec::new();
            if let Some(pipe) = pipe {
                let _ = pipe.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        };
        let out = read(self.0.stdout.as_mut().map(|pipe| pipe as _));
        let err = read(self.0.stderr.as_mut().map(|pipe| pipe as _));
        (self.0.wait().ok().and_then(|status| status.code()), out, err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a worker on a machine.
pub(crate) fn worker(machine: &CliTest, address: &str) -> Running {
    let mut command = machine.command(&["worker", "--cluster", address, "-q"]);
    // Nothing reads its output while it works.
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Running(child.expect("the program can be started"))
}

/// Command of a worker whose files can't grow beyond this many blocks of 512 bytes, as on a full disk.
pub(crate) fn worker_on_full_disk(
    machine: &CliTest,
    judge: &MockServer,
    address: &str,
    blocks: u32,
) -> Command {
    let binary = env!("CARGO_BIN_EXE_assize");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {binary} worker --cluster {address} -q");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .current_dir(machine.dir())
        .env("OPENAI_API_KEY", KEY)
        .env("ASSIZE_ALLOW_CODE", "1")
        .env("OPENAI_BASE_URL", judge.base_url());
    command
}

/// Starts a coordinator on a machine.
pub(crate) fn coordinator(machine: &CliTest, address: &str, more: &[&str]) -> Running {
    let mut args = EVAL.to_vec();
    args.extend(["--cluster", address, "--run-dir", "merged", "--json"]);
    args.extend(more);
    Running::start(&mut machine.command(&args))
}

/// Rows of a file of a run by their position in the plan, without parts that differ between runs.
pub(crate) fn rows(machine: &CliTest, file: &str) -> BTreeMap<String, Vec<Value>> {
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in machine.read(file).lines() {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        let fields = row.as_object_mut().expect("an object");
        for changing in ["duration_ms", "crc", "latency_ms"] {
            fields.remove(changing);
        }
        let case = fields["case_id"].as_str().expect("an id").to_owned();
        rows.entry(case).or_default().push(row);
    }
    // The order of decisions within a case depends on timing.
    for rows in rows.values_mut() {
        rows.sort_by_key(ToString::to_string);
    }
    rows
}

/// Asserts that a run on many machines has the same rows as a run on one.
pub(crate) fn assert_same_rows(one: (&CliTest, &str), other: (&CliTest, &str)) {
    for file in ["results.jsonl", "judgements.jsonl"] {
        let [a, b] = [one, other].map(|(machine, folder)| rows(machine, &format!("{folder}/{file}")));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{file}");
        for (case, rows) in &a {
            assert_eq!(rows, &b[case], "{file}, {case}");
        }
    }
}
