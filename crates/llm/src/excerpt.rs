//! Extracts a few readable words from the body of a server's answer.

/// The most characters of a server's message that an error carries.
pub(crate) const MESSAGE_CHARS: usize = 300;

/// Collapses white space, drops control characters and cuts to `limit` characters with an ellipsis.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= limit {
                out.push('…');
                return out;
            }

            out.push(c);
            count += 1;
        }
    }

    out
}

/// The visible text of a page when the text is HTML, the text itself otherwise.
pub(crate) fn readable(text: &str) -> String {
    let trimmed = text.trim_start();
    let looks_like_html = trimmed.starts_with('<')
        && ["<html", "<!doctype", "<head", "<body"].iter().any(|tag| {
            trimmed.get(..200.min(trimmed.len())).unwrap_or(trimmed).to_ascii_lowercase().contains(tag)
        });
    if !looks_like_html {
        return text.to_owned();
    }

    let mut out = String::from("an HTML page: ");
    let mut in_tag = false;
    for c in trimmed.chars() {
        match c {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                out.push(' ');
            }
            c if !in_tag => out.push(c),
            _ => {}
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_on_characters_not_bytes() {
        assert_eq!(cut("é é\n\té", 4), "é é …");
        assert_eq!(cut("ab", 2), "ab");
        assert_eq!(cut("a\u{0}b\u{1b}[31m", 20), "a b [31m");
    }

    #[test]
    fn html_loses_its_tags() {
        let page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>";
        assert_eq!(cut(&readable(page), 100), "an HTML page: 502 Bad Gateway");
        assert_eq!(readable("a < b"), "a < b");
    }
}
