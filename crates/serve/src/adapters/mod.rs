//! Adapters for training frameworks. Each one turns a framework's request body into samples, and results into
//! the framework's reply.

pub(crate) mod gym;
pub(crate) mod gym_metrics;
pub(crate) mod lambda;
pub(crate) mod openai;
pub(crate) mod openrlhf;
mod shared;
pub(crate) mod similarity;
pub(crate) mod slime;
pub(crate) mod template;
