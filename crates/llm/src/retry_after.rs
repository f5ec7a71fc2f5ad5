//! Pauses that servers ask for.
//!
//! A plain request for a pause is `retry-after-ms`, or `retry-after` in seconds or as a date. Servers that
//! limit requests may instead report when an allowance is full again: `x-ratelimit-reset-*` as OpenAI and
//! others write it, `ratelimit-reset`, or `anthropic-ratelimit-*-reset`.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The longest wait derived from a reset. An allowance is full at its reset, but a request may pass long before. A
/// plain `retry-after` has no such limit.
const LONGEST_RESET: Duration = Duration::from_mins(1);

/// Headers with the time of a reset, each with the header for the rest of the same allowance.
const RESETS: [(&str, &str); 10] = [
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("x-ratelimit-reset-requests-day", "x-ratelimit-remaining-requests-day"),
    ("x-ratelimit-reset-tokens-minute", "x-ratelimit-remaining-tokens-minute"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
];

/// Reads the wait from an answer's headers; `None` if there is none or it makes no sense.
///
/// A date is compared with the answer's own `date` header, so that a wrong clock on this machine does not
/// matter; `now` is used if that header is missing. A date in the past is a wait of zero. Resets are read only
/// if the server limits requests, because good answers have them as well.
pub(crate) fn read(status: u16, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let now = clock_of(headers, || now);
    wish(headers, &now).or_else(|| if status == 429 { reset(headers, &now) } else { None })
}

/// The time by the server's own clock, so that a wrong one on this machine does not matter; `now` is used if
/// the answer has no date.
pub(crate) fn clock_of(headers: &HeaderMap, now: impl Fn() -> SystemTime) -> impl Fn() -> SystemTime {
    move || text(headers, "date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(&now)
}

fn wish(headers: &HeaderMap, now: &dyn Fn() -> SystemTime) -> Option<Duration> {
    if let Some(ms) = text(headers, "retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }

    let value = text(headers, "retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }

    Some(until(httpdate::parse_http_date(value).ok()?, now))
}

/// The longest time to a reset whose allowance is used up. If none is, the shortest of all: the request may have been
/// larger than the rest of one of them.
fn reset(headers: &HeaderMap, now: &dyn Fn() -> SystemTime) -> Option<Duration> {
    let waits = RESETS.iter().filter_map(|(reset, remaining)| {
        let wait = moment(text(headers, reset)?, now)?;
        let used_up = text(headers, remaining).and_then(|left| left.parse::<f64>().ok()) == Some(0.0);
        Some((wait, used_up))
    });
    let (used_up, others): (Vec<_>, Vec<_>) = waits.partition(|(_, used_up)| *used_up);
    let longest = used_up.into_iter().map(|(wait, _)| wait).max();
    longest.or_else(|| others.into_iter().map(|(wait, _)| wait).min()).map(|wait| wait.min(LONGEST_RESET))
}

/// A reset as a wait: `1m30.5s`, seconds, a time in seconds or milliseconds since 1970, or an RFC 3339 date.
pub(crate) fn moment(value: &str, now: &dyn Fn() -> SystemTime) -> Option<Duration> {
    if let Ok(number) = value.parse::<f64>() {
        let since_1970 = match number {
            n if n >= 1e11 => n / 1000.0,
            n if n >= 1e8 => n,
            seconds => return Duration::try_from_secs_f64(seconds).ok(),
        };
        let since_1970 = Duration::try_from_secs_f64(since_1970).ok()?;
        return Some(until(SystemTime::UNIX_EPOCH.checked_add(since_1970)?, now));
    }

    if let Some(wait) = units(value) {
        return Some(wait);
    }

    let date: jiff::Timestamp = value.parse().ok()?;
    Some(until(SystemTime::from(date), now))
}

/// A duration in units, such as `6m0s`, `20ms` or `1h2m3.5s`.
fn units(value: &str) -> Option<Duration> {
    let mut rest = value;
    let mut total = Duration::ZERO;

    if rest.is_empty() {
        return None;
    }

    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let end = unit.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit.len());
        let seconds = match &unit[..end] {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };

        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        rest = &unit[end..];
    }

    Some(total)
}

fn until(moment: SystemTime, now: &dyn Fn() -> SystemTime) -> Duration {
    moment.duration_since(now()).unwrap_or_default()
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn read_all(status: u16, headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let map = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        // Sun, 06 Nov 1994 08:49:30 GMT.
        read(status, &map, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770))
    }

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        read_all(429, headers)
    }

    #[test]
    fn seconds_milliseconds_and_dates() {
        assert_eq!(wait(&[]), None);
        assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", "0.25")]), Some(Duration::from_millis(250)));
        assert_eq!(
            wait(&[("retry-after", "9"), ("retry-after-ms", "1500")]),
            Some(Duration::from_millis(1500))
        );
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait(&[("retry-after", date)]), Some(Duration::from_secs(7)));
        assert_eq!(
            wait(&[("retry-after", date), ("date", "Sun, 06 Nov 1994 08:49:27 GMT")]),
            Some(Duration::from_secs(10))
        );
        assert_eq!(
            wait(&[("retry-after", date), ("date", "Sun, 06 Nov 1994 09:00:00 GMT")]),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn nonsense_is_no_wait() {
        for value in ["-1", "soon", "NaN", "inf", "1e300", ""] {
            assert_eq!(wait(&[("retry-after", value)]), None, "{value}");
            assert_eq!(wait(&[("x-ratelimit-reset-requests", value)]), None, "{value}");
        }
        for value in ["5", "s", "1m2", "3x", "1..2s", "m5"] {
            assert_eq!(units(value), None, "{value}");
        }
    }

    #[test]
    fn resets_in_every_spelling() {
        for (name, value, expected) in [
            ("x-ratelimit-reset-requests", "1s", 1000),
            ("x-ratelimit-reset-requests", "20ms", 20),
            ("x-ratelimit-reset-tokens", "7.66s", 7660),
            ("x-ratelimit-reset-tokens", "6m0s", 60_000),
            ("x-ratelimit-reset-requests", "12", 12_000),
            ("x-ratelimit-reset-requests", "1m2.5s", 60_000),
            ("x-ratelimit-reset-tokens-minute", "11.5", 11_500),
            ("ratelimit-reset", "9", 9000),
            ("x-ratelimit-reset", "784111775", 5000),
            ("x-ratelimit-reset", "784111772500", 2500),
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:49:34Z", 4000),
            ("anthropic-ratelimit-input-tokens-reset", "1994-11-06T09:49:36+01:00", 6000),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:00:00Z", 0),
        ] {
            assert_eq!(wait(&[(name, value)]), Some(Duration::from_millis(expected)), "{name}: {value}");
        }
    }

    #[test]
    fn the_used_up_allowance_decides_and_a_plain_wish_before_it() {
        let both = [
            ("x-ratelimit-reset-requests", "2s"),
            ("x-ratelimit-remaining-requests", "5"),
            ("x-ratelimit-reset-tokens", "9s"),
        ];
        assert_eq!(wait(&both), Some(Duration::from_secs(2)));
        let used_up = [&both[..], &[("x-ratelimit-remaining-tokens", "0")]].concat();
        assert_eq!(wait(&used_up), Some(Duration::from_secs(9)));
        let wished = [&used_up[..], &[("retry-after", "3")]].concat();
        assert_eq!(wait(&wished), Some(Duration::from_secs(3)));
        assert_eq!(read_all(500, &used_up), None, "resets come with every answer");
        assert_eq!(read_all(503, &[("retry-after", "3")]), Some(Duration::from_secs(3)));
    }
}
