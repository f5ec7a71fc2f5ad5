//! Scripts that decide the mock server's replies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;

use super::incoming::MockRequest;
use super::reply::MockReply;

/// Decides the reply to each request. Requests arrive concurrently, so a script decides by the request's content or by
/// its own counter. Any matching closure is a script.
pub trait ReplyScript: Send + Sync + 'static {
    /// Returns the reply to this request.
    fn reply(&self, incoming: &MockRequest) -> MockReply;
}

impl<F: Fn(&MockRequest) -> MockReply + Send + Sync + 'static> ReplyScript for F {
    fn reply(&self, incoming: &MockRequest) -> MockReply {
        self(incoming)
    }
}

/// Returns a script with one reply to everything.
pub fn always(reply: MockReply) -> impl ReplyScript {
    move |_: &MockRequest| reply.clone()
}

/// Returns a script with these replies in order of arrival; the last one is repeated.
///
/// # Panics
/// If there are no replies.
pub fn sequence(replies: Vec<MockReply>) -> impl ReplyScript {
    assert!(!replies.is_empty(), "a sequence needs at least one reply");
    let next = AtomicUsize::new(0);
    move |_: &MockRequest| {
        let at = next.fetch_add(1, Ordering::Relaxed).min(replies.len() - 1);
        replies[at].clone()
    }
}

/// Returns the script of a server that works on `slots` requests at a time, each for `work`, and queues the others in
/// the order of their arrival.
pub fn with_slots(slots: usize, work: Duration, script: impl ReplyScript) -> impl ReplyScript {
    let free = Mutex::new(vec![Instant::now(); slots]);
    move |incoming: &MockRequest| {
        let now = Instant::now();
        let mut free = free.lock();
        let wait = match free.iter_mut().min() {
            Some(first) => {
                *first = now.max(*first) + work;
                first.saturating_duration_since(now)
            }
            None => work,
        };
        script.reply(incoming).after(wait)
    }
}

/// A question to a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MockJudgeQuestion {
    /// Id in the request.
    pub id: String,
    /// Text of the question.
    pub text: String,
}

/// Returns the script of a judge that always answers correctly.
///
/// `read` finds the questions of a request, `truth` returns the answer to each, and `write` puts the answers
/// into the expected form. The judge's protocol is thus entirely the caller's.
pub fn truthful<A: 'static>(
    read: impl Fn(&MockRequest) -> Vec<MockJudgeQuestion> + Send + Sync + 'static,
    truth: impl Fn(&MockJudgeQuestion, &MockRequest) -> A + Send + Sync + 'static,
    write: impl Fn(Vec<(MockJudgeQuestion, A)>) -> Value + Send + Sync + 'static,
) -> impl ReplyScript {
    move |incoming: &MockRequest| {
        let answers = read(incoming)
            .into_iter()
            .map(|question| {
                let answer = truth(&question, incoming);
                (question, answer)
            })
            .collect();
        MockReply::Json(write(answers))
    }
}
