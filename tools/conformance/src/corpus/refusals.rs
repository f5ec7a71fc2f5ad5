//! The refusals in the output of the program, and the list of them in docs/compatibility.md.

use std::collections::BTreeSet;

use crate::shared::checkout;

const PAGE: &str = "docs/compatibility.md";
/// The section that lists refusals; the last column of its table has a part of each message between backticks.
const SECTION: &str = "## What is refused";

/// The refusals that the page lists, each as a part of its message.
pub(super) struct KnownRefusals(Vec<String>);

impl KnownRefusals {
    /// Reads them from the page.
    pub(super) fn read() -> Result<Self, String> {
        let path = checkout().join(PAGE);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
        let listed = Self::parse(&text);
        if listed.0.is_empty() {
            return Err(format!("{PAGE} lists no refusals under `{SECTION}`"));
        }

        Ok(listed)
    }

    fn parse(page: &str) -> Self {
        let section = page.split(SECTION).nth(1).unwrap_or_default();
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
        let cells = rows.filter_map(|row| row.trim().trim_end_matches('|').rsplit('|').next());
        let parts = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned));

        Self(parts.collect())
    }

    /// Whether the page has a row for a refusal.
    pub(super) fn has(&self, refusal: &str) -> bool {
        self.0.iter().any(|part| refusal.contains(part.as_str()))
    }
}

/// The refusals in a run's stderr, without their positions: errors with their codes, and the features that
/// can't be run.
pub(super) fn found(output: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("error[") {
            found.insert(rest.replacen("]:", "", 1));
        } else if let Some((_, message)) = line.split_once(": ").filter(|(place, _)| is_place(place)) {
            found.insert(message.to_owned());
        } else if let Some(message) = line.strip_prefix("error: ")
            && !message.starts_with("can't run;")
            && !message.contains("nothing was run")
            && message != "there are no valid cases to run"
        {
            found.insert(message.to_owned());
        }
    }

    found
}

/// `FILE:LINE:COLUMN`.
fn is_place(text: &str) -> bool {
    let mut parts = text.rsplitn(3, ':');
    let mut number = || parts.next().is_some_and(|part| part.parse::<usize>().is_ok());
    number() && number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_found_and_looked_up() {
        let output = "warning: x\nerror[E0501]: file not found\n  --> a.yaml:1:2\n\
                    error: can't run; nothing was spent\na b.yaml:14:1: `x` not built yet\n";
        let refusals = found(output);
        assert_eq!(
            refusals.iter().map(String::as_str).collect::<Vec<_>>(),
            ["E0501 file not found", "`x` not built yet"]
        );
        let page = format!(
            "# P\n\n{SECTION}\n\n| a | b |\n|---|---|\n| x | `E0501`, `not built` |\n\n## Next\n\n| `z` |\n"
        );
        let listed = KnownRefusals::parse(&page);
        assert!(refusals.iter().all(|refusal| listed.has(refusal)));
        assert!(!listed.has("z") && !listed.has("E0502 unreadable"));
    }
}
