//! Edits of eval files change nothing else: neither a byte of the other text, nor the rest of the loaded content.

mod probe;

use std::path::Path;

use assize_document::{CaseFile, EditError};
use serde_json::json;

use crate::load_suite;
use probe::{cases, check, files_below, insertion, load, probe, probe_all};

#[test]
fn every_example_keeps_its_bytes() {
    let mut files = Vec::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    files.sort();
    // The cases of a matrix stand nowhere in its file, so that nothing can be put into them.
    let is_matrix = |path: &Path| {
        path.ends_with("promptfooconfig.yaml")
            || path.parent().is_some_and(|folder| folder.ends_with("promptfoo"))
    };
    files.retain(|path| !is_matrix(path));
    assert!(!files.is_empty());
    for path in &files {
        check(path);
    }
}

/// Files in all usual spellings, and some unusual ones.
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
