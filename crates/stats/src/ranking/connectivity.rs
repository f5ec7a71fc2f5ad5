//! Check that contests connect all systems, in both directions.

use crate::UndefinedReason;

/// Checks that finite strengths exist: for every split of the systems into two groups, each group must have
/// beaten (or tied with) the other at least once. `beat(a, b)` is true if a won or tied against b at least
/// once. Source: L. Ford, "Solution of a ranking problem from binary comparisons", American Mathematical
/// Monthly 64 (1957), 28-33.
pub(super) fn check_connected(
    systems: usize,
    beat: impl Fn(usize, usize) -> bool,
) -> Result<(), UndefinedReason> {
    let all = |reached: &[bool]| reached.iter().all(|reached| *reached);
    if !all(&mark_reachable(systems, |a, b| beat(a, b) || beat(b, a))) {
        return Err(UndefinedReason::NotConnected);
    }

    let strongly = all(&mark_reachable(systems, &beat)) && all(&mark_reachable(systems, |a, b| beat(b, a)));
    if strongly { Ok(()) } else { Err(UndefinedReason::OneSided) }
}

/// Marks the systems that can be reached from the first.
fn mark_reachable(systems: usize, leads: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut reached = vec![false; systems];
    let mut open = vec![0];

    if let Some(first) = reached.first_mut() {
        *first = true;
    }

    while let Some(from) = open.pop() {
        for (to, reached) in reached.iter_mut().enumerate() {
            if !*reached && leads(from, to) {
                *reached = true;
                open.push(to);
            }
        }
    }

    reached
}
