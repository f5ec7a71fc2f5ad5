//! How fast an account may be used: requests in flight, requests and tokens a minute, and pauses the server asks for.
//!
//! The rules are pure and are told the time; only [`Account`] waits.

mod account;
mod allowance;
mod pacer;
mod rate;
mod window;

pub(crate) use account::{Account, Place, Shut};
pub use account::{Accounts, Limits};
