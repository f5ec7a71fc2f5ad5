//! Counts, rates and money as people read them.

/// A whole number with a comma every three digits.
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

/// A rate from 0 to 1 as a percentage with one decimal, such as `50.0%`. It is 100.0% or 0.0% only if it is exact.
pub fn format_rate(rate: f64) -> String {
    // What computing with floats adds to an exact rate is no part of it.
    let rate = (rate * 1e9).round() / 1e9;
    let tenths = (rate * 1000.0).round();
    let tenths = if rate < 1.0 { tenths.min(999.0) } else { tenths };
    let tenths = if rate > 0.0 { tenths.max(1.0) } else { tenths.max(0.0) };

    format!("{:.1}%", tenths / 10.0)
}

/// US dollars, with as many decimals as small sums need.
pub fn dollars(value: f64) -> String {
    if value == 0.0 {
        "$0".to_owned()
    } else if value.abs() >= 1.0 {
        format!("${value:.2}")
    } else if value.abs() >= 0.01 {
        format!("${value:.4}")
    } else {
        format!("${value:.6}")
    }
}
