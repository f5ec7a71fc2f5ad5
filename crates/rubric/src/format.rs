//! Counts and money as people read them.

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
