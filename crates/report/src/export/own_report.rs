//! Which files are reports of Assize, so that a new report may replace them.

/// Beginning of every Markdown report: a comment that readers do not see.
pub const MARKDOWN_MARK: &str = "<!-- assize";

/// Beginnings of reports.
const BEGINNINGS: [&str; 5] = [
    MARKDOWN_MARK,
    "run,suite,case,",
    "::error file=",
    "::warning file=",
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
     <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-",
];

/// Texts near the beginning of reports in formats that other programs define, and of JSON.
const MARKS: [&str; 13] = [
    "<testsuites name=\"assize\"", "\"name\": \"assize\"", "\"packages\":{\"assize\"",
    "{\"stringValue\":\"assize\"}", "\"check_name\": ", "\"run_id\": ", "\"comparisons\": [",
    "\"treat_missing\": ", "\"cases_only_in_base\": ", "\"calls\": ", "\"executor_model\": ",
    "\"exit_code\": ", ",possible labels,",
];

/// Returns true if a file with this beginning is a report of Assize, or is empty.
pub fn is_own_report(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}');

    text.trim().is_empty()
        || text.trim() == "[]"
        || BEGINNINGS.iter().any(|start| text.starts_with(start))
        || MARKS.iter().any(|mark| text.contains(mark))
}
