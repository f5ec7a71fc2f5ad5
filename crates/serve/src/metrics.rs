//! Counters of the server, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use assize_llm::AccountStatus;
use assize_rubric::{BenchmarkState, Cost, Usd};
use parking_lot::Mutex;

use crate::api::{GradeStatus, SampleResult};

/// Upper bounds of the histogram of durations, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0];

/// Counters of a server.
#[derive(Default)]
pub(crate) struct ServiceMetrics(Mutex<MetricState>);

#[derive(Default)]
struct MetricState {
    requests: BTreeMap<(&'static str, u16), u64>,
    samples: BTreeMap<(Arc<str>, &'static str), u64>,
    decisions: BTreeMap<&'static str, u64>,
    ungraded: BTreeMap<String, u64>,
    calls: u64,
    calls_cached: u64,
    spent: BTreeMap<Arc<str>, Usd>,
    unpriced_calls: BTreeMap<Arc<str>, u64>,
    durations: DurationHistogram,
}

#[derive(Default)]
struct DurationHistogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// Values that are read when metrics are requested.
pub(crate) struct MetricGauges {
    pub(crate) accepted: usize,
    pub(crate) working: usize,
    pub(crate) queue: usize,
    pub(crate) by_client: BTreeMap<Arc<str>, usize>,
    /// Samples whose events reached a collector, and samples whose events did not, if there is a collector.
    pub(crate) telemetry: Option<(u64, u64)>,
    /// State of the accounts at model servers.
    pub(crate) accounts: Vec<AccountStatus>,
    pub(crate) is_ready: bool,
}

impl ServiceMetrics {
    /// Counts a reply to a request.
    pub(crate) fn count_request(&self, route: &'static str, status: u16, took: Duration) {
        let mut state = self.0.lock();
        *state.requests.entry((route, status)).or_default() += 1;
        state.durations.add(took.as_secs_f64());
    }

    /// Counts the result of a sample.
    pub(crate) fn count_result(&self, client: &Arc<str>, result: &SampleResult) {
        self.count_sample(client, result.status);
        self.count_work(client, result);
    }

    /// Counts a sample.
    pub(crate) fn count_sample(&self, client: &Arc<str>, status: GradeStatus) {
        *self.0.lock().samples.entry((Arc::clone(client), status.name())).or_default() += 1;
    }

    /// Counts the decisions and calls of a result. A judge that gave one score for the whole counts as one
    /// decision.
    pub(crate) fn count_work(&self, client: &Arc<str>, result: &SampleResult) {
        let cost = Cost::from_parts(result.cost_usd, result.cost_partial);

        let mut state = self.0.lock();
        if result.decisions.is_empty() && result.scorecard.is_empty() {
            let outcome = if result.score.is_some() { "scored" } else { "ungraded" };
            *state.decisions.entry(outcome).or_default() += 1;
        }
        for row in &result.decisions {
            *state.decisions.entry(row.decision.outcome.name()).or_default() += 1;
            if let Some(cause) = &row.ungraded {
                *state.ungraded.entry(cause.kind.name().to_owned()).or_default() += 1;
            }
        }
        let open = result.scorecard.iter().filter_map(|part| part.decision.as_ref());
        for decision in open {
            let is_open = !matches!(
                decision.state,
                BenchmarkState::Scored | BenchmarkState::Uncertain | BenchmarkState::NotApplicable
            );
            *state.decisions.entry(if is_open { "ungraded" } else { decision.state.name() }).or_default() +=
                1;
            if is_open {
                *state.ungraded.entry(decision.state.name().to_owned()).or_default() += 1;
            }
        }
        state.calls += result.judge_calls;
        state.calls_cached += result.judge_calls_cached;
        // If all calls have unknown prices, 0 would be wrong, so nothing is recorded.
        if cost.lower_bound() > Usd::ZERO || cost.unpriced_calls() == 0 {
            *state.spent.entry(Arc::clone(client)).or_insert(Usd::ZERO) += cost.lower_bound();
        }
        *state.unpriced_calls.entry(Arc::clone(client)).or_default() += cost.unpriced_calls();
    }

    /// The metrics as text. With a client, omits lines about other clients and about accounts at model servers, which
    /// belong to the operator.
    pub(crate) fn to_text(&self, gauges: &MetricGauges, only: Option<&str>) -> String {
        let shows = |client: &Arc<str>| only.is_none_or(|only| **client == *only);
        let state = self.0.lock();
        let mut page = MetricPage::default();

        page.head("assize_requests_total", "counter", "Replies by route and status.");
        for ((route, status), count) in &state.requests {
            page.line("assize_requests_total", &format!("route=\"{route}\",status=\"{status}\""), count);
        }
        state.durations.write(&mut page);
        page.head("assize_samples_total", "counter", "Samples by client and by how far they were graded.");
        for ((client, status), count) in state.samples.iter().filter(|((client, _), _)| shows(client)) {
            page.line("assize_samples_total", &format!("client=\"{client}\",status=\"{status}\""), count);
        }
        page.head("assize_decisions_total", "counter", "Decisions by outcome.");
        for (outcome, count) in &state.decisions {
            page.line("assize_decisions_total", &format!("outcome=\"{outcome}\""), count);
        }
        page.head("assize_ungraded_total", "counter", "Ungraded criteria by kind of failure.");
        for (kind, count) in &state.ungraded {
            page.line("assize_ungraded_total", &format!("kind=\"{kind}\""), count);
        }
        page.head("assize_judge_calls_total", "counter", "Calls of judges by where the reply came from.");
        page.line("assize_judge_calls_total", "source=\"cache\"", state.calls_cached);
        page.line("assize_judge_calls_total", "source=\"model\"", state.calls - state.calls_cached);
        page.head(
            "assize_spent_usd_total",
            "counter",
            "Known cost of judge calls by client, in US dollars; assize_unpriced_calls_total counts those without a price.",
        );
        for (client, spent) in state.spent.iter().filter(|(client, _)| shows(client)) {
            page.line("assize_spent_usd_total", &format!("client=\"{client}\""), spent.as_dollars());
        }
        page.head(
            "assize_unpriced_calls_total",
            "counter",
            "Judge calls whose cost is not known, by client.",
        );
        for (client, count) in state.unpriced_calls.iter().filter(|(client, _)| shows(client)) {
            page.line("assize_unpriced_calls_total", &format!("client=\"{client}\""), count);
        }

        page.head("assize_samples_accepted", "gauge", "Samples that are accepted and not answered.");
        for (client, count) in gauges.by_client.iter().filter(|(client, _)| shows(client)) {
            page.line("assize_samples_accepted", &format!("client=\"{client}\""), count);
        }
        page.head("assize_queue_samples", "gauge", "Samples that are accepted, all clients together.");
        page.line("assize_queue_samples", "", gauges.accepted);
        page.head("assize_queue_limit", "gauge", "Samples that can be accepted at once.");
        page.line("assize_queue_limit", "", gauges.queue);
        page.head("assize_samples_working", "gauge", "Samples that are graded now.");
        page.line("assize_samples_working", "", gauges.working);
        if let Some((sent, dropped)) = gauges.telemetry {
            page.head(
                "assize_otlp_samples_total",
                "counter",
                "Samples by the outcome of sending their OpenTelemetry events.",
            );
            page.line("assize_otlp_samples_total", "result=\"sent\"", sent);
            page.line("assize_otlp_samples_total", "result=\"dropped\"", dropped);
        }
        if only.is_none() {
            page.accounts(&gauges.accounts);
        }
        page.head("assize_ready", "gauge", "1 while requests are taken.");
        page.line("assize_ready", "", u8::from(gauges.is_ready));

        page.0
    }
}

/// A page of metrics. Labels are routes, statuses and key names, which need no escaping.
#[derive(Default)]
struct MetricPage(String);

impl MetricPage {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }

    /// State of the accounts at model servers. Hosts come from URLs, which contain no quotes.
    fn accounts(&mut self, accounts: &[AccountStatus]) {
        type Gauge = (&'static str, &'static str, fn(&AccountStatus) -> Option<f64>);
        const GAUGES: [Gauge; 5] = [
            (
                "assize_model_requests_per_second_limit",
                "Calls a second that are sent at most because a model server refused some; absent without such a limit.",
                |account| account.requests_per_second,
            ),
            ("assize_model_concurrency_limit", "Calls that may be in flight to a model server.", |account| {
                Some(account.window.into())
            }),
            ("assize_model_calls_in_flight", "Calls in flight to a model server.", |account| {
                Some(account.in_flight.into())
            }),
            ("assize_model_calls_waiting", "Calls that wait to be sent to a model server.", |account| {
                Some(account.waiting.into())
            }),
            ("assize_model_paused", "1 while a model server is sent nothing or only probes.", |account| {
                Some(if account.is_paused { 1.0 } else { 0.0 })
            }),
        ];

        for (name, help, value) in GAUGES {
            self.head(name, "gauge", help);
            for account in accounts {
                if let Some(value) = value(account) {
                    self.line(
                        name,
                        &format!("server=\"{}\",account=\"{}\"", account.host, account.name),
                        value,
                    );
                }
            }
        }
    }
}

impl DurationHistogram {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
        for (bucket, limit) in self.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= limit);
        }
    }

    fn write(&self, page: &mut MetricPage) {
        const NAME: &str = "assize_request_duration_seconds";

        page.head(NAME, "histogram", "Time from the headers of a request to the headers of its reply.");
        for (count, limit) in self.buckets.iter().zip(BUCKETS) {
            page.line(&format!("{NAME}_bucket"), &format!("le=\"{limit}\""), count);
        }
        page.line(&format!("{NAME}_bucket"), "le=\"+Inf\"", self.count);
        page.line(&format!("{NAME}_sum"), "", self.seconds);
        page.line(&format!("{NAME}_count"), "", self.count);
    }
}
