//! A model on this machine: llama.cpp's own server with one thread and four places, and the same calls one after another by a
//! plain client.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assize_testkit::llama::{LlamaServer, MODEL};

use super::judge::MockProcess;
use super::measure::{costed, cpu_of};
use super::{ProgramUnderTest, cargo, table};
use crate::table::FigureTable;

/// The files of the tutorial, below the root of the repository.
const TUTORIAL: &str = "examples/tutorial";
/// Answers in its table, times the criteria of its rubric.
const CALLS: usize = 12 * 4;

/// Results of the criteria of a run.
struct Decisions {
    decided: usize,
    ungraded: usize,
    /// Requests that were sent for them. If there are more than one for each criterion, some were cut off or timed out.
    requests: u64,
}

impl ProgramUnderTest {
    /// The answers of the tutorial with no option but the judge.
    pub(super) fn local(&self) -> Result<FigureTable, String> {
        let tools = std::env::current_exe().map_err(|error| error.to_string())?;
        let record = self.folder.join("requests.bin");
        let recorder = MockProcess::start(&tools, Duration::ZERO, Some(&record))?;
        self.tutorial(&format!("http://127.0.0.1:{}/v1", recorder.port()), "recorded")?;
        recorder.stop()?;
        let recorded = super::load::read(&record.display().to_string())?.len();
        if recorded != CALLS {
            return Err(format!("{recorded} requests were sent for {CALLS} criteria"));
        }

        let mut table = FigureTable::new(
            "A model on this machine: SmolLM2 135M by llama.cpp, one thread, four places, 12 answers and 4 criteria",
            &[
                "what", "time", "against the plain client", "CPU of the server", "decided", "ungraded",
                "requests",
            ],
        );

        // Each gets a new server, because a server caches the prompts that it has read.
        let server = self.llama()?;
        let mut plain = Command::new(&tools);
        plain.args(["load", "client", &server.port().to_string()]).arg(&record).arg("1");
        let (_, output) = costed(&mut plain)?;
        let seconds: f64 = output.trim().parse().map_err(|_| format!("the plain client said `{output}`"))?;
        let raw = Duration::from_secs_f64(seconds);
        let cpu = |server: &LlamaServer| cpu_of(server.id()).map_or_else(String::new, table::time);
        table.row([
            "a plain client, one call after another",
            &table::time(raw),
            "1",
            &cpu(&server),
            "",
            "",
            "",
        ]);
        drop(server);

        let server = self.llama()?;
        let begun = Instant::now();
        let found = self.tutorial(&server.base_url(), "local")?;
        let time = begun.elapsed();
        table.row([
            "`assize grade`",
            &table::time(time),
            &format!("{:.2}", time.as_secs_f64() / raw.as_secs_f64()),
            &cpu(&server),
            &table::count(found.decided),
            &table::count(found.ungraded),
            &found.requests.to_string(),
        ]);

        Ok(table)
    }

    fn llama(&self) -> Result<LlamaServer, String> {
        LlamaServer::start(&self.folder.with_file_name("llama"))
    }

    /// Grades the answers of the tutorial by the server at this address.
    fn tutorial(&self, address: &str, out: &str) -> Result<Decisions, String> {
        let _ = std::fs::remove_dir_all(self.folder.join(".assize"));
        let file = |name: &str| cargo::root().join(TUTORIAL).join(name).display().to_string();
        let (rubric, answers, judge) = (file("rubric.yaml"), file("before.csv"), format!("llamacpp:{MODEL}"));
        let mut command = self.command(&[
            "grade", &rubric, "--answers", &answers, "--judge", &judge, "--quiet", "--run-dir", out,
        ]);
        command.env("LLAMACPP_BASE_URL", address);
        let status = command.output().map_err(|error| error.to_string())?.status;
        let found = decisions(&self.folder.join(out))?;
        let all = found.decided + found.ungraded;
        if all == CALLS { Ok(found) } else { Err(format!("{all} of {CALLS} criteria are stored ({status})")) }
    }
}

fn decisions(run: &Path) -> Result<Decisions, String> {
    let read = |name: &str| {
        std::fs::read_to_string(run.join(name))
            .map_err(|error| format!("{name} of {}: {error}", run.display()))
    };
    let value =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).map_err(|error| error.to_string());
    let rows = read("judgements.jsonl")?.lines().map(value).collect::<Result<Vec<_>, _>>()?;
    let decided = rows.iter().filter(|row| row["ungraded"].is_null()).count();
    let requests = value(&read("run.json")?)?["summary"]["judge_calls"].as_u64().unwrap_or_default();

    Ok(Decisions { decided, ungraded: rows.len() - decided, requests })
}
