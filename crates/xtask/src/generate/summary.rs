//! The design notes in `docs/SUMMARY.md`, the table of contents of the documentation's site.

use std::fmt::Write as _;

use xtask::shell;

/// Path of the table of contents.
pub(super) const PAGE: &str = "docs/SUMMARY.md";
/// Folder of the notes, relative to the page.
const NOTES: &str = "design";
/// Entry above the list of notes, which extends to the end of the page.
const ENTRY: &str = "- [Design notes](design/README.md)\n";

/// The page with an entry for every note.
pub(super) fn page() -> Result<String, String> {
    let present =
        std::fs::read_to_string(shell::root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let present = present.replace("\r\n", "\n");
    let (head, _) = present.split_once(ENTRY).ok_or_else(|| format!("{PAGE} lacks `{}`", ENTRY.trim()))?;
    let mut page = format!("{head}{ENTRY}");

    let folder = format!("docs/{NOTES}/");
    for file in shell::files()? {
        let Some(name) = file.strip_prefix(&folder).filter(|name| *name != "README.md") else { continue };
        let text =
            std::fs::read_to_string(shell::root().join(&file)).map_err(|error| format!("{file}: {error}"))?;
        writeln!(
            page,
            "  - [{}]({NOTES}/{name})",
            title(&text).ok_or_else(|| format!("{file} has no title"))?
        )
        .expect("a string takes everything");
    }

    Ok(page)
}

/// The first heading of a page.
fn title(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heading_is_the_title() {
        assert_eq!(title("<!-- x -->\n# One two\n## Three\n# Four\n"), Some("One two"));
        assert_eq!(title("One\n"), None);
    }
}
