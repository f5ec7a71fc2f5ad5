//! Rate limits of an account: requests in flight, requests and tokens a minute, spacing, and outages.
//!
//! The rules are pure functions of their state and the time passed in. Only [`ProviderAccount`] waits.
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

pub(crate) use account::{AcquireError, Permit, ProviderAccount, QueuedRequest};
pub use account::{ProviderAccounts, RateLimits};
pub(crate) use allowance::reported;
pub use limiter::AccountStatus;
pub(crate) use outage::FailureConsequence;
pub use outage::ServerOutage;
