//! What is sent has the types that the providers publish.

use std::io::Write as _;
use std::path::Path;

use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use assize_testkit::official_types::OfficialTypes;
use serde_json::{Value, json};

use crate::e2e::bench::{FORMATS, KEY, cli};

/// Formats whose providers publish types, and models of generations that get different settings.
const MODELS: [(usize, &[&str]); 7] = [
    (0, &["openai:gpt-4.1-mini", "openai:gpt-6.2", "openai:o4-mini"]),
    (1, &["openai-responses:gpt-4.1-mini", "openai-responses:gpt-6.2"]),
    (2, &["azure:my-deployment"]),
    (3, &["anthropic:claude-haiku-4-5", "anthropic:claude-opus-5-5"]),
    (4, &["gemini:gemini-2.5-flash", "gemini:gemini-3-pro"]),
    (6, &["bedrock:eu.anthropic.claude-opus-5-5-v1:0", "bedrock:amazon.nova-pro-v1:0"]),
    (7, &["vertex:gemini-3-pro"]),
];

/// Settings that change the request body.
const OPTIONS: [&[&str]; 4] =
    [&[], &["--judge-repeats", "2"], &["--max-output-tokens", "300"], &["--budget-usd", "5"]];

#[test]
fn requests_have_the_types_of_the_official_packages() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("official-types");
    let types = match OfficialTypes::install(&folder) {
        Ok(types) => types,
        Err(why) => {
            // Bypasses the test harness, which captures output: the summary counts these lines.
            let line = format!("\nSKIPPED 1 test, requests_have_the_types_of_the_official_packages: {why}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            return;
        }
    };

    let mut sent = Vec::new();
    for (format, models) in MODELS {
        let (_, key, address) = FORMATS[format];
        for model in models {
            let server = MockServer::start(|_: &MockRequest| {
                MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }))
            });
            let mut cli = cli();
            cli.env(key, KEY).env(address, server.base_url());
            cli.file(
                "s.yaml",
                "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: An answer\n  assertions:\n  \
                 - Is short\n  - Is polite\n- id: two\n  criteria: x\n  input: q\n  output: Another\n  \
                 assertions:\n  - Is long\n",
            );
            for options in OPTIONS {
                let run = [&["eval", "s.yaml", "--judge", model, "--no-cache", "--quiet"], options].concat();
                // A budget needs the price of the model, which may be unknown here.
                cli.run(&run);
            }
            let requests = server.requests();
            assert!(requests.len() >= 9, "{model}: {} requests", requests.len());
            sent.extend(requests);
        }
    }

    let counts = types.check(&sent);
    let total: u64 = counts.as_object().expect("numbers").values().filter_map(Value::as_u64).sum();
    assert_eq!(
        (total, counts.as_object().map(serde_json::Map::len)),
        (sent.len() as u64, Some(5)),
        "{counts}"
    );
}
