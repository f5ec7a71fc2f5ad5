//! Detects from the latency of answers that requests queue inside a server.
//!
//! A server at its limit often refuses nothing and takes longer for each request. Sending it more requests is no faster
//! and ends in timeouts. So the mean latency of a batch of answers is compared with the lowest such mean so far (a
//! gradient in the manner of TCP Vegas and Netflix's concurrency limits).
//!
//! The latency of a model varies far more than the latency of a network. Three rules deal with that: means of whole
//! batches are compared, not single answers; each latency is divided by the length of the reply; and the effect of each
//! cut is checked. If the latency is no lower with fewer requests in flight, their number was not the cause: the window
//! is restored, and the longer latency is expected from then on.

use std::time::Duration;

/// The fewest answers in a batch.
const MIN_BATCH_ANSWERS: u32 = 16;
/// Requests count as queued in the server if the mean latency is this many times the lowest one, and at least this many
/// seconds above it.
const LATENCY_TOLERANCE: f64 = 2.0;
const MIN_EXCESS_SECONDS: f64 = 0.1;
/// A cut did not help if the latency is still more than [`MAX_HELPED_LATENCY`] times the old one after the load has
/// fallen to [`REDUCED_LOAD`] times the old one.
const MAX_HELPED_LATENCY: f64 = 0.8;
const REDUCED_LOAD: f64 = 0.85;
/// Writing this many tokens takes about as long as everything before the first one.
const TOKENS_PER_LATENCY_UNIT: f64 = 256.0;

/// The length of an answer of `tokens` tokens, in units that take equally long.
pub(super) fn length_of(tokens: u64) -> f64 {
    1.0 + tokens as f64 / TOKENS_PER_LATENCY_UNIT
}

/// The current batch of answers, and the results of earlier ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LatencyGradient {
    latencies: f64,
    /// Sums over the batch: latency in seconds per unit of length, and requests in flight.
    loads: f64,
    answers: u32,
    /// The latency of the first answer, the lowest mean latency so far, or the latency that is expected after a cut
    /// that did not help.
    lowest: Option<f64>,
    /// The last cut, until its effect is known.
    cut: Option<LatencyCut>,
}

/// State before a cut: mean latency, mean requests in flight, and the size of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LatencyCut {
    latency: f64,
    load: f64,
    size: u32,
}

impl LatencyGradient {
    /// Records the latency of an answer of `tokens` tokens, with `in_flight` requests in flight and a window of `size`.
    /// Returns a new size for the window if the current one is wrong.
    pub(super) fn note(&mut self, latency: Duration, tokens: u64, in_flight: u32, size: u32) -> Option<u32> {
        let latency = latency.as_secs_f64() / length_of(tokens);
        // The first answer is the only one whose request was alone.
        self.lowest.get_or_insert(latency);
        self.latencies += latency;
        self.loads += f64::from(in_flight);
        self.answers += 1;
        if self.answers < MIN_BATCH_ANSWERS.max(in_flight / 2) {
            return None;
        }

        let count = f64::from(self.answers);
        let (latency, load) = (self.latencies / count, self.loads / count);
        self.begin_batch();

        if let Some(cut) = self.cut {
            if load > REDUCED_LOAD * cut.load {
                return None;
            }

            self.cut = None;
            if latency > MAX_HELPED_LATENCY * cut.latency {
                self.lowest = Some(latency);
                return Some(cut.size);
            }
        }

        let lowest = self.lowest.unwrap_or(latency);
        let limit = (LATENCY_TOLERANCE * lowest).max(lowest + MIN_EXCESS_SECONDS);
        if latency > limit && load > 1.0 {
            self.cut = Some(LatencyCut { latency, load, size });
            return Some(((load * (limit / latency).max(0.5)) as u32).clamp(1, size));
        }

        self.lowest = Some(lowest.min(latency));
        None
    }

    /// Drops the answers of the present batch.
    pub(super) fn begin_batch(&mut self) {
        (self.latencies, self.loads, self.answers) = (0.0, 0.0, 0);
    }
}
