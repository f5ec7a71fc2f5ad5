//! `docs/errors.md`: the meaning of each diagnostic code.

use std::fmt::Write as _;

use assize_document::codes::{ALL, CodePage};

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from crates/document/src/codes.rs. Change it there. -->
# Errors and warnings

Every diagnostic about an eval file, a rubric, a scorecard, a targets file or a configuration file has a code. Codes that
begin with `E` are errors: nothing is run until they are fixed. Codes that begin with `W` are warnings: the file is
read as the message says. A code keeps its meaning from one version to the next.
";

/// Groups of codes by their first two digits.
const GROUPS: &[(&str, &str)] = &[
    ("00", "Reading the text"),
    ("01", "Keys and values"),
    ("02", "Criteria and scores"),
    ("03", "Graders"),
    ("04", "Cases and suites"),
    ("05", "Files and references"),
    ("06", "Targets and settings"),
    ("07", "Scorecards, and records of other tools"),
];

/// The page.
pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    let title =
        |group: &str| GROUPS.iter().find(|(digits, _)| *digits == group).map_or("Others", |(_, title)| title);
    let mut groups: Vec<&str> = ALL.iter().map(group).collect();
    groups.sort_unstable();
    groups.dedup();

    for wanted in groups {
        write!(page, "\n## {}\n", title(wanted)).expect("a string takes everything");
        let mut codes: Vec<&CodePage> = ALL.iter().filter(|page| group(page) == wanted).collect();
        codes.sort_by_key(|page| page.code.as_str());

        for code in codes {
            page.push('\n');
            page.push_str(&section(code));
        }
    }

    page
}

/// The two digits that identify the group of a code.
fn group(page: &CodePage) -> &'static str {
    page.code.as_str().get(1..3).unwrap_or_default()
}

fn section(page: &CodePage) -> String {
    let code = page.code.as_str();
    format!("<a id=\"{code}\"></a>\n{}", page.to_markdown())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_one_section_under_a_named_group() {
        let page = page();
        let mut seen = BTreeSet::new();
        for code in ALL {
            let anchor = format!("<a id=\"{}\"></a>", code.code.as_str());
            assert_eq!(page.matches(&anchor).count(), 1, "{anchor}");
            assert!(seen.insert(code.code.as_str()));
            assert!(GROUPS.iter().any(|(digits, _)| *digits == group(code)), "{anchor} belongs to no group");
        }
    }

    #[test]
    fn a_section_links_by_its_code() {
        let section = section(&ALL[0]);
        assert!(section.starts_with("<a id=\"E0001\"></a>\n### E0001: "), "{section}");
    }
}
