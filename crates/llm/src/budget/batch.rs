//! Budget of batches: many calls that are sent together and settled together.

use std::sync::Arc;

use super::{Budget, BudgetTracker, CallBound, Spend};

impl BudgetTracker {
    /// Whether the budget limits only the number of calls.
    pub fn counts_only_calls(&self) -> bool {
        let Budget { calls, tokens, usd } = self.state().budget;
        calls.is_some() && tokens.is_none() && usd.is_none()
    }

    /// How many of these calls, from the first on, the budget allows to be sent together.
    pub fn affordable_calls(&self, calls: impl Iterator<Item = CallBound>) -> usize {
        let state = self.state();
        let left = state.budget.calls.map_or(u64::MAX, |limit| limit.saturating_sub(state.calls));
        let mut sum = state.spent.plus(state.reserved);

        calls
            .zip(0..left)
            .take_while(|(bound, _)| {
                sum = sum.plus(bound.0);
                state.allows(sum)
            })
            .count()
    }

    /// Reserves the maximum of `calls` calls, even if the budget does not allow it: an earlier process may have sent
    /// the batch.
    pub fn commit_batch(self: &Arc<Self>, calls: u64, most: CallBound) -> BatchReservation {
        let mut state = self.state();
        state.calls = state.calls.saturating_add(calls);
        state.in_flight += 1;
        state.reserved = state.reserved.plus(most.0);
        drop(state);

        BatchReservation { tracker: Arc::clone(self), calls, reserved: most.0, taken: most.0 }
    }
}

/// Budget reserved for a batch. Dropping it books the whole reservation, because the real cost of the batch is unknown.
pub struct BatchReservation {
    tracker: Arc<BudgetTracker>,
    calls: u64,
    reserved: Spend,
    taken: Spend,
}

impl BatchReservation {
    /// The batch has ended: `made` of its calls were answered or failed, and took `taken`.
    pub fn settle(mut self, made: u64, taken: CallBound) {
        let unmade = self.calls.saturating_sub(made);
        self.taken = taken.0;
        let mut state = self.tracker.state();
        state.calls = state.calls.saturating_sub(unmade);
    }
}

impl Drop for BatchReservation {
    fn drop(&mut self) {
        let mut state = self.tracker.state();
        state.in_flight = state.in_flight.saturating_sub(1);
        state.reserved = state.reserved.minus(self.reserved);
        state.spent = state.spent.plus(self.taken);
        drop(state);

        self.tracker.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use assize_rubric::Usd;

    use super::*;
    use crate::budget::{ReservationRefusal, ReservationRequest};
    use crate::output_limit::OutputLimit;
    use crate::price::ModelCard;

    #[test]
    fn a_batch_that_nobody_settles_counts_as_what_was_set_aside_and_holds_nobody_up() {
        let tracker =
            BudgetTracker::new(Budget { calls: Some(10), tokens: Some(1_000), usd: None }, |_: &str| {});
        let batch = tracker.commit_batch(4, CallBound::new(950, Usd::ZERO));
        let output_limit = OutputLimit { most: 10, least: 10 };
        let request = ReservationRequest { input: 90, output_limit, card: ModelCard::default() };
        assert!(matches!(tracker.try_reserve(request), Err(ReservationRefusal::NotYet)));
        drop(batch);
        let Err(ReservationRefusal::Never(why)) = tracker.try_reserve(request) else { panic!("it is spent") };
        assert!(why.contains("950 are spent"), "{why}");

        let batch = tracker.commit_batch(6, CallBound::new(50, Usd::ZERO));
        batch.settle(5, CallBound::new(20, Usd::ZERO));
        let state = tracker.state();
        assert_eq!((state.calls, state.spent.tokens, state.reserved.tokens, state.in_flight), (9, 970, 0, 0));
    }
}
