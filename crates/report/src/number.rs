//! Number formats.

pub use assize_rubric::{dollars, format_plain, format_rate, grouped};
pub use assize_stats::UNDEFINED;
pub(crate) use assize_stats::{no_interval, undefined_because};

/// Shown in a table cell that has no value or no interval.
pub const NO_VALUE: &str = "–";

/// Formats a score with three decimals. A score that rounding would lift onto a multiple of 0.01 is
/// shown below it, so that 0.7996 is never shown as 0.80 beside a threshold of 0.8.
pub fn format_score(value: f64) -> String {
    let mut thousandths = (value * 1000.0).round();
    if thousandths % 10.0 == 0.0 && value * 1000.0 < thousandths - 1e-6 {
        thousandths -= 1.0;
    }

    format!("{:.3}", thousandths / 1000.0)
}

/// Formats a raw score with up to two decimals. A score below an integer is never rounded up to it.
pub(crate) fn format_hundredths(value: f64) -> String {
    let mut rounded = (value * 100.0).round();
    if rounded % 100.0 == 0.0 && value * 100.0 < rounded - 1e-6 {
        rounded -= 1.0;
    }

    let text = format!("{:.2}", rounded / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a score or its range; `None` if there is neither.
pub(crate) fn format_score_or_range(
    score_known: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
) -> Option<String> {
    match (score_known, low, high) {
        (Some(value), _, _) => Some(format_score(value)),
        (None, Some(low), Some(high)) => Some(format!("{} to {}", format_score(low), format_score(high))),
        _ => None,
    }
}

/// Formats a number with three significant digits, without trailing zeros.
pub(crate) fn format_significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format_plain(value);
    }

    let scale = 10_f64.powf(2.0 - value.abs().log10().floor());
    format_plain((value * scale).round() / scale)
}

/// Formats a score without rounding; a tiny one with an exponent instead of hundreds of zeros.
pub(crate) fn format_exact(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-6 { format!("{value:e}") } else { value.to_string() }
}

/// Formats a score next to a threshold: as short as [`format_plain`], unless that would hide on which side of
/// the threshold the score is.
pub(crate) fn format_beside(value: f64, line: f64) -> String {
    let short = format_plain(value);
    if short == format_plain(line) && (value - line).abs() > assize_rubric::TOLERANCE {
        format_exact(value)
    } else {
        short
    }
}

/// Formats a count with its noun: `1 case`, `2 cases`.
pub fn format_count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Formats a part of a whole as [`format_rate`] does.
pub(crate) fn format_percent(part: u64, whole: u64) -> String {
    format_rate(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// Formats a rate on an axis; whole percentages have no decimals.
pub(crate) fn format_tick(rate: f64) -> String {
    format!("{}%", format_plain((rate * 1000.0).round() / 10.0))
}

/// Formats a duration in milliseconds.
pub fn format_duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", seconds, milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", grouped(seconds / 3600), seconds / 60 % 60),
    }
}

/// Formats the time that an answer took, or says that it is undefined because nothing was measured.
pub fn format_latency(milliseconds: Option<u64>) -> String {
    milliseconds.map_or_else(|| UNDEFINED.to_owned(), format_duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_lifts_a_score_onto_a_round_line() {
        assert_eq!(format_score(0.7996), "0.799");
        assert_eq!(format_score(0.999_999), "0.999");
        assert_eq!(format_score(0.1 + 0.7), "0.800");
        assert_eq!(format_score(2.0 / 3.0), "0.667");
        assert_eq!(format_score(1.0), "1.000");
        assert_eq!(format_score(0.0), "0.000");
        assert_eq!(format_score(0.000_4), "0.000");
        assert_eq!(format_score(0.5), "0.500");
        assert_eq!(format_beside(0.799_999_9, 0.8), "0.7999999");
        assert_eq!(format_beside(0.1 + 0.7, 0.8), "0.8");
    }

    #[test]
    fn weights_are_short_and_extremes_have_exponents() {
        assert_eq!(format_plain(0.1 + 0.2), "0.3");
        assert_eq!(format_plain(-0.0), "0");
        assert_eq!(format_plain(1500.0), "1500");
        assert_eq!(format_plain(1e300), "1e300");
        assert_eq!(format_plain(1e-9), "1e-9");
    }

    #[test]
    fn amounts_and_times_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(format_percent(9999, 10_000), "99.9%");
        assert_eq!(format_percent(1, 10_000), "0.1%");
        assert_eq!(format_percent(3, 4), "75.0%");
        assert_eq!(format_percent(4, 4), "100.0%");
        assert_eq!(format_percent(0, 4), "0.0%");
        assert_eq!(format_rate(0.1 + 0.2), "30.0%");
        assert_eq!(format_rate(0.999_9), "99.9%");
        assert_eq!(format_tick(0.25), "25%");
        assert_eq!(format_duration(840), "840 ms");
        assert_eq!(format_duration(12_340), "12.3 s");
        assert_eq!(format_duration(185_000), "3 min 5 s");
        assert_eq!(format_duration(7_500_000), "2 h 5 min");
        assert_eq!(dollars(0.000_012), "$0.000012");
        assert_eq!(dollars(0.0), "$0");
    }
}
