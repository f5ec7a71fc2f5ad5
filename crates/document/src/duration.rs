//! Durations as users write them: numbers with units.

use std::time::Duration;

/// Parses a positive duration: numbers with the units `ms`, `s`, `m` and `h`, the larger ones first, such as
/// `90s`, `1.5h` or `1h30m`. Returns `None` for other texts, including a number without a unit, which would
/// be ambiguous.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    let mut larger = f64::INFINITY;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let after = &rest[digits..];
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit = match &after[..end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            _ => return None,
        };
        if unit >= larger {
            return None;
        }

        larger = unit;
        total = total.checked_add(Duration::try_from_secs_f64(number * unit).ok()?)?;

        rest = &after[end..];
    }

    (!total.is_zero()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_needed() {
        for (text, millis) in
            [("90s", 90_000), ("30m", 1_800_000), ("1h30m", 5_400_000), ("1.5h", 5_400_000), (" 500ms ", 500)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in
            ["", "30", "m", "30x", "1m1h", "5s5s", "-3s", "0s", "1..5s", "9999999999999999999999h", "1 h"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
