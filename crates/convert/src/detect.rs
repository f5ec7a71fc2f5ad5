//! Detects the format of a file from its content.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use assize_document::ParsedDocument;
use assize_scorecard::is_scorecard;
use assize_table::is_table;
use serde_json::Value;

use crate::ConvertError;
use crate::convert::MAX_IMPORT_BYTES;

/// Format to convert from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// An eval file in either format: YAML, JSON or JSONL.
    Suite,
    /// A scorecard: a folder or a single file.
    Scorecard,
    /// A promptfoo configuration.
    Promptfoo,
    /// HealthBench examples: JSONL with `prompt` and `rubrics` of `points`.
    HealthBench,
    /// A PaperBench rubric tree: JSON with `sub_tasks`.
    PaperBench,
    /// DevAI tasks: JSONL with `query` and `requirements`, which refer to their `prerequisites`.
    DevAi,
    /// A table of criteria: CSV, TSV, Parquet, or a sheet of a spreadsheet.
    Csv,
}

assize_rubric::named_variants!(ImportFormat {
    Suite = "suite", Scorecard = "scorecard", Promptfoo = "promptfoo", HealthBench = "healthbench",
    PaperBench = "paperbench", DevAi = "devai", Csv = "csv",
});

/// Detects the format of a file or folder.
pub fn detect(path: &Path) -> Result<ImportFormat, ConvertError> {
    let unreadable = |error: std::io::Error| ConvertError::Unreadable(path.to_path_buf(), error.to_string());

    if path.is_dir() {
        let scorecard = is_scorecard(path);
        return if scorecard {
            Ok(ImportFormat::Scorecard)
        } else {
            Err(ConvertError::UnknownFormat(path.to_path_buf()))
        };
    }

    if is_table(path) {
        return Ok(ImportFormat::Csv);
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl")) {
        let lines = BufReader::new(assize_files::open_file(path).map_err(unreadable)?).lines();
        for line in lines {
            let line = line.map_err(unreadable)?;
            if let Ok(value) = serde_json::from_str::<Value>(line.trim_start_matches('\u{feff}')) {
                return Ok(detect_line(&value));
            }
            if !line.trim().is_empty() {
                break;
            }
        }

        return Ok(ImportFormat::Suite);
    }

    let text = assize_files::read_text_up_to(path, MAX_IMPORT_BYTES).map_err(unreadable)?;
    let Ok(document) = ParsedDocument::parse(path, &text) else {
        // The loader gives the best error message.
        return Ok(ImportFormat::Suite);
    };
    let value = document.value();
    let has = |keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    let asserts =
        |case: &Value| case.get("assert").is_some() && case.get("vars").is_some() && case.get("id").is_none();
    let tests = value.get("tests").and_then(Value::as_array);

    Ok(if has(&["sub_tasks"]) {
        ImportFormat::PaperBench
    } else if has(&["prompts", "providers", "defaultTest", "assertionTemplates"])
        || tests.is_some_and(|tests| tests.iter().any(asserts))
    {
        ImportFormat::Promptfoo
    } else if is_scorecard(path) {
        ImportFormat::Scorecard
    } else {
        ImportFormat::Suite
    })
}

fn detect_line(value: &Value) -> ImportFormat {
    let list = |key: &str| value.get(key).and_then(Value::as_array).and_then(|items| items.first());
    if list("rubrics").is_some_and(|rubric| rubric.get("points").is_some()) && value.get("prompt").is_some() {
        ImportFormat::HealthBench
    } else if list("requirements").is_some_and(|requirement| requirement.get("criteria").is_some()) {
        ImportFormat::DevAi
    } else {
        ImportFormat::Suite
    }
}
