//! Files with prompts, providers and tests, and the cases that they expand to.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::load_suite;
use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::{AnswerCheck, Case, GraderKind, TargetSpecKind};
use assize_promptfoo::{
    ASSERTION_TYPES, AssertionSupport, EVALUATION_KEYS, MATRIX_KEYS, MatrixKeySupport, OPTION_KEYS,
    PROVIDER_KEYS, TEST_KEYS,
};
use assize_rubric::UnitInterval;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Loaded {
    loaded: LoadedSuite,
    _folder: TempDir,
}

fn load_with(text: &str, files: &[(&str, &str)]) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text).expect("written");
    let options = LoadOptions {
        environment: Arc::new(|name| (name == "CITY").then(|| "Oslo".to_owned())),
        ..LoadOptions::new(folder.path())
    };

    Loaded { loaded: load_suite(Path::new(&path), &options), _folder: folder }
}

fn cases_with(text: &str, files: &[(&str, &str)]) -> Vec<Arc<Case>> {
    let loaded = load_with(text, files);
    let problems: Vec<String> = loaded
        .loaded
        .diagnostics
        .iter()
        .filter(|found| found.severity == assize_diagnostic::Severity::Error)
        .map(|found| format!("{}: {} ({})", found.code, found.title, found.primary.text))
        .collect();
    assert_eq!(problems, Vec::<String>::new());
    loaded.loaded.cases.iter().map(|case| case.expect("valid")).collect()
}

fn cases(text: &str) -> Vec<Arc<Case>> {
    cases_with(text, &[])
}

fn codes(text: &str) -> Vec<String> {
    load_with(text, &[]).loaded.diagnostics.iter().map(|found| found.code.to_string()).collect()
}

fn questions(text: &str, files: &[(&str, &str)]) -> Vec<String> {
    cases_with(text, files).iter().map(|case| case.question()).collect()
}

const ASSERT: &str = "assert: [{type: contains, value: a}]";

#[test]
fn prompts_tests_and_lists_of_texts_multiply() {
    let text = format!(
        "prompts: ['Hi {{{{ name }}}}', {{label: long, raw: 'Dear {{{{ name }}}}, {{{{ tone }}}}'}}]\n\
         providers: [echo]\ntests:\n- {{vars: {{name: [Ada, Bo], tone: calm}}, {ASSERT}}}\n"
    );
    assert_eq!(questions(&text, &[]), ["Hi Ada", "Dear Ada, calm", "Hi Bo", "Dear Bo, calm"]);
    let ids: Vec<String> = cases(&text).iter().map(|case| case.id.to_string()).collect();
    assert_eq!(
        ids,
        [
            "test-1/vars-1/prompt-1", "test-1/vars-1/prompt-2", "test-1/vars-2/prompt-1",
            "test-1/vars-2/prompt-2"
        ]
    );
    assert_eq!(cases(&text)[0].vars["name"], "Ada");
}

#[test]
fn lists_of_maps_and_disabled_expansion_do_not_multiply() {
    let text = format!(
        "prompts: ['{{{{ items | length }}}} {{{{ items }}}}']\nproviders: [echo]\ntests:\n\
         - {{vars: {{items: [{{a: 1}}, {{a: 2}}]}}, {ASSERT}}}\n\
         - {{vars: {{items: [x, y]}}, options: {{disableVarExpansion: true}}, {ASSERT}}}\n"
    );
    assert_eq!(questions(&text, &[]), [r#"2 [{"a":1},{"a":2}]"#, "2 x,y"]);
}

#[test]
fn each_assertion_is_a_gate_unless_the_test_has_a_threshold() {
    let text = "prompts: [p]\nproviders: [echo]\ntests:\n\
         - {assert: [{type: contains, value: a}, {type: contains, value: b, weight: 0}]}\n\
         - {threshold: 0.5, assert: [{type: contains, value: a}]}\n\
         - {threshold: 0, assert: [{type: contains, value: a}]}\n";
    let cases = cases(text);
    let required =
        |case: &Case| case.graders.iter().map(|grader| grader.weighting.required).collect::<Vec<_>>();
    let line = |case: &Case| case.thresholds.pass.map(assize_rubric::UnitInterval::get);
    assert_eq!((required(&cases[0]), line(&cases[0])), (vec![true, false], Some(0.0)));
    assert_eq!((required(&cases[1]), line(&cases[1])), (vec![false], Some(0.5)));
    assert_eq!((required(&cases[2]), line(&cases[2])), (vec![false], Some(0.0)));
}

#[test]
fn the_default_test_comes_first_and_fills_what_is_missing() {
    let text = "prompts: ['{{ a }} {{ b }}']\nproviders: [echo]\n\
         defaultTest: {vars: {a: 1, b: 2}, assert: [{type: contains, value: x}], metadata: {k: 1}}\n\
         tests:\n- {vars: {b: 3}, assert: [{type: icontains, value: y}]}\n\
         - {options: {disableDefaultAsserts: true}, vars: {a: 4}, assert: [{type: icontains, value: z}]}\n";
    let cases = cases(text);
    let types = |case: &Case| case.graders.iter().map(|grader| grader.type_name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (cases[0].question(), types(&cases[0])),
        ("1 3".to_owned(), vec!["contains".into(), "icontains".into()])
    );
    assert_eq!(
        (cases[1].question(), types(&cases[1])),
        ("4 2".to_owned(), vec!["icontains".into()]),
        "only the assertions are disabled"
    );
    assert_eq!((&cases[0].metadata["k"], &cases[1].metadata["k"]), (&json!(1), &json!(1)));
}

#[test]
fn both_spellings_are_read_and_decide_how_a_test_passes() {
    let camel = "prompts: [p]\nproviders: [echo]\ndefaultTest: {assert: [{type: contains, value: a}]}\ntests: [{vars: {x: 1}}]\n";
    let snake = "prompts: [p]\nproviders: [agent]\ndefault_test: {assert: [Is polite]}\ntests: [{id: one, vars: {x: 1}}]\n";
    assert!(cases(camel)[0].graders[0].weighting.required);
    let case = &cases(snake)[0];
    assert!(!case.graders[0].weighting.required && case.thresholds.pass.is_none());
    assert!(matches!(case.graders[0].kind, GraderKind::Rubric(_)));
    assert_eq!(case.id.as_str(), "one");
}

#[test]
fn scenarios_run_each_setting_with_each_test() {
    let text = format!(
        "prompts: ['{{{{ phrase }}}} in {{{{ lang }}}}']\nproviders: [echo]\nscenarios:\n\
         - config: [{{vars: {{lang: French}}}}, {{vars: {{lang: German}}}}]\n  tests:\n\
         \x20 - {{vars: {{phrase: hello}}, {ASSERT}}}\n  - {{vars: {{phrase: bye}}, {ASSERT}}}\n"
    );
    assert_eq!(
        questions(&text, &[]),
        ["hello in French", "bye in French", "hello in German", "bye in German"]
    );
}

#[test]
fn assertions_may_share_a_metric() {
    let set = "{type: assert-set, assert: [{type: contains, value: a, metric: m}, {type: equals, value: a, metric: m}]}";
    for key in ["", "name: in AgentV's spelling\n"] {
        let text = format!(
            "prompts: [p]\nproviders: [echo]\n{key}tests:\n- assert: [{{type: contains, value: a, metric: m}}, {{type: equals, value: a, metric: m}}, {set}]\n"
        );
        assert_eq!(codes(&text), Vec::<String>::new());
        let case = &cases(&text)[0];
        assert_eq!([0, 1].map(|at| case.graders[at].name.as_str()), ["m", "m-2"]);
        assert_eq!(case.metrics.len(), 4, "those of the members of the set too");
    }
}

#[test]
fn an_empty_set_is_named_as_a_set() {
    for set in ["{type: assert-set}", "{type: assert-set, assert: []}", "{type: assert-set, assert: x}"] {
        let text = format!("prompts: [p]\nproviders: [echo]\ntests: [{{assert: [{set}]}}]\n");
        let loaded = load_with(&text, &[]).loaded;
        let titles: Vec<&str> = loaded.diagnostics.iter().map(|found| found.title.as_str()).collect();
        assert_eq!(titles, ["a set has no assertions"], "{set}");
    }
}

/// The location of the file decides, not its keys.
#[test]
fn a_promptfooconfig_is_in_promptfoos_spelling() {
    let text =
        "prompts: [p]\nproviders: [echo]\nname: n\ntests: [{id: a, assert: [{type: contains, value: a}]}]\n";
    let folder = tempfile::tempdir().expect("a folder");
    let required = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        let loaded = load_suite(&path, &LoadOptions::new(folder.path()));
        let case = loaded.cases.iter().next().expect("a case").expect("valid");
        case.graders[0].weighting.required
    };
    assert!(required("promptfooconfig.dev.yaml"), "each assertion must pass");
    assert!(!required("suite.yaml"), "the mean decides in AgentV's");
}

#[test]
fn a_scenario_is_never_dropped_in_silence() {
    let file = |scenario: &str| {
        format!("prompts: ['in {{{{ lang }}}}']\nproviders: [echo]\nscenarios:\n- {scenario}\n")
    };
    let own = format!("{{config: [{{vars: {{lang: French}}, {ASSERT}}}]}}");
    assert_eq!(questions(&file(&own), &[]), ["in French"], "settings are tests if there are no others");
    for scenario in [
        "{tests: [{vars: {lang: a}}]}",
        "{config: [], tests: [{vars: {lang: a}}]}",
        "{config: null, tests: [{vars: {lang: a}}]}",
        "{config: [{vars: {lang: a}}], tests: []}",
    ] {
        let found = codes(&file(scenario));
        assert_eq!(found.first().map(String::as_str), Some("E0425"), "{scenario}: {found:?}");
    }
    let beside = format!("{}tests: [{{vars: {{lang: b}}, {ASSERT}}}]\n", file("{config: []}"));
    assert_eq!(codes(&beside), ["E0425"], "other tests do not hide it");
}

#[test]
fn included_suites_are_selected_and_run_as_the_entry_says() {
    let other = "name: other\ndefault_test: {assert: [{type: contains, value: q}]}\nthreshold: 0.9\ntests:\n\
         - {id: x1, vars: {word: q}, metadata: {tags: [fast], area: [a, b]}, assert: [{type: contains, value: q}]}\n\
         - {id: y1, vars: {word: q}, tags: [slow], threshold: 0.7, assert: [{type: contains, value: q}]}\n";
    let load = |entry: &str| {
        let text = format!(
            "name: n\nprompts: ['Say {{{{ word }}}}']\nproviders: [{{id: echo, label: e}}]\ntests: [{entry}]\n"
        );
        cases_with(&text, &[("other.eval.yaml", other)])
    };
    let ids = |entry: &str| load(entry).iter().map(|case| case.id.to_string()).collect::<Vec<_>>();
    for (select, expected) in [
        ("'x*'", "x1"),
        ("['z*', y1]", "y1"),
        ("{test_ids: '*1', tags: slow}", "y1"),
        ("{tags: [fa*]}", "x1"),
        ("{metadata: {area: b}}", "x1"),
    ] {
        let entry = format!("{{include: other.eval.yaml, type: suite, select: {select}}}");
        assert_eq!(ids(&entry), [expected], "{select}");
    }

    let cases = load("{include: other.eval.yaml, type: suite, run: {threshold: 0.2}}");
    let thresholds: Vec<_> = cases.iter().map(|case| case.thresholds.pass.map(UnitInterval::get)).collect();
    assert_eq!(thresholds, [Some(0.2), Some(0.7)], "a threshold of its own holds");
    assert_eq!(cases[0].graders.len(), 2, "the suite's own assertions hold");
    let plain = load("{include: other.eval.yaml, type: suite}");
    assert_eq!(plain[0].thresholds.pass.map(UnitInterval::get), Some(0.9));

    for entry in [
        "{include: other.eval.yaml, type: suite, select: none*}",
        "{include: other.eval.yaml, type: suite, run: {repeat: 3}}",
        "{include: other.eval.yaml, type: suite, select: {name: x}}",
        "{include: other.eval.yaml, type: suit}",
    ] {
        let text = format!("name: n\nprompts: [p]\nproviders: [{{id: echo, label: e}}]\ntests: [{entry}]\n");
        let loaded = load_with(&text, &[("other.eval.yaml", other)]).loaded;
        assert!(loaded.diagnostics.iter().any(|found| found.severity == Severity::Error), "{entry}");
    }
    for (right, wrong, part) in [
        ("threshold: 0.9", "threshold: high", "`threshold`"),
        ("threshold: 0.9", "assert: polite", "`assert`"),
    ] {
        let text = "name: n\nprompts: [p]\nproviders: [{id: echo, label: e}]\ntests: [{include: o.yaml, type: suite}]\n";
        let loaded = load_with(text, &[("o.yaml", &other.replace(right, wrong))]).loaded;
        let errors: Vec<&str> = loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| found.title.as_str())
            .collect();
        assert!(matches!(errors.as_slice(), [title] if title.contains(part)), "{wrong}: {errors:?}");
    }
    let own_prompts = format!("prompts: [x]\n{other}");
    let text =
        "name: n\nprompts: [p]\nproviders: [{id: echo, label: e}]\ntests: [{include: o.yaml, type: suite}]\n";
    let loaded = load_with(text, &[("o.yaml", &own_prompts)]).loaded;
    let codes: Vec<String> = loaded.diagnostics.iter().map(|found| found.code.to_string()).collect();
    assert_eq!(codes, ["E0414"], "prompts of the other suite are not replaced in silence");
}

#[test]
fn tests_variables_and_prompts_come_from_files() {
    let files = [
        ("prompts.txt", "First {{ q }}\n---\nSecond {{ q }}\n"),
        (
            "tests.csv",
            "q,__expected,__expected2,__metric,__threshold\n\"one, two\",contains: one,javascript: output.length > 2,m,0.5\n",
        ),
        (
            "more.jsonl",
            "{\"vars\": {\"q\": \"three\"}, \"assert\": [{\"type\": \"equals\", \"value\": 3}]}\n",
        ),
        ("text.md", "from a file\n"),
        ("list.yaml", "- {vars: {q: file://text.md}, assert: [{type: contains, value: a}]}\n"),
    ];
    let text = "prompts: file://prompts.txt\nproviders: [echo]\n\
         tests: ['file://tests.csv', 'file://more.jsonl', 'file://list.yaml']\n";
    let cases = cases_with(text, &files);
    let questions: Vec<String> = cases.iter().map(|case| case.question()).collect();
    assert_eq!(
        questions,
        [
            "First one, two", "Second one, two", "First three", "Second three", "First from a file",
            "Second from a file"
        ]
    );
    assert_eq!(cases[0].graders[0].name, "m");
    assert!(matches!(cases[0].graders[1].kind, GraderKind::Check(AnswerCheck::Script(_))));
    assert_eq!(cases[0].metadata["prompt"], "prompts.txt:1");
    assert_eq!(cases[0].thresholds.pass.map(assize_rubric::UnitInterval::get), Some(0.5));
}

#[test]
fn chat_prompts_are_messages_and_variables_keep_them_intact() {
    let text = r#"
prompts:
  - '[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "{{ q }}"}]'
  - |
    - role: user
      content: "Again: {{ q }}"
  - [{role: user, content: [{type: text, text: "Part {{ q }}"}]}]
providers: [echo]
tests: [{vars: {q: 'say "x"'}, assert: [{type: contains, value: a}]}]
"#;
    let found = questions(text, &[]);
    assert_eq!(found[0], "[system]\nBe brief\n\n[user]\nsay \"x\"");
    assert_eq!(found[2], "Part say \"x\"");
}

#[test]
fn a_variable_of_the_file_is_none_of_the_environment() {
    let text = "prompts: ['{{ env.CITY }} {{ env.OTHER | default(\"x\") }} {{ env.OWN }}']\nenv: {OWN: mine}\n\
         providers: [echo]\ntests: [{assert: [{type: contains, value: a}]}]\n";
    assert_eq!(questions(text, &[]), ["Oslo x mine"]);
    let unset = "prompts: ['{{ env.NOT_SET }}']\nproviders: [echo]\ntests: [{assert: [{type: contains, value: a}]}]\n";
    assert_eq!(codes(unset), ["E0412"]);
}

#[test]
fn names_that_are_not_defined_are_warnings_and_stand_for_nothing() {
    let text = "prompts: ['Hi {{ nmae }}', 'Hi{% if shy %}?{% endif %}']\nproviders: [echo]\n\
         tests: [{vars: {name: Ada}, assert: [{type: contains, value: a}]}]\n";
    assert_eq!(codes(text), ["W0402"]);
    assert_eq!(questions(text, &[]), ["Hi ", "Hi"]);
}

/// The rows of `nunjucks.json` were rendered by nunjucks itself.
#[test]
fn templates_render_as_nunjucks_does() {
    let table: Value = serde_json::from_str(include_str!("../../tests/nunjucks.json")).expect("JSON");
    let rows = table["rows"].as_array().expect("rows");
    let prompts: Vec<Value> = rows.iter().map(|row| json!({"raw": row[0], "label": row[0]})).collect();
    let test = json!({
        "vars": table["vars"], "options": {"disableVarExpansion": true},
        "assert": [{"type": "contains", "value": "a"}],
    });
    let file = json!({"prompts": prompts, "providers": ["echo"], "tests": [test]});
    let rendered = questions(&file.to_string(), &[]);
    assert_eq!(rendered.len(), rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .zip(&rendered)
        .filter(|(row, rendered)| row[1].as_str() != Some(rendered))
        .map(|(row, rendered)| format!("{}: {rendered:?} instead of {}", row[0], row[1]))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn templates_show_maps_as_json_and_name_what_they_do_not_read() {
    let file = |template: &str| {
        let prompt = json!({"raw": template, "label": "p"});
        json!({
            "prompts": [prompt], "providers": ["echo"],
            "tests": [{
                "vars": {"o": {"a": 1.0}, "l": [{"a": true}, null], "s": "x"},
                "options": {"disableVarExpansion": true}, "assert": [{"type": "contains", "value": "a"}],
            }],
        })
        .to_string()
    };
    for (template, expected) in [
        ("{{ o }}", r#"{"a":1}"#),
        ("{{ l }}", r#"[{"a":true},null]"#),
        ("{{ l | join(';') }}", r#"{"a":true};"#),
    ] {
        assert_eq!(questions(&file(template), &[]), [expected], "{template}");
    }
    for template in [
        "{{ s | nosuchfilter }}",
        "{{ s.nosuchmethod() }}",
        "{{ 2 | urlencode }}",
        "{% include 'x' %}",
        "{% for x in l %}{% set s = x %}{% endfor %}",
        "{% set s %}x{% endset %}",
        "{{ l | random }}",
    ] {
        assert_eq!(codes(&file(template)), ["E0423"], "{template}");
    }
}

#[test]
fn what_a_variable_holds_is_not_a_template_of_an_eval_file() {
    let text = "prompts: ['{{ text }}']\nproviders: [echo]\n\
         tests: [{vars: {text: 'use ${{ HOME }} and {{'}, assert: [{type: contains, value: '${{ X }}'}]}]\n";
    let found = load_with(text, &[]);
    let case = found.loaded.cases.iter().next();
    // `{{ HOME }}` is a template of this format, too. Text that can't be rendered stays unchanged.
    assert!(case.is_some_and(|case| case.is_ok_and(|case| case.question().starts_with("use $"))));
}

#[test]
fn providers_become_targets_and_choose_their_prompts() {
    let text = "prompts: [{label: a, raw: A}, {label: b, raw: B}]\n\
         providers:\n- echo\n- {id: 'openai:chat:gpt-4o-mini', label: small, prompts: [b], config: {temperature: 0.5, apiBaseUrl: 'http://localhost:1/v1'}}\n\
         - 'replicate:x/y'\ntests: [{assert: [{type: contains, value: a}]}]\n";
    let loaded = load_with(text, &[]).loaded;
    let suite = loaded.suite.expect("read");
    let names: Vec<&str> = suite.settings.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["echo", "small", "replicate:x/y"]);
    assert!(matches!(suite.defined_targets[0].kind, TargetSpecKind::Echo));
    let TargetSpecKind::Model(model) = &suite.defined_targets[1].kind else { panic!("a model") };
    assert_eq!(
        (model.provider, model.model.as_str(), model.temperature),
        ("openai", "gpt-4o-mini", Some(0.5))
    );
    let obstacles = suite.defined_targets[2].obstacles();
    assert!(obstacles[0].contains("`replicate:x/y` can't be run here"), "{obstacles:?}");

    let cases: Vec<_> = loaded.cases.iter().map(|case| case.expect("valid")).collect();
    let of_first: Vec<&str> = cases[0].targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!((of_first, cases[1].targets.len()), (vec!["echo", "replicate:x/y"], 0));
}

#[test]
fn a_misspelt_setting_of_a_provider_is_named_with_the_right_one() {
    let text = "prompts: [A]\nproviders:\n- id: openai:gpt-4o-mini\n  config: {temprature: 0.5, top_p: 1}\n\
         - {id: 'file://provider.py', config: {temprature: 1}}\n\
         tests: [{assert: [{type: contains, value: a}]}]\n";
    let loaded = load_with(text, &[]).loaded;

    let found: Vec<String> = loaded
        .diagnostics
        .iter()
        .map(|found| format!("{}: {}", found.title, found.help.join("; ")))
        .collect();
    let expected = "`temprature` in the `config` of a provider has no effect: did you mean `temperature`?";
    assert_eq!(found, [expected], "a program takes any setting");

    let targets = loaded.suite.expect("read").defined_targets;
    let idle: Vec<&str> = targets[0].without_effect.iter().map(|found| found.feature.as_ref()).collect();
    assert_eq!(idle, ["`top_p` in the `config` of a provider"]);
}

/// What cases take over from others: conversation, outputs that are used, output that is stored.
fn histories(text: &str) -> Vec<String> {
    let all = cases(text);
    let histories = all.iter().map(|case| {
        let Some(history) = &case.history else { return "-".to_owned() };
        let shown = if history.shows_turns { "" } else { " (hidden)" };
        let conversation = history.conversation.as_deref().map(|name| format!("{name}{shown}"));
        let used = (!history.uses.is_empty()).then(|| format!("uses {:?}", history.uses));
        let stored = history.stores.as_deref().map(|name| format!("stores {name}"));
        [conversation, used, stored].into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    histories.collect()
}

#[test]
fn tests_are_turns_of_the_conversation_that_their_prompt_shows() {
    let head = "prompts: ['{% for c in _conversation %}{{ c.output }}{% endfor %}{{ q }}', 'no _conversation, {{ q }}']\nproviders: [a:b]\n";
    let of = |tests: &str| histories(&format!("{head}tests: [{}]\n", tests.replace("ASSERT", ASSERT)));
    assert_eq!(
        of("{vars: {q: [one, two]}, ASSERT}, {vars: {q: c}, metadata: {conversationId: c}, ASSERT}"),
        ["prompt 1, conversation", "-", "prompt 1, conversation", "-", "prompt 1, conversation c", "-"]
    );
    assert_eq!(
        of(
            "{vars: {q: one}, options: {disableConversationVar: true}, ASSERT}, {vars: {q: two, _conversation: []}, ASSERT}"
        ),
        ["prompt 1, conversation (hidden)", "-", "prompt 1, conversation (hidden)", "-"]
    );
    let scenarios = format!(
        "{head}scenarios: [{{config: [{{vars: {{a: 1}}}}, {{vars: {{a: 2}}}}], tests: [{{vars: {{q: x}}, {ASSERT}}}]}}]\n"
    );
    assert_eq!(histories(&scenarios), ["prompt 1, scenario 1", "-", "prompt 1, scenario 2", "-"]);

    // Planned without the turns, and all cases of a conversation in one cluster.
    let all = cases(&format!("{head}tests: [{{vars: {{q: one}}, {ASSERT}}}]\n"));
    assert_eq!((all[0].question(), &all[0].vars["_conversation"]), ("one".into(), &json!([])));
    assert_eq!(all[1].conversation_id.as_deref(), Some("conversation"));
}

#[test]
fn a_test_uses_the_outputs_that_earlier_tests_store() {
    let of = |tests: &str| {
        histories(&format!(
            "prompts: ['{{{{ q }}}}']\nproviders: [a:b]\ntests: [{}]\n",
            tests.replace("ASSERT", ASSERT).replace("STORE", "options: {storeOutputAs: fruit}")
        ))
    };
    let stores = "stores fruit";
    for (tests, expected) in [
        (
            "{vars: {q: one}, STORE, ASSERT}, {vars: {q: 'Why {{fruit}}?'}, ASSERT}",
            [stores, "uses {\"fruit\"}"],
        ),
        (
            "{vars: {q: one}, STORE, ASSERT}, {vars: {q: b}, assert: [{type: contains, value: '{{ fruit }}'}]}",
            [stores, "uses {\"fruit\"}"],
        ),
        (
            "{vars: {q: one}, STORE, ASSERT}, {vars: {q: b}, assert: [{type: javascript, value: output == context.vars.fruit}]}",
            [stores, "uses {\"fruit\"}"],
        ),
        ("{vars: {q: one}, STORE, ASSERT}, {vars: {q: a fruit}, ASSERT}", ["-", "-"]),
        ("{vars: {q: 'Why {{fruit}}?', fruit: fig}, ASSERT}, {vars: {q: one}, STORE, ASSERT}", ["-", "-"]),
        ("{vars: {q: ['{{ fruit }}', b]}, STORE, ASSERT}", [stores, "uses {\"fruit\"}, stores fruit"]),
    ] {
        assert_eq!(of(tests), expected, "{tests}");
    }

    let text = format!(
        "prompts: ['{{{{ q }}}}']\nproviders: [a:b]\ntests: [{{vars: {{q: a}}, options: {{storeOutputAs: fruit}}, {ASSERT}}}, {{vars: {{q: 'Why {{{{fruit}}}}?'}}, {ASSERT}}}]\n"
    );
    assert_eq!(questions(&text, &[]), ["a", "Why <fruit>?"]);
    let all = cases(&text);
    let answers = json!({"fruit": "{{ q }} \u{1f34f}"});
    let test = all[1].authored.as_ref().expect("the test");
    let case = test.with_answers(answers.as_object().expect("a map")).expect("no problem");
    assert_eq!(case.question(), "Why {{ q }} \u{1f34f}?");
    assert_eq!(all[0].conversation_id, all[1].conversation_id);
    assert!(codes(&text.replace("fruit}}", "other}}")).contains(&"W0403".to_owned()));
}

#[test]
fn the_variable_of_a_key_is_read_and_the_form_of_a_judge_s_reply_is_ignored() {
    let text = "prompts: [p]\nproviders: [{id: 'openai:chat:m', config: {apiBaseUrl: 'https://a.example/v1', apiKeyEnvar: CITY}}]\n\
                defaultTest: {options: {provider: {id: 'openai:j', config: {response_format: {type: json_object}}}}}\n\
                tests: [{assert: [{type: llm-rubric, value: ok}]}]\n";
    let loaded = load_with(text, &[]).loaded;
    let found: Vec<&str> = loaded.diagnostics.iter().map(|found| found.title.as_str()).collect();
    assert_eq!(found, ["`response_format` has no effect"]);
    let targets = loaded.suite.expect("read").defined_targets;
    let TargetSpecKind::Model(spec) = &targets[0].kind else { panic!("{:?}", targets[0]) };
    assert_eq!(spec.api_key.as_ref().map(assize_model::SecretText::expose), Some("Oslo"));
    assert!(targets.iter().all(|target| target.errors.is_empty()), "{targets:?}");
}

#[test]
fn json_in_a_yaml_file_is_read_as_json() {
    let text = "{\"prompts\": [\"p\"], \"providers\": [\"echo\"], \"tests\": [{\"description\": \"\\ud83d\\ude00\", \"assert\": [{\"type\": \"contains\", \"value\": \"p\"}]}]}";
    assert_eq!(cases(text)[0].id.as_str(), "\u{1f600}");
    let flow = "{prompts: [p], providers: [echo], tests: [{assert: [{type: contains, value: p}]}]}";
    assert_eq!(cases(flow).len(), 1);
}

#[test]
fn no_template_grows_beyond_its_limit() {
    let big = "x".repeat(100_000);
    for template in [
        "{% set a = a ~ a %}{{ a }}",
        "{% for b in [a ~ a] %}{{ b }}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ a | replace('x', a) }}",
        "{% macro m() %}{% endmacro %}",
        "{% for c in a %}{% for d in a %}{% for e in a %}{{ a }}{% endfor %}{% endfor %}{% endfor %}",
    ] {
        let text = format!(
            "prompts: [{template:?}]\nproviders: [echo]\ntests: [{{vars: {{a: {big}}}, assert: [{{type: contains, value: a}}]}}]\n"
        );
        assert_eq!(codes(&text), ["E0423"], "{template}");
    }
    let fine = "prompts: ['{{ a * 1 }}{% raw %}{% set %}{{ * }}{% endraw %}', '{{ \"*\" }}']\nproviders: [echo]\n\
         tests: [{vars: {a: 2}, assert: [{type: contains, value: a}], prompts: ['{{ \"*\" }}']}]\n";
    assert_eq!(questions(fine, &[]), ["*"]);
}

#[test]
fn a_test_without_assertions_asks_only_for_an_answer() {
    let text = "prompts: [p]\nproviders: [echo]\ntests: [{vars: {a: 1}}]\n";
    assert_eq!(codes(text), ["W0405"]);
    assert_eq!(cases(text)[0].graders[0].name, "answered");
}

#[test]
fn one_name_of_a_file_is_as_good_as_another() {
    let format_two = "tests: [{id: a, input: q, criteria: c}]\n";
    assert_eq!(cases(format_two).len(), 1);
    let promptfoo = "prompts: [p]\ntests: [{assert: [{type: contains, value: a}]}]\n";
    assert_eq!(cases(promptfoo).len(), 1);
}

#[test]
fn a_model_for_embeddings_is_named_beside_the_judge() {
    let text = "prompts: [p]\nproviders: [echo]\ndefaultTest: {options: {provider: {text: 'openai:judge', embedding: {id: 'ollama:embeddings:nomic', label: mine}}}}\n\
                tests: [{assert: [{type: similar, value: [a, b], threshold: 0.5}, {type: similar:dot, value: c, provider: 'openai:embedding:small'}, {type: llm-rubric, value: d}]}]\n";
    let loaded = load_with(text, &[]).loaded;
    let cases: Vec<Arc<Case>> = loaded.cases.iter().map(|case| case.expect("valid")).collect();
    let models: Vec<Option<&str>> = cases[0]
        .graders
        .iter()
        .map(|grader| match &grader.kind {
            GraderKind::Similar(check) => check.model.as_deref(),
            GraderKind::Rubric(rubric) => rubric.judge.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(models, [Some("mine"), Some("openai:embedding:small"), Some("openai:judge")]);

    let targets = &loaded.suite.as_ref().expect("a suite").defined_targets;
    let mine = targets.iter().find(|target| target.name == "mine").expect("a target");
    let TargetSpecKind::Model(model) = &mine.kind else { panic!("a model") };
    assert_eq!((model.provider, model.model.as_str()), ("openai-embeddings", "nomic"));
    assert_eq!(model.base_url.as_deref(), Some("http://127.0.0.1:11434/v1"));
}

#[test]
fn a_script_may_change_the_variables_of_a_test() {
    let test = |code: &str| {
        format!(
            "prompts: ['{{{{ a }}}} {{{{ b }}}}']\ntests: [{{vars: {{a: x}}, options: {{transformVars: \"{code}\"}}, {ASSERT}}}]\n"
        )
    };
    assert_eq!(questions(&test("({ ...vars, b: vars.a.toUpperCase() })"), &[]), ["x X"]);
    for code in ["({ a: ", "vars.a", "missing"] {
        assert_eq!(codes(&test(code)), ["E0319"], "{code}");
    }
}

#[test]
fn a_function_of_javascript_may_write_prompts() {
    let text = |prompts: &str, providers: &str| {
        format!(
            "prompts: [{prompts}]\nproviders: [{providers}]\ntests: [{{vars: {{topic: tea}}, {ASSERT}}}]\n"
        )
    };
    let files = [
        (
            "short.js",
            "module.exports = async ({ vars, provider }) => `${provider.label}: ${vars.topic}, {{ topic }}`;\n",
        ),
        (
            "chat.mjs",
            "export function chat({ vars }) { return [{ role: 'user', content: `On ${vars.topic}` }]; }\n\
             export function parts({ vars }) { return { prompt: `Of ${vars.topic}`, config: {} }; }\n",
        ),
    ];
    let prompts = "'file://short.js', 'file://chat.mjs:chat', 'chat.mjs:parts'";
    assert_eq!(questions(&text(prompts, "echo"), &files), ["echo: tea, tea", "On tea", "Of tea"]);

    // What depends on the provider is a case for each of them.
    let several =
        cases_with(&text("'file://short.js', 'file://chat.mjs:chat'", "echo, 'openai:chat:m'"), &files);
    let several: Vec<(String, String, usize)> =
        several.iter().map(|case| (case.id.to_string(), case.question(), case.targets.len())).collect();
    let expected = [
        ("test-1/prompt-1/provider-1", "echo: tea, tea", 1),
        ("test-1/prompt-1/provider-2", "openai:chat:m: tea, tea", 1),
        ("test-1/prompt-2", "On tea", 0),
    ];
    assert_eq!(
        several,
        expected.map(|(id, question, targets)| (id.to_owned(), question.to_owned(), targets))
    );

    let modules = ("short.js", "const fs = require('fs');\nmodule.exports = () => fs.readFileSync('x');\n");
    let unrun = cases_with(&text("'file://short.js'", "echo"), &[modules]);
    assert_eq!(unrun[0].unrun_code[0].what, "prompt `short.js` (JavaScript code)");

    for body in ["() => missing", "() => null", "() => 4", "("] {
        let file = format!("module.exports = {body};\n");
        let loaded = load_with(&text("'file://short.js'", "echo"), &[("short.js", file.as_str())]).loaded;
        let codes: Vec<String> = loaded.diagnostics.iter().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, ["E0319"], "{body}");
    }
}

#[test]
fn a_function_of_javascript_may_write_tests() {
    let text = "prompts: ['Say {{ word }}']\nproviders: [echo]\ntests: file://tests.js:make\n";
    let make = "exports.make = () => ['a', 'b'].map((word) => ({ vars: { word }, assert: [{ type: 'contains', value: word }] }));\n";
    assert_eq!(questions(text, &[("tests.js", make)]), ["Say a", "Say b"]);
    let list = "module.exports = [{ vars: { word: 'c' }, assert: [{ type: 'contains', value: 'c' }] }];\n";
    assert_eq!(questions(&text.replace(":make", ""), &[("tests.js", list)]), ["Say c"]);
    let with_config =
        text.replace("file://tests.js:make", "[{path: 'file://tests.js:make', config: {words: [d]}}]");
    let make = "exports.make = ({ words }) => words.map((word) => ({ vars: { word }, assert: [{ type: 'contains', value: word }] }));\n";
    assert_eq!(questions(&with_config, &[("tests.js", make)]), ["Say d"]);
    for (file, code) in [
        ("exports.make = () => 1;\n", "E0319"),
        ("exports.other = () => [];\n", "E0319"),
        ("exports.make = () => [{ varz: {} }];\n", "E0103"),
    ] {
        let loaded = load_with(text, &[("tests.js", file)]).loaded;
        let codes: Vec<String> = loaded.diagnostics.iter().map(|found| found.code.to_string()).collect();
        assert!(codes.iter().any(|found| found == code), "{file}: {codes:?}");
    }
}

/// Checks every row of the table of types: supported types are read, and others are refused by name.
#[test]
fn each_assertion_type_is_read_or_refused_as_the_table_says() {
    for row in ASSERTION_TYPES {
        let value = match row.name {
            "is-json" | "contains-json" => json!({"type": "object"}),
            "is-sql" | "contains-sql" => json!({"databaseType": "MySQL"}),
            "is-xml" | "contains-xml" => json!("a.b"),
            "word-count" => json!({"min": 1}),
            "trajectory:tool-sequence" => json!({"steps": ["a"]}),
            "trajectory:tool-args-match" => json!({"name": "a", "args": {}}),
            "trajectory:tool-used" => json!({"name": "a"}),
            "trajectory:step-count" => json!({"max": 3}),
            "trace-span-count" | "trace-span-duration" => json!({"pattern": "a*", "max": 3}),
            "trace-error-spans" => json!(0),
            "skill-used" => json!("a"),
            "max-score" => json!({"method": "sum"}),
            _ => json!("true"),
        };
        let mut assertion = json!({"type": row.name, "value": value});
        match row.name {
            "latency" | "cost" => assertion = json!({"type": row.name, "threshold": 1}),
            "assert-set" => assertion["assert"] = json!([{"type": "contains", "value": "a"}]),
            "classifier" => assertion["provider"] = json!("huggingface:text-classification:a/b"),
            _ => {}
        }
        // AgentV's types have their own keys, which the tests of graders cover.
        let is_own = matches!(row.support, AssertionSupport::SameKeys(_));
        let file = json!({
            "prompts": ["p"], "providers": ["echo"], "tests": [{"vars": {"context": "a"}, "assert": [assertion]}],
        });
        let loaded = load_with(&file.to_string(), &[]).loaded;
        let errors: Vec<String> = loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| format!("{} {}", found.code, found.title))
            .collect();
        match row.support {
            AssertionSupport::Refused(_) => {
                assert_eq!(errors.len(), 1, "{}: {errors:?}", row.name);
                assert!(errors[0].contains(&format!("`{}`", row.name)), "{errors:?}");
            }
            _ if is_own => {
                let names_type =
                    |error: &String| ["E0301", "E0302"].iter().any(|code| error.starts_with(code));
                assert!(!errors.iter().any(names_type), "{}: {errors:?}", row.name);
            }
            _ => {
                assert_eq!(errors, Vec::<String>::new(), "{}", row.name);
                let case = loaded.cases.iter().next().expect("a case").expect("valid");
                assert_ne!(case.graders[0].name, "answered", "{} is no grader", row.name);
            }
        }
    }
}

/// Every row of the table of keys, in both spellings.
#[test]
fn each_key_is_read_or_refused_as_the_table_says() {
    let found = |key: &str| {
        let mut file = json!({
            "prompts": ["p"], "providers": ["echo"], "tests": [{"assert": [{"type": "contains", "value": "a"}]}],
        });
        if file.get(key).is_none() {
            file[key] = json!("x");
        }
        let loaded = load_with(&file.to_string(), &[]).loaded;
        let diagnostics = loaded.diagnostics.iter();
        diagnostics.map(|found| format!("{} {}", found.code, found.title)).collect::<Vec<_>>()
    };
    let is_unknown = |found: &[String]| found.iter().any(|found| found.starts_with("E0103"));
    assert!(is_unknown(&found("noSuchKey")));

    for row in MATRIX_KEYS {
        let snake = row.name.chars().fold(String::new(), |mut snake, letter| {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
            snake
        });
        for key in [row.name, &snake] {
            let found = found(key);
            let says = |words: &str| found.iter().any(|found| found.contains(&format!("`{key}` {words}")));
            assert!(!is_unknown(&found), "{key}: {found:?}");
            let (idle, refused) = match row.support {
                MatrixKeySupport::Read(_) => (false, false),
                MatrixKeySupport::NoEffect(_) => (true, false),
                MatrixKeySupport::Refused(_) => (false, true),
            };
            assert_eq!(
                (says("has no effect"), says("is not supported")),
                (idle, refused),
                "{key}: {found:?}"
            );
        }
    }
}

/// Every row of the tables of keys of tests, options, evaluations and providers. What has no effect says why in the
/// words of the table.
#[test]
fn each_key_of_a_part_is_read_or_idle_as_the_table_says() {
    for (part, rows) in [
        ("test", TEST_KEYS),
        ("options", OPTION_KEYS),
        ("evaluation", EVALUATION_KEYS),
        ("provider", PROVIDER_KEYS),
    ] {
        let found = |key: &str| {
            let mut test = json!({"assert": [{"type": "contains", "value": "a"}]});
            let mut provider = json!({"id": "echo"});
            match part {
                "test" if test.get(key).is_none() => test[key] = json!("x"),
                "options" => test["options"] = json!({key: "x"}),
                "provider" if provider.get(key).is_none() => provider[key] = json!("x"),
                _ => {}
            }
            let mut file = json!({"prompts": ["p"], "providers": [provider], "tests": [test]});
            if part == "evaluation" {
                file["evaluateOptions"] = json!({key: "x"});
            }
            let loaded = load_with(&file.to_string(), &[]).loaded;
            loaded
                .diagnostics
                .iter()
                .map(|found| format!("{} {}: {}", found.code, found.title, found.primary.text))
                .collect::<Vec<_>>()
        };
        // A target of this kind may have fewer keys than providers have.
        let is_unknown = |found: &[String]| {
            found.iter().any(|found| found.contains("unknown key `") && !found.contains("a target has"))
        };
        assert!(is_unknown(&found("noSuchKey")), "{part}: {:?}", found("noSuchKey"));

        for row in rows {
            let found = found(row.name);
            assert!(!is_unknown(&found), "{part}, {}: {found:?}", row.name);
            let said = found.iter().find(|found| found.contains(&format!("`{}` has no effect", row.name)));
            match row.support {
                MatrixKeySupport::NoEffect(reason) => {
                    assert!(
                        said.is_some_and(|said| said.ends_with(reason)),
                        "{part}, {}: {found:?}",
                        row.name
                    );
                }
                _ => assert_eq!(said, None, "{part}, {}", row.name),
            }
        }
    }
}

#[test]
fn variables_may_come_from_files_of_any_spelling() {
    let files = [
        ("vars/a.yaml", "word: tea\nside: milk\n"),
        ("vars/b.yaml", "side: lemon\n"),
        ("vars/c.json", "{\"side\": \"honey\"}"),
    ];
    let text = |vars: &str| {
        format!(
            "prompts: ['{{{{ word }}}} with {{{{ side }}}}']\nproviders: [echo]\ntests:\n  - vars: {vars}\n    assert: [{{type: contains, value: tea}}]\n"
        )
    };
    for (vars, question) in [
        ("{word: tea, side: milk}", "tea with milk"),
        ("vars/a.yaml", "tea with milk"),
        ("file://vars/a.yaml", "tea with milk"),
        ("'vars/*.yaml'", "tea with lemon"),
        ("'file://./vars/*'", "tea with honey"),
        ("'vars/{a,c}.*'", "tea with honey"),
    ] {
        assert_eq!(questions(&text(vars), &files), [question], "{vars}");
        // In a file of tests, the path begins in the folder of that file.
        let inner = "- vars: ".to_owned()
            + &vars.replace("vars/", "../vars/")
            + "\n  assert: [{type: contains, value: tea}]\n";
        let outer =
            "prompts: ['{{ word }} with {{ side }}']\nproviders: [echo]\ntests: file://tests/t.yaml\n";
        let files = [&files[..], &[("tests/t.yaml", inner.as_str())]].concat();
        assert_eq!(questions(outer, &files), [question], "{vars}");
    }

    let loaded = load_with(&text("'vars/*.txt'"), &files).loaded;
    assert!(
        loaded.diagnostics.iter().any(|found| found.code.to_string() == "E0506"),
        "{:?}",
        loaded.diagnostics
    );
}

#[test]
fn names_of_files_match_however_their_accents_are_written() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
    let tests = "- {vars: {q: a}, assert: [{type: contains, value: a}]}\n";
    for (written, stored) in [(composed, decomposed), (decomposed, composed), (composed, composed)] {
        for (text, file, content) in [
            (
                format!("prompts: ['{{{{ q }}}}']\nproviders: [echo]\ntests: file://{written}.yaml\n"),
                "yaml",
                tests,
            ),
            (
                format!("prompts: [file://{written}.txt]\nproviders: [echo]\ntests:\n{tests}"),
                "txt",
                "{{ q }}",
            ),
            (
                format!(
                    "prompts: ['{{{{ q }}}}']\nproviders: [echo]\ntests:\n  - {{vars: {{q: 'file://{written}.txt'}}, assert: [{{type: contains, value: a}}]}}\n"
                ),
                "txt",
                "a",
            ),
        ] {
            let name = format!("{stored}.{file}");
            assert_eq!(questions(&text, &[(name.as_str(), content)]), ["a"], "{text}");
        }
    }
}

#[test]
fn columns_may_say_what_is_a_variable() {
    let text = "prompts: ['{{ input }}']\nproviders: [llm]\ntests: file://cases.csv\n";
    let table = "id,vars.input,__expected\nfirst,hello,contains:a\n";
    let cases = cases_with(text, &[("cases.csv", table)]);
    assert_eq!((cases[0].id.as_str(), cases[0].question().as_str()), ("first", "hello"));
}

#[test]
fn a_folder_that_its_setup_creates_need_not_be_there() {
    let text = "providers: [llm]\nprompts: [p]\nenvironment: {type: host, workdir: ./repo, setup: {command: [git, clone, x, ./repo]}}\n\
                tests: [{id: a, assert: [b]}]\n";
    assert_eq!(cases(text).len(), 1);
    assert_eq!(codes(&text.replace(", setup: {command: [git, clone, x, ./repo]}", "")), ["E0501"]);
}

#[test]
fn block_texts_end_without_their_line_break() {
    let text = format!(
        "prompts: ['<{{{{ a }}}}>']\nproviders: [echo]\ntests:\n- vars:\n    a: |\n      one\n      two\n  {ASSERT}\n"
    );
    assert_eq!(questions(&text, &[]), ["<one\ntwo>"]);
}

#[test]
fn a_test_whose_variables_cannot_be_read_is_read_to_its_end() {
    let text = |assertions: &str| {
        format!(
            "prompts: ['{{{{ a }}}}']\nproviders: [echo]\ntests:\n- vars: {{a: file://gone.txt, b: x}}\n  \
             assert: [{assertions}]\n  options: {{transform: file://none.js}}\n"
        )
    };
    assert_eq!(codes(&text("{type: contians, value: a}")), ["E0501", "E0301", "E0501"]);
    assert_eq!(codes(&text("{type: equals, value: a, treshold: 1}")), ["E0501", "E0103", "E0501"]);
    // These patterns and paths depend on the values of variables.
    let unknown = "{type: regex, value: '({{ a }}'}, {type: contains, value: 'file://{{ b }}.txt'}";
    assert_eq!(codes(&text(unknown)), ["E0501", "E0501"]);
}

#[test]
fn models_for_embeddings_have_the_interfaces_of_their_providers() {
    for (id, provider, model) in [
        ("azure:embedding:mine", "azure-embeddings", "mine"),
        ("google:embedding:g", "gemini-embeddings", "g"),
        ("vertex:embedding:v", "vertex-embeddings", "v"),
        (
            "bedrock:embeddings:amazon.titan-embed-text-v2:0",
            "bedrock-embeddings",
            "amazon.titan-embed-text-v2:0",
        ),
        ("mistral:embedding:mistral-embed", "mistral-embeddings", "mistral-embed"),
        ("cohere:embedding:embed-v4.0", "cohere-embeddings", "embed-v4.0"),
        ("voyage:voyage-3", "voyage-embeddings", "voyage-3"),
        ("huggingface:feature-extraction:BAAI/bge", "huggingface-embeddings", "BAAI/bge"),
    ] {
        let text = format!(
            "prompts: [p]\nproviders: [echo]\ntests: [{{assert: [{{type: similar, value: a, provider: {id:?}}}]}}]\n"
        );
        let loaded = load_with(&text, &[]).loaded;
        let targets = &loaded.suite.as_ref().expect("a suite").defined_targets;
        let found = targets.iter().find(|target| target.name == id).expect(id);
        let TargetSpecKind::Model(spec) = &found.kind else { panic!("{id}: {found:?}") };
        assert_eq!((spec.provider, spec.model.as_str()), (provider, model), "{id}");
    }

    let chat = "prompts: [p]\nproviders: ['cohere:command-r']\ntests: [{assert: [a]}]\n";
    let loaded = load_with(chat, &[]).loaded;
    let targets = &loaded.suite.as_ref().expect("a suite").defined_targets;
    assert!(!matches!(targets[0].kind, TargetSpecKind::Model(_)), "{targets:?}");
}
