//! Rate limits of an account: how many requests are in flight, how many requests and tokens are sent a minute,
//! how fast, and what happens in an outage.
//!
//! The rules are pure and are told the time; only [`ProviderAccount`] waits.
//!
//! Design: `docs/design/rates.md`.

mod account;
mod allowance;
mod bucket;
mod climb;
mod latency;
mod limiter;
mod outage;
mod pace;
mod recent;
#[cfg(test)]
mod simulation_tests;
mod turns;
mod window;

pub use account::{AccountStatus, ProviderAccounts, RateLimits};
pub(crate) use account::{AcquireError, Permit, ProviderAccount, QueuedRequest};
pub(crate) use allowance::reported;
pub(crate) use outage::FailureConsequence;
pub use outage::ServerOutage;
