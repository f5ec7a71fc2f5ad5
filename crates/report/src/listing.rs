//! Plain listings and messages, wrapped to the terminal.

use crate::page::{ReportPage, ReportPiece};
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};
use crate::wrap::{LongWords, wrap_lines};

/// One row of a listing.
#[derive(Debug, Clone)]
pub struct ListingRow {
    /// State of the row, such as `usable`; empty for none.
    pub state: &'static str,
    /// True if the state is good.
    pub good: bool,
    /// Name of the row.
    pub name: String,
    /// Second name of the row; empty if there is none.
    pub label: String,
    /// Description, wrapped to the page.
    pub about: String,
}

impl ListingRow {
    /// Creates a row of a name and its description.
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self { state: "", good: true, name: name.into(), label: String::new(), about: about.into() }
    }
}

/// Renders rows in columns without titles.
pub fn render_listing(rows: &[ListingRow], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::left(""),
        ReportColumn::left("").naming_row(),
        ReportColumn::left(""),
        ReportColumn::shrinking("").whole(),
    ];

    let rows: Vec<Vec<ReportPiece>> = rows
        .iter()
        .map(|row| {
            let tone = if row.good { ReportTone::Good } else { ReportTone::Bad };
            vec![
                ReportPiece::new(tone, row.state),
                ReportPiece::plain(&row.name),
                ReportPiece::plain(&row.label),
                ReportPiece::plain(&row.about),
            ]
        })
        .collect();
    render_table(&mut page, 0, &columns, &rows);

    page.finish()
}

/// Wraps the lines of a message to the window, each with its own indentation. Words are not broken, so that paths and
/// commands can be copied. Without a window, for example in a pipe, the message is returned unchanged.
pub fn wrap_message(message: &str, style: ReportStyle) -> String {
    if style.width == ReportStyle::UNLIMITED {
        return message.to_owned();
    }

    wrap_lines(message, style.columns(), LongWords::Keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(width: usize) -> ReportStyle {
        ReportStyle { color: false, width, unicode: true }
    }

    #[test]
    fn descriptions_are_wrapped_beside_their_names() {
        let rows = [ListingRow {
            state: "unusable",
            good: false,
            about: "set OPENAI_API_KEY to use api.openai.com".to_owned(),
            ..ListingRow::new("openai", "")
        }];
        assert_eq!(
            render_listing(&rows, style(40)),
            "unusable  openai  set OPENAI_API_KEY to\n                  use api.openai.com\n"
        );
    }

    /// The user copies the names of variables that a provider needs, so none may be cut.
    #[test]
    fn descriptions_are_never_cut() {
        let about = "set VERTEX_ACCESS_TOKEN or CLOUDSDK_AUTH_ACCESS_TOKEN or GOOGLE_OAUTH_ACCESS_TOKEN and GOOGLE_CLOUD_PROJECT";
        let rows = [ListingRow::new("vertex-embeddings", about)];
        let shown = render_listing(&rows, style(50));
        assert!(shown.lines().count() > 3 && shown.contains("GOOGLE_CLOUD_PROJECT"), "{shown}");
    }

    #[test]
    fn messages_are_wrapped_below_their_indent_and_words_stay_whole() {
        let long = "/a/path/that/is/longer/than/the/whole/window.yaml";
        let message = format!(
            "error: can't read `{long}`: no such file\n  looked in the working folder and its parents"
        );
        assert_eq!(wrap_message(&message, style(ReportStyle::UNLIMITED)), message);
        assert_eq!(
            wrap_message(&message, style(40)),
            format!(
                "error: can't read\n`{long}`:\nno such file\n  looked in the working folder and its\n  parents"
            )
        );
    }
}
