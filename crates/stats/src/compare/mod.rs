//! Comparison of two systems: on the same cases, or on different ones.

mod mcnemar;
mod paired;
mod sign_flip;
mod two_proportions;
mod wilcoxon;

pub use mcnemar::{FairCoin, McNemar, Pairs, fair_coin};
pub use paired::{PairedMean, paired};
pub use sign_flip::{EXACT_UP_TO, SignFlip, sign_flip, sign_flip_clustered};
pub use two_proportions::{DifferenceInterval, RateDifference, rate_difference};
pub use wilcoxon::{RANK_EXACT_UP_TO, SignedRank, ZeroRule, signed_rank};
