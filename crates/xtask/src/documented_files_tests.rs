//! Tests that load the files shown in the documentation.

use std::path::PathBuf;

use assize_evalfile::{LoadOptions, load_targets};
use assize_load::load_suite;

use xtask::shell;

/// The YAML blocks of a page.
fn yaml_blocks(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(shell::root().join(page)).expect("the page is there");
    text.split("```yaml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

/// Writes a text to a file in a separate folder.
fn file(folder: &str, name: &str, text: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("assize-documented-{}-{folder}", std::process::id())).join(name);
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("a temporary folder can be written");
    std::fs::write(&path, text).expect("a temporary folder can be written");
    path
}

fn options(path: &std::path::Path) -> LoadOptions {
    LoadOptions::new(path.parent().expect("it has one"))
}

#[test]
fn documented_eval_files_are_sound() {
    let blocks = yaml_blocks("docs/eval-files.md");
    let suites: Vec<&String> =
        blocks.iter().filter(|text| text.contains("\ntests:") || text.contains("\nevalcases:")).collect();
    assert_eq!(suites.len(), 2, "one for each format");
    for (number, text) in suites.into_iter().enumerate() {
        let path = file("suites", &format!("{number}.eval.yaml"), text);
        let loaded = load_suite(&path, &options(&path));
        let errors: Vec<_> = loaded
            .diagnostics
            .iter()
            .filter(|found| found.code.as_str().starts_with('E'))
            .map(|found| found.title.clone())
            .collect();
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(loaded.cases.len(), 1);
        std::fs::remove_file(&path).expect("it was written");
    }
}

#[test]
fn the_documented_targets_file_is_sound() {
    let blocks = yaml_blocks("docs/targets.md");
    let path = file("targets", ".assize/targets.yaml", &blocks[0]);
    let folder = path.parent().and_then(std::path::Path::parent).expect("it has one").to_path_buf();
    let loaded =
        load_targets(&folder, None, &LoadOptions { working_folder: folder.clone(), ..options(&path) });
    std::fs::remove_file(&path).expect("it was written");
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.targets.len(), 4);
    // The only unset variable is the one that the reader of the page has to set.
    let missing: Vec<&str> = loaded
        .targets
        .iter()
        .flat_map(|target| &target.missing_variables)
        .map(|missing| missing.name.as_str())
        .collect();
    assert!(missing.iter().all(|name| *name == "LOCAL_KEY") && !missing.is_empty(), "{missing:?}");
}
