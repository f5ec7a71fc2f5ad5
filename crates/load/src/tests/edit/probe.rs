//! Putting a probe into every case of a file, and checking that nothing else changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::load_suite;
use assize_document::{CaseFile, EditError, ValueInsertion};
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::Case;
use serde_json::{Value, json};

pub(crate) fn load(path: &Path) -> LoadedSuite {
    let options = LoadOptions {
        environment: Arc::new(|_| Some("1".to_owned())),
        ..LoadOptions::new(path.parent().expect("a folder"))
    };
    load_suite(path, &options)
}

pub(crate) fn cases(loaded: &LoadedSuite) -> Vec<Arc<Case>> {
    loaded.cases.iter().collect::<Result<_, _>>().expect("readable")
}

pub(crate) fn insertion(value: Value) -> ValueInsertion {
    ValueInsertion {
        value,
        comment: "A probe: look at it.".to_owned(),
        mark: ("x-mark".to_owned(), "a probe".to_owned()),
    }
}

pub(crate) fn probe() -> ValueInsertion {
    insertion(json!([{"id": "a", "text": "x: \"y\" # é", "n": 1.5}, "two\nlines"]))
}

/// The text between the longest common beginning and end. If nothing was removed, it is the inserted text.
pub(crate) fn inserted<'n>(old: &str, new: &'n str) -> &'n str {
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    assert!(start + end >= old.len(), "bytes of the old text are gone:\n{new}");
    let length = new.len() - old.len();
    let start = (0..=start).rev().find(|at| new.is_char_boundary(*at)).expect("0 is one");
    &new[start..start + length]
}

/// Puts a probe into every case of a file and checks that nothing else changed. Returns the new text.
pub(crate) fn probe_all(path: &Path) -> String {
    let before = load(path);
    let mut text = std::fs::read_to_string(path).expect("readable");
    let mut file = CaseFile::new(path, text.clone());
    let cases = cases(&before);
    let own = cases.iter().filter(|case| case.place.path() == path);
    let find = |case| file.find(case).unwrap_or_else(|error| panic!("{}: {error}", case.place));
    let spots: Vec<_> = own.map(|case| (case, find(case))).collect();
    for (case, spot) in spots {
        match file.add_entry(&spot, "x-probe", &probe()) {
            Ok(()) => {
                let new = inserted(&text, file.text());
                assert!(new.contains("x-probe"), "{}: {new}", case.place);
                file.text().clone_into(&mut text);
            }
            Err(EditError::Alias) => assert_eq!(file.text(), text),
            Err(error) => panic!("{}: {error}", case.place),
        }
    }
    text
}

/// What a case means, without its places.
pub(crate) fn meaning(case: &Case) -> String {
    let mut case = case.clone();
    let place = assize_model::FilePosition::new("", 0, 0);
    case.place = place.clone();
    case.marks = assize_model::CaseMarks::default();
    let graders: Vec<_> = case
        .graders
        .iter()
        .map(|grader| {
            let mut grader = (**grader).clone();
            grader.place = place.clone();
            if let assize_model::GraderKind::Rubric(rubric) = &mut grader.kind {
                rubric.places.clear();
                rubric.marks.clear();
            }
            (
                grader.name,
                grader.type_name,
                grader.weighting,
                matches!(grader.kind, assize_model::GraderKind::Rubric(_))
                    .then_some(format!("{:?}", grader.kind)),
            )
        })
        .collect();
    let targets: Vec<_> = case.targets.iter().map(|target| target.name.clone()).collect();
    case.graders.clear();
    case.targets.clear();
    case.unbuilt.clear();
    case.conversation = None;
    format!("{case:?} {graders:?} {targets:?}")
}

pub(crate) fn check(path: &Path) {
    let before = load(path);
    if before.has_errors() || before.suite.is_none() {
        return;
    }
    let old = std::fs::read_to_string(path).expect("readable");
    let new = probe_all(path);
    // Written beside the old one, so that it finds the same files.
    let ending = path.extension().expect("an ending").to_string_lossy().into_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join(format!("copy.{ending}"));
    std::fs::write(&copy, &old).expect("written");
    let meanings = |loaded: &LoadedSuite| cases(loaded).iter().map(|case| meaning(case)).collect::<Vec<_>>();
    let plain = load(&copy);
    let meant = meanings(&plain);
    std::fs::write(&copy, &new).expect("written");
    let after = load(&copy);
    assert_eq!(after.has_errors(), plain.has_errors(), "{}: {:#?}", path.display(), after.diagnostics);
    assert_eq!(meanings(&after), meant, "{}", path.display());
    assert_eq!(after.diagnostics.len(), plain.diagnostics.len(), "{}", path.display());
}

pub(crate) fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            files_below(&path, found);
        } else if path
            .extension()
            .is_some_and(|e| ["yaml", "yml", "json", "jsonl"].iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
}
