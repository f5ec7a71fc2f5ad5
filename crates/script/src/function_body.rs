//! Makes the body of a function from the code of an assertion.

/// Returns the body of a function. Several lines are a body already. A single line is an expression, which may
/// follow declarations.
pub(crate) fn function_body(code: &str) -> String {
    let code = code.trim_end();
    if code.trim_start().contains('\n') {
        return code.to_owned();
    }

    let line = code.trim().trim_end_matches([';', ' ', '\t']);
    let declares = ["const ", "let ", "var "].iter().any(|word| line.starts_with(word));
    if !declares {
        return returned(line);
    }
    match last_separator(line) {
        Some(at) if !line[at + 1..].trim().is_empty() => {
            format!("{} {}", &line[..=at], returned(line[at + 1..].trim()))
        }
        _ => line.to_owned(),
    }
}

/// Returns a statement that returns an expression. An expression that is a `return` statement already is not
/// changed.
fn returned(expression: &str) -> String {
    let is_statement = expression.strip_prefix("return").is_some_and(|rest| {
        !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '$'))
    });
    if is_statement { expression.to_owned() } else { format!("return {expression}") }
}

/// Returns the position of the last semicolon that is not part of a string.
fn last_separator(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut last = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(letter),
            (None, ';') => last = Some(at),
            _ => {}
        }
    }

    last
}

#[cfg(test)]
mod tests {
    use super::function_body;

    #[test]
    fn a_line_is_an_expression_and_lines_are_a_body() {
        for (code, body) in [
            ("output === 'a'", "return output === 'a'"),
            ("output.length > 3;\n", "return output.length > 3"),
            ("const s = JSON.parse(output).n; s > 1", "const s = JSON.parse(output).n; return s > 1"),
            ("let s = output; s === 'a;b'", "let s = output; return s === 'a;b'"),
            ("const s = 'it\\'s; so'; s", "const s = 'it\\'s; so'; return s"),
            ("const s = 1", "const s = 1"),
            ("const a = 1;\nreturn a", "const a = 1;\nreturn a"),
            ("return { a: 1 };\n", "return { a: 1 }"),
            ("const a = 1; return(a)", "const a = 1; return(a)"),
            ("returned > 1", "return returned > 1"),
        ] {
            assert_eq!(function_body(code), body, "{code}");
        }
    }
}
