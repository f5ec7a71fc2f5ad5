//! Paths in back-ticks of pages: what a page names as a file of this repository must be there.

/// Endings by which a name without a folder is taken for a file of ours. Others may be files of a reader.
const OUR_ENDINGS: [&str; 1] = [".rs"];

/// Paths of a page that lead to no file or folder of the repository.
pub(super) fn dead_paths(files: &[String], page: &str, text: &str) -> Vec<String> {
    // The list of changes tells of files as they were then.
    if page == "CHANGELOG.md" || !is_about_us(page) {
        return Vec::new();
    }

    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    paths(text)
        .filter(|path| !is_there(files, folder, path))
        .map(|path| format!("{page}: names `{path}`, which does not exist"))
        .collect()
}

/// Tests if a page describes this repository: those of fixtures, examples and skills belong to their readers.
fn is_about_us(page: &str) -> bool {
    !page.contains('/')
        || page.starts_with("docs/")
        || (page.starts_with("crates/") && page.ends_with("/README.md"))
}

/// The single words between back-ticks, outside of code blocks, that could be paths.
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

/// Tests if a path leads somewhere: from the root, from the folder of the page, or as the end of the path of a file. A path
/// whose first folder is none of ours is somebody else's.
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
    // A page for users means their folders by `.github` and its kind.
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
