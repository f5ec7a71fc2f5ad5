//! Folders of eval files, and the complaints about them.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use crate::load_suite;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::Case;
use tempfile::TempDir;

/// A folder with files, gone at the end of the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(path, bytes).expect("written");
    }

    pub(crate) fn load(&self, name: &str) -> LoadedSuite {
        self.load_with(name, &[])
    }

    pub(crate) fn load_with(&self, name: &str, variables: &[(&str, &str)]) -> LoadedSuite {
        let variables: HashMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let options = LoadOptions {
            environment: Arc::new(move |name| variables.get(name).cloned()),
            ..LoadOptions::new(self.0.path())
        };
        load_suite(&self.path(name), &options)
    }
}

pub(crate) fn one(text: &str) -> LoadedSuite {
    Folder::new(&[("a.yaml", text)]).load("a.yaml")
}

pub(crate) fn cases(loaded: &LoadedSuite) -> Vec<Arc<Case>> {
    loaded.cases.iter().collect::<Result<_, _>>().expect("unchanged")
}

/// `CODE line` of every complaint.
pub(crate) fn codes(loaded: &LoadedSuite) -> Vec<String> {
    loaded
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.code, loaded.sources.position(d.primary.span).line))
        .collect()
}

pub(crate) fn said(loaded: &LoadedSuite) -> String {
    format!("{:#?}", loaded.diagnostics)
}

pub(crate) fn sound(loaded: &LoadedSuite) {
    assert!(loaded.diagnostics.is_empty(), "{}", said(loaded));
}

pub(crate) fn names(case: &Case) -> Vec<&str> {
    case.graders.iter().map(|grader| grader.name.as_str()).collect()
}

pub(crate) const SMALL: &str = "tests:\n  - {id: a, input: hi, criteria: Says hello}\n";
