//! Tokens of a text: words, numbers and parts of identifiers.

/// A token, as the byte range `start..end` of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, possibly with digits after them.
    Word,
    /// Begins with a digit: `3`, `1,000`, `2.5`, `2xx`.
    Number,
    /// A complexity bound such as `O(n log n)`.
    Bound,
}

/// Limit of bytes between the parentheses of a bound.
const BOUND_BYTES: usize = 32;

/// Splits a text into tokens. Identifiers are split at `_` and at capitals, so `loadData` and `load_data`
/// both give load, data. In scripts written without spaces every character is a token. Linear in the length
/// of the text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        if is_spaceless(first) {
            out.push(Token { start, end: start + first.len_utf8(), kind: Kind::Word });
            continue;
        }
        if let Some(end) = bound_end(text, start, first) {
            out.push(Token { start, end, kind: Kind::Bound });
            while chars.next_if(|&(at, _)| at < end).is_some() {}
            continue;
        }
        let number = first.is_numeric();
        let mut end = start + first.len_utf8();
        let mut last = first;
        while let Some(&(at, c)) = chars.peek() {
            let after = || text[at + c.len_utf8()..].chars().next();
            let goes_on = if c.is_alphanumeric() {
                !(is_spaceless(c) || (last.is_lowercase() && c.is_uppercase()))
            } else if matches!(c, '\'' | '’') {
                last.is_alphabetic() && after().is_some_and(char::is_alphabetic)
            } else {
                number && matches!(c, '.' | ',') && last.is_numeric() && after().is_some_and(char::is_numeric)
            };
            if !goes_on {
                break;
            }
            chars.next();
            end = at + c.len_utf8();
            last = c;
        }
        out.push(Token { start, end, kind: if number { Kind::Number } else { Kind::Word } });
    }
    out
}

/// Returns true if the script of this character is written without spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn bound_end(text: &str, start: usize, first: char) -> Option<usize> {
    let free_before = !text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
    if !matches!(first, 'O' | 'Θ') || !free_before {
        return None;
    }
    let inside = text[start + first.len_utf8()..].strip_prefix('(')?;
    let mut depth = 1;
    for (at, c) in inside.char_indices().take_while(|&(at, _)| at < BOUND_BYTES) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(start + first.len_utf8() + 1 + at + 1);
        }
    }
    None
}

/// Normalises a token before stemming: lower case, plain apostrophes, no separators in numbers.
pub(super) fn folded(text: &str, kind: Kind) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    match kind {
        Kind::Word => lower.map(|c| if c == '’' { '\'' } else { c }).collect(),
        Kind::Bound => lower
            .filter(|c| !c.is_whitespace() && !matches!(c, '*' | '·' | '×'))
            .map(|c| match c {
                'θ' => 'o',
                '²' => '2',
                '³' => '3',
                c => c,
            })
            .filter(|&c| c != '^')
            .collect(),
        Kind::Number => {
            let plain: String = lower.filter(|&c| c != ',').collect();
            if plain.contains('.') && plain.matches('.').count() == 1 {
                plain.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                plain
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).iter().map(|t| folded(&text[t.start..t.end], t.kind)).collect()
    }

    #[test]
    fn words_numbers_identifiers_and_bounds() {
        assert_eq!(
            words("Don’t call loadData or load_data2!"),
            ["don't", "call", "load", "data", "or", "load", "data2"]
        );
        assert_eq!(
            words("1,000 items, 2.50 EUR, 2xx, v1.2.3."),
            ["1000", "items", "2.5", "eur", "2xx", "v1", "2.3"]
        );
        assert_eq!(
            words("It is O(n log n), O(n^2) or O(n²); FOO(x)"),
            ["it", "is", "o(nlogn)", "o(n2)", "or", "o(n2)", "foo", "x"]
        );
        assert_eq!(words("東京 O("), ["東", "京", "o"]);
        assert!(words("+-*/ \u{202e} 🙂").is_empty());
    }
}
