//! Report files, which `--out` names.

use std::path::{Path, PathBuf};

/// A report file; its ending names its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    /// Path of the file.
    pub(crate) path: PathBuf,
    /// Format to write.
    pub(crate) format: ReportFormat,
}

/// Format of a report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// JSON, as `--json` prints it.
    Json,
}

impl ReportFormat {
    /// The formats that there are, for messages.
    const KNOWN: &str = "FILE.json (what `--json` prints)";

    fn from_ending(ending: &str) -> Option<Self> {
        match ending {
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Parses the path of a report file.
pub(super) fn report_file(text: &str) -> Result<ReportFile, String> {
    let path = Path::new(text);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let format = ending.as_deref().and_then(ReportFormat::from_ending).ok_or_else(|| {
        format!("a report is written to {}; the folder of a run is named by `--run-dir`", ReportFormat::KNOWN)
    })?;

    Ok(ReportFile { path: path.to_path_buf(), format })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_names_the_format() {
        let file = |path: &str| report_file(path).map(|file| (file.path, file.format));
        assert_eq!(file("out/a.JSON"), Ok((PathBuf::from("out/a.JSON"), ReportFormat::Json)));
        for wrong in ["report.html", "runs/today", "json", ".json", "results.jsonl"] {
            assert!(file(wrong).unwrap_err().contains("FILE.json"), "{wrong}");
        }
    }
}
