//! One question on its way to its answer: its attempts, what is learned from each, and what follows.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Client;
use crate::bound::{Room, Seen};
use crate::call_event::CallEvent;
use crate::error::{AskError, ErrorKind, FailedAttempt};
use crate::estimate::Estimator;
use crate::meter::{Demand, Hold};
use crate::pace::{Place, Shut};
use crate::quirks::Quirks;
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::ChatRequest;
use crate::retry::{Jitter, RetryPolicy};
use crate::retry_after;
use crate::scout::Turn;
use crate::transport::{HttpAnswer, TransportError};
use crate::wire::HttpCall;

/// A question that is put to a server until it is answered, or until trying again can't help.
pub(super) struct Question<'a> {
    client: &'a Client,
    request: Cow<'a, ChatRequest>,
    /// The first attempt's call, where somebody has made it for a server that refuses nothing.
    encoded: Option<HttpCall>,
    /// Where log-probabilities are asked for, its turn to find out whether there are any.
    turn: Option<Turn>,
    /// What the server is known to refuse.
    quirks: Quirks,
    /// Whether the reply is expected to be like those before.
    as_usual: bool,
    /// The place among the requests in flight, where the next attempt follows at once.
    kept: Option<Place>,
    /// Tokens of the request as the account's rate counts them, and the most that they can be.
    input: u64,
    most_read: u64,
    policy: RetryPolicy,
    jitter: Jitter,
    /// Attempts that count as tries, and how long was waited between them.
    tries: u32,
    waited: Duration,
    /// Until when the account's rest has been sat out already.
    rested: Duration,
    /// Good answers to anybody, as this question last knew of them.
    good_before: u64,
    failed: Vec<FailedAttempt>,
}

/// What follows an attempt.
#[expect(clippy::large_enum_variant, reason = "nearly all are replies, and a box for each would cost more")]
enum Step {
    Answered(ChatReply),
    AskAgain,
    Wait(Duration),
}

/// An attempt that was sent: the request as it went out, and what is settled when it ends.
struct Sent<'a> {
    request: Cow<'a, ChatRequest>,
    place: Place,
    hold: Option<Hold>,
    latency: Duration,
}

impl<'a> Question<'a> {
    /// # Errors
    /// When it asks for log-probabilities of a model that is known to tell none.
    pub(super) async fn new(
        client: &'a Client,
        request: &'a ChatRequest,
        encoded: Option<HttpCall>,
    ) -> Result<Self, AskError> {
        let inner = &*client.inner;
        let setup = &inner.setup;
        let request = client.complete(request);
        let mut turn = None;
        if request.logprobs.is_some() {
            let mine = inner.scouts.turn(&request.model).await;
            turn = Some(mine.map_err(|why| AskError::new(ErrorKind::NoLogprobs, why))?);
        }
        // Counting takes a look at every character, so it is done only where somebody wants to know.
        let counted = setup.accounts.limits().tokens_per_minute.is_some();
        let input = if counted { Estimator::of_provider(&inner.parts.provider).request(&request) } else { 0 };
        Ok(Self {
            client,
            encoded,
            turn,
            quirks: client.learned(&request.model),
            as_usual: true,
            kept: None,
            input,
            most_read: setup.meter.as_ref().map_or(0, |_| client.card.estimator.most(&request)),
            policy: setup.policy,
            jitter: Jitter::new(setup.seed, inner.questions.fetch_add(1, Ordering::Relaxed)),
            tries: 0,
            waited: Duration::ZERO,
            rested: Duration::ZERO,
            good_before: inner.account.good_answers(),
            failed: Vec::new(),
            request,
        })
    }

    /// # Errors
    /// The last failure, with every attempt in `failed`.
    pub(super) async fn answer(mut self) -> Result<ChatReply, AskError> {
        loop {
            match self.attempt().await? {
                Step::Answered(reply) => return Ok(reply),
                Step::AskAgain => {}
                Step::Wait(wait) => {
                    self.client.inner.setup.clock.sleep(wait).await;
                    self.waited += wait;
                }
            }
        }
    }

    /// Sends the request once.
    async fn attempt(&mut self) -> Result<Step, AskError> {
        let client = self.client;
        let inner = &*client.inner;
        let place = self.enter().await?;
        // Another question may have learned something in the meantime.
        self.quirks = self.quirks.merge(client.learned(&self.request.model));
        let (hold, ceiling) = self.reserve().await?;
        let request = match ceiling {
            // Shares its texts with the original.
            None => self.request.clone(),
            ceiling => {
                Cow::Owned(ChatRequest { output_ceiling: ceiling, ..ChatRequest::clone(&self.request) })
            }
        };
        let call = match self.call(&request) {
            Ok(call) => call,
            Err(error) => {
                if let Some(hold) = hold {
                    hold.unsent();
                }
                return Err(error);
            }
        };
        let begun = Instant::now();
        let answer = inner.setup.transport.send(client.outgoing(call)).await;
        let sent = Sent { request, place, hold, latency: begun.elapsed() };
        match answer.map(|answer| client.without_secrets(answer)) {
            Ok(answer) => match inner.parts.wire.decode(&answer) {
                Ok(reply) => self.replied(sent, reply, answer),
                Err(error) => {
                    let learned = inner.parts.wire.learn(&sent.request, &answer, self.quirks);
                    let asked = retry_after::read(answer.status, &answer.headers, inner.setup.clock.now());
                    let retry_after = asked.or(error.retry_after);
                    let learned = learned.filter(|learned| *learned != self.quirks);
                    self.not_answered(sent, AskError { retry_after, ..error }, true, learned)
                }
            },
            Err(error) => {
                let reached = !matches!(error, TransportError::Connect(_) | TransportError::Unusable(_));
                self.not_answered(sent, from_transport(&error), reached, None)
            }
        }
    }

    /// A place among the requests in flight.
    async fn enter(&mut self) -> Result<Place, AskError> {
        if let Some(place) = self.kept.take() {
            return Ok(place);
        }
        let inner = &*self.client.inner;
        let patience = self.policy.max_total_wait.saturating_sub(self.waited);
        let output = self.request.max_output_tokens;
        let entered =
            inner.account.enter(&*inner.setup.clock, self.input, output, self.rested, patience).await;
        entered.map_err(|Shut(rest)| {
            let message = format!("it asked for no requests for the next {} s", rest.as_secs_f64().ceil());
            let mut error = AskError::new(ErrorKind::RateLimited, message);
            error.retry_after = Some(rest);
            self.given_up(error)
        })
    }

    /// Sets aside what the request may take, where that is counted; and the limit that its reply gets, where it has none.
    async fn reserve(&mut self) -> Result<(Option<Hold>, Option<u32>), AskError> {
        let Client { inner, card } = self.client;
        let meter = inner.setup.meter.as_ref();
        // Where somebody wants a limit, or where what is spent is limited and any reply might pass that. One that is not
        // sent cuts nothing off.
        let limited = || meter.is_some_and(|meter| meter.limits_replies(*card));
        let wanted = self.request.max_output_tokens.is_none()
            && (card.max_output_tokens.is_some() || limited())
            && inner.parts.wire.limits_output(self.quirks);
        let Some(meter) = meter else {
            return Ok((None, wanted.then(|| self.room(self.as_usual).most)));
        };
        let demand = Demand { input: self.most_read, room: self.room(self.as_usual), card: *card };
        let hold = meter.hold(demand).await.map_err(|why| self.over_budget(why))?;
        let ceiling = wanted.then(|| hold.output());
        Ok((Some(hold), ceiling))
    }

    /// How long the reply may be, going by those before if it is to be `as_usual`. Where the server takes no limit, as long
    /// as the longest so far, which is no more than an expectation.
    fn room(&self, as_usual: bool) -> Room {
        let Client { inner, card } = self.client;
        let replies = if as_usual { inner.replies.load(Ordering::Relaxed) } else { 0 };
        let seen = Seen { replies, longest: inner.longest.load(Ordering::Relaxed) };
        let room = Room::of(&self.request.model, *card, &self.request, seen);
        let own = self.request.max_output_tokens;
        if !inner.parts.wire.limits_output(self.quirks) {
            return Room::exactly(own.unwrap_or(room.least));
        }
        match (own, self.quirks.most_output) {
            (Some(own), _) => Room::exactly(own),
            (None, Some(most)) => room.within(most),
            (None, None) => room,
        }
    }

    /// The request as bytes.
    fn call(&mut self, request: &ChatRequest) -> Result<HttpCall, AskError> {
        let unchanged = self.quirks == Quirks::default() && request.output_ceiling.is_none();
        match self.encoded.take().filter(|_| unchanged) {
            Some(call) => Ok(call),
            None => self.client.inner.parts.wire.encode(&self.quirks.fold(request), self.quirks),
        }
    }

    /// Takes note of a reply. One that a limit of ours cut is no answer.
    fn replied(&mut self, sent: Sent<'_>, reply: ChatReply, answer: HttpAnswer) -> Result<Step, AskError> {
        let Sent { request, place, hold, latency } = sent;
        place.answered(&*self.client.inner.setup.clock, &answer.headers, reply.usage);
        let status = answer.status;
        let reply = ChatReply { raw: answer.into_text(), latency, ..reply };
        // Kept only now: the refusal was understood rightly if asking for less was accepted.
        self.client.learn(&request.model, self.quirks);
        if let Some(turn) = &self.turn {
            turn.replied(&reply);
        }
        self.client.saw(reply.usage);
        let cut_at = request.ceiling().filter(|_| reply.finish == Finish::Length);
        match hold {
            Some(hold) if cut_at.is_some() && hold.is_short() => {
                self.failed.push(cut_short(&reply, status));
                return Err(self.over_budget(hold.ran_out(&reply)));
            }
            Some(hold) => hold.answered(&reply),
            None => {}
        }
        if self.as_usual && cut_at.is_some_and(|limit| limit < self.room(false).most) {
            self.as_usual = false;
            self.failed.push(cut_short(&reply, status));
            return Ok(Step::AskAgain);
        }
        let attempts = count(&self.failed) + 1;
        let failed = std::mem::take(&mut self.failed);
        Ok(Step::Answered(ChatReply { cut_at, attempts, failed, ..reply }))
    }

    /// Takes note of a failure: `reached` says whether the server may have read the request, `learned` what it turns out to
    /// refuse.
    fn not_answered(
        &mut self,
        sent: Sent<'_>,
        error: AskError,
        reached: bool,
        learned: Option<Quirks>,
    ) -> Result<Step, AskError> {
        let Sent { place, hold, .. } = sent;
        let attempt = FailedAttempt {
            kind: error.kind,
            status: error.status,
            waited: Duration::ZERO,
            usage: error.usage.as_deref().copied().unwrap_or_else(Usage::default),
            sent: reached,
        };
        if let Some(hold) = hold {
            hold.failed(&attempt);
        }
        match learned {
            Some(learned) => self.refused(place, error, attempt, learned),
            None => self.tried(place, error, attempt),
        }
    }

    /// After a request that the server refuses for something it can do without: asked again at once, so that whoever waits
    /// knows by then what the server takes.
    fn refused(
        &mut self,
        place: Place,
        error: AskError,
        attempt: FailedAttempt,
        learned: Quirks,
    ) -> Result<Step, AskError> {
        self.quirks = self.quirks.merge(learned);
        self.failed.push(attempt);
        if self.quirks.no_logprobs && self.turn.is_some() {
            let error = self.given_up(AskError { kind: ErrorKind::NoLogprobs, ..error });
            if let Some(turn) = &self.turn {
                turn.refused(&error.message);
            }
            return Err(error);
        }
        self.kept = Some(place);
        Ok(Step::AskAgain)
    }

    /// After a failure that nothing was learned from: waits, where trying again can help.
    fn tried(&mut self, place: Place, error: AskError, attempt: FailedAttempt) -> Result<Step, AskError> {
        let inner = &*self.client.inner;
        if let Some(turn) = &mut self.turn {
            turn.pass_on();
        }
        self.tries += 1;
        if matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Overloaded) {
            self.rested = place.limited(&*inner.setup.clock, error.retry_after);
            // Being one too many, while others are answered, is no fault of this question. Its waits are still bounded. An
            // overloaded server may well fail over this one question, so that counts.
            let good = inner.account.good_answers();
            if error.kind == ErrorKind::RateLimited && good > self.good_before {
                self.policy.max_attempts = self.policy.max_attempts.saturating_add(1);
            }
            self.good_before = good;
        }
        // The wait is no request in flight.
        drop(place);
        let Self { policy, tries, waited, jitter, .. } = self;
        let next = policy.next_wait(error.kind, *tries, *waited, error.retry_after, jitter);
        self.failed.push(FailedAttempt { waited: next.unwrap_or_default(), ..attempt });
        if let (Some(wait), Some(observe)) = (next, &inner.setup.observer) {
            observe(CallEvent {
                provider: inner.parts.provider.clone(),
                model: self.request.model.to_string(),
                kind: error.kind,
                attempts: self.tries,
                wait,
            });
        }

        next.map(Step::Wait).ok_or_else(|| self.given_up(error))
    }

    /// The error that the question ends with, as it is shown.
    fn given_up(&mut self, error: AskError) -> AskError {
        let failed = std::mem::take(&mut self.failed);
        let error = AskError { attempts: count(&failed), failed, ..error };
        self.client.explained(error, &self.request.model)
    }

    /// The error of a question that the budget stands in the way of.
    fn over_budget(&mut self, why: String) -> AskError {
        let failed = std::mem::take(&mut self.failed);
        AskError { attempts: count(&failed), failed, ..AskError::new(ErrorKind::Cancelled, why) }
    }
}

fn from_transport(error: &TransportError) -> AskError {
    let kind = match error {
        TransportError::Timeout(_) => ErrorKind::Timeout,
        TransportError::Connect(_) | TransportError::Broken(_) => ErrorKind::Connection,
        TransportError::TooLarge(_) => ErrorKind::MalformedReply,
        // Trying again cannot help, and no other kind says that it is this machine's fault.
        TransportError::Unusable(_) => ErrorKind::BadRequest,
    };
    AskError::new(kind, error.to_string())
}

/// What is recorded of a reply that was paid for and is too short to mean anything.
fn cut_short(reply: &ChatReply, status: u16) -> FailedAttempt {
    FailedAttempt {
        kind: ErrorKind::MalformedReply,
        status: Some(status),
        waited: Duration::ZERO,
        usage: reply.usage,
        sent: true,
    }
}

fn count(attempts: &[FailedAttempt]) -> u32 {
    u32::try_from(attempts.len()).unwrap_or(u32::MAX)
}
