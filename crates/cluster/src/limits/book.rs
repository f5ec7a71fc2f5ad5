//! The book of all grants to workers. A pure state machine: the caller passes the time.
//!
//! Messages about budget carry running totals, not amounts. A request has the totals that the worker has
//! received and returned since it began, and a reply has the total that it was granted since then. So a lost
//! reply can be repeated, and nothing is granted or returned twice.

use std::collections::BTreeMap;
use std::time::Duration;

use assize_engine::Budget;
use assize_llm::{BudgetAmount, ReportedAllowance};
use serde::{Deserialize, Serialize};

use super::bucket::SharedBucket;
use crate::job::JobLimits;

/// How long a granted rate may be used.
pub(super) const RATE_TERM: Duration = Duration::from_secs(2);
/// Time after which the book no longer waits for a silent worker.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// A grant covers at most this many calls like the requested one.
const MAX_CALLS_PER_GRANT: u64 = 64;
/// A grant takes at most 1/(`GRANT_DIVISOR` * workers) of the remaining budget.
const GRANT_DIVISOR: u64 = 4;
/// Share of a reported allowance that must be used before its refill rate can be estimated from it.
const MIN_USED_SHARE: f64 = 0.5;

/// Request of a worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitRequest {
    /// Id of the worker.
    pub worker: String,
    /// Budget that the worker has received since it began.
    pub received: BudgetAmount,
    /// Budget that it has returned since it began.
    pub returned: BudgetAmount,
    /// Smallest budget that helps it, if it waits for budget.
    pub need: Option<BudgetAmount>,
    /// True if it may still return budget.
    pub may_return: bool,
    /// Rates that it wants to use in the next seconds.
    pub rates: Vec<RateAsk>,
}

/// Requests that a worker wants to send for an account.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RateAsk {
    /// Name of the account.
    pub account: String,
    /// Number of requests.
    pub requests: u64,
    /// Tokens that each request is expected to use.
    pub tokens_each: u64,
    /// Tokens used since the last request, minus the tokens granted for them.
    pub correction: i64,
    /// Latest reports of the server.
    pub reports: Vec<ReportedAllowance>,
}

/// Answer to a worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitReply {
    /// Answer about the budget.
    pub budget: BudgetReply,
    /// Budget granted to the worker since it began.
    pub granted: BudgetAmount,
    /// Rates that may be used within the term of a grant.
    pub rates: Vec<RateGrant>,
    /// True once the job is stopped. Workers must not use earlier grants any more.
    #[serde(default)]
    pub stopped: bool,
}

/// Answer about the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetReply {
    /// The budget was extended, or the request needed none.
    #[default]
    Granted,
    /// Not now, but other workers may return budget.
    Wait,
    /// Never: no budget is left, and no worker can return any.
    Never,
}

/// Requests that a worker may send for an account within the term of a grant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RateGrant {
    /// Name of the account.
    pub account: String,
    /// Number of requests.
    pub requests: u64,
    /// Tokens that each request may use.
    pub tokens_each: u64,
    /// Requests a second for this worker according to the server's reports.
    pub reported: Option<f64>,
}

/// The book.
#[derive(Debug)]
pub struct LimitBook {
    limits: JobLimits,
    /// Everything granted and not returned.
    used: BudgetAmount,
    workers: BTreeMap<String, Worker>,
    accounts: BTreeMap<String, Account>,
    /// The first need that was refused for good.
    refused: Option<BudgetAmount>,
}

#[derive(Debug, Default)]
struct Worker {
    granted: BudgetAmount,
    returned: BudgetAmount,
    heard: Duration,
    /// True if it has budget that it may return.
    may_return: bool,
}

#[derive(Debug, Default)]
struct Account {
    requests: Option<SharedBucket>,
    tokens: Option<SharedBucket>,
    /// Requests a second at which the server refills, by its limit of requests and of tokens.
    reported: [Option<f64>; 2],
}

impl LimitBook {
    /// A book that starts with the grants of earlier coordinators.
    pub fn new(limits: JobLimits, used: BudgetAmount) -> Self {
        Self { limits, used, workers: BTreeMap::new(), accounts: BTreeMap::new(), refused: None }
    }

    /// Everything granted and not returned.
    pub fn used(&self) -> BudgetAmount {
        self.used
    }

    /// The need of the first worker that was refused for good.
    pub fn refused(&self) -> Option<BudgetAmount> {
        self.refused
    }

    /// Answers a request.
    pub fn answer(&mut self, request: &LimitRequest, now: Duration) -> LimitReply {
        self.take_back(request, now);
        let budget = request.need.map_or(BudgetReply::Granted, |need| self.grant(&request.worker, need, now));
        let active = self.active(now);
        let rates = request.rates.iter().map(|ask| self.grant_rate(ask, active, now)).collect();
        let granted = self.workers.get(&request.worker).map(|worker| worker.granted).unwrap_or_default();

        LimitReply { budget, granted, rates, stopped: false }
    }

    /// Books the budget that a worker has returned. A worker that also served an earlier coordinator starts
    /// with its current totals. This book can't know what that worker returned before, so those amounts stay
    /// counted as used.
    fn take_back(&mut self, request: &LimitRequest, now: Duration) {
        let LimitRequest { received, returned, .. } = request;
        let worker = self.workers.entry(request.worker.clone()).or_insert_with(|| Worker {
            granted: *received,
            returned: *returned,
            ..Worker::default()
        });
        self.used = self.used.minus(returned.minus(worker.returned));
        worker.returned = *returned;
        worker.heard = now;
        worker.may_return = request.may_return;
    }

    fn grant(&mut self, name: &str, need: BudgetAmount, now: Duration) -> BudgetReply {
        let left = self.left();
        let workers = self.active(now);
        let worker = self.workers.entry(name.to_owned()).or_default();
        if left.covers(need) {
            let granted = grant_size(need, left, workers);
            self.used = self.used.plus(granted);
            worker.granted = worker.granted.plus(granted);
            worker.may_return = true;
            return BudgetReply::Granted;
        }

        let may_return = |worker: &Worker| worker.may_return && now <= worker.heard + SILENCE_TIMEOUT;
        let is_final = !self.workers.values().any(may_return);
        if is_final {
            self.refused.get_or_insert(need);
        }
        if is_final { BudgetReply::Never } else { BudgetReply::Wait }
    }

    /// Part of the budget that is neither used nor leased.
    pub(super) fn left(&self) -> BudgetAmount {
        let Budget { calls, tokens, usd } = self.limits.budget();
        let whole = BudgetAmount {
            calls: calls.unwrap_or_default(),
            tokens: tokens.unwrap_or_default(),
            usd: usd.unwrap_or_default(),
        };

        whole.minus(self.used)
    }

    fn active(&self, now: Duration) -> u64 {
        self.workers.values().filter(|worker| now <= worker.heard + SILENCE_TIMEOUT).count().max(1) as u64
    }

    fn grant_rate(&mut self, ask: &RateAsk, workers: u64, now: Duration) -> RateGrant {
        let limits = self.limits;
        let account = self.accounts.entry(ask.account.clone()).or_insert_with(|| Account {
            requests: limits.requests_per_minute.map(|limit| SharedBucket::new(limit, RATE_TERM, now)),
            tokens: limits.tokens_per_minute.map(|limit| SharedBucket::new(limit, RATE_TERM, now)),
            reported: [None, None],
        });
        for report in &ask.reports {
            account.note(report, ask.tokens_each);
        }
        if let Some(tokens) = &mut account.tokens {
            tokens.correct(ask.correction as f64);
        }

        let each = ask.tokens_each as f64;
        let by_tokens = account.tokens.as_mut().map_or(u64::MAX, |bucket| bucket.fitting(now, each));
        let wanted = ask.requests.min(by_tokens);
        let requests = account.requests.as_mut().map_or(wanted, |bucket| bucket.take(now, wanted, 1.0));
        if let Some(tokens) = &mut account.tokens {
            tokens.take(now, requests, each);
        }

        let reported = account.reported.into_iter().flatten().reduce(f64::min);
        RateGrant {
            account: ask.account.clone(),
            requests,
            tokens_each: ask.tokens_each,
            reported: reported.map(|rate| rate / workers as f64),
        }
    }
}

impl Account {
    fn note(&mut self, report: &ReportedAllowance, tokens_each: u64) {
        let ReportedAllowance { tokens, limit, remaining, reset } = *report;
        if limit >= 1.0 && remaining <= limit * (1.0 - MIN_USED_SHARE) && !reset.is_zero() {
            let cost = if tokens { tokens_each.max(1) as f64 } else { 1.0 };
            self.reported[usize::from(tokens)] = Some((limit - remaining) / reset.as_secs_f64() / cost);
        }
    }
}

/// The needed amount, or more if that leaves enough for the other workers.
fn grant_size(need: BudgetAmount, left: BudgetAmount, workers: u64) -> BudgetAmount {
    let parts = workers * GRANT_DIVISOR;
    let more = |need: u64, left: u64| need.max((left / parts).min(need.saturating_mul(MAX_CALLS_PER_GRANT)));

    BudgetAmount {
        calls: more(need.calls, left.calls),
        tokens: more(need.tokens, left.tokens),
        usd: assize_engine::Usd::from_pico(more(need.usd.as_pico(), left.usd.as_pico())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calls(calls: u64) -> BudgetAmount {
        BudgetAmount { calls, ..BudgetAmount::default() }
    }

    fn ask(worker: &str, received: u64, returned: u64, need: u64, may_return: bool) -> LimitRequest {
        LimitRequest {
            worker: worker.to_owned(),
            received: calls(received),
            returned: calls(returned),
            need: (need > 0).then(|| calls(need)),
            may_return,
            rates: Vec::new(),
        }
    }

    fn book(limit: u64) -> LimitBook {
        LimitBook::new(JobLimits { calls: Some(limit), ..JobLimits::default() }, BudgetAmount::default())
    }

    #[test]
    fn a_lost_answer_is_told_again_and_what_comes_back_goes_to_others() {
        let mut book = book(10);
        let first = book.answer(&ask("a", 0, 0, 10, false), Duration::ZERO);
        assert_eq!((first.budget, first.granted.calls), (BudgetReply::Granted, 10));
        // The reply was lost; the worker now requests nothing and learns its total.
        assert_eq!(book.answer(&ask("a", 0, 0, 0, true), Duration::ZERO).granted.calls, 10);
        let waiting = book.answer(&ask("b", 0, 0, 3, false), Duration::ZERO);
        assert_eq!(waiting.budget, BudgetReply::Wait);
        book.answer(&ask("a", 10, 4, 0, false), Duration::ZERO);
        let later = book.answer(&ask("b", 0, 0, 3, false), Duration::ZERO);
        assert_eq!((later.budget, later.granted.calls), (BudgetReply::Granted, 3));
        assert_eq!(book.used().calls, 9);
    }

    #[test]
    fn refusal_is_final_once_nobody_can_give_anything_back() {
        let mut book = book(5);
        book.answer(&ask("a", 0, 0, 5, false), Duration::ZERO);
        assert_eq!(book.answer(&ask("b", 0, 0, 1, true), Duration::ZERO).budget, BudgetReply::Wait);
        assert_eq!(book.answer(&ask("a", 5, 0, 1, false), Duration::ZERO).budget, BudgetReply::Wait);
        assert_eq!(book.answer(&ask("b", 0, 0, 1, false), Duration::ZERO).budget, BudgetReply::Never);
        assert!(book.refused().is_some());
    }

    #[test]
    fn nobody_waits_for_workers_without_work() {
        let mut book = book(5);
        book.answer(&ask("idle", 0, 0, 0, false), Duration::ZERO);
        book.answer(&ask("a", 0, 0, 5, false), Duration::ZERO);
        assert_eq!(book.answer(&ask("a", 5, 0, 1, true), Duration::ZERO).budget, BudgetReply::Wait);
        assert_eq!(book.answer(&ask("a", 5, 0, 1, false), Duration::ZERO).budget, BudgetReply::Never);
    }

    #[test]
    fn a_silent_worker_is_not_waited_for() {
        let mut book = book(5);
        book.answer(&ask("dead", 0, 0, 5, false), Duration::ZERO);
        let soon = book.answer(&ask("b", 0, 0, 1, false), Duration::from_secs(9));
        assert_eq!(soon.budget, BudgetReply::Wait);
        let later = book.answer(&ask("b", 0, 0, 1, false), Duration::from_secs(11));
        assert_eq!(later.budget, BudgetReply::Never);
    }

    #[test]
    fn what_servers_report_is_shared_out() {
        let mut book = book(5);
        let reports = vec![ReportedAllowance {
            tokens: false,
            limit: 600.0,
            remaining: 0.0,
            reset: Duration::from_mins(1),
        }];
        let rates = vec![RateAsk { account: "x".into(), requests: 1, reports, ..RateAsk::default() }];
        book.answer(&ask("a", 0, 0, 0, false), Duration::ZERO);
        let reply = book.answer(&LimitRequest { rates, ..ask("b", 0, 0, 0, false) }, Duration::ZERO);
        assert_eq!(reply.rates[0].reported, Some(5.0), "ten a second, for two workers");
        assert_eq!(reply.rates[0].requests, 1, "no rate is limited");
    }

    proptest! {
        /// Workers that ask, spend, return budget, die and lose replies never spend more than the limit
        /// together, even if the book is restarted from its record.
        #[test]
        fn the_limit_is_never_passed(
            limit in 0u64..200,
            steps in prop::collection::vec((0usize..4, 0u8..6, 1u64..20), 1..200),
        ) {
            #[derive(Clone, Copy, Default)]
            struct Model { received: u64, returned: u64, spent: u64, generation: u32 }
            let mut book = book(limit);
            let mut workers = [Model::default(); 4];
            let mut spent_by_the_dead = 0;
            for (at, action, amount) in steps {
                let worker = workers[at];
                let name = format!("{at}-{}", worker.generation);
                let held = worker.received - worker.returned - worker.spent;
                match action {
                    0 | 1 => {
                        let reply = book.answer(
                            &ask(&name, worker.received, worker.returned, amount, false), Duration::ZERO,
                        );
                        // Every other reply is lost.
                        if action == 0 {
                            workers[at].received = reply.granted.calls;
                        }
                    }
                    2 => workers[at].spent += held.min(amount),
                    3 => workers[at].returned += held.min(amount),
                    4 => {
                        spent_by_the_dead += worker.spent;
                        workers[at] = Model { generation: worker.generation + 1, ..Model::default() };
                    }
                    _ => book = LimitBook::new(book.limits, book.used()),
                }
                let spent: u64 = workers.iter().map(|worker| worker.spent).sum();
                prop_assert!(spent + spent_by_the_dead <= limit);
            }
        }
    }
}
