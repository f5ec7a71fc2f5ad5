//! Checks every row of the table of AgentV's keys: each key is put into a file, which is loaded.

use std::fs;
use std::path::Path;

use crate::load_suite;
use assize_diagnostic::{Diagnostic, Severity};
use assize_evalfile::{AGENTV_KEYS, AgentvKey, AgentvPlace, AgentvSupport, LoadOptions, load_targets};

/// Codes of diagnostics about settings without effect and unknown keys.
const IDLE_CODES: [&str; 3] = ["W0603", "W0403", "E0103"];

/// The result of loading a file: errors, missing features, and settings without effect.
#[derive(Debug, Default)]
struct LoadOutcome {
    refused: Vec<String>,
    idle: Vec<String>,
}

impl LoadOutcome {
    fn add(&mut self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            let line = format!("{} {}", diagnostic.code.as_str(), diagnostic.title);
            if diagnostic.severity == Severity::Error {
                self.refused.push(line);
            } else if IDLE_CODES.contains(&diagnostic.code.as_str()) {
                self.idle.push(line);
            }
        }
    }
}

fn outcome(key: &AgentvKey) -> LoadOutcome {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.txt", "a.jsonl", "folder/file.txt"] {
        fs::create_dir_all(folder.path().join(name).parent().expect("inside")).expect("a folder");
        fs::write(folder.path().join(name), "").expect("written");
    }
    let options = LoadOptions::new(folder.path());
    let text = text_with(key);
    let mut outcome = LoadOutcome::default();
    if matches!(key.place, AgentvPlace::Target(..)) {
        fs::write(folder.path().join("targets.yaml"), &text).expect("written");
        let loaded = load_targets(Path::new("."), None, &options);
        outcome.add(&loaded.diagnostics);
        let target = loaded.targets.iter().find(|target| target.name == "a").expect("the target");
        outcome.refused.extend(target.obstacles());
        outcome.idle.extend(target.without_effect.iter().map(|found| found.feature.clone().into_owned()));
        return outcome;
    }

    let path = folder.path().join("a.eval.yaml");
    fs::write(&path, &text).expect("written");
    let loaded = load_suite(&path, &options);
    outcome.add(&loaded.diagnostics);
    let cases: Vec<_> = loaded.cases.iter().filter_map(Result::ok).collect();
    let unbuilt = loaded.suite.iter().flat_map(|suite| &suite.unbuilt);
    let unbuilt = unbuilt.chain(cases.iter().flat_map(|case| &case.unbuilt));
    outcome.refused.extend(unbuilt.map(|found| found.feature.clone().into_owned()));

    outcome
}

/// Returns a map in one line, with the pair instead of any other value of the key.
fn with_pair(others: &str, key: &AgentvKey) -> String {
    let others = split_pairs(others);
    let pairs = others.into_iter().filter(|pair| pair.split(':').next() != Some(key.name));
    let pairs: Vec<String> = pairs.chain([format!("{}: {}", key.name, key.example)]).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// Splits the pairs of a map in one line at commas outside of brackets.
fn split_pairs(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut pairs = vec![String::new()];
    for letter in text.chars() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            pairs.push(String::new());
        } else {
            pairs.last_mut().expect("there is one").push(letter);
        }
    }

    pairs.iter().map(|pair| pair.trim().to_owned()).filter(|pair| !pair.is_empty()).collect()
}

fn text_with(key: &AgentvKey) -> String {
    let suite = |head: &str| format!("{head}\ntests: [{{id: a, input: i, criteria: c}}]\n");
    let graded =
        |grader: &str| format!("tests: [{{id: a, input: i, expected_output: o, assertions: [{grader}]}}]\n");
    match key.place {
        AgentvPlace::File if ["tests", "eval_cases"].contains(&key.name) => {
            format!("{}: {}\n", key.name, key.example)
        }
        AgentvPlace::File => suite(&format!("{}: {}", key.name, key.example)),
        AgentvPlace::Case => {
            let others = match key.name {
                "turns" | "mode" | "aggregation" | "on_turn_failure" | "window_size" => {
                    "id: a, mode: conversation, turns: [{input: i, assertions: [c]}]"
                }
                "expected_outcome" | "rubrics" => "id: a, input: i",
                "on_dependency_failure" => "id: a, input: i, criteria: c, depends_on: [other]",
                _ => "id: a, input: i, criteria: c",
            };
            format!("tests: [{{id: other, input: i, criteria: c}}, {}]\n", with_pair(others, key))
        }
        AgentvPlace::Execution => suite(&format!("execution: {}", with_pair("", key))),
        AgentvPlace::Trials => suite(&format!("execution: {{trials: {}}}", with_pair("count: 2", key))),
        AgentvPlace::Workspace => suite(&format!("workspace: {}", with_pair("", key))),
        AgentvPlace::Docker => suite(&format!("workspace: {{docker: {}}}", with_pair("image: i", key))),
        AgentvPlace::Repository => {
            suite(&format!("workspace: {{repos: [{}]}}", with_pair("path: a, repo: org/name", key)))
        }
        AgentvPlace::Hook => suite(&format!(
            "workspace: {{template: folder, hooks: {{before_each: {}}}}}",
            with_pair(if key.name == "script" { "" } else { "command: [x]" }, key)
        )),
        AgentvPlace::Turn => format!(
            "tests: [{{id: a, mode: conversation, turns: [{}]}}]\n",
            with_pair("input: i, assertions: [c]", key)
        ),
        AgentvPlace::Grader(kind, others) => {
            let others = match key.name {
                "script" => String::new(),
                "evaluators" => others.replace("assertions: [{name: a, type: contains, value: a}], ", ""),
                _ => others.to_owned(),
            };
            graded(&with_pair(&format!("type: {kind}, {others}"), key))
        }
        AgentvPlace::Criterion => {
            let others = if key.name == "min_score" {
                "id: a, outcome: o, score_ranges: [{score_range: [0, 10], outcome: a}]"
            } else {
                "id: a, outcome: o"
            };
            graded(&format!("{{type: rubrics, criteria: [{}]}}", with_pair(others, key)))
        }
        AgentvPlace::Call => graded(&format!(
            "{{type: tool-trajectory, mode: in_order, expected: [{}]}}",
            with_pair("tool: a", key)
        )),
        AgentvPlace::Target(provider, others) => {
            let others = match key.name {
                "use_target" => "name: a".to_owned(),
                "deployment" => format!("name: a, provider: {provider}"),
                _ => format!("name: a, provider: {provider}, {others}"),
            };
            format!(
                "targets:\n- {}\n- {{name: other, provider: mock, response: x}}\n",
                with_pair(&others, key)
            )
        }
        AgentvPlace::Option => unreachable!("options are tested with the command line"),
    }
}

#[test]
fn every_row_of_the_table_tells_what_happens() {
    let mut wrong = Vec::new();
    for key in AGENTV_KEYS.iter().filter(|key| key.place != AgentvPlace::Option) {
        let found = outcome(key);
        let matches = match key.support {
            AgentvSupport::Read => found.refused.is_empty() && found.idle.is_empty(),
            AgentvSupport::NoEffect => found.refused.is_empty() && !found.idle.is_empty(),
            AgentvSupport::Refused => !found.refused.is_empty(),
        };
        if !matches {
            wrong.push(format!("{} `{}` is {:?}: {found:?}", key.place.title(), key.name, key.support));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_read_says_why() {
    for key in AGENTV_KEYS.iter().filter(|key| key.support != AgentvSupport::Read) {
        assert!(!key.remark.is_empty(), "{} `{}`", key.place.title(), key.name);
    }
    let places = AGENTV_KEYS.iter().map(|key| (key.place.title(), key.name));
    let unique: std::collections::BTreeSet<_> = places.collect();
    assert_eq!(unique.len(), AGENTV_KEYS.len(), "a key has two rows");
}
