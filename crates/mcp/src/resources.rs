//! Resources: JSON Schemas, and the pages of error codes and lint rules.

use assize_document::codes;
use assize_lint::{LintRule, RULES};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/schema+json";

/// Page with all error codes.
const ERRORS: &str = "assize://errors";
/// Page with all lint rules.
const RULES_PAGE: &str = "assize://lint";
/// Prefix of the names of schemas.
const SCHEMAS: &str = "assize://schemas/";

/// Resources that there are. Single codes and rules are reached by the templates.
pub(crate) fn list() -> Vec<Resource> {
    let pages = [
        (ERRORS, "errors", "Errors and warnings of files, by code"),
        (RULES_PAGE, "lint", "Lint rules, with reasons and examples"),
    ];
    let pages = pages
        .into_iter()
        .map(|(uri, name, title)| Resource::new(uri, name).with_title(title).with_mime_type(MARKDOWN));

    let schemas = assize_engine::all_schemas().into_iter().map(|file| {
        Resource::new(format!("{SCHEMAS}{}", file.name), file.name)
            .with_title(format!("JSON Schema: {}", file.title))
            .with_mime_type(JSON)
    });
    pages.chain(schemas).collect()
}

/// Templates of the resources that are not listed individually.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |page: &str, name: &str, title: &str| {
        ResourceTemplate::new(format!("{page}/{{code}}"), name).with_title(title).with_mime_type(MARKDOWN)
    };

    vec![
        template(ERRORS, "error", "An error or warning by its code, such as E0103"),
        template(RULES_PAGE, "rule", "A lint rule by its code, such as L0111"),
    ]
}

/// Reads a resource; `None` for one that there is not.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    let markdown = |text: String| Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN));
    if let Some(name) = uri.strip_prefix(SCHEMAS) {
        let file = assize_engine::all_schemas().into_iter().find(|file| file.name == name)?;
        return Some(ResourceContents::text(format!("{:#}\n", file.schema), uri).with_mime_type(JSON));
    }
    if let Some(code) = uri.strip_prefix(ERRORS) {
        let pages = || codes::ALL.iter();
        return match code.strip_prefix('/') {
            None if code.is_empty() => markdown(joined(pages().map(codes::CodePage::to_markdown))),
            None => None,
            Some(code) => markdown(pages().find(|page| page.code.as_str() == code)?.to_markdown()),
        };
    }

    let code = uri.strip_prefix(RULES_PAGE)?;
    match code.strip_prefix('/') {
        None if code.is_empty() => markdown(joined(RULES.iter().map(LintRule::to_markdown))),
        None => None,
        Some(code) => markdown(RULES.iter().find(|rule| rule.code.as_str() == code)?.to_markdown()),
    }
}

fn joined(sections: impl Iterator<Item = String>) -> String {
    sections.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(uri: &str) -> Option<String> {
        match read(uri)? {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        }
    }

    #[test]
    fn everything_that_is_listed_can_be_read() {
        let listed = list();
        assert!(listed.len() > 8, "{}", listed.len());
        for resource in listed {
            assert!(text(&resource.uri).is_some_and(|text| text.len() > 100), "{}", resource.uri);
        }
    }

    #[test]
    fn single_codes_and_rules_have_pages() {
        assert!(text("assize://errors/E0103").expect("a page").starts_with("### E0103: Unknown key\n"));
        assert!(text("assize://lint/L0111").expect("a page").contains("# better"));
        for unknown in
            ["assize://errors/E9999", "assize://lintX", "assize://schemas/nothing", "file:///etc/passwd"]
        {
            assert!(text(unknown).is_none(), "{unknown}");
        }
    }
}
