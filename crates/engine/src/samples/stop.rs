//! The end of grading before everything is decided: a deadline, a shutdown.

use std::sync::{Arc, OnceLock};

use assize_grade::{CallForecast, Judge, JudgeQuestion};
use assize_llm::{
    AskError, BoxFuture, CacheableReply, ChatModel, ChatReply, ChatRequest, ErrorKind, ModelCard, ModelId,
};
use assize_rubric::{Decision, JudgeIdentity, UngradedKind};
use tokio_util::sync::CancellationToken;

/// Signal after which no judge decides anything more. What was decided stays; every other criterion is ungraded, with the
/// reason that is given here. Clones are the same signal.
#[derive(Debug, Clone, Default)]
pub struct GradingStop {
    token: CancellationToken,
    reason: Arc<OnceLock<String>>,
    parent: Option<Arc<GradingStop>>,
}

impl GradingStop {
    /// Signal that has not fired.
    pub fn new() -> Self {
        Self::default()
    }

    /// Signal of a part of the work: it fires with this one, or alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { token: self.token.child_token(), reason: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    /// Fires the signal. The first reason is the one that counts.
    pub fn stop(&self, reason: impl Into<String>) {
        let _ = self.reason.set(reason.into());
        self.token.cancel();
    }

    /// Returns true once the signal fired.
    pub fn is_stopped(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until the signal fires.
    pub async fn stopped(&self) {
        self.token.cancelled().await;
    }

    fn reason(&self) -> &str {
        match (self.reason.get(), &self.parent) {
            (Some(reason), _) => reason,
            (None, Some(parent)) => parent.reason(),
            (None, None) => "grading was stopped",
        }
    }

    fn error(&self) -> AskError {
        AskError::new(ErrorKind::Cancelled, self.reason())
    }
}

/// Model whose calls are given up when a signal fires.
pub(crate) struct StoppableModel {
    inner: Arc<dyn ChatModel>,
    stop: GradingStop,
}

impl StoppableModel {
    pub(crate) fn new(inner: Arc<dyn ChatModel>, stop: GradingStop) -> Self {
        Self { inner, stop }
    }

    async fn until_stopped<T>(&self, call: impl Future<Output = Result<T, AskError>>) -> Result<T, AskError> {
        tokio::select! {
            biased;
            () = self.stop.stopped() => Err(self.stop.error()),
            reply = call => reply,
        }
    }
}

impl ChatModel for StoppableModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(self.until_stopped(self.inner.ask(request)))
    }

    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        repeat: u32,
    ) -> BoxFuture<'a, Result<CacheableReply, AskError>> {
        Box::pin(self.until_stopped(self.inner.ask_repeat(request, repeat)))
    }

    fn describe(&self) -> ModelId {
        self.inner.describe()
    }

    fn card(&self) -> ModelCard {
        self.inner.card()
    }
}

/// Judge without a model whose work is given up when a signal fires. It decides all questions or none.
pub(crate) struct StoppableJudge {
    inner: Arc<dyn Judge>,
    stop: GradingStop,
}

impl StoppableJudge {
    pub(crate) fn new(inner: Arc<dyn Judge>, stop: GradingStop) -> Self {
        Self { inner, stop }
    }

    fn refuse(&self, question: &JudgeQuestion) -> Vec<Decision> {
        let mut decisions = question.refuse(&self.inner.identity(), self.stop.reason());
        for ungraded in decisions.iter_mut().filter_map(|decision| decision.ungraded.as_mut()) {
            ungraded.kind = UngradedKind::Cancelled;
        }

        decisions
    }
}

impl Judge for StoppableJudge {
    fn identity(&self) -> JudgeIdentity {
        self.inner.identity()
    }

    fn forecast(&self, question: &JudgeQuestion) -> CallForecast {
        self.inner.forecast(question)
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = self.stop.stopped() => questions.iter().map(|question| self.refuse(question)).collect(),
                decisions = self.inner.decide(questions) => decisions,
            }
        })
    }

    fn refuses_probabilities(&self) -> Option<&'static str> {
        self.inner.refuses_probabilities()
    }
}
