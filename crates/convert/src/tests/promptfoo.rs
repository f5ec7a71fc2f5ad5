//! promptfoo configurations: `convert` writes the cases that `eval` runs, and lists omitted parts.

use std::path::Path;
use std::sync::Arc;

use crate::{ConvertError, ConvertedFile, ExportFormat, convert, convert_records, detect};
use assize_evalfile::LoadOptions;
use assize_load::load_suite;
use assize_model::{AnswerCheck, Case, GraderKind, Suite, TargetSpecKind};
use assize_records::RecordFormat;
use assize_rubric::UnitInterval;
use serde_json::json;

fn options(folder: &Path) -> LoadOptions {
    LoadOptions { environment: Arc::new(|_| Some("a-secret".to_owned())), ..LoadOptions::new(folder) }
}

fn load(path: &Path) -> (Suite, Vec<Case>) {
    let loaded = load_suite(path, &options(path.parent().expect("a folder")));
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let cases = loaded.cases.iter().map(|case| (*case.expect("readable")).clone()).collect();
    (loaded.suite.expect("a suite"), cases)
}

/// Writes a configuration into a folder and converts it.
fn run(folder: &Path, text: &str, to: ExportFormat) -> Result<ConvertedFile, ConvertError> {
    let path = folder.join("promptfooconfig.yaml");
    std::fs::write(&path, text).expect("written");
    std::fs::write(folder.join("own.js"), "").expect("written");
    convert(&path, detect(&path).expect("known"), to, &options(folder))
}

/// Converts a configuration to an eval file beside it, and loads that file.
fn converted(folder: &Path, text: &str) -> (ConvertedFile, Suite, Vec<Case>) {
    let converted = run(folder, text, ExportFormat::Format2).expect("converted");
    let path = folder.join("new.eval.yaml");
    std::fs::write(&path, &converted.text).expect("written");
    let (suite, cases) = load(&path);
    (converted, suite, cases)
}

fn lost(converted: &ConvertedFile) -> Vec<String> {
    converted.notes.iter().filter(|note| note.lost).map(ToString::to_string).collect()
}

const PROMPTFOO: &str = r"
prompts: ['Answer: {{q}}']
providers: [openai:chat:gpt-4.1, 'file://own.js']
defaultTest:
  assert:
    - {type: llm-rubric, value: 'Is polite to {{q}}', weight: 2}
assertionTemplates:
  short: {type: icontains, value: arrr}
sharing: true
tests:
  - description: First one
    vars: {q: Yes}
    assert:
      - {type: g-eval, value: [Coherence, Fluency], threshold: 0.6}
      - {type: not-contains, value: x}
      - $ref: '#/assertionTemplates/short'
      - {type: similar, value: y}
      - {type: factuality, value: 'Paris is in {{q}}', provider: openai:m}
      - {type: assert-set, threshold: 0.5, assert: [{type: equals, value: a}, {type: javascript, value: b}]}
  - vars: {q: two}
    threshold: 0.5
    assert: [{type: cost, threshold: 0.01}, {type: is-json}, {type: latency}]
";

const SCRIPTS: &str = r"
prompts: ['{{q}}']
providers: [echo]
tests:
  - vars: {q: Hi, least: 2}
    assert:
      - {type: javascript, value: output.length >= context.vars.least, threshold: 0.5, config: {a: 1}}
      - {type: not-python, value: len(output) > 9}
      - {type: similar, value: Hello}
";

/// Code and the echo provider survive a conversion and the way back.
#[test]
fn scripts_are_kept_in_both_directions() {
    let folder = tempfile::tempdir().expect("a folder");
    let (there, suite, cases) = converted(folder.path(), SCRIPTS);
    assert_eq!(lost(&there), Vec::<String>::new());
    assert_eq!(suite.settings.targets[0].name, "echo");
    assert_eq!(cases[0].vars["least"], 2);
    let GraderKind::Check(AnswerCheck::Script(check)) = &cases[0].graders[0].kind else { panic!("a script") };
    assert_eq!((check.threshold, &check.config), (Some(0.5), &json!({"a": 1})));
    assert!(cases[0].graders[1].weighting.negate);

    let path = folder.path().join("new.eval.yaml");
    let options = options(folder.path());
    let back = convert(&path, detect(&path).expect("known"), ExportFormat::Promptfoo, &options);
    let back = back.expect("converted");
    for part in [
        "- echo",
        "type: javascript",
        "value: output.length >= context.vars.least",
        "type: not-python",
        "value: len(output) > 9",
        "type: similar",
    ] {
        assert!(back.text.contains(part), "{part} is not in\n{}", back.text);
    }
    let lost = lost(&back);
    assert!(lost.len() == 1 && lost[0].contains("its code reads variables"), "{lost:#?}");
}

#[test]
fn assertions_become_graders_or_notes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (converted, suite, cases) = converted(folder.path(), PROMPTFOO);
    let names: Vec<&str> = suite.settings.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["openai:chat:gpt-4.1", "file://own.js"]);
    let kinds: Vec<&str> = cases[0].graders.iter().map(|grader| grader.type_name.as_str()).collect();
    assert_eq!(kinds, ["rubrics", "rubrics", "contains", "icontains", "similar", "rubrics", "composite"]);
    assert_eq!(cases[0].question(), "Answer: Yes", "a word is no truth value");
    assert!(cases[0].graders.iter().all(|grader| grader.weighting.required));
    assert_eq!(cases[0].graders[0].weighting.weight.get(), 2.0);
    assert!(cases[0].graders[2].weighting.negate);
    assert_eq!(cases[0].graders[1].weighting.min_score, UnitInterval::new(0.6).ok());
    let GraderKind::Rubric(judged) = &cases[0].graders[5].kind else { panic!("a rubric") };
    assert_eq!(judged.judge.as_deref(), Some("openai:m"));
    assert_eq!(cases[0].thresholds.pass, Some(UnitInterval::ZERO), "only the assertions decide");
    assert!(
        cases[1].graders.iter().all(|grader| !grader.weighting.required),
        "with a threshold only the score counts"
    );
    assert_eq!(cases[1].thresholds.pass, UnitInterval::new(0.5).ok());
    let lost = lost(&converted);
    for part in [":9: `sharing` has no effect", ":22: `latency` needs `threshold`"] {
        assert!(lost.iter().any(|note| note.contains(part)), "{part}: {lost:#?}");
    }
    assert_eq!(lost.len(), 2, "{lost:#?}");
    for to in [ExportFormat::Format1, ExportFormat::Scorecard] {
        run(folder.path(), PROMPTFOO, to).expect("these as well");
    }
}

#[test]
fn every_key_is_read_or_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "prompts: ['{{ q }}']\nproviders: ['adaline:openai:gpt-4', 'openai:embedding:e', 'openai:chat', 'openai:chat:gpt-4.1']\n\
        defaultTest:\n  assertScoringFunction: file://s.js\n  metadata: {team: a}\n  unheard: 7\ntests:\n\
        - vars: file://v.yaml\n  assert: [{type: contains, value: x}]\n\
        - vars: {q: y}\n  assert: not a list\n- 7\n\
        - description: Kept\n  vars: {q: y}\n  metadata: {kind: b}\n  assert: [{type: contains, value: x}]\n";
    let (converted, suite, cases) = converted(folder.path(), config);
    let targets: Vec<&str> = suite.settings.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(targets, ["openai:embedding:e", "openai:chat:gpt-4.1"]);
    assert_eq!(cases.len(), 1);
    let metadata = &cases[0].metadata;
    assert_eq!(
        (&metadata["team"], &metadata["kind"], &metadata["description"]),
        (&json!("a"), &json!("b"), &json!("Kept"))
    );
    let lost = lost(&converted);
    for part in [
        ":2: provider `adaline:openai:gpt-4`: can't be run here",
        ":2: provider `openai:chat`: can't be run here",
        ":4: file not found: `s.js`",
        ":4: `assertScoringFunction`: the function that computes the score is not converted",
        ":6: unknown key `unheard`",
        ":8: file not found: `v.yaml`",
        ":11: `assert` must be a list of assertions",
        ":12: a test must be a map",
    ] {
        assert!(lost.iter().any(|note| note.contains(part)), "{part}: {lost:#?}");
    }
    assert_eq!(lost.len(), 8, "{lost:#?}");

    let config = "prompts: [{raw: x, config: {a: 1}}]\ndefaultTest: file://d.yaml\ntests:\n\
        - id: Named By Its Id\n  $ref: '#/t'\n  assert: [{type: contains, value: x, weight: two}, {type: is-json}]\n";
    let (converted, _, cases) = self::converted(folder.path(), config);
    assert_eq!(cases[0].id.as_str(), "Named By Its Id");
    assert_eq!(cases[0].graders.len(), 1);
    let lost = self::lost(&converted);
    for part in [
        "file not found: `file://d.yaml`", "`config` of a prompt", "unknown key `$ref`",
        "`weight` must be a number",
    ] {
        assert!(lost.iter().any(|note| note.contains(part)), "{part}: {lost:#?}");
    }
}

/// Covers a command that a configuration defines, a transform of its answers and one of all answers, and named
/// scores.
#[test]
fn settings_of_providers_and_transforms_are_carried_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "prompts: ['{{q}}']\nproviders:\n- {id: 'openai:chat:m', label: warm, config: {temperature: 0.9}, transform: output.trim()}\n\
        - echo\ndefaultTest: {options: {transform: output.toLowerCase(), provider: 'openai:chat:judge'}}\n\
        tests:\n- {vars: {q: a}, assert: [{type: llm-rubric, value: Is kind}, {type: max-score, value: {weights: {llm-rubric: 2}}}]}\n";
    let (converted, suite, cases) = converted(folder.path(), config);
    assert_eq!(lost(&converted), Vec::<String>::new());
    let TargetSpecKind::Model(model) = &suite.defined_targets[0].kind else { panic!("a model") };
    assert_eq!((suite.defined_targets[0].name.as_str(), model.temperature), ("warm", Some(0.9)));
    let targets: Vec<Option<&str>> =
        cases[0].transforms.iter().map(|transform| transform.target.as_deref()).collect();
    assert_eq!(targets, [Some("warm"), None]);
    let GraderKind::Rubric(judged) = &cases[0].graders[0].kind else { panic!("a rubric") };
    assert_eq!(judged.judge.as_deref(), Some("openai:chat:judge"));
}

/// Covers lists of values, tests in files, commands, given answers and contexts.
#[test]
fn what_eval_runs_is_carried_over() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("more")).expect("a folder");
    for (name, text) in [
        ("tests.csv", "q,__expected\nfrom a row,contains:row\n"),
        (
            "more/a.yaml",
            "- vars: {q: from a pattern}\n  assert: [{type: javascript, value: 'file://check.js'}]\n",
        ),
        ("more/check.js", "module.exports = (output) => output.length > 0;\n"),
        ("more/b.jsonl", "{\"vars\": {\"q\": \"from a line\"}, \"assert\": [{\"type\": \"is-json\"}]}\n"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let config = "description: All of it\nprompts: ['{{q}}', 'Please: {{q}}']\nproviders: ['exec:cat']\ntests:\n\
        - description: Values that multiply\n  vars: {q: [one, two], other: [x, y, z]}\n  assert: [{type: contains, value: '{{other}}'}]\n\
        - file://tests.csv\n- file://more/*.yaml\n- file://more/*.jsonl\n\
        - providerOutput: given\n  vars: {q: a, query: b, context: c}\n\
        \x20 assert: [{type: context-faithfulness, threshold: 0.5}, {type: contains-xml}]\n";
    let (converted, suite, cases) = converted(folder.path(), config);

    assert_eq!(lost(&converted), Vec::<String>::new());
    assert_eq!(cases.len(), 2 * (6 + 1 + 2 + 1), "each prompt with each combination");
    assert_eq!(converted.cases, cases.len());
    assert_eq!(suite.settings.targets[0].name, "exec:cat");
    assert!(matches!(suite.defined_targets[0].kind, TargetSpecKind::Command(_)));
    assert!(matches!(suite.defined_targets[0].kind, assize_model::TargetSpecKind::Command(_)));
    assert_eq!(suite.description.as_deref(), Some("All of it"));
    assert_eq!(cases[0].metadata["description"], "Values that multiply");
    assert_eq!(cases[1].question(), "Please: one");
    let given = cases.last().expect("cases");
    assert!(given.output.is_some());
    assert!(matches!(given.graders[0].kind, GraderKind::Context(_)), "{:?}", given.graders[0].kind);
    assert!(matches!(given.graders[1].kind, GraderKind::Check(AnswerCheck::Script(_))));
}

/// A part with an error is omitted and reported once, with the number of cases that lack it. The rest is
/// converted.
#[test]
fn what_is_lost_is_named_once_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "prompts: ['{{q}}']\nproviders: [echo]\ndefaultTest:\n  assert:\n    - {type: search-rubric, value: a}\n\
        tests:\n  - {vars: {q: a}, assert: [{type: contains, value: a}, {type: contians, value: b}]}\n\
        \x20 - {vars: {q: b}, assert: [{type: latency}, {type: is-json}, {type: equals, value: c, weight: 0}]}\n  - {vars: {q: file://none.txt}}\n";
    let (converted, _, cases) = converted(folder.path(), config);

    // An assertion that only measures is kept.
    assert_eq!(cases.iter().map(|case| case.graders.len()).collect::<Vec<_>>(), [1, 2]);
    let lost = lost(&converted);
    for part in [
        ":5: there is no assertion type `search-rubric` here",
        "(2 cases)",
        ":7: unknown assertion type `contians`",
        ":8: ",
        ":9: file not found",
    ] {
        assert!(lost.iter().any(|note| note.contains(part)), "{part}: {lost:#?}");
    }
    assert_eq!(lost.len(), 4, "{lost:#?}");
}

/// A literal secret in a definition is hidden in messages, and the rest of the file is not changed.
#[test]
fn a_secret_in_a_definition_is_never_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.eval.yaml");
    let text = "targets: [{name: t, provider: openai, model: m, api_key: sk-very-secret-value}]\nunheard: 1\n\
        tests:\n  - {id: a, input: 'api_key: x', assertions: [{type: contains, value: x}]}\n";
    std::fs::write(&path, text).expect("written");
    let loaded = load_suite(&path, &options(folder.path()));
    assert_eq!(loaded.cases.iter().next().expect("a case").expect("readable").question(), "api_key: x");
    let shown = format!("{:?}", loaded.sources);
    assert!(!shown.contains("very-secret") && loaded.has_errors(), "{shown}");
}

/// Assertions in stored results become the same graders as in a configuration.
#[test]
fn assertions_of_results_become_graders_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = |number: usize, assertions: serde_json::Value| {
        json!({
            "testIdx": number, "promptIdx": 0, "success": true, "score": 1, "vars": {"q": "tea", "photo": "file://x.png"},
            "prompt": {"raw": format!("Say tea {number}"), "label": "Say {{q}}"}, "provider": {"id": "echo"},
            "response": {"output": "tea"}, "testCase": {"vars": {"q": "tea"}, "assert": assertions},
        })
    };
    let results = json!({"evalId": "eval-1", "config": {}, "results": {"version": 3, "results": [
        result(0, json!([{"type": "contains", "value": "{{q}}"}, {"type": "search-rubric", "value": "a"}])),
        result(1, json!([{"type": "context-recall", "value": "x"}, {"type": "not-word-count", "value": 4}])),
    ]}});
    let path = folder.path().join("results.json");
    std::fs::write(&path, results.to_string()).expect("written");
    let options = options(folder.path());
    let found = convert_records(&path, RecordFormat::Promptfoo, ExportFormat::Format2, false, &options);
    let found = found.expect("converted");

    let new = folder.path().join("new.eval.yaml");
    std::fs::write(&new, &found.text).expect("written");
    let (_, cases) = load(&new);
    let kinds: Vec<Vec<&str>> = cases
        .iter()
        .map(|case| case.graders.iter().map(|grader| grader.type_name.as_str()).collect())
        .collect();
    assert_eq!(kinds, [vec!["contains"], vec!["context-recall", "javascript"]], "{}", found.text);
    assert!(found.text.contains("value: tea"), "{}", found.text);
    let lost = lost(&found);
    assert!(lost.len() == 1 && lost[0].contains("there is no assertion type `search-rubric`"), "{lost:#?}");
}
