//! Assertions about labels that a service assigns to an answer, and about a target's guardrails and spans.

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{KEY, cli, rows, with_server};

/// A service that flags `hate` if a text contains `hate`, gives the class `nice` the score 3/4 or 1, finds a
/// name at a capital letter, and fails for `broken`.
fn service(incoming: &MockRequest) -> MockReply {
    let text = &incoming.last_user_text;
    if text.contains("broken") {
        return MockReply::Status { code: 400, headers: Vec::new(), body: "no".to_owned() };
    }
    let hates = text.contains("hate");
    let answer = if incoming.path.ends_with("/moderations") {
        json!({"model": "omni", "results": [{
            "flagged": hates, "categories": {"hate": hates, "violence": false},
            "category_scores": {"hate": if hates { 0.9 } else { 0.1 }, "violence": 0.1},
        }]})
    } else if incoming.model.ends_with("names") {
        let has_name = text.contains(char::is_uppercase);
        json!(if has_name { vec![json!({"entity_group": "NAME", "score": 0.75})] } else { Vec::new() })
    } else {
        let nice = if hates { 0.25 } else { 0.75 };
        json!([[{"label": "nice", "score": nice}, {"label": "rude", "score": 1.0 - nice}]])
    };
    MockReply::text(answer.to_string())
}

fn verdicts(rows: &[Value]) -> Vec<(&str, Option<f64>)> {
    rows.iter()
        .map(|row| (row["verdict"].as_str().unwrap_or_default(), row["graders"][0]["score"].as_f64()))
        .collect()
}

#[test]
fn labels_of_services_decide_and_what_they_do_not_tell_is_ungraded() {
    let (mut cli, server) = with_server(service);
    cli.env("HF_TOKEN", KEY);
    cli.env("HUGGINGFACE_INFERENCE_URL", server.base_url().replace("/v1", "/hf-inference"));
    cli.file(
        "p.yaml",
        "prompts: ['{{ text }}']\nproviders: [echo]\n\
         defaultTest: {options: {provider: {classification: 'huggingface:text-classification:a/tone'}}}\ntests:\n\
         - {vars: {text: tea}, assert: [{type: moderation}]}\n\
         - {vars: {text: i hate}, assert: [{type: moderation}]}\n\
         - {vars: {text: i hate}, assert: [{type: moderation, value: [violence]}]}\n\
         - {vars: {text: i hate}, assert: [{type: moderation, value: [self-harm]}]}\n\
         - {vars: {text: broken}, assert: [{type: moderation, provider: 'openai:moderation:mine'}]}\n\
         - {vars: {text: tea}, assert: [{type: classifier, value: nice, threshold: 0.75}]}\n\
         - {vars: {text: tea}, assert: [{type: not-classifier, value: nice, threshold: 0.75}]}\n\
         - {vars: {text: tea}, assert: [{type: classifier, value: unknown}]}\n\
         - {vars: {text: tea}, assert: [{type: not-classifier, threshold: 0.5, provider: 'huggingface:token-classification:a/names'}]}\n\
         - {vars: {text: I am Ann}, assert: [{type: not-classifier, threshold: 0.5, provider: 'huggingface:token-classification:a/names'}]}\n",
    );
    cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(1);
    let mut found = rows(&cli, "run");
    found.sort_by_key(|row| row["place"].as_u64());
    let expected = [
        ("pass", Some(1.0)),
        ("fail", Some(0.0)),
        ("pass", Some(1.0)),
        ("incomplete", None),
        ("incomplete", None),
        ("pass", Some(0.75)),
        ("fail", Some(0.25)),
        ("incomplete", None),
        ("pass", Some(1.0)),
        ("fail", Some(0.25)),
    ];
    assert_eq!(verdicts(&found), expected, "{found:#?}");
    let reason = |at: usize| found[at]["graders"][0]["criteria"][0]["reason"].to_string();
    assert!(reason(1).contains("flagged: `hate` (0.900)"), "{}", reason(1));

    // One request for each text and model.
    let asked = |end: &str| server.requests().iter().filter(|request| request.path.ends_with(end)).count();
    assert_eq!((asked("/moderations"), asked("/models/a/tone"), asked("/models/a/names")), (3, 1, 2));

    cli.file(
        "none.yaml",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: classifier, value: nice}]}]\n",
    );
    let refused = cli.run(&["validate", "none.yaml"]).expect_code(2);
    assert!(refused.stdout.contains("huggingface:text-classification:OWNER/MODEL"), "{}", refused.stdout);
}

/// A moderation without a key is refused before any request.
#[test]
fn a_service_without_a_key_is_named_before_the_run() {
    let cli = cli();
    cli.file("p.yaml", "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: moderation}]}]\n");
    let refused = cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(2);
    assert!(refused.stderr.contains("OPENAI_API_KEY"), "{}", refused.stderr);
    assert!(!cli.path("run").exists());
}

const SPANS: &str = r#"[
    {"name": "agent run", "startTimeUnixNano": "1000000000", "endTimeUnixNano": "1900000000"},
    {"name": "search one", "startTimeUnixNano": "1000000000", "endTimeUnixNano": "1100000000", "status": {"code": 2, "message": "gone"}},
    {"name": "search two", "startTimeUnixNano": "1200000000", "endTimeUnixNano": "1500000000",
     "attributes": [{"key": "http.status_code", "value": {"intValue": "200"}}]},
    {"name": "open"}
]"#;

#[test]
fn spans_and_guardrails_that_come_with_an_answer_are_graded() {
    let cli = cli();
    let answer = format!(
        "import json\nSPANS = json.loads('''{SPANS}''')\n\ndef call_api(prompt, options, context):\n    \
         if 'plain' in prompt:\n        return {{'output': 'done'}}\n    \
         guard = {{'flagged': 'bad' in prompt, 'flaggedInput': True}}\n    \
         return {{'output': 'done', 'guardrails': guard, 'trace': {{'resourceSpans': [{{'scopeSpans': [{{'spans': SPANS}}]}}]}}}}\n"
    );
    cli.file("agent.py", answer);
    let assertions = [
        ("good", "{type: trace-span-count, value: {pattern: 'SEARCH *', min: 2, max: 2}}", "pass"),
        ("good", "{type: trace-span-count, value: {pattern: 'search ?wo', min: 2}}", "fail"),
        ("good", "{type: trace-span-count, value: {pattern: 'sear.h*', min: 1}}", "fail"),
        ("good", "{type: trace-span-duration, value: {max: 900}}", "pass"),
        ("good", "{type: trace-span-duration, value: {max: 899}}", "fail"),
        ("good", "{type: trace-span-duration, value: {max: 300, percentile: 50}}", "pass"),
        ("good", "{type: trace-span-duration, value: {max: 200, pattern: 'search*'}}", "fail"),
        ("good", "{type: trace-error-spans}", "fail"),
        ("good", "{type: trace-error-spans, value: 1}", "pass"),
        ("good", "{type: trace-error-spans, value: {max_percentage: 25}}", "pass"),
        ("good", "{type: trace-error-spans, value: {max_percentage: 24}}", "fail"),
        ("good", "{type: trace-error-spans, value: {pattern: '* two'}}", "pass"),
        ("good", "{type: javascript, value: context.trace.spans.length === 4}", "pass"),
        ("good", "{type: guardrails}", "pass"),
        ("good", "{type: not-guardrails}", "fail"),
        ("bad", "{type: guardrails}", "fail"),
        ("bad", "{type: not-guardrails}", "pass"),
        // A measurement that is not reported is no failure, negated or not.
        ("plain", "{type: guardrails}", "incomplete"),
        ("plain", "{type: not-guardrails}", "incomplete"),
        ("plain", "{type: trace-error-spans}", "incomplete"),
        ("plain", "{type: 'trajectory:tool-used', value: search}", "incomplete"),
    ];
    let tests = assertions
        .map(|(word, assertion, _)| format!("- {{vars: {{word: {word}}}, assert: [{assertion}]}}\n"));
    cli.file(
        "p.yaml",
        format!("prompts: ['{{{{ word }}}}']\nproviders: ['file://agent.py']\ntests:\n{}", tests.concat()),
    );
    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(1);
    let mut found = rows(&cli, "run");
    found.sort_by_key(|row| row["place"].as_u64());
    for (row, (word, assertion, verdict)) in found.iter().zip(assertions) {
        assert_eq!(row["verdict"], verdict, "{word} {assertion}: {row:#}");
    }
    assert_eq!(found.len(), assertions.len());
}

#[test]
fn limits_of_spans_that_could_not_fail_are_refused() {
    let cli = cli();
    for value in ["{min: 1}", "{pattern: a, most: 1}", "{pattern: 1}", "3"] {
        cli.file(
            "p.yaml",
            format!("prompts: [p]\nproviders: [echo]\ntests: [{{assert: [{{type: trace-span-count, value: {value}}}]}}]\n"),
        );
        let refused = cli.run(&["validate", "p.yaml"]).expect_code(2);
        assert!(refused.stdout.contains("needs `pattern`"), "{value}: {}", refused.stdout);
    }
}
