//! Extensions of matrix files: their entries, and what they may change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{load_changed_suite, load_suite};
use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::{Case, CodeLanguage, ExtensionHook, HookEvent, SuiteExtensions};
use serde_json::{Value, json};

/// A folder with a file, and files of functions beside it.
struct Files {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Files {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["hooks.js", "hooks.mts", "lib/hooks.py"] {
            fs::create_dir_all(folder.path().join(name).parent().expect("a folder")).expect("made");
            fs::write(folder.path().join(name), "// functions").expect("written");
        }
        let path = folder.path().join("promptfooconfig.yaml");
        fs::write(&path, text).expect("written");
        Self { folder, path }
    }

    fn load(&self) -> LoadedSuite {
        load_suite(&self.path, &LoadOptions::new(self.folder.path()))
    }

    fn load_changed(&self, change: impl FnOnce(&mut Value)) -> LoadedSuite {
        let mut suite = extensions(&self.load()).suite.clone();
        change(&mut suite);
        load_changed_suite(&self.path, &suite, &LoadOptions::new(self.folder.path()))
    }
}

fn extensions(loaded: &LoadedSuite) -> Arc<SuiteExtensions> {
    loaded.suite.as_ref().and_then(|suite| suite.extensions.clone()).expect("extensions")
}

fn cases(loaded: &LoadedSuite) -> Vec<Arc<Case>> {
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    loaded.cases.iter().map(|case| case.expect("valid")).collect()
}

fn questions(loaded: &LoadedSuite) -> Vec<String> {
    cases(loaded).iter().map(|case| case.question()).collect()
}

#[test]
fn entries_name_files_functions_and_hooks() {
    let files = Files::new(
        "prompts: [p]\nproviders: [echo]\ntests: [{vars: {}}]\nextensions:\n- file://hooks.js:extensionHook\n- file://hooks.mts:beforeAll\n\
         - file://lib/hooks.py:afterEach\n- file://lib/hooks.py\n- agentv:agent-rules:beforeAll\n",
    );
    let loaded = files.load();
    let all = extensions(&loaded);
    let read: Vec<_> = all
        .list
        .iter()
        .map(|one| (one.written.as_str(), one.program.language, one.program.function.as_deref(), one.hook))
        .collect();
    assert_eq!(
        read,
        [
            ("hooks.js:extensionHook", CodeLanguage::JavaScript, Some("extensionHook"), None),
            (
                "hooks.mts:beforeAll",
                CodeLanguage::TypeScript,
                Some("beforeAll"),
                Some(ExtensionHook::BeforeAll)
            ),
            (
                "lib/hooks.py:afterEach",
                CodeLanguage::Python,
                Some("afterEach"),
                Some(ExtensionHook::AfterEach)
            ),
            ("lib/hooks.py", CodeLanguage::Python, None, None),
        ]
    );
    assert!(all.run_at(ExtensionHook::BeforeEach) && !all.list[1].runs_at(ExtensionHook::BeforeEach));
    assert!(all.list.iter().all(|one| one.program.path.as_deref().is_some_and(Path::is_absolute)));
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert!(codes.contains(&"W0403"), "{codes:?}");
}

#[test]
fn functions_of_agentv_are_hooks_of_a_workspace_and_copied_rules_are_missing() {
    let text = "prompts: ['{{ q }}']\nproviders: [agent]\ntests: [{id: a, vars: {q: tea}, assert: [{type: contains, value: tea}]}]\n\
                extensions: ['file://hooks.js:beforeEach', 'file://lib/hooks.py:afterAll', {id: 'agentv:agent-rules', skills: lib}]\n";
    let plain = Files::new(text);
    fs::rename(&plain.path, plain.folder.path().join("a.eval.yaml")).expect("renamed");
    let plain = Files { path: plain.folder.path().join("a.eval.yaml"), ..plain };
    let loaded = plain.load();
    let suite = loaded.suite.as_ref().expect("a suite");
    assert!(!extensions(&loaded).in_workspace && extensions(&loaded).is_agentv);
    let missing: Vec<&str> = suite.unbuilt.iter().map(|part| part.feature.as_ref()).collect();
    assert_eq!(missing, ["copying rules into the workspace by `agentv:agent-rules`"]);

    fs::write(&plain.path, format!("{text}environment: {{type: host, workdir: lib}}\n")).expect("written");
    let loaded = plain.load();
    assert!(extensions(&loaded).in_workspace);
    let workspace = loaded.suite.as_ref().and_then(|suite| suite.workspace.clone()).expect("a workspace");
    let count = |event| workspace.hooks.all_for_event(event).count();
    let counts =
        [HookEvent::BeforeAll, HookEvent::BeforeEach, HookEvent::AfterEach, HookEvent::AfterAll].map(count);
    assert_eq!(counts, [0, 1, 0, 1]);
    assert!(cases(&loaded)[0].authored.is_none());
}

const TESTS: &str = "description: d\nprompts: ['say {{ word }}', {raw: 'again {{ word }}', label: second}]\nproviders: [echo]\n\
    extensions: ['file://hooks.js:hook']\ndefaultTest: {vars: {word: none}, assert: [{type: contains, value: '{{ word }}'}]}\n\
    tests:\n- {description: one, vars: {word: '{{ inner }} tea', inner: green}, threshold: 1.0, metadata: {a: 1}}\n\
    - description: two\n  vars: {word: [milk, juice]}\n  assert: [{type: llm-rubric, value: Kind, provider: {id: 'openai:gpt-4o', config: {temperature: 0.5}}}]\n";

#[test]
fn a_suite_is_given_as_it_is_read_and_taken_back_as_it_is_changed() {
    let files = Files::new(TESTS);
    let sent = extensions(&files.load()).suite.clone();
    assert_eq!(sent["description"], "d");
    assert_eq!(sent["prompts"][1], json!({"raw": "again {{ word }}", "label": "second"}));
    assert_eq!(sent["providers"], json!([{"id": "echo", "label": "echo"}]));
    assert_eq!(sent["tests"][0]["vars"], json!({"word": "{{ inner }} tea", "inner": "green"}));
    assert_eq!(sent["defaultTest"]["assert"][0]["type"], "contains");

    // The same again, as JavaScript writes its numbers.
    let same = files.load_changed(|suite| suite["tests"][0]["threshold"] = json!(1));
    assert_eq!(questions(&same), questions(&files.load()));

    let changed = files.load_changed(|suite| {
        suite["prompts"][0]["raw"] = json!("tell {{ word }}");
        suite["prompts"].as_array_mut().expect("a list").truncate(1);
        suite["defaultTest"]["assert"].as_array_mut().expect("a list").push(json!({"type": "is-json"}));
        let tests = suite["tests"].as_array_mut().expect("a list");
        tests.remove(0);
        tests.push(json!({"vars": {"word": "wine"}, "sessionId": "ignored"}));
        suite["scenarios"] =
            json!([{"config": [{"vars": {"word": "rum"}}], "tests": [{"description": "s"}]}]);
    });
    assert_eq!(questions(&changed), ["tell milk", "tell juice", "tell wine", "tell rum"]);
    let all = cases(&changed);
    assert_eq!(all.iter().map(|case| case.graders.len()).collect::<Vec<_>>(), [3, 3, 2, 2]);
    // The judge that the file defines is still there.
    let targets = &changed.suite.as_ref().expect("a suite").defined_targets;
    assert!(targets.iter().any(|target| target.name.contains("gpt-4o")), "{targets:#?}");

    assert_eq!(extensions(&changed).suite["tests"][1]["vars"]["word"], "wine");

    fs::write(files.folder.path().join("more.yaml"), "- {vars: {word: rye}}\n").expect("written");
    let named = files.load_changed(|suite| {
        suite["tests"] = json!("file://more.yaml");
        suite["providers"] = json!([]);
    });
    assert_eq!(questions(&named), ["say rye", "again rye"]);
    let is_told = |title: &str| named.diagnostics.iter().any(|found| found.title.contains(title));
    assert!(is_told("the providers that `beforeAll` changed have no effect"));

    let broken = files.load_changed(|suite| suite["tests"][0]["assert"] = json!([{"type": "nonsense"}]));
    let problem = broken.diagnostics.iter().find(|found| found.severity == Severity::Error);
    let problem = problem.expect("an error");
    let shown = broken.sources.file(problem.primary.span.source).path().display().to_string();
    assert!(shown.ends_with("promptfooconfig.yaml (as `extensions` changed it)"), "{shown}");
}

#[test]
fn a_changed_test_is_another_question_with_other_graders() {
    let files = Files::new(TESTS);
    let loaded = files.load();
    let all = cases(&loaded);
    let ids: Vec<&str> = all.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "one/prompt-1", "one/prompt-2", "two/vars-1/prompt-1", "two/vars-1/prompt-2",
            "two/vars-2/prompt-1", "two/vars-2/prompt-2"
        ]
    );
    let test = all[1].authored.as_ref().expect("the test");
    let sent = test.value();
    // The variables are merged with the default test, but not rendered.
    assert_eq!(sent["vars"], json!({"word": "{{ inner }} tea", "inner": "green"}));
    assert_eq!((&sent["options"], &sent["metadata"]), (&json!({}), &json!({"a": 1})));
    assert_eq!(test.change(sent), Ok(None));

    let mut changed = sent.clone();
    changed["vars"]["inner"] = json!("black");
    changed["assert"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"type": "icontains", "value": "{{ inner }}"}));
    changed["metadata"]["session"] = json!("s-1");
    let case = test.change(&changed).expect("valid").expect("another");
    assert_eq!((case.id.as_str(), case.question()), ("one/prompt-2", "again black tea".to_owned()));
    assert_eq!((case.graders.len(), &case.metadata["session"]), (2, &json!("s-1")));
    assert_eq!(case.vars["word"], "black tea");
    assert_eq!(case.authored.as_ref().expect("the test").value()["vars"]["inner"], "black");

    // One value of a list. The judge with settings is the file's; an extension can't add another one.
    let test = all[4].authored.as_ref().expect("the test");
    assert_eq!(test.value()["vars"]["word"], "juice");
    let mut changed = test.value().clone();
    changed["vars"]["word"] = json!(["a", "b"]);
    let case = test.change(&changed).expect("valid").expect("another");
    assert_eq!(case.question(), "say a,b");
    assert_eq!(case.graders.len(), 2);
    changed["options"] = json!({"provider": {"id": "openai:other", "config": {}}});
    let error = test.change(&changed).expect_err("a new judge");
    assert!(error.contains("a judge that `beforeEach` names"), "{error}");
    changed["options"] = json!({"provider": "openai:other"});
    assert!(test.change(&changed).is_ok());

    for (part, value, reason) in [
        ("vars", json!("x"), "file not found"),
        ("assert", json!([{"type": "nonsense"}]), "nonsense"),
        ("threshold", json!("high"), "threshold"),
    ] {
        let mut changed = test.value().clone();
        changed[part] = value;
        let error = test.change(&changed).expect_err("broken");
        assert!(error.contains(reason), "{part}: {error}");
    }
}
