//! Digits of all scripts.

/// The digit zero of each script. The nine digits after it follow it in Unicode, in order.
const ZEROS: [char; 37] = [
    '0', '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{1090}',
    '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}', '\u{1b50}', '\u{1bb0}',
    '\u{1c40}', '\u{1c50}', '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}', '\u{a9f0}', '\u{aa50}',
    '\u{abf0}', '\u{ff10}',
];

/// Returns the ASCII digit with the value of a digit of any script. Superscripts and circled numbers are not digits:
/// `10⁶` is not 106.
pub fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let before = ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?;
    let value = u32::from(c) - u32::from(ZEROS[before]);
    char::from_digit(value, 10)
}

/// Returns the ASCII digit that a superscript raises.
pub fn raised_digit(c: char) -> Option<char> {
    let value = match c {
        '¹' => 1,
        '²' => 2,
        '³' => 3,
        '⁰' | '\u{2074}'..='\u{2079}' => u32::from(c) - 0x2070,
        _ => return None,
    };
    char::from_digit(value, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_have_their_values_and_raised_ones_are_none() {
        for text in ["30", "３０", "٣٠", "۳۰", "३०", "๓๐"] {
            assert_eq!(text.chars().filter_map(ascii_digit).collect::<String>(), "30", "{text}");
        }
        for c in "a٪⁶²①½〇三".chars() {
            assert_eq!(ascii_digit(c), None, "{c}");
        }
        assert_eq!("⁰¹²³⁴⁹₂2".chars().filter_map(raised_digit).collect::<String>(), "012349");
    }
}
