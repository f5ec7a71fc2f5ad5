//! The tables of keys and of assertion types in docs/promptfoo.md, from the code that reads them.

use std::fmt::Write as _;

use assize_promptfoo::{
    ASSERTION_TYPES, AssertionSupport, EVALUATION_KEYS, MATRIX_KEYS, MatrixKey, MatrixKeySupport,
    OPTION_KEYS, PROVIDER_KEYS, TEST_KEYS,
};

/// The page that holds the tables.
pub(super) const PAGE: &str = "docs/promptfoo.md";

/// The page with the current tables.
pub(super) fn page() -> Result<String, String> {
    let parts = [
        ("keys", keys(MATRIX_KEYS)),
        ("test keys", keys(TEST_KEYS)),
        ("option keys", keys(OPTION_KEYS)),
        ("evaluation keys", keys(EVALUATION_KEYS)),
        ("provider keys", keys(PROVIDER_KEYS)),
        ("assertions", table()),
    ];
    super::marked::page_with_parts(PAGE, &parts.each_ref().map(|(name, text)| (*name, text.as_str())))
}

fn keys(rows: &[MatrixKey]) -> String {
    let mut text = "| key | treatment | remark |\n|---|---|---|\n".to_owned();
    for row in rows {
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
