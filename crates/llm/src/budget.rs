//! Budgets: limits on spending, checked before anything is sent.
//!
//! Design: `docs/design/budgets.md`.

mod batch;

use std::fmt;
use std::sync::Arc;

use assize_rubric::{Usd, dollars, grouped};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::error::FailedAttempt;
use crate::output_limit::OutputLimit;
use crate::price::{ModelCard, may_be_charged};
use crate::reply::ChatReply;
use crate::shared_limits::{BudgetAmount, BudgetSource};
use crate::token_counts::TokenCounts;

pub use batch::BatchReservation;

/// Limits on spending. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Requests sent, failed ones and retries included.
    pub calls: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Money, as far as prices are known: a call of unknown price costs nothing here.
    pub usd: Option<Usd>,
}

impl Budget {
    /// The limits, raised by an amount. Unlimited amounts stay unlimited.
    fn raised_by(self, more: BudgetAmount) -> Self {
        Self {
            calls: self.calls.map(|limit| limit.saturating_add(more.calls)),
            tokens: self.tokens.map(|limit| limit.saturating_add(more.tokens)),
            usd: self.usd.map(|limit| limit + more.usd),
        }
    }
}

/// Counts what all clients that share it spend, and refuses requests that would exceed the budget.
///
/// The obvious way, to sum costs and stop at the limit, exceeds the budget by everything in flight: hundreds of
/// requests may be in flight when the limit is reached. Refusing every request that might not fit would stop runs that
/// have money left, because most replies cost far less than their maximum.
///
/// So each request, a retry like a first one, reserves the most it can take before it is sent: its input by its bytes
/// ([`TokenEstimator::most`](crate::TokenEstimator::most)), its output by the limit that is sent with it. It is sent if
/// spending, reservations and this amount together stay within the budget. If only reservations are in the way, the
/// request waits until they are settled. Once none are left, the output limit of the reply is cut to the rest of the
/// budget, if that is enough for a useful reply. A request is refused only if it would not fit even then.
///
/// Invariants: spending never exceeds the budget, in whatever order replies arrive. Each reservation is settled exactly
/// once, by `Reservation`'s `Drop`. If no usage was reported, the full reservation counts as spent. (The one exception:
/// a provider that counts more input than it was sent. Later reservations are then raised by the largest such excess,
/// `underestimated`.)
pub struct BudgetTracker {
    state: Mutex<TrackerState>,
    /// Where more budget comes from, if this process leases parts of a shared one.
    source: Option<Arc<dyn BudgetSource>>,
    /// Held by the request that asks the source.
    asking: Arc<tokio::sync::Mutex<()>>,
    /// Notified when a reservation was settled.
    settled: Notify,
    /// Called once for every refusal, with the reason.
    on_limit: Box<dyn Fn(&str) + Send + Sync>,
}

#[derive(Debug, Clone, Copy, Default)]
struct TrackerState {
    budget: Budget,
    /// True if the source has nothing more to give.
    exhausted: bool,
    calls: u64,
    spent: Spend,
    /// The part of `spent` for which no usage was reported.
    unreported: Spend,
    /// Reserved for the requests in flight.
    reserved: Spend,
    in_flight: u64,
    /// The largest excess of real input over its upper bound, in percent. More than 0 only if a provider counts more
    /// input than it was sent.
    underestimated: u64,
    /// The smallest amount that a sent request needed.
    cheapest: Option<Spend>,
}

impl TrackerState {
    /// Whether spending and reservations may add up to this.
    fn allows(&self, all: Spend) -> bool {
        self.budget.tokens.is_none_or(|limit| all.tokens <= limit)
            && self.budget.usd.is_none_or(|limit| all.usd <= limit)
    }

    /// What is missing in the budget for a request that takes at most this much. All zero if it can be sent.
    fn missing(&self, most: Spend) -> BudgetAmount {
        let needed = self.spent.plus(self.reserved).plus(most);
        let Budget { calls, tokens, usd } = self.budget;
        BudgetAmount {
            calls: calls.map_or(0, |limit| (self.calls + 1).saturating_sub(limit)),
            tokens: tokens.map_or(0, |limit| needed.tokens.saturating_sub(limit)),
            usd: usd.map_or(Usd::ZERO, |limit| needed.usd.saturating_sub(limit)),
        }
    }

    /// Removes the part of the budget that is neither spent nor reserved, and returns it.
    fn take_idle(&mut self) -> BudgetAmount {
        let taken = self.spent.plus(self.reserved);
        let idle = BudgetAmount {
            calls: self.budget.calls.map_or(0, |limit| limit.saturating_sub(self.calls)),
            tokens: self.budget.tokens.map_or(0, |limit| limit.saturating_sub(taken.tokens)),
            usd: self.budget.usd.map_or(Usd::ZERO, |limit| limit.saturating_sub(taken.usd)),
        };
        let Budget { calls, tokens, usd } = &mut self.budget;
        *calls = calls.map(|limit| limit - idle.calls);
        *tokens = tokens.map(|limit| limit - idle.tokens);
        *usd = usd.map(|limit| limit.saturating_sub(idle.usd));

        idle
    }
}

impl Drop for BudgetTracker {
    fn drop(&mut self) {
        let Some(source) = &self.source else { return };
        let idle = self.state.get_mut().take_idle();
        source.give_back(idle);
    }
}

/// Tokens and money of a request, estimated or real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Spend {
    tokens: u64,
    usd: Usd,
}

impl Spend {
    fn estimate(input: u64, output: u64, card: ModelCard) -> Self {
        Self {
            tokens: input.saturating_add(output),
            usd: card.price.map_or(Usd::ZERO, |price| price.most(input, output)),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }

    fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), usd: self.usd.saturating_sub(other.usd) }
    }
}

/// An upper bound of what a call may take, as a budget counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallBound(Spend);

impl CallBound {
    /// Bound of a request in a batch that reads at most `input` tokens and writes at most `output`.
    pub(crate) fn of_batch(input: u64, output: u32, card: ModelCard) -> Self {
        Self(Spend::estimate(input, output.into(), card.for_batches()))
    }

    /// A bound of this many tokens and this much money.
    pub fn new(tokens: u64, usd: Usd) -> Self {
        Self(Spend { tokens, usd })
    }

    /// Tokens.
    pub fn tokens(self) -> u64 {
        self.0.tokens
    }

    /// Money, as far as prices are known.
    pub fn usd(self) -> Usd {
        self.0.usd
    }
}

impl std::ops::AddAssign for CallBound {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.plus(other.0);
    }
}

/// The amount that a budget reserves for a request: `most`, or the rest of the budget if that is at least `least`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallBounds {
    /// Amount that must be left for the request to be sent.
    pub least: CallBound,
    /// Amount to reserve if the budget allows it.
    pub most: CallBound,
}

impl CallBounds {
    /// Bounds of a request with at most `input` tokens, whose reply has these limits.
    pub fn new(input: u64, output_limit: OutputLimit, card: ModelCard) -> Self {
        let bound = |output: u32| CallBound(Spend::estimate(input, output.into(), card));
        Self { least: bound(output_limit.least), most: bound(output_limit.most) }
    }
}

/// A request that needs a reservation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReservationRequest {
    /// Upper bound of its tokens.
    pub(crate) input: u64,
    /// Limits of the reply.
    pub(crate) output_limit: OutputLimit,
    /// What is known about the model.
    pub(crate) card: ModelCard,
}

impl ReservationRequest {
    /// Upper bound of its tokens, corrected by what earlier requests have shown.
    fn input_at_most(&self, state: &TrackerState) -> u64 {
        let more = self.input.saturating_mul(state.underestimated).div_ceil(100);
        self.input.saturating_add(more)
    }

    fn bounds(&self, state: &TrackerState) -> CallBounds {
        CallBounds::new(self.input_at_most(state), self.output_limit, self.card)
    }
}

/// Why a request can't be sent now.
#[derive(Debug, PartialEq, Eq)]
enum ReservationRefusal {
    /// It may fit once requests in flight are settled.
    NotYet,
    /// It will never fit; the reason.
    Never(String),
}

impl BudgetTracker {
    /// A tracker with nothing spent. `on_limit` is called with the reason of every refusal.
    pub fn new(budget: Budget, on_limit: impl Fn(&str) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self::with(budget, None, on_limit))
    }

    /// A tracker that limits the same amounts as `limits`. All limits are 0 at first: the tracker leases what requests
    /// need from `source`, and gives back the amounts that they no longer need.
    pub fn leasing(
        limits: Budget,
        source: Arc<dyn BudgetSource>,
        on_limit: impl Fn(&str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let budget = Budget {
            calls: limits.calls.map(|_| 0),
            tokens: limits.tokens.map(|_| 0),
            usd: limits.usd.map(|_| Usd::ZERO),
        };

        Arc::new(Self::with(budget, Some(source), on_limit))
    }

    fn with(
        budget: Budget,
        source: Option<Arc<dyn BudgetSource>>,
        on_limit: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Mutex::new(TrackerState { budget, ..TrackerState::default() }),
            source,
            asking: Arc::default(),
            settled: Notify::new(),
            on_limit: Box::new(on_limit),
        }
    }

    /// Whether replies of this model count against a limit in tokens or money, so that each needs an output
    /// limit.
    pub(crate) fn limits_replies(&self, card: ModelCard) -> bool {
        let budget = self.state().budget;
        budget.tokens.is_some() || budget.usd.is_some() && card.price.is_some_and(|price| !price.is_free())
    }

    /// Replaces the limits. Spending so far still counts.
    pub fn set_budget(&self, budget: Budget) {
        self.state().budget = budget;
        self.settled.notify_waiters();
    }

    /// Whether there is a limit in money.
    pub fn limits_money(&self) -> bool {
        self.state().budget.usd.is_some()
    }

    /// The money spent, if there is a limit and it leaves too little even for the cheapest request so far.
    pub fn spent_up(&self) -> Option<Usd> {
        let state = self.state();
        let limit = state.budget.usd?;
        let cheapest = state.cheapest.unwrap_or_default();
        (state.spent.usd >= limit || state.spent.usd + cheapest.usd > limit).then_some(state.spent.usd)
    }

    /// Waits until the most that a request may take can be reserved. Returns the reason if it never can.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        request: ReservationRequest,
    ) -> Result<Reservation, String> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);

            // Registered before the budget is checked, so that no settlement in between is missed.
            settled.as_mut().enable();

            match self.try_reserve(request) {
                Ok(reserve) => return Ok(reserve),
                Err(ReservationRefusal::NotYet) => match &self.source {
                    Some(source) if !self.state().exhausted => {
                        tokio::select! {
                            biased;
                            () = settled => {}
                            () = self.lease(source, request) => {}
                        }
                    }
                    _ => settled.await,
                },
                Err(ReservationRefusal::Never(why)) => return Err(self.refuse(why)),
            }
        }
    }

    /// Asks the source for what a request needs, unless it has become available in the meantime.
    async fn lease(self: &Arc<Self>, source: &Arc<dyn BudgetSource>, request: ReservationRequest) {
        let turn = Arc::clone(&self.asking).lock_owned().await;
        // A spawned task, so that a lease that is on its way is not lost when the caller drops this future.
        let (tracker, source) = (Arc::clone(self), Arc::clone(source));
        let asking = tokio::spawn(async move {
            tracker.ask_source(&*source, request).await;
            drop(turn);
            tracker.settled.notify_waiters();
        });
        let _ = asking.await;
    }

    /// Asks the source until it answers. It asks again whenever a reservation is settled, because the budget here may
    /// suffice by then. Once nothing is in flight, it gives the idle rest back, because another process may wait for
    /// it.
    async fn ask_source(&self, source: &dyn BudgetSource, request: ReservationRequest) {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();

            let (need, idle, may_return) = {
                let mut state = self.state();
                let need = state.missing(request.bounds(&state).most.0);
                if need == BudgetAmount::default() {
                    return;
                }
                let may_return = state.in_flight > 0;
                let idle = if may_return { BudgetAmount::default() } else { state.take_idle() };
                (need, idle, may_return)
            };
            if idle != BudgetAmount::default() {
                source.give_back(idle);
            }

            let granted = tokio::select! {
                biased;
                granted = source.lease(need.plus(idle), may_return) => granted,
                () = settled, if may_return => continue,
            };
            let mut state = self.state();
            match granted {
                Some(more) => state.budget = state.budget.raised_by(more),
                None => state.exhausted = true,
            }
            return;
        }
    }

    /// Reports the refusal, and returns its reason.
    fn refuse(&self, why: String) -> String {
        (self.on_limit)(&why);
        why
    }

    fn try_reserve(self: &Arc<Self>, request: ReservationRequest) -> Result<Reservation, ReservationRefusal> {
        let ReservationRequest { output_limit, card, .. } = request;
        let mut state = self.state();
        let is_leasing = self.source.is_some() && !state.exhausted;
        if is_leasing && state.missing(request.bounds(&state).most.0) != BudgetAmount::default() {
            return Err(ReservationRefusal::NotYet);
        }
        if let Some(limit) = state.budget.calls.filter(|limit| state.calls >= *limit) {
            return Err(ReservationRefusal::Never(format!(
                "the budget of {} {} is spent",
                grouped(limit),
                if limit == 1 { "call" } else { "calls" }
            )));
        }

        let input = request.input_at_most(&state);
        let CallBounds { least, most } = request.bounds(&state);
        if let Some(why) = Self::never(&state, least.0, input, output_limit.least) {
            return Err(ReservationRefusal::Never(why));
        }

        let output = if state.allows(state.spent.plus(state.reserved).plus(most.0)) {
            output_limit.most
        } else if state.in_flight == 0 {
            Self::affordable(&state, input, card).clamp(output_limit.least, output_limit.most)
        } else {
            return Err(ReservationRefusal::NotYet);
        };

        let reserved = Spend::estimate(input, output.into(), card);
        state.calls += 1;
        state.in_flight += 1;
        state.reserved = state.reserved.plus(reserved);

        let tracker = Arc::clone(self);
        Ok(Reservation { tracker, reserved, request, output, least: least.0, is_sent: false, taken: None })
    }

    /// The reason why the budget will never allow a request that needs this much, if it won't.
    fn never(state: &TrackerState, least: Spend, input: u64, output: u32) -> Option<String> {
        let TrackerState { budget, spent, unreported, .. } = *state;
        let of_it = |amount: String| format!(", {amount} of it reserved for calls without reported usage");
        if let Some(limit) = budget.tokens.filter(|limit| spent.plus(least).tokens > *limit) {
            let unreported = match unreported.tokens {
                0 => String::new(),
                tokens => of_it(grouped(tokens)),
            };
            return Some(format!(
                "the budget of {} tokens does not allow another call: {} are spent{unreported}, and the next may take {} \
                 ({} read, {} written)",
                grouped(limit),
                grouped(spent.tokens),
                grouped(least.tokens),
                grouped(input),
                grouped(output.into())
            ));
        }

        if let Some(limit) = budget.usd.filter(|limit| spent.plus(least).usd > *limit) {
            let unreported = match unreported.usd {
                Usd::ZERO => String::new(),
                usd => of_it(dollars(usd.as_dollars())),
            };
            return Some(format!(
                "the budget of ${limit} does not allow another call: {} is spent{unreported}, and the next may take {} \
                 ({} tokens read, {} written)",
                dollars(spent.usd.as_dollars()),
                dollars(least.usd.as_dollars()),
                grouped(input),
                grouped(output.into())
            ));
        }

        None
    }

    /// How many tokens may be written in reply to a request when nothing else is in flight.
    fn affordable(state: &TrackerState, input: u64, card: ModelCard) -> u32 {
        let tokens = state
            .budget
            .tokens
            .map_or(u64::MAX, |limit| limit.saturating_sub(state.spent.tokens).saturating_sub(input));
        let paid = state.budget.usd.zip(card.price).map_or(u64::MAX, |(limit, price)| {
            price.output_for(input, limit.saturating_sub(state.spent.usd))
        });
        u32::try_from(tokens.min(paid)).unwrap_or(u32::MAX)
    }

    fn state(&self) -> MutexGuard<'_, TrackerState> {
        self.state.lock()
    }
}

impl fmt::Debug for BudgetTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetTracker").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Budget reserved for one request. Dropping it books the real spending, or the whole reservation if no usage
/// was reported. A request that was not sent counts as nothing.
pub(crate) struct Reservation {
    tracker: Arc<BudgetTracker>,
    reserved: Spend,
    request: ReservationRequest,
    output: u32,
    least: Spend,
    is_sent: bool,
    taken: Option<Spend>,
}

impl Reservation {
    /// The most tokens that the reply may have.
    pub(crate) fn output(&self) -> u32 {
        self.output
    }

    /// The request is sent now.
    pub(crate) fn sent(mut self) -> Self {
        self.is_sent = true;
        self
    }

    /// Books a request that got a reply.
    pub(crate) fn answered(self, reply: &ChatReply) {
        let price = self.request.card.price;
        let priced = price.is_some_and(|price| price.rates.cache_write != price.rates.input);
        let written = if priced { reply.cache_written().unwrap_or(0) } else { 0 };
        self.settle(reply.usage, written);
    }

    /// True if the output limit is lower than the reply may need, because the budget allowed no more.
    pub(crate) fn is_short(&self) -> bool {
        self.output < self.request.output_limit.most
    }

    /// Books a reply that was cut off where the budget ends, and returns the reason for the user. A longer reply might
    /// have a different result, so this one can't be used.
    pub(crate) fn ran_out(self, reply: &ChatReply) -> String {
        let (tracker, output) = (Arc::clone(&self.tracker), self.output);
        let budget = tracker.state().budget;
        let limits = [
            budget.tokens.map(|tokens| format!("{} tokens", grouped(tokens))),
            budget.usd.map(|usd| format!("${usd}")),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" and ");

        self.answered(reply);
        tracker.refuse(format!(
            "the budget of {limits} left {} tokens for a reply that needs more",
            grouped(output.into())
        ))
    }

    /// Books a request that got no reply.
    pub(crate) fn failed(mut self, attempt: &FailedAttempt) {
        self.is_sent = true;
        if may_be_charged(attempt) {
            self.settle(attempt.usage, 0);
        } else {
            self.taken = Some(Spend::default());
        }
    }

    fn settle(mut self, usage: TokenCounts, written: u64) {
        self.is_sent = true;
        let (Some(input), Some(output)) = (usage.input, usage.output) else { return };
        let ReservationRequest { input: expected, card, .. } = self.request;
        self.taken = Some(Spend {
            tokens: input.saturating_add(output),
            usd: card.price.and_then(|price| price.cost_of(usage, written)).unwrap_or_default(),
        });

        let over = input.saturating_sub(expected).saturating_mul(100).div_ceil(expected.max(1));
        let mut state = self.tracker.state();
        state.underestimated = state.underestimated.max(over);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.tracker.state();
        state.reserved = state.reserved.minus(self.reserved);
        state.in_flight = state.in_flight.saturating_sub(1);

        if self.is_sent {
            if self.taken.is_none() {
                state.unreported = state.unreported.plus(self.reserved);
            }
            state.spent = state.spent.plus(self.taken.unwrap_or(self.reserved));
            let cheapest = state.cheapest.filter(|known| known.usd <= self.least.usd);
            state.cheapest = cheapest.or(Some(self.least));
        } else {
            state.calls = state.calls.saturating_sub(1);
        }
        drop(state);

        self.tracker.settled.notify_waiters();
    }
}

/// The reservations of a request: in the client's budget and in the process's budget.
pub(crate) struct CallReservation(pub(crate) Vec<Reservation>);

impl CallReservation {
    /// The most tokens that the reply may have, if there is a budget.
    pub(crate) fn output(&self) -> Option<u32> {
        self.0.iter().map(Reservation::output).min()
    }

    /// True if the output limit is lower than the reply may need, because a budget allowed no more.
    pub(crate) fn is_short(&self) -> bool {
        self.0.iter().any(Reservation::is_short)
    }

    /// The request is sent now.
    pub(crate) fn sent(self) -> Self {
        Self(self.0.into_iter().map(Reservation::sent).collect())
    }

    /// Books a request that got a reply.
    pub(crate) fn answered(self, reply: &ChatReply) {
        self.0.into_iter().for_each(|reservation| reservation.answered(reply));
    }

    /// Books a request that got no reply.
    pub(crate) fn failed(self, attempt: &FailedAttempt) {
        self.0.into_iter().for_each(|reservation| reservation.failed(attempt));
    }

    /// Books a reply that was cut off where a budget ends, and returns the reason for the user, if that was so. See
    /// [`Reservation::ran_out`].
    pub(crate) fn ran_out(self, reply: &ChatReply) -> Option<String> {
        let mut reason = None;
        for reservation in self.0 {
            if reservation.is_short() {
                reason = Some(reservation.ran_out(reply));
            } else {
                reservation.answered(reply);
            }
        }
        reason
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::price::{ModelPrice, TokenRates};

    /// A millionth of a dollar a token read, two a token written.
    fn card() -> ModelCard {
        let rates = TokenRates {
            input: 1_000_000,
            cached_input: 1_000_000,
            cache_write: 1_000_000,
            output: 2_000_000,
        };
        ModelCard { price: Some(ModelPrice { rates, long: None }), ..ModelCard::default() }
    }

    fn tracker(budget: Budget) -> (Arc<BudgetTracker>, Arc<AtomicUsize>) {
        let refusals = Arc::new(AtomicUsize::new(0));
        let heard = Arc::clone(&refusals);
        let tracker = BudgetTracker::new(budget, move |_: &str| {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        (tracker, refusals)
    }

    fn usage(input: u64, output: u64) -> TokenCounts {
        TokenCounts { input: Some(input), cached: None, output: Some(output) }
    }

    fn failure(kind: ErrorKind, sent: bool) -> FailedAttempt {
        FailedAttempt { kind, status: None, waited: Duration::ZERO, usage: TokenCounts::default(), sent }
    }

    fn request(input: u64, most: u32, least: u32) -> ReservationRequest {
        ReservationRequest { input, output_limit: OutputLimit { most, least }, card: card() }
    }

    fn refusal(outcome: Result<Reservation, ReservationRefusal>) -> String {
        match outcome {
            Err(ReservationRefusal::Never(why)) => why,
            other => panic!("{:?}", other.err()),
        }
    }

    /// Source of a number of calls, leased two at a time. Callers that may still give something back have to wait.
    struct Pool(Mutex<u64>);

    impl BudgetSource for Pool {
        fn lease(&self, need: BudgetAmount, may_return: bool) -> crate::BoxFuture<'_, Option<BudgetAmount>> {
            let mut left = self.0.lock();
            if need.calls <= *left {
                let calls = need.calls.max(2).min(*left);
                *left -= calls;
                return Box::pin(std::future::ready(Some(BudgetAmount { calls, ..BudgetAmount::default() })));
            }
            if may_return { Box::pin(std::future::pending()) } else { Box::pin(std::future::ready(None)) }
        }

        fn give_back(&self, amount: BudgetAmount) {
            *self.0.lock() += amount.calls;
        }
    }

    #[tokio::test]
    async fn a_leased_budget_ends_where_its_source_does_and_what_is_left_goes_back() {
        let pool = Arc::new(Pool(Mutex::new(7)));
        let limits = Budget { calls: Some(1_000), ..Budget::default() };
        let refusals = Arc::new(AtomicUsize::new(0));
        let reported = Arc::clone(&refusals);
        let tracker = BudgetTracker::leasing(limits, Arc::clone(&pool) as _, move |_| {
            reported.fetch_add(1, Ordering::Relaxed);
        });

        let calls = (0..12).map(|_| async {
            let reserved = tracker.reserve(request(10, 10, 10)).await.map(Reservation::sent);
            tokio::task::yield_now().await;
            reserved.is_ok()
        });
        let sent = futures_util::future::join_all(calls).await;
        assert_eq!(sent.into_iter().filter(|is_sent| *is_sent).count(), 7);
        assert!(refusals.load(Ordering::Relaxed) > 0);

        *pool.0.lock() = 3;
        let other = BudgetTracker::leasing(limits, Arc::clone(&pool) as _, |_| {});
        drop(other.reserve(request(10, 10, 10)).await.unwrap().sent());
        drop(other);
        assert_eq!(*pool.0.lock(), 2, "one of two was used");
    }

    #[tokio::test]
    async fn calls_are_counted_exactly() {
        let (tracker, refusals) = tracker(Budget { calls: Some(2), ..Budget::default() });
        let first = tracker.reserve(request(10, 10, 10)).await.unwrap();
        let second = tracker.reserve(request(10, 10, 10)).await.unwrap();
        assert_eq!(refusals.load(Ordering::Relaxed), 0);
        assert_eq!(
            tracker.reserve(request(10, 10, 10)).await.err().unwrap(),
            "the budget of 2 calls is spent"
        );
        assert_eq!(refusals.load(Ordering::Relaxed), 1);
        drop(first);
        assert_eq!(tracker.state().spent, Spend::default());
        drop((second, tracker.reserve(request(10, 10, 10)).await.unwrap()));
    }

    #[test]
    fn reservations_block_only_until_they_are_settled() {
        let (tracker, _) = tracker(Budget { tokens: Some(1300), ..Budget::default() });
        let first = tracker.try_reserve(request(100, 500, 200)).unwrap();
        let second = tracker.try_reserve(request(100, 500, 200)).unwrap();
        // A shorter reply would fit, but it is worth nothing while other requests may still free budget.
        assert_eq!(tracker.try_reserve(request(100, 500, 0)).err(), Some(ReservationRefusal::NotYet));
        first.settle(usage(90, 10), 0);
        let third = tracker.try_reserve(request(100, 500, 200)).unwrap();
        assert_eq!(third.output(), 500);
        drop((second.sent(), third.sent()));
        assert_eq!(tracker.state().spent.tokens, 1300);
    }

    #[test]
    fn single_request_gets_the_rest_of_the_budget_if_it_is_enough() {
        let (tracker, refusals) = tracker(Budget { tokens: Some(1000), ..Budget::default() });
        let reserve = tracker.try_reserve(request(300, 8000, 500)).unwrap();
        assert_eq!((reserve.output(), reserve.is_short()), (700, true));
        reserve.settle(usage(280, 120), 0);
        assert_eq!(
            refusal(tracker.try_reserve(request(300, 8000, 500))),
            "the budget of 1,000 tokens does not allow another call: 400 are spent, and the next may take 800 (300 read, 500 \
             written)"
        );
        assert_eq!(refusals.load(Ordering::Relaxed), 0, "only who waits is refused");
        let (tracker, _) = self::tracker(Budget { usd: Usd::from_dollars(0.001), ..Budget::default() });
        // 300 millionths are read, two are a token written.
        assert_eq!(tracker.try_reserve(request(300, 8000, 100)).unwrap().output(), 350);
    }

    #[test]
    fn unknown_costs_count_as_reserved_and_refused_calls_as_zero() {
        let (tracker, _) = tracker(Budget { tokens: Some(2000), ..Budget::default() });
        let reserve = || tracker.try_reserve(request(100, 512, 512)).unwrap();
        reserve().settle(TokenCounts::default(), 0);
        drop(reserve().sent());
        reserve().failed(&failure(ErrorKind::Connection, false));
        reserve().failed(&failure(ErrorKind::Timeout, true));
        assert_eq!(tracker.state().spent.tokens, 3 * 612);
        assert_eq!(
            refusal(tracker.try_reserve(request(100, 512, 512))),
            "the budget of 2,000 tokens does not allow another call: 1,836 are spent, 1,836 of it reserved for calls without \
             reported usage, and the next may take 612 (100 read, 512 written)"
        );
    }

    #[test]
    fn reservations_use_the_highest_cost_of_a_call() {
        let limit = Usd::from_dollars(0.000_250).unwrap();
        let (tracker, _) = tracker(Budget { usd: Some(limit), ..Budget::default() });
        // 100 + 2 * 50 millionths each.
        let first = tracker.try_reserve(request(100, 50, 50)).unwrap();
        assert_eq!(tracker.try_reserve(request(100, 50, 50)).err(), Some(ReservationRefusal::NotYet));
        first.settle(usage(100, 50), 0);
        assert_eq!(
            refusal(tracker.try_reserve(request(100, 50, 50))),
            "the budget of $0.00025 does not allow another call: $0.0002 is spent, and the next may take $0.0002 (100 tokens \
             read, 50 written)"
        );
        let unpriced = ReservationRequest { card: ModelCard::default(), ..request(1_000_000, 50, 50) };
        assert!(!tracker.limits_replies(unpriced.card));
        assert!(tracker.try_reserve(unpriced).is_ok());
    }

    #[test]
    fn underestimated_input_raises_later_reservations() {
        let (tracker, _) = tracker(Budget { tokens: Some(10_000), ..Budget::default() });
        tracker.try_reserve(request(100, 0, 0)).unwrap().settle(usage(150, 0), 0);
        let reserve = tracker.try_reserve(request(100, 0, 0)).unwrap();
        assert_eq!(reserve.reserved.tokens, 150);
    }

    proptest! {
        /// Requests begin and end in any order; each ends with a reply within its input and the limit it was given. None
        /// waits for ever: with nothing in flight, each is sent or refused.
        #[test]
        fn no_order_of_replies_exceeds_the_budget(
            tokens in 0u64..3000,
            micros in 0u64..4000,
            steps in prop::collection::vec((1u64..400, 0u32..200, 0u32..2000, 0usize..8, 0u64..=100), 1..80),
        ) {
            let usd = Usd::from_pico(micros * 1_000_000);
            let (tracker, _) = tracker(Budget { calls: None, tokens: Some(tokens), usd: Some(usd) });
            let mut flying: Vec<(Reservation, u64)> = Vec::new();
            for (input, least, more, which, share) in steps {
                match tracker.try_reserve(request(input, least + more, least)) {
                    Ok(reserve) => {
                        prop_assert!((least..=least + more).contains(&reserve.output()));
                        flying.push((reserve, input));
                    }
                    Err(refusal) if flying.is_empty() => prop_assert_ne!(refusal, ReservationRefusal::NotYet),
                    Err(_) => {
                        let (reserve, input) = flying.remove(which % flying.len());
                        let output = u64::from(reserve.output()) * share / 100;
                        reserve.settle(usage(input * share / 100, output), 0);
                    }
                }
                let state = *tracker.state();
                prop_assert!(state.spent.plus(state.reserved).tokens <= tokens);
                prop_assert!(state.spent.plus(state.reserved).usd <= usd);
            }
            for (reserve, input) in flying {
                let output = u64::from(reserve.output());
                reserve.settle(usage(input, output), 0);
            }
            let spent = tracker.state().spent;
            prop_assert!(spent.tokens <= tokens && spent.usd <= usd);
        }
    }
}
