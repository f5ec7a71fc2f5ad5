//! Messages for the operator about model servers that calls are held back from.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use assize_llm::AccountStatus;

/// A rate that is so many times the one that was told is told again; so is one that is so many times lower.
const NEWS: f64 = 4.0;

/// Rates that the operator was told of, by account.
#[derive(Default)]
pub(crate) struct AccountWatch(Mutex<BTreeMap<String, f64>>);

impl AccountWatch {
    /// Messages about what has changed since the last call.
    pub(crate) fn news(&self, statuses: &[AccountStatus]) -> Vec<String> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut news = Vec::new();
        for status in statuses {
            let AccountStatus { host, name, waiting, .. } = status;
            match (told.get(name).copied(), status.requests_per_second) {
                (None, Some(rate)) => {
                    news.push(format!(
                        "{host} refused calls: at most {rate:.1} a second are sent, {waiting} wait; the rate is raised \
                         while no more are refused"
                    ));
                    told.insert(name.clone(), rate);
                }
                (Some(before), Some(rate)) if rate > before * NEWS || rate < before / NEWS => {
                    news.push(format!("{host}: {rate:.1} calls a second are sent, no longer {before:.1}"));
                    told.insert(name.clone(), rate);
                }
                (Some(_), None) if !status.is_paused => {
                    news.push(format!("{host}: calls are no longer held back"));
                    told.remove(name);
                }
                _ => {}
            }
        }

        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(rate: Option<f64>) -> AccountStatus {
        AccountStatus {
            host: "model.test".to_owned(),
            name: "1".to_owned(),
            requests_per_second: rate,
            window: 32,
            in_flight: 1,
            waiting: 9,
            is_paused: false,
        }
    }

    #[test]
    fn the_operator_is_told_once_that_calls_are_held_back_and_once_that_they_are_not() {
        let watch = AccountWatch::default();
        let count = |rate| watch.news(&[status(rate)]).len();
        assert_eq!([None, Some(1.0), Some(1.5), Some(3.9)].map(count), [0, 1, 0, 0]);
        assert_eq!(
            watch.news(&[status(Some(40.0))]),
            ["model.test: 40.0 calls a second are sent, no longer 1.0"]
        );
        assert_eq!([Some(41.0), None, None].map(count), [0, 1, 0]);
    }
}
