//! The design pages in `docs/SUMMARY.md`, the table of contents of the documentation's site.

use std::fmt::Write as _;

use xtask::shell;

/// The table of contents.
pub(super) const PAGE: &str = "docs/SUMMARY.md";
/// Folder of the design pages, relative to the table of contents.
const FOLDER: &str = "design";
/// Index of the design pages in their folder. The table of contents has its order.
const INDEX: &str = "README.md";
/// The entry that the list of design pages follows, up to the end of the table of contents.
const ENTRY: &str = "- [Design decisions](design/README.md)\n";

/// The table of contents with an entry for each design page.
pub(super) fn page() -> Result<String, String> {
    let present = read(PAGE)?;
    let (head, _) = present.split_once(ENTRY).ok_or_else(|| format!("{PAGE} lacks `{}`", ENTRY.trim()))?;
    let mut page = format!("{head}{ENTRY}");

    let folder = format!("docs/{FOLDER}/");
    let index = read(&format!("{folder}{INDEX}"))?;
    for file in shell::files()? {
        let Some(name) = file.strip_prefix(&folder).filter(|name| *name != INDEX) else { continue };
        if !entries(&index).any(|entry| entry == name) {
            return Err(format!("{folder}{INDEX} has no entry for {name}"));
        }
    }

    for name in entries(&index) {
        let file = format!("{folder}{name}");
        let text = read(&file)?;
        let title = title(&text).ok_or_else(|| format!("{file} has no title"))?;
        writeln!(page, "  - [{title}]({FOLDER}/{name})").expect("a string takes everything");
    }

    Ok(page)
}

/// The text of a file of the repository.
fn read(file: &str) -> Result<String, String> {
    let text =
        std::fs::read_to_string(shell::root().join(file)).map_err(|error| format!("{file}: {error}"))?;
    Ok(text.replace("\r\n", "\n"))
}

/// The pages that an index lists, in its order.
fn entries(index: &str) -> impl Iterator<Item = &str> {
    index.lines().filter_map(|line| {
        let (_, link) = line.strip_prefix("- [")?.split_once("](")?;
        link.split_once(')').map(|(name, _)| name)
    })
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

    #[test]
    fn entries_are_the_items_of_an_index_in_its_order() {
        let index = "# Index\n\nSee [c](c.md).\n\n- [B](b.md): which b?\n- [A](a.md)\n- no link\n";
        assert_eq!(entries(index).collect::<Vec<_>>(), ["b.md", "a.md"]);
    }
}
