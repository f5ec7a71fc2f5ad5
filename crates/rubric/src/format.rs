//! Formats counts, rates and money for people.

/// Formats a number as people read it: up to six decimals without trailing zeros, so that 0.1 + 0.2 is 0.3; very large and
/// very small numbers with an exponent.
pub fn format_plain(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size >= 1e12 || (size > 0.0 && size < 1e-6) {
        return format!("{value:e}");
    }

    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a whole number with a comma every three digits.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }

    out
}

/// Formats a rate from 0 to 1 as a percentage with one decimal, such as `50.0%`. It is 100.0% or 0.0% only if
/// it is exact.
pub fn format_rate(rate: f64) -> String {
    // Removes floating-point noise from a rate that is exact.
    let rate = (rate * 1e9).round() / 1e9;
    let tenths = (rate * 1000.0).round();
    let tenths = if rate < 1.0 { tenths.min(999.0) } else { tenths };
    let tenths = if rate > 0.0 { tenths.max(1.0) } else { tenths.max(0.0) };

    format!("{:.1}%", tenths / 10.0)
}

/// Formats US dollars: with cents from one dollar, four decimals below that, and two significant digits below
/// a hundredth of a cent.
pub fn dollars(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "$0".to_owned();
    }
    if size < 0.0001 {
        let decimals = (1.0 - size.log10().floor()).clamp(4.0, 20.0) as usize;
        return format!("${value:.decimals$}");
    }
    if size < 0.99995 {
        return format!("${value:.4}");
    }

    let cents = (size * 100.0).round() as u64;
    let sign = if value < 0.0 { "-" } else { "" };
    format!("${sign}{}.{:02}", grouped(cents / 100), cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_have_as_many_decimals_as_their_size_needs() {
        let texts = [0.0, 12_345.678, 1.0, 0.99996, 0.5, 0.012_345_6, 0.00043, 0.000_056, 0.000_000_012_3]
            .map(dollars);
        assert_eq!(
            texts,
            [
                "$0", "$12,345.68", "$1.00", "$1.00", "$0.5000", "$0.0123", "$0.0004", "$0.000056",
                "$0.000000012"
            ]
        );
    }
}
