//! Criteria that count only if those they depend on hold.

/// Which of several criteria still hold once prerequisites count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prerequisites {
    /// Holds, and so does everything it names.
    pub direct: Vec<bool>,
    /// Holds, and so does everything it names, everything that names, and so on.
    pub recursive: Vec<bool>,
    /// The criteria that depend on themselves, directly or in a circle.
    pub circular: Vec<usize>,
}

/// Follows prerequisites: `held` says which criteria hold, `needs` the places of those that each depends
/// on. A criterion that leads back to itself adds no condition by that: members of a circle hold together
/// or not at all. Places that do not exist are conditions that can't hold; lists that are too short name
/// nothing.
pub fn prerequisites(held: &[bool], needs: &[Vec<usize>]) -> Prerequisites {
    let named = |at: usize| needs.get(at).map(Vec::as_slice).unwrap_or_default();
    let holds = |at: usize| held.get(at).copied().unwrap_or(false);
    let direct = (0..held.len()).map(|at| holds(at) && named(at).iter().all(|&other| holds(other))).collect();
    let mut recursive = Vec::with_capacity(held.len());
    let mut circular = Vec::new();
    for at in 0..held.len() {
        let (mut seen, mut waiting) = (vec![false; held.len()], named(at).to_vec());
        let (mut all, mut back) = (holds(at), false);
        while let Some(other) = waiting.pop() {
            all &= holds(other);
            back |= other == at;
            if seen.get(other) == Some(&false) {
                seen[other] = true;
                waiting.extend_from_slice(named(other));
            }
        }
        recursive.push(all);
        if back {
            circular.push(at);
        }
    }
    Prerequisites { direct, recursive, circular }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_prerequisite_takes_everything_behind_it_along() {
        let found = prerequisites(&[false, true, true, true], &[vec![], vec![0], vec![1], vec![]]);
        assert_eq!(found.direct, [false, false, true, true]);
        assert_eq!(found.recursive, [false, false, false, true]);
        assert!(found.circular.is_empty());
    }

    #[test]
    fn circles_end_and_are_named() {
        let needs = [vec![0], vec![2], vec![1], vec![9]];
        let found = prerequisites(&[true, true, true, true], &needs);
        assert_eq!(found.recursive, [true, true, true, false]);
        assert_eq!(found.circular, [0, 1, 2]);
        assert_eq!(prerequisites(&[true, true, false], &needs[..3]).recursive, [true, false, false]);
    }
}
