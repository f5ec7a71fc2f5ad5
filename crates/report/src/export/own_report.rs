//! Which files are reports of Assize, so that a new report may replace them.

use super::csv_table::headers;

/// Beginning of every Markdown report: a comment that readers do not see.
pub const MARKDOWN_MARK: &str = "<!-- assize";
/// First entry of results in a JSON file.
pub const JSON_MARK: &str = "\"generator\": \"assize\"";

/// A text near the beginning of each kind of report that no other program writes.
const SIGNATURES: [&str; 9] = [
    "<meta name=\"generator\" content=\"assize\">",
    JSON_MARK,
    "<testsuites name=\"assize\"",
    "\"driver\": {\n          \"name\": \"assize\"",
    "\"engine_name\": \"assize\"",
    "\"packages\":{\"assize\":",
    "\"scope\":{\"name\":\"assize\"",
    ",possible labels,label,severity,note,who\n",
    "\nmetric,,Pass rate,",
];

/// Returns true if a file with this beginning is a report of Assize, or has nothing in it.
pub fn is_own_report(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}');

    text.trim().is_empty()
        || text.trim() == "[]"
        || text.starts_with(MARKDOWN_MARK)
        || headers().iter().any(|header| text.starts_with(header))
        || SIGNATURES.iter().any(|mark| text.contains(mark))
}
