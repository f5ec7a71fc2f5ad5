//! Resolution of unquoted YAML scalars: the core schema of YAML 1.2, section 10.3.2.

use super::Data;

/// Resolves a plain scalar. `on`, `yes` and dates stay strings.
pub(crate) fn resolve(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Data::Null,
        "true" | "True" | "TRUE" => return Data::Bool(true),
        "false" | "False" | "FALSE" => return Data::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Data::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Data::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Data::Float(f64::NAN),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0o") {
        if let Ok(value) = i64::from_str_radix(digits, 8) {
            return Data::Int(value);
        }
    } else if let Some(digits) = text.strip_prefix("0x") {
        if let Ok(value) = i64::from_str_radix(digits, 16) {
            return Data::Int(value);
        }
    } else if looks_like_number(text) {
        if let Ok(value) = text.parse::<i64>() {
            return Data::Int(value);
        }
        if let Ok(value) = text.parse::<f64>() {
            return Data::Float(value);
        }
    }
    Data::Str(text.to_owned())
}

/// Returns true for `[-+]? ( digits ( . digits* )? | . digits+ ) ( [eE] [-+]? digits+ )?`, the schema's own
/// pattern: Rust's parser accepts more words (`inf`, `nan`, `infinity`), which are strings in YAML.
fn looks_like_number(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_is_sound = match mantissa.split_once('.') {
        Some(("", after)) => digits(after),
        Some((before, after)) => digits(before) && (after.is_empty() || digits(after)),
        None => digits(mantissa),
    };
    let exponent_is_sound = exponent.is_none_or(|part| digits(part.strip_prefix(['-', '+']).unwrap_or(part)));
    mantissa_is_sound && exponent_is_sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_mean_what_the_core_schema_says() {
        for (text, expected) in [
            ("12", Data::Int(12)),
            ("-3", Data::Int(-3)),
            ("0x10", Data::Int(16)),
            ("0o17", Data::Int(15)),
            ("1.", Data::Float(1.0)),
            (".5", Data::Float(0.5)),
            ("1e3", Data::Float(1000.0)),
            ("99999999999999999999", Data::Float(1e20)),
            ("-.inf", Data::Float(f64::NEG_INFINITY)),
            ("~", Data::Null),
            ("True", Data::Bool(true)),
        ] {
            assert_eq!(resolve(text), expected, "{text}");
        }
        for text in
            ["yes", "on", "inf", "nan", "1_000", "2026-01-01", "1e", ".", "-", "+.", "0x", "1.2.3", "e5"]
        {
            assert_eq!(resolve(text), Data::Str(text.into()), "{text}");
        }
        assert!(matches!(resolve(".nan"), Data::Float(value) if value.is_nan()));
    }
}
