//! Stored identities: bytes that encode everything a result depends on, independent of names in the code.

mod domain;
mod message;
mod standard;
mod writer;

pub use writer::{Identify, IdentityWriter};
