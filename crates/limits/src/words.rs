//! Values in words.

use std::fmt::Display;
use std::time::Duration;

/// A number with commas.
pub(crate) fn count(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that takes them without a rest.
pub(crate) fn size(bytes: impl TryInto<u64>) -> String {
    let bytes = bytes.try_into().unwrap_or(u64::MAX);
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", count(bytes / unit)),
        None => format!("{} bytes", count(bytes)),
    }
}

/// Bytes in decimal megabytes.
pub(crate) fn megabytes(bytes: usize) -> String {
    format!("{} MB", count(bytes / 1_000_000))
}

/// A time in its usual unit.
pub(crate) fn time(time: Duration) -> String {
    match time.as_secs() {
        3600 => "1 hour".to_owned(),
        seconds if seconds > 60 && seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
