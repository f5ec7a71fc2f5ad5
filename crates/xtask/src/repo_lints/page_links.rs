//! Links of pages: to files, to headings, and within the documentation's site, which includes only the pages of
//! `docs/`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Folder of the pages of the site.
const SITE: &str = "docs/";
/// Table of contents of the site.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The pages of the repository and their links.
#[derive(Debug, Default)]
pub(super) struct PageLinks {
    /// The anchors of each page.
    anchors: HashMap<String, HashSet<String>>,
    /// Page and target of every link.
    links: Vec<(String, String)>,
}

impl PageLinks {
    /// Adds a page.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        let prose = without_code(text);
        self.anchors.insert(name.to_owned(), anchors(&prose));
        self.links.extend(links(&prose).map(|link| (name.to_owned(), link.to_owned())));
    }

    /// Broken links, and pages of the site that its table of contents lacks.
    pub(super) fn problems(&self, files: &[String]) -> Vec<String> {
        let mut found: Vec<String> =
            self.links.iter().filter_map(|(page, link)| self.problem(files, page, link)).collect();

        let listed: HashSet<String> = self
            .links
            .iter()
            .filter(|(page, _)| page == SUMMARY)
            .map(|(page, link)| resolve(page, link.split('#').next().unwrap_or_default()))
            .collect();
        let pages = files.iter().filter(|file| file.starts_with(SITE) && is_kind(file, "md"));
        let lacking = pages.filter(|page| *page != SUMMARY && !listed.contains(*page));
        found.extend(
            lacking.map(|page| format!("{SUMMARY}: lacks {page}; `cargo xtask generate` adds design pages")),
        );

        found
    }

    fn problem(&self, files: &[String], page: &str, link: &str) -> Option<String> {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { page.to_owned() } else { resolve(page, path) };
        let is_there = files
            .iter()
            .any(|file| *file == target || file.starts_with(&format!("{}/", target.trim_end_matches('/'))));
        if !is_there {
            return Some(format!("{page}: links to `{link}`, which does not exist"));
        }
        if page.starts_with(SITE) && !target.starts_with(SITE) {
            return Some(format!(
                "{page}: links to `{link}`, which the site does not hold; name the file instead"
            ));
        }

        let anchors = self.anchors.get(&target);
        let is_anchor = anchor.is_empty() || anchors.is_none_or(|anchors| anchors.contains(anchor));
        (!is_anchor).then(|| format!("{page}: links to `{link}`, and that page has no such heading"))
    }
}

/// The target of a link relative to the root of the repository.
fn resolve(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A page without its code blocks.
fn without_code(text: &str) -> String {
    let mut prose = String::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of `[text](target)` that are not URLs.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("](").skip(1).filter_map(|rest| {
        let link = rest.split_once(')')?.0;
        let is_ours = !link.is_empty() && !link.contains("://") && !link.contains(char::is_whitespace);
        is_ours.then_some(link)
    })
}

/// Anchors of a page: anchors of its headings, numbered if they repeat, and explicit ones.
fn anchors(prose: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose.lines().filter_map(|line| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten()
    });
    let mut found: HashSet<String> = HashSet::new();
    for heading in headings {
        let slug = slug(heading);
        let count = seen.entry(slug.clone()).or_default();
        found.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }

    let written = prose.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    found.extend(written);

    found
}

/// Anchor of a heading, in the same form as code hosts and mdBook generate it.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Whether a file has this extension.
pub(crate) fn is_kind(name: &str, kind: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(pages: &[(&str, &str)]) -> Vec<String> {
        let mut links = PageLinks::default();
        for (name, text) in pages {
            links.add(name, text);
        }
        let mut files: Vec<String> = pages.iter().map(|(name, _)| (*name).to_owned()).collect();
        files.push("Cargo.toml".to_owned());
        links.problems(&files)
    }

    #[test]
    fn links_to_files_and_headings_must_lead_somewhere() {
        let text = "# One `two` & three\n[a](b.md#c) [d](https://e/f) [g](#one-two--three) [i](../Cargo.toml)\n\
                    ```sh\n# no heading\n[x](gone.md)\n```\n";
        let pages =
            [("a/a.md", text), ("a/b.md", "## C\n## C\n[second](#c-1)\n<a id=\"E1\"></a>\n[e](b.md#E1)")];
        assert_eq!(problems(&pages), Vec::<String>::new());

        let dead = "[a](gone.md) [b](b.md#gone) [c](#gone) [d](../Cargo.tom)";
        assert_eq!(problems(&[("a/a.md", dead), ("a/b.md", "")]).len(), 4);
    }

    #[test]
    fn pages_of_the_site_stay_within_it_and_are_listed() {
        let summary = ("docs/SUMMARY.md", "- [A](a.md)");
        assert_eq!(problems(&[summary, ("docs/a.md", "[s](SUMMARY.md)")]), Vec::<String>::new());
        assert_eq!(problems(&[summary, ("docs/a.md", "[t](../Cargo.toml)")]).len(), 1);
        assert_eq!(problems(&[summary, ("docs/a.md", ""), ("docs/design/b.md", "")]).len(), 1);
    }
}
