//! Paths in backticks in pages: a path that a page presents as one of this repository must exist.

/// Extensions that mark a name without a folder as a file of this repository. Other names may be files of the
/// reader.
const OUR_ENDINGS: [&str; 1] = [".rs"];

/// Paths on a page that lead to no file or folder of the repository.
pub(super) fn dead_paths(files: &[String], page: &str, text: &str) -> Vec<String> {
    // The changelog describes files as they were at the time.
    if page == "CHANGELOG.md" || !is_about_us(page) {
        return Vec::new();
    }

    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    paths(text)
        .filter(|path| !is_there(files, folder, path))
        .map(|path| format!("{page}: names `{path}`, which does not exist"))
        .collect()
}

/// Whether a page describes this repository. The pages of fixtures, examples and skills describe their readers'
/// files.
fn is_about_us(page: &str) -> bool {
    !page.contains('/')
        || page.starts_with("docs/")
        || (page.starts_with("crates/") && page.ends_with("/README.md"))
}

/// Single words in backticks, outside of code blocks, that look like paths.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("\n```").step_by(2);
    let quoted = prose.flat_map(|part| part.split('`').skip(1).step_by(2));
    quoted.filter(|words| {
        let is_path = words.contains('/') || OUR_ENDINGS.iter().any(|ending| words.ends_with(ending));
        let is_pattern =
            words.contains(|c: char| c.is_whitespace() || "*<>{}$:()…".contains(c)) || words.contains("NAME");
        is_path && !is_pattern
    })
}

/// Whether a path exists: relative to the root or to the folder of the page, or as the end of a file's path. A
/// path whose first folder is not in this repository is not checked.
fn is_there(files: &[String], folder: &str, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let exists = |path: &str| {
        files
            .iter()
            .any(|file| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };

    let is_end = |path: &str| {
        files
            .iter()
            .any(|file| file.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
    };

    if exists(path) || exists(&format!("{folder}/{path}")) {
        return true;
    }
    if OUR_ENDINGS.iter().any(|ending| path.ends_with(ending)) {
        return is_end(path);
    }

    let (first, _) = path.split_once('/').unwrap_or((path, ""));
    // In pages for users, `.github` and similar folders are folders of the user.
    let is_readers = first.starts_with('.') && folder.starts_with("docs");
    let is_ours = (exists(first) && !is_readers)
        || (folder.starts_with("crates/") && exists(&format!("{folder}/{first}")));
    !is_ours || !path.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(page: &str, text: &str) -> usize {
        let files = ["crates/a/src/b.rs", "crates/a/README.md", "docs/x.md"].map(str::to_owned);
        dead_paths(&files, page, text).len()
    }

    #[test]
    fn paths_of_ours_must_be_there() {
        assert_eq!(
            dead("docs/x.md", "`crates/a`, `crates/a/src/`, `crates/a/src/b.rs`, `b.rs` and `src/b.rs`"),
            0
        );
        assert_eq!(dead("docs/x.md", "`crates/b/`, `crates/a/src/c.rs` and `c.rs`"), 3);
        assert_eq!(dead("crates/a/README.md", "`src/b.rs`, `src/gone/`"), 1);
    }

    #[test]
    fn patterns_and_files_of_others_are_not_looked_for() {
        assert_eq!(
            dead("README.md", "`crates/*/x`, `crates/NAME/x`, `evals/a.yaml`, `and/or`, `.assize/x`"),
            0
        );
        assert_eq!(dead("README.md", "a\n```\n`crates/b`\n```\nb"), 0);
        assert_eq!(dead("CHANGELOG.md", "`crates/b`"), 0);
    }
}
