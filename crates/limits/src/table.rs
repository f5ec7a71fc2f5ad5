//! The tables of the page of limits: [`tables.md`](tables.md) with the values filled in.

use crate::values::shown;

const TEMPLATE: &str = include_str!("tables.md");

/// Returns the name and the Markdown of each table, in the order of the page.
pub fn limit_tables() -> impl Iterator<Item = (&'static str, String)> {
    TEMPLATE.split("## ").skip(1).map(|section| {
        let (name, table) = section.split_once("\n\n").expect("a heading ends with an empty line");
        (name, format!("{}\n", filled(table.trim_end())))
    })
}

/// A text with the values of the limits that it names in braces.
fn filled(text: &str) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((head, (name, tail))) =
        rest.split_once('{').and_then(|(head, tail)| Some((head, tail.split_once('}')?)))
    {
        whole.push_str(head);
        whole.push_str(&shown(name).unwrap_or_else(|| format!("{{{name}}}")));
        rest = tail;
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::NAMES;

    #[test]
    fn every_limit_has_a_row_and_every_row_names_limits_that_exist() {
        for name in NAMES {
            assert!(TEMPLATE.contains(&format!("{{{name}}}")), "{name}");
        }
        for (name, table) in limit_tables() {
            assert!(!table.contains(['{', '}']) || name == "the grading service");
        }
    }

    #[test]
    fn values_are_shown_in_their_usual_units() {
        assert_eq!(shown("FILE_BYTES").as_deref(), Some("64 MiB"));
        assert_eq!(shown("JUDGEMENT_BYTES").as_deref(), Some("256 KiB"));
        assert_eq!(shown("WEIGHED_TEXT_BYTES").as_deref(), Some("256 bytes"));
        assert_eq!(shown("ARCHIVE_PARTS").as_deref(), Some("1,000,000"));
        assert_eq!(shown("IDLE_HTTP2_TIME").as_deref(), Some("5 minutes"));
        assert_eq!(filled("{CHECK_TIME}, {NO_LIMIT}"), "10 s, {NO_LIMIT}");
    }
}
