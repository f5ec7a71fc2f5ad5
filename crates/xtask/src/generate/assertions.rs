//! The tables of assertion types and of keys in docs/promptfoo.md, from the code that reads them.

use std::fmt::Write as _;

use assize_evalfile::{ASSERTION_TYPES, AssertionSupport};

use crate::shell;

/// The page that holds the table.
pub(super) const PAGE: &str = "docs/promptfoo.md";
const BEGIN: &str = "<!-- assertions: made by `cargo xtask generate` -->\n";
const END: &str = "<!-- end of assertions -->";

/// The page with the table as the code has it.
pub(super) fn page() -> Result<String, String> {
    let present =
        std::fs::read_to_string(shell::root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let present = present.replace("\r\n", "\n");
    let parts = present.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("{PAGE} lacks `{}` or `{END}`", BEGIN.trim()))?;

    Ok(format!("{head}{BEGIN}{}{END}{tail}", table()))
}

fn table() -> String {
    let mut text = "| type | runs | remark |\n|---|---|---|\n".to_owned();
    for row in ASSERTION_TYPES {
        let (runs, remark) = match row.support {
            AssertionSupport::Refused(reason) => ("no", reason),
            _ => ("yes", row.remark),
        };
        writeln!(text, "| `{}` | {runs} | {remark} |", row.name).expect("a string takes everything");
    }

    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_row_and_every_refusal_a_reason() {
        let table = table();
        for row in ASSERTION_TYPES {
            assert!(table.contains(&format!("| `{}` |", row.name)), "{}", row.name);
        }
        assert!(!table.contains("| no |  |"));
    }
}
