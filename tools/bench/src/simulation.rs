//! Simulates a run on many machines: a thousand workers and a billion calls, as discrete events from a seed.
//!
//! The costs of a call, a unit or a request for servers and coordinator were measured with real ones (`cluster`
//! measures them again); assumptions are marked in their own table. The simulation adds effects that can't be measured
//! on one machine: queues at shared servers, and a slow zone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_core::{RngCore, SeedableRng};

use super::table::FigureTable;

/// Microseconds.
type Time = u64;

const SECOND: Time = 1_000_000;
/// Time between two requests of a worker to the coordinator, and the step in which its calls are counted.
const BEAT: Time = SECOND;
/// Time between two extensions of a lease of 30 s.
const EXTEND: Time = 10 * SECOND;
/// Messages per call that servers receive and send: its reply is looked up and stored, each with an answer.
const CALL_MESSAGES: f64 = 4.0;
/// Messages per unit: it is published and leased, its result is looked for, stored in pieces and fetched, and
/// the job is read.
const UNIT_MESSAGES: f64 = 30.0;
/// Seconds of one server processor for a call whose reply is shared: the difference between shared and unshared replies
/// in the published table of costs, with 40 units. Among the published loads, this one has busy servers, like the
/// servers of a large number of workers.
const CALL_COST: f64 = 52e-6;
/// The same from the published table of eight workers, whose servers have little to do; it includes their work between
/// calls.
const CALL_COST_AT_LOW_LOAD: f64 = 245e-6;
/// Messages per lease extension, which also reads the job.
const EXTEND_MESSAGES: f64 = 4.0;
/// Messages per request to the coordinator.
const ASK_MESSAGES: f64 = 4.0;
/// Time until another worker replaces one that died.
const REPLACE: Time = 5 * SECOND;
/// Maximum number of units of a job (`ShardNumber::MAX`); units of a larger job have more calls than requested.
const MOST_UNITS: u64 = 100_000;
/// Processors of the message servers.
const SERVER_PROCESSORS: f64 = 8.0;

/// What to simulate.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    workers: usize,
    calls: u64,
    /// Calls per unit.
    unit: u64,
    /// Calls in flight per worker.
    in_flight: f64,
    /// Duration of a call in seconds.
    latency: f64,
    /// Share of the workers in the slow zone, and the factor on the duration of their calls.
    slow: (f64, f64),
    /// Calls per second that the provider allows.
    provider: f64,
    /// Seconds that a worker needs to start a unit.
    beginning: f64,
    /// Seconds per message of the message servers, over all their processors.
    message: f64,
    /// Seconds of the coordinator per answer, and per fetched result.
    answer: f64,
    fetch: f64,
    /// Seconds of the coordinator to merge the row of a call, after all units.
    merge: f64,
    /// True if each call is looked up and stored on the servers.
    shares_replies: bool,
    /// Number of worker deaths per hour, as one in this many.
    deaths: f64,
}

/// Result of a simulation.
#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    seconds: f64,
    calls: u64,
    died: u64,
    repeated: u64,
    messages: f64,
    extensions: u64,
    asks: u64,
    /// Maximum number of queued units without a worker, after the first second.
    queued: u64,
    /// Longest wait for the servers and for the coordinator, in seconds.
    server_wait: f64,
    coordinator_wait: f64,
    /// Share of the time that they were busy.
    server_load: f64,
    coordinator_load: f64,
    /// Seconds after the first worker ran out of work.
    tail: f64,
}

/// A server that does one thing after another.
#[derive(Default)]
struct Station {
    free_at: Time,
    busy: f64,
    longest: Time,
}

impl Station {
    /// Does something that takes this many seconds; returns when it is done.
    fn serve(&mut self, now: Time, seconds: f64) -> Time {
        let begin = self.free_at.max(now);
        self.longest = self.longest.max(begin - now);
        self.busy += seconds;
        self.free_at = begin + (seconds * SECOND as f64) as Time;
        self.free_at
    }
}

#[derive(Clone, Copy)]
struct Worker {
    /// Calls left of its unit; `None` between units.
    left: Option<u64>,
    /// Calls of its unit when it was leased.
    unit: u64,
    /// Time up to which it is known to be alive.
    alive: Time,
    slowness: f64,
    extended: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A worker leases a unit, or finds none.
    Take(usize),
    /// A worker has worked for another second.
    Beat(usize),
    /// A unit of a dead worker is handed out again.
    Return(u64),
}

struct Simulation {
    cluster: Cluster,
    random: seeded::Seeded,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    workers: Vec<Worker>,
    units: u64,
    /// Remaining calls of units that were returned.
    returned: Vec<u64>,
    open: u64,
    servers: Station,
    coordinator: Station,
    /// Calls that the provider still allows, and when that was computed.
    allowance: (f64, Time),
    first_idle: Option<Time>,
    outcome: Outcome,
}

impl Simulation {
    fn new(cluster: Cluster, seed: u64) -> Self {
        let slow = (cluster.slow.0 * cluster.workers as f64) as usize;
        let workers = (0..cluster.workers)
            .map(|at| Worker {
                left: None,
                unit: 0,
                alive: 0,
                slowness: if at < slow { cluster.slow.1 } else { 1.0 },
                extended: 0,
            })
            .collect();
        let units = cluster.calls.div_ceil(cluster.unit);
        Self {
            cluster,
            random: seeded::Seeded::seed_from_u64(seed),
            events: (0..cluster.workers).map(|at| Reverse((at as Time * 1_000, Event::Take(at)))).collect(),
            workers,
            units,
            returned: Vec::new(),
            open: units,
            servers: Station::default(),
            coordinator: Station::default(),
            allowance: (0.0, 0),
            first_idle: None,
            outcome: Outcome::default(),
        }
    }

    fn run(mut self) -> Outcome {
        let mut now = 0;
        while self.open > 0 {
            let Some(Reverse((at, event))) = self.events.pop() else { break };
            now = at;
            match event {
                Event::Take(worker) => self.take(worker, now),
                Event::Beat(worker) => self.beat(worker, now),
                Event::Return(calls) => self.returned.push(calls),
            }
        }

        let seconds = now as f64 / SECOND as f64;
        self.outcome.seconds = seconds;
        self.outcome.server_load = self.servers.busy / seconds;
        self.outcome.coordinator_load = self.coordinator.busy / seconds;
        self.outcome.server_wait = self.servers.longest as f64 / SECOND as f64;
        self.outcome.coordinator_wait = self.coordinator.longest as f64 / SECOND as f64;
        self.outcome.tail = self.first_idle.map_or(0.0, |idle| (now - idle) as f64 / SECOND as f64);
        self.outcome
    }

    fn take(&mut self, worker: usize, now: Time) {
        let calls = self.returned.pop().or_else(|| {
            self.units = self.units.checked_sub(1)?;
            Some(self.cluster.unit)
        });
        let Some(calls) = calls else {
            self.first_idle.get_or_insert(now);
            // A worker that dies without work costs nothing.
            self.workers[worker].alive = now;
            self.events.push(Reverse((now + 2 * SECOND, Event::Take(worker))));
            return;
        };
        let sent = self.messages(now, UNIT_MESSAGES);
        let begun = sent + (self.cluster.beginning * SECOND as f64) as Time;
        let taker = &mut self.workers[worker];
        (taker.left, taker.unit, taker.extended) = (Some(calls), calls, begun);
        if now >= SECOND {
            self.outcome.queued = self.outcome.queued.max(self.units + self.returned.len() as u64);
        }
        self.events.push(Reverse((begun + BEAT, Event::Beat(worker))));
    }

    fn beat(&mut self, worker: usize, now: Time) {
        let Worker { left, unit, slowness, extended, alive } = self.workers[worker];
        let Some(left) = left else { return };
        // Counts the whole time since the last check: a worker that waits for servers may die too.
        let hours = now.saturating_sub(alive) as f64 / SECOND as f64 / 3_600.0;
        self.workers[worker].alive = now;
        if self.chance(-(-self.cluster.deaths * hours).exp_m1()) {
            self.die(worker, unit, left, now);
            return;
        }

        // The coordinator grants a part of the rate for the next second.
        self.messages(now, ASK_MESSAGES);
        let answered = self.coordinator.serve(now, self.cluster.answer);
        self.outcome.asks += 1;
        let able = self.cluster.in_flight / (self.cluster.latency * slowness);
        let made = self.lend(now, able).min(left as f64).max(0.0);
        let mut done = answered;
        if self.cluster.shares_replies {
            done = done.max(self.messages(now, made * CALL_MESSAGES));
        }
        if now >= extended + EXTEND {
            self.outcome.extensions += 1;
            self.workers[worker].extended = now;
            done = done.max(self.messages(now, EXTEND_MESSAGES));
        }

        let made = made.round() as u64;
        self.outcome.calls += made;
        if made >= left {
            // A last round of calls; half of them are slower than the mean.
            let tail = (1.5 * self.cluster.latency * slowness * SECOND as f64) as Time;
            self.workers[worker].left = None;
            self.coordinator.serve(now, self.cluster.fetch);
            self.open -= 1;
            self.events.push(Reverse((done + tail, Event::Take(worker))));
        } else {
            self.workers[worker].left = Some(left - made);
            // Replies that wait for the servers delay those that come after.
            self.events.push(Reverse((done.max(now + BEAT), Event::Beat(worker))));
        }
    }

    /// Another worker replaces a dead one, and its unit is handed out again. Calls in flight are paid for
    /// again; without shared replies, so are the finished calls of the unit.
    fn die(&mut self, worker: usize, unit: u64, left: u64, now: Time) {
        let in_flight = (self.cluster.in_flight as u64).min(left);
        let (again, rest) =
            if self.cluster.shares_replies { (in_flight, left) } else { (unit - left + in_flight, unit) };
        self.outcome.died += 1;
        self.outcome.repeated += again;

        self.workers[worker].left = None;
        self.workers[worker].alive = now + REPLACE;
        self.events.push(Reverse((now + 3 * EXTEND, Event::Return(rest))));
        self.events.push(Reverse((now + REPLACE, Event::Take(worker))));
    }

    fn messages(&mut self, now: Time, count: f64) -> Time {
        self.outcome.messages += count;
        self.servers.serve(now, count * self.cluster.message)
    }

    fn lend(&mut self, now: Time, wanted: f64) -> f64 {
        let (level, at) = self.allowance;
        let passed = now.saturating_sub(at) as f64 / SECOND as f64;
        let level = (level + passed * self.cluster.provider).min(self.cluster.provider);
        // No worker gets more than a fair share of the rate, or somewhat more if others need none.
        let fair = self.cluster.provider * 1.25 / self.cluster.workers as f64;
        let lent = wanted.min(level).min(fair.max(level / 8.0));
        self.allowance = (level - lent, at.max(now));
        lent
    }

    fn chance(&mut self, share: f64) -> bool {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
    }
}

/// Random numbers from a seed.
mod seeded {
    use rand_core::{RngCore, SeedableRng};

    /// SplitMix64.
    pub(super) struct Seeded(u64);

    impl SeedableRng for Seeded {
        type Seed = [u8; 8];

        fn from_seed(seed: [u8; 8]) -> Self {
            Self(u64::from_le_bytes(seed))
        }
    }

    impl RngCore for Seeded {
        fn next_u32(&mut self) -> u32 {
            (self.next_u64() >> 32) as u32
        }

        fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }

        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            for chunk in bytes.chunks_mut(8) {
                let drawn = self.next_u64().to_le_bytes();
                chunk.copy_from_slice(&drawn[..chunk.len()]);
            }
        }
    }
}

/// A thousand workers, a billion calls, and a provider that allows 100,000 calls a second.
const LARGE: Cluster = Cluster {
    workers: 1_000,
    calls: 1_000_000_000,
    unit: 20_000,
    in_flight: 256.0,
    latency: 1.0,
    slow: (0.0, 1.0),
    provider: 100_000.0,
    beginning: 0.2,
    // All processors share the work.
    message: CALL_COST / CALL_MESSAGES / SERVER_PROCESSORS,
    answer: 145e-6,
    // 40 units instead of 4 cost the coordinator 310 ms more.
    fetch: 8.6e-3,
    merge: 30e-6,
    shares_replies: true,
    deaths: 0.1,
};

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

impl Cluster {
    /// The cluster with units of this many calls, or larger ones if that would be too many units.
    fn in_units_of(self, calls: u64) -> Self {
        Self { unit: calls.max(self.calls.div_ceil(MOST_UNITS)), ..self }
    }
}

/// Constants of the simulation, each with its source.
pub(super) fn constants() -> FigureTable {
    let table = "table of costs: 10 000 calls in 4 and 40 units";
    let apart = "measured apart, one coordinator on one machine";
    let assumed = "assumed";
    let product = "as the product does by default";
    let millis = |seconds: f64| format!("{} ms", (seconds * 1e6).round() / 1e3);
    let rows = [
        ("messages of a call whose reply is shared", format!("{CALL_MESSAGES}"), table),
        ("messages of a unit", format!("{UNIT_MESSAGES}"), table),
        (
            "messages of an extension, of a request about limits",
            format!("{EXTEND_MESSAGES}, {ASK_MESSAGES}"),
            "counted in the code",
        ),
        ("processor time of a server for a call", millis(CALL_COST), table),
        ("every message costs as much as one of a call", millis(CALL_COST / CALL_MESSAGES), assumed),
        ("processors of the servers, which share the work evenly", format!("{SERVER_PROCESSORS}"), assumed),
        ("processor time of the coordinator for a request about limits", millis(LARGE.answer), apart),
        ("for a unit", millis(LARGE.fetch), table),
        ("for merging a row", millis(LARGE.merge), apart),
        ("lists of results that the coordinator reads", "no cost".to_owned(), assumed),
        ("time between two requests about limits, between two extensions", "1 s, 10 s".to_owned(), product),
        ("units of a job, at most", MOST_UNITS.to_string(), product),
        ("time of a worker to begin a unit", millis(LARGE.beginning), assumed),
        (
            "calls in flight of a worker, time of a call",
            format!("{}, {} s", LARGE.in_flight, LARGE.latency),
            assumed,
        ),
        ("calls a second that the provider allows", LARGE.provider.to_string(), assumed),
        (
            "workers that die in an hour, time until another one takes the place",
            format!("{}, {} s", percent(LARGE.deaths), REPLACE / SECOND),
            assumed,
        ),
        ("networks", "no delay, no limit".to_owned(), assumed),
    ];

    let mut table = FigureTable::new("Constants", &["what", "value", "from"]);
    for (what, value, from) in &rows {
        table.row([what, value, from]);
    }

    table
}

/// Simulates several clusters with the same seed.
pub(super) fn table(quick: bool, seed: u64) -> FigureTable {
    let calls = if quick { 20_000_000 } else { LARGE.calls };
    let base = Cluster { calls, ..LARGE };
    let slow = (0.33, 10.0);
    let alone = Cluster { shares_replies: false, ..base };
    let free = Cluster { provider: 1e9, ..alone };
    let variants = [
        ("replies shared", base),
        (
            "replies shared, 0.245 ms of a server for a call, as at low load",
            Cluster { message: base.message * CALL_COST_AT_LOW_LOAD / CALL_COST, ..base },
        ),
        ("replies not shared", alone),
        ("replies not shared, a third of the workers ten times slower", Cluster { slow, ..alone }),
        ("replies not shared, no limit of the provider", free),
        ("the same in the smallest units that a job of so many calls may have", free.in_units_of(500)),
        ("replies not shared, no limit, a third of the workers ten times slower", Cluster { slow, ..free }),
    ];

    let title = format!("{} workers, {calls} calls, seed {seed}", base.workers);
    let columns = [
        "cluster", "calls of a unit", "hours", "calls/s", "units queued at most", "messages/s",
        "servers busy", "longest wait", "asks/s", "coordinator busy", "its longest wait",
        "lease extensions/s", "workers died", "paid again", "tail", "merging",
    ];
    let mut table = FigureTable::new(&title, &columns);
    for (name, cluster) in variants {
        let outcome = Simulation::new(cluster, seed).run();
        let per_second = |count: f64| format!("{:.0}", count / outcome.seconds);
        let cells = [
            name.to_owned(),
            cluster.unit.to_string(),
            format!("{:.2}", outcome.seconds / 3_600.0),
            per_second(outcome.calls as f64),
            outcome.queued.to_string(),
            per_second(outcome.messages),
            percent(outcome.server_load),
            format!("{:.2} s", outcome.server_wait),
            per_second(outcome.asks as f64),
            percent(outcome.coordinator_load),
            format!("{:.2} s", outcome.coordinator_wait),
            format!("{:.1}", outcome.extensions as f64 / outcome.seconds),
            outcome.died.to_string(),
            outcome.repeated.to_string(),
            format!("{:.0} s", outcome.tail),
            format!("{:.2} h", cluster.calls as f64 * cluster.merge / 3_600.0),
        ];
        table.row(std::array::from_fn::<&str, 16, _>(|at| cells[at].as_str()));
    }

    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_die_as_often_while_they_wait_for_servers() {
        let base = Cluster { calls: 200_000_000, deaths: 2.0, ..LARGE };
        // Servers a fifth as fast as needed.
        let slow = Cluster { message: LARGE.message * 5.0, ..base };
        for cluster in [base, slow] {
            let outcome = Simulation::new(cluster, 1).run();
            let expected = cluster.deaths * cluster.workers as f64 * outcome.seconds / 3_600.0;
            let spread = 5.0 * expected.sqrt();
            // At the beginning and at the end, some workers have no work.
            assert!(outcome.died as f64 > 0.8 * expected - spread, "{outcome:?}, expected {expected}");
            assert!((outcome.died as f64) < expected + spread, "{outcome:?}, expected {expected}");
        }
    }

    #[test]
    fn what_was_done_of_a_unit_is_paid_again_only_where_replies_are_not_shared() {
        let shared = Cluster { calls: 200_000_000, deaths: 2.0, ..LARGE };
        let [shared, alone] = [shared, Cluster { shares_replies: false, ..shared }]
            .map(|cluster| Simulation::new(cluster, 1).run());
        assert!(shared.repeated <= shared.died * LARGE.in_flight as u64, "{shared:?}");
        assert!(alone.repeated > 4 * alone.died * LARGE.in_flight as u64, "{alone:?}");
        assert_eq!(shared.calls, 200_000_000);
        assert!(alone.calls >= 200_000_000 + alone.repeated / 2, "{alone:?}");
    }

    #[test]
    fn no_job_has_more_units_than_the_product_allows() {
        let cluster = LARGE.in_units_of(500);
        assert_eq!((cluster.unit, cluster.calls.div_ceil(cluster.unit)), (10_000, MOST_UNITS));
        assert_eq!(Cluster { calls: 1_000_000, ..LARGE }.in_units_of(500).unit, 500);
    }
}
