//! Models on this machine: the ones that `doctor` and `init` find, and a run with llama.cpp's own server.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use assize_testkit::llama::{LlamaServer, MODEL};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};
use serde_json::{Value, json};

use crate::e2e::bench::{cli, lines, object};

/// Starts the server; if it can't start, prints that the test is skipped.
fn llama(test: &str) -> Option<LlamaServer> {
    match LlamaServer::start(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("llama")) {
        Ok(server) => Some(server),
        Err(why) => {
            // Bypasses the test harness, which captures output: the summary counts these lines.
            let line = format!("\nSKIPPED 1 test, {test}: {why}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            None
        }
    }
}

#[test]
fn a_real_local_model_judges_without_a_flag() {
    let Some(server) = llama("a_real_local_model_judges_without_a_flag") else { return };
    let mut cli = cli();
    // Seconds on a machine that has a thread to spare.
    cli.env("LLAMACPP_BASE_URL", server.base_url()).time_limit(Duration::from_mins(10));
    let found = cli.run(&["doctor"]).expect_code(0).stdout;
    let judge = format!("llamacpp:{MODEL}");
    assert!(found.contains(&format!("--judge {judge}")), "{found}");

    cli.file(
        "rubric.yaml",
        "name: desk\ncriteria:\n  - Says when it opens\n  - Is polite\n  - Names a price\n",
    );
    cli.file("answers.csv", "id,answer\none,\"We open at 9, thank you.\"\ntwo,It costs 12 euros.\n");
    let output =
        cli.run(&["grade", "rubric.yaml", "--answers", "answers.csv", "--judge", &judge, "--run-dir", "r"]);
    assert!(output.code.is_some_and(|code| [0, 1, 3].contains(&code)), "{}{}", output.stdout, output.stderr);
    assert!(!output.stderr.contains("timed out"), "{}", output.stderr);

    let judgements = lines(&cli.read("r/judgements.jsonl"));
    assert_eq!(judgements.len(), 6, "{}", output.stderr);
    for one in &judgements {
        assert_ne!(one["outcome"].is_null(), one["ungraded"].is_null(), "decided, or a reason: {one}");
        let why = one["ungraded"].to_string();
        assert!(!why.contains("timeout") && !why.contains("cancel"), "{one}");
        assert!(one["tokens"]["output"].as_u64().is_some_and(|tokens| tokens > 0), "{one}");
    }
}

/// Servers as they list their models, and the judge that is offered.
#[test]
fn servers_on_this_machine_are_found_with_a_model_that_can_judge() {
    let ollama = json!({ "models": [
        { "name": "nomic-embed-text:latest", "details": { "family": "nomic-bert" } },
        { "name": "qwen3:8b", "details": { "family": "qwen3" } },
    ]});
    let list = |names: &[&str]| {
        let data: Vec<Value> = names.iter().map(|name| json!({ "id": name, "object": "model" })).collect();
        json!({ "object": "list", "data": data })
    };
    for (provider, variable, listed, judge) in [
        ("ollama", "OLLAMA_HOST", ollama, Some("ollama:qwen3:8b")),
        ("llamacpp", "LLAMACPP_BASE_URL", list(&["/m/a b.gguf"]), Some("llamacpp:/m/a b.gguf")),
        ("vllm", "VLLM_BASE_URL", list(&["BAAI/bge-m3", "Qwen/Qwen3-8B"]), Some("vllm:Qwen/Qwen3-8B")),
        ("lmstudio", "LMSTUDIO_BASE_URL", list(&["text-embedding-nomic"]), None),
    ] {
        let server = MockServer::start(always(MockReply::Raw(listed.to_string())));
        let mut cli = cli();
        // The other servers of this machine are none of this test's.
        for other in ["OLLAMA_HOST", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "LMSTUDIO_BASE_URL"] {
            cli.env(other, "http://127.0.0.1:9/v1");
        }
        cli.env(variable, server.base_url());

        let doctor = cli.run(&["doctor", "--json"]).expect_code(0);
        let list = object(&doctor)["judges"].as_array().expect("a list").clone();
        let found = list.iter().find(|one| one["judge"] == provider).expect("listed");
        assert_eq!(found["model"], json!(judge), "{found}");

        cli.run(&["init", "p", "--yes"]).expect_code(0);
        let config = cli.read("p/.assize/config.yaml");
        assert_eq!(config.contains(provider), judge.is_some(), "{config}");
        if let Some(judge) = judge {
            assert!(config.contains(&format!("`judge: {judge}`")), "{config}");
        }
    }
}

#[test]
fn what_answers_on_this_machine_and_is_no_model_server_is_not_offered() {
    let server = MockServer::start(|_: &MockRequest| MockReply::Raw("<html>Hello</html>".into()));
    let mut cli = cli();
    cli.env("LLAMACPP_BASE_URL", server.base_url());
    let said = cli.run(&["doctor"]).expect_code(0).stdout;
    assert!(said.contains("not a model API") && !said.contains("--judge llamacpp"), "{said}");
    cli.run(&["init", "p", "--yes"]).expect_code(0);
    assert!(!cli.read("p/.assize/config.yaml").contains("llamacpp"));
}

#[test]
fn providers_that_only_compute_vectors_are_not_offered_as_judges() {
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", "sk-test-0123456789").env("VOYAGE_API_KEY", "sk-test-0123456789");
    let said = cli.run(&["doctor"]).expect_code(0).stdout;
    let of = |name: &str| said.lines().find(|line| line.contains(name)).expect("listed").to_owned();
    assert!(
        of("voyage-embeddings").contains("can't judge") && of("openai-embeddings").contains("can't judge"),
        "{said}"
    );
    cli.run(&["init", "p", "--yes"]).expect_code(0);
    let config = cli.read("p/.assize/config.yaml");
    assert!(config.contains("`judge: openai:MODEL`") && !config.contains("embeddings"), "{config}");
}
