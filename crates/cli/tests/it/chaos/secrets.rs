//! The key under faults, and with servers that send it back: it must not appear in any output or file of the
//! program, in any spelling.

use std::path::{Path, PathBuf};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::chaos::kinds::{Kind, kinds};
use crate::chaos::storm::draw;
use crate::e2e::judge::JudgeRequest;

/// Contains characters whose spelling changes in URLs and Base64.
const KEY: &str = "sk-Qv7+Zr/9x~Tm2=Lw8?never&shown";

const CASES: usize = 60;
const SEED: u64 = 5;

/// The key, its beginning, and both in every spelling.
fn needles() -> Vec<String> {
    let mut needles = vec![KEY.to_owned(), KEY[..12].to_owned(), KEY[12..].to_owned()];
    // Any other twelve characters of the key must not appear either.
    needles.extend((0..KEY.len() - 11).map(|at| KEY[at..at + 12].to_owned()));
    let percent = |lower: bool| -> String {
        KEY.bytes()
            .map(|byte| match byte {
                byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte if lower => format!("%{byte:02x}"),
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    needles.extend([percent(false), percent(true), percent(false)[..18].to_owned()]);
    for before in ["", "x", "xx"] {
        let text = base64(&format!("{before}{KEY}"));
        // From the first character that belongs to the key alone, as many as encode twelve characters of it.
        let inner = text[before.len() * 4 / 3 + 1..][..14].to_owned();
        needles.extend([inner.replace('+', "-").replace('/', "_"), inner]);
    }
    needles
}

/// Base64 of a text without padding; written out here so that the test does not rely on the code under test.
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let number = (0..3).fold(0usize, |sum, at| (sum << 8) | usize::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..=chunk.len() {
            out.push(char::from(LETTERS[(number >> (18 - 6 * at)) & 63]));
        }
    }
    out
}

/// The key as JSON and HTML writers in other languages spell it, its last half, and the key split over two
/// lines.
fn escaped() -> String {
    let each: Vec<String> = KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let each = each.concat();
    let go = KEY.replace('&', "\\u0026");
    let php = KEY.replace('/', "\\/").replace('&', "\\u0026");
    let html = KEY.replace('&', "&amp;").replace('=', "&#x3D;");
    let (first, rest) = KEY.split_at(14);
    format!("{each} {go} {php} {html} (...{}) {first}\n    {rest}", &KEY[16..])
}

/// A text with JSON escapes undone, however many backslashes they have.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches('\\');
        if let Some(digits) = rest.strip_prefix('u').and_then(|rest| rest.get(..4))
            && let Some(c) = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
        {
            out.push(c);
            rest = &rest[5..];
        }
    }
    out.push_str(rest);
    out
}

/// Servers that echo the request in every part of a reply.
fn echoes(request: &JudgeRequest) -> Vec<MockReply> {
    let percent = KEY.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D").replace('?', "%3F");
    let percent = percent.replace('&', "%26");
    let all = format!(
        "Bearer {KEY} {} {} {percent} {} ({}...) {}",
        base64(KEY),
        base64(&format!("Bearer {KEY}")),
        percent.to_lowercase().replace("qv", "Qv"),
        &KEY[..12],
        escaped()
    );
    let error = json!({"error": {"message": format!("you sent {all}"), "code": all}}).to_string();
    let header = |name: &str| (name.to_owned(), format!("id {KEY} {}", base64(KEY)));
    let mut truthful = request.truthful();
    if let Some(entry) = truthful.get_mut("results").and_then(|results| results.get_mut(0)) {
        entry["reason"] = all.clone().into();
    } else {
        truthful["reason"] = all.clone().into();
        truthful["evidence"] = json!([all, "apples"]);
    }
    vec![
        MockReply::Status { code: 500, headers: vec![header("x-request-id")], body: error.clone() },
        MockReply::Status {
            code: 429,
            headers: vec![header("request-id"), ("retry-after-ms".into(), "1".into())],
            body: error.clone(),
        },
        MockReply::Status { code: 400, headers: vec![header("x-request-id")], body: error },
        MockReply::status(503, format!("<html>{all}</html>")),
        MockReply::status(401, format!("Incorrect API key provided: {all}")),
        MockReply::Raw(format!("you sent {all}")),
        MockReply::Raw(json!({"model": all, "echo": all}).to_string()),
        MockReply::text(format!("not JSON, but {all}")),
        MockReply::text(format!("{{\"evidence\": [], \"reason\": \"{all}\"")),
        MockReply::Json(
            json!({"outcome": all, "score": all, "evidence": [all], "reason": all, "results": [{"id": all}]}),
        ),
        MockReply::Refusal(format!("no, {all}")),
        MockReply::finish("length", all.clone()),
        MockReply::text(truthful.to_string().replace('/', "\\/").replace('&', "\\u0026")),
        MockReply::Json(truthful),
    ]
}

fn scripted(kinds: &[Kind], incoming: &MockRequest) -> MockReply {
    let Some(request) = JudgeRequest::of_text(&incoming.last_user_text) else {
        return MockReply::text("apples and pears");
    };
    let index = incoming.index.to_string();
    let echoes = echoes(&request);
    let fitting: Vec<&Kind> =
        kinds.iter().filter(|kind| kind.batched == request.batched && !kind.slow && !kind.waits).collect();
    match draw(SEED, &[&index]) % 10 {
        0..4 => MockReply::Json(request.truthful()),
        4..6 => {
            let kind = fitting[(draw(SEED, &[&index, "kind"]) % fitting.len() as u64) as usize];
            if kind.gap { MockReply::text("a gap") } else { (kind.fault)(&request) }
        }
        _ => echoes[(draw(SEED, &[&index, "echo"]) % echoes.len() as u64) as usize].clone(),
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    entries
        .map(|entry| entry.expect("the folder can be read").path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn no_artefact_of_a_chaos_run_holds_the_key_in_any_spelling() {
    let table = kinds();
    let server = MockServer::start(move |incoming: &MockRequest| scripted(&table, incoming));
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", KEY);
    // Variables that would increase logging, if there were any.
    for (name, value) in [("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full"), ("ASSIZE_LOG", "trace")] {
        cli.env(name, value);
    }
    let tests: Vec<Value> = (0..CASES)
        .map(|number| {
            let judging = if number % 2 == 0 { "per-criterion" } else { "batched" };
            let mut case = json!({
                "id": format!("case-{number}"), "criteria": "x", "input": "q",
                "assertions": [{"type": "rubrics", "judging": judging, "criteria": [
                    {"id": "a", "outcome": "Names `apples`"}, {"id": "z", "outcome": "Names `zebras`"},
                ]}],
            });
            if number % 3 > 0 {
                case["output"] = "apples and pears".into();
            }
            case
        })
        .collect();
    cli.file("s.yaml", json!({"name": "s", "tests": tests}).to_string());
    let mut said = String::new();
    for more in [
        &["--run-dir", "run"][..],
        &["--run-dir", "run", "--resume"],
        &["--json"],
        &["--no-cache", "--show", "all"],
    ] {
        let common = ["eval", "s.yaml", "--judge", "openai:m", "--target", "openai:t", "-j", "60"];
        let output = cli.run(&[&common[..], &["--judge-calls", "100"], more].concat());
        assert!(matches!(output.code, Some(1 | 3)), "{}", output.stderr);
        said.push_str(&output.stdout);
        said.push_str(&output.stderr);
    }
    for more in
        [&["explain", "run", "case-0"][..], &["explain", "run", "case-1", "--json"], &["cache", "stats"]]
    {
        let output = cli.run(more);
        said.push_str(&output.stdout);
        said.push_str(&output.stderr);
    }
    let sent = format!("Bearer {KEY}");
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some(sent.as_str())));
    // The rest of a request, without the header, goes into the cache keys.
    assert!(server.requests().iter().all(|request| !holds(&request.body, KEY)));

    let files = files(cli.dir());
    let database = files.iter().any(|path| path.ends_with(".assize/cache/replies.db"));
    assert!(database && files.iter().any(|path| path.ends_with("run/judgements.jsonl")));
    let masked = files.iter().any(|path| holds(&std::fs::read(path).unwrap_or_default(), "[redacted]"));
    assert!(masked, "the servers' echoes got as far as the files");
    let needles = needles();
    for path in &files {
        let bytes = std::fs::read(path).expect("it can be read");
        let plain = plain(&String::from_utf8_lossy(&bytes));
        for needle in &needles {
            let found = holds(&bytes, needle) || plain.contains(needle);
            assert!(!found, "{} holds {needle}", path.display());
        }
    }
    for needle in needles {
        assert!(!said.contains(&needle), "{needle} was printed:\n{said}");
    }
}
