//! How a test decides what the mock server answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::incoming::Incoming;
use super::reply::Reply;

/// Decides the reply to each request. Requests arrive at the same time, so a script answers by what is asked or by
/// counting for itself. Any matching closure is a script.
pub trait Script: Send + Sync + 'static {
    /// The reply to this request.
    fn reply(&self, incoming: &Incoming) -> Reply;
}

impl<F: Fn(&Incoming) -> Reply + Send + Sync + 'static> Script for F {
    fn reply(&self, incoming: &Incoming) -> Reply {
        self(incoming)
    }
}

/// The same reply to everything.
pub fn always(reply: Reply) -> impl Script {
    move |_: &Incoming| reply.clone()
}

/// These replies in order of arrival; the last one for ever after.
///
/// # Panics
/// When there is no reply at all.
pub fn sequence(replies: Vec<Reply>) -> impl Script {
    assert!(!replies.is_empty(), "a sequence needs at least one reply");
    let next = AtomicUsize::new(0);
    move |_: &Incoming| {
        let at = next.fetch_add(1, Ordering::Relaxed).min(replies.len() - 1);
        replies[at].clone()
    }
}

/// One thing a judge is asked to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its name in the request.
    pub id: String,
    /// Its wording.
    pub text: String,
}

/// A judge that always answers the truth.
///
/// `read` finds what is asked in a request, `truth` knows the answer to each, and `write` puts the answers into the
/// form the asker expects. The judge's protocol is thus entirely the caller's.
pub fn truthful<A: 'static>(
    read: impl Fn(&Incoming) -> Vec<Asked> + Send + Sync + 'static,
    truth: impl Fn(&Asked, &Incoming) -> A + Send + Sync + 'static,
    write: impl Fn(Vec<(Asked, A)>) -> Value + Send + Sync + 'static,
) -> impl Script {
    move |incoming: &Incoming| {
        let answers = read(incoming)
            .into_iter()
            .map(|asked| {
                let answer = truth(&asked, incoming);
                (asked, answer)
            })
            .collect();
        Reply::Json(write(answers))
    }
}
