//! The engine as a library: runs that are planned, wired, budgeted and resumed without a command line.

mod budget;
mod example;
mod fakes;
mod files;
mod paths;
mod plan;
mod resume;
mod sample_batches;
mod samples;
mod shards;
mod stop;
mod support;
