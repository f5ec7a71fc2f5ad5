//! Cases in JSONL files.

use std::fs;
use std::sync::Arc;

use assize_model::{Case, CaseLoadError, EvalFileFormat};

use crate::tests::suites::support::{Folder, SMALL, cases, codes, names, said, sound};

#[test]
fn dependencies_in_a_dataset_are_checked_as_elsewhere() {
    let case = |id: &str, before: &str| {
        format!(
            "{{\"id\": \"{id}\", \"input\": \"i\", \"criteria\": \"c\", \"depends_on\": [\"{before}\"]}}\n"
        )
    };
    let free = "{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}\n";
    let sound_one = format!("{free}{}", case("b", "a"));
    sound(&Folder::new(&[("a.jsonl", &sound_one)]).load("a.jsonl"));
    for (text, line) in [
        (format!("{free}{}", case("b", "nobody")), 2),
        (format!("{free}{}", case("b", "b")), 2),
        (format!("{}{}", case("a", "b"), case("b", "a")), 1),
    ] {
        let direct = Folder::new(&[("a.jsonl", &text)]).load("a.jsonl");
        assert_eq!(codes(&direct), [format!("E0415 {line}")], "{text}");
        let named = Folder::new(&[("a.yaml", "tests: a.jsonl\n"), ("a.jsonl", &text)]).load("a.yaml");
        assert_eq!(codes(&named), [format!("E0415 {line}")], "{text}");
    }
}

#[test]
fn a_dataset_has_its_settings_beside_it() {
    let row = "{\"id\": \"a\", \"input\": \"i\", \"expected_outcome\": \"c\"}\n";
    let folder = Folder::new(&[
        ("one.jsonl", row),
        (
            "one.yaml",
            "dataset: named\nexecution: {target: t, evaluators: [{name: l, type: latency, threshold: 9}]}\nevaluator: llm_judge\n",
        ),
        ("two.eval.jsonl", "{\"id\": \"a\", \"input\": \"i\"}\n"),
        ("two.eval.yaml", "assertions: [Suite line]\n"),
        ("bare.jsonl", row),
        ("own.jsonl", row),
        ("own.yaml", SMALL),
        ("wrong.jsonl", row),
        ("wrong.yaml", "descripton: x\n"),
    ]);
    let loaded = folder.load("one.jsonl");
    sound(&loaded);
    let suite = loaded.suite.as_ref().expect("read");
    assert_eq!((suite.format, suite.name.as_str()), (EvalFileFormat::One, "named"));
    assert_eq!(names(&cases(&loaded)[0]), ["l"]);
    let loaded = folder.load("two.eval.jsonl");
    sound(&loaded);
    let suite = loaded.suite.as_ref().expect("read");
    assert_eq!((suite.format, suite.name.as_str()), (EvalFileFormat::Two, "two"));
    assert_eq!(cases(&loaded)[0].graders.len(), 1);
    let loaded = folder.load("bare.jsonl");
    sound(&loaded);
    assert_eq!(loaded.suite.as_ref().map(|suite| suite.format), Some(EvalFileFormat::One));
    assert_eq!(codes(&folder.load("own.jsonl")), ["W0403 1"]);
    assert_eq!(codes(&folder.load("wrong.jsonl")), ["E0103 1"]);
}

#[test]
fn every_line_of_a_dataset_is_checked() {
    let mut text = String::from("{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}\n");
    text.push_str("{\"id\": \"b\", \"input\": \"i\", \"expected_outcome\": \"c\"}\n");
    text.push_str("{\"id\": \"b2\", \"input\": \"i\", \"expected_outcome\": \"c\"}\n");
    text.push_str("{\"id\": \"c\", \"input\": }\n");
    text.push_str("{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}\n");
    text.push_str("[1]\n");
    let folder = Folder::new(&[("a.jsonl", &text)]);
    folder.write("b.jsonl", b"{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}\n{\"id\": \"\xff\"}\n");
    let loaded = folder.load("a.jsonl");
    assert_eq!(codes(&loaded), ["W0401 2", "E0002 4", "E0406 5", "E0105 6"], "{}", said(&loaded));
    assert!(loaded.diagnostics[0].notes[0].contains("1 more line"));
    assert!(loaded.diagnostics[2].notes[0].contains("line 1"));
    assert_eq!(cases(&loaded).iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), ["a", "b", "b2"]);
    let loaded = folder.load("b.jsonl");
    assert_eq!(codes(&loaded), ["E0504 2"]);
    let position = loaded.sources.position(loaded.diagnostics[0].primary.span);
    assert_eq!(position.column, 9);
}

#[test]
fn a_long_dataset_is_read_in_its_order_by_however_many_threads() {
    let line = |number: usize| match number {
        1500 => "{\"id\": \"broken\"}".to_owned(),
        2900 => "{\"id\": \"c3\", \"input\": \"i\", \"criteria\": \"c\"}".to_owned(),
        _ => format!("{{\"id\": \"c{number}\", \"input\": \"i\", \"criteria\": \"c\"}}"),
    };
    let text: Vec<String> = (1..=3000).map(line).collect();
    let folder = Folder::new(&[("a.jsonl", &text.join("\n"))]);
    let loaded = folder.load("a.jsonl");
    assert_eq!(codes(&loaded), ["E0407 1500", "E0408 1500", "E0406 2900"]);
    let expected: Vec<String> = (1..=3000)
        .filter(|number| ![1500, 2900].contains(number))
        .map(|number| format!("c{number}"))
        .collect();
    let ids = |cases: &[Arc<Case>]| cases.iter().map(|case| case.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&cases(&loaded)), expected);
    let at_once: Vec<Arc<Case>> = loaded.cases.iter_ahead().collect::<Result<_, _>>().expect("unchanged");
    assert_eq!(ids(&at_once), expected);
    assert_eq!((at_once[1600].place.line, at_once.len()), (1602, loaded.cases.len()));

    folder.write("a.jsonl", text[..2999].join("\n").as_bytes());
    let changed: Result<Vec<_>, _> = loaded.cases.iter_ahead().collect();
    assert!(matches!(changed, Err(CaseLoadError::Changed { .. })), "{changed:?}");
}

#[test]
fn a_dataset_that_changes_is_noticed() {
    let row = |id: usize| format!("{{\"id\": \"{id}\", \"input\": \"i\", \"criteria\": \"c\"}}\n");
    let text: String = (0..500).map(row).collect();
    let folder = Folder::new(&[("a.jsonl", &text)]);
    let loaded = folder.load("a.jsonl");
    assert_eq!((loaded.cases.len(), cases(&loaded).len()), (500, 500));
    assert_eq!(cases(&loaded)[499].place.line, 500);
    folder.write("a.jsonl", format!("{text}{}", row(500)).as_bytes());
    let mut iter = loaded.cases.iter();
    assert!(matches!(iter.next(), Some(Err(CaseLoadError::Changed { .. }))));
    assert!(iter.next().is_none());
    fs::remove_file(folder.path("a.jsonl")).expect("removed");
    assert!(matches!(loaded.cases.iter().next(), Some(Err(CaseLoadError::Unreadable { .. }))));
}

#[test]
fn a_dataset_that_is_wrong_throughout_does_not_fill_the_memory() {
    let text = "{\"id\": \"a\"}\n".repeat(5000);
    let folder = Folder::new(&[("a.jsonl", &text)]);
    let loaded = folder.load("a.jsonl");
    assert!(loaded.diagnostics.len() < 1000, "{}", loaded.diagnostics.len());
    let last = loaded.diagnostics.last().expect("some");
    assert_eq!(last.code.as_str(), "E0416");
    assert!(last.title.starts_with("4800 more lines"), "{}", last.title);
    assert!(loaded.cases.is_empty());
}
