//! A call with all its attempts.
//!
//! A call to a model fails in many ways, and each needs its own reaction: wait and try again, try again at once without
//! a parameter or with a larger output limit, or give up. Each attempt also shows something that other calls need: the
//! account is limited or down, the server refuses a parameter, replies have a certain length. [`CallAttempts`] is the
//! state of one call; everything that other calls need goes into [`SharedClient`], the account and the budget.
//!
//! One attempt goes through these steps, in this order:
//!
//! 1. A reservation of the client's own budget, if it has one. It comes before the permit, so that a client whose
//!    budget is nearly spent does not hold permits that others could use.
//! 2. A permit of the account ([`Permit`]): waits for rate limits, pauses and outages.
//! 3. A reservation of the budget of the process. It comes after the permit, so that a request that waits for the
//!    account does not block budget that others could use. The reservations decide the output limit that is sent.
//! 4. Encoding with the quirks known at this time: another call may have found some during the waits.
//! 5. The wait for the rate that processes share, then the request itself.
//!
//! What must hold:
//!
//! - Each attempt sends one request, and each reservation is settled once: by the reply, by the failure, as
//!   unsent, or (if the future is dropped) at its full amount.
//! - A permit is released before a wait, so that a waiting call takes no slot. It is kept only if the next attempt
//!   follows at once.
//! - Failures that this call did not cause do not use up its attempts: a rate limit while other calls get answers, and
//!   an outage of a server that has answered before. The waits after such failures are still bounded by
//!   [`RetryPolicy::max_total_wait`].
//! - A reply that our own output limit cut off, not the caller's, is never returned without a mark (`cut_at`).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::shared::SharedClient;
use reqwest::header::HeaderMap;

use crate::budget::{BudgetTracker, CallReservation, Reservation, ReservationRequest};
use crate::call_event::CallEvent;
use crate::error::{AskError, ErrorKind, FailedAttempt};
use crate::estimate::TokenEstimator;
use crate::logprobs_probe::ProbeTurn;
use crate::output_limit::{OutputLimit, ReplyLengthStats, ReplyRoom};
use crate::price::ModelCard;
use crate::provider;
use crate::quirks::ServerQuirks;
use crate::rate_limit::{AcquireError, FailureConsequence, Permit, QueuedRequest, ServerOutage, reported};
use crate::reply::{ChatReply, FinishReason};
use crate::request::ChatRequest;
use crate::retry::{RetryJitter, RetryPolicy};
use crate::retry_after;
use crate::sent_requests;
use crate::token_counts::TokenCounts;
use crate::transport::{HttpAnswer, TransportError};

/// A call that is sent until it is answered, or until trying again can't help.
pub(super) struct CallAttempts<'a> {
    client: &'a SharedClient,
    card: ModelCard,
    /// True if a failed call goes to another model.
    has_substitute: bool,
    request: Cow<'a, ChatRequest>,
    /// The turn to probe for log-probabilities, if the request asks for them.
    probe_turn: Option<ProbeTurn>,
    /// Parameters that the server is known to refuse.
    quirks: ServerQuirks,
    /// The output limit to choose for the reply. It is larger after a reply was cut off.
    room: ReplyRoom,
    /// A permit that is kept because the next attempt follows at once.
    kept_permit: Option<Permit>,
    /// Tokens of the request: as the account's rate counts them, and an upper bound.
    input: u64,
    max_input: u64,
    policy: RetryPolicy,
    jitter: RetryJitter,
    /// The attempts that count, and the time waited between them.
    tries: u32,
    /// Timeouts that did not count, because the request may have waited for others in the server.
    crowded: u32,
    waited: Duration,
    /// The account's good answers when this question last looked.
    known_good_answers: u64,
    /// The account's good answers when this question failed for the first time.
    good_answers_at_failure: Option<u64>,
    failed: Vec<FailedAttempt>,
}

/// What follows from an attempt.
#[expect(clippy::large_enum_variant, reason = "nearly all are replies, and a box for each would cost more")]
enum AttemptOutcome {
    Answered(ChatReply),
    AskAgain,
    Wait(Duration),
}

/// An attempt in flight: the request as it was sent, its permit and its reservation.
struct SentAttempt<'a> {
    request: Cow<'a, ChatRequest>,
    permit: Permit,
    reservation: CallReservation,
    latency: Duration,
}

/// A failed attempt.
struct CallFailure {
    error: AskError,
    /// True if the server may have read the request.
    reached: bool,
    /// Headers of the answer, if there was one.
    headers: HeaderMap,
    /// Quirks of the server that the failure reveals.
    learned: Option<ServerQuirks>,
}

impl<'a> CallAttempts<'a> {
    /// # Errors
    /// If the request asks for log-probabilities, and the model is known not to return any.
    pub(super) async fn new(
        client: &'a SharedClient,
        card: ModelCard,
        has_substitute: bool,
        request: &'a ChatRequest,
    ) -> Result<Self, AskError> {
        let setup = &client.setup;
        let request = client.complete(request);
        let mut probe_turn = None;
        if request.logprobs.is_some() {
            let mine = client.probes.turn(&request.model).await;
            probe_turn = Some(mine.map_err(|why| AskError::new(ErrorKind::NoLogprobs, why))?);
        }

        // Counting reads every character, so it is done only if a token rate needs it.
        let counted = setup.accounts.limits().tokens_per_minute.is_some() || setup.shared_rate.is_some();
        let input =
            if counted { TokenEstimator::for_provider(&client.parts.provider).request(&request) } else { 0 };
        Ok(Self {
            client,
            card,
            has_substitute,
            probe_turn,
            quirks: client.learned(&request.model),
            room: ReplyRoom::Usual,
            kept_permit: None,
            input,
            max_input: match (&setup.budget, &setup.client_budget) {
                (None, None) => 0,
                _ => card.estimator.most(&request),
            },
            policy: setup.policy,
            jitter: RetryJitter::new(setup.seed, client.questions.fetch_add(1, Ordering::Relaxed)),
            tries: 0,
            crowded: 0,
            waited: Duration::ZERO,
            known_good_answers: client.account.good_answers(),
            good_answers_at_failure: None,
            failed: Vec::new(),
            request,
        })
    }

    /// Makes attempts until one is answered.
    ///
    /// # Errors
    /// The last failure, with every attempt in `failed`.
    pub(super) async fn answer(mut self) -> Result<ChatReply, AskError> {
        loop {
            match self.attempt().await? {
                AttemptOutcome::Answered(reply) => return Ok(reply),
                AttemptOutcome::AskAgain => {}
                AttemptOutcome::Wait(wait) => {
                    self.client.setup.clock.sleep(wait).await;
                    self.waited += wait;
                }
            }
        }
    }

    /// Sends the request once.
    async fn attempt(&mut self) -> Result<AttemptOutcome, AskError> {
        let client = self.client;
        let mut reserved = Vec::new();
        if let Some(tracker) = &client.setup.client_budget {
            reserved.push(self.reserve(tracker, u32::MAX).await?);
        }
        let permit = self.enter().await?;

        // Another question may have learned something during the wait.
        self.quirks = self.quirks.merge(client.learned(&self.request.model));
        if let Some(tracker) = &client.setup.budget {
            let most = reserved.first().map_or(u32::MAX, Reservation::output);
            reserved.push(self.reserve(tracker, most).await?);
        }
        let reservation = CallReservation(reserved);
        let ceiling = self.ceiling(&reservation);
        let context_tokens = self.card.context_tokens.filter(|_| provider::is_own(&client.parts.provider));
        let request = match (ceiling, context_tokens) {
            // Shares its texts with the original.
            (None, None) => self.request.clone(),
            (output_ceiling, context_tokens) => Cow::Owned(ChatRequest {
                output_ceiling,
                context_tokens,
                ..ChatRequest::clone(&self.request)
            }),
        };

        let call = client.parts.wire.encode(&self.quirks.merge_system_into_user(&request), self.quirks)?;

        if let Some(rate) = &client.setup.shared_rate {
            let tokens = permit.expected_tokens();
            rate.admit(client.account.name(), tokens).await;
        }

        let reservation = reservation.sent();
        let begun = Instant::now();
        sent_requests::note_in_flight(true);
        let answer = client.send(call, &permit).await;
        sent_requests::note_in_flight(false);
        let sent = SentAttempt { request, permit, reservation, latency: begun.elapsed() };
        match answer.map(|answer| client.without_secrets(answer)) {
            Ok(answer) => match client.parts.wire.decode(&answer) {
                Ok(reply) => self.replied(sent, reply, answer),
                Err(error) => {
                    let learned = client.parts.wire.learn(&sent.request, &answer, self.quirks);
                    let pause = retry_after::read(answer.status, &answer.headers, client.setup.clock.now());
                    let retry_after = pause.or(error.retry_after);
                    let failure = CallFailure {
                        error: AskError { retry_after, ..error },
                        reached: true,
                        headers: answer.headers,
                        learned: learned.filter(|learned| *learned != self.quirks),
                    };
                    self.not_answered(sent, failure)
                }
            },
            Err(error) => {
                let failure = CallFailure {
                    error: AskError::from(&error),
                    reached: !matches!(error, TransportError::Connect(_) | TransportError::Unusable(_)),
                    headers: HeaderMap::new(),
                    learned: None,
                };
                self.not_answered(sent, failure)
            }
        }
    }

    /// Waits for a permit of the account.
    async fn enter(&mut self) -> Result<Permit, AskError> {
        if let Some(permit) = self.kept_permit.take() {
            return Ok(permit);
        }

        let client = self.client;
        let request = QueuedRequest {
            model: &self.request.model,
            input: self.input,
            max_output: self.request.max_output_tokens,
            max_pause: self.policy.max_total_wait.saturating_sub(self.waited),
            source: sent_requests::current_source(),
        };
        let entered = client.account.acquire(&*client.setup.clock, request).await;

        entered.map_err(|error| match error {
            AcquireError::Pause(rest) => {
                let message =
                    format!("it asked for no requests for the next {} s", rest.as_secs_f64().ceil());
                let mut error = AskError::new(ErrorKind::RateLimited, message);
                error.retry_after = Some(rest);
                self.given_up(error)
            }
            AcquireError::GivenUp(outage) => self.account_given_up(outage),
        })
    }

    /// The error for an account that was given up. The request was not sent, so it counts as cancelled, unless a
    /// substitute model can answer it.
    fn account_given_up(&mut self, outage: ServerOutage) -> AskError {
        let client = self.client;
        let failed = std::mem::take(&mut self.failed);
        let kind = if self.has_substitute {
            failed.last().map_or(ErrorKind::Connection, |attempt| attempt.kind)
        } else {
            let account = client.parts.endpoint.host();
            client.observe(&CallEvent::GivenUp { account: &account, reason: &outage.why });
            ErrorKind::Cancelled
        };

        let retry_after = outage.again.filter(|_| !self.has_substitute);
        AskError { attempts: count(&failed), failed, retry_after, ..AskError::new(kind, &*outage.why) }
    }

    /// Waits until the budget can cover the request with a reply of at most `most` tokens.
    async fn reserve(&mut self, tracker: &Arc<BudgetTracker>, most: u32) -> Result<Reservation, AskError> {
        let request = ReservationRequest {
            input: self.max_input,
            output_limit: self.output_limit().within(most),
            card: self.card,
        };

        tracker.reserve(request).await.map_err(|why| self.over_budget(why))
    }

    /// The output limit to send, if the request sets none and needs one.
    fn ceiling(&self, reservation: &CallReservation) -> Option<u32> {
        let (client, card) = (self.client, self.card);
        // A limit is needed if the model's settings name one, if the length of the reply is known, or if spending is
        // limited and a reply might exceed the budget. A limit that the server does not accept cuts nothing off.
        let mut budgets = client.setup.budget.iter().chain(&client.setup.client_budget);
        let wanted = self.request.max_output_tokens.is_none()
            && (card.max_output_tokens.is_some()
                || self.request.expected_output.is_some()
                || budgets.any(|tracker| tracker.limits_replies(card)))
            && client.parts.wire.limits_output(self.quirks);

        let most = || self.output_limit().most;
        wanted.then(|| reservation.output().unwrap_or_else(most))
    }

    /// The limits of the reply. If the server accepts no limit, this is only the expected length: the longest reply so
    /// far.
    fn output_limit(&self) -> OutputLimit {
        let (client, card) = (self.client, self.card);
        let replies = client.replies.load(Ordering::Relaxed);
        let stats = ReplyLengthStats { replies, longest: client.longest.load(Ordering::Relaxed) };
        let output_limit =
            OutputLimit::for_request(&self.request.model, card, &self.request, stats, self.room);
        let own = self.request.max_output_tokens;
        if !client.parts.wire.limits_output(self.quirks) {
            return OutputLimit::exactly(own.unwrap_or(output_limit.least));
        }

        match (own, self.quirks.most_output) {
            (Some(own), _) => OutputLimit::exactly(own),
            (None, Some(most)) => output_limit.within(most),
            (None, None) => output_limit,
        }
    }

    /// Records a reply. If the usual output limit cut the reply off, the request is sent again with a larger one.
    fn replied(
        &mut self,
        sent: SentAttempt<'_>,
        reply: ChatReply,
        answer: HttpAnswer,
    ) -> Result<AttemptOutcome, AskError> {
        let SentAttempt { request, permit, reservation, latency } = sent;
        self.report_allowances(&answer.headers);
        self.settle_rate(&permit, reply.usage);
        let time = permit.time(latency, self.client.setup.timeout);
        if permit.answered(&*self.client.setup.clock, &answer.headers, time, reply.usage) {
            let account = self.client.parts.endpoint.host();
            self.client.observe(&CallEvent::AccountBack { account: &account });
        }

        let status = answer.status;
        let reply = ChatReply { raw: answer.into_text(), latency, ..reply };

        // Stored only now: if the server accepts the smaller request, its refusal was understood correctly.
        self.client.learn(&request.model, self.quirks);

        if let Some(probe_turn) = &self.probe_turn {
            probe_turn.replied(&reply);
        }

        self.client.saw(reply.usage);
        let cut_at = request.ceiling().filter(|_| reply.finish == FinishReason::Length);
        if cut_at.is_some() && reservation.is_short() {
            self.note_failed(cut_short(&reply, status));
            let why = reservation.ran_out(&reply).unwrap_or_default();
            return Err(self.over_budget(why));
        }
        reservation.answered(&reply);

        if let Some(limit) = cut_at.filter(|_| self.room == ReplyRoom::Usual) {
            self.room = roomier(&reply, limit);
            if limit < self.output_limit().most {
                self.note_failed(cut_short(&reply, status));
                return Ok(AttemptOutcome::AskAgain);
            }
        }

        let attempts = count(&self.failed) + 1;
        let failed = std::mem::take(&mut self.failed);
        Ok(AttemptOutcome::Answered(ChatReply { cut_at, attempts, failed, ..reply }))
    }

    /// Tells the other processes which limits the server reports.
    fn report_allowances(&self, headers: &HeaderMap) {
        let Some(rate) = &self.client.setup.shared_rate else { return };
        for allowance in reported(headers, &*self.client.setup.clock) {
            rate.report(self.client.account.name(), allowance);
        }
    }

    /// Tells the other processes how many tokens a request really took.
    fn settle_rate(&self, permit: &Permit, usage: TokenCounts) {
        let Some((rate, input)) = self.client.setup.shared_rate.as_ref().zip(usage.input) else { return };
        let real = input.saturating_add(usage.output.unwrap_or(0));
        rate.settle(self.client.account.name(), permit.expected_tokens(), real);
    }

    /// Records a failure.
    fn not_answered(
        &mut self,
        sent: SentAttempt<'_>,
        failure: CallFailure,
    ) -> Result<AttemptOutcome, AskError> {
        let SentAttempt { permit, reservation, latency, .. } = sent;
        let CallFailure { error, reached, headers, learned } = failure;
        let attempt = FailedAttempt {
            kind: error.kind,
            status: error.status,
            waited: Duration::ZERO,
            usage: error.usage.as_deref().copied().unwrap_or_else(TokenCounts::default),
            sent: reached,
        };
        reservation.failed(&attempt);

        if let Some(learned) = learned {
            return self.refused(permit, error, attempt, learned);
        }

        if let Some(probe_turn) = &mut self.probe_turn {
            probe_turn.pass_on();
        }

        self.note_limit(&permit, &headers, &error);
        let is_tried = self.note_outage(&permit, latency, reached, &error);
        self.tries += u32::from(is_tried);

        // A request that waits is not in flight.
        drop(permit);
        self.wait_or_give_up(error, attempt)
    }

    /// Handles a refusal of a parameter that the request can do without. The request is sent again at once under the
    /// same permit, so that the requests that wait for its result know which parameters the server accepts.
    fn refused(
        &mut self,
        permit: Permit,
        error: AskError,
        attempt: FailedAttempt,
        learned: ServerQuirks,
    ) -> Result<AttemptOutcome, AskError> {
        self.quirks = self.quirks.merge(learned);
        self.note_failed(attempt);

        if self.quirks.no_logprobs && self.probe_turn.is_some() {
            let error = self.given_up(AskError { kind: ErrorKind::NoLogprobs, ..error });
            if let Some(probe_turn) = &self.probe_turn {
                probe_turn.refused(&error.message);
            }
            return Err(error);
        }

        self.kept_permit = Some(permit);
        Ok(AttemptOutcome::AskAgain)
    }

    /// Records that the server limited the request, which may affect the whole account.
    fn note_limit(&mut self, permit: &Permit, headers: &HeaderMap, error: &AskError) {
        let client = self.client;
        if !matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Overloaded) {
            return;
        }

        let clock = &*client.setup.clock;
        self.report_allowances(headers);
        let shared = client.setup.shared_rate.as_ref();
        let known = shared.and_then(|rate| rate.reported_rate(client.account.name()));
        let rest = permit.limited(clock, headers, error.retry_after, known);
        if let Some(until) = rest.and_then(|rest| clock.now().checked_add(rest)) {
            let account = client.parts.endpoint.host();
            client.observe(&CallEvent::RateLimited { account: &account, until });
        }

        // If other calls are answered while this one is rate limited, it is not at fault, so the attempt does not
        // count. Its waits are still bounded. An overloaded server may well fail because of this call, so that attempt
        // counts.
        let good = client.account.good_answers();
        if error.kind == ErrorKind::RateLimited && good > self.known_good_answers {
            self.policy.max_attempts = self.policy.max_attempts.saturating_add(1);
        }

        self.known_good_answers = good;
    }

    /// Records a failure, which may be part of an outage. Returns false if the attempt should not count: either the
    /// server has answered before and can't be reached now, so the call waits for it; or the request may have waited in
    /// the server behind our other requests until it timed out.
    fn note_outage(&mut self, permit: &Permit, latency: Duration, reached: bool, error: &AskError) -> bool {
        let client = self.client;
        // If the server answered others since this question failed, it fails because of this question.
        let good = client.account.good_answers();
        let is_own = reached && good > *self.good_answers_at_failure.get_or_insert(good);
        let why = || client.explained(error.clone(), &self.request.model).to_string();

        let time = permit.time(latency, client.setup.timeout);
        match permit.failed(&*client.setup.clock, error.kind, time, is_own, why) {
            FailureConsequence::None => true,
            FailureConsequence::FewerInFlight => {
                self.crowded += 1;
                self.crowded > self.policy.max_attempts
            }
            FailureConsequence::Held => {
                let account = client.parts.endpoint.host();
                client.observe(&CallEvent::AccountHeld { account: &account, reason: error.kind });
                true
            }
            FailureConsequence::StillHeld(was_there) => reached || !was_there,
        }
    }

    /// Waits if trying again can help.
    fn wait_or_give_up(
        &mut self,
        error: AskError,
        attempt: FailedAttempt,
    ) -> Result<AttemptOutcome, AskError> {
        let Self { policy, tries, waited, jitter, .. } = self;
        let next = policy.next_wait(error.kind, *tries, *waited, error.retry_after, jitter);
        self.note_failed(FailedAttempt { waited: next.unwrap_or_default(), ..attempt });

        if let Some(delay) = next {
            let (model, attempt) = (&*self.request.model, count(&self.failed));
            self.client.observe(&CallEvent::Retrying { model, attempt, delay, reason: error.kind });
        }

        next.map(AttemptOutcome::Wait).ok_or_else(|| self.given_up(error))
    }

    fn note_failed(&mut self, attempt: FailedAttempt) {
        sent_requests::note_failed(&attempt);
        self.failed.push(attempt);
    }

    /// The error that the question ends with, in the form for the user.
    fn given_up(&mut self, error: AskError) -> AskError {
        let failed = std::mem::take(&mut self.failed);
        let error = AskError { attempts: count(&failed), failed, ..error };
        self.client.explained(error, &self.request.model)
    }

    /// The error of a question that the budget does not allow.
    fn over_budget(&mut self, why: String) -> AskError {
        let failed = std::mem::take(&mut self.failed);
        AskError { attempts: count(&failed), failed, ..AskError::new(ErrorKind::Cancelled, why) }
    }
}

/// How much larger the output limit must be for a reply that was cut off at this one. Tokens that are not in its text
/// were hidden thinking.
fn roomier(reply: &ChatReply, limit: u32) -> ReplyRoom {
    /// Fewer bytes of text for each token of the limit mean that most of it was not text.
    const MIN_BYTES_PER_TOKEN: usize = 1;

    let is_text = reply.text.len() >= MIN_BYTES_PER_TOKEN * limit as usize;
    if is_text { ReplyRoom::More } else { ReplyRoom::Thinking }
}

/// Record of a reply that was paid for and was cut off too early to be used.
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
