//! Golden files: a folder of cases, each with its expected output beside it.
//!
//! A case is a file `stem.EXT`, or a folder `stem.case`, and its expected output is `stem.out` in the same folder.
//! Other folders are searched for more cases.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::diff;

/// A case of golden tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenCase {
    /// Path under the searched folder without extension, with `/` on every system.
    pub name: String,
    /// Input: a file, or a folder.
    pub input: PathBuf,
    /// Expected output; missing until it is blessed.
    pub expected: PathBuf,
}

impl GoldenCase {
    /// Reads the input file.
    ///
    /// # Panics
    /// If the input is a folder or not UTF-8, which fails the case.
    pub fn text(&self) -> String {
        fs::read_to_string(&self.input).unwrap_or_else(|error| panic!("{}: {error}", self.input.display()))
    }
}

/// Runs every case with input extension `extension` (without dot) in and under a folder and compares the
/// result of `produce` with the expected output. With the variable `ASSIZE_BLESS=1`, writes the expected
/// output instead.
///
/// # Panics
/// Once, at the end, with all differences: if output differs, expected output is missing or has lost its
/// case, `produce` panics, or there are no cases.
#[expect(clippy::disallowed_methods, reason = "the one switch of this test tool")]
pub fn run(folder: impl AsRef<Path>, extension: &str, produce: impl Fn(&GoldenCase) -> String) {
    let bless = std::env::var_os("ASSIZE_BLESS").is_some_and(|value| value == "1");
    if let Err(report) = check(folder.as_ref(), extension, bless, &produce) {
        panic!("{report}");
    }
}

fn check(
    folder: &Path,
    extension: &str,
    bless: bool,
    produce: &dyn Fn(&GoldenCase) -> String,
) -> Result<usize, String> {
    let mut cases = Vec::new();
    let mut outputs = Vec::new();
    collect(folder, folder, extension, &mut cases, &mut outputs)
        .map_err(|error| format!("cannot read the cases in {}: {error}", folder.display()))?;
    cases.sort();
    outputs.sort();

    if cases.is_empty() {
        return Err(format!("no cases: {} holds no `*.{extension}` and no `*.case`", folder.display()));
    }

    let twice = cases.windows(2).filter(|pair| pair[0].expected == pair[1].expected);
    let mut failures: Vec<String> = twice
        .map(|pair| format!("{}: a file and a folder share one expected output", pair[0].name))
        .collect();

    for case in &cases {
        if let Err(why) = check_case(case, bless, produce) {
            failures.push(format!("{}: {why}", case.name));
        }
    }

    for output in outputs {
        if !cases.iter().any(|case| case.expected == output) {
            failures.push(format!("{}: expected output without a case; delete it", output.display()));
        }
    }

    if failures.is_empty() {
        return Ok(cases.len());
    }

    Err(format!(
        "{} failures in {} golden cases of {}:\n\n{}\n\nIf the new output is right, run again with ASSIZE_BLESS=1 and \
         review the difference.",
        failures.len(),
        cases.len(),
        folder.display(),
        failures.join("\n\n")
    ))
}

fn collect(
    root: &Path,
    folder: &Path,
    extension: &str,
    cases: &mut Vec<GoldenCase>,
    outputs: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() && ending != "case" {
            collect(root, &path, extension, cases, outputs)?;
        } else if path.is_dir() || (ending == extension && ending != "out") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            cases.push(GoldenCase { name, expected: path.with_extension("out"), input: path });
        } else if ending == "out" {
            outputs.push(path);
        }
    }
    Ok(())
}

fn check_case(case: &GoldenCase, bless: bool, produce: &dyn Fn(&GoldenCase) -> String) -> Result<(), String> {
    let actual = catch_unwind(AssertUnwindSafe(|| produce(case)))
        .map_err(|panic| format!("panicked: {}", panic_text(panic.as_ref())))?
        .replace("\r\n", "\n");
    let expected = fs::read_to_string(&case.expected).ok().map(|text| text.replace("\r\n", "\n"));
    if expected.as_deref() == Some(actual.as_str()) {
        return Ok(());
    }
    if bless {
        return fs::write(&case.expected, &actual)
            .map_err(|error| format!("cannot write {}: {error}", case.expected.display()));
    }

    Err(match expected {
        Some(expected) => {
            format!("output differs (- expected, + found)\n{}", diff::diff_lines(&expected, &actual))
        }
        None => format!("{} is missing; found\n{}", case.expected.display(), diff::diff_lines("", &actual)),
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn upper(case: &GoldenCase) -> String {
        let input = if case.input.is_dir() { case.input.join("in") } else { case.input.clone() };
        fs::read_to_string(input).unwrap().to_uppercase()
    }

    #[test]
    fn files_folders_and_nested_cases_pass() {
        let dir = folder(&[
            ("a.yaml", "x\n"),
            ("a.out", "X\r\n"),
            ("deep/b.case/in", "y"),
            ("deep/b.out", "Y"),
            ("notes.md", "ignored"),
        ]);
        assert_eq!(check(dir.path(), "yaml", false, &upper), Ok(2));
    }

    #[test]
    fn every_failure_is_reported_once_at_the_end() {
        let dir = folder(&[
            ("a.yaml", "x\n"),
            ("a.out", "wrong\n"),
            ("b.yaml", "new"),
            ("c.out", "orphan"),
            ("d.yaml", "boom"),
            ("d.out", ""),
        ]);
        let report = check(dir.path(), "yaml", false, &|case| {
            assert!(case.name != "d", "no such luck");
            upper(case)
        })
        .unwrap_err();
        for words in [
            "4 failures in 3 golden cases", "- wrong\n+ X\n", "b.out is missing",
            "c.out: expected output without a case",
        ] {
            assert!(report.contains(words), "{words} not in\n{report}");
        }
        assert!(
            report.contains("d: panicked: no such luck") && report.contains("ASSIZE_BLESS=1"),
            "{report}"
        );
    }

    #[test]
    fn no_cases_is_a_failure() {
        let dir = folder(&[("a.out", "")]);
        assert!(check(dir.path(), "yaml", true, &upper).unwrap_err().contains("no cases"));
        assert!(check(&dir.path().join("absent"), "yaml", true, &upper).is_err());
    }

    #[test]
    fn blessing_writes_what_was_found_and_then_passes() {
        let dir = folder(&[("a.yaml", "x"), ("a.out", "wrong")]);
        assert_eq!(check(dir.path(), "yaml", true, &upper), Ok(1));
        assert_eq!(fs::read_to_string(dir.path().join("a.out")).unwrap(), "X");
        assert_eq!(check(dir.path(), "yaml", false, &upper), Ok(1));
    }
}
