//! Resolution of plain (unquoted) YAML scalars, by the core schema of YAML 1.2 (section 10.3.2).

use super::NodeValue;

/// Resolves a plain scalar. `on`, `yes` and dates stay strings.
pub(crate) fn resolve_scalar(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeValue::Null,
        "true" | "True" | "TRUE" => return NodeValue::Bool(true),
        "false" | "False" | "FALSE" => return NodeValue::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return NodeValue::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return NodeValue::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return NodeValue::Float(f64::NAN),
        _ => {}
    }

    if let Some(digits) = text.strip_prefix("0o") {
        if let Ok(value) = i64::from_str_radix(digits, 8) {
            return NodeValue::Int(value);
        }
    } else if let Some(digits) = text.strip_prefix("0x") {
        if let Ok(value) = i64::from_str_radix(digits, 16) {
            return NodeValue::Int(value);
        }
    } else if looks_like_number(text) {
        if let Ok(value) = text.parse::<i64>() {
            return NodeValue::Int(value);
        }
        if let Ok(value) = text.parse::<f64>() {
            return NodeValue::Float(value);
        }
    }

    NodeValue::Str(text.to_owned())
}

/// Returns true for `[-+]? ( digits ( . digits* )? | . digits+ ) ( [eE] [-+]? digits+ )?`, the pattern of the
/// schema. Rust's parser accepts more (`inf`, `nan`, `infinity`), which are strings in YAML.
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
            ("12", NodeValue::Int(12)),
            ("-3", NodeValue::Int(-3)),
            ("0x10", NodeValue::Int(16)),
            ("0o17", NodeValue::Int(15)),
            ("1.", NodeValue::Float(1.0)),
            (".5", NodeValue::Float(0.5)),
            ("1e3", NodeValue::Float(1000.0)),
            ("99999999999999999999", NodeValue::Float(1e20)),
            ("-.inf", NodeValue::Float(f64::NEG_INFINITY)),
            ("~", NodeValue::Null),
            ("True", NodeValue::Bool(true)),
        ] {
            assert_eq!(resolve_scalar(text), expected, "{text}");
        }
        for text in
            ["yes", "on", "inf", "nan", "1_000", "2026-01-01", "1e", ".", "-", "+.", "0x", "1.2.3", "e5"]
        {
            assert_eq!(resolve_scalar(text), NodeValue::Str(text.into()), "{text}");
        }
        assert!(matches!(resolve_scalar(".nan"), NodeValue::Float(value) if value.is_nan()));
    }
}
