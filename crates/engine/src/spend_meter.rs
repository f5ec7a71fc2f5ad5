//! Counts all requests that a process sends to models, whether or not a case finishes with them.

use std::sync::Arc;

use assize_llm::{
    AskError, BoxFuture, CacheableReply, ChatModel, ChatReply, ChatRequest, ModelCard, ModelId,
};
use assize_rubric::Cost;
use assize_store::SentRequests;
use parking_lot::Mutex;

/// Counts requests and their cost.
#[derive(Debug)]
pub(crate) struct SpendMeter {
    sent: Mutex<SentTotals>,
}

#[derive(Debug, Clone, Copy)]
struct SentTotals {
    requests: u64,
    given_up: u64,
    cost: Cost,
}

impl Default for SpendMeter {
    fn default() -> Self {
        Self { sent: Mutex::new(SentTotals { requests: 0, given_up: 0, cost: Cost::ZERO }) }
    }
}

impl SpendMeter {
    /// The requests so far.
    pub(crate) fn total(&self) -> SentRequests {
        let SentTotals { requests, given_up, cost } = *self.sent.lock();
        SentRequests { requests, given_up, cost_usd: cost.total(), cost_partial: cost.to_partial() }
    }

    /// Counts requests that were answered or failed.
    pub(crate) fn add(&self, requests: u64, cost: Cost) {
        let mut totals = self.sent.lock();
        totals.requests += requests;
        totals.cost += cost;
    }
}

/// A model whose requests are counted.
pub(crate) struct MeteredModel {
    inner: Arc<dyn ChatModel>,
    meter: Arc<SpendMeter>,
}

impl MeteredModel {
    pub(crate) fn new(inner: Arc<dyn ChatModel>, meter: Arc<SpendMeter>) -> Self {
        Self { inner, meter }
    }
}

/// A request in flight. If it is dropped, the request may have been sent, at an unknown cost.
struct AwaitedAnswer<'m> {
    meter: &'m SpendMeter,
    is_settled: bool,
}

impl AwaitedAnswer<'_> {
    fn settle(mut self, requests: u32, cost: Cost) {
        self.is_settled = true;
        self.meter.add(requests.into(), cost);
    }
}

impl Drop for AwaitedAnswer<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            self.meter.sent.lock().given_up += 1;
        }
    }
}

impl ChatModel for MeteredModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(async move {
            let awaited = AwaitedAnswer { meter: &self.meter, is_settled: false };
            let answer = self.inner.ask(request).await;
            let card = self.inner.card();
            match &answer {
                Ok(reply) => awaited.settle(reply.attempts, card.cost_of_reply(reply)),
                Err(error) => awaited.settle(error.attempts, card.cost_of_error(error)),
            }

            answer
        })
    }

    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _repeat: u32,
    ) -> BoxFuture<'a, Result<CacheableReply, AskError>> {
        Box::pin(async move { self.ask(request).await.map(CacheableReply::fresh) })
    }

    fn describe(&self) -> ModelId {
        self.inner.describe()
    }

    fn card(&self) -> ModelCard {
        self.inner.card()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use assize_llm::{ChatMessage, FinishReason};

    use super::*;

    /// Answers at once, or never.
    struct TestModel {
        answers: bool,
    }

    impl ChatModel for TestModel {
        fn ask<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
            Box::pin(async {
                if !self.answers {
                    std::future::pending::<()>().await;
                }

                Ok(ChatReply { attempts: 2, ..ChatReply::new("yes", FinishReason::Stop) })
            })
        }

        fn describe(&self) -> ModelId {
            ModelId { provider: "test".into(), model: "m".to_owned(), base_url_host: String::new() }
        }
    }

    #[tokio::test]
    async fn requests_count_when_they_are_answered_and_when_they_are_given_up() {
        let meter = Arc::new(SpendMeter::default());
        let request = ChatRequest::new([ChatMessage::user("q")]);
        let model = |answers| MeteredModel::new(Arc::new(TestModel { answers }), Arc::clone(&meter));
        model(true).ask(&request).await.expect("an answer");
        let sent = meter.total();
        assert_eq!((sent.requests, sent.given_up, sent.cost_usd), (2, 0, None), "of unknown price");

        let silent = model(false);
        assert!(tokio::time::timeout(Duration::ZERO, silent.ask(&request)).await.is_err());
        let sent = meter.total();
        assert_eq!((sent.requests, sent.given_up), (2, 1));
    }
}
