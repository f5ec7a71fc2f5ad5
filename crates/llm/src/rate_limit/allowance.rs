//! Remaining allowances that servers report in headers: `x-ratelimit-*`, as OpenAI and others write it, and
//! `anthropic-ratelimit-*`.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use crate::clock::Clock;
use crate::retry_after::{clock_of, moment, text};
use crate::shared_limits::ReportedAllowance;

/// Kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowanceKind {
    Requests,
    Tokens,
}

/// One limit as an answer reports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ServerAllowance {
    pub(super) kind: AllowanceKind,
    /// The whole allowance, if it is reported.
    pub(super) limit: Option<f64>,
    /// Remaining amount, 0 or more.
    pub(super) remaining: f64,
    /// Time until it is full again.
    pub(super) reset: Duration,
}

/// Kind, and the headers of the limit, the remaining amount and the reset.
const HEADERS: [(AllowanceKind, &str, &str, &str); 7] = [
    (
        AllowanceKind::Requests,
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ),
    (
        AllowanceKind::Tokens,
        "x-ratelimit-limit-tokens",
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
    ),
    (AllowanceKind::Requests, "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
    (
        AllowanceKind::Requests,
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ),
    (
        AllowanceKind::Tokens,
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ),
    (
        AllowanceKind::Tokens,
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ),
    (
        AllowanceKind::Tokens,
        "anthropic-ratelimit-output-tokens-limit",
        "anthropic-ratelimit-output-tokens-remaining",
        "anthropic-ratelimit-output-tokens-reset",
    ),
];

/// The allowances that an answer reports: for each kind, the one with the smallest share left. Values that make no
/// sense, such as a negative remaining amount, are ignored.
pub(crate) fn allowances(
    headers: &HeaderMap,
    now: impl Fn() -> SystemTime,
) -> impl Iterator<Item = ServerAllowance> {
    let mut tightest: [Option<ServerAllowance>; 2] = [None, None];

    // Most servers send none of these headers, so this check is usually the only cost.
    if headers.keys().any(|name| name.as_str().contains("ratelimit")) {
        let now = clock_of(headers, now);
        for (kind, limit, remaining, reset) in HEADERS {
            let count = |name| text(headers, name)?.parse::<f64>().ok().filter(|count| *count >= 0.0);
            let (Some(remaining), Some(reset)) =
                (count(remaining), text(headers, reset).and_then(|reset| moment(reset, &now)))
            else {
                continue;
            };
            let allowance = ServerAllowance { kind, limit: count(limit), remaining, reset };
            let slot = &mut tightest[usize::from(kind == AllowanceKind::Tokens)];
            if slot.is_none_or(|tightest| allowance.share() < tightest.share()) {
                *slot = Some(allowance);
            }
        }
    }

    tightest.into_iter().flatten()
}

/// The allowances that an answer reports with their limit, for other processes.
pub(crate) fn reported(headers: &HeaderMap, clock: &dyn Clock) -> impl Iterator<Item = ReportedAllowance> {
    allowances(headers, || clock.now()).filter_map(|ServerAllowance { kind, limit, remaining, reset }| {
        Some(ReportedAllowance { tokens: kind == AllowanceKind::Tokens, limit: limit?, remaining, reset })
    })
}

impl ServerAllowance {
    fn share(&self) -> f64 {
        self.remaining / self.limit.filter(|limit| *limit > 0.0).unwrap_or(f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(headers: &[(&'static str, &'static str)]) -> Vec<ServerAllowance> {
        let map = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        // Sun, 06 Nov 1994 08:49:30 GMT.
        allowances(&map, || SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770)).collect()
    }

    #[test]
    fn openai_and_anthropic_are_read() {
        let openai = read(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-limit-tokens", "30000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1m0s"),
        ]);
        let expected = [
            (AllowanceKind::Requests, Some(500.0), 499.0, Duration::from_millis(120)),
            (AllowanceKind::Tokens, Some(30_000.0), 0.0, Duration::from_mins(1)),
        ]
        .map(|(kind, limit, remaining, reset)| ServerAllowance { kind, limit, remaining, reset });
        assert_eq!(openai, expected);
        let anthropic = read(&[
            ("anthropic-ratelimit-input-tokens-limit", "1000"),
            ("anthropic-ratelimit-input-tokens-remaining", "900"),
            ("anthropic-ratelimit-input-tokens-reset", "1994-11-06T08:49:36Z"),
            ("anthropic-ratelimit-output-tokens-limit", "100"),
            ("anthropic-ratelimit-output-tokens-remaining", "10"),
            ("anthropic-ratelimit-output-tokens-reset", "1994-11-06T08:49:34Z"),
        ]);
        assert_eq!(anthropic.len(), 1, "the scarcest of a kind");
        assert_eq!((anthropic[0].remaining, anthropic[0].reset), (10.0, Duration::from_secs(4)));
    }

    #[test]
    fn nonsense_and_half_a_word_are_left_out() {
        assert!(read(&[]).is_empty());
        for (remaining, reset) in [("-1", "1s"), ("x", "1s"), ("0", "soon"), ("NaN", "1s")] {
            let headers =
                [("x-ratelimit-remaining-requests", remaining), ("x-ratelimit-reset-requests", reset)];
            assert!(read(&headers).is_empty(), "{remaining} {reset}");
        }
        assert!(read(&[("x-ratelimit-remaining-requests", "0")]).is_empty());
    }
}
