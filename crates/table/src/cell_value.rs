//! Numbers and yes/no in cells, as people and spreadsheet programs of any country write them.

/// Why a text is not read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// It has no form of a number.
    #[error("not a number")]
    NotANumber,
    /// It is infinite, too large or `NaN`.
    #[error("not a finite number")]
    NotFinite,
    /// It has two values, depending on the country.
    #[error("ambiguous: its comma may separate thousands or decimals; write a point for decimals")]
    Ambiguous,
    /// It has separators of thousands.
    #[error("a number with separators of thousands; write it without them")]
    Thousands,
}

/// Reads a number: digits of any width, a decimal point or comma, a sign, an exponent, a percent sign.
///
/// # Errors
/// What is wrong with it. A number is never read with another value than it may have: `1,500` is one and a half
/// in one country and one thousand five hundred in another, so it is refused.
pub fn parse_number(text: &str) -> Result<f64, NumberError> {
    let plain: String = text.trim().chars().map(plain_sign).collect();
    let (digits, is_percent) = match plain.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (plain.as_str(), false),
    };
    let is_number = |c: char| c.is_ascii_digit() || ".,+-eE".contains(c);
    if !digits.contains(|c: char| c.is_ascii_digit()) {
        let is_float = digits.parse::<f64>().is_ok();
        return Err(if is_float { NumberError::NotFinite } else { NumberError::NotANumber });
    }
    let unsigned = digits.trim_start_matches(['+', '-']);
    if unsigned.chars().all(|c| is_number(c) || "' \u{a0}\u{202f}".contains(c))
        && (unsigned.contains(['\'', ' ', '\u{a0}', '\u{202f}']) || unsigned.matches([',', '.']).count() > 1)
    {
        return Err(NumberError::Thousands);
    }
    if !unsigned.chars().all(is_number) {
        return Err(NumberError::NotANumber);
    }
    if let Some((whole, rest)) = unsigned.split_once(',') {
        let could_be_thousands = rest.len() == 3
            && rest.bytes().all(|byte| byte.is_ascii_digit())
            && (1..=3).contains(&whole.len())
            && !whole.starts_with('0');
        if could_be_thousands {
            return Err(NumberError::Ambiguous);
        }
    }

    let number: f64 = digits.replace(',', ".").parse().map_err(|_| NumberError::NotANumber)?;
    let number = if is_percent { number / 100.0 } else { number };
    if number.is_finite() { Ok(number) } else { Err(NumberError::NotFinite) }
}

/// Returns the ASCII form of a full-width character, and of other characters for minus, percent and decimal point.
fn plain_sign(sign: char) -> char {
    match sign {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(sign as u32 - 0xfee0).unwrap_or(sign),
        '\u{2212}' | '\u{2010}'..='\u{2013}' | '\u{fe63}' => '-',
        '\u{3000}' => ' ',
        '\u{66b}' => '.',
        '\u{fe6a}' | '\u{66a}' => '%',
        other => other,
    }
}

/// Words for yes and for no, in lower case.
const YES: &[&str] = &[
    "true", "yes", "y", "1", "wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "verdadeiro", "sim",
    "vero", "sì", "waar", "sant", "sand", "tosi", "kyllä", "prawda", "tak", "pravda", "ano", "igaz", "igen",
    "doğru", "evet", "истина", "да", "істина", "так", "αληθεσ", "ναι", "是", "真", "对", "對", "はい", "예",
    "네", "참", "✓", "✔",
];
const NO: &[&str] = &[
    "false", "no", "n", "0", "falsch", "nein", "faux", "non", "falso", "não", "nao", "onwaar", "nee",
    "falskt", "falsk", "nej", "nei", "epätosi", "ei", "fałsz", "nie", "nepravda", "ne", "hamis", "nem",
    "yanliş", "yanlış", "hayır", "hayir", "ложь", "нет", "хибність", "ні", "ψευδεσ", "οχι", "όχι", "否",
    "假", "不", "いいえ", "아니요", "아니오", "거짓", "✗", "✘",
];

/// Reads yes or no, in the words that spreadsheet programs write for truth values and people for answers.
pub fn parse_yes_no(text: &str) -> Option<bool> {
    let plain: String = text.trim().chars().map(plain_sign).collect::<String>().to_lowercase();
    // The lower case of a Greek sigma depends on its position in the word.
    let plain = plain.replace('ς', "σ");
    if YES.contains(&plain.as_str()) {
        Some(true)
    } else if NO.contains(&plain.as_str()) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_value_or_none() {
        for (text, expected) in [
            ("3", 3.0),
            (" -1,5 ", -1.5),
            ("−1,5", -1.5),
            ("－１．５", -1.5),
            ("３", 3.0),
            ("0,500", 0.5),
            ("1.500", 1.5),
            ("1,50", 1.5),
            ("1,5000", 1.5),
            ("80 %", 0.8),
            ("12,5％", 0.125),
            ("+2", 2.0),
            ("1e-3", 0.001),
            (".5", 0.5),
        ] {
            assert_eq!(parse_number(text), Ok(expected), "{text}");
        }
        for (text, why) in [
            ("1,500", "ambiguous"),
            ("-12,000", "ambiguous"),
            ("1.000,5", "thousands"),
            ("1,234,567", "thousands"),
            ("1 500", "thousands"),
            ("1'500", "thousands"),
            ("", "not a number"),
            ("-", "not a number"),
            ("inf", "not a finite"),
            ("NaN", "not a finite"),
            ("(1,5)", "not a number"),
            ("3/5", "not a number"),
            ("5 points", "not a number"),
            ("1-2", "not a number"),
            ("1e999", "not a finite"),
        ] {
            let error = parse_number(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn yes_and_no_are_read_in_many_languages_and_nothing_is_both() {
        for (text, expected) in [
            ("WAHR", Some(true)),
            ("Falsch", Some(false)),
            ("是", Some(true)),
            ("否", Some(false)),
            ("Oui", Some(true)),
            ("ΨΕΥΔΕΣ", Some(false)),
            ("ＴＲＵＥ", Some(true)),
            ("maybe", None),
            ("", None),
        ] {
            assert_eq!(parse_yes_no(text), expected, "{text}");
        }
        assert!(YES.iter().all(|word| !NO.contains(word)));
        for word in YES.iter().chain(NO) {
            assert_eq!(parse_yes_no(&word.to_uppercase()), parse_yes_no(word), "{word}");
        }
    }
}
