//! Statistics for evaluations: intervals, agreement, comparisons, corrections and power.
//!
//! Pure functions over numbers. Every result has the number of values behind it, its method and its
//! confidence level. A statistic without a value is an [`UndefinedReason`], never NaN. Randomness comes from
//! a generator that the caller passes in.
//!
//! Where no published method covers a case, the choice is Assize's own; the comment then says so, and the
//! handbook has the simulation behind it.

#![warn(missing_docs)]

pub mod agreement;
mod bootstrap;
mod bounded;
mod bounded_mean;
mod cluster;
pub mod combine;
pub mod compare;
pub mod correction;
mod distribution;
mod interval;
pub mod items;
pub mod judge_quality;
mod mcnemar_power;
mod mean;
pub mod multiplicity;
mod planned;
pub mod pooling;
pub mod power;
mod proportion;
mod random;
mod random_weights;
mod rank;
pub mod ranking;
pub mod repeats;
pub mod sampling;
pub mod sequential;
mod special_functions;
mod symmetric_matrix;
mod two_values;
mod undefined;
mod unit_list;
mod units;
mod variates;

pub use bootstrap::{
    BootstrapEstimate, MAX_EXHAUSTIVE_VALUES, acceleration, bootstrap, bootstrap_clustered_mean,
    bootstrap_mean, bootstrap_mean_exhaustive, expanded_level, leave_one_out,
};
pub use bounded::{
    BoundedDifference, DifferenceReach, bounded_difference, bounded_mean, bounded_mean_clustered,
};
pub use bounded_mean::BoundedMean;
pub use cluster::{ClusteredMean, FEW_CLUSTERS, clustered_mean};
pub use interval::{ConfidenceLevel, ConfidenceLevelError, Interval, IntervalMethod};
pub use mcnemar_power::McNemarVariant;
pub use mean::{MeanAccumulator, MeanEstimate};
pub use planned::PlannedMean;
pub use proportion::{
    Proportion, RateInterval, ZeroFailures, posterior_mean, proportion, proportion_by, zero_failures,
};
pub use random::SeededRandom;
pub use rank::merge_ties;
pub use undefined::{UNDEFINED, UndefinedReason, no_interval, undefined_because};
pub use unit_list::{UnitList, UnitVec};
pub use units::{UnitScale, UnitSums};

#[cfg(test)]
mod tests;
