//! Compares the budget of a run with its estimated use.

use assize_llm::{Budget, CallBound};
use assize_rubric::{Usd, dollars, grouped};
use serde_json::{Value, json};

use crate::estimate::{RunEstimate, round_up};

/// Whether a limit is expected to suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BudgetVerdict {
    /// The run ends within the limit.
    Enough,
    /// It may stop the run.
    MayExceed,
    /// The limit will stop the run.
    TooLittle,
    /// A price is unknown.
    Unknown,
}

impl BudgetVerdict {
    /// Below `needed` the run is certain to stop; from `ample` on it is not expected to.
    fn from_range<T: PartialOrd>(limit: &T, needed: &T, ample: &T) -> Self {
        if limit < needed {
            Self::TooLittle
        } else if limit >= ample {
            Self::Enough
        } else {
            Self::MayExceed
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Enough => "enough",
            Self::MayExceed => "perhaps",
            Self::TooLittle => "too little",
            Self::Unknown => "unknown",
        }
    }
}

/// Description of a limit, and whether it is expected to suffice.
struct LimitCheck {
    key: &'static str,
    limit: Value,
    words: String,
    verdict: BudgetVerdict,
    /// A limit that would suffice.
    ample: String,
}

/// Checks all limits. `programs` is the number of calls that grading programs may make. Their tokens and cost
/// are unknown.
fn check(budget: Budget, total: &RunEstimate, programs: u64) -> Vec<LimitCheck> {
    // With calls of unknown size no limit certainly suffices.
    let at_best = |outlook| {
        if programs > 0 && outlook == BudgetVerdict::Enough { BudgetVerdict::MayExceed } else { outlook }
    };
    let with_programs = |ample: String| {
        if programs > 0 { format!("{ample} and what grading programs ask") } else { ample }
    };
    let mut checked = Vec::new();
    let RunEstimate { calls, sure_calls, input, output, cost, largest } = *total;

    // A call that may not be made does not count as needed.
    let needed = if calls == sure_calls { largest.least } else { CallBound::default() };
    if let Some(limit) = budget.calls {
        // The upper estimate assumes that one call in ten is repeated.
        let most = calls + calls.div_ceil(10) + programs;
        checked.push(LimitCheck {
            key: "calls",
            limit: limit.into(),
            words: format!("{} calls", grouped(limit)),
            verdict: BudgetVerdict::from_range(&limit, &sure_calls, &most),
            ample: format!("{} calls", grouped(most)),
        });
    }

    if let Some(limit) = budget.tokens {
        let ample = round_up(input.1 + output.1 + largest.least_when_long.tokens());
        let needed = needed.tokens().max(input.0 + output.0);
        checked.push(LimitCheck {
            key: "tokens",
            limit: limit.into(),
            words: format!("{} tokens", grouped(limit)),
            verdict: at_best(BudgetVerdict::from_range(&limit, &needed, &ample)),
            ample: with_programs(format!("{} tokens", grouped(ample))),
        });
    }

    if let Some(limit) = budget.usd {
        let ample =
            cost.map(|(_, high)| Usd::from_pico(round_up((high + largest.least_when_long.usd()).as_pico())));
        checked.push(LimitCheck {
            key: "usd",
            limit: json!(limit),
            words: format!("${limit}"),
            verdict: cost.zip(ample).map_or(BudgetVerdict::Unknown, |((low, _), ample)| {
                at_best(BudgetVerdict::from_range(&limit, &low.max(needed.usd()), &ample))
            }),
            ample: with_programs(ample.map_or_else(String::new, |ample: Usd| dollars(ample.as_dollars()))),
        });
    }

    checked
}

/// The value for `--json`; null without limits.
pub(crate) fn to_json(budget: Budget, total: &RunEstimate, programs: u64) -> Value {
    let checked = check(budget, total, programs);
    if checked.is_empty() {
        return Value::Null;
    }

    let entries = checked.into_iter().map(|checked| {
        (checked.key.to_owned(), json!({ "limit": checked.limit, "outlook": checked.verdict.name() }))
    });
    Value::Object(entries.collect())
}

/// One line per limit.
pub(crate) fn lines(budget: Budget, total: &RunEstimate, programs: u64) -> Vec<String> {
    check(budget, total, programs)
        .into_iter()
        .map(|LimitCheck { words, verdict, ample, .. }| match verdict {
            BudgetVerdict::Enough => format!("the budget of {words} is enough"),
            BudgetVerdict::MayExceed => {
                format!("the budget of {words} may stop the run; {ample} is enough")
            }
            BudgetVerdict::TooLittle => {
                format!("the budget of {words} is too small; {ample} is enough")
            }
            BudgetVerdict::Unknown => format!(
                "the budget of {words} can't be enforced, because a price is unknown; `--budget-unknown-price allow` ignores the cost of such models"
            ),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::LargestCall;

    fn total() -> RunEstimate {
        RunEstimate {
            calls: 8,
            sure_calls: 8,
            input: (1000, 2000),
            output: (100, 3000),
            cost: Some((Usd::from_pico(1_000_000_000), Usd::from_pico(4_000_000_000))),
            largest: LargestCall {
                least: CallBound::new(1300, Usd::from_pico(1_300_000_000)),
                least_when_long: CallBound::new(1400, Usd::from_pico(1_400_000_000)),
                most: CallBound::new(9000, Usd::from_pico(9_000_000_000)),
            },
        }
    }

    fn outlook(budget: Budget) -> BudgetVerdict {
        check(budget, &total(), 0)[0].verdict
    }

    #[test]
    fn a_limit_is_enough_when_the_last_call_can_still_be_set_aside() {
        let calls = |calls| outlook(Budget { calls: Some(calls), ..Budget::default() });
        assert_eq!(
            [7, 8, 9].map(calls),
            [BudgetVerdict::TooLittle, BudgetVerdict::MayExceed, BudgetVerdict::Enough]
        );
        let tokens = |tokens| outlook(Budget { tokens: Some(tokens), ..Budget::default() });
        assert_eq!(
            [1299, 1300, 6399, 6400].map(tokens),
            [
                BudgetVerdict::TooLittle,
                BudgetVerdict::MayExceed,
                BudgetVerdict::MayExceed,
                BudgetVerdict::Enough
            ]
        );
        let usd = |micro: u64| {
            outlook(Budget { usd: Some(Usd::from_pico(micro * 1_000_000)), ..Budget::default() })
        };
        assert_eq!(
            [1299, 5399, 5400].map(usd),
            [BudgetVerdict::TooLittle, BudgetVerdict::MayExceed, BudgetVerdict::Enough]
        );
    }

    #[test]
    fn a_call_that_may_not_be_made_needs_nothing() {
        let unsure = RunEstimate { sure_calls: 7, ..total() };
        let budget = Budget { tokens: Some(1100), ..Budget::default() };
        assert_eq!(check(budget, &unsure, 0)[0].verdict, BudgetVerdict::MayExceed);
    }

    #[test]
    fn what_grading_programs_ask_may_be_too_much_for_any_limit() {
        let budget = Budget { calls: Some(9), tokens: Some(1_000_000), usd: None };
        let outlooks = check(budget, &total(), 4).into_iter().map(|checked| checked.verdict);
        assert_eq!(outlooks.collect::<Vec<_>>(), [BudgetVerdict::MayExceed, BudgetVerdict::MayExceed]);
        assert!(
            lines(budget, &total(), 4)[1].ends_with("6,400 tokens and what grading programs ask is enough")
        );
        let calls = Budget { calls: Some(13), ..Budget::default() };
        assert_eq!(check(calls, &total(), 4)[0].verdict, BudgetVerdict::Enough);
    }

    #[test]
    fn a_limit_in_money_says_nothing_without_prices() {
        let unpriced = RunEstimate { cost: None, ..total() };
        let budget = Budget { usd: Some(Usd::from_pico(1)), ..Budget::default() };
        assert!(lines(budget, &unpriced, 0)[0].contains("a price is unknown"));
        assert_eq!(to_json(Budget::default(), &unpriced, 0), Value::Null);
    }
}
