//! The run engine against fakes in this process.

mod engine;
mod fakes;
mod grader_fingerprints;
mod identities;
mod scheduling;
mod selection;
mod writing;
