//! Decoder of the prices file of a project.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Severity, SourceMap, SpannedValue};
use assize_document::{
    DiagnosticCollector, MapEntry, MapReader, TreeNode, codes, finish_diagnostics, read_yaml,
};
use assize_model::{PriceRates, PriceRow};

use super::DecodeContext;
use super::grader::missing_key;
use super::targets::settings_files::{find_first_file, read_settings_file, search_folders};
use crate::LoadOptions;

/// Paths of the prices file in a folder, in order of precedence.
const PRICES_PATHS: &[&str] = &[".assize/prices.yaml", ".assize/prices.yml"];
/// Maximum price of a million tokens in US dollars. A higher price was probably written in another unit.
const MAX_PRICE: f64 = 1_000_000.0;
/// Keys of a row.
const ROW_KEYS: [&str; 6] =
    ["input", "cached_input", "cache_write", "output", "context_tokens", "batch_discount"];
/// Maximum context size: more tokens than any model reads.
const MAX_CONTEXT: i64 = 1_000_000_000;

/// Parses the name of a model into provider and model. The error is a message for the user.
pub type ModelNameParser<'a> = &'a dyn Fn(&str) -> Result<(String, String), String>;

/// A prices file, loaded and checked.
#[derive(Debug, Clone, Default)]
pub struct LoadedPrices {
    /// Rows of the file. Not to be used when there are errors.
    pub rows: Vec<PriceRow>,
    /// Path of the file; `None` if there is none.
    pub path: Option<PathBuf>,
    /// Text of the file, for rendering diagnostics.
    pub sources: SourceMap,
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedPrices {
    /// Returns true if the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Loads the nearest `.assize/prices.yaml` for the files of the folder `start`, which is searched for like a
/// config file. A missing file is not an error.
pub fn load_prices(start: &Path, options: &LoadOptions, name: ModelNameParser<'_>) -> LoadedPrices {
    let working = &options.working_folder;
    let Some(path) = find_first_file(&search_folders(start, working), PRICES_PATHS) else {
        return LoadedPrices::default();
    };
    let mut cx = DecodeContext::new(options.environment.clone(), Vec::new(), Vec::new());
    let mut rows = Vec::new();
    if let Some(source) = read_settings_file(&path, working, &mut cx.sources, &mut cx.problems) {
        let root = read_yaml(&cx.sources, source, &mut cx.problems);
        if let Some(root) = root.filter(|root| !root.is_null()) {
            rows = decode_prices(&root, &mut cx.problems, name);
        }
    }

    let diagnostics = finish_diagnostics(cx.problems, &cx.sources);
    LoadedPrices { rows, path: Some(path), sources: cx.sources, diagnostics }
}

fn decode_prices(
    root: &TreeNode,
    problems: &mut DiagnosticCollector,
    name: ModelNameParser<'_>,
) -> Vec<PriceRow> {
    let Some(mut object) = MapReader::new(root, "a prices file", problems) else { return Vec::new() };
    let head = object.head();
    let mut rows: Vec<PriceRow> = Vec::new();
    match object.value("models") {
        None => {
            missing_key(
                head,
                "a prices file",
                "models",
                "models: {openai:gpt-6-luna: {input: 0.10, output: 0.50}}",
            )
            .add_to(problems);
            // Models that were written outside of `models` are part of the same mistake; don't report them
            // again.
            for entry in root.as_map().unwrap_or_default().iter().filter(|entry| name(&entry.key).is_ok()) {
                object.foreign(&entry.key);
            }
        }
        Some(node) => {
            let mut models = MapReader::new(node, "`models`", problems);
            for entry in models.as_mut().map(MapReader::take_remaining).unwrap_or_default() {
                let Some(row) = decode_price_row(entry, problems, name) else { continue };
                if rows.iter().any(|other| (&other.provider, &other.model) == (&row.provider, &row.model)) {
                    Diagnostic::error(codes::DUPLICATE_PRICE, format!("`{}` has two rows", entry.key))
                        .at(entry.key_span, "this one is extra")
                        .with_help("keep one of them; two spellings of a provider are one provider")
                        .add_to(problems);
                }

                rows.push(row);
            }
        }
    }

    object.finish(problems);
    rows
}

fn decode_price_row(
    entry: &MapEntry,
    problems: &mut DiagnosticCollector,
    name: ModelNameParser<'_>,
) -> Option<PriceRow> {
    let named = match name(&entry.key) {
        Ok(named) => Some(named),
        Err(message) => Diagnostic::error(codes::PRICE_MODEL, message)
            .at(entry.key_span, "does not name a model")
            .with_help("write the model as you would for `--judge`, such as `openai:gpt-6-luna`")
            .reject_in(problems),
    };

    let mut object = MapReader::new(&entry.value, "a row of prices", problems)?;
    let head = entry.key_span;
    let given: Vec<&str> = ["input", "output", "cached_input", "cache_write"]
        .into_iter()
        .filter(|key| object.has(key))
        .collect();
    let input = decode_price(&mut object, "input", problems);
    let cached_input = decode_price(&mut object, "cached_input", problems);
    let cache_write = decode_price(&mut object, "cache_write", problems);
    let output = decode_price(&mut object, "output", problems);
    let context = object.integer("context_tokens", 1, MAX_CONTEXT, problems);
    let discount = object.integer("batch_discount", 0, 100, problems);

    // An unknown key probably is the missing price under another name.
    if !has_unknown_key(&entry.value) {
        for key in ["input", "output"] {
            if !given.is_empty() && !given.contains(&key) {
                let example = format!("{key}: 0.60");
                problems.add(missing_key(head, "a row with prices", key, &example));
            }
        }

        if given.is_empty() && !object.has("context_tokens") && !object.has("batch_discount") {
            problems.add(missing_key(head, "a row", "input", "{input: 0.10, output: 0.50}"));
        }
    }

    object.finish(problems);
    let (provider, model) = named?;
    let rates = match (input, output) {
        (Some(input), Some(output)) => Some(PriceRates {
            input: input.value,
            cached_input: cached_input.map(|price| price.value),
            cache_write: cache_write.map(|price| price.value),
            output: output.value,
        }),
        _ => None,
    };
    Some(PriceRow {
        provider,
        model,
        rates,
        context_tokens: context.map(|tokens| tokens.value.unsigned_abs()),
        batch_discount: discount.and_then(|percent| u8::try_from(percent.value).ok()),
    })
}

/// Returns true if the row has a key that is reported as unknown.
fn has_unknown_key(node: &TreeNode) -> bool {
    let is_known = |entry: &MapEntry| ROW_KEYS.contains(&entry.key.as_str()) || entry.key.starts_with("x-");
    node.as_map().unwrap_or_default().iter().any(|entry| !is_known(entry))
}

/// Decodes a price of a million tokens: at least 0, and a whole number of millionths of a dollar.
fn decode_price(
    object: &mut MapReader<'_>,
    key: &'static str,
    problems: &mut DiagnosticCollector,
) -> Option<SpannedValue<f64>> {
    let found = object.number(key, problems)?;
    let millionths = found.value * 1e6;
    let whole = (millionths - millionths.round()).abs() < 1e-6 * millionths.abs().max(1.0);
    if (0.0..=MAX_PRICE).contains(&found.value) && whole {
        return Some(SpannedValue::new((millionths.round()) / 1e6, found.span));
    }

    Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is not a price"))
        .at(found.span, format!("found {}", found.value))
        .with_help("prices are US dollars for a million tokens, 0 or more, with at most six decimals")
        .reject_in(problems)
}

#[cfg(test)]
mod tests {

    use super::*;

    fn load(text: &str) -> (Vec<PriceRow>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".assize")).unwrap();
        std::fs::write(folder.path().join(".assize/prices.yaml"), text).unwrap();
        let options = LoadOptions::new(folder.path());
        let name = |text: &str| match text.split_once(':') {
            Some(("openai", model)) => Ok(("openai".to_owned(), model.to_owned())),
            _ => Err(format!("`{text}` is unknown")),
        };
        let loaded = load_prices(folder.path(), &options, &name);
        let codes = loaded.diagnostics.iter().map(|d| format!("{} {}", d.code, d.title)).collect();
        (loaded.rows, codes)
    }

    #[test]
    fn rows_are_read() {
        let (rows, complaints) = load(
            "models:\n  openai:a: {input: 0.15, cached_input: 0.075, output: 0.6}\n  openai:b: {context_tokens: 8000}\n",
        );
        assert_eq!(complaints, Vec::<String>::new());
        let rates = PriceRates { input: 0.15, cached_input: Some(0.075), cache_write: None, output: 0.6 };
        assert_eq!(rows[0].rates, Some(rates));
        assert_eq!((rows[1].rates, rows[1].context_tokens), (None, Some(8000)));
    }

    #[test]
    fn every_mistake_is_told_in_one_pass() {
        let (_, complaints) = load(
            "models:\n  openai:a: {input: -1, output: 0.6, otput: 1}\n  nobody:b: {input: 1, output: 2}\n  \
             openai:c: {input: 1}\n  openai:d: {}\n  openai:e: {input: 0.0000001, output: 1}\nmodel: {}\n",
        );
        let all = complaints.join("\n");
        for wanted in ["E0106 `input` is not a price", "`otput`", "E0609", "`output`", "`model`"] {
            assert!(all.contains(wanted), "{wanted} in\n{all}");
        }
        assert_eq!(complaints.len(), 7, "{all}");
    }

    #[test]
    fn a_mistake_is_one_error() {
        for (text, count) in [
            ("openai:a: {input: 1, output: 2}\nopenai:b: {input: 1, output: 2}\n", 1),
            ("models:\n  openai:a: {input: 1, output_price: 2}\n", 1),
            ("models:\n  openai:a: {prompt: 1, completion: 2}\n", 2),
            ("models:\n  openai:a: {input: 1, x-note: 2}\n", 1),
        ] {
            let (_, complaints) = load(text);
            assert_eq!(complaints.len(), count, "{text}: {complaints:?}");
        }
    }
}
