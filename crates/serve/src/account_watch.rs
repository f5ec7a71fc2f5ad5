//! Messages for the operator about model servers whose calls are delayed.

use std::collections::BTreeMap;

use assize_llm::AccountStatus;
use parking_lot::Mutex;

/// A rate is reported again when it has changed by this factor, up or down.
const REPORTED_CHANGE: f64 = 4.0;

/// State of the accounts, as last reported to the operator.
#[derive(Default)]
pub(crate) struct AccountWatch(Mutex<BTreeMap<String, ToldState>>);

/// State of one account, as last reported.
#[derive(Default, Clone, Copy)]
struct ToldState {
    rate: Option<f64>,
    is_held: bool,
    is_given_up: bool,
}

impl AccountWatch {
    /// Messages about changes since the last call.
    pub(crate) fn news(&self, statuses: &[AccountStatus]) -> Vec<String> {
        let mut reported = self.0.lock();
        let mut news = Vec::new();
        for status in statuses {
            let state = reported.entry(status.name.clone()).or_default();
            let was_held_back = state.rate.is_some() || state.is_held;
            news.extend(outage_news(state, status));
            news.extend(rate_news(state, status));

            let is_held_back = status.requests_per_second.is_some() || state.is_held || status.is_paused;
            if was_held_back && !is_held_back {
                news.push(format!("{}: calls are no longer held back", status.host));
                *state = ToldState::default();
            }
        }

        news
    }
}

/// Message about a server that keeps failing, or that gets no calls for now.
fn outage_news(state: &mut ToldState, status: &AccountStatus) -> Option<String> {
    let AccountStatus { host, waiting, .. } = status;
    let before = *state;
    state.is_held = status.is_held || status.outage.is_some();
    state.is_given_up = state.is_held && (before.is_given_up || status.outage.is_some());

    if let Some(outage) = status.outage.as_ref().filter(|_| !before.is_given_up) {
        let again = outage.again.map_or(0.0, |again| again.as_secs_f64().ceil());
        return Some(format!(
            "{host}: calls are held back, and criteria are ungraded, because it failed: {}; it is tried again in {again} s, and \
             at least every 30 s from then on",
            outage.why
        ));
    }

    (state.is_held && !before.is_held).then(|| {
        format!(
            "{host} keeps failing: calls are held back ({waiting} waiting), and sent one at a time to test it"
        )
    })
}

/// Message about the rate of a server that refused calls.
fn rate_news(state: &mut ToldState, status: &AccountStatus) -> Option<String> {
    let AccountStatus { host, waiting, .. } = status;
    match (state.rate, status.requests_per_second?) {
        (None, rate) => {
            state.rate = Some(rate);
            Some(format!(
                "{host} refused calls: at most {rate:.1} a second are sent, {waiting} wait; the rate is raised while no more \
                 are refused"
            ))
        }
        (Some(before), rate) if rate > before * REPORTED_CHANGE || rate < before / REPORTED_CHANGE => {
            state.rate = Some(rate);
            Some(format!("{host}: {rate:.1} calls a second are sent, no longer {before:.1}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use assize_llm::ServerOutage;

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
            is_held: false,
            outage: None,
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

    #[test]
    fn a_server_that_fails_is_told_when_it_is_held_when_it_is_not_asked_and_when_it_is_back() {
        let watch = AccountWatch::default();
        let held = AccountStatus { is_paused: true, is_held: true, ..status(None) };
        let again = Some(Duration::from_millis(1500));
        let outage = ServerOutage { why: "boom".into(), again };
        let given_up = AccountStatus { outage: Some(outage), ..held.clone() };
        let mut messages = Vec::new();
        for status in [&status(None), &held, &held, &given_up, &held, &given_up, &status(None), &status(None)]
        {
            messages.extend(watch.news(std::slice::from_ref(status)));
        }

        let [first, second, third] = &messages[..] else { panic!("{messages:?}") };
        assert!(first.starts_with("model.test keeps failing"), "{first}");
        assert!(second.contains("it failed: boom; it is tried again in 2 s"), "{second}");
        assert_eq!(third, "model.test: calls are no longer held back");
    }
}
