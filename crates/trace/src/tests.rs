//! Every log format, each read from a sample log.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use crate::{AgentTrace, LogFormat, SessionEnd, TraceLog, TraceLogError, read_log};
use assize_rubric::{MessageRole, Tokens};
use serde_json::{Value, json};

fn log(name: &str) -> TraceLog {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name);
    read_log(BufReader::new(File::open(path).expect("the log is there")), None).expect("it is a log")
}

fn parsed(text: &str) -> TraceLog {
    read_log(text.as_bytes(), None).expect("it is a log")
}

fn only(read: TraceLog) -> AgentTrace {
    assert_eq!(read.problems, []);
    let [trace] = <[AgentTrace; 1]>::try_from(read.traces).expect("one session");
    trace
}

fn calls(trace: &AgentTrace) -> Vec<(&str, Option<bool>, Option<u128>)> {
    trace
        .calls()
        .map(|call| (call.name.as_str(), call.failed, call.duration.map(|time| time.as_millis())))
        .collect()
}

fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), cached: Some(cached), output: Some(output) }
}

#[test]
fn a_record_of_too_many_values_is_not_parsed() {
    let values = "1,".repeat(1_000_000);
    let good = r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    for (format, text, line) in [
        (LogFormat::ClaudeCode, format!("{good}\n{{\"x\":[{values}1]}}\n"), 2),
        (LogFormat::OpenTelemetry, format!("{{\n\"resourceSpans\":[{values}1]}}\n"), 1),
    ] {
        let problems = read_log(text.as_bytes(), Some(format)).expect("it is a log").problems;
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, line);
        assert!(problems[0].message.contains("more than 96 MiB of memory"), "{}", problems[0].message);

        // Without a given format, the limit is named too: as a problem, or as the reason that no format is known.
        let (found_line, message) = match read_log(text.as_bytes(), None) {
            Ok(log) => (log.problems[0].line, log.problems[0].message.clone()),
            Err(TraceLogError::TooManyValues(problem)) => (problem.line, problem.message),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found_line, line);
        assert!(message.contains("more than 96 MiB of memory"), "{message}");
    }
}

#[test]
fn a_session_of_claude_code() {
    let read = log("claude-session.jsonl");
    assert_eq!(read.unknown.iter().collect::<Vec<_>>(), [(&"a-kind-of-tomorrow".to_owned(), &1)]);
    let trace = only(read);
    assert_eq!(trace.format, LogFormat::ClaudeCode);
    assert_eq!(trace.session.as_deref(), Some("5f0c"));
    assert_eq!(trace.question(), Some("Deploy the billing service to staging."));
    assert_eq!(trace.answer(), Some("The deployment failed: permission denied."));
    assert_eq!(
        calls(&trace),
        [("Skill", Some(false), Some(250)), ("Grep", None, None), ("Bash", Some(true), Some(4000))]
    );
    let skill = trace.calls().next().expect("a call");
    assert_eq!(skill.input, json!({ "skill": "acme-deploy" }));
    assert_eq!(skill.output, Some(json!("Launching skill: acme-deploy")));
    // Usage that is repeated for each block of a reply is counted once, in its last state.
    assert_eq!(trace.tokens, tokens(2110 + 7 + 2104 + 2204, 2000 + 2100 + 2200, 60 + 3 + 30 + 12));
    assert_eq!(trace.duration, Some(Duration::from_secs(11)));
    let roles: Vec<MessageRole> = trace.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles[..2],
        [MessageRole::User, MessageRole::System],
        "what the program adds is not the user's"
    );
    assert!(trace.messages.iter().any(|message| message.subagent));
}

#[test]
fn what_claude_code_prints() {
    let trace = only(log("claude-stream.jsonl"));
    assert_eq!(trace.answer(), Some("It does nothing."));
    assert_eq!(trace.cost_usd, Some(0.0123));
    assert_eq!(trace.duration, Some(Duration::from_millis(4200)));
    assert_eq!(trace.tokens, tokens(508, 500, 13), "the log's own total beats the sum of its parts");
    assert_eq!(calls(&trace), [("Read", Some(false), None)]);
    assert_eq!(trace.model.as_deref(), Some("claude-opus-4-5"));
}

#[test]
fn what_codex_prints() {
    let trace = only(log("codex-exec.jsonl"));
    assert_eq!(trace.session.as_deref(), Some("0199-abc"));
    assert_eq!(
        calls(&trace),
        [
            ("shell", Some(false), None),
            ("lookup", Some(false), None),
            ("apply_patch", Some(false), None),
            ("shell", Some(true), None)
        ]
    );
    let outputs: Vec<Option<Value>> = trace.calls().map(|call| call.output.clone()).collect();
    assert_eq!(outputs[0], Some(json!("Cargo.toml\nsrc\n")));
    assert_eq!(outputs[1], Some(json!("2024")));
    assert_eq!(trace.answer(), Some("One test still fails."));
    assert_eq!(trace.tokens, tokens(24763, 24448, 122));
    assert_eq!((trace.cost_usd, trace.duration), (None, None), "what the log does not say is not made up");
}

#[test]
fn a_rollout_of_codex() {
    let trace = only(log("codex-rollout.jsonl"));
    assert_eq!(trace.question(), Some("List the files."), "surroundings are not a request");
    assert_eq!(trace.answer(), Some("a.txt and b.txt."));
    assert_eq!(calls(&trace), [("shell", Some(false), Some(200))], "the stated time beats the logged one");
    let call = trace.calls().next().expect("a call");
    assert_eq!((&call.input, &call.output), (&json!({ "command": ["ls"] }), &Some(json!("a.txt\nb.txt\n"))));
    assert_eq!(trace.tokens, tokens(1900, 1200, 55), "totals are not added up");
    assert_eq!(trace.model.as_deref(), Some("gpt-5-codex"));
}

#[test]
fn a_session_of_copilot() {
    let trace = only(log("copilot.jsonl"));
    assert_eq!(trace.question(), Some("Rename the function."));
    assert_eq!(trace.answer(), Some("Renamed."));
    // Requested in the message and started later: one call, timed from the message on.
    assert_eq!(calls(&trace), [("edit", Some(false), Some(600))]);
    assert_eq!(trace.tokens, tokens(3000, 1000, 90));
}

#[test]
fn what_gemini_prints() {
    let trace = only(log("gemini-stream.jsonl"));
    assert_eq!(trace.answer(), Some("Twelve lines."), "pieces of a streamed message are put together");
    assert_eq!(calls(&trace), [("run_shell_command", Some(false), Some(400))]);
    assert_eq!(trace.tokens, tokens(650, 100, 50));
    let whole = only(log("gemini.json"));
    assert_eq!(whole.answer(), Some("Paris."));
    assert_eq!(whole.tokens, tokens(120, 20, 13));
    assert_eq!(whole.model.as_deref(), Some("gemini-2.5-flash"));
}

#[test]
fn a_session_file_of_gemini() {
    let trace = only(log("gemini-session.jsonl"));
    assert_eq!((trace.format, trace.session.as_deref()), (LogFormat::Gemini, Some("5411f113-7a06")));
    assert_eq!(trace.question(), Some("Count the lines of @notes.txt"), "as typed, without the file");
    assert_eq!((trace.answer(), trace.end.clone()), (Some("Twelve lines."), SessionEnd::Finished));
    assert_eq!(
        calls(&trace),
        [("read_file", Some(false), Some(1000)), ("investigator", Some(true), Some(2000))]
    );
    assert_eq!(trace.calls().next().expect("a call").output, Some(json!("one\ntwo\n")));
    assert_eq!(trace.started_agents, ["sub-1"]);
    // What was taken back was paid for, and a message that was recorded again counts once.
    assert_eq!(trace.tokens, tokens(100 + 5 + 200 + 300, 40, 14 + 20 + 10));
    assert_eq!(trace.model.as_deref(), Some("gemini-3-pro"));

    // Older versions write one object, and all of them save conversations as they are sent to the model.
    let lines = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/gemini-session.jsonl"),
    );
    let records: Vec<Value> = lines
        .expect("the log is there")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut whole = records[0].clone();
    whole["messages"] = records.iter().filter(|record| record["id"].is_string()).cloned().collect();
    let old = only(parsed(&format!("{whole:#}")));
    assert_eq!((old.question(), old.answer()), (trace.question(), trace.answer()));
    let turn = |role: &str, part: Value| json!({"role": role, "parts": [part]});
    let turns = json!([
        turn("user", json!({"text": "<session_context>Today is Monday."})),
        turn("model", json!({"text": "Got it. Thanks for the context!"})),
        turn("user", json!({"text": "Count"})),
        turn("model", json!({"functionCall": {"id": "c", "name": "read_file", "args": {"path": "a"}}})),
        turn(
            "user",
            json!({"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "x"}}})
        ),
        json!({"role": "model", "parts": [{"text": "Counting", "thought": true}, {"text": "One."}]}),
    ]);
    for saved in [
        format!("{turns:#}"),
        json!({"history": turns}).to_string(),
        json!({"clientHistory": turns}).to_string(),
    ] {
        let trace = only(parsed(&saved));
        assert_eq!((trace.question(), trace.answer()), (Some("Count"), Some("One.")), "{saved}");
        assert_eq!(calls(&trace), [("read_file", Some(false), None)], "{saved}");
        assert_eq!(trace.tokens, Tokens::default(), "{saved}");
    }
}

#[test]
fn what_opencode_prints() {
    let trace = only(log("opencode-run.jsonl"));
    assert_eq!(trace.answer(), Some("It is Sunday."));
    assert_eq!(calls(&trace), [("bash", Some(false), Some(300))]);
    assert_eq!(trace.tokens, tokens(160 + 190, 110, 33));
    assert!((trace.cost_usd.expect("a cost") - 0.003).abs() < 1e-12);
}

/// Sets every token count to the largest possible number.
fn exaggerate(value: &mut Value, is_usage: bool) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut().filter(|(key, _)| *key != "cost") {
                exaggerate(value, is_usage || key == "usage" || key == "tokens");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| exaggerate(item, is_usage)),
        Value::Number(number) if is_usage => *number = u64::MAX.into(),
        _ => {}
    }
}

#[test]
fn counts_that_no_model_can_have_do_not_overflow() {
    for name in ["pi.jsonl", "claude-session.jsonl", "opencode-run.jsonl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name);
        let text = std::fs::read_to_string(path).expect("the log is there");
        let lines = text.lines().map(|line| {
            let mut value: Value = serde_json::from_str(line).expect("JSON");
            exaggerate(&mut value, false);
            format!("{value}\n")
        });
        let read = parsed(&lines.collect::<String>());
        assert_eq!(read.traces[0].tokens.input, Some(u64::MAX), "{name}");
    }
}

#[test]
fn what_pi_prints() {
    let trace = only(log("pi.jsonl"));
    assert_eq!((trace.question(), trace.answer()), (Some("How many files?"), Some("Twelve files.")));
    // The call is logged three times: in the message, when it ran, and with its result.
    assert_eq!(
        calls(&trace).iter().map(|call| (call.0, call.1)).collect::<Vec<_>>(),
        [("bash", Some(false))]
    );
    assert_eq!(trace.tokens, tokens(260 + 280, 50 + 260, 35));
    assert_eq!(trace.model.as_deref(), Some("claude-x"));
    assert!((trace.cost_usd.expect("a cost") - 0.004).abs() < 1e-12);
}

#[test]
fn a_try_of_pi_that_failed_is_made_good_by_a_later_one() {
    let end =
        |rest: &str| format!("{{\"type\":\"message_end\",\"message\":{{\"role\":\"assistant\",{rest}}}}}\n");
    let failed = end(r#""content":[],"stopReason":"error","errorMessage":"overloaded""#);
    let good = end(r#""content":[{"type":"text","text":"Yes."}],"stopReason":"stop""#);
    let trace = only(parsed(&failed));
    assert_eq!(trace.end, SessionEnd::Failed("overloaded".to_owned()));
    let trace = only(parsed(&format!("{failed}{good}")));
    assert_eq!((trace.end.clone(), trace.answer()), (SessionEnd::Finished, Some("Yes.")));
}

#[test]
fn spans_of_opentelemetry() {
    let trace = only(log("otel.json"));
    assert_eq!(trace.session.as_deref(), Some("conv-9"));
    assert_eq!(trace.question(), Some("Refund order 7."));
    assert_eq!(
        trace.messages.iter().filter(|message| message.role == MessageRole::User).count(),
        1,
        "said once"
    );
    assert_eq!(trace.answer(), Some("I can't refund order 7: it is too old."));
    assert_eq!(calls(&trace), [("refund", Some(true), Some(750))], "asked for and run: one call");
    let call = trace.calls().next().expect("a call");
    assert_eq!((&call.input, &call.output), (&json!({ "order": 7 }), &Some(json!("refused: too old"))));
    assert_eq!(trace.tokens, Tokens { input: Some(470), cached: None, output: Some(35) });
    assert_eq!(trace.duration, Some(Duration::from_secs(4)));

    let spans = trace.spans.expect("the log consists of spans");
    let names: Vec<&str> =
        spans.as_array().expect("a list").iter().filter_map(|span| span["name"].as_str()).collect();
    assert_eq!(names, ["chat gpt-5", "execute_tool refund", "chat gpt-5"]);
    let tool = &spans[1];
    assert_eq!((&tool["spanId"], &tool["parentSpanId"]), (&json!("03"), &json!("01")));
    assert_eq!((&tool["statusCode"], &tool["statusMessage"]), (&json!(2), &json!("refused")));
    assert_eq!(tool["attributes"]["error.type"], "RefundRefused");
    let ends = [&tool["startTime"], &tool["endTime"]].map(|time| time.as_f64().expect("a time"));
    assert!((ends[1] - ends[0] - 750.0).abs() < 0.01, "{ends:?}");
    assert_eq!(spans[0].get("statusCode"), None);
}

#[test]
fn spans_that_arrive_twice_count_once() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/otel.json"));
    let export: Value = serde_json::from_str(&text.expect("the log is there")).expect("JSON");
    let once = only(parsed(&export.to_string()));
    let twice = only(parsed(&format!("{export}\n{export}\n")));
    assert_eq!((&twice.tokens, calls(&twice)), (&once.tokens, calls(&once)));
    assert_eq!(twice.messages.len(), once.messages.len());
    let count = |trace: &AgentTrace| trace.spans.as_ref().and_then(|spans| spans.as_array()).map(Vec::len);
    assert_eq!(count(&twice), count(&once));
}

#[test]
fn broken_lines_are_told_and_the_rest_is_read() {
    let text = "{\"type\":\"thread.started\",\"thread_id\":\"x\"}\nnot json\n\
                {\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"Done.\"}}\n\
                {\"type\":\"turn.comple";
    let read = read_log(text.as_bytes(), None).expect("a log");
    let lines: Vec<usize> = read.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(read.traces[0].answer(), Some("Done."));
}

#[test]
fn a_broken_first_line_does_not_hide_the_others() {
    let text = "{\"type\":\"thread.sta\n\
                {\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"Done.\"}}\n";
    let read = read_log(text.as_bytes(), None).expect("a log");
    assert_eq!(read.problems.len(), 1);
    assert_eq!(read.problems[0].line, 1);
    assert_eq!(read.traces[0].answer(), Some("Done."));
}

#[test]
fn what_is_no_log_is_refused() {
    assert!(matches!(read_log(&b""[..], None), Err(TraceLogError::Empty)));
    assert!(matches!(read_log(&b"{\"a\": 1}\n{\"b\": 2}\n"[..], None), Err(TraceLogError::UnknownFormat)));
    assert!(matches!(read_log(&b"just words\n"[..], None), Err(TraceLogError::UnknownFormat)));
    let named = read_log(&b"{\"a\": 1}\n"[..], Some(LogFormat::Copilot)).expect("the format is given");
    assert_eq!((named.traces.len(), named.unknown.values().sum::<usize>()), (0, 1));
}

#[test]
fn formats_have_the_names_people_use() {
    for format in LogFormat::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert_eq!("claude_code".parse(), Ok(LogFormat::ClaudeCode));
    let unknown = "cursor".parse::<LogFormat>().expect_err("not read");
    assert!(unknown.to_string().contains("opencode"), "{unknown}");
}

#[test]
fn no_value_of_any_shape_breaks_a_reader() {
    let values = [
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({}),
        json!([{ "type": 3 }]),
        json!({ "type": null }),
    ];
    let kinds = [
        "assistant", "user", "result", "item.completed", "response_item", "event_msg",
        "tool.execution_complete", "tool_use", "tool_result", "step_finish", "text", "message",
    ];
    for format in LogFormat::ALL {
        for kind in kinds {
            for value in &values {
                let record = json!({
                    "type": kind, "message": value, "item": value, "payload": value, "data": value, "part": value,
                    "timestamp": value, "usage": value, "resourceSpans": [value], "stats": value,
                });
                let text = format!("{record}\n{value}\n");
                // Whatever the result is, reading ends.
                let _ = read_log(text.as_bytes(), Some(format));
            }
        }
    }
}

/// For each format: the beginning of a session, the record of an answer, and possible endings with their meaning as the
/// first word of [`SessionEnd`]. `{said}` is replaced by the record of an answer.
#[test]
fn how_a_session_ended_is_read_from_every_format() {
    struct Case {
        name: &'static str,
        begin: &'static str,
        said: &'static str,
        endings: &'static [(&'static str, &'static str)],
    }

    let table = [
        Case {
            name: "claude file",
            begin: r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"Do it"}}"#,
            said: r#"{"type":"assistant","sessionId":"s","message":{"id":"m","content":[{"type":"text","text":"Done."}]}}"#,
            endings: &[
                ("{said}", "Finished"),
                ("", "GoingOn"),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"id":"n","content":[{"type":"text","text":"On it."},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#,
                    "GoingOn",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]}}"#,
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"assistant\",\"sessionId\":\"s\",\"isApiErrorMessage\":true,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"API Error\"}]}}",
                    "Failed",
                ),
                (
                    "{\"type\":\"assistant\",\"sessionId\":\"s\",\"isApiErrorMessage\":true,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"API Error\"}]}}\n{said}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Request interrupted by user]\"}]}}",
                    "Interrupted",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"id":"n","stop_reason":"max_tokens","content":[{"type":"text","text":"Do"}]}}"#,
                    "CutOff",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"id":"n","stop_reason":"model_context_window_exceeded","content":[{"type":"text","text":"Do"}]}}"#,
                    "CutOff",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"id":"n","stop_reason":"refusal","content":[{"type":"text","text":"I can"}]}}"#,
                    "Failed",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"id":"n","stop_reason":"tool_use","content":[{"type":"text","text":"On it."}]}}"#,
                    "GoingOn",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","aborted":true,"message":{"id":"n","content":[{"type":"text","text":"Do"}]}}"#,
                    "Interrupted",
                ),
                (
                    "{said}\n{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"[Request interrupted by user]\"}}\n{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"No response requested.\"}]}}",
                    "Interrupted",
                ),
                (
                    r#"{"type":"assistant","sessionId":"s","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#,
                    "GoingOn",
                ),
                (
                    "{said}\n{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/exit</command-name>\"}}\n{\"type\":\"user\",\"message\":{\"content\":\"<local-command-stdout>Bye!</local-command-stdout>\"}}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"content\":\"This session is being continued.\"}}",
                    "Finished",
                ),
            ],
        },
        Case {
            name: "claude stream",
            begin: r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
            said: r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"Done."}]}}"#,
            endings: &[
                ("{said}", "GoingOn"),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Done.\"}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":false,\"session_id\":\"s\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":false,\"session_id\":\"s\"}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"session_id\":\"s\",\"result\":\"API Error\"}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Do\",\"stop_reason\":\"max_tokens\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Do\",\"stop_reason\":\"refusal\"}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Done.\",\"terminal_reason\":\"completed\"}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Do\",\"terminal_reason\":\"aborted_tools\"}",
                    "Interrupted",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\",\"result\":\"Do\",\"terminal_reason\":\"tool_deferred\"}",
                    "GoingOn",
                ),
            ],
        },
        Case {
            name: "codex exec",
            begin: r#"{"type":"thread.started","thread_id":"c"}"#,
            said: r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Done."}}"#,
            endings: &[
                ("{said}", "GoingOn"),
                ("{said}\n{\"type\":\"turn.completed\",\"usage\":{}}", "Finished"),
                (
                    "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n{said}\n{\"type\":\"turn.completed\",\"usage\":{}}",
                    "Finished",
                ),
                ("{said}\n{\"type\":\"error\",\"message\":\"Reconnecting... 5/5\"}", "Failed"),
                ("{said}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}", "Failed"),
                (
                    "{said}\n{\"type\":\"turn.completed\",\"usage\":{}}\n{\"type\":\"turn.started\"}",
                    "GoingOn",
                ),
            ],
        },
        Case {
            name: "codex rollout",
            begin: r#"{"type":"session_meta","payload":{"id":"c"}}"#,
            said: r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
            endings: &[
                ("{said}", "Finished"),
                ("{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}", "Finished"),
                (
                    "{said}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":\"f\",\"name\":\"shell\",\"arguments\":\"{}\"}}",
                    "GoingOn",
                ),
                (
                    "{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}}",
                    "Interrupted",
                ),
                (
                    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}}\n{said}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"error\",\"message\":\"no\"}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\",\"reason\":\"budget_limited\"}}",
                    "CutOff",
                ),
                ("{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n{said}", "GoingOn"),
                (
                    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"error\",\"message\":\"no\"}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"last_agent_message\":\"Done.\"}}",
                    "Failed",
                ),
                (
                    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"last_agent_message\":null,\"error\":{\"message\":\"no\",\"codex_error_info\":\"usage_limit_exceeded\"}}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":\"f\",\"name\":\"shell\",\"arguments\":\"{}\"}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"last_agent_message\":null}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"error\",\"message\":\"no\",\"codex_error_info\":\"thread_rollback_failed\"}}",
                    "Finished",
                ),
            ],
        },
        Case {
            name: "copilot",
            begin: r#"{"type":"session.start","data":{"sessionId":"p"}}"#,
            said: r#"{"type":"assistant.message","data":{"content":"Done."}}"#,
            endings: &[
                (
                    "{said}\n{\"type\":\"session.shutdown\",\"data\":{\"shutdownType\":\"routine\"}}",
                    "Finished",
                ),
                ("{said}\n{\"type\":\"user.message\",\"data\":{\"content\":\"And?\"}}", "GoingOn"),
                ("{said}\n{\"type\":\"session.error\",\"data\":{\"message\":\"no\"}}", "Failed"),
                ("{\"type\":\"session.error\",\"data\":{\"message\":\"no\"}}\n{said}", "Finished"),
                ("{said}\n{\"type\":\"abort\",\"data\":{\"reason\":\"user initiated\"}}", "Interrupted"),
                (
                    "{said}\n{\"type\":\"session.shutdown\",\"data\":{\"shutdownType\":\"error\",\"errorReason\":\"no\"}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"abort\",\"agentId\":\"a\",\"data\":{\"reason\":\"user_initiated\"}}",
                    "Finished",
                ),
                (
                    "{\"type\":\"assistant.message\",\"data\":{\"content\":\"\",\"toolRequests\":[{\"toolCallId\":\"t\",\"name\":\"task\"}]}}\n{\"type\":\"assistant.message\",\"agentId\":\"a\",\"data\":{\"content\":\"Found.\"}}",
                    "GoingOn",
                ),
                (
                    "{said}\n{\"type\":\"session_limits_exhausted.requested\",\"data\":{\"maxAiCredits\":1}}",
                    "CutOff",
                ),
                ("{said}\n{\"type\":\"session.task_complete\",\"data\":{\"success\":false}}", "GoingOn"),
                ("{said}\n{\"type\":\"result\",\"exitCode\":0}", "Finished"),
                ("{said}\n{\"type\":\"result\",\"exitCode\":1}", "Failed"),
            ],
        },
        Case {
            name: "gemini",
            begin: r#"{"type":"init","session_id":"g","model":"m"}"#,
            said: r#"{"type":"message","role":"assistant","content":"Done.","timestamp":"2026-09-01T10:00:00Z"}"#,
            endings: &[
                ("{said}", "GoingOn"),
                ("{said}\n{\"type\":\"result\",\"status\":\"success\"}", "Finished"),
                (
                    "{\"type\":\"error\",\"severity\":\"error\",\"message\":\"a tool\"}\n{said}\n{\"type\":\"result\",\"status\":\"success\"}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"status\":\"error\",\"error\":{\"message\":\"no\"}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"FatalTurnLimitedError\",\"message\":\"turns\"}}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"error\",\"severity\":\"error\",\"message\":\"Maximum session turns exceeded\"}\n{\"type\":\"result\",\"status\":\"success\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"Loop detected, stopping execution\"}\n{\"type\":\"result\",\"status\":\"success\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"FatalCancellationError\",\"message\":\"cancelled\"}}",
                    "Interrupted",
                ),
            ],
        },
        Case {
            name: "gemini file",
            begin: "{\"sessionId\":\"g\",\"projectHash\":\"p\",\"kind\":\"main\"}\n{\"id\":\"u\",\"type\":\"user\",\"content\":[{\"text\":\"Do it\"}]}",
            said: r#"{"id":"a","type":"gemini","content":"Done.","tokens":{"input":1,"output":1}}"#,
            endings: &[
                ("{said}", "Finished"),
                ("{said}\n{\"$set\":{\"lastUpdated\":\"2026-09-01T10:00:00Z\"}}", "Finished"),
                ("", "GoingOn"),
                (
                    r#"{"id":"b","type":"gemini","content":"On it.","toolCalls":[{"id":"t","name":"edit","args":{},"status":"executing"}]}"#,
                    "GoingOn",
                ),
                ("{said}\n{\"$rewindTo\":\"a\"}", "GoingOn"),
                (r#"{"id":"i","type":"info","content":"Request cancelled."}"#, "Interrupted"),
                ("{\"id\":\"i\",\"type\":\"info\",\"content\":\"Request cancelled.\"}\n{said}", "Finished"),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"info\",\"content\":\"Agent execution stopped: hook\"}",
                    "Interrupted",
                ),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"error\",\"content\":\"[API Error: 503 overloaded]\"}",
                    "Failed",
                ),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"info\",\"content\":\"⚠️  Response stopped due to safety reasons.\"}",
                    "Failed",
                ),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"info\",\"content\":\"⚠️  Response truncated due to token limits.\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"info\",\"content\":\"The session has reached the maximum number of turns: 3.\"}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"id\":\"i\",\"type\":\"info\",\"content\":\"A potential loop was detected.\"}",
                    "CutOff",
                ),
                // A command of the user that failed is not the agent's work.
                ("{said}\n{\"id\":\"i\",\"type\":\"error\",\"content\":\"Unknown command: /x\"}", "Finished"),
                // A compacted conversation.
                (
                    "{said}\n{\"id\":\"s\",\"type\":\"user\",\"content\":[{\"text\":\"<state_snapshot>x\"}]}\n{\"id\":\"t\",\"type\":\"gemini\",\"content\":[{\"text\":\"Got it. Thanks for the additional context!\"}]}",
                    "Finished",
                ),
            ],
        },
        Case {
            name: "gemini saved",
            begin: r#"{"history":[{"role":"user","parts":[{"text":"Do it"}]},"#,
            said: r#"{"role":"model","parts":[{"text":"Done."}]}"#,
            endings: &[
                (r#"{said}],"authType":"x"}"#, "Finished"),
                (
                    r#"{"role":"model","parts":[{"text":"On it."},{"functionCall":{"name":"edit","args":{}}}]}]}"#,
                    "GoingOn",
                ),
                (r#"{said},{"role":"user","parts":[{"text":"More"}]}]}"#, "GoingOn"),
            ],
        },
        Case {
            name: "opencode export",
            begin: r#"{"info":{"id":"o"},"messages":[{"info":{"id":"u","role":"user"},"parts":[{"type":"text","text":"Do it"}]},"#,
            said: r#"{"type":"step-start"},{"type":"text","text":"Done."}"#,
            endings: &[
                (
                    r#"{"info":{"role":"assistant"},"parts":[{said},{"type":"step-finish","reason":"stop"}]}]}"#,
                    "Finished",
                ),
                (r#"{"info":{"role":"assistant"},"parts":[{said}]}]}"#, "GoingOn"),
                (
                    r#"{"info":{"role":"assistant","error":{"name":"APIError","data":{"message":"no"}}},"parts":[{said}]}]}"#,
                    "Failed",
                ),
                (
                    r#"{"info":{"role":"assistant","error":{"name":"MessageAbortedError"}},"parts":[{said}]}]}"#,
                    "Interrupted",
                ),
                (
                    r#"{"info":{"role":"assistant"},"parts":[{said},{"type":"step-finish","reason":"length"}]}]}"#,
                    "CutOff",
                ),
            ],
        },
        Case {
            name: "opencode",
            begin: r#"{"type":"step_start","sessionID":"o","part":{"type":"step-start"}}"#,
            said: r#"{"type":"text","sessionID":"o","part":{"type":"text","text":"Done."}}"#,
            endings: &[
                (
                    "{said}\n{\"type\":\"step_finish\",\"sessionID\":\"o\",\"part\":{\"type\":\"step-finish\",\"reason\":\"stop\"}}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"step_finish\",\"sessionID\":\"o\",\"part\":{\"type\":\"step-finish\",\"reason\":\"tool-calls\"}}",
                    "GoingOn",
                ),
                (
                    "{said}\n{\"type\":\"step_finish\",\"sessionID\":\"o\",\"part\":{\"type\":\"step-finish\",\"reason\":\"length\"}}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"error\",\"sessionID\":\"o\",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"no\"}}}",
                    "Failed",
                ),
                (
                    "{said}\n{\"type\":\"error\",\"sessionID\":\"o\",\"error\":{\"name\":\"MessageAbortedError\"}}",
                    "Interrupted",
                ),
                ("{said}", "GoingOn"),
                (
                    "{said}\n{\"type\":\"step_finish\",\"sessionID\":\"o\",\"part\":{\"type\":\"step-finish\",\"reason\":\"unknown\"}}",
                    "Finished",
                ),
                (
                    "{said}\n{\"type\":\"error\",\"sessionID\":\"o\",\"error\":{\"name\":\"MessageOutputLengthError\"}}",
                    "CutOff",
                ),
            ],
        },
        Case {
            name: "pi",
            begin: r#"{"type":"session","version":3,"id":"i","cwd":"/x"}"#,
            said: r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}"#,
            endings: &[
                ("{said}", "Finished"),
                (
                    "{said}\n{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"aborted\"}}",
                    "Interrupted",
                ),
                (
                    "{said}\n{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"length\"}}",
                    "CutOff",
                ),
                (
                    "{said}\n{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"toolUse\"}}",
                    "GoingOn",
                ),
                ("{said}\n{\"type\":\"auto_retry_end\",\"success\":false,\"finalError\":\"no\"}", "Failed"),
            ],
        },
    ];

    for Case { name, begin, said, endings } in table {
        for (ending, expected) in endings {
            let text = format!("{begin}\n{}\n", ending.replace("{said}", said));
            let read = parsed(&text);
            assert_eq!(read.unknown.len(), 0, "{name}: {:?}", read.unknown);
            let end = read.traces.first().map_or(SessionEnd::GoingOn, |trace| trace.end.clone());
            assert!(format!("{end:?}").starts_with(expected), "{name}: {end:?} for {ending}");
        }
    }
}

/// A session that did something, took it back, and went another way; or only took it back.
#[test]
fn what_was_taken_back_is_not_part_of_the_conversation_in_any_format() {
    let codex = |rest: &str| {
        let said = |role: &str, text: &str| {
            let kind = if role == "user" { "input_text" } else { "output_text" };
            let content = json!([{"type": kind, "text": text}]);
            let payload = json!({"type": "message", "role": role, "content": content});
            json!({"type": "response_item", "payload": payload}).to_string()
        };
        let event = |payload: Value| json!({"type": "event_msg", "payload": payload}).to_string();
        let call = json!({"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"});
        let mut lines = vec![
            said("user", "First"),
            said("assistant", "One."),
            said("user", "Wrong"),
            json!({"type": "response_item", "payload": call}).to_string(),
            said("assistant", "Done wrong."),
            event(json!({"type": "task_complete", "last_agent_message": "Done wrong."})),
            event(json!({"type": "turn_aborted", "reason": "interrupted"})),
            event(json!({"type": "thread_rolled_back", "num_turns": 1})),
        ];
        if !rest.is_empty() {
            lines.extend([said("user", "Second"), said("assistant", rest)]);
        }
        lines.join("\n")
    };
    let pi = |rest: &str| {
        let entry = |id: &str, parent: &str, message: Value| {
            json!({"type": "message", "id": id, "parentId": parent, "message": message}).to_string()
        };
        let user = |text: &str| json!({"role": "user", "content": text});
        let agent = |text: &str| json!({"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"});
        let call = json!([{"type": "toolCall", "id": "t", "name": "bash", "arguments": {}}]);
        let mut lines = vec![
            json!({"type": "session", "version": 3, "id": "s", "cwd": "/x"}).to_string(),
            json!({"type": "message", "id": "a", "parentId": null, "message": user("First")}).to_string(),
            entry("b", "a", agent("One.")),
            entry("c", "b", user("Wrong")),
            entry("d", "c", json!({"role": "assistant", "content": call, "stopReason": "toolUse"})),
            entry("e", "d", agent("Done wrong.")),
            json!({"type": "branch_summary", "id": "f", "parentId": "b", "summary": "x"}).to_string(),
        ];
        if !rest.is_empty() {
            lines.extend([entry("g", "f", user("Second")), entry("h", "g", agent(rest))]);
        }
        lines.join("\n")
    };
    for text in [codex("Two."), pi("Two.")] {
        let trace = only(parsed(&text));
        assert_eq!((trace.question(), trace.answer()), (Some("First"), Some("Two.")), "{text}");
        assert_eq!((calls(&trace).len(), trace.end), (0, SessionEnd::Finished), "{text}");
    }

    let part = |kind: &str, text: &str| json!({"type": kind, "text": text, "reason": "stop"});
    let message = |id: &str, role: &str, text: &str| {
        let parts = match role {
            "user" => json!([part("text", text)]),
            _ => json!([part("step-start", ""), part("text", text), part("step-finish", "")]),
        };
        json!({"info": {"id": id, "role": role, "summary": text.starts_with("Summary")}, "parts": parts})
    };
    let wrong = [message("m3", "user", "Wrong"), message("m4", "assistant", "Done wrong.")];
    let begin = [message("m1", "user", "First"), message("m2", "assistant", "One.")];
    let info = json!({"id": "o", "revert": {"messageID": "m3"}});
    let messages = [&begin[..], &wrong[..]].concat();
    let reverted = json!({"info": info, "messages": messages});
    let messages = [&begin[..], &[message("m3", "assistant", "Summary")]].concat();
    let compacted = json!({"info": {"id": "o"}, "messages": messages});
    for text in [codex(""), pi(""), reverted.to_string(), compacted.to_string()] {
        let trace = only(parsed(&text));
        assert_eq!((trace.question(), trace.answer()), (Some("First"), Some("One.")), "{text}");
        assert_eq!((calls(&trace).len(), trace.end), (0, SessionEnd::Finished), "{text}");
    }
}

#[test]
fn what_another_answer_supersedes_does_not_count() {
    let record = |id: &str, content: Value, supersedes: &[&str]| {
        let message = json!({"id": id, "content": content});
        json!({"type": "assistant", "uuid": id, "supersedes": supersedes, "message": message}).to_string()
    };
    let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
    let text = json!([{"type": "text", "text": "Done."}]);
    let trace = only(parsed(&[record("a", call, &[]), record("b", text, &["a"])].join("\n")));
    assert_eq!((calls(&trace).len(), trace.answer()), (0, Some("Done.")));
}

#[test]
fn a_subagent_of_codex_adds_its_calls_to_its_session_once() {
    let meta =
        |id: &str, source: Value| json!({"type": "session_meta", "payload": {"id": id, "source": source}});
    let call = |id: &str, name: &str| {
        let payload = json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"});
        json!({"type": "response_item", "payload": payload})
    };
    let said = |role: &str, text: &str| {
        let payload = json!({"type": "message", "role": role, "content": text});
        json!({"type": "response_item", "payload": payload})
    };
    let used = |input: u64| {
        let info = json!({"total_token_usage": {"input_tokens": input, "output_tokens": 1}});
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
    };
    let log = |records: &[Value]| {
        only(parsed(&records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")))
    };
    let main = [meta("m", json!("cli")), said("user", "Do"), call("c", "spawn_agent"), used(10)];
    let main = [&main[..], &[said("assistant", "Main.")]].concat();
    let spawned = json!({"subagent": {"thread_spawn": {"parent_thread_id": "m", "depth": 1}}});
    let alone = [meta("s", spawned.clone()), said("user", "look"), call("r", "Read"), used(5)];
    let alone = [&alone[..], &[said("assistant", "Sub.")]].concat();
    // This one was started with the conversation so far, which its log repeats.
    let forked = [&[meta("f", spawned)], &main[..4], &[call("w", "Write"), used(30)]].concat();

    let mut session = log(&main);
    for sub in [log(&alone), log(&forked)] {
        assert!(sub.is_subagent());
        assert_eq!(sub.parent.as_deref(), Some("m"));
        session.add_subagent(sub);
    }
    let mut names: Vec<&str> = calls(&session).iter().map(|call| call.0).collect();
    names.sort_unstable();
    assert_eq!(names, ["Read", "Write", "spawn_agent"]);
    assert_eq!((session.question(), session.answer()), (Some("Do"), Some("Main.")));
    assert_eq!((session.tokens.input, session.tokens.output), (Some(15), Some(2)));
}

#[test]
fn commands_of_the_program_are_not_the_question() {
    let user = |content: &str| json!({"type": "user", "sessionId": "s", "message": {"content": content}});
    let answer = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}});
    let lines = [
        user("<command-name>/clear</command-name>"),
        user("<local-command-stdout></local-command-stdout>"),
        user("Deploy it"),
        answer,
    ];
    let trace = only(parsed(&lines.map(|line| line.to_string()).join("\n")));
    assert_eq!((trace.question(), trace.answer()), (Some("Deploy it"), Some("Done.")));
}

#[test]
fn a_prompt_that_was_edited_is_not_part_of_the_conversation() {
    let record = |kind: &str, id: &str, parent: &str, content: Value| {
        let parent = if parent.is_empty() { Value::Null } else { parent.into() };
        let message = json!({"id": id, "role": kind, "content": content});
        json!({"type": kind, "sessionId": "s", "uuid": id, "parentUuid": parent, "message": message})
            .to_string()
    };
    let text = |content: &str| json!([{"type": "text", "text": content}]);
    let first = record("user", "r1", "", "Deploy to prod".into());
    let gone = record("assistant", "b1", "r1", text("Deployed to PROD."));
    let second = record("user", "r2", "", "Deploy to staging".into());
    let last = record("assistant", "b2", "r2", text("Deployed to staging."));
    let trace = only(parsed(&[first, gone, second, last].join("\n")));
    assert_eq!(trace.question(), Some("Deploy to staging"));
    assert_eq!((trace.messages.len(), trace.answer()), (2, Some("Deployed to staging.")));

    // Calls at the same time are branches too, and all belong to the conversation.
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    let trace = only(parsed(
        &[
            record("user", "u", "", "Read both".into()),
            record("assistant", "c1", "u", call("t1")),
            record("assistant", "c2", "c1", call("t2")),
            record("user", "d1", "c1", result("t1")),
            record("user", "d2", "c2", result("t2")),
            record("assistant", "e", "d2", text("Read.")),
        ]
        .join("\n"),
    ));
    assert_eq!(calls(&trace), [("Read", Some(false), None), ("Read", Some(false), None)]);
    assert_eq!(trace.end, SessionEnd::Finished);
}
