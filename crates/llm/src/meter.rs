//! Limits on what may be spent, checked before anything is sent.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assize_rubric::Usd;
use tokio::sync::Notify;

use crate::bound::Room;
use crate::error::FailedAttempt;
use crate::price::{ModelCard, may_be_charged};
use crate::reply::{ChatReply, Usage};

/// What may be spent; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Requests sent, failed ones and retries included.
    pub calls: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Money, as far as prices are known: a call of unknown price counts for nothing.
    pub usd: Option<Usd>,
}

/// Counts what is spent by all clients that share it, and refuses what would pass the budget.
///
/// Each request, a retry like a first one, sets aside the most it can take before it is sent: its input by its bytes
/// ([`Estimator::most`](crate::Estimator::most)), its output by the limit that is sent with it. It is sent if that, what
/// was spent and what is set aside for the requests in flight stay within the budget together. What only the requests in
/// flight stand in the way of waits until they are settled; once there are none, the reply gets as much as is left, if
/// that is worth asking for. So no reply can pass the budget, whatever order replies come in. A request whose cost nobody
/// reports counts as what was set aside.
pub struct Meter {
    budget: Budget,
    state: Mutex<State>,
    /// Something that was set aside has been settled.
    settled: Notify,
    /// Told once for every refusal, with the reason.
    on_limit: Box<dyn Fn(&str) + Send + Sync>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    calls: u64,
    spent: Need,
    /// The part of `spent` that nobody reported.
    unreported: Need,
    /// Set aside for the requests in flight.
    held: Need,
    in_flight: u64,
    /// By how many percent real input passed what was set aside for it at worst. More than 0 only where a provider reads
    /// more than it is sent.
    underestimated: u64,
}

/// What a request may take, or took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Need {
    tokens: u64,
    usd: Usd,
}

impl Need {
    fn of(input: u64, output: u64, card: ModelCard) -> Self {
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

/// A request that is to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    /// The most tokens it can have.
    pub(crate) input: u64,
    /// How long its reply may be.
    pub(crate) room: Room,
    /// What is known about the model.
    pub(crate) card: ModelCard,
}

/// Why a request is not sent now.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// It may be when those in flight are settled.
    NotYet,
    /// It never may; the reason.
    Never(String),
}

impl Meter {
    /// A meter that has counted nothing; `on_limit` hears the reason of every refusal.
    pub fn new(budget: Budget, on_limit: impl Fn(&str) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            budget,
            state: Mutex::default(),
            settled: Notify::new(),
            on_limit: Box::new(on_limit),
        })
    }

    /// Whether replies of this model count against a limit in tokens or money, so that each needs a limit of its own.
    pub(crate) fn limits_replies(&self, card: ModelCard) -> bool {
        self.budget.tokens.is_some()
            || self.budget.usd.is_some() && card.price.is_some_and(|price| !price.is_free())
    }

    /// Sets aside what a request may take, once that is possible; says why if it never will be.
    pub(crate) async fn hold(self: &Arc<Self>, demand: Demand) -> Result<Hold, String> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // Registered before looking, so that nothing that is settled in between is missed.
            settled.as_mut().enable();
            match self.try_hold(demand) {
                Ok(hold) => return Ok(hold),
                Err(Refusal::NotYet) => settled.await,
                Err(Refusal::Never(why)) => return Err(self.refuse(why)),
            }
        }
    }

    /// Tells whoever wants to know that the budget stands in the way.
    fn refuse(&self, why: String) -> String {
        (self.on_limit)(&why);
        why
    }

    fn try_hold(self: &Arc<Self>, demand: Demand) -> Result<Hold, Refusal> {
        let Demand { room, card, .. } = demand;
        let mut state = self.state();
        if let Some(limit) = self.budget.calls.filter(|limit| state.calls >= *limit) {
            return Err(Refusal::Never(format!("the budget of {limit} calls is spent")));
        }
        let more = demand.input.saturating_mul(state.underestimated).div_ceil(100);
        let input = demand.input.saturating_add(more);
        let least = Need::of(input, room.least.into(), card);
        if let Some(why) = self.never(&state, least, input, room.least) {
            return Err(Refusal::Never(why));
        }
        let most = Need::of(input, room.most.into(), card);
        let output = if self.allows(state.spent.plus(state.held).plus(most)) {
            room.most
        } else if state.in_flight == 0 {
            self.affordable(&state, input, card).clamp(room.least, room.most)
        } else {
            return Err(Refusal::NotYet);
        };
        let need = Need::of(input, output.into(), card);
        state.calls += 1;
        state.in_flight += 1;
        state.held = state.held.plus(need);
        let meter = Arc::clone(self);
        Ok(Hold { meter, need, demand, output, taken: None })
    }

    fn allows(&self, all: Need) -> bool {
        self.budget.tokens.is_none_or(|limit| all.tokens <= limit)
            && self.budget.usd.is_none_or(|limit| all.usd <= limit)
    }

    /// Why the budget will not allow a request that needs this much.
    fn never(&self, state: &State, least: Need, input: u64, output: u32) -> Option<String> {
        let State { spent, unreported, .. } = *state;
        let of_it =
            |amount: String| format!(", {amount} of it set aside for calls of which no usage was reported");
        if let Some(limit) = self.budget.tokens.filter(|limit| spent.plus(least).tokens > *limit) {
            let unreported = match unreported.tokens {
                0 => String::new(),
                tokens => of_it(tokens.to_string()),
            };
            return Some(format!(
                "the budget of {limit} tokens does not allow another call: {} are spent{unreported}, and the next may \
                 take {} ({input} read, {output} written)",
                spent.tokens, least.tokens
            ));
        }
        if let Some(limit) = self.budget.usd.filter(|limit| spent.plus(least).usd > *limit) {
            let unreported = match unreported.usd {
                Usd::ZERO => String::new(),
                usd => of_it(format!("${usd}")),
            };
            return Some(format!(
                "the budget of ${limit} does not allow another call: ${} is spent{unreported}, and the next may take ${} \
                 ({input} tokens read, {output} written)",
                spent.usd, least.usd
            ));
        }
        None
    }

    /// The tokens that may be written in reply to a request that is alone.
    fn affordable(&self, state: &State, input: u64, card: ModelCard) -> u32 {
        let tokens = self
            .budget
            .tokens
            .map_or(u64::MAX, |limit| limit.saturating_sub(state.spent.tokens).saturating_sub(input));
        let paid = self.budget.usd.zip(card.price).map_or(u64::MAX, |(limit, price)| {
            price.output_for(input, limit.saturating_sub(state.spent.usd))
        });
        u32::try_from(tokens.min(paid)).unwrap_or(u32::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("budget", &self.budget)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// What is set aside for one request. Dropping it books it: as it turned out, or as set aside if nobody knows.
pub(crate) struct Hold {
    meter: Arc<Meter>,
    need: Need,
    demand: Demand,
    output: u32,
    taken: Option<Need>,
}

impl Hold {
    /// The most tokens that the reply may have.
    pub(crate) fn output(&self) -> u32 {
        self.output
    }

    /// The request was not sent after all.
    pub(crate) fn unsent(mut self) {
        self.taken = Some(Need::default());
        let mut state = self.meter.state();
        state.calls = state.calls.saturating_sub(1);
    }

    /// The request brought a reply.
    pub(crate) fn answered(self, reply: &ChatReply) {
        let price = self.demand.card.price;
        let priced = price.is_some_and(|price| price.rates.cache_write != price.rates.input);
        let written = if priced { reply.cache_written().unwrap_or(0) } else { 0 };
        self.settle(reply.usage, written);
    }

    /// Whether the reply has less room than it is allowed, since no more could be afforded.
    pub(crate) fn is_short(&self) -> bool {
        self.output < self.demand.room.most
    }

    /// The request brought a reply that ends where the budget does: nobody can tell what a longer one would have said.
    pub(crate) fn ran_out(self, reply: &ChatReply) -> String {
        let (meter, output) = (Arc::clone(&self.meter), self.output);
        let limits = [
            meter.budget.tokens.map(|tokens| format!("{tokens} tokens")),
            meter.budget.usd.map(|usd| format!("${usd}")),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        self.answered(reply);
        meter.refuse(format!("the budget of {limits} left {output} tokens for a reply that needs more"))
    }

    /// The request brought none.
    pub(crate) fn failed(mut self, attempt: &FailedAttempt) {
        if may_be_charged(attempt) {
            self.settle(attempt.usage, 0);
        } else {
            self.taken = Some(Need::default());
        }
    }

    fn settle(mut self, usage: Usage, written: u64) {
        let (Some(input), Some(output)) = (usage.input, usage.output) else { return };
        let Demand { input: expected, card, .. } = self.demand;
        self.taken = Some(Need {
            tokens: input.saturating_add(output),
            usd: card.price.and_then(|price| price.of(usage, written)).unwrap_or_default(),
        });
        let over = input.saturating_sub(expected).saturating_mul(100).div_ceil(expected.max(1));
        let mut state = self.meter.state();
        state.underestimated = state.underestimated.max(over);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.meter.state();
        state.held = state.held.minus(self.need);
        state.in_flight = state.in_flight.saturating_sub(1);
        if self.taken.is_none() {
            state.unreported = state.unreported.plus(self.need);
        }
        state.spent = state.spent.plus(self.taken.unwrap_or(self.need));
        drop(state);
        self.meter.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::price::{Price, Rates};

    /// A millionth of a dollar a token read, two a token written.
    fn card() -> ModelCard {
        let rates =
            Rates { input: 1_000_000, cached_input: 1_000_000, cache_write: 1_000_000, output: 2_000_000 };
        ModelCard { price: Some(Price { rates, long: None }), ..ModelCard::default() }
    }

    fn meter(budget: Budget) -> (Arc<Meter>, Arc<AtomicUsize>) {
        let refusals = Arc::new(AtomicUsize::new(0));
        let heard = Arc::clone(&refusals);
        let meter = Meter::new(budget, move |_: &str| {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        (meter, refusals)
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input: Some(input), cached: None, output: Some(output) }
    }

    fn failure(kind: ErrorKind, sent: bool) -> FailedAttempt {
        FailedAttempt { kind, status: None, waited: Duration::ZERO, usage: Usage::default(), sent }
    }

    fn demand(input: u64, most: u32, least: u32) -> Demand {
        Demand { input, room: Room { most, least }, card: card() }
    }

    fn refusal(outcome: Result<Hold, Refusal>) -> String {
        match outcome {
            Err(Refusal::Never(why)) => why,
            other => panic!("{:?}", other.err()),
        }
    }

    #[tokio::test]
    async fn calls_are_counted_exactly() {
        let (meter, refusals) = meter(Budget { calls: Some(2), ..Budget::default() });
        let first = meter.hold(demand(10, 10, 10)).await.unwrap();
        let second = meter.hold(demand(10, 10, 10)).await.unwrap();
        assert_eq!(refusals.load(Ordering::Relaxed), 0);
        assert_eq!(meter.hold(demand(10, 10, 10)).await.err().unwrap(), "the budget of 2 calls is spent");
        assert_eq!(refusals.load(Ordering::Relaxed), 1);
        first.unsent();
        assert_eq!(meter.state().spent, Need::default());
        drop((second, meter.hold(demand(10, 10, 10)).await.unwrap()));
    }

    #[test]
    fn what_is_in_flight_stands_in_the_way_only_until_it_is_settled() {
        let (meter, _) = meter(Budget { tokens: Some(1300), ..Budget::default() });
        let first = meter.try_hold(demand(100, 500, 200)).unwrap();
        let second = meter.try_hold(demand(100, 500, 200)).unwrap();
        // A shorter reply would fit, but a cut one is worth nothing while others may leave more room.
        assert_eq!(meter.try_hold(demand(100, 500, 0)).err(), Some(Refusal::NotYet));
        first.settle(usage(90, 10), 0);
        let third = meter.try_hold(demand(100, 500, 200)).unwrap();
        assert_eq!(third.output(), 500);
        drop((second, third));
        assert_eq!(meter.state().spent.tokens, 1300);
    }

    #[test]
    fn a_request_that_is_alone_gets_what_is_left_if_that_is_worth_asking() {
        let (meter, refusals) = meter(Budget { tokens: Some(1000), ..Budget::default() });
        let hold = meter.try_hold(demand(300, 8000, 500)).unwrap();
        assert_eq!((hold.output(), hold.is_short()), (700, true));
        hold.settle(usage(280, 120), 0);
        assert_eq!(
            refusal(meter.try_hold(demand(300, 8000, 500))),
            "the budget of 1000 tokens does not allow another call: 400 are spent, and the next may take 800 (300 read, 500 \
             written)"
        );
        assert_eq!(refusals.load(Ordering::Relaxed), 0, "only who waits is refused");
        let (meter, _) = self::meter(Budget { usd: Usd::from_dollars(0.001), ..Budget::default() });
        // 300 millionths are read, two are a token written.
        assert_eq!(meter.try_hold(demand(300, 8000, 100)).unwrap().output(), 350);
    }

    #[test]
    fn unknown_costs_count_as_set_aside_and_refused_calls_as_nothing() {
        let (meter, _) = meter(Budget { tokens: Some(2000), ..Budget::default() });
        let hold = || meter.try_hold(demand(100, 512, 512)).unwrap();
        hold().settle(Usage::default(), 0);
        drop(hold());
        hold().failed(&failure(ErrorKind::Connection, false));
        hold().failed(&failure(ErrorKind::Timeout, true));
        assert_eq!(meter.state().spent.tokens, 3 * 612);
        assert_eq!(
            refusal(meter.try_hold(demand(100, 512, 512))),
            "the budget of 2000 tokens does not allow another call: 1836 are spent, 1836 of it set aside for calls of which \
             no usage was reported, and the next may take 612 (100 read, 512 written)"
        );
    }

    #[test]
    fn money_is_set_aside_by_the_most_a_call_can_take() {
        let limit = Usd::from_dollars(0.000_250).unwrap();
        let (meter, _) = meter(Budget { usd: Some(limit), ..Budget::default() });
        // 100 + 2 * 50 millionths each.
        let first = meter.try_hold(demand(100, 50, 50)).unwrap();
        assert_eq!(meter.try_hold(demand(100, 50, 50)).err(), Some(Refusal::NotYet));
        first.settle(usage(100, 50), 0);
        assert_eq!(
            refusal(meter.try_hold(demand(100, 50, 50))),
            "the budget of $0.00025 does not allow another call: $0.0002 is spent, and the next may take $0.0002 (100 tokens \
             read, 50 written)"
        );
        let unpriced = Demand { card: ModelCard::default(), ..demand(1_000_000, 50, 50) };
        assert!(!meter.limits_replies(unpriced.card));
        assert!(meter.try_hold(unpriced).is_ok());
    }

    #[test]
    fn input_that_passed_what_was_set_aside_once_has_more_set_aside() {
        let (meter, _) = meter(Budget { tokens: Some(10_000), ..Budget::default() });
        meter.try_hold(demand(100, 0, 0)).unwrap().settle(usage(150, 0), 0);
        let hold = meter.try_hold(demand(100, 0, 0)).unwrap();
        assert_eq!(hold.need.tokens, 150);
    }

    proptest! {
        /// Requests begin and end in any order; each ends with a reply within its input and the limit it was given. None
        /// waits for ever: with nothing in flight, each is sent or refused.
        #[test]
        fn no_order_of_replies_passes_the_budget(
            tokens in 0u64..3000,
            micros in 0u64..4000,
            steps in prop::collection::vec((1u64..400, 0u32..200, 0u32..2000, 0usize..8, 0u64..=100), 1..80),
        ) {
            let usd = Usd::from_pico(micros * 1_000_000);
            let (meter, _) = meter(Budget { calls: None, tokens: Some(tokens), usd: Some(usd) });
            let mut flying: Vec<(Hold, u64)> = Vec::new();
            for (input, least, more, which, share) in steps {
                match meter.try_hold(demand(input, least + more, least)) {
                    Ok(hold) => {
                        prop_assert!((least..=least + more).contains(&hold.output()));
                        flying.push((hold, input));
                    }
                    Err(refusal) if flying.is_empty() => prop_assert_ne!(refusal, Refusal::NotYet),
                    Err(_) => {
                        let (hold, input) = flying.remove(which % flying.len());
                        let output = u64::from(hold.output()) * share / 100;
                        hold.settle(usage(input * share / 100, output), 0);
                    }
                }
                let state = *meter.state();
                prop_assert!(state.spent.plus(state.held).tokens <= tokens);
                prop_assert!(state.spent.plus(state.held).usd <= usd);
            }
            for (hold, input) in flying {
                let output = u64::from(hold.output());
                hold.settle(usage(input, output), 0);
            }
            let spent = meter.state().spent;
            prop_assert!(spent.tokens <= tokens && spent.usd <= usd);
        }
    }
}
