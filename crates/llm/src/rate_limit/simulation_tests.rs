//! Whole runs against servers with known limits, in virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::allowance::{AllowanceKind, ServerAllowance};
use super::climb::AnswerTime;
use super::limiter::{RateLimiter, SendChance};
use super::window::ConcurrencyWindow;
use crate::token_counts::TokenCounts;

const MODEL: &str = "m";
/// A timer tick in microseconds: timers fire only on ticks.
const TICK: u64 = 1_000;

/// The pause that the server asks for when it refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AskedPause {
    None,
    Exact,
    WholeSeconds,
}

/// A server with a token bucket, or one that refuses at random.
#[derive(Debug, Clone, Copy)]
struct SimulatedServer {
    rate: f64,
    burst: f64,
    latency: f64,
    /// Time until a refusal comes back.
    refusal_latency: f64,
    asked: AskedPause,
    headers: bool,
    /// Share of the requests that are refused at any rate.
    random: f64,
    /// With more requests in flight than this, the server refuses.
    at_once: usize,
    seed: u64,
}

const SERVER: SimulatedServer = SimulatedServer {
    rate: 1e9,
    burst: 1e9,
    latency: 0.2,
    refusal_latency: 0.002,
    asked: AskedPause::None,
    headers: false,
    random: 0.0,
    at_once: usize::MAX,
    seed: 7,
};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SimulatedEvent {
    Answer { number: u64, sent_at: u64, request: usize },
    Refusal { number: u64, sent_at: u64, request: usize, asked: Option<u64> },
    Queue { request: usize },
    Wake,
}

/// What happened in a run.
#[derive(Debug)]
struct SimulatedRun {
    seconds: f64,
    calls: usize,
    refused: usize,
    peak: usize,
}

impl SimulatedRun {
    fn refused_share(&self) -> f64 {
        self.refused as f64 / (self.calls + self.refused) as f64
    }

    /// The share of the allowed rate that was used, compared with a client that knows the limit.
    fn use_of(&self, server: SimulatedServer) -> f64 {
        let best = (self.calls as f64 - server.burst).max(0.0) / server.rate + server.latency;
        best / self.seconds
    }
}

/// Tokens left at a simulated server.
struct TokenBucket {
    server: SimulatedServer,
    level: f64,
    /// Time of the level, in microseconds.
    at: u64,
}

impl TokenBucket {
    fn fill(&mut self, now: u64) {
        let gained = (now - self.at) as f64 / 1e6 * self.server.rate;
        self.level = (self.level + gained).min(self.server.burst);
        self.at = now;
    }

    /// The pause in seconds that a refusal asks for.
    fn asked_pause(&self) -> Option<f64> {
        let exact = (1.0 - self.level).max(0.0) / self.server.rate;
        match self.server.asked {
            AskedPause::None => None,
            AskedPause::Exact => Some(exact),
            AskedPause::WholeSeconds => Some(exact.ceil().max(1.0)),
        }
    }

    fn allowance(&self) -> ServerAllowance {
        ServerAllowance {
            kind: AllowanceKind::Requests,
            limit: Some(self.server.burst),
            remaining: self.level.floor(),
            reset: Duration::from_secs_f64((self.server.burst - self.level) / self.server.rate),
        }
    }
}

fn simulate(server: SimulatedServer, calls: usize, workers: u32, start: u32) -> SimulatedRun {
    let mut random = StdRng::seed_from_u64(server.seed);
    let mut limiter = RateLimiter::new(ConcurrencyWindow::new(start, 256), None, None);
    let mut events: BinaryHeap<Reverse<(u64, SimulatedEvent)>> = BinaryHeap::new();
    let mut queue: VecDeque<usize> = (0..(workers as usize).min(calls)).collect();
    let mut tries = vec![0i32; calls];
    let (mut begun, mut done, mut refused, mut in_flight, mut peak) = (queue.len(), 0, 0, 0usize, 0);
    let mut bucket = TokenBucket { server, level: server.burst, at: 0 };
    let (mut now, mut wake_at) = (0u64, 0u64);
    let micros = |seconds: f64| (seconds * 1e6) as u64;
    for _ in &queue {
        limiter.window.queue();
    }

    while done < calls {
        while !queue.is_empty() {
            match limiter.chance(Duration::from_micros(now), MODEL, None, 1.0) {
                SendChance::Now => {}
                SendChance::At(at) => {
                    let tick = (at.as_micros() as u64).div_ceil(TICK) * TICK;
                    let tick = tick.max(now + 1);
                    if wake_at <= now || tick < wake_at {
                        wake_at = tick;
                        events.push(Reverse((tick, SimulatedEvent::Wake)));
                    }
                    break;
                }
                _ => break,
            }

            let request = queue.pop_front().unwrap();
            limiter.window.unqueue();
            let number = limiter.send(Duration::from_micros(now), None, 1.0);
            bucket.fill(now);
            let is_refused =
                bucket.level < 1.0 || random.random_bool(server.random) || in_flight >= server.at_once;
            if is_refused {
                let asked = bucket.asked_pause().map(micros);
                let event = SimulatedEvent::Refusal { number, sent_at: now, request, asked };
                events.push(Reverse((now + micros(server.refusal_latency), event)));
            } else {
                bucket.level -= 1.0;
                in_flight += 1;
                peak = peak.max(in_flight);
                let event = SimulatedEvent::Answer { number, sent_at: now, request };
                events.push(Reverse((now + micros(server.latency), event)));
            }
        }

        let Reverse((at, event)) = events.pop().unwrap();
        now = at;
        if server.headers {
            bucket.fill(now);
            limiter.update_allowance(bucket.allowance());
        }

        let time = Duration::from_micros(now);
        match event {
            SimulatedEvent::Answer { number, sent_at, .. } => {
                done += 1;
                in_flight -= 1;
                limiter.note_end(time);
                limiter.answered(
                    number,
                    MODEL,
                    AnswerTime {
                        latency: time.checked_sub(Duration::from_micros(sent_at)).unwrap(),
                        limit: Duration::from_mins(3),
                        load: 256,
                    },
                    TokenCounts::default(),
                );
                limiter.window.leave();
                if begun < calls {
                    queue.push_back(begun);
                    limiter.window.queue();
                    begun += 1;
                }
            }
            SimulatedEvent::Refusal { number, sent_at, request, asked } => {
                refused += 1;
                tries[request] += 1;
                limiter.limited(
                    number,
                    Duration::from_micros(sent_at),
                    time,
                    asked.map(Duration::from_micros),
                    None,
                );
                limiter.window.leave();
                let range = asked
                    .map_or(0.5 * 2f64.powi((tries[request] - 1).min(6)), |asked| asked as f64 / 8e6 + 0.05);
                let wait = asked.unwrap_or(0) + micros(random.random::<f64>() * range);
                events.push(Reverse((now + wait, SimulatedEvent::Queue { request })));
            }
            SimulatedEvent::Queue { request } => {
                queue.push_back(request);
                limiter.window.queue();
            }
            SimulatedEvent::Wake => {}
        }
    }

    SimulatedRun { seconds: now as f64 / 1e6, calls, refused, peak }
}

#[test]
fn a_rate_is_found_and_used() {
    let buckets = [
        SimulatedServer { rate: 100.0, burst: 100.0, ..SERVER },
        SimulatedServer { rate: 10.0, burst: 10.0, latency: 0.8, ..SERVER },
        SimulatedServer { rate: 10.0, burst: 100.0, latency: 0.8, ..SERVER },
    ];
    let mut problems = Vec::new();
    for bucket in buckets {
        for asked in [AskedPause::None, AskedPause::Exact, AskedPause::WholeSeconds] {
            for headers in [false, true] {
                for (workers, start) in [(100, 100), (256, 32), (30, 30), (21, 21)] {
                    let server = SimulatedServer { asked, headers, ..bucket };
                    let run = simulate(server, 2_000, workers, start);
                    let text = format!(
                        "{} burst {} {asked:?} {headers} {workers}: {:.3} of the rate, {:.2} % refused, {:.1} s",
                        server.rate,
                        server.burst,
                        run.use_of(server),
                        100.0 * run.refused_share(),
                        run.seconds
                    );
                    if run.use_of(server) < 0.95 || run.refused_share() > 0.03 {
                        problems.push(text);
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn refusals_at_random_delay_those_requests_only() {
    for (latency, limit) in [(0.01, 6.0), (0.2, 9.0)] {
        let server = SimulatedServer { latency, random: 0.05, asked: AskedPause::WholeSeconds, ..SERVER };
        let run = simulate(server, 1_000, 100, 100);
        assert!(run.seconds < limit, "{run:?}");
        let server = SimulatedServer { random: 0.1, ..server };
        let run = simulate(server, 3_000, 100, 100);
        assert!(run.seconds < 2.0 * limit, "{run:?}");
    }
}

/// Of a thousand calls, two or three are refused twice, and each of these waits for at least two seconds.
#[test]
fn refusals_at_random_are_not_taken_for_a_limit_of_the_rate() {
    for (workers, start, mean, most) in [(100, 100, 4.4, 6.0), (256, 32, 3.5, 4.5)] {
        let seconds: Vec<f64> = (0..40)
            .map(|seed| {
                let server =
                    SimulatedServer { seed, random: 0.05, asked: AskedPause::WholeSeconds, ..SERVER };
                simulate(server, 1_000, workers, start).seconds
            })
            .collect();
        let worst = seconds.iter().copied().fold(0.0, f64::max);
        let found = seconds.iter().sum::<f64>() / seconds.len() as f64;
        assert!(found < mean && worst < most, "{workers} workers: {found} on average, {worst} at most");
    }
}

#[test]
fn a_limit_of_requests_in_flight_is_found() {
    for at_once in [5, 20, 60] {
        let server = SimulatedServer { at_once, ..SERVER };
        let run = simulate(server, 2_000, 256, 32);
        let best = 2_000.0 / at_once as f64 * server.latency;
        assert!(run.seconds < best * 1.8, "{at_once}: {best} {run:?}");
        assert!(run.refused_share() < 0.1, "{at_once}: {run:?}");
    }
}

#[test]
fn a_server_without_limits_is_loaded_as_wished_after_one_answer() {
    let run = simulate(SERVER, 1_000, 100, 100);
    assert!(run.seconds < 2.4 && run.peak == 100, "{run:?}");
}
