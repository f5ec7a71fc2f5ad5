//! Limits that several processes keep together: each has a part of them at a time.

use std::time::Duration;

use assize_rubric::Usd;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::chat_model::BoxFuture;

/// Part of a budget. What is not limited counts as 0.
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

/// Money as a whole number of picodollars: dollars as a decimal number are not exact beyond a thousand.
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
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd + other.usd,
        }
    }

    /// Remainder without the other, at least nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            usd: self.usd.saturating_sub(other.usd),
        }
    }

    /// True if there is at least as much of everything as in the other one.
    pub fn covers(self, other: Self) -> bool {
        self.calls >= other.calls && self.tokens >= other.tokens && self.usd >= other.usd
    }

    /// The limits, higher by this much. What is not limited stays so.
    pub(crate) fn added_to(self, limits: Budget) -> Budget {
        Budget {
            calls: limits.calls.map(|limit| limit.saturating_add(self.calls)),
            tokens: limits.tokens.map(|limit| limit.saturating_add(self.tokens)),
            usd: limits.usd.map(|limit| limit + self.usd),
        }
    }
}

/// Source of a budget that several processes share.
pub trait BudgetSource: Send + Sync {
    /// Waits for at least this much. `None` if there will never be so much. `may_return` is true if something of an earlier
    /// lease may still be given back, because requests are in flight.
    fn lease(&self, need: BudgetAmount, may_return: bool) -> BoxFuture<'_, Option<BudgetAmount>>;

    /// Takes back what is not needed. Returns at once.
    fn give_back(&self, amount: BudgetAmount);
}

/// Allowance of an account as its server reported it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReportedAllowance {
    /// True for tokens, false for requests.
    pub tokens: bool,
    /// The whole of it.
    pub limit: f64,
    /// Remaining amount.
    pub remaining: f64,
    /// Time until it is full again.
    pub reset: Duration,
}

/// Rates of accounts that several processes share.
///
/// An account is named by a hash of its server and its key, from which neither can be told.
pub trait SharedRate: Send + Sync {
    /// Waits until a request that is expected to take so many tokens may be sent.
    fn admit<'a>(&'a self, account: &'a str, tokens: u64) -> BoxFuture<'a, ()>;

    /// Takes in what a request took that was expected to take `expected` tokens.
    fn settle(&self, account: &str, expected: u64, real: u64);

    /// Takes in what a server reported.
    fn report(&self, account: &str, allowance: ReportedAllowance);

    /// Part of an account's requests a second that this process may count on, by what servers reported to all.
    fn reported_rate(&self, account: &str) -> Option<f64>;
}
