//! The tables of keys and of assertion types in docs/promptfoo.md, from the code that reads them.

use std::fmt::Write as _;

use assize_evalfile::{ASSERTION_TYPES, AssertionSupport, MATRIX_KEYS, MatrixKeySupport};

/// The page that holds the tables.
pub(super) const PAGE: &str = "docs/promptfoo.md";

/// The page with the tables as the code has them.
pub(super) fn page() -> Result<String, String> {
    super::marked::page_with_parts(PAGE, &[("keys", keys().as_str()), ("assertions", table().as_str())])
}

fn keys() -> String {
    let mut text = "| key | treatment | remark |\n|---|---|---|\n".to_owned();
    for row in MATRIX_KEYS {
        let (treatment, remark) = match row.support {
            MatrixKeySupport::Read(remark) => ("read", remark),
            MatrixKeySupport::NoEffect(reason) => ("no effect", reason),
            MatrixKeySupport::Refused(advice) => ("refused", advice),
        };
        writeln!(text, "| `{}` | {treatment} | {remark} |", row.name).expect("a string takes everything");
    }

    text
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
