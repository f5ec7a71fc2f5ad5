//! The table of crates in ARCHITECTURE.md, from the rules that `cargo xtask layers` enforces.

use std::fmt::Write as _;

use xtask::layers::{CRATES, RESTRICTED_DEPS};
use xtask::shell;

/// The page that holds the table.
pub(super) const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str =
    "<!-- crates: made by `cargo xtask generate` from crates/xtask/src/layers/crates.rs -->\n";
const END: &str = "<!-- end of crates -->";

/// The page with the current table.
pub(super) fn page() -> Result<String, String> {
    let present =
        std::fs::read_to_string(shell::root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    replace(&present.replace("\r\n", "\n"), &table())
}

/// Replaces the text between the two marks with the table.
fn replace(page: &str, table: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("{PAGE} lacks `{}` or `{END}`", BEGIN.trim()))?;
    Ok(format!("{head}{BEGIN}{table}{END}{tail}"))
}

fn table() -> String {
    let mut text = "| crate | owns | may use | must never |\n|---|---|---|---|\n".to_owned();
    for rule in CRATES {
        let used: Vec<String> = rule.uses().map(|name| format!("`{name}`")).collect();
        let used = if used.is_empty() { "–".to_owned() } else { used.join(", ") };
        writeln!(text, "| `{}` | {} | {used} | {} |", rule.folder, rule.owns, rule.never)
            .expect("a string takes everything");
    }

    text.push_str("\n| from a registry | only in |\n|---|---|\n");

    for restricted in RESTRICTED_DEPS {
        let only: Vec<String> = restricted.only.iter().map(|name| format!("`{name}`")).collect();
        writeln!(text, "| `{}` | {} |", restricted.name, only.join(", ")).expect("a string takes everything");
    }

    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_put_between_its_marks() {
        let page = format!("a\n{BEGIN}old\n{END}\nb");
        assert_eq!(replace(&page, "new\n"), Ok(format!("a\n{BEGIN}new\n{END}\nb")));
        assert!(replace("a", "new").is_err());
    }

    #[test]
    fn every_crate_has_a_row() {
        let table = table();
        for rule in CRATES {
            assert_eq!(
                table.matches(&format!("\n| `{}` | {} |", rule.folder, rule.owns)).count(),
                1,
                "{}",
                rule.folder
            );
        }
    }
}
