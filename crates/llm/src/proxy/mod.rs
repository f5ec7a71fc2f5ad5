//! Lending a model to a program of this machine: a server on the loopback address, open for one program and as long as
//! it runs, whose questions go the way of all others: through memory, budget and pace.

mod desk;
mod invoke;
mod open;
mod openai;
mod routes;

pub use desk::ProxyUsage;
pub use open::{ModelProxy, ProxySetup};
