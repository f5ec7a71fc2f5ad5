//! How long a server asks to be left alone: `retry-after-ms`, or `retry-after` in seconds or as a date.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// Reads the wait from an answer's headers; `None` when there is none or it makes no sense.
///
/// A date is measured from the answer's own `date` header, so that a wrong clock on this machine does not matter;
/// `now` stands in when that header is missing. A date in the past is a wait of zero.
pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let from = text("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(from).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let map = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        read(&map, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770))
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
        }
    }
}
