//! Models that pages and help name as examples: all are in one list, and all have a price.

use std::collections::BTreeSet;
use std::path::Path;

use super::is_kind;

/// The list, one model a line. `tools/prices.py` reports which of them retire.
const LIST: &str = "crates/llm/data/example-models.txt";

/// Beginnings of the names of models that retire, unlike the names of providers and agents.
const FAMILIES: [&str; 6] =
    ["gpt-", "claude-opus", "claude-sonnet", "claude-haiku", "gemini-", "mistral-small"];

/// The listed models.
///
/// # Errors
/// If the list or the prices can't be read, or a listed model has no price.
pub(super) fn read(root: &Path) -> Result<BTreeSet<String>, String> {
    let text =
        |name: &str| std::fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let models: BTreeSet<String> = text(LIST)?.lines().map(str::to_owned).collect();
    let prices = text("crates/llm/data/prices.json")?;
    let is_priced =
        |model: &&String| ['"', '/'].iter().any(|before| prices.contains(&format!("{before}{model}\"")));
    match models.iter().find(|model| !is_priced(model)) {
        Some(model) => Err(format!("{LIST}: `{model}` has no price")),
        None => Ok(models),
    }
}

/// Names of models in a page or in help that the list does not have. Results of the past keep the models they had.
pub(super) fn unlisted(name: &str, text: &str, models: &BTreeSet<String>) -> Vec<String> {
    let is_page = is_kind(name, "md") && (name == "README.md" || name.starts_with("docs/"));
    let is_past = name == "docs/benchmarks.md" || name.starts_with("docs/design/");
    if is_past || !(is_page || name.starts_with("crates/cli/src/args/")) {
        return Vec::new();
    }

    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-._@".contains(c));
    words
        .map(|word| word.trim_end_matches(['.', '-']))
        .map(|word| word.rsplit_once("anthropic.").map_or(word, |(_, model)| model))
        .filter(|word| {
            FAMILIES.iter().any(|family| word.starts_with(family))
                && word.contains(|c: char| c.is_ascii_digit())
        })
        .filter(|word| !models.contains(word.split('@').next().unwrap_or(word)))
        .map(|word| format!("{name}: `{word}` is not in {LIST}; name a model of that list"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_listed_is_found() {
        let models = BTreeSet::from(["gpt-6-luna".to_owned(), "claude-haiku-5-5".to_owned()]);
        let page = "`openai:gpt-6-luna`, openai:gpt-3.5, bedrock:eu.anthropic.claude-haiku-5-5. gemini-cli runs too.";
        assert_eq!(
            unlisted("docs/judging.md", page, &models),
            [format!("docs/judging.md: `gpt-3.5` is not in {LIST}; name a model of that list")]
        );
        assert!(unlisted("docs/benchmarks.md", page, &models).is_empty());
    }
}
