//! Stored identities: bytes that say what a result rests on, and that no name in the code is part of.

mod domain;
mod message;
mod standard;
mod writer;

pub use writer::{Identify, IdentityWriter};
