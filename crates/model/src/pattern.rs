//! Translation of JavaScript regular expressions.
//!
//! A pattern is translated, character by character, into an equivalent one for an engine that runs in linear
//! time. Features that such an engine lacks (look-around, back-references) are rejected, not approximated.
//! Patterns are read as JavaScript reads them with the flag `u`, so a character is a whole Unicode character.
//! Unlike with `u`, a lone brace is accepted.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// Reason why a pattern cannot be used, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

/// Maximum length of a quantifier in braces.
const MAX_QUANTIFIER: usize = 64;

/// Characters that `.` does not match in JavaScript.
const LINE_ENDS: &str = r"\n\r\x{2028}\x{2029}";

/// Compiles the expression with the meaning of `pattern` with `flags` in JavaScript. `g` and `d` do not
/// affect matching; `y` anchors the match at the beginning.
pub fn compile_pattern(pattern: &str, flags: &str) -> Result<regex::Regex, PatternError> {
    let translated = PatternTranslator {
        rest: pattern.chars().peekable(),
        dot_all: flags.contains('s'),
        out: String::new(),
    }
    .translate()?;

    let mut prefix = String::new();
    if flags.contains('i') {
        prefix.push('i');
    }
    if flags.contains('m') {
        // In JavaScript a line ends at \r as well as at \n.
        prefix.push_str("mR");
    }

    let mut whole = if prefix.is_empty() { translated } else { format!("(?{prefix}:{translated})") };
    if flags.contains('y') {
        whole = format!(r"\A(?:{whole})");
    }

    regex::Regex::new(&whole).map_err(|error| PatternError(engine_reason(&error)))
}

/// Returns the last line of the engine's message, which gives the reason; the others show the translated
/// pattern.
fn engine_reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

struct PatternTranslator<'a> {
    rest: Peekable<Chars<'a>>,
    dot_all: bool,
    out: String,
}

fn refuse<T>(what: &str) -> Result<T, PatternError> {
    Err(PatternError(what.to_owned()))
}

impl PatternTranslator<'_> {
    fn translate(mut self) -> Result<String, PatternError> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                '.' if self.dot_all => self.out.push_str(r"[\s\S]"),
                '.' => {
                    let _ = write!(self.out, "[^{LINE_ENDS}]");
                }
                '{' => self.brace(),
                '}' | ']' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                c => self.out.push(c),
            }
        }
        Ok(self.out)
    }

    /// Translates a quantifier such as `{2,}`, or a literal brace.
    fn brace(&mut self) {
        // A quantifier is never longer than this. Without the limit, every brace would search to the end of the
        // pattern.
        let ahead: String = self.rest.clone().take(MAX_QUANTIFIER).take_while(|c| *c != '}').collect();
        let closed = self.rest.clone().nth(ahead.chars().count()) == Some('}');
        let numbers = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let quantifier = closed
            && match ahead.split_once(',') {
                None => numbers(&ahead),
                Some((low, high)) => numbers(low) && (high.is_empty() || numbers(high)),
            };
        if quantifier {
            let _ = write!(self.out, "{{{ahead}}}");
            for _ in 0..=ahead.chars().count() {
                self.rest.next();
            }
        } else {
            self.out.push_str(r"\{");
        }
    }

    fn group(&mut self) -> Result<(), PatternError> {
        self.out.push('(');

        if self.rest.peek() != Some(&'?') {
            return Ok(());
        }

        self.rest.next();
        let ahead: String = self.rest.clone().take(2).collect();
        if ahead.starts_with(':') {
            self.rest.next();
            self.out.push_str("?:");
        } else if ahead.starts_with('=') || ahead.starts_with('!') {
            return refuse(
                "look-ahead (`(?=` and `(?!`) is not supported; check the other part with a grader of its own, \
                 for `(?!` with `negate: true`",
            );
        } else if ahead == "<=" || ahead == "<!" {
            return refuse(
                "look-behind (`(?<=` and `(?<!`) is not supported; match the text before it as well",
            );
        } else if ahead.starts_with('<') {
            self.rest.next();
            self.out.push_str("?<");
        } else {
            return refuse("only `(?:` and names such as `(?<name>` may follow `(?`; put flags into `flags`");
        }

        Ok(())
    }

    fn escape(&mut self, in_class: bool) -> Result<(), PatternError> {
        let Some(c) = self.rest.next() else { return refuse("the pattern ends in a single `\\`") };
        match c {
            'd' => self.out.push_str(if in_class { "0-9" } else { "[0-9]" }),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str(if in_class { "A-Za-z0-9_" } else { "[A-Za-z0-9_]" }),
            'W' => self.out.push_str("[^A-Za-z0-9_]"),
            's' => self.out.push_str(if in_class { r"\s\x{feff}" } else { r"[\s\x{feff}]" }),
            'S' => self.out.push_str(r"[^\s\x{feff}]"),
            'b' if in_class => self.out.push_str(r"\x08"),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' if in_class => return refuse("`\\B` is not allowed inside `[...]`"),
            'B' => self.out.push_str(r"(?-u:\B)"),
            'k' => return refuse("back-references (`\\k<name>`) is not supported"),
            '1'..='9' => return refuse("back-references (`\\1`) is not supported"),
            'n' | 'r' | 't' | 'f' | 'v' => {
                self.out.push('\\');
                self.out.push(c);
            }
            '0' => {
                if self.rest.peek().is_some_and(char::is_ascii_digit) {
                    return refuse("octal escapes can't be used; write `\\x` and two hex digits");
                }
                self.out.push_str(r"\x00");
            }
            'c' => match self.rest.next() {
                Some(letter) if letter.is_ascii_alphabetic() => self.push_code(u32::from(letter) % 32)?,
                _ => return refuse("`\\c` needs a letter"),
            },
            'x' => {
                let code = self.hex(2)?;
                self.push_code(code)?;
            }
            'u' => self.unicode()?,
            'p' | 'P' => {
                self.out.push('\\');
                self.out.push(c);

                if self.rest.peek() != Some(&'{') {
                    return refuse("`\\p` needs a property, as in `\\p{L}`");
                }

                for c in self.rest.by_ref() {
                    self.out.push(c);
                    if c == '}' {
                        break;
                    }
                }
            }
            c => self.literal(c),
        }

        Ok(())
    }

    /// Translates `\uXXXX`, two of them for one character, or `\u{X}`.
    fn unicode(&mut self) -> Result<(), PatternError> {
        if self.rest.peek() == Some(&'{') {
            self.rest.next();
            let digits: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
            return match u32::from_str_radix(&digits, 16) {
                Ok(code) => self.push_code(code),
                Err(_) => refuse("`\\u{...}` needs hex digits"),
            };
        }

        let high = self.hex(4)?;
        if !(0xd800..0xdc00).contains(&high) {
            return self.push_code(high);
        }
        if (self.rest.next(), self.rest.next()) != (Some('\\'), Some('u')) {
            return refuse("half a surrogate pair can't be matched; write the full character");
        }

        let low = self.hex(4)?;
        if !(0xdc00..0xe000).contains(&low) {
            return refuse("half a surrogate pair can't be matched; write the full character");
        }

        self.push_code(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, PatternError> {
        let text: String = self.rest.by_ref().take(digits).collect();
        if text.len() == digits
            && let Ok(code) = u32::from_str_radix(&text, 16)
        {
            return Ok(code);
        }

        refuse("`\\x` needs two hex digits, `\\u` four")
    }

    fn push_code(&mut self, code: u32) -> Result<(), PatternError> {
        if char::from_u32(code).is_none() {
            return refuse("half a surrogate pair can't be matched; write the full character");
        }
        let _ = write!(self.out, "\\x{{{code:x}}}");
        Ok(())
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            // `[]` matches nothing, `[^]` anything.
            self.out.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
            return Ok(());
        }

        self.out.push_str(if negated { "[^" } else { "[" });

        loop {
            match self.rest.next() {
                None => return refuse("a `[` is not closed"),
                Some(']') => break,
                Some('\\') => self.escape(true)?,
                Some('-') => {
                    let last = self.rest.peek() == Some(&']');
                    let first = self.out.ends_with('[') || self.out.ends_with("[^");
                    self.out.push_str(if last || first { r"\-" } else { "-" });
                }
                // Special in the engine's classes (set operations, nested classes), but ordinary characters in
                // JavaScript.
                Some(c @ ('[' | '&' | '~' | '^')) => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                Some(c) => self.out.push(c),
            }
        }

        self.out.push(']');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::compile_pattern;

    fn matches(pattern: &str, flags: &str, text: &str) -> bool {
        compile_pattern(pattern, flags).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(text)
    }

    #[test]
    fn braces_without_end_are_read_in_one_pass() {
        // If every brace searched to the end of the pattern, this would take many minutes.
        for braces in ["{".repeat(600_000), "{1".repeat(300_000)] {
            assert!(compile_pattern(&braces, "").is_err(), "larger than the engine takes");
        }
        assert!(matches("^a{0001}$", "", "a") && matches("^a{2,}$", "", "aaa") && matches("^{a$", "", "{a"));
    }

    #[test]
    fn classes_mean_what_they_mean_in_javascript() {
        for (pattern, flags, text, expected) in [
            (r"^\d+$", "", "123", true),
            (r"^\d+$", "", "١٢", false),
            (r"^\w+$", "", "naïve", false),
            (r"\bcat\b", "", "a cat.", true),
            (r"\bé", "", "é", false),
            (r"\B-", "", " -", true),
            (r"^[\d.]+$", "", "1.5", true),
            (r"[a&&b]", "", "&", true),
            ("[a[b]", "", "[", true),
            ("[^]", "", "\n", true),
            ("[]", "", "x", false),
            (r"a/b\/c", "", "a/b/c", true),
            (r"\u0041\x42\u{43}", "", "ABC", true),
            (r"\uD83D\uDE00", "", "😀", true),
            (r"^.$", "", "😀", true),
            ("a.b", "", "a\nb", false),
            ("a.b", "s", "a\nb", true),
            ("a.b", "", "a\rb", false),
            ("^b$", "", "a\nb", false),
            ("^b$", "m", "a\r\nb\r\n", true),
            ("HELLO", "i", "hello", true),
            ("b", "y", "ab", false),
            ("b", "g", "ab", true),
            (r"{ref}", "", "{ref}", true),
            ("a{2,}", "", "aa", true),
            ("a{,2}", "", "a{,2}", true),
            (r"(?<year>\d{4})-(?:0|1)", "", "2024-0", true),
            (r"[\w-]+@", "", "a-b@", true),
            (r"\p{Lu}", "u", "É", true),
            ("]", "", "]", true),
            (r"\s", "", "\u{feff}", true),
        ] {
            assert_eq!(matches(pattern, flags, text), expected, "/{pattern}/{flags} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_be_honoured_is_refused() {
        for (pattern, word) in [
            (r"(?=a)", "look-ahead"),
            (r"(?!a)", "negate"),
            (r"(?<=a)b", "look-behind"),
            (r"(?<!a)b", "look-behind"),
            (r"(a)\1", "back-reference"),
            (r"(?<n>a)\k<n>", "back-reference"),
            ("(?i)a", "flags"),
            ("(a", "unclosed"),
            ("[a", "not closed"),
            (r"\uD83D", "surrogate"),
            ("a\\", "single"),
        ] {
            let error = compile_pattern(pattern, "").expect_err(pattern).to_string();
            assert!(error.contains(word), "{pattern}: {error}");
        }
    }
}
