//! Limits on what may be spent, checked before anything is sent.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assize_rubric::Usd;
use tokio::sync::Notify;

use crate::error::FailedAttempt;
use crate::price::{ModelCard, may_be_charged};
use crate::reply::{ChatReply, Usage};
use crate::request::ChatRequest;

/// Tokens that a reply without a limit is expected to have before one has been seen.
const FIRST_OUTPUT: u64 = 512;

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
/// Each request, a retry like a first one, sets aside the most it can take before it is sent: its input by the
/// [`Estimator`](crate::Estimator), its output by its own limit or, without one, as long as the longest so far. It is
/// sent if that, what was spent and what is set aside for the requests in flight stay within the budget together. What
/// only the requests in flight stand in the way of waits until they are settled. So no reply within its limit can pass
/// the budget, whatever order replies come in. A request whose cost nobody reports counts as what was set aside.
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
    /// Set aside for the requests in flight.
    held: Need,
    longest_output: u64,
    /// By how many percent real input passed its estimate at worst.
    underestimated: u64,
}

/// What a request may take, or took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Need {
    tokens: u64,
    usd: Usd,
}

impl Need {
    fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }

    fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), usd: self.usd.saturating_sub(other.usd) }
    }
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

    /// Sets aside what a request may take, once that is possible; says why if it never will be.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        request: &ChatRequest,
        card: ModelCard,
    ) -> Result<Hold, String> {
        let estimate = card.estimator.request(request);
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // Registered before looking, so that nothing that is settled in between is missed.
            settled.as_mut().enable();
            match self.try_hold(estimate, request.max_output_tokens, card) {
                Ok(hold) => return Ok(hold),
                Err(Refusal::NotYet) => settled.await,
                Err(Refusal::Never(why)) => {
                    (self.on_limit)(&why);
                    return Err(why);
                }
            }
        }
    }

    fn try_hold(
        self: &Arc<Self>,
        estimate: u64,
        max_output: Option<u32>,
        card: ModelCard,
    ) -> Result<Hold, Refusal> {
        let mut state = self.state();
        let input = estimate.saturating_add(estimate.saturating_mul(state.underestimated).div_ceil(100));
        let output = match max_output {
            Some(most) => u64::from(most),
            None => state.longest_output.max(if state.longest_output == 0 { FIRST_OUTPUT } else { 0 }),
        };
        let need = Need {
            tokens: input.saturating_add(output),
            usd: card.price.map_or(Usd::ZERO, |price| price.most(input, output)),
        };
        if let Some(limit) = self.budget.calls.filter(|limit| state.calls >= *limit) {
            return Err(Refusal::Never(format!("the budget of {limit} calls is spent")));
        }
        let alone = state.spent.plus(need);
        if let Some(limit) = self.budget.tokens.filter(|limit| alone.tokens > *limit) {
            let spent = state.spent.tokens;
            let why = format!("the budget of {limit} tokens does not allow another call ({spent} are spent)");
            return Err(Refusal::Never(why));
        }
        if let Some(limit) = self.budget.usd.filter(|limit| alone.usd > *limit) {
            let why = format!(
                "the budget of ${limit} does not allow another call (${} is spent, and the call may take ${})",
                state.spent.usd, need.usd
            );
            return Err(Refusal::Never(why));
        }
        let all = alone.plus(state.held);
        if self.budget.tokens.is_some_and(|limit| all.tokens > limit)
            || self.budget.usd.is_some_and(|limit| all.usd > limit)
        {
            return Err(Refusal::NotYet);
        }
        state.calls += 1;
        state.held = state.held.plus(need);
        Ok(Hold { meter: Arc::clone(self), need, estimate, card, taken: None })
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

/// What is set aside for one request. Dropping it books it: as it turned out, or as expected if nobody knows.
pub(crate) struct Hold {
    meter: Arc<Meter>,
    need: Need,
    estimate: u64,
    card: ModelCard,
    taken: Option<Need>,
}

impl Hold {
    /// The request brought a reply.
    pub(crate) fn answered(self, reply: &ChatReply) {
        let priced = self.card.price.is_some_and(|price| price.rates.cache_write != price.rates.input);
        let written = if priced { reply.cache_written().unwrap_or(0) } else { 0 };
        self.settle(reply.usage, written);
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
        self.taken = Some(Need {
            tokens: input.saturating_add(output),
            usd: self.card.price.and_then(|price| price.of(usage, written)).unwrap_or_default(),
        });
        let mut state = self.meter.state();
        state.longest_output = state.longest_output.max(output);
        let over = input.saturating_sub(self.estimate).saturating_mul(100).div_ceil(self.estimate.max(1));
        state.underestimated = state.underestimated.max(over);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.meter.state();
        state.held = state.held.minus(self.need);
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
    use crate::request::ChatMessage;

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

    #[tokio::test]
    async fn calls_are_counted_exactly() {
        let (meter, refusals) = meter(Budget { calls: Some(2), ..Budget::default() });
        let request = ChatRequest::new(vec![ChatMessage::user("a question")]);
        let first = meter.hold(&request, card()).await.unwrap();
        let second = meter.hold(&request, card()).await.unwrap();
        assert_eq!(refusals.load(Ordering::Relaxed), 0);
        assert_eq!(meter.hold(&request, card()).await.err().unwrap(), "the budget of 2 calls is spent");
        assert_eq!(refusals.load(Ordering::Relaxed), 1);
        drop((first, second));
    }

    #[test]
    fn what_is_in_flight_stands_in_the_way_only_until_it_is_settled() {
        let (meter, _) = meter(Budget { tokens: Some(1300), ..Budget::default() });
        let first = meter.try_hold(100, None, card()).unwrap();
        let second = meter.try_hold(100, None, card()).unwrap();
        assert_eq!(meter.try_hold(100, None, card()).err(), Some(Refusal::NotYet));
        first.settle(usage(90, 10), 0);
        second.settle(usage(90, 10), 0);
        // Replies are expected to be short now.
        meter.try_hold(100, None, card()).unwrap().settle(usage(90, 10), 0);
        assert_eq!(meter.state().spent.tokens, 300);
        assert_eq!(meter.state().held, Need::default());
        assert!(matches!(meter.try_hold(991, None, card()), Err(Refusal::Never(_))));
    }

    #[test]
    fn unknown_costs_count_as_set_aside_and_refused_calls_as_nothing() {
        let (meter, _) = meter(Budget { tokens: Some(100_000), ..Budget::default() });
        let hold = || meter.try_hold(100, None, card()).unwrap();
        hold().settle(Usage::default(), 0);
        drop(hold());
        hold().failed(&failure(ErrorKind::Timeout, true));
        hold().failed(&failure(ErrorKind::Connection, false));
        assert_eq!(meter.state().spent.tokens, 3 * 612);
    }

    #[test]
    fn money_is_set_aside_by_the_most_a_call_can_take() {
        let limit = Usd::from_dollars(0.000_250).unwrap();
        let (meter, _) = meter(Budget { usd: Some(limit), ..Budget::default() });
        // 100 + 2 * 50 millionths each.
        let first = meter.try_hold(100, Some(50), card()).unwrap();
        assert_eq!(meter.try_hold(100, Some(50), card()).err(), Some(Refusal::NotYet));
        first.settle(usage(100, 50), 0);
        let Err(Refusal::Never(why)) = meter.try_hold(100, Some(50), card()) else { panic!("allowed") };
        assert_eq!(
            why,
            "the budget of $0.00025 does not allow another call ($0.0002 is spent, and the call may take $0.0002)"
        );
        let unpriced = ModelCard::default();
        assert!(meter.try_hold(1_000_000, Some(50), unpriced).is_ok());
    }

    #[test]
    fn input_that_was_underestimated_once_is_estimated_higher() {
        let (meter, _) = meter(Budget { tokens: Some(10_000), ..Budget::default() });
        meter.try_hold(100, Some(0), card()).unwrap().settle(usage(150, 0), 0);
        let hold = meter.try_hold(100, Some(0), card()).unwrap();
        assert_eq!(hold.need.tokens, 150);
    }

    proptest! {
        /// Requests begin and end in any order; each ends with a reply within its estimate and its limit.
        #[test]
        fn no_order_of_replies_passes_the_budget(
            tokens in 0u64..3000,
            micros in 0u64..4000,
            steps in prop::collection::vec((1u64..400, 0u32..200, 0usize..8, 0u64..=100), 1..80),
        ) {
            let usd = Usd::from_pico(micros * 1_000_000);
            let (meter, _) = meter(Budget { calls: None, tokens: Some(tokens), usd: Some(usd) });
            let mut flying = Vec::new();
            for (input, output, which, share) in steps {
                if let Ok(hold) = meter.try_hold(input, Some(output), card()) {
                    flying.push((hold, input, output));
                } else if !flying.is_empty() {
                    let (hold, input, output) = flying.remove(which % flying.len());
                    hold.settle(usage(input * share / 100, u64::from(output) * share / 100), 0);
                }
                let state = *meter.state();
                prop_assert!(state.spent.plus(state.held).tokens <= tokens);
                prop_assert!(state.spent.plus(state.held).usd <= usd);
            }
            for (hold, input, output) in flying {
                hold.settle(usage(input, u64::from(output)), 0);
            }
            let spent = meter.state().spent;
            prop_assert!(spent.tokens <= tokens && spent.usd <= usd);
        }
    }
}
