//! Limits on what may be spent, checked before anything is sent.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ask::{Ask, BoxFuture, ModelId};
use crate::error::{AskError, ErrorKind};
use crate::reply::{ChatReply, Usage};
use crate::request::{ChatRequest, Part};
use crate::transport::{HttpAnswer, Outgoing, Transport, TransportError};

/// Bytes of text that make about one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens that a reply is expected to have before one has been seen.
const FIRST_OUTPUT: u64 = 512;

/// What may be spent; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Requests sent, failed ones and retries included.
    pub calls: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
}

/// Counts what is spent by all clients that share it, and refuses what would pass the budget.
///
/// Calls are exact: the one after the last allowed is not sent. What a reply costs in tokens is known only afterwards,
/// so a call is sent if what was spent, what the calls in flight are expected to cost and what this one is expected to
/// cost stay within the budget: input by its length, output as the longest so far. A call whose cost the server does
/// not report counts as expected.
pub struct Meter {
    budget: Budget,
    spent: Mutex<Spent>,
    /// Told once for every refusal.
    on_limit: Box<dyn Fn() + Send + Sync>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    calls: u64,
    tokens: u64,
    /// Expected for the calls in flight.
    reserved: u64,
    longest_output: u64,
}

impl Meter {
    /// A meter that has counted nothing; `on_limit` hears of every refusal.
    pub fn new(budget: Budget, on_limit: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { budget, spent: Mutex::default(), on_limit: Box::new(on_limit) })
    }

    /// The transport, counted.
    pub fn transport(self: &Arc<Self>, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(MeteredTransport { inner, meter: Arc::clone(self) })
    }

    /// The model, its tokens counted. Its calls are counted by its transport.
    pub fn model(self: &Arc<Self>, inner: Arc<dyn Ask>) -> Arc<dyn Ask> {
        Arc::new(MeteredModel { inner, meter: Arc::clone(self) })
    }

    fn count_call(&self) -> Result<(), String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        match self.budget.calls {
            Some(limit) if spent.calls >= limit => {
                drop(spent);
                (self.on_limit)();
                Err(format!("the budget of {limit} calls is spent"))
            }
            _ => {
                spent.calls += 1;
                Ok(())
            }
        }
    }

    fn reserve(self: &Arc<Self>, request: &ChatRequest) -> Result<Reservation, String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = if spent.longest_output == 0 { FIRST_OUTPUT } else { spent.longest_output };
        let output = request.max_output_tokens.map_or(longest, |most| longest.min(u64::from(most)));
        let expected = input_tokens(request) + output;
        let total = spent.tokens.saturating_add(spent.reserved).saturating_add(expected);
        match self.budget.tokens {
            Some(limit) if total > limit => {
                let so_far = spent.tokens;
                drop(spent);
                (self.on_limit)();
                Err(format!("the budget of {limit} tokens does not allow another call ({so_far} are spent)"))
            }
            _ => {
                spent.reserved += expected;
                Ok(Reservation { meter: Arc::clone(self), expected, real: None })
            }
        }
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("budget", &self.budget)
            .field("spent", &self.spent)
            .finish_non_exhaustive()
    }
}

/// About how many tokens a request has: a quarter of the bytes of its texts.
pub(crate) fn input_tokens(request: &ChatRequest) -> u64 {
    let bytes: usize = request
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Image { data, .. } => data.len(),
        })
        .sum();
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Tokens set aside for one call. Dropping it books them: as they turned out, or as expected if nobody knows.
struct Reservation {
    meter: Arc<Meter>,
    expected: u64,
    real: Option<u64>,
}

impl Reservation {
    fn settle(mut self, usage: Usage, sent: bool) {
        if usage.is_unknown() && sent {
            return;
        }
        let output = usage.output.unwrap_or(0);
        self.real = Some(usage.input.unwrap_or(0).saturating_add(output));
        let mut spent = self.meter.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.longest_output = spent.longest_output.max(output);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut spent = self.meter.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.reserved = spent.reserved.saturating_sub(self.expected);
        spent.tokens = spent.tokens.saturating_add(self.real.unwrap_or(self.expected));
    }
}

struct MeteredTransport {
    inner: Arc<dyn Transport>,
    meter: Arc<Meter>,
}

impl Transport for MeteredTransport {
    fn send(&self, call: Outgoing) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        match self.meter.count_call() {
            Ok(()) => self.inner.send(call),
            Err(why) => Box::pin(std::future::ready(Err(TransportError::OverBudget(why)))),
        }
    }
}

struct MeteredModel {
    inner: Arc<dyn Ask>,
    meter: Arc<Meter>,
}

impl Ask for MeteredModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(async move {
            let reservation =
                self.meter.reserve(request).map_err(|why| AskError::new(ErrorKind::Cancelled, why))?;
            let result = self.inner.ask(request).await;
            match &result {
                Ok(reply) => reservation.settle(reply.total_usage(), true),
                // Servers charge nothing for what they could not answer, unless they say so.
                Err(error) => reservation.settle(error.total_usage(), false),
            }
            result
        })
    }

    fn describe(&self) -> ModelId {
        self.inner.describe()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::request::ChatMessage;

    fn meter(calls: Option<u64>, tokens: Option<u64>) -> (Arc<Meter>, Arc<AtomicUsize>) {
        let refusals = Arc::new(AtomicUsize::new(0));
        let heard = Arc::clone(&refusals);
        let meter = Meter::new(Budget { calls, tokens }, move || {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        (meter, refusals)
    }

    fn request(bytes: usize) -> ChatRequest {
        ChatRequest::new(vec![ChatMessage::user("x".repeat(bytes))])
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input: Some(input), cached: None, output: Some(output) }
    }

    #[test]
    fn calls_are_counted_exactly() {
        let (meter, refusals) = meter(Some(2), None);
        assert!(meter.count_call().is_ok() && meter.count_call().is_ok());
        assert_eq!(refusals.load(Ordering::Relaxed), 0);
        assert_eq!(meter.count_call().unwrap_err(), "the budget of 2 calls is spent");
        assert_eq!(refusals.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_in_flight_is_set_aside() {
        // 400 bytes are 100 tokens; a first reply is expected to have 512.
        let (meter, _) = meter(None, Some(1300));
        let first = meter.reserve(&request(400)).unwrap();
        let second = meter.reserve(&request(400)).unwrap();
        assert!(meter.reserve(&request(400)).is_err());
        first.settle(usage(90, 10), true);
        // Replies are now expected to be short: 100 + 612 + 100 + 10.
        let third = meter.reserve(&request(400)).unwrap();
        second.settle(usage(90, 10), true);
        third.settle(usage(90, 10), true);
        assert_eq!(meter.spent.lock().unwrap().tokens, 300);
        assert_eq!(meter.spent.lock().unwrap().reserved, 0);
    }

    #[test]
    fn unknown_costs_count_as_expected_and_refused_calls_as_nothing() {
        let (meter, _) = meter(None, Some(100_000));
        meter.reserve(&request(400)).unwrap().settle(Usage::default(), true);
        drop(meter.reserve(&request(400)).unwrap());
        meter.reserve(&request(400)).unwrap().settle(Usage::default(), false);
        assert_eq!(meter.spent.lock().unwrap().tokens, 2 * 612);
    }

    #[test]
    fn a_limit_on_output_bounds_what_is_expected() {
        let (meter, _) = meter(None, Some(110));
        let short = ChatRequest { max_output_tokens: Some(10), ..request(400) };
        assert!(meter.reserve(&request(400)).is_err());
        assert!(meter.reserve(&short).is_ok());
    }
}
