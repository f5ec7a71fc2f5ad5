//! The crates of the workspace: the purpose of each, the crates it may use, and the rules it must keep.
//!
//! The tables of ARCHITECTURE.md are the rules; `cargo xtask layers` enforces them.

use std::sync::LazyLock;

const PAGE: &str = include_str!("../../../../ARCHITECTURE.md");

/// A crate of the workspace, by its folder below `crates/`.
pub(crate) struct CrateRule {
    /// The folder. The package is `assize-FOLDER`, except for `cli` (`assize`) and `xtask`.
    pub(crate) folder: &'static str,
    /// The folders of the crates of this workspace it may use.
    pub(crate) uses: Vec<&'static str>,
}

/// A crate from a registry that only some crates may use, in tests too.
pub(crate) struct RestrictedDep {
    /// Its name.
    pub(crate) name: &'static str,
    /// The folders of the crates that may use it.
    pub(crate) only: Vec<&'static str>,
}

/// The crate for tests: all crates may use it in tests, and none elsewhere.
pub(crate) const TESTKIT: &str = "testkit";

/// Crates that nothing may use.
pub(crate) const TOOLS: &[&str] = &["xtask"];

/// Crates from registries that only tests and benchmarks may use.
pub(crate) const TEST_ONLY: &[&str] = &["proptest"];

/// Every crate, each above those it may use; tools at the end.
pub(crate) static CRATES: LazyLock<Vec<CrateRule>> = LazyLock::new(|| {
    let rule = |cells: Vec<&'static str>| CrateRule { folder: names(cells[0])[0], uses: names(cells[2]) };
    rows("| crate | owns | may use | must never |").map(rule).collect()
});

/// Crates from registries that only certain crates may use.
pub(crate) static RESTRICTED_DEPS: LazyLock<Vec<RestrictedDep>> = LazyLock::new(|| {
    let rule = |cells: Vec<&'static str>| RestrictedDep { name: names(cells[0])[0], only: names(cells[1]) };
    rows("| from a registry | only in |").map(rule).collect()
});

/// The cells of the rows of the table with this head.
fn rows(head: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let table = PAGE.lines().skip_while(move |line| *line != head).skip(2);
    table.take_while(|line| line.starts_with('|')).map(|line| line.trim_matches('|').split(" | ").collect())
}

/// The names in back-ticks of a cell.
fn names(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}
