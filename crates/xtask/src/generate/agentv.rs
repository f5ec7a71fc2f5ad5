//! The table of AgentV's keys and options in docs/compatibility.md. It comes from the table that the tests
//! iterate over.

use std::fmt::Write as _;

use assize_evalfile::{AGENTV_KEYS, AgentvSupport};

/// The page that holds the table.
pub(super) const PAGE: &str = "docs/compatibility.md";

/// The page with the current table.
pub(super) fn page() -> Result<String, String> {
    super::marked::page_with_parts(PAGE, &[("keys", table().as_str())])
}

fn table() -> String {
    let mut text = "| place | key | read | remark |\n|---|---|---|---|\n".to_owned();
    let mut before = String::new();
    for row in AGENTV_KEYS.iter() {
        let place = row.place.title();
        let read = match row.support {
            AgentvSupport::Read => "yes",
            AgentvSupport::NoEffect => "no effect",
            AgentvSupport::Refused => "no",
        };
        let shown = if place == before { "" } else { &place };
        writeln!(text, "| {shown} | `{}` | {read} | {} |", row.name, row.remark)
            .expect("a string takes everything");
        before = place;
    }

    text
}
