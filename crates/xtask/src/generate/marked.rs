//! Generated parts of pages, each between two comments.

use xtask::shell;

/// Returns a page with each part between the two comments of its name.
pub(super) fn page_with_parts(page: &str, parts: &[(&str, &str)]) -> Result<String, String> {
    let present =
        std::fs::read_to_string(shell::root().join(page)).map_err(|error| format!("{page}: {error}"))?;
    let mut text = present.replace("\r\n", "\n");
    for (name, part) in parts {
        let begin = format!("<!-- {name}: made by `cargo xtask generate` -->\n");
        let end = format!("<!-- end of {name} -->");
        let found = text.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
        let (head, tail) = found.ok_or_else(|| format!("{page} lacks `{}` or `{end}`", begin.trim()))?;
        text = format!("{head}{begin}{part}{end}{tail}");
    }

    Ok(text)
}
