//! A proxy for a program on this machine. It is a server on the loopback address, for one program and only as
//! long as that runs. Its requests use the cache, the budget and the rate limits like all others.

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
