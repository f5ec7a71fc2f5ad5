//! The run engine against fakes in this process.

mod engine;
mod fakes;
mod identities;
mod scheduling;
mod selection;
mod writing;
