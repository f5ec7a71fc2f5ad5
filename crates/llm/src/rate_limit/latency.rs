//! Latency of answers as a sign of requests that wait inside a server.
//!
//! A server that can't do more at once takes longer for each instead of refusing some. The mean latency of a batch of
//! answers is held against the lowest such mean (a gradient in the manner of TCP Vegas and Netflix's concurrency limits).
//! Latencies of models vary with what they write, so they are divided by that; and where fewer requests do not shorten them,
//! it was not their number.

use std::time::Duration;

/// Answers of a batch at least.
const BATCH: u32 = 16;
/// Mean latency against the lowest from which requests are taken to wait in the server, and by how much it has to be longer
/// than that in any case, in seconds.
const TOLERANCE: f64 = 2.0;
const MARGIN: f64 = 0.1;
/// A cut that leaves more than this share of the latency was no help, once no more than that share of the load is left.
const NO_HELP: f64 = 0.8;
const LESS_LOAD: f64 = 0.85;
/// Tokens of a reply that take about as long as everything before the first.
const TOKENS: f64 = 256.0;

/// Latencies of late, and those to expect.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LatencyGradient {
    latencies: f64,
    loads: f64,
    answers: u32,
    lowest: Option<f64>,
    /// The last cut, until its effect is known.
    cut: Option<LatencyCut>,
}

/// State before a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LatencyCut {
    latency: f64,
    load: f64,
    size: u32,
}

impl LatencyGradient {
    /// Takes the latency of an answer with so many tokens, while so many requests were in flight. Returns another size of the
    /// window if the present one is not right.
    pub(super) fn note(&mut self, latency: Duration, tokens: u64, in_flight: u32, size: u32) -> Option<u32> {
        self.latencies += latency.as_secs_f64() / (1.0 + tokens as f64 / TOKENS);
        self.loads += f64::from(in_flight);
        self.answers += 1;
        if self.answers < BATCH.max(in_flight / 2) {
            return None;
        }

        let count = f64::from(self.answers);
        let (latency, load) = (self.latencies / count, self.loads / count);
        self.begin_batch();

        if let Some(cut) = self.cut {
            if load > LESS_LOAD * cut.load {
                return None;
            }

            self.cut = None;
            if latency > NO_HELP * cut.latency {
                self.lowest = Some(latency);
                return Some(cut.size);
            }
        }

        let lowest = self.lowest.unwrap_or(latency);
        let limit = (TOLERANCE * lowest).max(lowest + MARGIN);
        if latency > limit && load > 1.0 {
            self.cut = Some(LatencyCut { latency, load, size });
            return Some(((load * (limit / latency).max(0.5)) as u32).clamp(1, size));
        }

        self.lowest = Some(lowest.min(latency));
        None
    }

    /// Forgets the answers of the present batch.
    pub(super) fn begin_batch(&mut self) {
        (self.latencies, self.loads, self.answers) = (0.0, 0.0, 0);
    }
}
