//! Values of the environment in files: each key that can send one is tried against a server that records what arrives.
//! Without consent, no value arrives.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use assize_testkit::cli::CliTest;
use serde_json::{Value, json};

use crate::e2e::bench::{cli, holds, object};

/// The variable that the files name. Neither its name nor its value looks like a secret.
const VARIABLE: &str = "CANARY";
const CANARY: &str = "postgres-u-pw-4711-0815";

/// A server that keeps all that it gets, in lower case, and passes as a model.
struct Recorder {
    address: String,
    got: Arc<Mutex<String>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let got = Arc::<Mutex<String>>::default();
        let kept = Arc::clone(&got);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || answer(stream, &kept));
            }
        });
        Self { address, got }
    }

    fn has_canary(&self) -> bool {
        self.got.lock().expect("works").contains(CANARY)
    }

    fn count(&self) -> usize {
        self.got.lock().expect("works").matches("http/1.1\r\n").count()
    }
}

fn answer(mut stream: TcpStream, kept: &Mutex<String>) {
    let decision = r#"{"reason": "r", "evidence": [], "outcome": "met"}"#;
    let body = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": decision}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "model": "m",
    })
    .to_string();
    let mut pending = String::new();
    let mut buffer = vec![0; 65536];
    while let Ok(read) = stream.read(&mut buffer) {
        if read == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&buffer[..read]).to_lowercase();
        kept.lock().expect("works").push_str(&text);
        pending.push_str(&text);
        let Some((head, sent)) = pending.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        if sent.len() < length.map_or(0, |length| length.trim().parse().unwrap_or(0)) {
            continue;
        }
        pending.clear();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all((head + &body).as_bytes());
    }
}

/// A use of a key whose value leaves.
struct SendingForm {
    /// The key.
    key: &'static str,
    /// The eval file.
    text: &'static str,
    /// Another file, with its path.
    other: Option<(&'static str, &'static str)>,
    /// False if the value does not arrive with consent either, because its host does not exist or it is not shown.
    arrives: bool,
}

const fn form(key: &'static str, text: &'static str) -> SendingForm {
    SendingForm { key, text, other: None, arrives: true }
}

const fn with(key: &'static str, text: &'static str, path: &'static str, other: &'static str) -> SendingForm {
    SendingForm { key, text, other: Some((path, other)), arrives: true }
}

const JUDGE: &str = ".assize/targets.yaml";
const JUDGES: &str =
    "targets: [{name: j, provider: openai-compatible, model: m, base_url: SERVER/v1, api_key: own}]";

const FORMS: &[SendingForm] = &[
    // Matrix files: texts.
    form("prompts", "prompts: ['hi {{env.CANARY}}']\nHTTP\nCHECK"),
    form("prompts", "prompts: [\"hi {{ env['CANARY'] }}\"]\nHTTP\nCHECK"),
    form("prompts", "prompts: ['{{ env[\"CAN\" ~ \"ARY\"] }}']\nHTTP\nCHECK"),
    form("prompts", "prompts: ['{{ env.CANARY | upper }}']\nHTTP\nCHECK"),
    form("prompts", "prompts: ['{% set x = env.CANARY %}{{ x }}']\nHTTP\nCHECK"),
    form("prompts", "prompts: ['{% if env.CANARY %}{{env.CANARY}}{% endif %}']\nHTTP\nCHECK"),
    form("prompts", "prompts: ['[{\"role\": \"user\", \"content\": \"{{env.CANARY}}\"}]']\nHTTP\nCHECK"),
    with("prompts", "prompts: ['file://p.txt']\nHTTP\nCHECK", "p.txt", "hi {{env.CANARY}}"),
    form(
        "prefix",
        "prompts: [p]\nHTTP\ntests: [{options: {prefix: '{{env.CANARY}}'}, assert: [{type: contains, value: x}]}]",
    ),
    form(
        "vars",
        "prompts: ['{{x}}']\nHTTP\ntests: [{vars: {x: '{{env.CANARY}}'}, assert: [{type: contains, value: x}]}]",
    ),
    form(
        "vars",
        "prompts: ['{{x}}']\nHTTP\ntests: [{vars: {x: '{{ y }}', y: '{{env.CANARY}}'}, assert: [{type: contains, value: x}]}]",
    ),
    form(
        "vars",
        "prompts: ['{{x}}']\nHTTP\ntests: [{vars: {x: ['a', '{{env.CANARY}}']}, assert: [{type: contains, value: x}]}]",
    ),
    form("defaultTest", "prompts: ['{{x}}']\nHTTP\ndefaultTest: {vars: {x: '{{env.CANARY}}'}}\nCHECK"),
    form(
        "scenarios",
        "prompts: ['{{x}}']\nHTTP\nscenarios: [{config: [{vars: {x: '{{env.CANARY}}'}}], tests: [{assert: [{type: contains, value: x}]}]}]",
    ),
    with(
        "tests",
        "prompts: ['{{x}}']\nHTTP\ntests: t.csv",
        "t.csv",
        "x,__expected\n{{env.CANARY}},contains: x\n",
    ),
    with(
        "tests",
        "prompts: ['{{x}}']\nHTTP\ntests: file://t.yaml",
        "t.yaml",
        "- {vars: {x: '{{env.CANARY}}'}, assert: [{type: contains, value: x}]}",
    ),
    with(
        "tests",
        "prompts: ['{{x}}']\nHTTP\ntests: file://t.jsonl",
        "t.jsonl",
        "{\"vars\": {\"x\": \"{{env.CANARY}}\"}, \"assert\": [{\"type\": \"contains\", \"value\": \"x\"}]}\n",
    ),
    with(
        "vars",
        "prompts: ['{{x}}']\nHTTP\ntests: [{vars: {x: 'file://v.txt'}, assert: [{type: contains, value: x}]}]",
        "v.txt",
        "{{env.CANARY}}",
    ),
    form(
        "value",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: llm-rubric, value: 'good {{env.CANARY}}', provider: {id: 'openai:m', config: {apiKey: own, apiBaseUrl: SERVER/v1}}}]}]",
    ),
    // Matrix files: settings of providers.
    form("url", "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a?q={{env.CANARY}}'}}]\nCHECK"),
    form(
        "url",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/{{ env[\"CANARY\"] }}/{{env.CANARY}}'}}]\nCHECK",
    ),
    form("id", "prompts: [p]\nproviders: [{id: 'SERVER/{{env.CANARY}}', config: {method: POST}}]\nCHECK"),
    form(
        "headers",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a', headers: {A: 'b {{env.CANARY}}'}}}]\nCHECK",
    ),
    form(
        "body",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a', method: POST, body: {a: [{b: '{{env.CANARY}}'}]}}}]\nCHECK",
    ),
    form(
        "body",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a', method: POST, body: 'x {{env.CANARY}}'}}]\nCHECK",
    ),
    with(
        "body",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a', method: POST, body: 'file://b.json'}}]\nCHECK",
        "b.json",
        "{\"a\": \"{{env.CANARY}}\"}",
    ),
    form(
        "queryParams",
        "prompts: [p]\nproviders: [{id: http, config: {url: 'SERVER/a', queryParams: {q: '{{env.CANARY}}'}}}]\nCHECK",
    ),
    form(
        "request",
        "prompts: [p]\nproviders: [{id: http, config: {useHttps: false, request: \"POST /a HTTP/1.1\\nHost: HOST\\nA: {{env.CANARY}}\\n\\nx\"}}]\nCHECK",
    ),
    form(
        "apiKey",
        "prompts: [p]\nproviders: [{id: 'openai:m', config: {apiKey: '{{env.CANARY}}', apiBaseUrl: SERVER/v1}}]\nCHECK",
    ),
    form(
        "apiBaseUrl",
        "prompts: [p]\nproviders: [{id: 'openai:m', config: {apiKey: own, apiBaseUrl: 'SERVER/{{env.CANARY}}/v1'}}]\nCHECK",
    ),
    form(
        "provider",
        "prompts: [p]\nproviders: [echo]\ntests: [{options: {provider: {id: 'openai:m', config: {apiKey: '{{env.CANARY}}', apiBaseUrl: SERVER/v1}}}, assert: [{type: llm-rubric, value: good}]}]",
    ),
    form(
        "provider",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: llm-rubric, value: good, provider: {id: 'openai:m', config: {apiKey: '{{env.CANARY}}', apiBaseUrl: SERVER/v1}}}]}]",
    ),
    SendingForm {
        key: "url",
        text: "prompts: [p]\nproviders: [{id: http, config: {url: 'http://{{env.CANARY}}.invalid/a'}}]\nCHECK",
        other: None,
        arrives: false,
    },
    // Eval files: settings of targets.
    form(
        "api_key",
        "targets: [{name: t, provider: openai, model: m, base_url: SERVER/v1, api_key: '${{ CANARY }}'}]\nTARGET",
    ),
    form(
        "api_key",
        "targets: [{name: t, provider: openai-compatible, model: m, base_url: SERVER/v1, api_key: 'x${{ CANARY:-y }}'}]\nTARGET",
    ),
    form(
        "api_key",
        "targets: [{name: t, provider: anthropic, model: m, base_url: SERVER, api_key: '${{ CANARY }}'}]\nTARGET",
    ),
    form(
        "model",
        "targets: [{name: t, provider: openai, model: '${{ CANARY }}', base_url: SERVER/v1, api_key: own}]\nTARGET",
    ),
    form(
        "base_url",
        "targets: [{name: t, provider: openai, model: m, base_url: 'SERVER/${{ CANARY }}', api_key: own}]\nTARGET",
    ),
    form(
        "headers",
        "targets: [{name: t, provider: http, url: SERVER/a, headers: {A: '${{ CANARY }}'}}]\nTARGET",
    ),
    form(
        "env",
        "targets: [{name: t, provider: http, url: SERVER/a, headers: {A: '{{ env.X }}'}, env: {X: '${{ CANARY }}'}}]\nTARGET",
    ),
    form("query", "targets: [{name: t, provider: http, url: SERVER/a, query: {q: '${{ CANARY }}'}}]\nTARGET"),
    form("body", "targets: [{name: t, provider: http, url: SERVER/a, body: {q: '${{ CANARY }}'}}]\nTARGET"),
    form("url", "targets: [{name: t, provider: http, url: 'SERVER/${{ CANARY }}'}]\nTARGET"),
    form(
        "healthcheck",
        "targets: [{name: t, provider: mock, response: x, healthcheck: {url: 'SERVER/${{ CANARY }}'}}]\nTARGET",
    ),
    form(
        "fallback_targets",
        "targets: [{name: t, provider: mock, fail: down, fallback_targets: [u]}, {name: u, provider: http, url: SERVER/a, headers: {A: '${{ CANARY }}'}}]\nTARGET",
    ),
    with(
        "api_key",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: openai, model: m, base_url: SERVER/v1, api_key: '${{ CANARY }}'}]",
    ),
    with(
        "use_target",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: t, use_target: u}, {name: u, provider: http, url: SERVER/a, body: '${{ CANARY }}'}]",
    ),
    with(
        "api_key",
        "TARGET",
        ".agentv/targets.yaml",
        "targets: [{name: t, provider: openai, model: m, base_url: SERVER/v1, api_key: '${{ CANARY }}'}]",
    ),
    with(
        "judge",
        "execution: {judge: j}\nGIVEN",
        ".assize/targets.yaml",
        "targets: [{name: j, provider: openai, model: m, base_url: SERVER/v1, api_key: '${{ CANARY }}'}]",
    ),
    with(
        "judge",
        "GIVEN",
        ".assize/targets.yaml",
        "targets: [{name: j, provider: openai, model: '${{ CANARY }}', base_url: SERVER/v1, api_key: own}]",
    ),
    with(
        "grader_target",
        "execution: {target: t}\ntests: [{id: a, input: q, criteria: c, assertions: [good]}]",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: mock, response: x, grader_target: k}, {name: k, provider: openai, model: m, base_url: SERVER/v1, api_key: '${{ CANARY }}'}]",
    ),
    with(
        "response",
        "execution: {target: t}\ntests: [{id: a, input: q, criteria: c, assertions: [good]}]",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: mock, response: '${{ CANARY }}', grader_target: j}, {name: j, provider: openai-compatible, model: m, base_url: SERVER/v1, api_key: own}]",
    ),
    // Eval files: texts.
    form(
        "input",
        "targets: [{name: t, provider: http, url: SERVER/a, body: {q: '{{prompt}}'}}]\nexecution: {target: t}\ntests: [{id: a, input: 'q ${{ CANARY }}', assertions: [{type: contains, value: x}]}]",
    ),
    form(
        "input",
        "targets: [{name: t, provider: http, url: SERVER/a, body: {q: '{{messages}}'}}]\nexecution: {target: t}\ntests: [{id: a, input: [{role: user, content: 'q ${{ CANARY }}'}], assertions: [{type: contains, value: x}]}]",
    ),
    with(
        "criteria",
        "execution: {judge: j}\ntests: [{id: a, input: q, output: x, criteria: 'good ${{ CANARY }}', assertions: [good]}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "assertions",
        "execution: {judge: j}\ntests: [{id: a, input: q, output: x, assertions: ['is ${{ CANARY }}']}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "assertions",
        "execution: {judge: j}\nassertions: ['is ${{ CANARY }}']\ntests: [{id: a, input: q, output: x}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "execution",
        "execution: {judge: j, assertions: ['is ${{ CANARY }}']}\ntests: [{id: a, input: q, output: x}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "prompt",
        "execution: {judge: j}\ntests: [{id: a, input: q, output: x, assertions: [{type: llm-grader, prompt: 'is ${{ CANARY }} {{output}}'}]}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "expected_output",
        "execution: {judge: j}\ntests: [{id: a, input: q, output: x, expected_output: '${{ CANARY }}', assertions: [good]}]",
        JUDGE,
        JUDGES,
    ),
    with(
        "tests",
        "TWOJUDGES\ntests: c.yaml",
        "c.yaml",
        "- {id: a, input: q, output: x, assertions: ['is ${{ CANARY }}']}\n",
    ),
    with(
        "tests",
        "TWOJUDGES\ntests: c.jsonl",
        "c.jsonl",
        "{\"id\": \"a\", \"input\": \"q\", \"output\": \"x\", \"assertions\": [\"is ${{ CANARY }}\"]}\n",
    ),
    with(
        "include",
        "TWOJUDGES\ntests: [{id: a, input: q, output: x, assertions: [{include: own}]}]",
        ".assize/templates/own.yaml",
        "assertions: ['is ${{ CANARY }}']\n",
    ),
];

fn fixture(form: &SendingForm) -> (CliTest, Recorder) {
    let recorder = Recorder::start();
    let mut cli = cli();
    cli.without_consent();
    cli.env(VARIABLE, CANARY);
    let write = |path: &str, text: &str| {
        let judges = "targets: [{name: j, provider: openai-compatible, model: m, base_url: SERVER/v1, api_key: own}]\nexecution: {judge: j}";
        let text = text
            .replace("TWOJUDGES", judges)
            .replace("HTTP", "providers: [{id: http, config: {url: 'SERVER/a', method: POST, body: {q: '{{prompt}}'}}}]")
            .replace("POST /a providers: [{id: http, config: {url: 'SERVER/a', method: POST, body: {q: '{{prompt}}'}}}]/1.1", "POST /a HTTP/1.1")
            .replace("CHECK", "tests: [{assert: [{type: contains, value: x}]}]\n")
            .replace("TARGET", "execution: {target: t}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]\n")
            .replace("GIVEN", "tests: [{id: a, input: q, output: x, assertions: [good]}]\n")
            .replace("SERVER", &recorder.address)
            .replace("HOST", recorder.address.trim_start_matches("http://"));
        cli.file(path, text);
    };
    if let Some((path, text)) = form.other {
        write(path, text);
    }
    write("s.eval.yaml", form.text);
    (cli, recorder)
}

/// The arguments of a run of a form.
fn run_of<'a>(form: &SendingForm, more: &[&'a str]) -> Vec<&'a str> {
    // If the file names a judge, no other is needed.
    let mut words = vec!["eval", "s.eval.yaml", "--max-retries", "0"];
    match form.key {
        "judge" if !form.text.contains("judge: j") => words.extend(["--judge", "j"]),
        _ if form.text.contains("TARGET") || form.text.contains("HTTP") => {
            words.extend(["--judge", "offline"]);
        }
        _ => {}
    }
    words.extend(more);
    words
}

#[test]
fn no_value_of_the_environment_leaves_without_consent() {
    let mut failed = Vec::new();
    for form in FORMS {
        let (cli, recorder) = fixture(form);
        let mut note = |what: &str, output: &str| {
            failed.push(format!("{what}: {}: {}\n{output}", form.key, form.text));
        };

        let validated = cli.run(&["validate", "s.eval.yaml", "--json"]);
        let listed = object(&validated)["capabilities"]["variables"].to_string();
        // A judge that only an option names is not looked at.
        let is_optional = form.key == "judge" && !form.text.contains("judge: j");
        if !listed.contains(VARIABLE) && !is_optional {
            note("validate", &validated.stdout);
        }
        let planned = cli.run(&run_of(form, &["--dry-run"]));
        if !planned.stdout.contains(&format!("sends {VARIABLE} to ")) {
            note("dry run", &format!("{}{}", planned.stdout, planned.stderr));
        }
        // A project can't consent for itself.
        cli.file(".env", "ASSIZE_ALLOW_CODE=1\n");
        let refused = cli.run(&run_of(form, &["--run-dir", "none"]));
        let said = [VARIABLE, "--allow-code", "assize trust", "nothing was run"];
        if refused.code != Some(2)
            || !said.iter().all(|word| refused.stderr.contains(word))
            || cli.path("none").exists()
        {
            note("refused", &format!("{}{}", refused.stdout, refused.stderr));
        }
        let denied = cli.run(&run_of(form, &["--allow-code", "--deny", "exposed-keys"]));
        if denied.code != Some(2) || !denied.stderr.contains(VARIABLE) {
            note("denied", &denied.stderr);
        }
        if recorder.count() > 0 {
            note("something was sent", &recorder.got.lock().expect("works"));
        }

        let allowed = cli.run(&run_of(form, &["--allow-code", "--run-dir", "run"]));
        if recorder.has_canary() != form.arrives {
            note("allowed", &format!("{}{}", allowed.stdout, allowed.stderr));
        }
        // The name of a model is shown and stored.
        if form.text.contains("model: '${{ CANARY }}'")
            || form.other.is_some_and(|(_, text)| text.contains("model: '${{ CANARY }}'"))
        {
            continue;
        }
        for output in [validated, planned, refused, denied, allowed] {
            let text = format!("{}{}", output.stdout, output.stderr).to_lowercase();
            if text.contains(CANARY) {
                note("the value is shown", &text);
            }
        }
        if cli.path("run").exists() && holds(&cli.path("run"), CANARY) {
            note("the value is stored", "");
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), FORMS.len(), failed.join("\n"));
}

#[test]
fn no_client_of_mcp_can_consent() {
    let call = |number: u64, name: &str| {
        let arguments = match name {
            "plan" => json!({"paths": ["s.eval.yaml"]}),
            _ => json!({"paths": ["s.eval.yaml"], "budget_usd": 1}),
        };
        json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            .to_string()
    };
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut failed = Vec::new();
    for form in FORMS.iter().filter(|form| form.key != "judge") {
        let (cli, recorder) = fixture(form);
        let input = format!("{hello}\n{ready}\n{}\n{}\n", call(2, "plan"), call(3, "run_eval"));
        let output = cli.run_with_input(&["mcp", "--write"], &input);
        let ended = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ended = ended.filter(|reply| reply["id"] == 3).map(|reply| reply.to_string()).collect::<String>();
        if recorder.count() > 0 || !ended.contains(VARIABLE) || output.stdout.contains(CANARY) {
            failed.push(format!("{}: {}\n{}", form.key, form.text, output.stdout));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), FORMS.len(), failed.join("\n"));
}

#[test]
fn what_the_user_chose_needs_no_consent() {
    let recorder = Recorder::start();
    let mut cli = cli();
    cli.without_consent();
    let server = format!("{}/v1", recorder.address);
    cli.env(VARIABLE, CANARY).env("OPENAI_API_KEY", "own-key-0123456").env("OPENAI_BASE_URL", &server);
    cli.env("MY_SERVER", &server).env("MY_ORIGIN", &recorder.address).env("TARGET_NAME", "t");
    cli.env("COUNT", "1");
    let mut failed = Vec::new();
    for text in [
        // A key, a model, a number, for an address of the environment.
        "targets: [{name: t, provider: openai, model: '${{ CANARY }}', api_key: '${{ CANARY }}', max_output_tokens: '${{ COUNT }}'}]\nexecution: {target: t}",
        "targets: [{name: t, provider: openai, model: m, base_url: '${{ MY_SERVER }}', api_key: '${{ CANARY }}'}]\nexecution: {target: t}",
        // An address that goes to itself.
        "targets: [{name: t, provider: http, url: '${{ MY_ORIGIN }}/a'}]\nexecution: {target: t}",
        "targets: [{name: t, provider: http, url: '{{ env.O }}/a', env: {O: '${{ MY_ORIGIN }}'}}]\nexecution: {target: t}",
        "targets: [{name: t, provider: mock, response: x, healthcheck: {url: '${{ MY_ORIGIN }}/a'}}]\nexecution: {target: t}",
        // Settings that stay here, and the name of a target.
        "targets: [{name: t, provider: http, url: ADDRESS/a, workers: '${{ COUNT }}'}]\nexecution: {target: '${{ TARGET_NAME }}'}",
    ] {
        let text = text.replace("ADDRESS", &recorder.address);
        cli.file(
            "s.eval.yaml",
            format!("{text}\ntests: [{{id: a, input: q, assertions: [{{type: contains, value: x}}]}}]\n"),
        );
        let before = recorder.count();
        let output = cli.run(&["eval", "s.eval.yaml", "--max-retries", "0", "--no-cache"]);
        if recorder.count() == before {
            failed.push(format!("{text}\n{}{}", output.stdout, output.stderr));
        }
    }
    // A setting of a rubric.
    cli.file("r.yaml", "threshold: '${{ COUNT }}'\ncriteria: [good]\n")
        .file("a.jsonl", "{\"id\": \"a\", \"output\": \"x\"}\n");
    let output = cli.run(&["grade", "--answers", "a.jsonl", "r.yaml", "--judge", "openai:m"]);
    if output.code == Some(2) {
        failed.push(output.stderr);
    }
    // Texts that no model and no server gets.
    cli.file(
        "s.eval.yaml",
        "tests: [{id: a, input: '${{ CANARY }}', output: x, assertions: [{type: contains, value: x}]}]\n",
    );
    let output = cli.run(&["eval", "s.eval.yaml"]);
    if output.code != Some(0) {
        failed.push(output.stderr);
    }
    assert!(failed.is_empty(), "{}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn an_address_of_a_file_of_variables_is_one_of_the_project() {
    let recorder = Recorder::start();
    let mut cli = cli();
    cli.without_consent();
    cli.env(VARIABLE, CANARY);
    cli.file(".env", format!("MY_SERVER={0}/v1\nOPENAI_BASE_URL={0}/v1\n", recorder.address));
    for target in [
        "provider: openai, model: m, base_url: '${{ MY_SERVER }}', api_key: '${{ CANARY }}'",
        "provider: openai, model: '${{ CANARY }}', api_key: own-0123456789",
        "provider: http, url: '${{ MY_SERVER }}/a', headers: {A: '${{ CANARY }}'}",
    ] {
        cli.file(
            "s.eval.yaml",
            format!(
                "targets: [{{name: t, {target}}}]\nexecution: {{target: t}}\ntests: [{{id: a, input: q, assertions: [{{type: contains, value: x}}]}}]\n"
            ),
        );
        let refused = cli.run(&["eval", "s.eval.yaml"]).expect_code(2);
        assert!(refused.stderr.contains(VARIABLE), "{target}: {}", refused.stderr);
    }
    assert_eq!(recorder.count(), 0);
}

#[test]
fn all_values_and_programs_are_listed_in_one_error() {
    let (cli, recorder) = fixture(&form(
        "",
        "targets:\n- {name: t, provider: http, url: SERVER/a, headers: {A: '${{ CANARY }}'}}\n- {name: c, provider: cli, command: echo hi}\n\
         execution: {targets: [t, c]}\ntests:\n- id: a\n  input: q ${{ CANARY }}\n  assertions: [{type: contains, value: x}]\n",
    ));
    let refused = cli.run(&["eval", "s.eval.yaml"]).expect_code(2);
    let lines = [
        "  s.eval.yaml:3:10: target `c` (a command): `echo hi`".to_owned(),
        format!("  s.eval.yaml:2:73: sends CANARY to {} (target `t`)", recorder.address),
        format!("  s.eval.yaml:7:10: sends CANARY to {}", recorder.address),
    ];
    for line in &lines {
        assert!(
            refused.stderr.lines().any(|told| told.starts_with(line.as_str())),
            "{line}\n{}",
            refused.stderr
        );
    }
    let validated = cli.run(&["validate", "s.eval.yaml"]);
    for line in ["runs target `c`", "sends CANARY to"] {
        assert!(validated.stdout.contains(line), "{}", validated.stdout);
    }
}

#[test]
fn texts_for_a_model_that_lints_or_drafts_need_consent() {
    let recorder = Recorder::start();
    let mut cli = cli();
    cli.without_consent();
    cli.env(VARIABLE, CANARY).env("OPENAI_API_KEY", "own-key-0123456");
    cli.env("OPENAI_BASE_URL", format!("{}/v1", recorder.address));
    cli.file("s.eval.yaml", "tests: [{id: a, input: q, output: x, expected_output: y, criteria: 'good ${{ CANARY }}', assertions: ['is ${{ CANARY }}']}]\n");
    cli.file("d.eval.yaml", "tests: [{id: a, input: q, output: x, criteria: 'good ${{ CANARY }}'}]\n");
    cli.file("r.yaml", "criteria: ['is ${{ CANARY }}']\n");
    cli.file("a.jsonl", "{\"id\": \"a\", \"output\": \"x\"}\n");
    for command in [
        &["lint", "s.eval.yaml", "--judge", "openai:m"][..],
        &["generate", "rubrics", "d.eval.yaml", "--target", "openai:m"],
        &["grade", "--answers", "a.jsonl", "r.yaml", "--judge", "openai:m"],
        &["try", "--rubric", "r.yaml", "--answer", "x", "--judge", "openai:m"],
    ] {
        let refused = cli.run(command);
        assert!(
            refused.code == Some(2) && refused.stderr.contains(VARIABLE),
            "{command:?}: {}",
            refused.stderr
        );
    }
    assert_eq!(recorder.count(), 0);
}
