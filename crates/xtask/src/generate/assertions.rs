//! The table of assertion types in docs/promptfoo.md, from the code that reads them.

use std::fmt::Write as _;

use assize_evalfile::{ASSERTION_TYPES, AssertionSupport};

/// The page that holds the table.
pub(super) const PAGE: &str = "docs/promptfoo.md";

/// The page with the table as the code has it.
pub(super) fn page() -> Result<String, String> {
    super::marked::page_with(PAGE, "assertions", &table())
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
