//! Output forms for programs.

use crate::render::{JsonReport, ReportingTool, to_github, to_json, to_sarif};
use crate::{Diagnostic, DiagnosticCode, SourceMap, Span};
use serde_json::{Value, json};

/// A full error in a file with an awkward name, and a bare warning over two lines.
fn sample() -> (SourceMap, Vec<Diagnostic>) {
    let mut map = SourceMap::new();
    let a = map.add("./evals/a b,1:2%.yaml", "é: 𝄞x\nid: y\n");
    let b = map.add_fragment("evals/b.jsonl", "{\"id\": 1}", 41);
    let full = Diagnostic::error(DiagnosticCode::new("E0203"), "100% bad")
        .at(Span::new(a, 8, 9), "an x")
        .with_secondary(Span::new(b, 7, 8), "first, here")
        .with_note("one\r\ntwo")
        .with_help("remove: it")
        .with_suggestion("use z", Span::new(a, 8, 9), "z");
    let bare = Diagnostic::warning(DiagnosticCode::new("W0100"), "odd").at(Span::new(a, 4, 16), "");
    (map, vec![full, bare])
}

#[test]
fn json_has_every_field() {
    let (map, diagnostics) = sample();
    let text = to_json(&diagnostics, &map);
    let place =
        json!({"file": "./evals/a b,1:2%.yaml", "line": 1, "column": 5, "end_line": 1, "end_column": 6});
    let with = |extra: Value| {
        let mut object = place.as_object().cloned().unwrap_or_default();
        object.extend(extra.as_object().cloned().unwrap_or_default());
        Value::Object(object)
    };
    let expected = json!({
        "diagnostics": [
            with(json!({
                "code": "E0203",
                "severity": "error",
                "title": "100% bad",
                "label": "an x",
                "secondary": [{
                    "file": "evals/b.jsonl", "line": 41, "column": 8, "end_line": 41, "end_column": 9,
                    "text": "first, here"
                }],
                "notes": ["one\r\ntwo"],
                "help": ["remove: it"],
                "suggestion": with(json!({"title": "use z", "replacement": "z"})),
            })),
            with(json!({
                "code": "W0100",
                "severity": "warning",
                "title": "odd",
                "column": 4,
                "end_line": 3,
                "end_column": 1,
                "label": "",
                "secondary": [],
                "notes": [],
                "help": [],
                "suggestion": null,
            })),
        ],
        "errors": 1,
        "warnings": 1,
    });
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    let report: JsonReport = serde_json::from_str(&text).unwrap();
    assert_eq!(report.diagnostics[0].secondary[0].place.line, 41);
    assert!(text.starts_with("{\n  \"diagnostics\": [\n    {\n      \"code\"") && text.ends_with("}\n"));
}

#[test]
fn github_commands_are_escaped() {
    let (map, diagnostics) = sample();
    assert_eq!(
        to_github(&diagnostics, &map),
        "::error file=evals/a b%2C1%3A2%25.yaml,line=1,endLine=1,col=5,endColumn=6,title=E0203::\
         100%25 bad%0Aan x%0Anote: one%0Atwo%0Ahelp: remove: it%0Ahelp: use z: `z`\n\
         ::warning file=evals/a b%2C1%3A2%25.yaml,line=1,endLine=2,title=W0100::odd\n"
    );
}

#[test]
fn a_message_cannot_start_a_command_of_its_own() {
    let mut map = SourceMap::new();
    let id = map.add("a\n::error ::x", "a");
    let evil = "x\n::set-env name=A::B\r::stop\u{1b}[0m";
    let diagnostic =
        Diagnostic::error(DiagnosticCode::new("E0001"), evil).at(Span::new(id, 0, 1), evil).with_note(evil);
    let out = to_github(&[diagnostic], &map);
    assert_eq!(out.lines().count(), 1);
    assert!(!out.contains(['\r', '\u{1b}']));
    assert!(out.starts_with("::error file=a%0A%3A%3Aerror %3A%3Ax,line=1,"), "{out}");
}

#[test]
fn sarif_follows_the_standard() {
    let (map, mut diagnostics) = sample();
    diagnostics.reverse();
    let tool = ReportingTool {
        name: "tool",
        version: "1.2.3",
        information_uri: None,
        describe: &|code| (code.as_str() == "E0203").then_some("a thing is bad"),
    };
    let region = |line, start, end| json!({"startLine": line, "startColumn": start, "endLine": line, "endColumn": end});
    let artifact = json!({"uri": "evals/a%20b%2C1%3A2%25.yaml"});
    let expected = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tool",
                "version": "1.2.3",
                "rules": [{"id": "E0203", "shortDescription": {"text": "a thing is bad"}}, {"id": "W0100"}],
            }},
            "columnKind": "unicodeCodePoints",
            "results": [
                {
                    "ruleId": "W0100",
                    "ruleIndex": 1,
                    "level": "warning",
                    "message": {"text": "odd"},
                    "locations": [{"physicalLocation": {
                        "artifactLocation": artifact,
                        "region": {"startLine": 1, "startColumn": 4, "endLine": 3, "endColumn": 1},
                    }}],
                },
                {
                    "ruleId": "E0203",
                    "ruleIndex": 0,
                    "level": "error",
                    "message": {"text": "100% bad: an x\nnote: one\r\ntwo\nhelp: remove: it"},
                    "locations": [{
                        "physicalLocation": {"artifactLocation": artifact, "region": region(1, 5, 6)},
                        "message": {"text": "an x"},
                    }],
                    "relatedLocations": [{
                        "id": 1,
                        "physicalLocation": {
                            "artifactLocation": {"uri": "evals/b.jsonl"},
                            "region": region(41, 8, 9),
                        },
                        "message": {"text": "first, here"},
                    }],
                    "fixes": [{
                        "description": {"text": "use z"},
                        "artifactChanges": [{
                            "artifactLocation": artifact,
                            "replacements": [{
                                "deletedRegion": region(1, 5, 6),
                                "insertedContent": {"text": "z"},
                            }],
                        }],
                    }],
                },
            ],
        }],
    });
    assert_eq!(serde_json::from_str::<Value>(&to_sarif(&[(&diagnostics, &map)], tool)).unwrap(), expected);
}
