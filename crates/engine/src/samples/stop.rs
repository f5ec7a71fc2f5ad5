//! Ends grading early, at a deadline or a shutdown.

use std::sync::{Arc, OnceLock};

use assize_grade::{CallForecast, Judge, JudgeQuestion};
use assize_llm::{
    AskError, BoxFuture, CacheableReply, CallSource, ChatModel, ChatReply, ChatRequest, ErrorKind, ModelCard,
    ModelId, SentRequests,
};
use assize_rubric::{Decision, JudgeIdentity, UngradedKind};
use tokio_util::sync::CancellationToken;

/// A signal after which no more decisions are made. Existing decisions are kept; all other criteria are
/// ungraded with the given reason. Clones share the signal.
#[derive(Debug, Clone, Default)]
pub struct GradingStop {
    token: CancellationToken,
    reason: Arc<OnceLock<String>>,
    parent: Option<Arc<GradingStop>>,
    /// Whose calls it stops, if that is known.
    source: Option<CallSource>,
}

impl GradingStop {
    /// Creates a signal that has not fired.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a signal for a part of the work. It fires when this one fires, or separately.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            token: self.token.child_token(),
            parent: Some(Arc::new(self.clone())),
            source: self.source,
            ..Self::default()
        }
    }

    /// Creates a signal for the calls of one client request. If they fail, calls of other clients continue.
    #[must_use]
    pub fn child_of(&self, source: CallSource) -> Self {
        Self { source: Some(source), ..self.child() }
    }

    /// Fires the signal. Only the first reason counts.
    pub fn stop(&self, reason: impl Into<String>) {
        let _ = self.reason.set(reason.into());
        self.token.cancel();
    }

    /// Whether the signal has fired.
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
}

/// Receives full error messages of models. Records then omit details for the operator: addresses and the names of
/// variables.
pub type FailureLog = Arc<dyn Fn(&str) + Send + Sync>;

/// Kinds of failures whose messages may contain addresses, keys or variables.
const PRIVATE_KINDS: [ErrorKind; 5] = [
    ErrorKind::Authentication,
    ErrorKind::PermissionDenied,
    ErrorKind::NotFound,
    ErrorKind::Connection,
    ErrorKind::Timeout,
];

/// A model whose calls end when a signal fires.
pub(crate) struct StoppableModel {
    inner: Arc<dyn ChatModel>,
    stop: GradingStop,
    failures: Option<FailureLog>,
}

impl StoppableModel {
    pub(crate) fn new(inner: Arc<dyn ChatModel>, stop: GradingStop, failures: Option<FailureLog>) -> Self {
        Self { inner, stop, failures }
    }

    /// The error in the form for records.
    fn recorded(&self, error: AskError) -> AskError {
        if let (ErrorKind::Cancelled, Some(again)) = (error.kind, error.retry_after) {
            // The failure log got the whole message when the model failed. The description of a failure begins with the
            // phrase of its kind.
            let private = PRIVATE_KINDS.iter().find(|kind| error.message.starts_with(kind.phrase()));
            let private = private.filter(|_| self.failures.is_some());
            let why = private.map_or(error.message.as_str(), |kind| kind.phrase());
            let stop = if why.ends_with(['.', '!', '?']) { "" } else { "." };
            let (model, seconds) = (self.inner.describe(), again.as_secs_f64().ceil().max(1.0));
            let message =
                format!("not judged: {model} failed before: {why}{stop} It is tried again in {seconds} s");
            return AskError { message, ..error };
        }

        let Some(failures) = &self.failures else { return error };
        let is_private = PRIVATE_KINDS.contains(&error.kind);
        // A call that was ended by the signal is not a failure of the model.
        if is_private || error.kind != ErrorKind::Cancelled {
            failures(&error.to_string());
        }
        let message = if is_private { String::new() } else { error.message };
        AskError { message, advice: None, ..error }
    }

    async fn until_stopped<T>(&self, call: impl Future<Output = Result<T, AskError>>) -> Result<T, AskError> {
        let sent = Arc::new(SentRequests::of(self.stop.source));
        tokio::select! {
            biased;
            () = self.stop.stopped() => Err(sent.cancelled(self.stop.reason())),
            reply = sent.record(call) => reply.map_err(|error| self.recorded(error)),
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

/// A judge without a model whose work ends when a signal fires. It decides all questions or none.
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
