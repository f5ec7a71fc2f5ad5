//! Programs that write prompts, tests and variables, with a runner that only pretends to run them.

use std::fs;
use std::sync::{Arc, Mutex};

use crate::load_suite;
use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::{Case, LoadProgram, NamedProgram, ProgramRunner};
use serde_json::{Value, json};

const ASSERT: &str = "assert: [{type: contains, value: tea}]";

type Answer = fn(&LoadProgram, &Value) -> Result<Value, String>;

/// A runner that answers each call with a function, and records how many calls each batch has.
struct PretendedRunner {
    answer: Answer,
    batches: Mutex<Vec<usize>>,
}

impl ProgramRunner for PretendedRunner {
    fn run(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>> {
        self.batches.lock().expect("no panic").push(calls.len());
        calls.iter().map(|call| (self.answer)(program, call)).collect()
    }
}

struct Loaded {
    suite: LoadedSuite,
    runner: Arc<PretendedRunner>,
    _folder: tempfile::TempDir,
}

impl Loaded {
    fn cases(&self) -> Vec<Arc<Case>> {
        assert_eq!(self.errors(), Vec::<String>::new());
        self.suite.cases.iter().map(|case| case.expect("valid")).collect()
    }

    fn questions(&self) -> Vec<String> {
        self.cases().iter().map(|case| case.question()).collect()
    }

    fn errors(&self) -> Vec<String> {
        let errors = self.suite.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| format!("{} {}: {}", found.code, found.title, found.primary.text)).collect()
    }

    fn batches(&self) -> Vec<usize> {
        self.runner.batches.lock().expect("no panic").clone()
    }
}

fn load(text: &str, answer: Answer) -> Loaded {
    load_allowed(text, answer, true)
}

fn load_allowed(text: &str, answer: Answer, is_allowed: bool) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["code.py", "code.mjs", "run.sh"] {
        fs::write(folder.path().join(name), "import os\n").expect("written");
    }
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text).expect("written");
    let runner = Arc::new(PretendedRunner { answer, batches: Mutex::default() });
    let programs: Arc<dyn ProgramRunner> = runner.clone();
    let options = LoadOptions { programs: is_allowed.then_some(programs), ..LoadOptions::new(folder.path()) };

    Loaded { suite: load_suite(&path, &options), runner, _folder: folder }
}

#[test]
fn a_prompt_is_written_for_each_test_with_its_variables_and_settings() {
    let text = format!(
        "prompts: [{{id: 'file://code.py:make', config: {{mark: '!'}}}}]\nproviders: [echo]\n\
         tests: [{{vars: {{a: tea}}, {ASSERT}}}, {{vars: {{a: milk}}, {ASSERT}}}]\n"
    );
    let loaded = load(&text, |program, call| {
        let LoadProgram::Function { code, .. } = program else { return Err("a function".to_owned()) };
        assert_eq!(code.function.as_deref(), Some("make"));
        assert_eq!(call[0]["provider"], json!({"id": "echo", "label": "echo"}));
        let text = format!("{}{} {{{{ a }}}}", call[0]["vars"]["a"], call[0]["config"]["mark"]);
        Ok(json!([{"role": "user", "content": text}]))
    });
    assert_eq!(loaded.questions(), ["\"tea\"\"!\" tea", "\"milk\"\"!\" milk"]);
    // One process runs both.
    assert_eq!(loaded.batches(), [2]);
}

#[test]
fn commands_and_whole_python_files_write_prompts() {
    let text = format!(
        "prompts: ['exec:./run.sh --fast', 'file://code.py', 'run.sh']\nproviders: [echo]\ntests: [{{vars: {{a: tea}}, {ASSERT}}}]\n"
    );
    let loaded = load(&text, |program, call| {
        let LoadProgram::Command { words, folder } = program else { return Err("a command".to_owned()) };
        assert!(folder.is_absolute() && call[0]["vars"] == json!({"a": "tea"}));
        let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
        Ok(Value::from(words.join(" ")))
    });
    assert_eq!(loaded.questions(), ["run.sh --fast", "python3 code.py", "run.sh"]);

    let empty = load("prompts: ['exec:']\ntests: [{}]\n", |_, _| Ok(Value::Null));
    assert_eq!(empty.errors(), ["E0107 the command is empty: nothing to run"]);
}

#[test]
fn tests_of_a_program_are_read_like_those_of_a_file() {
    let text = "prompts: ['{{ a }}']\nproviders: [echo]\ntests: ['file://code.py', {path: 'file://code.mjs:make', config: {n: 1}}]\n";
    let loaded = load(text, |program, call| {
        let LoadProgram::Function { usual, .. } = program else { return Err("a function".to_owned()) };
        assert_eq!(*usual, "generate_tests");
        let word = if *call == json!([]) { "tea".to_owned() } else { format!("tea {}", call[0]["n"]) };
        Ok(json!([{"vars": {"a": word}, "assert": [{"type": "contains", "value": "tea"}]}]))
    });
    assert_eq!(loaded.questions(), ["tea", "tea 1"]);

    let wrong = load("prompts: [p]\ntests: file://code.py\n", |_, _| Ok(json!([{"varz": {}}])));
    assert!(wrong.errors()[0].starts_with("E0103"), "{:?}", wrong.errors());
    let place = wrong.suite.sources.file(wrong.suite.diagnostics[0].primary.span.source).path().to_owned();
    assert!(place.ends_with("code.py (what it returned)"), "{}", place.display());
    for (answer, error) in [
        ((|_, _| Ok(json!("x"))) as Answer, "E0426 `code.py` can't write the tests: it returned no list"),
        (
            |_, _| Err("KeyError: 'a' (line 3)".to_owned()),
            "E0426 `code.py` can't write the tests: KeyError: 'a' (line 3)",
        ),
    ] {
        assert_eq!(load("prompts: [p]\ntests: file://code.py\n", answer).errors(), [error]);
    }
}

#[test]
fn variables_come_from_functions_that_see_the_others() {
    let text = format!(
        "prompts: ['{{{{ both }}}}']\nproviders: [echo]\n\
         tests: [{{vars: {{role: tea, first: 'file://code.py', second: 'file://code.py', both: '{{{{ first }}}}, {{{{ second }}}}'}}, {ASSERT}}}]\n"
    );
    let loaded = load(&text, |_, call| {
        assert_eq!((call.as_array().map(Vec::len), &call[1]), (Some(3), &json!("{{ both }}")));
        let text = match call[0].as_str() {
            Some("first") => format!("{} {{{{ role }}}}\n", call[2]["role"]),
            _ => format!("after {}", call[2]["first"]),
        };
        Ok(json!({"output": text}))
    });
    // The output of a program is not a template.
    assert_eq!(loaded.questions(), ["\"tea\" {{ role }}, after \"\\\"tea\\\" {{ role }}\""]);
    assert_eq!(loaded.batches(), [1, 1]);

    let text = format!("prompts: ['{{{{ a }}}}']\ntests: [{{vars: {{a: 'file://code.mjs'}}, {ASSERT}}}]\n");
    for (answer, reason) in [
        ((|_, _| Ok(json!({"error": "no role"}))) as Answer, "no role"),
        (|_, _| Ok(json!("text")), "it did not return a map with `output`"),
        (|_, _| Ok(json!({})), "it returned no `output`"),
        (|_, _| Err("TypeError: x".to_owned()), "TypeError: x"),
    ] {
        let expected = format!("E0426 `code.mjs` can't write the variable: {reason}");
        assert_eq!(load(&text, answer).errors(), [expected]);
    }
}

#[test]
fn providers_that_get_different_prompts_have_cases_of_their_own() {
    let text = |providers: &str| {
        format!("prompts: ['file://code.py:make']\nproviders: [{providers}]\ntests: [{{{ASSERT}}}]\n")
    };
    let by_kind: Answer = |_, call| {
        let id = call[0]["provider"]["id"].as_str().expect("an id");
        Ok(Value::from(if id == "echo" { "short" } else { "long" }))
    };
    let loaded = load(&text("echo, 'openai:chat:a', 'openai:chat:b'"), by_kind);
    let found: Vec<(String, String, Vec<String>)> = loaded
        .cases()
        .iter()
        .map(|case| {
            let targets = case.targets.iter().map(|target| target.name.clone()).collect();
            (case.id.to_string(), case.question(), targets)
        })
        .collect();
    let models = vec!["openai:chat:a".to_owned(), "openai:chat:b".to_owned()];
    assert_eq!(
        found,
        [
            ("test-1/provider-1".to_owned(), "short".to_owned(), vec!["echo".to_owned()]),
            ("test-1/provider-2".to_owned(), "long".to_owned(), models),
        ]
    );

    // A target of the command line replaces all providers.
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("code.py"), "import os\n").expect("written");
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text("echo, 'openai:chat:a'")).expect("written");
    let runner = PretendedRunner { answer: by_kind, batches: Mutex::default() };
    let options = LoadOptions {
        programs: Some(Arc::new(runner)),
        targets: vec!["mine".to_owned()],
        ..LoadOptions::new(folder.path())
    };
    let overridden = load_suite(&path, &options);
    let questions: Vec<String> =
        overridden.cases.iter().map(|case| case.expect("valid").question()).collect();
    assert_eq!(questions, ["long"]);

    // The same for all is one case.
    let same = load(&text("'openai:chat:a', 'openai:chat:b'"), by_kind);
    let cases = same.cases();
    assert_eq!((cases.len(), cases[0].id.as_str(), cases[0].targets.len()), (1, "test-1", 0));
}

#[test]
fn without_permission_nothing_is_run() {
    let never: Answer = |_, _| panic!("it was run");
    let text = format!(
        "prompts: ['file://code.py', 'exec:./run.sh']\nproviders: [echo]\ntests: [{{vars: {{a: 'file://code.mjs'}}, {ASSERT}}}]\n"
    );
    let loaded = load_allowed(&text, never, false);
    let named = |code: &[NamedProgram]| code.iter().map(|program| program.what.clone()).collect::<Vec<_>>();
    let unrun: Vec<Vec<String>> = loaded.cases().iter().map(|case| named(&case.unrun_code)).collect();
    assert_eq!(
        unrun,
        [
            ["variable `code.mjs` (JavaScript code)", "prompt `code.py` (a command)"],
            ["variable `code.mjs` (JavaScript code)", "prompt `exec:./run.sh` (a command)"],
        ]
    );

    // A given answer can be graded without its question.
    let given = format!("prompts: ['file://code.py']\ntests: [{{providerOutput: tea, {ASSERT}}}]\n");
    let given = load_allowed(&given, never, false).cases();
    assert_eq!((given[0].unrun_code.len(), given[0].unbuilt.len()), (0, 1));

    let text = "prompts: [p]\ntests: ['file://code.py', 'file://code.mjs:make']\n";
    let loaded = load_allowed(text, never, false);
    assert_eq!(loaded.cases().len(), 0);
    let suite = loaded.suite.suite.as_ref().expect("a suite");
    assert_eq!(
        named(&suite.unrun_code),
        ["tests `code.py` (Python code)", "tests `code.mjs:make` (JavaScript code)"]
    );
    let warnings: Vec<(String, usize)> = loaded
        .suite
        .diagnostics
        .iter()
        .map(|found| (found.code.to_string(), found.secondary.len()))
        .collect();
    assert_eq!(warnings, [("W0407".to_owned(), 1)]);
}

#[test]
fn files_of_agentv_have_them_too() {
    let text = "prompts: [{label: made, function_file: 'code.py:make'}]\nproviders: [{id: echo}]\ndefault_test: {threshold: 0.5}\n\
                tests: [{path: 'file://code.py'}]\n";
    let loaded = load(text, |program, call| match program {
        LoadProgram::Function { code, .. } if code.function.is_some() => Ok(call[0]["vars"]["a"].clone()),
        _ => Ok(json!([{"vars": {"a": "tea"}, "assert": [{"type": "contains", "value": "tea"}]}])),
    });
    assert_eq!(loaded.questions(), ["tea"]);
}
