//! The client against a scripted server.

mod budget;
mod config;
mod connections;
mod faults;
mod learning;
mod load;
mod logprobs;
mod matrix;
mod outages;
mod prefix;
mod proxy;
mod rate_limit;
mod refusals;
mod retry;
mod secrets;
mod support;
