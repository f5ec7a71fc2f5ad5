//! Findings of the linter in eval files written by other people.

use assize_evalfile::LoadOptions;
use assize_lint::lint_suite;
use assize_load::{find_suites, load_suite};

use crate::shared::SharedFolder;

/// The linter can read all files, every finding points at text, and findings are rare, since people use these
/// files and are content with them.
pub(crate) fn rare_and_exact(shared: &SharedFolder) {
    let corpus = shared.path("corpus");
    let options = LoadOptions::new(&corpus);

    let files = find_suites(std::slice::from_ref(&corpus)).files;
    assert!(files.len() > 30, "the corpus has moved");

    let (mut cases, mut findings) = (0, 0);
    for path in &files {
        let loaded = load_suite(path, &options);
        let Some(suite) = &loaded.suite else { continue };
        let linted = lint_suite(suite, &loaded.cases).expect("readable");
        for diagnostic in &linted.diagnostics {
            let words = linted.sources.slice(diagnostic.primary.span);
            let point = diagnostic.primary.span.start == diagnostic.primary.span.end;
            assert!(point || !words.trim().is_empty(), "{}: {diagnostic:?}", path.display());
        }

        cases += loaded.cases.len();
        findings += linted.diagnostics.len();
    }

    assert!(findings * 5 < cases, "{findings} findings in {cases} cases");
}
