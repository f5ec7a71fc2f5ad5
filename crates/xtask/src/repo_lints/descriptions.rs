//! Descriptions of the packages: each must be the first sentence of the README.

use std::path::Path;

/// Files with a description, each with the text that precedes it on its line.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("crates/cli/Cargo.toml", "description = \""),
    ("packaging/npm/package.json", "\"description\": \""),
    ("python/pyproject.toml", "description = \""),
];

/// Returns the problems of the descriptions.
pub(super) fn lint(root: &Path) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let readme = read("README.md");
    let Some(sentence) = first_sentence(&readme) else {
        return vec!["README.md: has no sentence below its heading".to_owned()];
    };

    let wrong = DESCRIPTIONS.iter().filter(|(name, key)| description(&read(name), key) != Some(sentence));
    wrong
        .map(|(name, _)| format!("{name}: the description is not the README's first sentence: {sentence}"))
        .collect()
}

/// Returns the first line of text below the heading, which is one sentence.
fn first_sentence(readme: &str) -> Option<&str> {
    readme.lines().skip_while(|line| !line.starts_with("# ")).skip(1).find(|line| !line.trim().is_empty())
}

fn description<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(key))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_found_by_its_key() {
        assert_eq!(first_sentence("<!-- -->\n# A\n\nGrades it.\n\nMore.\n"), Some("Grades it."));
        assert_eq!(
            description("a = 1\ndescription = \"Grades it.\"\n", "description = \""),
            Some("Grades it.")
        );
        assert_eq!(description("  \"description\": \"x\",\n", "\"description\": \""), Some("x"));
        assert_eq!(description("", "description = \""), None);
    }

    #[test]
    fn another_sentence_is_found() {
        let root = tempfile::tempdir().expect("a folder");
        for (name, _) in DESCRIPTIONS {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        }
        std::fs::write(root.path().join("README.md"), "# A\n\nGrades it.\n").expect("written");
        for (name, key) in DESCRIPTIONS {
            std::fs::write(root.path().join(name), format!("{key}Grades it.\"\n")).expect("written");
        }
        assert_eq!(lint(root.path()), [""; 0]);
        std::fs::write(root.path().join(DESCRIPTIONS[0].0), "description = \"Grades.\"\n").expect("written");
        assert_eq!(lint(root.path()).len(), 1);
    }
}
