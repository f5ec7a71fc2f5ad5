//! Tells ES modules by their lines.

/// Whether a line of a file looks like one of an ES module. Without such a line there is nothing to import or export.
pub(crate) fn looks_like_es_module(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        ["export", "import"].iter().any(|word| {
            line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t', '{', '*', '"', '\'']))
        })
    })
}
