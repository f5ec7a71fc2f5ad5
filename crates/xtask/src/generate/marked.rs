//! Parts of pages that are made from the code, between two comments.

use crate::shell;

/// Returns a page with `part` between the comments that name it.
pub(super) fn page_with(page: &str, name: &str, part: &str) -> Result<String, String> {
    let begin = format!("<!-- {name}: made by `cargo xtask generate` -->\n");
    let end = format!("<!-- end of {name} -->");
    let present =
        std::fs::read_to_string(shell::root().join(page)).map_err(|error| format!("{page}: {error}"))?;
    let present = present.replace("\r\n", "\n");
    let parts = present.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("{page} lacks `{}` or `{end}`", begin.trim()))?;

    Ok(format!("{head}{begin}{part}{end}{tail}"))
}
