//! Translates the syntax of nunjucks to minijinja's where they differ, and rejects templates that could produce
//! large texts.

use std::fmt::Write;

use super::limits::TemplateLimits;

/// Supported tags.
const TAGS: [&str; 9] = ["if", "elif", "elseif", "else", "endif", "for", "endfor", "raw", "set"];

/// Filter that is applied to the operands of `~`.
const OPERAND_FILTER: &str = "|js_operand";

/// Returns a template in the syntax of minijinja. Refuses templates that are too large or too deep to be compiled, and
/// features that could make a large text from a small one: multiplication, and tags that bind texts of any size to
/// names.
pub fn translate(text: &str) -> Result<String, String> {
    let mut written = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut loops = 0_usize;
    let mut limits = TemplateLimits::new(text.len())?;
    while let Some(at) = next_marker(rest) {
        written.push_str(&rest[..at]);
        let opening = &rest[at..at + 2];
        rest = &rest[at + 2..];
        written.push_str(opening);
        if opening == "{#" {
            let end = rest.find("#}").map_or(rest.len(), |end| end + 2);
            written.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }

        let closing = if opening == "{%" { "%}" } else { "}}" };
        let Some(end) = find_closing(rest, closing) else { break };
        let inner = &rest[..end];
        rest = &rest[end + 2..];
        let expression = inner.trim_matches(['-', '+', ' ', '\n', '\t', '\r']);
        let plain = without_quotes(expression);
        if plain.contains('*') {
            return Err("multiplication is not read here".to_owned());
        }

        let word = plain.split_whitespace().next().unwrap_or_default().to_owned();
        limits.take(inner, &without_quotes(inner), (opening == "{%").then_some(word.as_str()))?;
        if opening == "{%" {
            check_tag(&word, &plain, loops)?;
            match word.as_str() {
                "for" => loops += 1,
                "endfor" => loops = loops.saturating_sub(1),
                _ => {}
            }
        }
        write_expression(&mut written, inner, opening == "{%", &word);
        written.push_str(closing);
        if opening == "{%" && word == "raw" {
            let end = rest.find("endraw").map_or(rest.len(), |at| {
                rest[at..].find("%}").map_or(rest.len(), |closing| at + closing + 2)
            });
            written.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }

    written.push_str(rest);
    Ok(written)
}

/// Returns the position of the next braces, tag or comment.
fn next_marker(text: &str) -> Option<usize> {
    let opens = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
    text.match_indices('{').map(|(at, _)| at).find(opens)
}

fn check_tag(word: &str, plain: &str, loops: usize) -> Result<(), String> {
    if !TAGS.contains(&word) {
        return Err(format!("the tag `{word}` is not read here"));
    }
    if word == "for" && without_ranges(plain).contains(['[', '{', '~', '+', '(']) {
        return Err("a loop goes over a variable or a range, not over an expression".to_owned());
    }
    if word == "set" {
        if loops > 0 {
            return Err("`set` inside a loop is not read here".to_owned());
        }
        if !plain.contains('=') {
            return Err("`set` without `=` is not read here".to_owned());
        }
        if plain.contains(['[', '{', '~', '+', '(']) {
            return Err("`set` takes a value or a filtered variable, not an expression".to_owned());
        }
    }

    Ok(())
}

/// Returns a `for` tag without its calls of `range`.
fn without_ranges(plain: &str) -> String {
    let mut kept = String::new();
    let mut rest = plain;
    while let Some((before, after)) = rest.split_once("range(") {
        kept.push_str(before);
        rest = after.split_once(')').map_or("(", |(_, behind)| behind);
    }
    kept.push_str(rest);
    kept
}

/// Writes the content of a tag or of braces, with operators and properties in the syntax of minijinja.
fn write_expression(written: &mut String, inner: &str, is_tag: bool, word: &str) {
    let mut translated = String::with_capacity(inner.len() + 16);
    for (part, is_quoted) in parts_by_quotes(inner) {
        if is_quoted {
            translated.push_str(part);
        } else {
            write_plain(&mut translated, part);
        }
    }
    if is_tag && word == "elseif" {
        translated = translated.replacen("elseif", "elif", 1);
    }
    if is_tag && word == "for" {
        translated = loop_over_pairs(translated);
    }

    written.push_str(&with_script_operands(translated));
}

/// Applies a filter to the operands of `~`, because minijinja would write `true` and `null` like Python when it
/// joins them.
fn with_script_operands(inner: String) -> String {
    let mut ends = Vec::new();
    let mut at = 0;
    for (part, is_quoted) in parts_by_quotes(&inner) {
        for (place, _) in part.match_indices('~').filter(|_| !is_quoted) {
            let place = at + place;
            ends.push(inner[..place].trim_end().len());
            ends.push(place + 1 + operand_end(&inner[place + 1..]));
        }
        at += part.len();
    }
    // An operand between two operators was found twice.
    ends.sort_unstable();
    ends.dedup();

    let mut written = String::with_capacity(inner.len() + ends.len() * OPERAND_FILTER.len());
    let mut start = 0;
    for end in ends {
        written.push_str(&inner[start..end]);
        written.push_str(OPERAND_FILTER);
        start = end;
    }
    written.push_str(&inner[start..]);
    written
}

/// Returns the end of the operand at the beginning of a text, including its properties, calls and filters.
fn operand_end(text: &str) -> usize {
    let operand = text.trim_start_matches([' ', '\n', '\t', '\r', '-']);
    let mut at = text.len() - operand.len();
    if operand.starts_with(['"', '\'', '(', '[', '{']) {
        at += group_end(operand);
    }

    loop {
        let rest = &text[at..];
        let after_spaces = rest.trim_start();
        at += match rest.chars().next() {
            Some('(' | '[') => group_end(rest),
            Some(letter) if letter.is_alphanumeric() || letter == '_' || letter == '.' => letter.len_utf8(),
            _ => match after_spaces.strip_prefix('|') {
                Some(filter) => rest.len() - filter.trim_start().len(),
                None => return at,
            },
        };
    }
}

/// Returns the end of the quoted string or of the group in brackets at the beginning of a text.
fn group_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter, place) in quoted_letters(text) {
        match (place, letter) {
            (QuotePlace::Outside, '(' | '[' | '{') => depth += 1,
            (QuotePlace::Outside, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(place, QuotePlace::Outside | QuotePlace::Closing) {
            return at + letter.len_utf8();
        }
    }

    text.len()
}

fn write_plain(written: &mut String, part: &str) {
    let part = part.replace("!==", "!=").replace("===", "==");
    let mut rest = part.as_str();
    while let Some((before, after)) = rest.split_once(".length") {
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '(');
        // Writing into a string can't fail.
        let _ = write!(written, "{before}{}", if is_whole { "|js_length" } else { ".length" });
        rest = after;
    }
    written.push_str(rest);
}

/// Converts a loop with two names to a loop over the pairs of a map. Values that are not maps stay unchanged.
fn loop_over_pairs(inner: String) -> String {
    let Some((names, source)) = inner.split_once(" in ") else { return inner };
    if names.matches(',').count() != 1 {
        return inner;
    }
    let trailing = |c: char| c.is_whitespace() || c == '-' || c == '+';
    let end = source.find(" if ").unwrap_or_else(|| source.trim_end_matches(trailing).len());

    format!("{names} in {}|js_pairs{}", source[..end].trim_end(), &source[end..])
}

/// Returns the position of the closing marker, ignoring quoted strings.
fn find_closing(text: &str, closing: &str) -> Option<usize> {
    let is_closing = |(at, _, place): &(usize, char, QuotePlace)| {
        *place == QuotePlace::Outside && text[*at..].starts_with(closing)
    };
    // An apostrophe in the text after the template may look like an open quote. Ignore quotes then.
    quoted_letters(text).find(is_closing).map(|(at, ..)| at).or_else(|| text.find(closing))
}

/// Returns an expression without its quoted strings.
fn without_quotes(expression: &str) -> String {
    parts_by_quotes(expression)
        .into_iter()
        .filter(|(_, is_quoted)| !is_quoted)
        .map(|(part, _)| part)
        .collect()
}

/// Splits an expression into quoted strings, including the quotes, and the parts between them.
fn parts_by_quotes(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    for (at, letter, place) in quoted_letters(text) {
        let end = match place {
            QuotePlace::Opening => at,
            QuotePlace::Closing => at + letter.len_utf8(),
            QuotePlace::Inside | QuotePlace::Outside => continue,
        };
        parts.push((&text[start..end], is_quoted));
        start = end;
        is_quoted = place == QuotePlace::Opening;
    }
    parts.push((&text[start..], is_quoted));

    parts
}

/// Where a character is, relative to quoted strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotePlace {
    Outside,
    Opening,
    Inside,
    Closing,
}

/// Iterates over the characters of an expression with their positions, and where they are relative to quoted
/// strings. A quote after a backslash does not end a string.
fn quoted_letters(text: &str) -> impl Iterator<Item = (usize, char, QuotePlace)> + '_ {
    let mut quote = None;
    let mut is_escaped = false;
    text.char_indices().map(move |(at, letter)| {
        let place = match quote {
            Some(_) if is_escaped => {
                is_escaped = false;
                QuotePlace::Inside
            }
            Some(open) if letter == open => {
                quote = None;
                QuotePlace::Closing
            }
            Some(_) => {
                is_escaped = letter == '\\';
                QuotePlace::Inside
            }
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                QuotePlace::Opening
            }
            None => QuotePlace::Outside,
        };
        (at, letter, place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_groups_end_where_javascript_ends_them() {
        for (text, parts) in [
            ("a 'b' c", vec![("a ", false), ("'b'", true), (" c", false)]),
            (r#"'it\'s "x"' y"#, vec![("", false), (r#"'it\'s "x"'"#, true), (" y", false)]),
            (r"'\\' + z", vec![("", false), (r"'\\'", true), (" + z", false)]),
            ("'open", vec![("", false), ("'open", true)]),
        ] {
            assert_eq!(parts_by_quotes(text), parts, "{text}");
        }
        for (text, group) in [
            ("(a ')' b) c", "(a ')' b)"),
            (r"'it\'s' ~ x", r"'it\'s'"),
            ("[{'}': 1}, 2].x", "[{'}': 1}, 2]"),
            ("(open", "(open"),
        ] {
            assert_eq!(&text[..group_end(text)], group, "{text}");
        }
    }
}
