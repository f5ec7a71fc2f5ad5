//! Criteria that count only if the criteria they depend on are met.

/// Criteria that are met when their prerequisites count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrerequisiteResult {
    /// True if the criterion and all its direct prerequisites are met.
    pub direct: Vec<bool>,
    /// True if the criterion and all its direct and indirect prerequisites are met.
    pub recursive: Vec<bool>,
    /// Criteria that depend on themselves, directly or through a cycle.
    pub circular: Vec<usize>,
}

/// Resolves prerequisites. `held` marks the criteria that are met; `needs` lists, for each criterion, the indices of
/// the criteria it depends on. A dependency of a criterion on itself adds no condition: the members of a cycle are met
/// together or not at all. An index out of range is a condition that is never met. Criteria beyond the end of `needs`
/// have no prerequisites.
pub fn resolve_prerequisites(held: &[bool], needs: &[Vec<usize>]) -> PrerequisiteResult {
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

    PrerequisiteResult { direct, recursive, circular }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_prerequisite_takes_everything_behind_it_along() {
        let found = resolve_prerequisites(&[false, true, true, true], &[vec![], vec![0], vec![1], vec![]]);
        assert_eq!(found.direct, [false, false, true, true]);
        assert_eq!(found.recursive, [false, false, false, true]);
        assert!(found.circular.is_empty());
    }

    #[test]
    fn circles_end_and_are_named() {
        let needs = [vec![0], vec![2], vec![1], vec![9]];
        let found = resolve_prerequisites(&[true, true, true, true], &needs);
        assert_eq!(found.recursive, [true, true, true, false]);
        assert_eq!(found.circular, [0, 1, 2]);
        assert_eq!(resolve_prerequisites(&[true, true, false], &needs[..3]).recursive, [true, false, false]);
    }
}
