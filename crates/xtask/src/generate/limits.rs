//! The tables of docs/limits.md, from the limits that the program uses.

use assize_limits::limit_tables;

/// The page that holds the tables.
pub(super) const PAGE: &str = "docs/limits.md";

/// The page with the current tables.
pub(super) fn page() -> Result<String, String> {
    let tables: Vec<(&str, String)> = limit_tables().collect();
    let parts: Vec<(&str, &str)> = tables.iter().map(|(name, table)| (*name, table.as_str())).collect();
    super::marked::page_with_parts(PAGE, &parts)
}
