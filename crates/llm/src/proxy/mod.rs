//! Proxy for a program of this machine: a server on the loopback address, open for one program and as long as it runs,
//! whose requests go through cache, budget and rate limits as all others do.

mod handler;
mod invoke;
mod openai;
mod refusal;
mod routes;
mod server;
mod setup;

pub use handler::ProxyUsage;
pub use server::ModelProxy;
pub use setup::ProxySetup;
