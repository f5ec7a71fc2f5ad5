//! `doctor`: which judges are usable.

use std::collections::BTreeMap;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};
use serde_json::{Value, json};

use crate::e2e::bench::{FORMATS, KEY, cli, object, one_case};

/// The line of `doctor` about each judge.
fn judges(cli: &CliTest, more: &[&str]) -> BTreeMap<String, Value> {
    let output = cli.run(&[&["doctor", "--json"], more].concat()).expect_code(0);
    assert!(
        !output.stdout.contains(KEY) && !output.stderr.contains(KEY),
        "{}{}",
        output.stdout,
        output.stderr
    );
    let list = object(&output)["judges"].as_array().expect("a list").clone();
    list.into_iter().map(|judge| (judge["judge"].as_str().expect("a name").to_owned(), judge)).collect()
}

/// The line of `doctor` about this judge with these variables: whether it is usable, and why.
fn said(judge: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut cli = cli();
    for (name, value) in variables {
        cli.env(*name, *value);
    }
    let judge = judges(&cli, &[])[judge].clone();
    (judge["usable"] == true, judge["about"].as_str().expect("words").to_owned())
}

#[test]
fn what_is_set_up_is_usable_and_the_rest_says_what_it_lacks() {
    let server = MockServer::start(always(MockReply::text("never asked")));
    let mut cli = cli();
    cli.env("ANTHROPIC_API_KEY", KEY).env("VLLM_BASE_URL", server.base_url());
    let output = cli.run(&["doctor", "--json"]).expect_code(0);
    let value = object(&output);
    let judge = |name: &str| {
        let list = value["judges"].as_array().expect("a list");
        list.iter().find(|judge| judge["judge"] == name).expect("listed").clone()
    };
    for name in ["offline", "anthropic", "vllm"] {
        assert_eq!(judge(name)["usable"], true, "{}", judge(name));
    }
    assert_eq!(judge("gemini")["usable"], false);
    assert!(judge("gemini")["about"].as_str().is_some_and(|about| about.contains("GEMINI_API_KEY")));
    assert!(!output.stdout.contains(KEY) && !output.stderr.contains(KEY));
    let asked = server.requests();
    assert!(
        asked.iter().all(|one| one.path.ends_with("/models")),
        "a server on this machine lists its models"
    );
}

#[test]
fn a_judge_with_variables_of_its_own_has_a_line_of_its_own() {
    let server = MockServer::start(always(MockReply::text("never asked")));
    let address = server.base_url();
    let (address, model) = (address.as_str(), ("JUDGE_MODEL", "Qwen/Qwen3-32B"));
    let (usable, about) = said("JUDGE_MODEL", &[model, ("JUDGE_BASE_URL", address), ("JUDGE_API_KEY", KEY)]);
    assert!(usable && about.starts_with("Qwen/Qwen3-32B, key in JUDGE_API_KEY, at 127.0.0.1:"), "{about}");
    for (variables, words) in [
        (
            vec![model, ("JUDGE_BASE_URL", "https://judge.example.com")],
            "set JUDGE_API_KEY to use judge.example.com",
        ),
        (vec![model, ("JUDGE_BASE_URL", "nowhere")], "JUDGE_BASE_URL is not an address"),
        (vec![("JUDGE_API_KEY", KEY)], "set it to the model that JUDGE_API_KEY is meant for"),
    ] {
        let (usable, about) = said("JUDGE_MODEL", &variables);
        assert!(!usable && about.contains(words), "{about}");
    }
    // With the variables of its provider, it is listed under that provider.
    let mut cli = cli();
    cli.env("JUDGE_MODEL", "openai:m").env("OPENAI_API_KEY", KEY);
    assert!(!judges(&cli, &[]).contains_key("JUDGE_MODEL"));
    assert_eq!(server.count(), 0, "nothing is sent");
    let refusing = MockServer::start(always(MockReply::status(401, r#"{"error":{"message":"wrong key"}}"#)));
    cli.env("JUDGE_MODEL", "m").env("JUDGE_BASE_URL", refusing.base_url()).env("JUDGE_API_KEY", KEY);
    let judge = judges(&cli, &["--check"])["JUDGE_MODEL"].clone();
    assert_eq!((&judge["usable"], &judge["checked"]), (&json!(false), &json!(false)), "{judge}");
}

#[test]
fn the_table_hides_what_nobody_set_up() {
    let short = cli().run(&["doctor"]).expect_code(0).stdout;
    assert!(short.contains("usable  offline") && !short.contains("GROQ_API_KEY"), "{short}");
    let long = cli().run(&["doctor", "--all"]).expect_code(0).stdout;
    assert!(long.contains("GROQ_API_KEY"), "{long}");
}

#[test]
fn every_setting_that_can_not_work_is_named() {
    let azure = ("AZURE_OPENAI_API_KEY", KEY);
    let endpoint = ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com");
    let quoted = format!("\"{KEY}\"");
    let with_key = format!("https://example.com/{KEY}/v1");
    for (judge, variables, words) in [
        ("openai", &[][..], "set OPENAI_API_KEY to use api.openai.com"),
        ("openai", &[("OPENAI_API_KEY", "  ")], "set OPENAI_API_KEY to use api.openai.com"),
        (
            "openai",
            &[("OPENAI_API_KEY", &quoted)],
            "OPENAI_API_KEY does not hold a key as it is: it is in quotation",
        ),
        ("openai", &[("OPENAI_API_KEY", "Bearer abc")], "begins with `Bearer`"),
        ("openai", &[("OPENAI_API_KEY", "two words")], "white space"),
        ("openai", &[("OPENAI_API_KEY", "k\u{1}")], "characters that an HTTP header may not have"),
        (
            "openai",
            &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "localhost:8000/v1")],
            "OPENAI_BASE_URL is not an address",
        ),
        ("openai", &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "ftp://h/v1")], "http:// or https://"),
        ("openai", &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &with_key)], "it holds the API key"),
        ("azure", &[], "set AZURE_OPENAI_API_KEY or AZURE_API_KEY and AZURE_OPENAI_ENDPOINT"),
        ("azure", &[azure], "set AZURE_OPENAI_ENDPOINT"),
        ("azure", &[endpoint], "set AZURE_OPENAI_API_KEY or AZURE_API_KEY to use r.openai.azure.com"),
        (
            "azure",
            &[azure, endpoint, ("OPENAI_API_VERSION", KEY)],
            "OPENAI_API_VERSION is not an API version",
        ),
        ("bedrock", &[], "set AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID and AWS_REGION"),
        (
            "bedrock",
            &[("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_REGION", "eu-west-1")],
            "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not",
        ),
        ("bedrock", &[("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", KEY)], "set AWS_REGION"),
        (
            "bedrock",
            &[("AWS_PROFILE", "work"), ("AWS_REGION", "eu-west-1")],
            "the profile `work`, which is in neither file",
        ),
        ("bedrock", &[("AWS_BEARER_TOKEN_BEDROCK", KEY)], "set AWS_REGION"),
        (
            "bedrock",
            &[("AWS_BEARER_TOKEN_BEDROCK", KEY), ("AWS_REGION", "x.evil/")],
            "AWS_REGION is not the name",
        ),
        (
            "vertex",
            &[("GOOGLE_APPLICATION_CREDENTIALS", "k.json"), ("GOOGLE_CLOUD_PROJECT", "p")],
            "print-access-token",
        ),
        ("ollama", &[("OLLAMA_HOST", "127.0.0.1:9")], "no server responds at 127.0.0.1:9"),
        ("gemini", &[], "set GEMINI_API_KEY or GOOGLE_API_KEY"),
    ] {
        let (usable, about) = said(judge, variables);
        assert!(!usable && about.contains(words), "{judge} {variables:?}: {about}");
    }
}

#[test]
fn spellings_that_people_use_are_understood() {
    for (judge, variables, host) in [
        (
            "openai",
            &[("OPENAI_API_KEY", KEY), ("OPENAI_API_BASE", "https://gate.example.com/v1")][..],
            "gate.example.com",
        ),
        (
            "openai",
            &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "https://api.openai.com")],
            "api.openai.com",
        ),
        (
            "azure",
            &[("AZURE_API_KEY", KEY), ("AZURE_API_BASE", "https://r.openai.azure.com")],
            "r.openai.azure.com",
        ),
        (
            "anthropic",
            &[("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", "https://h.example.com/v1/")],
            "h.example.com",
        ),
        ("gemini", &[("GOOGLE_API_KEY", KEY)], "generativelanguage.googleapis.com"),
        (
            "bedrock",
            &[("AWS_BEARER_TOKEN_BEDROCK", KEY), ("AWS_DEFAULT_REGION", "us-east-1")],
            "us-east-1.amazonaws.com",
        ),
        (
            "bedrock",
            &[("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", KEY), ("AWS_REGION", "eu-west-1")],
            "key in AWS_SECRET_ACCESS_KEY, at bedrock-runtime.eu-west-1.amazonaws.com",
        ),
        (
            "vertex",
            &[("VERTEX_ACCESS_TOKEN", KEY), ("GOOGLE_CLOUD_PROJECT", "p")],
            "aiplatform.googleapis.com",
        ),
    ] {
        let (usable, about) = said(judge, variables);
        assert!(usable && about.contains(host), "{judge} {variables:?}: {about}");
    }
}

#[test]
fn a_check_finds_out_whether_the_key_is_taken() {
    for (model, key, address) in FORMATS {
        let provider = model.split_once(':').expect("provider:model").0;
        let asked_for_free = !["bedrock", "vertex"].contains(&provider);
        let server = MockServer::start(|incoming: &MockRequest| {
            let sent = incoming.headers.iter().any(|(_, value)| value.contains(KEY));
            if sent {
                MockReply::text("judge-1")
            } else {
                MockReply::status(401, r#"{"error":{"message":"Who are you?"}}"#)
            }
        });
        let mut cli = cli();
        cli.env(key, KEY).env(address, server.base_url());
        assert_eq!(
            judges(&cli, &[])[provider]["checked"],
            Value::Null,
            "{provider}: nothing is sent without --check"
        );
        assert_eq!(server.count(), 0);
        let judge = judges(&cli, &["--check"])[provider].clone();
        assert_eq!((judge["usable"] == true, judge["checked"] == true), (true, asked_for_free), "{judge}");

        cli.env(key, "sk-another-key-0123456789");
        let judge = judges(&cli, &["--check"])[provider].clone();
        assert_eq!(judge["usable"] == true, !asked_for_free, "{judge}");
        if asked_for_free {
            let about = judge["about"].as_str().expect("words");
            assert!(
                about.contains("Who are you?") && about.contains("did not accept the API key"),
                "{about}"
            );
            assert_eq!(judge["checked"], false);
        } else {
            assert_eq!(server.count(), 0);
        }
    }
}

#[test]
fn a_check_says_what_is_no_model_server_and_shows_no_key() {
    for (reply, usable, words) in [
        (
            MockReply::Raw("<html><body>Please log in</body></html>".into()),
            false,
            "not a model API: an HTML page: Please log in",
        ),
        (
            MockReply::status(403, format!(r#"{{"error":{{"message":"{KEY} may not"}}}}"#)),
            false,
            "[redacted] may not",
        ),
        (MockReply::status(404, ""), true, "not checked: it has no list of models (HTTP 404)"),
        (
            MockReply::status(503, r#"{"error":{"message":"later"}}"#),
            true,
            "not checked: the model server is overloaded",
        ),
        (
            MockReply::RateLimited { retry_after: None },
            true,
            "not checked: the model server is limiting requests",
        ),
    ] {
        let server = MockServer::start(always(reply));
        let mut cli = cli();
        cli.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
        let judge = judges(&cli, &["--check"])["openai"].clone();
        assert_eq!(judge["usable"], usable, "{judge}");
        assert!(judge["about"].as_str().is_some_and(|about| about.contains(words)), "{judge}");
    }
}

#[test]
fn requests_to_other_machines_go_through_the_proxy_that_the_variables_name() {
    let proxy = MockServer::start(|_: &MockRequest| {
        MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }))
    });
    let address = proxy.base_url();
    let address = address.trim_end_matches("/v1");
    // In the environment, and in the file next to the key.
    for (variable, env_file) in
        [(Some("ALL_PROXY"), String::new()), (None, format!("HTTP_PROXY={address}\nOPENAI_API_KEY={KEY}\n"))]
    {
        let mut cli = cli();
        cli.env("OPENAI_BASE_URL", "http://judge.invalid/v1");
        if let Some(variable) = variable {
            cli.env(variable, address).env("OPENAI_API_KEY", KEY);
        }
        cli.file(".env", env_file).file("s.yaml", one_case("an answer", &["Is good"]));
        cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--quiet"]).expect_code(0);
        assert_eq!(proxy.requests().pop().expect("a request").header("host"), Some("judge.invalid"));
        assert_eq!(judges(&cli, &["--check"])["openai"]["checked"], true, "a check goes the same way");
    }
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", "http://judge.invalid/v1");
    cli.env("ALL_PROXY", "socks5://user:geheim@p:1").file("s.yaml", one_case("an answer", &["Is good"]));
    let said = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(3);
    let said = said.stdout + &said.stderr;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("ALL_PROXY names no usable proxy") && !words.contains("geheim"), "{said}");
    let said = cli.run(&["doctor"]).expect_code(0).stdout;
    assert!(said.contains("Requests to other machines will fail") && !said.contains("geheim"), "{said}");
}

#[test]
fn a_proxy_is_mentioned_without_its_address() {
    let mut cli = cli();
    cli.env("HTTPS_PROXY", "http://user:geheim@proxy.example.com:3128");
    let said = cli.run(&["doctor"]).expect_code(0).stdout;
    assert!(said.contains("go through a proxy: HTTPS_PROXY is set") && !said.contains("geheim"), "{said}");
    assert_eq!(object(&cli.run(&["doctor", "--json"]))["proxies"], serde_json::json!(["HTTPS_PROXY"]));
}
