//! Decides when an account is put on hold (only probes are sent) and when it is given up.
//!
//! A run of thousands of cases against a server that is down, or with a wrong key, must not send thousands of
//! requests that fail, and must not fail thousands of cases either. But one failure proves nothing. So failures
//! are counted in a row:
//!
//! - Failed connections, timeouts, server errors: after [`HOLDING_FAILURES`] of one kind in a row, the account is put
//!   on hold. One request at a time is sent as a probe, with growing pauses. A good answer ends the hold. If the probes
//!   fail, the account is given up: at once if it never answered, after [`PATIENCE`] if it did.
//! - A wrong key, a forbidden or an unknown model: the next try has the same result, so fewer failures are
//!   needed. They are counted for each model, because another model of the same account may work.
//! - An error about a single request (bad request, content filter) shows that the server works, and ends the streak.
//!
//! In a service, a hold applies only to the clients whose calls fail ([`SourceScope`]): one request, one client with
//! several, or all clients once calls of several fail and none is answered. Other clients are not blocked, and a good
//! answer to one of them ends the hold, because it shows that the server works.
//!
//! Failures of different kinds are counted separately, because in an outage all requests fail in the same way. In a
//! run, an account that was given up is not tried again. In a service (`recovery` is set) it is tried again from time
//! to time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::call_source::{CallSource, SourceScope};
use crate::error::ErrorKind;

/// Failures in a row after which an account is put on hold.
const HOLDING_FAILURES: u32 = 8;
/// Unreadable answers in a row after which an account is put on hold. More than of other failures, because a single
/// request may cause them.
const HOLDING_UNREADABLE_ANSWERS: u32 = 24;
/// An account that never answered is put on hold after this many timeouts in a row. Its requests were sent one at a
/// time, and each took the whole time limit.
const HOLDING_SILENCE: u32 = 5;
/// Refusals in a row after which a model is put on hold. Few, because trying again does not help with a wrong key or an
/// unknown model.
const HOLDING_REFUSALS: u32 = 3;
/// The same, if the account has answered before, so its key was good.
const HOLDING_LATER_REFUSALS: u32 = 24;
/// Pause before the first probe; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Failed probes after which an account is given up that never answered. Fewer if the server is silent, since
/// each such probe waits for the whole timeout.
const MAX_FAILED_PROBES: u32 = 4;
const MAX_SILENT_PROBES: u32 = 2;
/// Time until an account or model that was given up is tried again. It doubles each time, up to `recovery`.
const FIRST_RECOVERY: Duration = Duration::from_secs(2);
/// How long an account that has answered before is probed until it is given up.
const PATIENCE: Duration = Duration::from_mins(2);

/// Failures of an account and of its models.
#[derive(Debug, Clone, Default)]
pub(super) struct OutageTracker {
    streak: Option<FailureStreak>,
    hold: Option<AccountHold>,
    has_answered: bool,
    models: BTreeMap<Arc<str>, ModelStreak>,
    given_up: Option<GivenUp>,
    /// The clients that the streak, the hold and `given_up` apply to.
    scope: SourceScope,
    /// Number of the probe in flight, while a hold concerns only some.
    probe: Option<u64>,
    /// The longest time until something that was given up is tried again; `None` for never.
    recovery: Option<Duration>,
}

/// Something that was given up: its last failure, and when that was.
#[derive(Debug, Clone)]
struct GivenUp {
    why: Arc<str>,
    since: Duration,
    /// Time until the next try, if there is one.
    pause: Duration,
}

impl GivenUp {
    /// A failure now; `before` is the previous one, if it was given up already.
    fn new(before: Option<&Self>, why: String, since: Duration) -> Self {
        let pause = before.map_or(FIRST_RECOVERY, |before| before.pause.saturating_mul(2));
        Self { why: why.into(), since, pause }
    }
}

/// Why nothing is sent to a server: it failed again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOutage {
    /// The failure in words, for the operator.
    pub why: Arc<str>,
    /// Time until the server is tried again; `None` if it never is.
    pub again: Option<Duration>,
}

/// Failures of one kind in a row, and the time of the first.
#[derive(Debug, Clone, Copy)]
struct FailureStreak {
    kind: ErrorKind,
    count: u32,
    since: Duration,
}

/// Refusals of one model in a row.
#[derive(Debug, Clone)]
struct ModelStreak {
    kind: ErrorKind,
    count: u32,
    given_up: Option<GivenUp>,
}

/// A hold of an account: only probes are sent.
#[derive(Debug, Clone, Copy)]
struct AccountHold {
    /// When the next probe may be sent.
    until: Duration,
    pause: Duration,
    failed_probes: u32,
    /// Number of the first request that is a probe.
    from: u64,
}

/// Whether a request to an account may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccountState {
    Open,
    /// As a probe: only when nothing else is in flight, and not before this time.
    Probing(Duration),
    /// As a probe for the clients whose calls fail: only when no call of theirs is in flight, and not before this time.
    /// Other clients need not wait for it.
    ProbingAside(Duration),
    /// After the probe in flight of the clients whose calls fail. Other clients need not wait for it.
    Aside,
    /// Not at all for the time being, or never.
    GivenUp(ServerOutage),
}

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureConsequence {
    None,
    /// The request timed out while others were in flight, and may have waited for them in the server. Fewer are allowed
    /// in flight from now on.
    FewerInFlight,
    /// The account is put on hold.
    Held,
    /// The account was on hold already. True if it had given good answers before that.
    StillHeld(bool),
}

/// A request without a good answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedRequest<'m> {
    /// Its number among all of the account.
    pub(super) number: u64,
    pub(super) model: &'m str,
    pub(super) source: Option<CallSource>,
    pub(super) kind: ErrorKind,
    pub(super) now: Duration,
    /// Number of all requests so far.
    pub(super) sent: u64,
}

impl OutageTracker {
    /// Tries an account again after it was given up: soon at first, and later after this time.
    pub(super) fn with_recovery(self, recovery: Option<Duration>) -> Self {
        Self { recovery, ..self }
    }

    /// Whether the account is on hold or was given up.
    pub(super) fn is_held(&self) -> bool {
        self.hold.is_some() || self.given_up.is_some()
    }

    pub(super) fn state(&self, model: &str, source: Option<CallSource>, now: Duration) -> AccountState {
        let streak = self.models.get(model);
        let is_covered = self.scope.covers(source);
        let of_account = self.given_up.as_ref().filter(|_| is_covered);
        if let Some(given_up) = of_account.or_else(|| streak?.given_up.as_ref()) {
            let outage = self.outage_of(given_up, now);
            return match outage.again {
                Some(Duration::ZERO) => self.probing(Duration::ZERO),
                _ => AccountState::GivenUp(outage),
            };
        }

        match self.hold.filter(|_| is_covered) {
            Some(hold) => self.probing(hold.until),
            None if streak.is_some_and(|streak| streak.count >= self.refusals()) => {
                AccountState::Probing(Duration::ZERO)
            }
            None => AccountState::Open,
        }
    }

    fn probing(&self, from: Duration) -> AccountState {
        match (self.scope, self.probe) {
            (SourceScope::All, _) => AccountState::Probing(from),
            (_, None) => AccountState::ProbingAside(from),
            (_, Some(_)) => AccountState::Aside,
        }
    }

    /// Records that the request with this number is sent.
    pub(super) fn sent(&mut self, number: u64, source: Option<CallSource>) {
        if self.is_held() && self.scope.covers(source) {
            self.probe = Some(number);
        }
    }

    /// Records that the request with this number is no longer in flight.
    pub(super) fn left(&mut self, number: u64) {
        self.probe = self.probe.filter(|probe| *probe != number);
    }

    fn outage_of(&self, given_up: &GivenUp, now: Duration) -> ServerOutage {
        let GivenUp { why, since, pause } = given_up;
        let again = self.recovery.map(|longest| (*since + longest.min(*pause)).saturating_sub(now));
        ServerOutage { why: Arc::clone(why), again }
    }

    /// The failure for which the account, or one of its models, was given up.
    pub(super) fn outage(&self, now: Duration) -> Option<ServerOutage> {
        let of_model = || self.models.values().find_map(|streak| streak.given_up.as_ref());
        self.given_up.as_ref().or_else(of_model).map(|given_up| self.outage_of(given_up, now))
    }

    /// Records a good answer. Returns true if it ends a hold.
    pub(super) fn answered(&mut self, model: &str) -> bool {
        self.has_answered = true;
        self.streak = None;
        // In a run, an account that was given up stays given up: the user has been notified, and the run is ending.
        if self.recovery.is_some() {
            self.given_up = None;
        }
        if !self.models.is_empty() {
            self.models.remove(model);
        }

        self.hold.take().is_some()
    }

    /// Records a failed request. `why` describes the failure to a person.
    pub(super) fn failed(
        &mut self,
        request: FailedRequest<'_>,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        let FailedRequest { number, model, source, kind, now, sent } = request;
        // A wrong key or model is refused every time. If anything else happens in between, it is neither.
        if self.models.get(model).is_some_and(|streak| streak.kind != kind && streak.given_up.is_none()) {
            self.models.remove(model);
        }

        match kind {
            ErrorKind::Authentication | ErrorKind::PermissionDenied | ErrorKind::NotFound => {
                self.streak = None;
                self.hold = None;
                self.refused(model, kind, now, why)
            }
            ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::Server | ErrorKind::Overloaded => {
                self.missed(number, source, kind, now, sent, why)
            }
            // If all answers are unreadable, they come from something other than a model server: a sign-in
            // page, another service at the address. After one good answer, they are faults of single requests.
            ErrorKind::MalformedReply if !self.has_answered => {
                self.missed(number, source, kind, now, sent, why)
            }
            // The server works, and objects to this one request.
            _ => {
                self.streak = None;
                self.hold = None;
                FailureConsequence::None
            }
        }
    }

    /// How many refusals in a row put a model on hold.
    fn refusals(&self) -> u32 {
        if self.has_answered { HOLDING_LATER_REFUSALS } else { HOLDING_REFUSALS }
    }

    fn refused(
        &mut self,
        model: &str,
        kind: ErrorKind,
        now: Duration,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        let refusals = self.refusals();
        let streak =
            self.models.entry(model.into()).or_insert(ModelStreak { kind, count: 0, given_up: None });
        if streak.kind != kind {
            (streak.kind, streak.count) = (kind, 0);
        }

        streak.count += 1;
        match streak.count {
            count if count == refusals => FailureConsequence::Held,
            count if count > refusals => {
                if streak.given_up.is_none() || self.recovery.is_some() {
                    streak.given_up = Some(GivenUp::new(streak.given_up.as_ref(), why(), now));
                }
                FailureConsequence::StillHeld(false)
            }
            _ => FailureConsequence::None,
        }
    }

    fn missed(
        &mut self,
        number: u64,
        source: Option<CallSource>,
        kind: ErrorKind,
        now: Duration,
        sent: u64,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        // Failures of different kinds are faults of single requests; an outage fails all requests in one way.
        if self.streak.is_some_and(|streak| streak.kind != kind) {
            self.streak = None;
            self.hold = None;
        }

        self.scope = if self.streak.is_none() && self.given_up.is_none() {
            SourceScope::of(source)
        } else {
            self.scope.widened(source)
        };
        let streak = self.streak.get_or_insert(FailureStreak { kind, count: 0, since: now });
        streak.count += 1;

        let Some(hold) = &mut self.hold else {
            let failures = match kind {
                ErrorKind::MalformedReply => HOLDING_UNREADABLE_ANSWERS,
                ErrorKind::Timeout if !self.has_answered => HOLDING_SILENCE,
                _ => HOLDING_FAILURES,
            };
            if streak.count < failures {
                return FailureConsequence::None;
            }

            let until = now.saturating_add(FIRST_PAUSE);
            self.hold = Some(AccountHold { until, pause: FIRST_PAUSE, failed_probes: 0, from: sent });
            return FailureConsequence::Held;
        };

        if number >= hold.from {
            hold.failed_probes += 1;
            hold.pause = hold.pause.saturating_mul(2).min(LONGEST_PAUSE);
            hold.until = now.saturating_add(hold.pause);

            let probes = if kind == ErrorKind::Timeout { MAX_SILENT_PROBES } else { MAX_FAILED_PROBES };
            let is_out_of_patience = !self.has_answered || now.saturating_sub(streak.since) >= PATIENCE;
            if hold.failed_probes >= probes && is_out_of_patience {
                self.given_up = Some(GivenUp::new(self.given_up.as_ref(), why(), now));
            }
        }

        FailureConsequence::StillHeld(self.has_answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(
        number: u64,
        source: Option<CallSource>,
        kind: ErrorKind,
        now: Duration,
    ) -> FailedRequest<'static> {
        FailedRequest { number, model: "m", source, kind, now, sent: number + 1 }
    }

    /// Fails eight times and then in every probe, until the account is given up; returns the time.
    fn give_up(tracker: &mut OutageTracker) -> Duration {
        let mut now = Duration::ZERO;
        for number in 0..64 {
            now += LONGEST_PAUSE;
            tracker.failed(request(number, None, ErrorKind::Connection, now), || "refused".to_owned());
            if matches!(tracker.state("m", None, now), AccountState::GivenUp(_)) {
                break;
            }
        }

        now
    }

    #[test]
    fn an_account_that_was_given_up_is_tried_again_only_after_its_recovery_time() {
        let recovery = Duration::from_secs(30);
        let mut for_ever = OutageTracker::default();
        let end = give_up(&mut for_ever);
        assert!(matches!(for_ever.state("m", None, end + recovery * 100), AccountState::GivenUp(_)));

        let mut service = OutageTracker::default().with_recovery(Some(recovery));
        let end = give_up(&mut service);

        // Soon at first, and then twice as long each time, up to the limit.
        let mut now = end;
        for (number, seconds) in (99_u64..).zip([2, 4, 8, 16, 30, 30]) {
            let pause = Duration::from_secs(seconds);
            let AccountState::GivenUp(outage) = service.state("m", None, now) else { panic!("{seconds}") };
            assert_eq!((&*outage.why, outage.again), ("refused", Some(pause)));
            assert_eq!(service.outage(now), Some(outage));

            now += pause;
            assert_eq!(service.state("m", None, now), AccountState::Probing(Duration::ZERO));
            service.failed(request(number, None, ErrorKind::Connection, now), || "refused".to_owned());
        }
        assert!(service.answered("m"));
        assert_eq!((service.state("m", None, now), service.outage(now)), (AccountState::Open, None));
    }

    #[test]
    fn a_model_that_is_refused_is_tried_again_too() {
        let mut service = OutageTracker::default().with_recovery(Some(Duration::from_secs(30)));
        for number in 0..=u64::from(HOLDING_REFUSALS) {
            let why = || "no such model".to_owned();
            service.failed(request(number, None, ErrorKind::NotFound, Duration::ZERO), why);
        }

        let outage = service.outage(Duration::from_secs(1)).expect("it was given up");
        assert_eq!((&*outage.why, outage.again), ("no such model", Some(Duration::from_secs(1))));
        assert_eq!(service.state("other", None, Duration::ZERO), AccountState::Open);
    }

    #[test]
    fn a_hold_is_about_those_whose_calls_fail() {
        let source = |client, request| Some(CallSource { client, request });
        let (failing, same_client, other) = (source(1, 1), source(1, 2), source(2, 1));
        let mut tracker = OutageTracker::default();
        let fail = |tracker: &mut OutageTracker, number, source| {
            tracker.failed(request(number, source, ErrorKind::Server, SECOND), || "boom".to_owned())
        };
        for number in 0..u64::from(HOLDING_FAILURES) {
            fail(&mut tracker, number, failing);
        }

        let until = SECOND + FIRST_PAUSE;
        let states =
            |tracker: &OutageTracker| [failing, same_client, other].map(|who| tracker.state("m", who, until));
        let open = AccountState::Open;
        assert_eq!(states(&tracker), [AccountState::ProbingAside(until), open.clone(), open.clone()]);

        // One probe at a time.
        tracker.sent(20, failing);
        assert_eq!(states(&tracker), [AccountState::Aside, open.clone(), open.clone()]);
        tracker.left(20);

        // A failure of another request of the client concerns the client, one of another client everyone.
        fail(&mut tracker, 8, same_client);
        assert!(matches!(
            states(&tracker),
            [AccountState::ProbingAside(_), AccountState::ProbingAside(_), AccountState::Open]
        ));
        fail(&mut tracker, 9, other);
        assert!(states(&tracker).iter().all(|state| matches!(state, AccountState::Probing(_))));

        assert!(tracker.answered("m"));
        assert_eq!(states(&tracker), [open.clone(), open.clone(), open]);
    }

    const SECOND: Duration = Duration::from_secs(1);
}
