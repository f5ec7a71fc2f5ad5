//! From the calls of a forecast to ranges of tokens and money.

use std::ops::AddAssign;

use assize_grade::Forecast;
use assize_llm::ModelCard;
use assize_rubric::Usd;
use serde_json::{Value, json};

/// Bytes of plain English that make about one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of a decision: a short reason alone, and one with long quotes.
const DECISION: (u64, u64) = (40, 300);
/// Tokens of an answer that is not there yet: a sentence, and a page.
const ANSWER: (u64, u64) = (30, 1000);
/// One call in so many is asked again because of an unusable reply, in the upper figures.
const CALLS_PER_REPAIR: u64 = 10;

/// What calls take, from the least to the most that is to be expected.
///
/// The least: a quarter of the bytes as input, what repeats answered from the provider's prompt cache, short replies. The
/// most: the estimator's tokens, nothing cached, long replies or their limit, one call in ten asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Estimate {
    pub(super) calls: u64,
    pub(super) input: (u64, u64),
    pub(super) output: (u64, u64),
    /// Known for none of them, or for all.
    pub(super) cost: Option<(Usd, Usd)>,
}

impl Estimate {
    /// No calls.
    pub(super) fn nothing() -> Self {
        Self { cost: Some((Usd::ZERO, Usd::ZERO)), ..Self::default() }
    }

    /// Calls of a judge; `unknown` of them show an answer that is not there yet.
    pub(super) fn of_judge(forecast: &Forecast, unknown: u64, card: ModelCard) -> Self {
        let Forecast { calls, decisions, .. } = *forecast;
        if calls == 0 {
            return Self::nothing();
        }
        let low = (forecast.input_bytes / BYTES_PER_TOKEN).min(forecast.input_tokens) + unknown * ANSWER.0;
        let high = again(forecast.input_tokens + unknown * ANSWER.1, calls);
        let long = decisions * DECISION.1;
        let output = (
            decisions * DECISION.0,
            again(forecast.max_output_tokens.map_or(long, |most| most.min(long)), calls)
                .max(decisions * DECISION.0),
        );
        // The lower figure for what repeats, in the same proportion as for all of the input.
        let share = u128::from(forecast.repeated_tokens) * u128::from(low);
        let cached = u64::try_from(share / u128::from(forecast.input_tokens.max(1))).unwrap_or(low);
        Self::priced(calls, (low, high), cached, output, card)
    }

    /// Calls of a target whose questions have so many bytes together.
    pub(super) fn of_target(calls: u64, bytes: u64, card: ModelCard) -> Self {
        let input = (bytes / BYTES_PER_TOKEN, bytes.div_ceil(2));
        Self::priced(calls, input, 0, (calls * ANSWER.0, calls * ANSWER.1), card)
    }

    fn priced(calls: u64, input: (u64, u64), cached: u64, output: (u64, u64), card: ModelCard) -> Self {
        let cost = card.price.map(|price| {
            // Prices depend on the length of single requests, not on the sum.
            let price = price.for_requests_of(input.1 / calls.max(1));
            (price.least(input.0, cached, output.0), price.most(input.1, output.1))
        });
        Self { calls, input, output, cost }
    }

    /// For `--json`.
    pub(super) fn to_json(self) -> Value {
        let range = |(low, high): (u64, u64)| json!({ "low": low, "high": high });
        json!({
            "calls": self.calls,
            "tokens": { "input": range(self.input), "output": range(self.output) },
            "cost_usd": self.cost.map(|(low, high)| json!({ "low": low, "high": high })),
        })
    }
}

impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        self.calls += other.calls;
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);
        self.cost = self.cost.zip(other.cost).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    }
}

/// A figure of so many calls, some of which are made again.
fn again(figure: u64, calls: u64) -> u64 {
    figure + (figure / calls.max(1)) * calls.div_ceil(CALLS_PER_REPAIR)
}

#[cfg(test)]
mod tests {
    use assize_llm::{Price, Rates};

    use super::*;

    fn card() -> ModelCard {
        let rates =
            Rates { input: 1_000_000, cached_input: 100_000, cache_write: 1_000_000, output: 4_000_000 };
        ModelCard { price: Some(Price { rates, long: None }), ..ModelCard::default() }
    }

    fn forecast() -> Forecast {
        Forecast {
            calls: 10,
            input_bytes: 40_000,
            input_tokens: 15_000,
            repeated_tokens: 7_500,
            decisions: 10,
            criteria: 10,
            ..Forecast::default()
        }
    }

    #[test]
    fn the_range_goes_from_cached_and_short_to_uncached_long_and_asked_again() {
        let estimate = Estimate::of_judge(&forecast(), 0, card());
        assert_eq!((estimate.input, estimate.output), ((10_000, 16_500), (400, 3_300)));
        // 5,000 cached, 5,000 not, 400 written; then 16,500 and 3,300. Millionths of a dollar.
        let micro = |micro: u64| Usd::from_pico(micro * 1_000_000);
        assert_eq!(estimate.cost, Some((micro(500 + 5_000 + 1_600), micro(16_500 + 13_200))));
        let limited = Forecast { max_output_tokens: Some(1000), ..forecast() };
        assert_eq!(Estimate::of_judge(&limited, 0, card()).output, (400, 1_100));
    }

    #[test]
    fn an_unknown_price_makes_the_sum_unknown_unless_nothing_is_bought() {
        let mut sum = Estimate::nothing();
        sum += Estimate::of_judge(&Forecast::default(), 0, ModelCard::default());
        assert_eq!(sum.cost, Some((Usd::ZERO, Usd::ZERO)));
        sum += Estimate::of_judge(&forecast(), 5, ModelCard::default());
        assert_eq!((sum.cost, sum.input.0), (None, 10_150));
    }
}
