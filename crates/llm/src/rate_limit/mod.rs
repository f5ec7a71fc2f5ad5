//! Rate limits of an account: requests in flight, requests and tokens a minute, and pauses the server asks for.
//!
//! The rules are pure and are told the time; only [`ProviderAccount`] waits.

mod account;
mod allowance;
mod bucket;
mod limiter;
mod window;

pub(crate) use account::{Permit, ProviderAccount, RateLimitPause};
pub use account::{ProviderAccounts, RateLimits};
