//! Lending a model to a program of this machine: a server on the loopback address, open for one program and as long as
//! it runs, whose questions go the way of all others: through memory, budget and pace.

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
