//! Comparison of two systems, on the same cases or on different ones.

mod arrangement;
mod exchange;
mod mcnemar;
mod paired;
mod sign_flip;
mod two_proportions;
mod wilcoxon;

pub use arrangement::{ArrangedUnit, ArrangementTest, TestSide, arrangement_test, arrangements};
pub use exchange::{ExchangeTest, RepeatedUnit, exchange_test};
pub use mcnemar::{FairCoinTest, McNemarTest, PairedVerdicts, fair_coin, none_differ};
pub use paired::{PairedMean, paired_mean};
pub use sign_flip::{MAX_EXACT_FLIPS, SignFlip, sign_flip, sign_flip_clustered};
pub use two_proportions::{DifferenceInterval, RateDifference, rate_difference};
pub use wilcoxon::{MAX_EXACT_RANKS, SignedRank, ZeroRule, signed_rank};
