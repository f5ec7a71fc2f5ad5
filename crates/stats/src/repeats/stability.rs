//! How often repeated verdicts on the same thing differ.

use crate::{Level, Proportion, Undefined, proportion};

/// How stable repeated verdicts are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// How many items were judged twice or more, and how many of them were not judged the same each time,
    /// with Wilson's interval: the flip rate.
    pub flipped: Proportion,
    /// Chance that two verdicts on the same item differ: mean over items of the share of differing pairs.
    pub pair_flips: Result<f64, Undefined>,
}

/// The flip rate of repeated verdicts, one list per item; items judged once say nothing and are left out.
/// The share of differing pairs is one less the observed agreement of J. Fleiss, Psychological Bulletin 76
/// (1971), 378-382.
pub fn stability(items: &[Vec<bool>], level: Level) -> Stability {
    let (mut judged, mut flipped, mut shares) = (0u64, 0u64, 0.0);
    for verdicts in items.iter().filter(|verdicts| verdicts.len() > 1) {
        let n = verdicts.len() as f64;
        let passed = verdicts.iter().filter(|&&pass| pass).count() as f64;
        judged += 1;
        flipped += u64::from(passed > 0.0 && passed < n);
        shares += 2.0 * passed * (n - passed) / (n * (n - 1.0));
    }
    Stability {
        flipped: proportion(flipped, judged, level),
        pair_flips: if judged == 0 { Err(Undefined::NoPairs) } else { Ok(shares / judged as f64) },
    }
}
