//! Limits that several processes share. Each process holds a part of them.

use std::time::Duration;

use assize_rubric::Usd;
use serde::{Deserialize, Serialize};

use crate::chat_model::BoxFuture;

/// A part of a budget. Amounts that are not limited are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BudgetAmount {
    /// Requests.
    pub calls: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// Money.
    #[serde(with = "exact_money")]
    pub usd: Usd,
}

/// Money as a whole number of picodollars, because dollars as a decimal number are not exact beyond a thousand.
mod exact_money {
    use assize_rubric::Usd;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(usd: &Usd, serializer: S) -> Result<S::Ok, S::Error> {
        usd.as_pico().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usd, D::Error> {
        u64::deserialize(deserializer).map(Usd::from_pico)
    }
}

impl BudgetAmount {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd + other.usd,
        }
    }

    /// The amount minus the other one, at least 0.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            usd: self.usd.saturating_sub(other.usd),
        }
    }

    /// Whether each part is at least as large as in the other amount.
    pub fn covers(self, other: Self) -> bool {
        self.calls >= other.calls && self.tokens >= other.tokens && self.usd >= other.usd
    }
}

/// Provides parts of a budget that several processes share.
pub trait BudgetSource: Send + Sync {
    /// Waits for at least this much; `None` if the budget can never provide it. `may_return` is true if requests are in
    /// flight, so that part of an earlier lease may still be given back.
    fn lease(&self, need: BudgetAmount, may_return: bool) -> BoxFuture<'_, Option<BudgetAmount>>;

    /// Takes back an unused amount. Returns at once.
    fn give_back(&self, amount: BudgetAmount);
}

/// An allowance of an account, as its server reported it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReportedAllowance {
    /// True for tokens, false for requests.
    pub tokens: bool,
    /// The whole allowance.
    pub limit: f64,
    /// Remaining amount.
    pub remaining: f64,
    /// Time until it is full again.
    pub reset: Duration,
}

/// Rates of accounts that several processes share.
///
/// An account is named by a hash of its server and its key, which reveals neither.
pub trait SharedRate: Send + Sync {
    /// Waits until a request of about this many tokens may be sent.
    fn admit<'a>(&'a self, account: &'a str, tokens: u64) -> BoxFuture<'a, ()>;

    /// Records the real tokens of a request that was expected to take `expected` tokens.
    fn settle(&self, account: &str, expected: u64, real: u64);

    /// Records an allowance that a server reported.
    fn report(&self, account: &str, allowance: ReportedAllowance);

    /// This process's share of an account's rate, in requests a second, derived from what servers reported to
    /// all processes.
    fn reported_rate(&self, account: &str) -> Option<f64>;
}
