//! The budget of all calls of a server together.

use std::sync::Arc;

use assize_rubric::{Usd, dollars};
use parking_lot::Mutex;

use crate::outcome::ToolFailure;

/// Money that calls may still spend; `None` is unlimited.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionBudget(Option<Arc<Mutex<Usd>>>);

/// Money reserved for a call.
#[derive(Debug)]
#[must_use = "what the call does not spend has to be given back"]
pub(crate) struct BudgetReservation {
    budget: SessionBudget,
    reserved: Usd,
}

impl SessionBudget {
    pub(crate) fn new(limit: Option<Usd>) -> Self {
        Self(limit.map(|limit| Arc::new(Mutex::new(limit))))
    }

    /// Reserves the most that a call may spend.
    ///
    /// # Errors
    /// When less is left.
    pub(crate) fn reserve(&self, usd: Usd) -> Result<BudgetReservation, ToolFailure> {
        if let Some(left) = &self.0 {
            let mut left = left.lock();
            if usd > *left {
                return Err(ToolFailure::not_allowed(format!(
                    "`budget_usd` is {}, and this server's `--budget-usd` has {} left; calls in progress keep theirs until \
                     they end",
                    dollars(usd.as_dollars()),
                    dollars(left.as_dollars()),
                )));
            }
            *left = left.saturating_sub(usd);
        }

        Ok(BudgetReservation { budget: self.clone(), reserved: usd })
    }
}

impl BudgetReservation {
    /// Returns the unspent part. If spending is unknown, the whole reservation counts as spent.
    pub(crate) fn settle(self, spent: Option<Usd>) {
        let Some((left, spent)) = self.budget.0.as_ref().zip(spent) else { return };
        let mut left = left.lock();
        let unspent = self.reserved.saturating_sub(spent);

        *left = Usd::from_pico(left.as_pico().saturating_add(unspent.as_pico()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(dollars: f64) -> Usd {
        Usd::from_dollars(dollars).expect("an amount")
    }

    #[test]
    fn what_calls_spend_is_gone_and_the_rest_comes_back() {
        let budget = SessionBudget::new(Some(usd(1.0)));
        let first = budget.reserve(usd(0.75)).expect("there is enough");
        let message = budget.reserve(usd(0.5)).expect_err("it is set aside").message;
        assert!(message.contains("$0.2500 left"), "{message}");

        first.settle(Some(usd(0.25)));
        let second = budget.reserve(usd(0.75)).expect("the rest came back");
        second.settle(None);
        assert!(budget.reserve(usd(0.01)).is_err(), "an unknown cost counts as all of it");
        assert!(budget.reserve(usd(0.0)).is_ok());
        assert!(SessionBudget::default().reserve(usd(1e6)).is_ok());
    }
}
