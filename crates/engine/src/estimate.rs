//! Estimates the tokens and the cost of a forecast's calls, as ranges.

use std::ops::AddAssign;

use assize_grade::CallForecast;
use assize_llm::{CallBound, CallBounds, ChatRequest, ModelCard, OutputLimit, reply_limit, thinks};
use assize_rubric::Usd;
use serde_json::{Value, json};

/// About this many bytes of plain English make one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of a decision without a reason.
const BARE_DECISION_TOKENS: u64 = 10;
/// Tokens of an answer that does not exist yet: a word at least, a page at most.
const ANSWER_TOKENS: (u64, u64) = (1, 1000);
/// Tokens that a model may think for before it writes a page.
const THINKING_TOKENS: u64 = 4096;
/// Tokens around the messages of a call.
const FRAME_TOKENS: u64 = 16;
/// The upper estimate assumes that one call in this many is repeated because its reply is unusable.
const CALLS_PER_REPAIR: u64 = 10;

/// Tokens and cost of calls, from the lowest to the highest expected amount.
///
/// The lower end: only the calls that are certain, a quarter of the bytes as input tokens, repeated text
/// answered from the provider's prompt cache, replies without reasons. The upper end: the estimator's tokens,
/// nothing cached, long replies with thinking before them (or the output limit), one call in ten repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunEstimate {
    pub(crate) calls: u64,
    /// Calls that are certain: no escalation, no repair.
    pub(crate) sure_calls: u64,
    pub(crate) input: (u64, u64),
    pub(crate) output: (u64, u64),
    /// Known for all calls, or `None`.
    pub(crate) cost: Option<(Usd, Usd)>,
    pub(crate) largest: LargestCall,
}

/// Amounts that a budget reserves for the largest call. Each amount is a maximum over all calls, so two
/// amounts may be from different calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LargestCall {
    /// The amount without which it is not sent, before any reply was seen and with an empty text for each
    /// missing answer.
    pub(crate) least: CallBound,
    /// The amount without which it is not sent after long replies, and with long answers.
    pub(crate) least_when_long: CallBound,
    /// The amount that is reserved if the budget allows it.
    pub(crate) most: CallBound,
}

/// Calls of a model that answers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnswerCalls {
    pub(crate) calls: u64,
    /// Bytes of the prompts, in total and in the longest call.
    pub(crate) bytes: u64,
    pub(crate) longest: u64,
    /// Answers of earlier turns that are repeated at the beginning.
    pub(crate) earlier: u64,
    /// The target's own output limit.
    pub(crate) max_output_tokens: Option<u32>,
}

impl RunEstimate {
    /// No calls.
    pub(crate) fn nothing() -> Self {
        Self { cost: Some((Usd::ZERO, Usd::ZERO)), ..Self::default() }
    }

    /// Calls of a judge that show at least and at most this many answers that do not exist yet.
    pub(crate) fn of_judge(forecast: &CallForecast, unknown: (u64, u64), card: ModelCard) -> Self {
        let CallForecast { calls, decisions, largest, .. } = *forecast;
        if calls == 0 {
            return Self::nothing();
        }

        let low = least(forecast.input_bytes, calls).min(forecast.input_tokens) + unknown.0 * ANSWER_TOKENS.0;
        let high = again(forecast.input_tokens + unknown.1 * ANSWER_TOKENS.1, calls);

        // Calls that may not be made do not count for the lower end.
        let sure_calls = calls.saturating_sub(forecast.unsure_calls);
        let sure = |all: u64| {
            u64::try_from(u128::from(all) * u128::from(sure_calls) / u128::from(calls)).unwrap_or(all)
        };
        let low = sure(low);
        let bare = decisions * BARE_DECISION_TOKENS;
        let output = (sure(bare), again(forecast.long_reply_tokens, calls).max(bare));

        // Repeated text has the same share of the lower estimate as of the whole input.
        let share = u128::from(forecast.repeated_tokens) * u128::from(low);
        let cached = u64::try_from(share / u128::from(forecast.input_tokens.max(1))).unwrap_or(low);

        // Bytes of the answers that one call shows at most.
        let shown = unknown.1.div_ceil(calls) * ANSWER_TOKENS.1 * BYTES_PER_TOKEN;
        Self {
            sure_calls,
            largest: LargestCall::new(
                largest.0,
                shown,
                largest.1,
                forecast.long_reply_tokens.div_ceil(calls),
                card,
            ),
            ..Self::priced(calls, (low, high), cached, output, card)
        }
    }

    /// Calls of a target to the model of this name.
    pub(crate) fn of_target(answers: AnswerCalls, model: &str, card: ModelCard) -> Self {
        let AnswerCalls { calls, bytes, longest, earlier, max_output_tokens } = answers;
        let request = ChatRequest { max_output_tokens, ..ChatRequest::new(Vec::new()) };
        let limit = reply_limit(model, card, &request);
        let long = (ANSWER_TOKENS.1 + if thinks(model) { THINKING_TOKENS } else { 0 }).min(limit.most.into());
        let input = (least(bytes, calls), bytes.div_ceil(2) + calls * FRAME_TOKENS + earlier * long);

        Self {
            sure_calls: calls,
            largest: LargestCall::new(
                longest + card.estimator.most(&request) + FRAME_TOKENS,
                earlier.div_ceil(calls.max(1)) * long * BYTES_PER_TOKEN,
                limit,
                long,
                card,
            ),
            ..Self::priced(calls, input, 0, (calls * ANSWER_TOKENS.0, calls * long), card)
        }
    }

    fn priced(calls: u64, input: (u64, u64), cached: u64, output: (u64, u64), card: ModelCard) -> Self {
        let cost = card.price.map(|price| {
            // Prices depend on the length of single requests, not on the sum.
            let price = price.for_requests_of(input.1 / calls.max(1));
            (price.least(input.0, cached, output.0), price.most(input.1, output.1))
        });
        Self { calls, input, output, cost, ..Self::default() }
    }

    /// The value for `--json`.
    pub fn to_json(self) -> Value {
        let range = |(low, high): (u64, u64)| json!({ "low": low, "high": high });
        json!({
            "calls": self.calls,
            "tokens": { "input": range(self.input), "output": range(self.output) },
            "cost_usd": self.cost.map(|(low, high)| json!({ "low": low, "high": high })),
            "largest_call": self.largest.to_json(self.cost.is_some()),
        })
    }
}

impl AddAssign for RunEstimate {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        self.calls += other.calls;
        self.sure_calls += other.sure_calls;
        self.largest = self.largest.larger_of(other.largest);
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);

        self.cost = self.cost.zip(other.cost).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    }
}

impl LargestCall {
    /// A call with at most `input` tokens, plus `answers` if answers are long, whose reply has these limits,
    /// among calls whose long replies have `long_reply` tokens.
    fn new(input: u64, answers: u64, output_limit: OutputLimit, long_reply: u64, card: ModelCard) -> Self {
        let CallBounds { least: least_when_long, most } =
            CallBounds::new(input + answers, output_limit.after_reply_of(long_reply), card);
        Self { least: CallBounds::new(input, output_limit, card).least, least_when_long, most }
    }

    fn larger_of(self, other: Self) -> Self {
        let larger =
            |a: CallBound, b: CallBound| CallBound::new(a.tokens().max(b.tokens()), a.usd().max(b.usd()));
        Self {
            least: larger(self.least, other.least),
            least_when_long: larger(self.least_when_long, other.least_when_long),
            most: larger(self.most, other.most),
        }
    }

    fn to_json(self, has_prices: bool) -> Value {
        let usd = |bound: CallBound| has_prices.then(|| bound.usd());
        json!({
            "tokens": self.most.tokens(),
            "cost_usd": usd(self.most),
            "least_tokens": self.least.tokens(),
            "least_cost_usd": usd(self.least),
        })
    }
}

/// Rounds up to two significant digits. Estimates are no more precise than that.
pub(crate) fn round_up(value: u64) -> u64 {
    let unit = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(1));
    value.div_ceil(unit).saturating_mul(unit)
}

/// Rounds down to two significant digits.
pub(crate) fn round_down(value: u64) -> u64 {
    let unit = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(1));
    value / unit * unit
}

/// The fewest tokens of this many bytes. Each call rounds down separately.
fn least(bytes: u64, calls: u64) -> u64 {
    (bytes / BYTES_PER_TOKEN).saturating_sub(calls)
}

/// A number for all calls, including those that are repeated.
fn again(figure: u64, calls: u64) -> u64 {
    figure + (figure / calls.max(1)) * calls.div_ceil(CALLS_PER_REPAIR)
}

#[cfg(test)]
mod tests {
    use assize_llm::{ModelPrice, TokenRates};

    use super::*;

    fn card() -> ModelCard {
        let rates =
            TokenRates { input: 1_000_000, cached_input: 100_000, cache_write: 1_000_000, output: 4_000_000 };
        ModelCard { price: Some(ModelPrice { rates, long: None }), ..ModelCard::default() }
    }

    fn forecast() -> CallForecast {
        CallForecast {
            calls: 10,
            input_bytes: 40_000,
            input_tokens: 15_000,
            repeated_tokens: 7_500,
            long_reply_tokens: 5_000,
            largest: (6_000, OutputLimit { most: 8_192, least: 500 }),
            decisions: 10,
            criteria: 10,
            ..CallForecast::default()
        }
    }

    #[test]
    fn the_range_goes_from_cached_and_short_to_uncached_long_and_asked_again() {
        let estimate = RunEstimate::of_judge(&forecast(), (0, 0), card());
        assert_eq!((estimate.input, estimate.output), ((9_990, 16_500), (100, 5_500)));
        // 4,995 tokens cached, 4,995 not, 100 written; then 16,500 and 5,500. In millionths of a dollar.
        let micro = |micro: u64| Usd::from_pico(micro * 1_000_000);
        assert_eq!(
            estimate.cost,
            Some((Usd::from_pico(499_500_000 + 4_995_000_000 + 400_000_000), micro(16_500 + 22_000)))
        );
        let bound = |output: u64| CallBound::new(6_000 + output, micro(6_000 + 4 * output));
        let largest = LargestCall { least: bound(500), least_when_long: bound(750), most: bound(8_192) };
        assert_eq!(estimate.largest, largest);
    }

    #[test]
    fn answers_are_no_longer_than_their_limit() {
        let answers =
            AnswerCalls { calls: 3, bytes: 400, longest: 200, earlier: 0, max_output_tokens: Some(50) };
        let estimate = RunEstimate::of_target(answers, "gpt-4o", card());
        assert_eq!((estimate.input, estimate.output), ((97, 248), (3, 150)));
        assert_eq!(estimate.largest.most.tokens(), 200 + 32 + 16 + 50);
        let unlimited = AnswerCalls { max_output_tokens: None, ..answers };
        assert_eq!(RunEstimate::of_target(unlimited, "gpt-4o", card()).output.1, 3_000);
        assert_eq!(RunEstimate::of_target(unlimited, "o3", card()).output.1, 3 * 5_096);
    }

    #[test]
    fn an_unknown_price_makes_the_sum_unknown_unless_nothing_is_bought() {
        let mut sum = RunEstimate::nothing();
        sum += RunEstimate::of_judge(&CallForecast::default(), (0, 0), ModelCard::default());
        assert_eq!(sum.cost, Some((Usd::ZERO, Usd::ZERO)));
        sum += RunEstimate::of_judge(&forecast(), (5, 5), ModelCard::default());
        assert_eq!((sum.cost, sum.input.0), (None, 9_995));
    }
}
