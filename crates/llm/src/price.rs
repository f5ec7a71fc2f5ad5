//! Token prices, and the cost of calls.

use assize_rubric::{Cost, Usd};

use crate::error::{AskError, ErrorKind, FailedAttempt};
use crate::reply::ChatReply;
use crate::token_counts::TokenCounts;

/// Prices of single tokens in picodollars, which is the same number as the price of a million tokens in
/// millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenRates {
    /// A token read.
    pub input: u64,
    /// A token read from the provider's prompt cache. If no price is listed, that of any other token read.
    pub cached_input: u64,
    /// A token read and written to the provider's prompt cache.
    pub cache_write: u64,
    /// A token written, hidden reasoning included.
    pub output: u64,
}

/// Price of a model's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelPrice {
    /// The usual rates.
    pub rates: TokenRates,
    /// Rates of requests that read more than this many tokens. They apply to all tokens of the request.
    pub long: Option<(u64, TokenRates)>,
}

impl ModelPrice {
    /// No price per token, as on a server of one's own.
    pub const FREE: Self =
        Self { rates: TokenRates { input: 0, cached_input: 0, cache_write: 0, output: 0 }, long: None };

    /// Whether tokens cost nothing.
    pub fn is_free(&self) -> bool {
        *self == Self::FREE
    }

    /// The price, reduced by this many percent.
    #[must_use]
    pub fn discounted(&self, percent: u8) -> Self {
        let left = u64::from(100_u8.saturating_sub(percent));
        let rate = |rate: u64| rate.saturating_mul(left).div_ceil(100);
        let rates = |full: TokenRates| TokenRates {
            input: rate(full.input),
            cached_input: rate(full.cached_input),
            cache_write: rate(full.cache_write),
            output: rate(full.output),
        };
        Self { rates: rates(self.rates), long: self.long.map(|(over, long)| (over, rates(long))) }
    }

    /// The price for requests that read `input` tokens each: a single rate for all of them.
    #[must_use]
    pub fn for_requests_of(&self, input: u64) -> Self {
        Self { rates: self.rates(input), long: None }
    }

    fn rates(&self, input: u64) -> TokenRates {
        match self.long {
            Some((over, long)) if input > over => long,
            _ => self.rates,
        }
    }

    /// The cost of a call with this usage, of whose input `written` tokens went into the prompt cache. `None`
    /// if a number that has a price was not reported.
    pub fn cost_of(&self, usage: TokenCounts, written: u64) -> Option<Usd> {
        if self.is_free() {
            return Some(Usd::ZERO);
        }

        let (input, output) = (usage.input?, usage.output?);
        let cached = usage.cached.unwrap_or(0).min(input);
        let written = written.min(input - cached);
        let rates = self.rates(input);
        let parts = [
            (input - cached - written, rates.input),
            (cached, rates.cached_input),
            (written, rates.cache_write),
            (output, rates.output),
        ];

        let pico: u128 = parts.iter().map(|(tokens, rate)| u128::from(*tokens) * u128::from(*rate)).sum();
        Some(Usd::from_pico(u64::try_from(pico).unwrap_or(u64::MAX)))
    }

    /// Maximum cost of a call with these tokens: no token is read from the prompt cache, and all input may be written
    /// to it.
    pub fn most(&self, input: u64, output: u64) -> Usd {
        let rates = self.rates(input);
        let read = rates.input.max(rates.cache_write).max(rates.cached_input);
        let pico = u128::from(input) * u128::from(read) + u128::from(output) * u128::from(rates.output);
        Usd::from_pico(u64::try_from(pico).unwrap_or(u64::MAX))
    }

    /// How many output tokens `usd` pays for, after `input` tokens at the most they can cost.
    pub(crate) fn output_for(&self, input: u64, usd: Usd) -> u64 {
        let rate = self.rates(input).output;
        usd.saturating_sub(self.most(input, 0)).as_pico().checked_div(rate).unwrap_or(u64::MAX)
    }

    /// Minimum cost of a call with these tokens, with all of `cached` read from the prompt cache.
    pub fn least(&self, input: u64, cached: u64, output: u64) -> Usd {
        let usage = TokenCounts { input: Some(input), cached: Some(cached), output: Some(output) };
        self.cost_of(usage, 0).unwrap_or_default()
    }
}

/// Prices and limits of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelCard {
    /// Price of its tokens; `None` if unknown.
    pub price: Option<ModelPrice>,
    /// The provider's discount for requests in batches, in percent; 0 if unknown.
    pub batch_discount: u8,
    /// Tokens that it can read and write in one call; `None` if unknown.
    pub context_tokens: Option<u64>,
    /// Estimates the tokens of requests to it.
    pub estimator: crate::TokenEstimator,
    /// The user's limit for the tokens of any reply, hidden thinking included. It is sent with requests that set no
    /// limit.
    pub max_output_tokens: Option<u32>,
}

impl ModelCard {
    /// The card with the prices of requests in batches.
    #[must_use]
    pub fn for_batches(self) -> Self {
        Self { price: self.price.map(|price| price.discounted(self.batch_discount)), ..self }
    }

    /// The cost of a reply and of the attempts before it.
    pub fn cost_of_reply(&self, reply: &ChatReply) -> Cost {
        // Reading the raw reply again is worthwhile only if such tokens have a separate price.
        let priced = self.price.is_some_and(|price| price.rates.cache_write != price.rates.input);
        let written = if priced { reply.cache_written().unwrap_or(0) } else { 0 };
        let price = if reply.batched { self.for_batches().price } else { self.price };
        let listed = price.and_then(|price| price.cost_of(reply.usage, written));
        let own = match listed.or(reply.stated_cost) {
            Some(usd) => Cost::from_known(usd),
            None => Cost::UNKNOWN,
        };
        reply.failed.iter().fold(own, |sum, attempt| sum + self.cost_of_attempt(attempt))
    }

    /// The cost of a question that got no usable answer.
    pub fn cost_of_error(&self, error: &AskError) -> Cost {
        error.failed.iter().fold(Cost::ZERO, |sum, attempt| sum + self.cost_of_attempt(attempt))
    }

    /// The cost of one failed attempt. Servers charge nothing for requests that they refused. An answer that
    /// was lost on the way may have been charged; that amount is unknown.
    pub(crate) fn cost_of_attempt(&self, attempt: &FailedAttempt) -> Cost {
        if !may_be_charged(attempt) {
            return Cost::ZERO;
        }
        match self.price.and_then(|price| price.cost_of(attempt.usage, 0)) {
            Some(usd) => Cost::from_known(usd),
            None => Cost::UNKNOWN,
        }
    }
}

/// Whether a server may have charged for a failed attempt.
pub(crate) fn may_be_charged(attempt: &FailedAttempt) -> bool {
    if !attempt.usage.is_unknown() {
        return true;
    }
    attempt.sent
        && match attempt.status {
            Some(status) => (200..300).contains(&status),
            None => {
                matches!(
                    attempt.kind,
                    ErrorKind::Timeout
                        | ErrorKind::Connection
                        | ErrorKind::MalformedReply
                        | ErrorKind::Cancelled
                )
            }
        }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// 3 and 15 dollars a million, 0.30 from the cache, 3.75 into it; twice that above 1,000 tokens.
    fn price() -> ModelPrice {
        let rates = TokenRates {
            input: 3_000_000,
            cached_input: 300_000,
            cache_write: 3_750_000,
            output: 15_000_000,
        };
        let long = TokenRates {
            input: 6_000_000,
            cached_input: 600_000,
            cache_write: 7_500_000,
            output: 30_000_000,
        };
        ModelPrice { rates, long: Some((1000, long)) }
    }

    fn usage(input: u64, cached: u64, output: u64) -> TokenCounts {
        TokenCounts { input: Some(input), cached: Some(cached), output: Some(output) }
    }

    fn attempt(kind: ErrorKind, status: Option<u16>, sent: bool, usage: TokenCounts) -> FailedAttempt {
        FailedAttempt { kind, status, waited: Duration::ZERO, usage, sent }
    }

    #[test]
    fn a_stated_cost_counts_only_where_there_is_no_price() {
        let stated = Usd::from_dollars(0.5);
        let usage = usage(100, 0, 10);
        let reply =
            ChatReply { stated_cost: stated, usage, ..ChatReply::new("x", crate::FinishReason::Stop) };
        let card = |price| ModelCard { price, ..ModelCard::default() };
        assert_eq!(Some(card(None).cost_of_reply(&reply)), stated.map(Cost::from_known));
        let listed = price().cost_of(usage, 0);
        assert_eq!(Some(card(Some(price())).cost_of_reply(&reply)), listed.map(Cost::from_known));
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        // 100 read, of them 40 from the cache and 20 into it; 10 written.
        let cost = price().cost_of(usage(100, 40, 10), 20).unwrap();
        assert_eq!(cost.as_pico(), 40 * 3_000_000 + 40 * 300_000 + 20 * 3_750_000 + 10 * 15_000_000);
        assert_eq!(price().cost_of(usage(1000, 0, 0), 0).unwrap().as_pico(), 1000 * 3_000_000);
        assert_eq!(price().cost_of(usage(1001, 0, 0), 0).unwrap().as_pico(), 1001 * 6_000_000);
    }

    #[test]
    fn what_was_not_reported_is_not_guessed() {
        let half = TokenCounts { output: None, ..usage(10, 0, 0) };
        assert_eq!(price().cost_of(half, 0), None);
        assert_eq!(ModelPrice::FREE.cost_of(half, 0), Some(Usd::ZERO));
        let card = ModelCard { price: Some(price()), ..ModelCard::default() };
        assert_eq!(
            ModelCard::default().cost_of_attempt(&attempt(
                ErrorKind::Timeout,
                None,
                true,
                TokenCounts::default()
            )),
            Cost::UNKNOWN
        );
        for (kind, status, sent, unknown) in [
            (ErrorKind::RateLimited, Some(429), true, 0),
            (ErrorKind::Server, Some(500), true, 0),
            (ErrorKind::Timeout, None, true, 1),
            (ErrorKind::Connection, None, true, 1),
            (ErrorKind::Connection, None, false, 0),
            (ErrorKind::MalformedReply, Some(200), true, 1),
        ] {
            let cost = card.cost_of_attempt(&attempt(kind, status, sent, TokenCounts::default()));
            assert_eq!(cost.unpriced_calls(), unknown, "{kind} {status:?} {sent}");
        }
        let billed =
            card.cost_of_attempt(&attempt(ErrorKind::MalformedReply, Some(200), true, usage(10, 0, 1)));
        assert_eq!(billed.total().map(Usd::as_pico), Some(45_000_000));
    }

    proptest! {
        #[test]
        fn no_call_costs_more_than_the_most(
            input in 0u64..3000, cached in 0u64..3000, written in 0u64..3000, output in 0u64..3000,
        ) {
            let cost = price().cost_of(usage(input, cached, output), written).unwrap();
            prop_assert!(cost <= price().most(input, output));
            prop_assert!(cost >= price().least(input, input, output));
            let affordable = price().output_for(input, price().most(input, output));
            prop_assert_eq!(affordable, output);
        }
    }
}
