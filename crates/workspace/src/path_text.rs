//! Paths inside a workspace, in the notation of diffs.

use std::fmt::Write as _;
use std::path::{Component, Path};

/// Formats a path with slashes, relative to the workspace. Bytes that are not Unicode are replaced;
/// [`quote_path`] escapes the rest.
pub(crate) fn display_path(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

/// Formats a path with its prefix, in quotes if a character could be mistaken for diff syntax.
pub(crate) fn quote_path(prefix: &str, path: &str) -> String {
    let plain = path.chars().all(|c| !c.is_control() && c != '"' && c != '\\');
    if plain {
        return format!("{prefix}{path}");
    }

    let mut text = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string can't fail.
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            c => text.push(c),
        }
    }

    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_break_a_diff_are_quoted() {
        assert_eq!(quote_path("a/", "src/main.rs"), "a/src/main.rs");
        assert_eq!(quote_path("b/", "a\n+++ b/x"), "\"b/a\\n+++ b/x\"");
        assert_eq!(quote_path("b/", "quo\"te"), "\"b/quo\\\"te\"");
        assert_eq!(quote_path("b/", "bell\u{7}"), "\"b/bell\\007\"");
    }
}
