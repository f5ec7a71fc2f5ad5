//! Runs written by the store, a server that shows them, and requests as a browser sends them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use crate::{ViewOptions, ViewServer};
use assize_engine::ProcessContext;
use assize_rubric::{
    CaseDecision, Cost, Criterion, Decision, EvidenceQuote, Finding, Gate, GraderWeighting, JudgeIdentity,
    JudgingUsage, Outcome, Tokens, UnitInterval, Verdict, VerdictThresholds, Weight,
};
use assize_run::score_record;
use assize_store::{
    FORMAT_VERSION, JudgeInfo, QuestionRow, ResultRow, RunFolder, RunInfo, RunSettings, RunWriter, SuiteInfo,
    ToolCallRow,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) const TOKEN: &str = "token-of-a-test-1234";
pub(crate) const RUN: &str = "20260102-030405-support-aaaa";
pub(crate) const LATER: &str = "20260103-030405-support-bbbb";

/// An answer that tries everything: markup, scripts, terminal escape sequences, characters that reorder text.
pub(crate) const HOSTILE: &str = "</script><script>document.title='owned'</script>\n<img src=x onerror=alert(1)>\n\
                                  \u{1b}[31mred\u{1b}[0m \u{202e}evil {{ 7*7 }} \"'&amp;";

/// A server in its own folder.
pub(crate) struct ViewTest {
    folder: TempDir,
    address: Option<SocketAddr>,
    runtime: Runtime,
}

/// A reply of the server.
#[derive(Debug)]
pub(crate) struct WebReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl WebReply {
    /// Value of a header; empty if it is absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl ViewTest {
    /// A folder without runs.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let runtime = Runtime::new().expect("a runtime can be started");
        Self { folder, address: None, runtime }
    }

    /// A folder with two runs of the same cases, served.
    pub(crate) fn with_runs() -> Self {
        let mut test = Self::empty();
        test.write_run(RUN, Outcome::Unmet);
        test.write_run(LATER, Outcome::Met);
        test.serve();
        test
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run_folder(&self, id: &str) -> RunFolder {
        RunFolder::new(self.folder.path().join(".assize/runs").join(id))
    }

    /// Starts the server on a free port.
    pub(crate) fn serve(&mut self) {
        self.serve_with(ViewOptions::default());
    }

    /// Starts the server with these options and the token of the tests.
    pub(crate) fn serve_with(&mut self, options: ViewOptions) {
        let options = ViewOptions { port: Some(0), token: Some(TOKEN.to_owned()), ..options };
        let process = ProcessContext::new(self.folder.path().to_owned(), std::env::temp_dir(), || {
            jiff::Timestamp::UNIX_EPOCH
        });
        let server = self.runtime.block_on(ViewServer::bind(options, process)).expect("it can listen");
        self.address = Some(server.address());
        self.runtime.spawn(server.serve(std::future::pending()));
    }

    /// Runs a future while the server runs.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.expect("the server was started")
    }

    /// Name of the cookie that holds the token.
    pub(crate) fn cookie_name(&self) -> String {
        format!("assize_view_{}", self.address().port())
    }

    /// Requests a page like a browser with a valid cookie.
    pub(crate) fn get(&self, path: &str) -> WebReply {
        let cookie = format!("Cookie: other=1; {}={TOKEN}", self.cookie_name());
        self.request("GET", path, &[&format!("Host: {}", self.address()), &cookie])
    }

    /// Sends a request like a script of the pages, with this cookie.
    pub(crate) fn post(&self, token: &str, path: &str, body: &str) -> WebReply {
        let origin = format!("Origin: http://{}", self.address());
        self.post_with(token, path, body, &[&origin, "Sec-Fetch-Site: same-origin", "X-Assize-Page: 1"])
    }

    /// Sends a JSON body with this cookie and these headers.
    pub(crate) fn post_with(&self, token: &str, path: &str, body: &str, headers: &[&str]) -> WebReply {
        let address = self.address();
        let fixed = [
            format!("Host: {address}"),
            format!("Cookie: {}={token}", self.cookie_name()),
            "Content-Type: application/json".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        let headers: Vec<&str> = fixed.iter().map(String::as_str).chain(headers.iter().copied()).collect();
        self.send("POST", path, &headers, body)
    }

    /// Requests a page with the token of a reviewer.
    pub(crate) fn get_as(&self, token: &str, path: &str) -> WebReply {
        let cookie = format!("Cookie: {}={token}", self.cookie_name());
        self.request("GET", path, &[&format!("Host: {}", self.address()), &cookie])
    }

    /// Sends a request with these headers.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[&str]) -> WebReply {
        self.send(method, path, headers, "")
    }

    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> WebReply {
        let mut stream = TcpStream::connect(self.address()).expect("the server listens");
        let headers: Vec<String> = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let headers = headers.concat();
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}")
            .expect("it reads");

        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("it answers");
        let reply = String::from_utf8(reply).expect("replies are UTF-8");
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        WebReply { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Writes a finished run: a case that passes if `moved` is met, a hostile one that fails, and one without
    /// an answer.
    pub(crate) fn write_run(&self, id: &str, moved: Outcome) {
        let mut info = info(id);
        let mut writer = self.run_folder(id).create(&info).expect("the run can be made");
        record(&mut writer, "plain", "You get a full refund within 30 days.", moved);
        record(&mut writer, "<b>hostile</b>", HOSTILE, Outcome::Unmet);
        writer.record(&[], &failed_row("no-answer")).expect("a row can be written");

        info.finished_at = Some("2026-01-02T03:05:00Z".to_owned());
        writer.finish(&mut info).expect("the run can be ended");
    }
}

pub(crate) fn info(id: &str) -> RunInfo {
    RunInfo {
        format_version: FORMAT_VERSION,
        run_id: id.to_owned(),
        assize_version: "0.0.0".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        finished_at: None,
        command: "eval".to_owned(),
        label: None,
        suites: vec![SuiteInfo {
            name: "support".to_owned(),
            path: "support.yaml".to_owned(),
            format: Some(2),
            cases: 3,
            all_cases: None,
            derived_metrics: Vec::new(),
        }],
        inputs: Vec::new(),
        judges: vec![JudgeInfo {
            identity: JudgeIdentity { name: "offline".into(), ..JudgeIdentity::default() },
            chosen_by: "default".to_owned(),
        }],
        targets: Vec::new(),
        settings: RunSettings::default(),
        warnings: vec!["a <warning>".to_owned()],
        scorecard: None,
        shard: None,
        merged: None,
        rows: None,
        summary: None,
    }
}

/// Records a case with two criteria: one quotes the first words of the answer, the other quotes words that are
/// not in it.
pub(crate) fn record(writer: &mut RunWriter, id: &str, answer: &str, moved: Outcome) {
    let quote = answer.chars().take(12).collect();
    let required =
        Criterion { gate: Some(Gate::Met), ..Criterion::checklist("must", "Names <i>30 days</i>") };
    let heavy = Criterion {
        weight: Weight::new(2.0).expect("a weight"),
        ..Criterion::checklist("tone", "Apologises & explains")
    };
    let decisions = [
        decision(required, moved, EvidenceQuote { quote, verified: true }),
        decision(
            heavy,
            Outcome::Met,
            EvidenceQuote { quote: "nobody said <this>".to_owned(), verified: false },
        ),
    ];

    let hash = format!("hash of {id}");
    let row = ResultRow {
        answer: Some(answer.to_owned()),
        case_hash: Some(hash.clone()),
        tags: vec!["vip".to_owned()],
        file_changes: Some("diff --git a/x b/x\n+<added>\n".to_owned()),
        tool_calls: vec![ToolCallRow {
            tool: "Bash <b>hostile".to_owned(),
            input: Some("<img src=x>".to_owned()),
            output: Some("<this> is it".to_owned()),
            failed: Some(true),
            duration_ms: Some(20),
            cut: 7,
        }],
        tool_calls_dropped: 0,
        history: None,
        latency_ms: Some(1_840),
        ..empty_row(id)
    };
    let question = QuestionRow {
        case_hash: hash,
        question: Some(format!("What about {id}?")),
        expected_outcome: Some("A refund".to_owned()),
        reference: None,
    };
    writer.record_question(&question).expect("a question can be written");
    writer.record(&decisions, &score_record(&row, &decisions)).expect("a case can be written");
}

pub(crate) fn decision(criterion: Criterion, outcome: Outcome, quote: EvidenceQuote) -> CaseDecision {
    let judge = JudgeIdentity { name: "offline".into(), ..JudgeIdentity::default() };
    let finding = Finding::Criterion { criterion, outcome };
    let spent = JudgingUsage {
        attempts: 1,
        cost: Cost::UNKNOWN,
        replies: vec!["{\"raw\": \"<reply>\"}".to_owned()],
        ..JudgingUsage::default()
    };

    CaseDecision {
        thresholds: VerdictThresholds::new(UnitInterval::new(0.8).expect("in range"), None)
            .expect("in order"),
        grader: "rubrics".into(),
        weighting: GraderWeighting::default(),
        member: Vec::new(),
        turn: None,
        judging: None,
        decision: Decision {
            spent,
            evidence: vec![quote],
            ..Decision::new(judge, finding, "because <of> it".to_owned())
        },
        vote: None,
        panel: None,
    }
}

fn failed_row(id: &str) -> ResultRow {
    let error = serde_json::json!({ "stage": "target", "kind": "timeout", "message": "it took <too> long" });
    ResultRow {
        error: serde_json::from_value(error).expect("an error of a case"),
        verdict: Verdict::Incomplete,
        ..empty_row(id)
    }
}

pub(crate) fn empty_row(id: &str) -> ResultRow {
    ResultRow {
        format: Some(2),
        suite: "support".into(),
        case_id: id.into(),
        target: None,
        answered_by: None,
        trial: 1,
        place: None,
        trials: None,
        tags: Vec::new(),
        cluster: None,
        test: None,
        prompt: None,
        metrics: Vec::new(),
        case_hash: None,
        score: None,
        score_low: Some(0.0),
        score_high: Some(1.0),
        coverage: Some(0.0),
        verdict: Verdict::Incomplete,
        gates_failed: Vec::new(),
        graders: Vec::new(),
        answer: None,
        turns: Vec::new(),
        file_changes: None,
        tool_calls: Vec::new(),
        tool_calls_dropped: 0,
        history: None,
        error: None,
        tokens: Tokens::default(),
        cost_usd: None,
        cost_partial: None,
        latency_ms: None,
        duration_ms: 3,
    }
}
