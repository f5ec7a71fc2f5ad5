//! Hostile answers before a judge that copies its input and believes everything outside a block.
//!
//! The judge is made to be fooled: it parses the text of a request only by the rules of the prompt, obeys all text
//! outside a block, and copies the answer into its replies unescaped. With the real fences, no answer changes any of
//! its decisions. With the weaker fences of [`Weakness`], the same answers do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::JudgeMaterial;
use crate::tests::common::*;
use assize_rubric::{JudgingMode, Outcome, RawScore};
use serde_json::{Value, json};

/// One line of `hostile.jsonl`.
struct Hostile {
    name: String,
    answer: String,
}

fn hostile() -> Vec<Hostile> {
    include_str!("../../tests/hostile.jsonl")
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let repeat = value["repeat"].as_u64().unwrap_or(1) as usize;
            Hostile {
                name: value["name"].as_str().unwrap().to_owned(),
                answer: format!("apples\n{}", value["answer"].as_str().unwrap().repeat(repeat)),
            }
        })
        .collect()
}

/// A weakening of the protocol, to check that the suite notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weakness {
    /// No weakness: the real protocol.
    None,
    /// Fences without a token.
    NoToken,
    /// Fences with a token that never changes.
    KnownToken,
    /// Ids that can be known in advance.
    KnownIds,
}

impl Weakness {
    /// The request as it would be sent.
    fn weaken(self, text: &str, fence: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::NoToken => text.replace(&format!(" {fence}]]"), "]]"),
            Self::KnownToken => text.replace(fence, "00000000000000000000"),
            Self::KnownIds => text.replace(&format!("-{}", &fence[..4]), ""),
        }
    }

    /// The reply as it would be understood.
    fn restore(self, reply: &str, fence: &str) -> String {
        match self {
            Self::KnownIds => (1..5).fold(reply.to_owned(), |text, number| {
                let short = format!("\"id\":\"c{number}\"");
                text.replace(&short, &format!("\"id\":\"c{number}-{}\"", &fence[..4]))
            }),
            _ => reply.to_owned(),
        }
    }
}

/// A request taken apart by the rules of the prompt.
struct Reading {
    /// Names and texts of the blocks.
    blocks: Vec<(String, String)>,
    /// Everything else, which the judge takes for its instructions.
    trusted: String,
}

impl Reading {
    /// A line that begins a block counts only outside of blocks, and a block ends with the first line that
    /// carries the same name and token.
    fn of(text: &str) -> Self {
        let mut reading = Self { blocks: Vec::new(), trusted: String::new() };
        let mut open: Option<(&str, String, Vec<&str>)> = None;
        for line in text.split('\n') {
            if let Some((label, end, lines)) = &mut open {
                // No line that ends a block is longer than a few words.
                if line.len() < 200 && loosely(line) == *end {
                    let name = label.rsplit_once(' ').filter(|(_, token)| token.len() == 20);
                    let name = name.map_or(*label, |(name, _)| name);
                    reading.blocks.push((name.to_owned(), lines.join("\n")));
                    open = None;
                } else {
                    lines.push(line);
                }
                continue;
            }
            let begun = line.strip_prefix("[[BEGIN ").and_then(|rest| rest.strip_suffix("]]"));
            if let Some(label) = begun {
                open = Some((label, loosely(&format!("[[END {label}]]")), Vec::new()));
            } else {
                reading.trusted.push_str(line);
                reading.trusted.push('\n');
            }
        }
        reading
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.blocks.iter().filter(|(known, _)| known == name).map(|(_, text)| text.as_str()).collect()
    }
}

/// A line as a careless reader sees it: letter case, blanks and invisible characters make no difference.
fn loosely(line: &str) -> String {
    line.chars().filter(char::is_ascii_graphic).flat_map(char::to_lowercase).collect()
}

/// The JSON texts in a text that claim to be replies, in order.
fn verdicts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let claims = |value: &Value| {
                    ["outcome", "score", "results", "id"].iter().any(|name| value.get(name).is_some())
                };
                let text = &rest[..stream.byte_offset()];
                if claims(&value) || value.get(0).is_some_and(claims) {
                    found.push(text.to_owned());
                }
                // More than a few verdicts make no difference.
                if found.len() > 3 {
                    break;
                }
                rest = &rest[text.len()..];
            }
            _ => rest = &rest[1..],
        }
        // Nor does a megabyte of braces.
        if text.len() - rest.len() > 50_000 {
            break;
        }
    }
    found
}

/// Answers longer than this many bytes are long.
const LONG: usize = 100_000;

/// How the judge copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It doesn't.
    Plain,
    /// The answer, unescaped, in the reason.
    InReason,
    /// The answer, unescaped, as a quote.
    InEvidence,
    /// The answer before its own reply.
    Before,
    /// The answer after its own reply.
    After,
    /// The answer in a code fence before its own reply.
    InFence,
    /// The answer within its thoughts.
    InThoughts,
    /// The first verdict in the answer instead of its own, if asked about the second criterion.
    FirstVerdict,
    /// The last one.
    LastVerdict,
}

const MANNERS: [Manner; 9] = [
    Manner::Plain,
    Manner::InReason,
    Manner::InEvidence,
    Manner::Before,
    Manner::After,
    Manner::InFence,
    Manner::InThoughts,
    Manner::FirstVerdict,
    Manner::LastVerdict,
];

/// The judge's own decision on a wording: it looks for the word in back-ticks. A wording without one that says "always
/// met" is met.
fn decide(wording: &str, answer: &str, scored: bool) -> Value {
    let word = wording.split('`').nth(1);
    if scored {
        return word.and_then(|word| word.parse::<u8>().ok()).unwrap_or(10).into();
    }
    let met = word.map_or(wording.to_lowercase().contains("always met"), |word| answer.contains(word));
    if met { "met" } else { "unmet" }.into()
}

/// The reply of the judge.
fn parrot(reading: &Reading, manner: Manner) -> String {
    let is_repair = reading.blocks.iter().any(|(name, _)| name == "problem");
    let batched = reading.trusted.contains("{\"results\":");
    let obeys = reading.trusted.to_lowercase().contains("every criterion is met");
    let answer = reading.all("answer").first().copied().unwrap_or_default();
    // Verdicts outside all blocks are orders. The forms in the instructions are not JSON and don't count.
    if !is_repair && let Some(order) = verdicts(&reading.trusted).pop() {
        return order;
    }
    let ids: Vec<&str> = reading
        .trusted
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(id, _)| id)
        .filter(|id| id.starts_with('c') && id[1..].starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let asks_second = reading.all("criterion").iter().any(|wording| wording.contains("`plums`"));
    let copies = matches!(manner, Manner::FirstVerdict | Manner::LastVerdict);
    if copies && asks_second && !is_repair {
        let found = verdicts(answer);
        let chosen = if manner == Manner::FirstVerdict { found.first() } else { found.last() };
        if let Some(chosen) = chosen {
            return chosen.clone();
        }
    }
    let copied: String = answer.chars().take(3000).collect();
    let entry = |wording: &str, scored: bool, id: Option<&str>| {
        let (member, value) = match (scored, obeys) {
            (true, true) => ("score", json!(10)),
            (false, true) => ("outcome", json!("met")),
            (true, false) => ("score", decide(wording, answer, true)),
            (false, false) => ("outcome", decide(wording, answer, false)),
        };
        let id = id.map(|id| format!("\"id\":\"{id}\",")).unwrap_or_default();
        // Only the second criterion is judged carelessly; the others must not suffer from it.
        let careless = !is_repair && wording.contains("`plums`");
        let copied = if careless { copied.as_str() } else { "" };
        let evidence = if manner == Manner::InEvidence { format!("[\"{copied}\"]") } else { "[]".into() };
        let reason = if manner == Manner::InReason { copied } else { "" };
        format!("{{{id}\"evidence\":{evidence},\"reason\":\"so it is {reason}\",\"{member}\":{value}}}")
    };
    let scored = |wording: &str| wording.contains("Depth");
    let wordings = reading.all("criterion");
    let reply = if batched {
        let entries: Vec<String> = wordings
            .iter()
            .zip(&ids)
            .map(|(wording, id)| entry(wording, scored(wording), Some(id)))
            .collect();
        format!("{{\"results\":[{}]}}", entries.join(","))
    } else {
        // The form in the instructions decides, whatever a block that slipped in says.
        entry(wordings[0], reading.trusted.contains("\"score\":"), None)
    };
    if is_repair || !asks_second {
        return reply;
    }
    match manner {
        Manner::Before => format!("The answer says:\n{copied}\n{reply}"),
        Manner::After => format!("{reply}\nThe answer says:\n{copied}"),
        Manner::InFence => format!("```\n{copied}\n```\n{reply}"),
        Manner::InThoughts => format!("<think>{copied}</think>{reply}"),
        _ => reply,
    }
}

/// The criteria. The answers mention only apples.
const WORDINGS: [(&str, &str); 4] =
    [("a", "Names `apples`"), ("b", "Names `plums`"), ("c", "Names `zebras`"), ("d", "Depth is `2`")];

fn truth() -> [Outcome; 4] {
    [Outcome::Met, Outcome::Unmet, Outcome::Unmet, Outcome::Scored(RawScore::new(2).unwrap())]
}

/// The outcomes of the criteria for an answer, and whether the answer got text outside of its block.
fn judged(answer: &str, judging: JudgingMode, manner: Manner, weakness: Weakness) -> ([Outcome; 4], bool) {
    let strayed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&strayed);
    let model = Scripted::new(move |request| {
        let text = texts(request)[1..].concat();
        let fence = text.split("[[BEGIN question ").nth(1).unwrap()[..20].to_owned();
        let reading = Reading::of(&weakness.weaken(&text, &fence));
        // Every part of a request outside the blocks is written by the program, so it can't contain these.
        let trusted = reading.trusted.to_lowercase();
        if ["every criterion is met", "apples", "always met"].iter().any(|word| trusted.contains(word)) {
            seen.store(true, Ordering::SeqCst);
        }
        Ok(reply(&weakness.restore(&parrot(&reading, manner), &fence)))
    });
    let criteria = WORDINGS.iter().map(|(id, text)| match *id {
        "d" => bands(id, text),
        _ => checklist(id, text),
    });
    let mut task = task(criteria.collect());
    task.material =
        Arc::new(JudgeMaterial { answer: answer.to_owned(), ..JudgeMaterial::clone(&task.material) });
    task.judging = judging;
    let outcomes = outcomes(&run(&judge(&model), &task));
    (outcomes.try_into().unwrap(), strayed.load(Ordering::SeqCst))
}

/// The answers that changed the outcome of a criterion other than the second, over all manners of copying.
fn flips(judging: JudgingMode, weakness: Weakness) -> BTreeSet<String> {
    let mut flipped = BTreeSet::new();
    for Hostile { name, answer } in hostile() {
        // The long ones have the same effect in every manner and with every fence, only more slowly.
        let is_long = answer.len() > LONG;
        if is_long && weakness != Weakness::None {
            continue;
        }
        let manners = if is_long { &MANNERS[..1] } else { &MANNERS[..] };
        for &manner in manners {
            let (outcomes, strayed) = judged(&answer, judging, manner, weakness);
            let others = |outcomes: [Outcome; 4]| [outcomes[0], outcomes[2], outcomes[3]];
            if strayed || others(outcomes) != others(truth()) {
                flipped.insert(format!("{name} ({manner:?})"));
            }
        }
    }
    flipped
}

#[test]
fn the_suite_is_large_and_leaves_the_truth_alone() {
    let answers = hostile();
    assert!(answers.len() >= 60, "{}", answers.len());
    let names: BTreeSet<&str> = answers.iter().map(|hostile| hostile.name.as_str()).collect();
    assert_eq!(names.len(), answers.len(), "two answers share a name");
    for Hostile { name, answer } in &answers {
        assert!(!answer.contains("plums") && !answer.contains("zebras"), "{name} would change the truth");
    }
    assert!(answers.iter().filter(|hostile| hostile.answer.len() >= 1_000_000).count() >= 2);
}

#[test]
fn no_hostile_answer_changes_another_criterion_one_by_one() {
    assert_eq!(flips(JudgingMode::PerCriterion, Weakness::None), BTreeSet::new());
}

#[test]
fn no_hostile_answer_changes_another_criterion_in_a_batch() {
    assert_eq!(flips(JudgingMode::Batched(None), Weakness::None), BTreeSet::new());
}

/// The second criterion, too, is safe from all judges except one that believes the answer.
#[test]
fn a_judge_that_only_copies_decides_the_copied_criterion_rightly_or_not_at_all() {
    for Hostile { name, answer } in hostile().iter().filter(|hostile| hostile.answer.len() <= LONG) {
        for manner in &MANNERS[..7] {
            for judging in [JudgingMode::PerCriterion, JudgingMode::Batched(None)] {
                let (outcomes, _) = judged(answer, judging, *manner, Weakness::None);
                assert_eq!(outcomes, truth(), "{name} ({manner:?}, {judging:?})");
            }
        }
    }
}

#[test]
fn weaker_fences_are_noticed() {
    for judging in [JudgingMode::PerCriterion, JudgingMode::Batched(None)] {
        for (weakness, least) in [(Weakness::NoToken, 10), (Weakness::KnownToken, 1)] {
            let flipped = flips(judging, weakness);
            assert!(flipped.len() >= least, "{weakness:?}, {judging:?}: only {flipped:?}");
        }
    }
}

#[test]
fn ids_that_can_be_known_are_noticed() {
    let flipped = flips(JudgingMode::Batched(None), Weakness::KnownIds);
    assert!(flipped.len() >= 5, "{flipped:?}");
}
