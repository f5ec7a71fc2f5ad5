//! Thousands of cases under random faults; each outcome is compared with the server's log of its replies.
//!
//! The fault of a request depends on the seed, the case, the question and the number of earlier requests for
//! it, so a seed gives the same faults in every interleaving.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assize_rubric::{Criterion, JudgingMode, RawScore, Tokens};
use assize_store::CaseRecord;
use assize_testkit::mock::{MockOptions, MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::chaos::engine::{FORMATS, Format, Job, NotingClock, client, items, judge, perform};
use crate::chaos::kinds::{Kind, kinds};
use crate::e2e::judge::JudgeRequest;

/// Number of cases in a run. With the runs below, more than two thousand in total.
const CASES: usize = 350;
const WORDS: [&str; 4] = ["apples", "pears", "plums", "zebras"];

/// The criteria of every case: four words that an answer may contain, and a score.
fn criteria() -> Value {
    let mut criteria: Vec<Value> =
        WORDS.iter().map(|word| json!({"id": word, "outcome": format!("Names `{word}`")})).collect();
    criteria.push(json!({
        "id": "depth", "outcome": "Depth is `4`", "score_ranges": {"0": "none", "5": "some", "8": "all"},
    }));
    Value::Array(criteria)
}

/// A random number from a seed and words. It does not depend on earlier draws.
pub(crate) fn draw(seed: u64, words: &[&str]) -> u64 {
    // FNV-1a, finished as in SplitMix64 so that every bit counts.
    let mut hash = seed ^ 0xcbf2_9ce4_8422_2325;
    for byte in words.iter().flat_map(|word| word.bytes().chain([0xff])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// What the server knows.
#[derive(Default)]
struct Known {
    asked: HashMap<String, u64>,
    /// Case and text of every criterion that got a readable, true decision.
    told: BTreeSet<(String, String)>,
    faults: BTreeMap<String, u64>,
}

/// Probability in percent that a request of a case meets a fault: from never to almost always.
fn weather(seed: u64, case: &str) -> u64 {
    [0, 25, 50, 75, 95][(draw(seed, &[case, "weather"]) % 5) as usize]
}

fn scripted(seed: u64, kinds: &[Kind], known: &Mutex<Known>, incoming: &MockRequest) -> MockReply {
    let request = JudgeRequest::of_text(&incoming.last_user_text).expect("a judge is asked");
    let case = request.answer.split_whitespace().next().expect("a name").to_owned();
    let wordings: Vec<&str> = request.criteria.iter().map(|criterion| criterion.text.as_str()).collect();
    let question = format!("{case} {}", wordings.join(" "));
    let mut known = known.lock().expect("no panic while it is held");
    let asked = known.asked.entry(question.clone()).or_default();
    *asked += 1;
    let times = asked.to_string();
    let chance = draw(seed, &[&question, &times, "chance"]) % 100;
    let mut deaf = BTreeSet::new();
    let reply = if chance < weather(seed, &case) {
        let fitting: Vec<&Kind> = kinds.iter().filter(|kind| kind.batched == request.batched).collect();
        let at = (draw(seed, &[&question, &times, "kind"]) % fitting.len() as u64) as usize;
        let kind = fitting[at];
        *known.faults.entry(kind.name.clone()).or_default() += 1;
        if !kind.readable {
            // In a batch with a gap, all entries except the second are normal decisions.
            let gap = |handle: &str| kind.gap && !handle.starts_with("c2-");
            deaf = request
                .criteria
                .iter()
                .filter(|criterion| !gap(&criterion.handle))
                .map(|criterion| criterion.text.clone())
                .collect();
        }
        // A gap needs the entry that it removes.
        if kind.gap && !request.criteria.iter().any(|criterion| criterion.handle.starts_with("c2-")) {
            deaf.clear();
            MockReply::Json(request.truthful())
        } else {
            (kind.fault)(&request)
        }
    } else {
        MockReply::Json(request.truthful())
    };
    for wording in wordings.into_iter().filter(|wording| !deaf.contains(*wording)) {
        known.told.insert((case.clone(), wording.to_owned()));
    }
    reply
}

/// The correct outcome for an answer.
fn truth(criterion: &Criterion, answer: &str) -> (&'static str, Option<u8>) {
    match criterion.id.as_str() {
        "depth" => ("scored", Some(4)),
        word if answer.split_whitespace().any(|known| known == word) => ("met", None),
        _ => ("unmet", None),
    }
}

fn check(record: &CaseRecord, answer: &str, known: &Known) -> usize {
    let case = &record.result.case_id;
    assert_eq!(record.decisions.len(), WORDS.len() + 1, "{case}: one row a criterion");
    let mut open = 0;
    for row in &record.decisions {
        let decision = &row.decision;
        let criterion = decision.criterion().expect("a criterion");
        let told = known.told.contains(&(case.to_string(), criterion.text.clone()));
        let outcome = (decision.outcome().name(), decision.outcome().raw_score().map(RawScore::get));
        if told {
            assert_eq!(outcome, truth(criterion, answer), "{case} {}: what the judge said", criterion.id);
            assert!(decision.ungraded.is_none());
        } else {
            let why = decision.ungraded.as_ref().unwrap_or_else(|| {
                panic!("{case} {}: {outcome:?} was never said: {:?}", criterion.id, decision.spent.replies)
            });
            assert_eq!(outcome, ("ungraded", None));
            assert!(!why.message.is_empty() && decision.reason == why.message);
            open += 1;
        }
    }
    open
}

fn rage(seed: u64, format: &Format) -> BTreeMap<String, u64> {
    let table: Arc<Vec<Kind>> = Arc::new(kinds().into_iter().filter(|kind| !kind.slow).collect());
    let known = Arc::new(Mutex::new(Known::default()));
    let script = {
        let (table, known) = (Arc::clone(&table), Arc::clone(&known));
        move |incoming: &MockRequest| scripted(seed, &table, &known, incoming)
    };
    let server = MockServer::start_with(script, MockOptions { record: false });
    let clock = Arc::new(NotingClock::default());
    let judge = judge(client(format, &server, &clock, Duration::from_mins(1)));
    let jobs: Vec<Job> = (0..CASES)
        .map(|number| {
            let id = format!("s{seed}-{number:04}");
            let has = |word: &&&str| draw(seed, &[&id, word]).is_multiple_of(2);
            let words: Vec<&str> = WORDS.iter().filter(has).copied().collect();
            let judging = match draw(seed, &[&id, "judging"]) % 3 {
                0 => JudgingMode::PerCriterion,
                1 => JudgingMode::Batched(None),
                _ => JudgingMode::Batched(NonZeroUsize::new(2)),
            };
            Job {
                answer: format!("{id} has {}", words.join(" and ")),
                id,
                judging,
                judge: Arc::clone(&judge),
            }
        })
        .collect();
    let answers: BTreeMap<String, String> =
        jobs.iter().map(|job| (job.id.clone(), job.answer.clone())).collect();
    let (records, totals) = perform(items(jobs, &criteria()));
    let known = known.lock().expect("the run is over");

    let lost: Vec<&String> = answers.keys().filter(|id| !records.contains_key(*id)).collect();
    assert!(lost.is_empty() && records.len() == CASES, "lost: {lost:?}");
    let open: usize = records.iter().map(|(id, record)| check(record, &answers[id], &known)).sum();
    // The storm must have left some criteria ungraded, and must have been overcome for most.
    assert!(open > CASES / 20 && known.told.len() > CASES, "{open} open, {} told", known.told.len());

    // The totals match the rows, and the requests match the server.
    let rows = || records.values().flat_map(|record| &record.decisions);
    assert_eq!(totals.counts.total(), CASES);
    assert_eq!(totals.criteria, (CASES * (WORDS.len() + 1)) as u64);
    assert_eq!(totals.criteria_ungraded, open as u64);
    assert_eq!(totals.judge_calls, rows().map(|row| u64::from(row.decision.spent.attempts)).sum::<u64>());
    assert_eq!(totals.judge_calls, server.count() as u64);
    let mut tokens = Tokens::default();
    rows().for_each(|row| tokens.add(row.decision.spent.tokens));
    assert_eq!(totals.tokens, tokens);
    known.faults.clone()
}

#[test]
fn under_any_mix_of_faults_outcomes_are_the_truth_or_missing() {
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let raging: Vec<_> = FORMATS
            .iter()
            .zip([11, 11, 12, 12, 13, 13])
            .map(|(format, seed)| scope.spawn(move || rage(seed, format)))
            .collect();
        for storm in raging {
            for (kind, count) in storm.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                *faults.entry(kind).or_default() += count;
            }
        }
    });
    for kind in kinds().iter().filter(|kind| !kind.slow) {
        assert!(faults.contains_key(&kind.name), "no request met {}", kind.name);
    }
}
