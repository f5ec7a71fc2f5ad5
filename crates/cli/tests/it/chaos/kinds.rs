//! The table of faults: the server's behaviour, and the expected result in each wire format.

use std::time::Duration;

use assize_testkit::mock::MockReply;
use serde_json::{Value, json};

use crate::chaos::engine::{ATTEMPTS, FORMATS};
use crate::e2e::judge::JudgeRequest;

/// What happens to a case, and the number of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Ids of the criteria that stay ungraded; all others must be decided correctly.
    pub(crate) ungraded: &'static [&'static str],
    /// Kind of their failure.
    pub(crate) kind: &'static str,
    /// Requests for the whole case.
    pub(crate) requests: u32,
}

/// The ids of the criteria: the first is met, the second is not, the third has a score of 7.
pub(crate) const IDS: &[&str] = &["a", "z", "n"];

const fn right(requests: u32) -> End {
    End { ungraded: &[], kind: "", requests }
}

const fn lost(kind: &'static str, requests: u32) -> End {
    End { ungraded: IDS, kind, requests }
}

/// One entry for each of [`FORMATS`], in that order.
pub(crate) type Ends = [End; FORMATS.len()];

const fn same(end: End) -> Ends {
    [end; FORMATS.len()]
}

/// The same for all formats except Ollama's, which can't express refusals and filters.
const fn but_ollama(end: End, ollama: End) -> Ends {
    let mut ends = same(end);
    ends[FORMATS.len() - 1] = ollama;
    ends
}

/// One kind of fault.
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) batched: bool,
    /// Whether it takes as long as the client's time limit.
    pub(crate) slow: bool,
    /// Whether the server asks for a wait, which a real clock would keep.
    pub(crate) waits: bool,
    /// Whether it is a valid reply in an unusual form.
    pub(crate) readable: bool,
    /// Whether it is a reply to a batch that lacks only the decision on the second criterion.
    pub(crate) gap: bool,
    pub(crate) fault: Box<dyn Fn(&JudgeRequest) -> MockReply + Send + Sync>,
    /// The result if each question meets the fault once.
    pub(crate) once: Ends,
    /// The result if the fault is permanent.
    pub(crate) for_ever: Ends,
}

impl Kind {
    /// Whether the server reports too many requests, or may seem to: a request that times out among others may have
    /// waited for them.
    pub(crate) fn is_lack_of_room(&self) -> bool {
        self.name.contains("429") || self.slow
    }
}

/// The opposite of the truth about every criterion: no fault may make it count.
pub(crate) fn lie(request: &JudgeRequest) -> Value {
    let mut value = request.truthful();
    let turn = |entry: &mut Value| match entry.get("score").and_then(Value::as_u64) {
        Some(score) => entry["score"] = ((score + 3) % 11).into(),
        None => entry["outcome"] = if entry["outcome"] == "met" { "unmet" } else { "met" }.into(),
    };
    match value.get_mut("results").and_then(Value::as_array_mut) {
        Some(results) => results.iter_mut().for_each(turn),
        None => turn(&mut value),
    }
    value
}

/// A body that is a usable answer in every format at once, with this text.
fn answer_of_every_format(text: &str) -> String {
    json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
        "message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop",
    })
    .to_string()
}

/// A status with headers, and a body that is a usable answer with a lie.
pub(crate) fn status(request: &JudgeRequest, code: u16, headers: &[(&str, &str)]) -> MockReply {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    MockReply::Status { code, headers, body: answer_of_every_format(&lie(request).to_string()) }
}

/// A fault in calls about one criterion.
#[expect(clippy::large_types_passed_by_value, reason = "rows of a table that is built once")]
fn single(
    name: impl Into<String>,
    fault: impl Fn(&JudgeRequest) -> MockReply + Send + Sync + 'static,
    once: Ends,
    for_ever: Ends,
) -> Kind {
    Kind {
        name: name.into(),
        batched: false,
        slow: false,
        waits: false,
        readable: false,
        gap: false,
        fault: Box::new(fault),
        once,
        for_ever,
    }
}

/// A fault of the network or the server that the client overcomes by retrying.
fn passing(
    name: impl Into<String>,
    fault: impl Fn(&JudgeRequest) -> MockReply + Send + Sync + 'static,
) -> Kind {
    single(name, fault, same(right(6)), same(lost("transport", 3 * ATTEMPTS)))
}

/// A reply without a decision. The judge is then asked again, with the reason.
fn unusable(
    name: impl Into<String>,
    kind: &'static str,
    fault: impl Fn(&JudgeRequest) -> MockReply + Send + Sync + 'static,
) -> Kind {
    single(name, fault, same(right(6)), same(lost(kind, 9)))
}

/// A reply that was cut off. It is requested once more, with more room.
fn cut_off(
    name: impl Into<String>,
    fault: impl Fn(&JudgeRequest) -> MockReply + Send + Sync + 'static,
) -> Kind {
    single(name, fault, same(right(6)), same(lost("truncated", 6)))
}

/// A reply that is as good as any other.
fn readable(
    name: impl Into<String>,
    fault: impl Fn(&JudgeRequest) -> MockReply + Send + Sync + 'static,
) -> Kind {
    Kind { readable: true, ..single(name, fault, same(right(3)), same(right(3))) }
}

/// A reply to a batch in which the second criterion lacks a decision.
fn gap(name: impl Into<String>, spoil: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) -> Kind {
    let fault = move |request: &JudgeRequest| {
        let mut value = request.truthful();
        let results = value["results"].as_array_mut().expect("a batch");
        spoil(results);
        MockReply::Json(value)
    };
    let ends = End { ungraded: &["z"], kind: "malformed", requests: 3 };
    Kind { batched: true, gap: true, ..single(name, fault, same(right(2)), same(ends)) }
}

fn batch(kind: Kind) -> Kind {
    Kind { batched: true, ..kind }
}

/// Whether this is the handle of the second criterion: `c2` and a mark in every batch, even alone in a repair.
fn is_second(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.starts_with("c2-"))
}

/// The entry of the second criterion.
fn second(results: &mut [Value]) -> &mut Value {
    results.iter_mut().find(|entry| is_second(&entry["id"])).expect("it is asked about until it is decided")
}

fn with(change: impl Fn(&mut Value) + Send + Sync + 'static) -> impl Fn(&JudgeRequest) -> MockReply {
    move |request| {
        let mut value = lie(request);
        change(&mut value);
        MockReply::Json(value)
    }
}

/// Changes the member that holds a decision, by its scale.
fn decided(score: &'static str, outcome: &'static str) -> impl Fn(&JudgeRequest) -> MockReply {
    let read = |text| serde_json::from_str::<Value>(text).expect("JSON in the table");
    let (score, outcome) = (read(score), read(outcome));
    with(move |value| {
        let member = if value.get("score").is_some() { "score" } else { "outcome" };
        value[member] = if member == "score" { score.clone() } else { outcome.clone() };
    })
}

/// A wait that a server asks for.
pub(crate) struct Wish {
    pub(crate) name: &'static str,
    pub(crate) millis: u64,
    headers: &'static [(&'static str, &'static str)],
}

/// Every way to ask for a wait: seconds, a date, milliseconds, a reset.
pub(crate) const WISHES: [Wish; 4] = [
    Wish { name: "429 with seconds", millis: 7_000, headers: &[("retry-after", "7")] },
    Wish {
        name: "429 with a date",
        millis: 11_000,
        headers: &[
            ("date", "Sun, 06 Nov 1994 08:49:26 GMT"),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ],
    },
    Wish { name: "429 with milliseconds", millis: 4_500, headers: &[("retry-after-ms", "4500")] },
    Wish {
        name: "429 with a reset",
        millis: 9_000,
        headers: &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "9s")],
    },
];

/// All kinds of faults.
pub(crate) fn kinds() -> Vec<Kind> {
    [of_transport(), of_replies(), of_batches()].into_iter().flatten().collect()
}

/// Faults of the network and the server.
fn of_transport() -> Vec<Kind> {
    let mut kinds = vec![
        passing("429", |request| status(request, 429, &[])),
        passing("reset", |_| MockReply::Reset),
        passing("truncated body", |request| MockReply::Truncated(lie(request).to_string().repeat(50))),
        Kind { slow: true, ..passing("timeout", |_| MockReply::Hang) },
        Kind {
            slow: true,
            ..passing("slow body", |request| MockReply::Drip {
                text: lie(request).to_string(),
                pieces: 40,
                pause: Duration::from_secs(1),
            })
        },
        readable("body in small pieces", |request| MockReply::Drip {
            text: request.truthful().to_string(),
            pieces: 7,
            pause: Duration::from_millis(1),
        }),
    ];
    for Wish { name, headers, .. } in WISHES {
        kinds.push(Kind { waits: true, ..passing(name, move |request| status(request, 429, headers)) });
    }
    for code in [408, 409, 500, 502, 503, 504, 529] {
        kinds.push(passing(code.to_string(), move |request| status(request, code, &[])));
    }
    for (name, body) in [
        ("invalid JSON", r#"{"choices":[{"message":"#),
        ("page instead of JSON", "<html><body>Please log in</body></html>"),
        ("empty body", ""),
        ("JSON of no format", r#"{"outcome":"met","evidence":[],"reason":"r"}"#),
        (
            "error with status 200",
            r#"{"error":{"message":"overloaded","type":"overloaded_error","code":"x"}}"#,
        ),
    ] {
        kinds.push(passing(name, move |_| MockReply::Raw(body.to_owned())));
    }
    for code in [400, 401, 403, 404] {
        let ends = same(lost("transport", 3));
        kinds.push(single(code.to_string(), move |_| MockReply::status(code, "{}"), ends, ends));
    }

    kinds
}

/// Replies of a judge about one criterion.
fn of_replies() -> Vec<Kind> {
    vec![
        readable("fence", |request| MockReply::text(format!("```json\n{:#}\n```", request.truthful()))),
        readable("prose around JSON", |request| {
            MockReply::text(format!("Let me see {{this}}.\n\n{}\n\nI hope that helps.", request.truthful()))
        }),
        readable("thoughts before JSON", |request| {
            MockReply::text(format!("<think>maybe {}</think>\n{}", lie(request), request.truthful()))
        }),
        readable("unknown finish reason", |request| MockReply::finish("odd", request.truthful().to_string())),
        unusable("prose", "malformed", |_| MockReply::text("It is fine, I would say: met, a 10.")),
        unusable("same nonsense", "malformed", |_| MockReply::text("bananas")),
        unusable("empty content", "malformed", |_| MockReply::text("")),
        unusable("blank content", "malformed", |_| MockReply::text(" \n\u{feff} ")),
        unusable("empty object", "malformed", |_| MockReply::text("{}")),
        unusable("deep nesting", "malformed", |_| MockReply::text("[".repeat(5000))),
        unusable("half of the JSON", "malformed", |request| {
            let text = lie(request).to_string();
            MockReply::text(&text[..text.len() - 2])
        }),
        unusable("two decisions", "malformed", |request| {
            MockReply::text(format!("{}\n{}", lie(request), request.truthful()))
        }),
        unusable("decision in a broken object", "malformed", |request| {
            MockReply::text(format!("{{\"evidence\": [\"{}\"], \"reason\": \"", lie(request)))
        }),
        unusable("repeated member", "malformed", |request| {
            let text = lie(request).to_string();
            MockReply::text(format!("{},{}", &text[..text.len() - 1], &request.truthful().to_string()[1..]))
        }),
        unusable(
            "both members",
            "malformed",
            with(|value| {
                value["score"] = 9.into();
                value["outcome"] = "met".into();
            }),
        ),
        unusable(
            "no reason",
            "malformed",
            with(|value| {
                value.as_object_mut().expect("an object").remove("reason");
            }),
        ),
        unusable(
            "no evidence",
            "malformed",
            with(|value| {
                value.as_object_mut().expect("an object").remove("evidence");
            }),
        ),
        unusable("evidence of a wrong type", "malformed", with(|value| value["evidence"] = "apples".into())),
        unusable("reason of a wrong type", "malformed", with(|value| value["reason"] = json!(["r"]))),
        unusable("score above the range", "malformed", decided("11", "\"pass\"")),
        unusable("score below the range", "malformed", decided("-1", "\"fail\"")),
        unusable("score that is not whole", "malformed", decided("6.5", "\"mostly met\"")),
        unusable("score in words", "malformed", decided("\"7\"", "\"true\"")),
        unusable("null for a decision", "malformed", decided("null", "null")),
        unusable("true for a decision", "malformed", decided("true", "true")),
        unusable("a list for a decision", "malformed", decided("[7]", "[\"met\"]")),
        unusable("a number for an outcome", "malformed", decided("1e300", "1")),
        unusable("not applicable unasked", "malformed", decided("\"not_applicable\"", "\"not_applicable\"")),
        cut_off("finish reason length", |request| MockReply::finish("length", lie(request).to_string())),
        cut_off("finish reason length in the middle", |_| {
            MockReply::finish("length", "{\"evidence\": [\"app")
        }),
        unusable("finish reason error", "truncated", |request| {
            MockReply::finish("error", lie(request).to_string())
        }),
        // A model that declines is not asked again; a server that withholds may do so again.
        single(
            "refusal",
            |_| MockReply::Refusal("I can't judge that.".into()),
            but_ollama(lost("refusal", 3), right(6)),
            but_ollama(lost("refusal", 3), lost("malformed", 9)),
        ),
        single(
            "content filter",
            |request| MockReply::finish("content_filter", lie(request).to_string()),
            same(lost("refusal", 3)),
            same(lost("refusal", 3)),
        ),
        single(
            "content refused",
            |_| {
                MockReply::status(
                    400,
                    r#"{"error":{"message":"content management policy","code":"content_filter"}}"#,
                )
            },
            same(lost("refusal", 3)),
            same(lost("refusal", 3)),
        ),
    ]
}

/// Replies of a judge about several criteria.
fn of_batches() -> Vec<Kind> {
    vec![
        gap("missing id", |results| results.retain(|entry| !is_second(&entry["id"]))),
        gap("repeated id", |results| {
            let mut twin = second(results).clone();
            twin["outcome"] = "met".into();
            results.push(twin);
        }),
        gap("repeated id, same decision", |results| {
            let twin = second(results).clone();
            results.push(twin);
        }),
        gap("unknown id", |results| second(results)["id"] = "z".into()),
        gap("unknown id beside the others", |results| {
            results.push(json!({"id": "c9-0000", "evidence": [], "reason": "r", "outcome": "met"}));
            results.retain(|entry| !is_second(&entry["id"]));
        }),
        gap("no id", |results| {
            second(results).as_object_mut().expect("an object").remove("id");
        }),
        gap("number for an id", |results| second(results)["id"] = 2.into()),
        gap("wrong member in one entry", |results| {
            let id = second(results)["id"].clone();
            *second(results) = json!({"id": id, "score": 9, "evidence": [], "reason": "r"});
        }),
        gap("id without its mark", |results| second(results)["id"] = "c2".into()),
        gap("wrong type in one entry", |results| second(results)["outcome"] = json!({"met": true})),
        gap("a text for an entry", |results| *second(results) = "met".into()),
        batch(single(
            "batch: same nonsense",
            |_| MockReply::text("bananas"),
            same(right(2)),
            same(lost("malformed", 3)),
        )),
        batch(single(
            "batch: no list",
            |request| MockReply::Json(json!({"results": lie(request)["results"][0]})),
            same(right(2)),
            same(lost("malformed", 3)),
        )),
        batch(single(
            "batch: 503",
            |request| status(request, 503, &[]),
            same(right(2)),
            same(lost("transport", ATTEMPTS)),
        )),
        // More room may suffice, or smaller batches: 3, then 2 and 1, then 1 and 1, each asked for twice.
        batch(single(
            "batch: finish reason length",
            |request| MockReply::finish("length", lie(request).to_string()),
            same(right(2)),
            same(lost("truncated", 10)),
        )),
        batch(single(
            "batch: refusal",
            |_| MockReply::Refusal("I can't judge that.".into()),
            but_ollama(right(3), right(2)),
            but_ollama(lost("refusal", 5), lost("malformed", 3)),
        )),
    ]
}
