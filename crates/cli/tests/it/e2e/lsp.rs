//! `assize lsp`: an editor's messages in, the replies out.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use assize_testkit::cli::CliTest;
use serde_json::{Value, json};

use crate::e2e::bench::cli;

/// An editor with a running server.
struct Editor {
    cli: CliTest,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last_id: u64,
    /// Notifications received while waiting for a reply.
    told: Vec<Value>,
}

impl Editor {
    fn start() -> Self {
        let cli = cli();
        let mut child = cli
            .command(&["lsp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut editor = Self { cli, child, to, from: BufReader::new(from), last_id: 0, told: Vec::new() };
        let begun = editor.ask("initialize", json!({"capabilities": {}, "processId": null, "rootUri": null}));
        assert_eq!(begun["capabilities"]["positionEncoding"], "utf-16", "{begun}");
        assert_eq!(begun["serverInfo"]["name"], "assize");
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        self.to.flush().expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("readable") > 0, "the server went away");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("a number"),
                _ if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("the whole message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = self.request(method, params);
        assert!(message.get("error").is_none(), "{message}");
        message["result"].clone()
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}", self.cli.path(file).display())
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({"uri": self.uri(file), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, file: &str, version: u32, text: &str) {
        let document = json!({"uri": self.uri(file), "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{ "text": text }]});
        self.tell("textDocument/didChange", params);
    }

    /// The next diagnostics, and the version that they are about.
    fn diagnostics(&mut self) -> (Value, Vec<Value>) {
        let message = if self.told.is_empty() { self.receive() } else { self.told.remove(0) };
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        let params = &message["params"];
        (params["version"].clone(), params["diagnostics"].as_array().expect("a list").clone())
    }

    fn at(&self, file: &str, line: u32, character: u32) -> Value {
        json!({"textDocument": {"uri": self.uri(file)}, "position": {"line": line, "character": character}})
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

fn labels(items: &Value) -> Vec<&str> {
    items.as_array().expect("a list").iter().map(|item| item["label"].as_str().expect("a label")).collect()
}

const SOUND: &str = "tests:\n  - id: late-parcel\n    input: Where is it?\n    criteria: x\n    assertions:\n      - Names the new date\n";

#[test]
fn problems_are_told_while_typing_at_their_utf16_places() {
    let mut editor = Editor::start();
    let broken = "name: \u{1f600}\ntests: [{id: \u{1f600}, inptu: q, assertions: [Names the new date]}]\n";
    editor.open("s.yaml", broken);
    let (version, found) = editor.diagnostics();
    assert_eq!(version, 1);
    let unknown = found.iter().find(|one| one["code"] == "E0103").expect("the unknown key");
    let line = broken.lines().nth(1).expect("two lines");
    let column = line[..line.find("inptu").expect("there")].encode_utf16().count();
    let range =
        json!({"start": {"line": 1, "character": column}, "end": {"line": 1, "character": column + 5}});
    assert_eq!((&unknown["range"], &unknown["severity"]), (&range, &json!(1)));

    let mut params = json!({"textDocument": {"uri": editor.uri("s.yaml")}, "context": {"diagnostics": []}});
    params["range"] = range.clone();
    let actions = editor.ask("textDocument/codeAction", params);
    let edit = &actions[0]["edit"]["documentChanges"][0]["edits"][0];
    assert_eq!((&edit["newText"], &edit["range"]), (&json!("input"), &range), "{actions}");
    let page =
        editor.ask("textDocument/hover", editor.at("s.yaml", 1, u32::try_from(column).expect("small")));
    assert!(page["contents"]["value"].as_str().is_some_and(|text| text.contains("E0103")), "{page}");

    // Of several changes in a row, only the last is checked.
    for (version, text) in [(2, "tests: ["), (3, "tests:\n  - id"), (4, SOUND)] {
        editor.change("s.yaml", version, text);
    }
    assert_eq!(editor.diagnostics(), (json!(4), Vec::new()));
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": editor.uri("s.yaml")}}));
    assert_eq!(editor.diagnostics().1, Vec::<Value>::new());
    editor.end();
}

#[test]
fn findings_point_into_the_text_that_is_not_saved() {
    let mut editor = Editor::start();
    editor.cli.file("s.yaml", "tests: []\n");
    editor.open("s.yaml", &SOUND.replace("Names the new date", "Answers well"));
    let (_, found) = editor.diagnostics();
    let vague = found.iter().find(|one| one["code"] == "L0101").expect("a finding");
    assert_eq!((&vague["range"]["start"]["line"], &vague["severity"]), (&json!(5), &json!(2)));
    editor.open("r.rubric.yaml", "- Answers well\n");
    assert_eq!(editor.diagnostics().1[0]["code"], "L0101");
    editor.open("compose.yaml", "services: [\n");
    assert_eq!(editor.diagnostics().1, Vec::<Value>::new(), "files of others are none of its business");
    editor.end();
}

#[test]
fn matrix_files_are_checked_while_typing() {
    let mut editor = Editor::start();
    let sound = "prompts: ['Say {{x}}']\nproviders: [echo]\ntests:\n  - description: greeting\n    vars: {x: hello}\n    assert:\n      - {type: contains, value: hello}\n";
    editor.open("promptfooconfig.yaml", sound);
    assert_eq!(editor.diagnostics().1, Vec::<Value>::new());

    editor.change("promptfooconfig.yaml", 2, &sound.replace("contains,", "contians,"));
    let (_, found) = editor.diagnostics();
    let [unknown] = found.as_slice() else { panic!("one problem: {found:?}") };
    assert_eq!((&unknown["range"]["start"]["line"], &unknown["severity"]), (&json!(6), &json!(1)));
    assert!(unknown["message"].as_str().is_some_and(|text| text.contains("contians")), "{unknown}");

    // A vague criterion in an assertion is found like anywhere else.
    let vague = sound.replace("contains, value: hello", "llm-rubric, value: Answers well");
    editor.change("promptfooconfig.yaml", 3, &vague);
    let (_, found) = editor.diagnostics();
    assert!(found.iter().any(|one| one["code"] == "L0101"), "{found:?}");

    let typing = sound.replace("{type: contains, value: hello}", "type: ");
    editor.change("promptfooconfig.yaml", 4, &typing);
    editor.diagnostics();
    let at = editor.at("promptfooconfig.yaml", 6, 14);
    let types = editor.ask("textDocument/completion", at);
    assert!(labels(&types).contains(&"javascript") && labels(&types).contains(&"similar"), "{types}");
    let at = editor.at("promptfooconfig.yaml", 6, 9);
    let about = editor.ask("textDocument/hover", at);
    assert!(about["contents"]["value"].as_str().is_some_and(|text| text.contains("`javascript`")), "{about}");

    let scenarios = "prompts: [a]\nproviders: [echo]\nscenarios:\n- config: [{vars: {x: 1}}]\n  tests: [{assert: [{type: zzz}]}]\n";
    editor.open("any.yaml", scenarios);
    let (_, found) = editor.diagnostics();
    assert!(found.iter().any(|one| one["range"]["start"]["line"] == 4), "{found:?}");
    editor.end();
}

#[test]
fn keys_words_and_names_are_known() {
    let mut editor = Editor::start();
    editor.cli.file("prompts/strict.md", "Be strict.\n").file(".git/HEAD", "x\n");
    editor.cli.file(".assize/templates/polite.yaml", "assertions: [Says please]\n");
    editor
        .cli
        .file(".assize/targets.yaml", "targets:\n  - name: local\n    provider: mock\n    response: x\n");
    let text = "execution:\n  target: local\ntests:\n  - id: a\n    input: q\n    assertions:\n      - type: \n      - include: polite\n      - type: llm-grader\n        prompt: prompts/strict.md\n        \n";
    editor.open("s.yaml", text);
    let ask = |editor: &mut Editor, what: &str, line, character| {
        let at = editor.at("s.yaml", line, character);
        editor.ask(&format!("textDocument/{what}"), at)
    };
    let types = ask(&mut editor, "completion", 6, 14);
    assert!(labels(&types).contains(&"rubrics"), "{types}");
    let keys = ask(&mut editor, "completion", 10, 8);
    assert!(labels(&keys).contains(&"weight") && !labels(&keys).contains(&"prompt"), "{keys}");
    let about = ask(&mut editor, "hover", 1, 4);
    assert!(about["contents"]["value"].as_str().is_some_and(|text| text.contains("targets file")), "{about}");
    for (line, file, row) in
        [(9, "prompts/strict.md", 0), (7, ".assize/templates/polite.yaml", 0), (1, ".assize/targets.yaml", 1)]
    {
        let place = ask(&mut editor, "definition", line, 20);
        assert!(place["uri"].as_str().is_some_and(|uri| uri.ends_with(file)), "{file}: {place}");
        assert_eq!(place["range"]["start"]["line"], row, "{place}");
    }
    assert_eq!(ask(&mut editor, "definition", 4, 11), Value::Null);

    let refused = editor.request("textDocument/rename", json!({}));
    assert_eq!(refused["error"]["code"], -32601);
    let wrong = editor.request("textDocument/hover", json!({"position": 1}));
    assert_eq!(wrong["error"]["code"], -32602);
    editor.end();
}

#[test]
fn no_state_of_a_text_ends_the_server() {
    let mut editor = Editor::start();
    let whole = "tests:\n  - id: \"é\u{1f600}\"\n    input: {a: [1, 'x']}\n    assertions:\n      - type: rubrics\n        criteria: &c\n          - outcome: |\n              Says so\n            score_ranges: {0: a, 5: b}\n      - *c\n";
    for (at, _) in whole.char_indices().step_by(7) {
        editor.open("s.yaml", &whole[..at]);
        let line = u32::try_from(whole[..at].matches('\n').count()).expect("small");
        for what in ["hover", "completion", "definition"] {
            let place = editor.at("s.yaml", line, 6);
            editor.ask(&format!("textDocument/{what}"), place);
        }
    }
    editor.end();
}

/// The words of a hint.
fn hint(editor: &mut Editor, file: &str, line: u32, character: u32) -> String {
    let at = editor.at(file, line, character);
    let found = editor.ask("textDocument/hover", at);
    found["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn parts_of_a_text_are_changed_in_order() {
    let mut editor = Editor::start();
    editor.open("s.yaml", SOUND);
    assert_eq!(editor.diagnostics().1, Vec::<Value>::new());
    let range = |from: (u32, u32), to: (u32, u32)| json!({"start": {"line": from.0, "character": from.1}, "end": {"line": to.0, "character": to.1}});
    let document = json!({"uri": editor.uri("s.yaml"), "version": 2});
    let changes = json!([
        {"range": range((2, 4), (2, 9)), "text": "\u{1f600}inptu"},
        {"range": range((2, 4), (2, 6)), "text": ""},
    ]);
    editor.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    let (version, found) = editor.diagnostics();
    assert_eq!(version, 2);
    assert!(
        found.iter().any(|one| one["code"] == "E0103" && one["range"] == range((2, 4), (2, 9))),
        "{found:?}"
    );
    editor.end();
}

#[test]
fn criteria_say_what_they_weigh() {
    let mut editor = Editor::start();
    let text = "tests:\n  - id: a\n    input: q\n    assertions:\n      - type: rubrics\n        weight: 3\n        criteria:\n          - {id: x, outcome: Names the day, weight: 2, required: true}\n          - {id: y, outcome: Blames somebody, weight: -1}\n          - outcome: Names the carrier\n            weight: 3\n      - {type: contains, value: x}\n";
    editor.open("s.yaml", text);
    let first = hint(&mut editor, "s.yaml", 7, 30);
    assert!(first.contains("weight 2 of 5, 40.0% of the rubric's score, 30.0% of the case's"), "{first}");
    assert!(first.contains("the case fails without it"), "{first}");
    let penalty = hint(&mut editor, "s.yaml", 8, 30);
    assert!(penalty.contains("takes up to 20.0% of the rubric's score"), "{penalty}");
    let key = hint(&mut editor, "s.yaml", 10, 14);
    assert!(key.contains("**`weight`**") && key.contains("60.0%"), "{key}");
    editor
        .open("r.rubric.yaml", "- {outcome: Names the day, score_ranges: {0: no, 5: yes}, min_score: 0.5}\n");
    let ranges = hint(&mut editor, "r.rubric.yaml", 0, 15);
    assert!(ranges.contains("weight 1 of 1, 100.0%") && ranges.contains("fails below 0.5"), "{ranges}");
    editor.end();
}

#[test]
fn datasets_and_json_are_read_as_they_are_typed() {
    let mut editor = Editor::start();
    let lines = "{\"id\": \"a\", \"input\": \"q\", \"assertions\": [\"Answers well\"]}\n{\"id\": \"b\", \"inptu\": 1}\n";
    editor.open("cases.jsonl", lines);
    let (_, found) = editor.diagnostics();
    let lines_of = |code: &str| -> Vec<&Value> {
        found.iter().filter(|one| one["code"] == code).map(|one| &one["range"]["start"]).collect()
    };
    assert_eq!(lines_of("L0101"), [&json!({"line": 0, "character": 41})], "{found:?}");
    assert_eq!(lines_of("E0103"), [&json!({"line": 1, "character": 13})], "{found:?}");
    let share = hint(&mut editor, "cases.jsonl", 0, 50);
    assert!(share.contains("weight 1 of 1"), "{share}");
    editor.open("s.json", "{\"tests\": [{\"id\": \"a\", \"rubrics\": [{\"req\": 1, \"required\": }]}]}");
    let keys = editor.at("s.json", 0, 39);
    let keys = editor.ask("textDocument/completion", keys);
    assert!(labels(&keys).contains(&"weight") && !labels(&keys).contains(&"required"), "{keys}");
    let words = editor.at("s.json", 0, 58);
    let words = editor.ask("textDocument/completion", words);
    assert!(labels(&words).starts_with(&["true", "false"]), "{words}");
    let about = hint(&mut editor, "s.json", 0, 3);
    assert!(about.contains("**`tests`**"), "{about}");
    editor.end();
}

#[test]
fn scorecards_are_known_with_their_prompts_and_codes() {
    let mut editor = Editor::start();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard");
    let files = [
        "index.yaml", "rubrics/A.yaml", "rubrics/A-REF.yaml", "benchmarks/refusal/A-REF1.yaml",
        "benchmarks/refusal/A-REF2.yaml", "benchmarks/refusal/A-REF1_prompt.md",
        "benchmarks/refusal/A-REF2_prompt.md",
    ];
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).expect("readable");
        // A scorecard with one branch.
        let text = text.replace("  - A-NEG\n", "").replace("  - A-MED\n", "").replace("  - A-FMT\n", "");
        editor.cli.file(format!("card/{file}"), text);
    }
    editor.cli.file("card/index.yaml", "code: RDI\nlabel: All\ncomponents: [A]\nweights: {A: 1}\n");
    let prompt = "card/benchmarks/refusal/A-REF1_prompt.md";
    let sound = editor.cli.read(prompt);
    editor.open(prompt, &sound);
    assert_eq!(editor.diagnostics().1, Vec::<Value>::new(), "{sound}");
    editor.change(
        prompt,
        2,
        &sound.replace("1. The record says that risks were explained.", "1. Good quality."),
    );
    let found = editor.diagnostics().1;
    assert!(found.iter().any(|one| one["code"] == "L0101"), "{found:?}");

    let benchmark = "card/benchmarks/refusal/A-REF1.yaml";
    let text = editor.cli.read(benchmark);
    let row = |key: &str| {
        u32::try_from(text.lines().position(|line| line.starts_with(key)).expect("there")).expect("small")
    };
    editor.open(benchmark, &text);
    let weighs = hint(&mut editor, benchmark, row("weight"), 10);
    assert!(
        weighs.contains("weight 0.6, 60.0% of the score of `A-REF`") && weighs.contains("hard gate"),
        "{weighs}"
    );
    for (key, column, file) in
        [("llm_prompt_file", 30, "A-REF1_prompt.md"), ("parent_rubric", 17, "rubrics/A-REF.yaml")]
    {
        let at = editor.at(benchmark, row(key), column);
        let place = editor.ask("textDocument/definition", at);
        assert!(place["uri"].as_str().is_some_and(|uri| uri.ends_with(file)), "{key}: {place}");
    }
    let index = editor.cli.read("card/index.yaml");
    editor.open("card/index.yaml", &index);
    let at = editor.at("card/index.yaml", 2, 13);
    let place = editor.ask("textDocument/definition", at);
    assert!(place["uri"].as_str().is_some_and(|uri| uri.ends_with("rubrics/A.yaml")), "{place}");

    // Other files see an invalid text of one file before it is saved.
    editor.told.clear();
    editor.change(benchmark, 2, &text.replace("criticality: hard_gate", "criticality: "));
    let at = editor.at(benchmark, row("criticality"), 13);
    let words = editor.ask("textDocument/completion", at);
    assert_eq!(labels(&words), ["hard_gate", "threshold_gate", "improvement_signal"]);
    editor.change(benchmark, 3, &text.replace("code: A-REF1", "code: A-REF9"));
    let rubric = "card/rubrics/A-REF.yaml";
    let lists = editor.cli.read(rubric);
    editor.open(rubric, &lists);
    let at = editor.at(rubric, 0, 0);
    editor.ask("textDocument/hover", at);
    let of_rubric =
        editor.told.iter().rfind(|told| told["params"]["uri"] == editor.uri(rubric)).expect("told");
    let found = of_rubric["params"]["diagnostics"].as_array().expect("a list");
    assert!(
        found.iter().any(|one| one["message"]
            .as_str()
            .is_some_and(|text| text.contains("`A-REF1` is not a benchmark"))),
        "{found:?}"
    );
    editor.end();
}

#[test]
fn no_program_of_a_text_is_started() {
    let mut editor = Editor::start();
    // The user consents to programs elsewhere, and saved files name some too.
    let assertions = "assertions: [{type: code-grader, command: touch made}]";
    editor.cli.file(".assize/graders/custom.sh", "touch made\n");
    for (name, text) in [
        ("a.eval.yaml", format!("tests: [{{id: a, input: q, output: x, {assertions}}}]\n")),
        ("b.eval.yaml", "workspace: {hooks: {before_all: {command: touch made}}}\ntests: [{id: a, input: q, output: x, assertions: [{type: custom}]}]\n".to_owned()),
        ("promptfooconfig.yaml", "prompts: ['exec:touch made']\nproviders: [{id: cli, config: {command: touch made}}]\nextensions: ['file://x.py:f']\ntests: [{vars: {x: 'file://v.py'}, assert: [{type: python, value: 'file://g.py'}]}]\n".to_owned()),
    ] {
        for code in ["v.py", "g.py", "x.py"] {
            editor.cli.file(code, "open('made', 'w')\n");
        }
        editor.cli.file(name, &text);
        editor.open(name, &text);
        editor.diagnostics();
        assert!(!editor.cli.path("made").exists(), "{name}");
    }
}
