//! Every kind of fault in every wire format, once and permanently.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assize_llm::{ClientSetup, ModelClient, ModelName, gives_embeddings, gives_labels, known_providers};
use assize_rubric::{JudgingMode, Outcome, RawScore, Tokens};
use assize_store::CaseRecord;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::chaos::engine::{FORMATS, Job, NotingClock, client, items, judge, perform};
use crate::chaos::kinds::{End, IDS, Kind, WISHES, Wish, kinds};
use crate::e2e::judge::JudgeRequest;

/// Faults that must be in the table: the known failures of servers and models.
const REQUIRED: &[&str] = &[
    "429", "429 with seconds", "429 with a date", "429 with milliseconds", "429 with a reset", "408", "409",
    "500", "502", "503", "504", "529", "reset", "timeout", "truncated body", "slow body", "invalid JSON",
    "prose around JSON", "fence", "empty content", "refusal", "content filter", "finish reason length",
    "missing id", "unknown id", "repeated id", "score above the range", "score that is not whole",
    "true for a decision", "same nonsense",
];

/// Time limit for faults that exhaust it; long enough for a busy machine to answer all other requests.
const SHORT: Duration = Duration::from_secs(2);
const PATIENT: Duration = Duration::from_mins(1);

fn criteria() -> Value {
    json!([
        {"id": "a", "outcome": "Names `apples`"},
        {"id": "z", "outcome": "Names `zebras`"},
        {"id": "n", "outcome": "Depth is `7`", "score_ranges": {"0": "none", "5": "some", "8": "all"}},
    ])
}

/// What the server records about each case.
#[derive(Default)]
struct Noted {
    /// Number of requests per question: the whole case in a batch, otherwise each criterion.
    asked: HashMap<String, u32>,
    requests: BTreeMap<String, u32>,
    faults: BTreeMap<String, u32>,
    tokens: BTreeMap<String, Tokens>,
}

/// Tokens as the mock server counts them: a quarter of the bytes, at least one.
fn count(bytes: usize) -> u64 {
    (bytes as u64 / 4).max(1)
}

/// The usage that the server reports for a reply; `None` for a reply without usage.
fn spent(incoming: &MockRequest, reply: &MockReply) -> Option<Tokens> {
    let output = match reply {
        MockReply::Text(text)
        | MockReply::Finish { text, .. }
        | MockReply::Refusal(text)
        | MockReply::Drip { text, .. } => text.len(),
        MockReply::Json(value) => value.to_string().len(),
        _ => return None,
    };
    let input = count(incoming.system_text.len() + incoming.last_user_text.len());
    Some(Tokens { input: Some(input), cached: None, output: Some(count(output)) })
}

/// The reply to a request about a case whose answer begins with its name: `once` or `ever`, and the number of a
/// kind.
fn scripted(kinds: &[Kind], noted: &Mutex<Noted>, incoming: &MockRequest) -> MockReply {
    let request = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge is asked");
    let case = request.answer.split_whitespace().next().expect("a name").to_owned();
    let (how, number) = case.split_once('-').expect("two parts");
    let kind = &kinds[number.parse::<usize>().expect("a number")];
    let question = if kind.batched { case.clone() } else { format!("{case} {}", request.criteria[0].text) };
    let mut noted = noted.lock().expect("no panic while it is held");
    let asked = noted.asked.entry(question).or_default();
    *asked += 1;
    let faulty = how == "ever" || *asked == 1;
    let reply = if faulty { (kind.fault)(&request) } else { MockReply::Json(request.truthful()) };
    *noted.requests.entry(case.clone()).or_default() += 1;
    if faulty {
        *noted.faults.entry(case.clone()).or_default() += 1;
    }
    if let Some(spent) = spent(incoming, &reply).filter(|_| !kind.slow || !faulty) {
        noted.tokens.entry(case).or_default().add(spent);
    }
    reply
}

/// The result of a case, in the terms of the table.
fn end_of(record: &CaseRecord) -> (Vec<&str>, BTreeSet<String>, u32) {
    let open: Vec<&str> = record
        .decisions
        .iter()
        .filter(|row| row.decision.outcome() == Outcome::Ungraded)
        .filter_map(|row| row.criterion())
        .map(|criterion| criterion.id.as_str())
        .collect();
    let kinds = record
        .decisions
        .iter()
        .filter_map(|row| row.decision.ungraded.as_ref())
        .map(|why| {
            let kind = serde_json::to_value(why.kind).expect("a kind has a name");
            kind.as_str().expect("a word").to_owned()
        })
        .collect();
    (open, kinds, record.decisions.iter().map(|row| row.decision.spent.attempts).sum())
}

fn check(record: &CaseRecord, kind: &Kind, end: End, noted: &Noted, context: &str) {
    let case = &*record.result.case_id;
    let (open, kinds, attempts) = end_of(record);
    assert_eq!(open, end.ungraded, "{context}: {:?}", record.decisions);
    let expected: BTreeSet<String> = end.ungraded.iter().map(|_| end.kind.to_owned()).collect();
    assert_eq!(kinds, expected, "{context}");
    let asked = noted.requests.get(case).copied();
    // On a busy machine, a request of the hurried client may end before the server sees it, and an answer may come too late
    // for it.
    let is_late = kind.slow && asked.is_some_and(|asked| asked < attempts);
    assert!(
        asked == Some(attempts) || is_late,
        "{context}: rows count {attempts} requests, the server {asked:?}"
    );
    // A question that fails because the server is busy with others loses none of its attempts, so its number
    // of requests depends on the others.
    if kind.is_lack_of_room() {
        assert!(attempts >= end.requests, "{context}: {attempts} requests");
    } else {
        assert_eq!(attempts, end.requests, "{context}: requests");
    }
    let graded = record.decisions.iter().filter(|row| row.decision.outcome() != Outcome::Ungraded);
    for row in graded {
        let outcome = row.decision.outcome();
        let id = row.criterion().expect("a criterion").id.as_str();
        let decided = (id, outcome.name(), outcome.raw_score().map(RawScore::get));
        let right = [("a", "met", None), ("z", "unmet", None), ("n", "scored", Some(7))].contains(&decided);
        assert!(right, "{context}: {decided:?} is not the truth");
    }
    assert_eq!(record.decisions.len(), IDS.len(), "{context}: one row a criterion");
    // The case fails by its score, but would pass if `z` were met; without that decision there is no verdict.
    let verdict = serde_json::to_value(record.result.verdict).expect("a verdict has a name");
    assert_eq!(verdict, if end.ungraded.is_empty() { "fail" } else { "incomplete" }, "{context}");
    let mut tokens = Tokens::default();
    for row in &record.decisions {
        tokens.add(row.decision.spent.tokens);
    }
    let reported = noted.tokens.get(case).copied().unwrap_or_default();
    let is_late = kind.slow && tokens.input <= reported.input && tokens.output <= reported.output;
    assert!(
        (tokens.input, tokens.output) == (reported.input, reported.output) || is_late,
        "{context}: tokens of every try that reported some: {tokens:?}, {reported:?}"
    );
}

fn go_through(format_at: usize) {
    let format = &FORMATS[format_at];
    let table: Arc<Vec<Kind>> = Arc::new(kinds());
    let noted = Arc::new(Mutex::new(Noted::default()));
    let server = MockServer::start({
        let (table, noted) = (Arc::clone(&table), Arc::clone(&noted));
        move |incoming: &MockRequest| scripted(&table, &noted, incoming)
    });
    let clock = Arc::new(NotingClock::default());
    let patient = judge(client(format, &server, &clock, PATIENT));
    let hurried = judge(client(format, &server, &clock, SHORT));
    let mut jobs = Vec::new();
    for (number, kind) in table.iter().enumerate() {
        for how in ["once", "ever"] {
            let id = format!("{how}-{number}");
            jobs.push(Job {
                answer: format!("{id} has apples and pears"),
                id,
                judging: if kind.batched { JudgingMode::Batched(None) } else { JudgingMode::PerCriterion },
                judge: Arc::clone(if kind.slow { &hurried } else { &patient }),
            });
        }
    }
    let (records, _) = perform(items(jobs, &criteria()));
    let noted = noted.lock().expect("the run is over");
    for (number, kind) in table.iter().enumerate() {
        for (how, ends) in [("once", &kind.once), ("ever", &kind.for_ever)] {
            let id = format!("{how}-{number}");
            let context = format!("{} / {} / {how}", format.wire, kind.name);
            let record = records.get(&id).unwrap_or_else(|| panic!("{context}: the case is lost"));
            assert!(noted.faults.contains_key(&id), "{context}: the cell is empty, no fault was met");
            check(record, kind, ends[format_at], &noted, &context);
        }
    }
    // Each requested wait was kept in full: once for each criterion of a passing fault, between all attempts of
    // a permanent one, and possibly also by questions that were about to be asked.
    for Wish { name, millis, .. } in WISHES {
        let (low, high) = (Duration::from_millis(millis), Duration::from_millis(millis + 500));
        let granted = clock.waits().iter().filter(|wait| (low..=high).contains(*wait)).count();
        assert!(granted >= 9, "{} / {name}: {granted}", format.wire);
    }
}

#[test]
fn the_table_has_every_kind_and_every_wire_format() {
    let names: BTreeSet<String> = kinds().into_iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), kinds().len(), "two kinds share a name");
    for required in REQUIRED {
        assert!(names.contains(*required), "no row for {required}");
    }
    let spoken: BTreeSet<&str> = FORMATS.iter().map(|format| format.wire).collect();
    // Models for embeddings or labels don't judge.
    for provider in known_providers().filter(|name| !gives_embeddings(name) && !gives_labels(name)) {
        let name: ModelName = format!("{provider}:m").parse().expect("a sound name");
        let variables = |variable: &str| match variable {
            version if version.contains("VERSION") => None,
            key if key.contains("KEY") || key.contains("TOKEN") => Some("sk-somebody".to_owned()),
            _ => Some("http://127.0.0.1:9/v1".to_owned()),
        };
        let client =
            ModelClient::from_name(&name, &variables, ClientSetup::default()).expect("a sound configuration");
        assert!(spoken.contains(client.wire_name()), "no column for {}", client.wire_name());
    }
}

/// One test for each format, so that the tests run in parallel and a failure names its format.
macro_rules! formats {
    ($($name:ident: $at:expr),+ $(,)?) => {
        $(#[test]
        fn $name() {
            go_through($at);
        })+

        #[test]
        fn no_format_is_left_out() {
            assert_eq!([$($at),+].len(), FORMATS.len());
        }
    };
}

formats! {
    openai_chat: 0,
    openai_responses: 1,
    azure: 2,
    anthropic: 3,
    gemini: 4,
    vertex: 5,
    bedrock: 6,
    ollama: 7,
}
