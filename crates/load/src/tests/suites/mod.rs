//! Eval files in, suites, cases and complaints out.

mod datasets;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use assize_evalfile::LoadedSuite;
use assize_model::{Case, EvalFileFormat, GivenOutput, GraderKind};
use assize_rubric::{CaseMessage, MessageBlock, MessageRole, TrialStrategy};

use crate::tests::suites::support::{Folder, SMALL, cases, codes, names, one, said, sound};

#[test]
fn both_formats_give_the_same_kind_of_case() {
    let old = one("
dataset: demo
description: About x
execution: {target: main}
evaluator: llm_judge
evalcases:
  - id: one
    expected_outcome: Explains quicksort
    conversation_id: talk
    input_messages:
      - {role: user, content: Explain quicksort}
    expected_messages:
      - {role: assistant, content: It divides}
    rubrics: [Mentions pivots]
    execution:
      target: other
      evaluators:
        - {name: syntax, type: code_judge, script: python -m py_compile}
");
    sound(&old);
    let suite = old.suite.as_ref().expect("read");
    assert_eq!((suite.format, suite.name.as_str()), (EvalFileFormat::One, "demo"));
    assert_eq!(suite.settings.targets[0].name, "main");
    let case = &cases(&old)[0];
    assert_eq!(names(case), ["rubrics", "syntax"]);
    assert_eq!(case.targets[0].name, "other");
    assert_eq!(case.conversation_id.as_deref(), Some("talk"));
    assert_eq!(case.reference().as_deref(), Some("It divides"));

    let new = one("
name: demo
tags: [slow]
version: '1.0'
execution: {targets: [m1, {name: m2, use_target: m1}], workers: 4, threshold: 0.7, borderline: 0.5, judging: {batched: 5}, evidence: required, judge: offline, budget_usd: 2.5}
assertions:
  - {name: tone, type: rubrics, criteria: [Is polite]}
tests:
  - id: one
    criteria: Explains quicksort
    input: Explain quicksort
    expected_output: It divides
    tags: [x]
    metadata: {owner: me}
    assertions: [Mentions pivots]
  - id: two
    criteria: c
    input: i
    execution: {skip_defaults: true, threshold: 0.9}
    output: An answer
");
    sound(&new);
    let suite = new.suite.as_ref().expect("read");
    assert_eq!(suite.format, EvalFileFormat::Two);
    assert_eq!(suite.metadata["version"], "1.0");
    let settings = &suite.settings;
    assert_eq!(settings.targets[1].use_target.as_deref(), Some("m1"));
    assert_eq!(settings.workers, Some(4));
    assert_eq!(settings.thresholds.pass.map(assize_rubric::UnitInterval::get), Some(0.7));
    assert_eq!(settings.judge.as_deref(), Some("offline"));
    let cases = cases(&new);
    assert_eq!(cases[0].question(), "Explain quicksort");
    assert_eq!(names(&cases[0]), ["rubrics", "tone"]);
    assert_eq!(names(&cases[1]), ["rubrics"]);
    assert_eq!(cases[1].output, Some(GivenOutput::Text("An answer".into())));
    assert_eq!(cases[1].thresholds.pass.map(assize_rubric::UnitInterval::get), Some(0.9));
    let GraderKind::Rubric(rubric) = &cases[1].graders[0].kind else { panic!("a rubric") };
    assert_eq!(rubric.rubric.criteria()[0].text, "c");
}

#[test]
fn spellings_of_the_other_format_are_read_with_a_warning() {
    let loaded = one("
eval_cases:
  - id: a
    input_messages: [{role: user, content: hi}]
    expected_outcome: Says hello
    expected_messages: [{role: assistant, content: hello}]
    assert: [Says hello]
");
    assert_eq!(codes(&loaded), ["W0401 2", "W0401 4", "W0401 5", "W0401 6", "W0401 7"]);
    assert_eq!(loaded.cases.len(), 1);
    assert!(!loaded.has_errors());
    let loaded = one("evalcases:\n  - {id: a, input: hi, criteria: Says hello, assertions: [b]}\n");
    assert_eq!(codes(&loaded), ["W0401 2", "W0401 2"]);
}

#[test]
fn graders_are_merged_by_the_rule_of_the_format() {
    let two = one("
assertions: [{name: s, type: is-json}, Suite line]
tests:
  - {id: a, input: i, assertions: [Case line, {type: is-json}]}
  - {id: b, input: i}
  - {id: c, input: i, criteria: x, execution: {skip_defaults: true}}
  - {id: d, input: i, rubrics: [r], assertions: [{name: s, type: is-json}]}
");
    assert_eq!(codes(&two), ["W0301 7", "W0305 7"], "{}", said(&two));
    let list = cases(&two);
    assert_eq!(names(&list[0]), ["rubrics", "is-json", "s", "rubrics-2"]);
    assert_eq!(names(&list[1]), ["s", "rubrics"]);
    assert_eq!(names(&list[2]), ["rubrics"]);
    assert_eq!(names(&list[3]), ["rubrics", "s", "s-2", "rubrics-2"]);
    let one = one("
execution: {evaluators: [{name: s, type: latency, threshold: 5}]}
evalcases:
  - {id: a, input: i, expected_outcome: x, evaluators: [{name: c, type: cost, budget: 1}]}
  - {id: b, input: i, expected_outcome: x, rubrics: [r]}
  - {id: c, input: i, expected_outcome: x}
");
    sound(&one);
    let list = cases(&one);
    assert_eq!(names(&list[0]), ["c"]);
    assert_eq!(names(&list[1]), ["rubrics", "s"]);
    assert_eq!(names(&list[2]), ["s"]);
}

#[test]
fn what_decides_nothing_is_refused() {
    let loaded = one("
tests:
  - {id: a, input: i}
  - {id: b, input: i, expected_output: x}
  - {id: c, input: i, assertions: []}
  - {id: d, input: i, assertions: [{type: is-json, weight: 0}]}
  - {id: e, input: i, criteria: x, assertions: [y], assert: [z]}
  - {id: f, criteria: x}
  - {id: g, input: i, criteria: '  '}
  - {id: h, input: i, criteria: [a, b]}
");
    let expected = ["E0408 3", "E0408 4", "E0418 5", "E0411 6", "E0410 7", "E0407 8", "E0107 9", "E0105 10"]
        .map(str::to_owned);
    assert_eq!(codes(&loaded), expected, "{}", said(&loaded));
    assert!(loaded.cases.is_empty());
}

#[test]
fn suite_input_and_files_reach_every_case_that_does_not_decline() {
    let folder = Folder::new(&[
        (
            "evals/a.yaml",
            "
input: [{role: system, content: Be brief}]
input_files: [shared.md]
tests:
  - {id: a, criteria: c, input: hi}
  - {id: b, criteria: c, input: hi, input_files: ['own.md']}
  - {id: c, criteria: c, input: hi, execution: {skip_defaults: true}}
  - {id: d, criteria: c, input: [{role: user, content: one}, {role: user, content: two}]}
  - {id: e, criteria: c, input: [{role: assistant, content: one}]}
",
        ),
        ("evals/shared.md", "shared\r\ntext"),
        ("own.md", "own"),
    ]);
    let loaded = folder.load("evals/a.yaml");
    assert_eq!(codes(&loaded), ["E0409 9"], "{}", said(&loaded));
    let cases = cases(&loaded);
    let texts = |case: &Case| case.input.iter().map(CaseMessage::to_text).collect::<Vec<_>>();
    assert_eq!(texts(&cases[0]), ["Be brief", "shared\ntext\nhi"]);
    // Beside the eval file it is not; the working folder is looked into last.
    assert_eq!(texts(&cases[1]), ["Be brief", "own\nhi"]);
    assert_eq!(texts(&cases[2]), ["hi"]);
    assert_eq!(texts(&cases[3]), ["Be brief", "one", "shared\ntext\ntwo"]);
    assert!(
        matches!(&cases[0].input[1].blocks[0], MessageBlock::File { written, .. } if written == "shared.md")
    );
}

#[test]
fn files_are_told_apart_by_their_keys() {
    for (name, text, code, word) in [
        ("a.yaml", "", "E0419", "empty"),
        ("a.yaml", "# only\n\n# comments\n", "E0419", "empty"),
        ("a.yaml", "~\n", "E0419", "empty"),
        ("a.yaml", "just text\n", "E0105", "must be a map"),
        ("a.yaml", "- {id: a}\n", "E0401", "this is a list"),
        ("a.yaml", "targets:\n  - name: x\n", "E0401", "targets file"),
        ("a.yaml", "rubrics:\n  - x\n", "E0401", "rubric"),
        ("a.yaml", "assertions:\n  - x\n", "E0401", "template"),
        ("a.yaml", "providers: [x]\nredteam: {}\n", "E0401", "promptfoo"),
        ("a.yaml", "execution: {target: x}\n", "E0401", "settings"),
        ("a.yaml", "evalcase:\n  - {id: a}\n", "E0401", "no list of cases"),
        ("a.yaml", "hello: 1\n", "E0401", "no list of cases"),
        ("a.yaml", "tests: []\nevalcases: []\n", "E0402", "both"),
        ("a.yaml", "tests: []\n", "E0403", "no cases"),
        ("a.yaml", "tests:\n", "E0403", "no cases"),
        ("a.yaml", "tests: {id: a}\n", "E0105", "list of cases"),
        ("a.yaml", "tests: [\n", "E0001", "YAML"),
        ("a.yaml", "tests:\n\t- id: a\n", "E0001", "YAML"),
        ("evals.json", "{\"skill_name\": \"x\", \"evals\": []}", "E0401", "Agent Skills"),
        ("a.json", "{\"tests\": [}", "E0002", "JSON"),
        ("a.json", "", "E0419", "empty"),
        ("a.eval.ts", "export default {}", "E0401", "program"),
        ("a.csv", "id,input\n", "E0507", "kind of file"),
        ("a.txt", "x", "E0401", "not an eval file"),
        ("a.jsonl", "\n \n", "E0403", "no cases"),
        ("a.jsonl", "{\"test_id\": \"a\", \"score\": 1}\n", "E0401", "results"),
    ] {
        let loaded = Folder::new(&[(name, text)]).load(name);
        assert_eq!(loaded.diagnostics.len(), 1, "{text:?}: {}", said(&loaded));
        let found = &loaded.diagnostics[0];
        assert_eq!(found.code.as_str(), code, "{text:?}: {}", said(&loaded));
        assert!(found.title.contains(word), "{text:?}: {}", found.title);
        assert!(!found.help.is_empty() || found.suggestion.is_some(), "{text:?}: no help");
    }
}

#[test]
fn files_that_can_not_be_read_are_refused() {
    let folder = Folder::new(&[]);
    folder.write("latin.yaml", b"tests:\n  - id: a\n    input: caf\xe9\n");
    folder.write("folder.yaml/x", b"");
    let loaded = folder.load("latin.yaml");
    assert_eq!(codes(&loaded), ["E0504 3"]);
    assert_eq!(loaded.sources.position(loaded.diagnostics[0].primary.span).column, 15);
    assert_eq!(codes(&folder.load("folder.yaml")), ["E0502 1"]);
    assert_eq!(codes(&folder.load("gone.yaml")), ["E0501 1"]);
    assert_eq!(codes(&folder.load("gone.jsonl")), ["E0501 1"]);
    let big = fs::File::create(folder.path("big.yaml")).expect("created");
    big.set_len(80 * 1024 * 1024).expect("sparse");
    let loaded = folder.load("big.yaml");
    assert_eq!(codes(&loaded), ["E0505 1"]);
    assert!(loaded.diagnostics[0].help[0].contains("JSONL"));
}

#[test]
fn byte_order_mark_and_line_ends_do_not_matter() {
    let folder = Folder::new(&[]);
    let text = format!("\u{feff}{}", SMALL.replace('\n', "\r\n"));
    folder.write("a.yaml", text.as_bytes());
    sound(&folder.load("a.yaml"));
    folder.write(
        "b.jsonl",
        "\u{feff}{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}\r\n\r\n".as_bytes(),
    );
    let loaded = folder.load("b.jsonl");
    sound(&loaded);
    assert_eq!(loaded.cases.len(), 1);
}

#[test]
fn ids_are_strings_and_unique() {
    let loaded = one("
tests:
  - {id: a/b c, input: i, criteria: c}
  - {id: 7, input: i, criteria: c}
  - {id: '', input: i, criteria: c}
  - {id: \"a\\u0007\", input: i, criteria: c}
  - {id: ' a', input: i, criteria: c}
  - {input: i, criteria: c}
  - {id: , input: i, criteria: c}
  - {id: a/b c, input: i, criteria: c}
");
    assert_eq!(
        codes(&loaded),
        ["E0405 4", "E0405 5", "E0405 6", "E0405 7", "E0404 8", "E0404 9", "E0406 10"],
        "{}",
        said(&loaded)
    );
    assert_eq!(cases(&loaded)[0].id.as_str(), "a/b c");
    let number = &loaded.diagnostics[0];
    assert_eq!(number.suggestion.as_ref().map(|s| s.replacement.as_str()), Some("\"7\""));
    let second = &loaded.diagnostics[6];
    assert_eq!(loaded.sources.position(second.secondary[0].span).line, 3);
}

#[test]
fn unknown_keys_and_foreign_keys_are_errors() {
    let loaded = one("
nmae: x
providers: [y]
execution: {worker: 3, provider: y, timeout: 3}
x-note: free
tests:
  - {id: a, input: i, criteria: c, expectd_output: z, x-mine: 1}
  - {id: b, question: i, criteria: c}
  - {id: c, input: i, criteria: c, execution: {workers: 2, skip_default: true}}
  - {id: d, input: i, criteria: c, execution: {timeout_seconds: 3}}
");
    assert_eq!(
        codes(&loaded),
        [
            "E0103 2", "E0414 3", "E0103 4", "E0414 4", "E0414 4", "E0103 7", "E0414 8", "E0414 9",
            "E0103 9", "E0414 10",
        ],
        "{}",
        said(&loaded)
    );
    assert!(said(&loaded).contains("did you mean `expected_output`?"));
    assert_eq!(
        said(&loaded).matches("write `timeout_seconds` in the target").count(),
        2,
        "{}",
        said(&loaded)
    );
}

#[test]
fn a_quoted_text_of_several_lines_says_what_is_wrong_with_it() {
    let (outdented, open) = ("begins too far to the left", "that opens here is not closed");
    for (text, words) in [
        ("input: \"hello\n   world\"\n    criteria: c", outdented),
        ("input: 'hello\n   world'\n    criteria: c", outdented),
        ("input: \"hello\n  - id: b\n    input: \"x\"", open),
        ("input: 'hello\n  - id: b\n    input: 'x'", open),
        ("input: \"hello\n    criteria: c", open),
    ] {
        let loaded = one(&format!("tests:\n  - id: a\n    {text}\n"));
        assert!(said(&loaded).contains(words), "{text}: {}", said(&loaded));
    }
}

#[test]
fn how_often_cases_are_run_has_several_spellings() {
    let suite = |text: &str| {
        let loaded = one(&format!("{text}\ntests: [{{id: a, input: i, criteria: c}}]\n"));
        sound(&loaded);
        loaded.suite.expect("read").settings.trials.expect("trials")
    };
    for (text, count, strategy) in [
        ("execution: {trials: {count: 3}}", 3, TrialStrategy::PassAtK),
        ("execution: {trials: 4}", 4, TrialStrategy::PassAtK),
        ("execution: {repeat: 5}", 5, TrialStrategy::PassAtK),
        ("repeat: 2", 2, TrialStrategy::PassAtK),
        ("trials: {count: 2, strategy: mean}", 2, TrialStrategy::Mean),
        (
            "execution: {repeat: {count: 2, strategy: confidence_interval}}",
            2,
            TrialStrategy::ConfidenceInterval,
        ),
        ("trials: {count: 2, strategy: pass_all}", 2, TrialStrategy::PassAll),
        ("trials: {count: 2, strategy: pass_any}", 2, TrialStrategy::PassAtK),
    ] {
        let trials = suite(text);
        assert_eq!((trials.count, trials.strategy), (count, strategy), "{text}");
    }
    let trials = suite("trials: {count: 2, early_stop: true, cost_limit_usd: 0.5}");
    assert!(trials.early_stop && trials.cost_limit == assize_rubric::Usd::from_dollars(0.5));

    let loaded = one(
        "tests: [{id: a, input: i, criteria: c, execution: {trials: 2}}, {id: b, input: i, criteria: c, repeat: 3}]\n",
    );
    sound(&loaded);
    let counts: Vec<Option<u32>> = cases(&loaded).iter().map(|case| case.trials.map(|of| of.count)).collect();
    assert_eq!(counts, [Some(2), Some(3)]);

    for (text, code) in [
        ("trials: 0", "E0106"),
        ("trials: 2.5", "E0106"),
        ("trials: lots", "E0105"),
        ("trials: {count: 1001}", "E0106"),
        ("trials: {count: 1, strategy: confidence_interval}", "E0106"),
        ("trials: {count: 2, strategy: mean, early_stop: true}", "E0414"),
        ("trials: {count: 2, cost_limit_usd: 0}", "E0106"),
        ("{trials: 2, execution: {trials: 3}", "E0104"),
        ("{trials: 2, repeat: 3", "E0104"),
    ] {
        let text = match text.strip_prefix('{') {
            Some(rest) => format!("{{{rest}, tests: [{{id: a, input: i, criteria: c}}]}}"),
            None => format!("{text}\ntests: [{{id: a, input: i, criteria: c}}]\n"),
        };
        let found = codes(&one(&text));
        assert!(found.iter().any(|line| line.starts_with(code)), "{text}: {found:?}");
    }
}

#[test]
fn what_is_not_built_yet_is_read_and_noted() {
    let loaded = one("
workspace: {hooks: {before_all: {command: [x]}}, docker: {image: i}}
preprocessors: [{type: xlsx, command: [x]}]
execution:
  trials: {count: 3, strategy: mean, cost_limit_usd: 1}
  cache: true
  fail_on_error: true
  targets: [{name: m, hooks: {before_each: {command: [x]}}}]
tests:
  - id: a
    mode: conversation
    aggregation: min
    on_turn_failure: stop
    window_size: 3
    input: [{role: system, content: s}]
    turns:
      - {input: one, assertions: [Says one]}
      - {input: two, expected_output: zwei}
  - {id: b, input: i, criteria: c, depends_on: [a], on_dependency_failure: fail}
");
    sound(&loaded);
    let suite = loaded.suite.as_ref().expect("read");
    assert_eq!(suite.unbuilt, []);
    assert_eq!(suite.preprocessors[0].media_type.rsplit('.').next(), Some("sheet"));
    assert_eq!(suite.settings.trials.map(|trials| trials.count), Some(3));
    let cases = cases(&loaded);
    assert_eq!(cases[0].unbuilt, []);
    assert!(cases[0].graders.is_empty());
    let talk = cases[0].conversation.as_ref().expect("a conversation");
    assert_eq!((talk.turns.len(), talk.window_size), (2, Some(3)));
    assert_eq!(talk.turns[0].graders.len(), 1);
    assert_eq!(talk.turns[1].graders[0].type_name, "llm-grader");
    assert_eq!(cases[1].depends_on[0].as_str(), "a");

    let loaded = one("
execution: {trials: {strategy: best}, workers: 99, cache_path: x, threshold: 0.5, borderline: 0.6, skip_defaults: true}
workspace: {isolation: alone}
tests:
  - {id: a, input: i, criteria: c, mode: conversation}
  - {id: b, input: i, criteria: c, turns: []}
  - {id: c, input: i, criteria: c, turns: [{expected_output: x}]}
  - {id: d, input: i, criteria: c, depends_on: [nobody]}
  - {id: e, input: i, criteria: c, depends_on: [f]}
  - {id: f, input: i, criteria: c, depends_on: [e]}
  - {id: g, input: i, criteria: c, depends_on: [g]}
  - {id: h, input: i, criteria: c, threshold: 7}
");
    let mut found = codes(&loaded);
    found.sort();
    let mut expected: Vec<String> = [
        "E0304 2", "E0307 2", "E0106 2", "W0403 2", "E0413 2", "E0414 2", "E0307 3", "E0417 5", "E0418 6",
        "E0407 7", "E0415 8", "E0415 9", "E0415 11", "E0106 12",
    ]
    .map(str::to_owned)
    .to_vec();
    expected.sort();
    assert_eq!(found, expected, "{}", said(&loaded));
}

#[test]
fn cases_come_from_files_folders_and_patterns() {
    let folder = Folder::new(&[
        (
            "a.yaml",
            "tests:\n  - {id: one, input: i, criteria: c}\n  - file://more/*.yaml\n  - file://rows.jsonl\n  - {id: last, input: i, criteria: c}\n",
        ),
        ("more/b.yaml", "- {id: b, input: i, criteria: c}\n"),
        ("more/a.yaml", "- {id: a, input: i, criteria: c}\n"),
        ("more/skip.txt", "x"),
        (
            "rows.jsonl",
            "{\"id\": \"r1\", \"input\": \"i\", \"assertions\": [\"x\"]}\n\n{\"id\": \"r2\", \"input\": \"i\", \"turns\": [{\"input\": \"q\", \"assertions\": [\"y\"]}]}\n",
        ),
        ("dir.yaml", "tests: cases/\n"),
        ("cases/x/case.yaml", "input: i\ncriteria: c\n"),
        ("cases/x/workspace/file", ""),
        ("cases/y/case.yml", "id: named\ninput: i\ncriteria: c\n"),
        ("cases/z/readme.md", ""),
        ("deep.yaml", "tests: ['file://**/case.y*ml']\n"),
        ("list.yaml", "tests: ./more/a.yaml\n"),
    ]);
    let ids = |loaded: &LoadedSuite| cases(loaded).iter().map(|case| case.id.to_string()).collect::<Vec<_>>();
    let loaded = folder.load("a.yaml");
    sound(&loaded);
    assert_eq!(ids(&loaded), ["one", "a", "b", "r1", "r2", "last"]);
    assert_eq!(loaded.cases.len(), 6);
    let rows = cases(&loaded);
    assert_eq!((rows[4].place.line, rows[4].place.path().file_name()), (3, Some("rows.jsonl".as_ref())));
    let loaded = folder.load("dir.yaml");
    assert_eq!(codes(&loaded), ["W0501 1"]);
    assert_eq!(ids(&loaded), ["x", "named"]);
    assert!(cases(&loaded)[0].workspace.is_some());
    assert_eq!(ids(&folder.load("list.yaml")), ["a"]);
    // A single case is not a list of cases.
    assert_eq!(codes(&folder.load("deep.yaml")), ["E0105 1", "E0105 1"]);
}

#[test]
fn references_that_lead_nowhere_are_errors() {
    let folder = Folder::new(&[
        (
            "a.yaml",
            "tests:\n  - file://gone.yaml\n  - file://no/*.yaml\n  - file://data.csv\n  - file://suite.yaml\n  - file://empty.yaml\n  - file://none.jsonl\n  - file://nested.yaml\n  - plain.yaml\n  - file://bad[.yaml\n  - file://hollow/\n",
        ),
        ("data.csv", "id\n"),
        ("suite.yaml", SMALL),
        ("empty.yaml", "# nothing\n"),
        ("none.jsonl", "\n"),
        ("nested.yaml", "- file://suite.yaml\n"),
        ("hollow/x", ""),
    ]);
    let loaded = folder.load("a.yaml");
    let mut found = codes(&loaded);
    found.sort();
    assert_eq!(
        found,
        [
            "E0105 1", "E0105 9", "E0403 7", "E0414 1", "E0419 6", "E0501 2", "E0506 10", "E0506 11",
            "E0506 3", "E0507 4"
        ],
        "{}",
        said(&loaded)
    );
}

#[test]
#[cfg(unix)]
fn links_do_not_lead_out_of_the_root() {
    let outside =
        Folder::new(&[("secret.md", "secret"), ("cases/x.yaml", "- {id: x, input: i, criteria: c}\n")]);
    let folder = Folder::new(&[(
        "a.yaml",
        "tests:\n  - {id: a, criteria: c, input: i, input_files: [link.md]}\n  - file://links/*.yaml\n  - file://out.yaml\n",
    )]);
    let link = |to: PathBuf, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).expect("linked");
    fs::create_dir(folder.path("links")).expect("a folder");
    link(outside.path("secret.md"), "link.md");
    link(outside.path("cases/x.yaml"), "links/x.yaml");
    link(outside.path("cases/x.yaml"), "out.yaml");
    let loaded = folder.load("a.yaml");
    assert_eq!(codes(&loaded), ["E0503 2", "E0503 3", "E0503 4"], "{}", said(&loaded));
    assert!(loaded.cases.is_empty());
}

#[test]
fn the_environment_is_put_in_and_never_shown() {
    let folder = Folder::new(&[(
        "a.yaml",
        "
execution: {target: '${{ TARGET }}', workers: '${{ WORKERS }}', threshold: '${{ LINE }}'}
tests:
  - {id: a, input: 'Key ${{ PLACE }}', criteria: c, output: 'echo ${{ PLACE }}'}
  - {id: b, input: 'x ${{ MISSING }}', criteria: c}
  - {id: '${{ PLACE }}', input: [{role: '${{ PLACE }}', content: x}], criteria: c}
  - {id: '${{ PLACE }}', input: i, criteria: c}
",
    )]);
    let loaded = folder.load_with(
        "a.yaml",
        &[("TARGET", "main"), ("WORKERS", "3"), ("LINE", "7"), ("PLACE", "sk-very-secret")],
    );
    let suite = loaded.suite.as_ref().expect("read");
    assert_eq!(suite.settings.targets[0].name, "main");
    assert_eq!(suite.settings.workers, Some(3));
    assert_eq!(codes(&loaded), ["E0106 2", "E0412 5", "E0409 6", "E0406 7"], "{}", said(&loaded));
    assert!(!said(&loaded).contains("sk-very-secret"), "{}", said(&loaded));
    assert!(said(&loaded).contains("unknown role `${{ PLACE }}`"));
    assert!(!loaded.diagnostics[0].primary.text.contains('7'), "{}", loaded.diagnostics[0].primary.text);
    let case = &cases(&loaded)[0];
    assert_eq!(case.question(), "Key sk-very-secret");
    assert_eq!(case.output, Some(GivenOutput::Text("echo ${{ PLACE }}".into())));
}

#[test]
fn variables_reach_the_texts_of_their_case() {
    let loaded = one("
tests:
  - id: a
    vars: {city: Oslo}
    criteria: About {{ city }}
    input: 'Where is {{ city }}? {{ ctiy }}'
    expected_output: {name: '{{ city }}'}
    assertions: ['Names {{ city }}']
");
    assert_eq!(codes(&loaded), ["W0402 6"]);
    let case = &cases(&loaded)[0];
    assert_eq!(case.question(), "Where is Oslo? {{ ctiy }}");
    assert_eq!(case.expected_outcome.as_deref(), Some("About Oslo"));
    assert!(case.reference().expect("there").contains("Oslo"));
    let GraderKind::Rubric(rubric) = &case.graders[0].kind else { panic!("a rubric") };
    assert_eq!(rubric.rubric.criteria()[0].text, "Names Oslo");
}

#[test]
fn aliases_duplicate_keys_and_odd_numbers() {
    let loaded = one("
x-base: &base {input: i, criteria: c}
tests:
  - {<<: *base, id: a}
  - {<<: *base, id: b, input: own}
  - {id: c, id: d, input: i, criteria: c}
  - {<<: *base, id: e, threshold: .nan}
  - {<<: *base, id: f, threshold: '0.5'}
");
    assert_eq!(codes(&loaded), ["E0101 6", "E0106 7", "E0105 8"], "{}", said(&loaded));
    assert_eq!(cases(&loaded)[1].question(), "own");
}

#[test]
fn a_json_eval_file_is_read_like_yaml() {
    let folder =
        Folder::new(&[("a.json", "{\"tests\": [{\"id\": \"a\", \"input\": \"i\", \"criteria\": \"c\"}]}")]);
    sound(&folder.load("a.json"));
}

#[test]
fn roles_and_images() {
    let folder = Folder::new(&[
        (
            "a.yaml",
            "tests:\n  - id: a\n    criteria: c\n    input: [{role: user, content: [look, {type: image, value: p.PNG}]}]\n",
        ),
        ("p.PNG", "not really"),
    ]);
    let loaded = folder.load("a.yaml");
    sound(&loaded);
    let case = &cases(&loaded)[0];
    assert_eq!(case.input[0].role, MessageRole::User);
    assert!(
        matches!(&case.input[0].blocks[1], MessageBlock::Image { media_type: "image/png", path, .. } if path.ends_with(Path::new("p.PNG")))
    );
}

#[test]
fn a_value_that_is_not_set_is_complained_about_once() {
    let loaded = one("
execution: {workers: '${{ N }}'}
tests:
  - {id: a, input: i, criteria: '${{ TEXT }}'}
  - {id: '${{ ID }}', input: i, criteria: c}
");
    assert_eq!(codes(&loaded), ["E0412 2", "E0412 4", "E0412 5"], "{}", said(&loaded));
}

#[test]
fn containers_and_preprocessors_are_checked() {
    for (text, expected) in [
        ("workspace: {docker: {}}", &["E0304 1"][..]),
        ("workspace: {docker: {image: -v}}", &["E0105 1"]),
        ("workspace: {docker: {image: i, memory: '2 g'}}", &["E0105 1"]),
        ("workspace: {docker: {image: i, cpus: 0}}", &["E0106 1"]),
        ("workspace: {docker: {image: i, timeout: soon}}", &["E0105 1"]),
        ("workspace: {docker: {image: i, imgae: x}}", &["E0103 1"]),
        ("preprocessors: {type: xlsx, command: x}", &["E0105 1"]),
        ("preprocessors: [{type: xlsx}]", &["E0304 1"]),
        ("preprocessors: [{command: [x]}]", &["E0304 1"]),
        ("preprocessors: [{type: xlsx, command: []}]", &["E0308 1"]),
        ("preprocessors: [xlsx]", &["E0105 1"]),
    ] {
        let loaded = one(&format!("{text}\ntests: [{{id: a, input: i, criteria: c}}]\n"));
        assert_eq!(codes(&loaded), expected, "{text}: {}", said(&loaded));
    }
}
