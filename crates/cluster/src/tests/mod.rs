//! Jobs over many workers, and where their results are kept.

#[cfg(feature = "cloud")]
mod buckets;
mod memory;
mod memory_cluster;
mod sealed;
