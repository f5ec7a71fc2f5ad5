//! A scripted judge: it reads a judge request like a model and answers with a truth that the test knows.

use assize_testkit::mock::{MockReply, MockRequest, RecordedRequest};
use serde_json::{Value, json};

/// The content of a judge request.
#[derive(Debug, Clone)]
pub(crate) struct JudgeRequest {
    /// The text before the criteria: the same for all criteria of a case.
    pub(crate) shared: String,
    /// The answer to judge.
    pub(crate) answer: String,
    /// The criteria, in order.
    pub(crate) criteria: Vec<Criterion>,
    /// Whether the request asks for a list of results.
    pub(crate) batched: bool,
    /// The text after an unusable reply; empty in a first request.
    pub(crate) repair: String,
}

/// A criterion as the judge sees it.
#[derive(Debug, Clone)]
pub(crate) struct Criterion {
    /// Its name in a batched request; empty in a single one.
    pub(crate) handle: String,
    /// Its wording.
    pub(crate) text: String,
    /// Whether the request asks for a number.
    pub(crate) scored: bool,
}

impl JudgeRequest {
    /// Parses the request; `None` if it is for a target and not for a judge.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        let user = body["messages"].as_array()?.iter().rfind(|message| message["role"] == "user")?;
        Self::of_text(user["content"].as_str()?)
    }

    /// Parses the text of the user message, in any wire format.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let fence = text.strip_prefix("Material\n\n[[BEGIN question ")?.split_once("]]")?.0;
        // The last block of the material; its fence is random, so no answer can contain its end.
        let end = ["answer", "file changes", "tool calls"]
            .iter()
            .filter_map(|name| {
                let line = format!("[[END {name} {fence}]]\n\n");
                text.rfind(&line).map(|at| at + line.len())
            })
            .max()?;
        let (shared, rest) = text.split_at(end);
        let (question, repair) = match rest.find("Your previous reply could not be used.") {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let answer = block(shared, "answer", fence)?.0.to_owned();
        let batched = question.contains("{\"results\":");
        let mut criteria = Vec::new();
        let mut text = question;
        while let Some((words, after)) = block(text, "criterion", fence) {
            let head = text.split("[[BEGIN criterion").next().unwrap_or_default();
            let line = head.trim_end().lines().next_back().unwrap_or_default();
            let handle = if batched { line.split(':').next().unwrap_or_default() } else { "" };
            let scored =
                if batched { line.contains("score how far") } else { question.contains("\"score\":") };
            criteria.push(Criterion { handle: handle.to_owned(), text: words.to_owned(), scored });
            text = after;
        }
        Some(Self { shared: shared.to_owned(), answer, criteria, batched, repair: repair.to_owned() })
    }

    /// Parses a request that must be for a judge.
    pub(crate) fn of(request: &RecordedRequest) -> Self {
        Self::read(&request.json()).expect("a request to a judge")
    }

    /// A reply that decides every criterion by [`truth`].
    pub(crate) fn truthful(&self) -> Value {
        self.reply(|criterion| truth(criterion, &self.answer))
    }

    /// A reply that decides every criterion with `decide`.
    pub(crate) fn reply(&self, decide: impl Fn(&Criterion) -> Value) -> Value {
        let entries: Vec<Value> = self
            .criteria
            .iter()
            .map(|criterion| {
                let mut entry = decide(criterion);
                if self.batched {
                    entry["id"] = criterion.handle.clone().into();
                }
                entry
            })
            .collect();
        if self.batched {
            json!({ "results": entries })
        } else {
            entries.into_iter().next().unwrap_or_default()
        }
    }
}

fn block<'a>(text: &'a str, name: &str, fence: &str) -> Option<(&'a str, &'a str)> {
    let after = text.split_once(&format!("[[BEGIN {name} {fence}]]\n"))?.1;
    after.split_once(&format!("\n[[END {name} {fence}]]"))
}

/// The truth about a criterion with one word in back-ticks: met if the answer contains the word; for a scored
/// criterion, the word is the score.
pub(crate) fn truth(criterion: &Criterion, answer: &str) -> Value {
    let word = criterion.text.split('`').nth(1).expect("the criterion has a word in back-ticks");
    if criterion.scored {
        let score: u8 = word.parse().expect("the word is a score");
        return json!({"evidence": [], "reason": "so it is", "score": score});
    }
    if answer.contains(word) {
        json!({"evidence": [word], "reason": "it is there", "outcome": "met"})
    } else {
        json!({"evidence": [], "reason": "it is not there", "outcome": "unmet"})
    }
}

/// A judge that tells the truth, and a target that repeats questions.
pub(crate) fn honest(incoming: &MockRequest) -> MockReply {
    match JudgeRequest::read(&incoming.body) {
        Some(request) => MockReply::Json(request.truthful()),
        None => MockReply::text(incoming.last_user_text.clone()),
    }
}
