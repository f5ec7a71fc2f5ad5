//! Nothing: without a build script, Cargo does not look at the dependencies of one.

fn main() {}
