//! Splits: labels that a judge was tuned on are kept out of its measurement.

use assize_rubric::LabelSplit;

/// Selection of labels by split.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SplitChoice {
    /// All labels except the ones that the judge was tuned on or shown.
    #[default]
    NotSeen,
    /// Only labels held back for testing.
    Test,
    /// Labels the judge was tuned on. Their metrics say how well the tuning worked, not how good the judge
    /// is.
    Train,
    /// A share of the cases, 0 to 1, selected by a hash of their ids.
    Holdout(f64),
    /// The complement of [`Holdout`](Self::Holdout) for the same share, for tuning.
    Rest(f64),
}

impl SplitChoice {
    /// Returns true if the labels of a case count. Examples that the judge was shown never do.
    pub fn includes(self, case: &str, split: Option<LabelSplit>) -> bool {
        match (self, split) {
            (_, Some(LabelSplit::Example)) => false,
            (Self::NotSeen, split) => split != Some(LabelSplit::Train),
            (Self::Test, split) => split == Some(LabelSplit::Test),
            (Self::Train, split) => split == Some(LabelSplit::Train),
            (Self::Holdout(share), split) => split != Some(LabelSplit::Train) && is_held_out(case, share),
            (Self::Rest(share), split) => split != Some(LabelSplit::Test) && !is_held_out(case, share),
        }
    }
}

/// Returns true if a case belongs to the held-out share. This depends only on a hash of the id, so a case
/// does not change sides when other cases are added or removed, and all its criteria are on the same side.
pub fn is_held_out(case: &str, share: f64) -> bool {
    let hash = blake3::hash(case.as_bytes());
    let bytes = hash.as_bytes();
    let first = u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
    // An f64 has 53 bits of precision.
    ((first >> 11) as f64) / ((1u64 << 53) as f64) < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_stays_on_its_side_and_shares_are_kept() {
        let held = |share| (0..1000).filter(|n| is_held_out(&format!("case-{n}"), share)).count();
        assert!((250..350).contains(&held(0.3)), "{}", held(0.3));
        assert_eq!((held(0.0), held(1.0)), (0, 1000));
        for n in 0..100 {
            let case = format!("case-{n}");
            assert!(!is_held_out(&case, 0.2) || is_held_out(&case, 0.5), "a larger share only adds");
            let sides = [SplitChoice::Holdout(0.3), SplitChoice::Rest(0.3)];
            assert_eq!(sides.iter().filter(|side| side.includes(&case, None)).count(), 1);
        }
    }

    #[test]
    fn what_the_judge_saw_never_counts() {
        for choice in [SplitChoice::NotSeen, SplitChoice::Test, SplitChoice::Holdout(1.0)] {
            assert!(!choice.includes("c", Some(LabelSplit::Train)), "{choice:?}");
            assert!(!choice.includes("c", Some(LabelSplit::Example)), "{choice:?}");
            assert!(choice.includes("c", Some(LabelSplit::Test)), "{choice:?}");
        }
        assert!(SplitChoice::Train.includes("c", Some(LabelSplit::Train)));
        assert!(!SplitChoice::Train.includes("c", Some(LabelSplit::Example)));
        assert!(!SplitChoice::Test.includes("c", None));
    }
}
