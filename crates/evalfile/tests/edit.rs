//! Edits of eval files leave everything else as it is: byte for byte in the text, and in what it loads as.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_evalfile::{Case, CaseFile, EditError, Insertion, LoadOptions, LoadedSuite, load_suite};
use serde_json::{Value, json};

fn load(path: &Path) -> LoadedSuite {
    let options = LoadOptions {
        environment: Arc::new(|_| Some("1".to_owned())),
        working_folder: path.parent().expect("a folder").to_path_buf(),
        extra_roots: Vec::new(),
    };
    load_suite(path, &options)
}

fn cases(loaded: &LoadedSuite) -> Vec<Arc<Case>> {
    loaded.cases.iter().collect::<Result<_, _>>().expect("readable")
}

fn insertion(value: Value) -> Insertion {
    Insertion {
        value,
        comment: "A probe: look at it.".to_owned(),
        mark: ("x-mark".to_owned(), "a probe".to_owned()),
    }
}

fn probe() -> Insertion {
    insertion(json!([{"id": "a", "text": "x: \"y\" # é", "n": 1.5}, "two\nlines"]))
}

/// The text between the longest common beginning and end: what was put in, if nothing was taken out.
fn inserted<'n>(old: &str, new: &'n str) -> &'n str {
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    assert!(start + end >= old.len(), "bytes of the old text are gone:\n{new}");
    let length = new.len() - old.len();
    let start = (0..=start).rev().find(|at| new.is_char_boundary(*at)).expect("0 is one");
    &new[start..start + length]
}

/// Puts a probe into every case of a file and checks that nothing else changed. Returns the new text.
fn probe_all(path: &Path) -> String {
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
fn meaning(case: &Case) -> String {
    let mut case = case.clone();
    let place = assize_evalfile::Place::new("", 0, 0);
    case.place = place.clone();
    case.marks = assize_evalfile::CaseMarks::default();
    let graders: Vec<_> = case
        .graders
        .iter()
        .map(|grader| {
            let mut grader = (**grader).clone();
            grader.place = place.clone();
            if let assize_evalfile::GraderKind::Rubric(rubric) = &mut grader.kind {
                rubric.places.clear();
                rubric.marks.clear();
            }
            (
                grader.name,
                grader.type_name,
                grader.standing,
                matches!(grader.kind, assize_evalfile::GraderKind::Rubric(_))
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

fn check(path: &Path) {
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

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
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

#[test]
fn every_file_of_the_corpus_keeps_its_bytes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut files = Vec::new();
    files_below(&corpus, &mut files);
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    files.sort();
    assert!(!files.is_empty());
    for path in &files {
        check(path);
    }
}

/// Files in every way of writing that is in use, and some that are not.
const FIXTURES: &[(&str, &str, &str)] = &[
    (
        "plain.yaml",
        "input: q\ntests:\n  - id: a\n    input: x # why\n    criteria: y\n\n  # about b\n  - id: b\n    input: z\n    criteria: w\n",
        "    # A probe: look at it.\n    x-probe:\n      - id: a\n",
    ),
    (
        "compact.yaml",
        "input: q\ntests:\n- id: a\n  criteria: y\n  # belongs to a\n# belongs to b\n- criteria: w\n  id: b\n",
        "  # belongs to a\n  # A probe: look at it.\n  x-probe:\n  - id: a\n",
    ),
    (
        "flow.yaml",
        "input: q\ntests: [{id: a, criteria: 'it''s'}, {id: b, \"criteria\": \"w\",},]\n",
        "'it''s', x-probe: [{",
    ),
    (
        "deep.yaml",
        "input: q\ntests:\n      -   id: a\n          criteria: >-\n            folded\n            text\n\n\n      -   id: b\n          criteria: w",
        "          x-probe:\n                - id: a\n",
    ),
    (
        "crlf.yaml",
        "input: q\r\ntests:\r\n  - id: a\r\n    criteria: y\r\n  - id: b\r\n    criteria: \"t\tab\"\r\n",
        "    # A probe: look at it.\r\n    x-probe:\r\n",
    ),
    (
        "blocks.yaml",
        "input: q\ntests:\n  - id: a\n    criteria: |+\n      keep\n\n\n  - id: b\n    criteria: |\n      # no comment\n      ends\n    # a comment\n",
        "      ends\n    # a comment\n    # A probe",
    ),
    (
        "anchors.yaml",
        "x-base: &base\n  threshold: 0.5\n  criteria: &text shared\ninput: q\ntests:\n  - &first\n    id: a\n    <<: *base\n  - id: b\n    <<: *base\n    criteria: *text\n  - {<<: *base, id: c}\n",
        "    criteria: *text\n    # A probe",
    ),
    (
        "markers.yaml",
        "%YAML 1.2\n---\n# head\ninput: q\ntests:\n  - id: a\n    criteria: y\n...\n",
        "criteria: y\n    # A probe",
    ),
    (
        "bom.yaml",
        "\u{feff}input: q\ntests:\n  - id: \u{e9}\u{1f600}\n    criteria: \u{4e2d}\n",
        "    x-probe:",
    ),
    (
        "plain-lines.yaml",
        "input: q\ntests:\n  - id: a\n    criteria: one\n      two\n\n      three\n    tags:\n  - id: b\n    tags: [x,\n      y]\n    criteria: w\n    metadata:\n      k:\n",
        "    tags:\n    # A probe",
    ),
    ("one.yaml", "evalcases:\n  - {id: a, expected_outcome: y,\n     input: z}\n", "input: z, x-probe:"),
    (
        "pretty.json",
        "{\n  \"input\": \"q\",\n  \"tests\": [\n    {\n      \"id\": \"a\",\n      \"criteria\": \"y\"\n    },\n    { \"id\": \"b\", \"criteria\": \"w\" }\n  ]\n}\n",
        "\"y\",\n      \"x-probe\": [\n        {\n          \"id\": \"a\",",
    ),
    ("tight.json", "{\"input\":\"q\",\"tests\":[{\"id\":\"a\",\"criteria\":\"y\"}]}", "\"x-probe\": [{"),
    (
        "data.jsonl",
        "{\"id\": \"a\", \"input\": \"q\", \"criteria\": \"y\"}\n\n{\"id\":\"b\",\"input\":\"q\",\"criteria\":\"w\"}\r\n{\"id\":\"c\",\"input\":\"q\",\"criteria\":\"tab\\t\"}",
        "\"w\",\"x-probe\":[{\"id\":\"a\",\"text\":\"x: \\\"y\\\" # é\",\"n\":1.5}",
    ),
];

#[test]
fn every_way_of_writing_keeps_its_bytes() {
    for (name, text, expected) in FIXTURES {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        assert!(!load(&path).has_errors(), "{name}: {:#?}", load(&path).diagnostics);
        let new = probe_all(&path);
        assert!(new.contains(expected), "{name}:\n{new}");
        assert_eq!(new.matches("x-probe").count(), cases(&load(&path)).len(), "{name}:\n{new}");
        assert_eq!(new.ends_with('\n'), text.ends_with('\n'), "{name}");
        check(&path);
    }
}

#[test]
fn items_are_added_and_replaced() {
    let text = "input: q\ntests:\n  - id: a\n    criteria: y\n    assertions:\n      - type: contains # c\n        value: x\n      # last\n  - id: b\n    criteria: y\n    assertions: [{type: contains, value: x}]\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, text).expect("written");
    let loaded = load(&path);
    let mut file = CaseFile::new(&path, text.to_owned());
    let spots: Vec<_> = cases(&loaded).iter().map(|case| file.find(case).expect("there")).collect();
    let item = |value: &str| insertion(json!({"type": "rubrics", "criteria": [value]}));
    for spot in &spots {
        file.add_item(spot, &["assertions"], &item("Does a")).expect("a place");
    }
    assert_eq!(
        file.text(),
        "input: q\ntests:\n  - id: a\n    criteria: y\n    assertions:\n      - type: contains # c\n        value: x\n      # last\n      # A probe: look at it.\n      - type: rubrics\n        criteria:\n          - Does a\n  - id: b\n    criteria: y\n    assertions: [{type: contains, value: x}, {\"type\": \"rubrics\", \"criteria\": [\"Does a\"], \"x-mark\": \"a probe\"}]\n"
    );
    for spot in &spots {
        file.replace_item(spot, &["assertions"], 1, &item("Does b")).expect("a place");
    }
    assert!(file.text().contains("        criteria:\n          - Does b\n  - id: b"), "{}", file.text());
    assert!(!file.text().contains("Does a"));
    let exists = file.add_entry(&spots[0], "criteria", &item("x"));
    assert_eq!(exists, Err(EditError::Exists("criteria".to_owned())));
    assert_eq!(file.add_item(&spots[0], &["tags"], &item("x")), Err(EditError::NoList("tags".to_owned())));
    file.replace_entry(&spots[0], "criteria", &insertion(json!("new\ntext"))).expect("a place");
    assert!(
        file.text().contains(
            "  - id: a\n    # A probe: look at it.\n    criteria: |-\n      new\n      text\n    assertions:"
        ),
        "{}",
        file.text()
    );
}

#[test]
fn a_case_that_is_an_alias_is_left_alone() {
    let text = "x-case: &c\n  id: a\n  criteria: y\ninput: q\ntests:\n  - *c\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, text).expect("written");
    let mut file = CaseFile::new(&path, text.to_owned());
    let spot = file.find(&cases(&load(&path))[0]).expect("there");
    assert_eq!(file.add_entry(&spot, "x-probe", &probe()), Err(EditError::Alias));
    assert_eq!(file.text(), text);
}
