//! Extensions: code that runs around the tests of a file.

use std::process::Command;

use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::e2e::bench::{assert_same_run, cli, info, rows, with_server};

/// Returns true if a program exists. If not, prints that without the test harness, which hides the output of
/// passing tests.
pub(crate) fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        let message = format!("SKIPPED a test of `extensions`: there is no {program}\n");
        std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes()).expect("stderr is there");
    }
    is_there
}

/// A server that repeats its input.
fn repeat(incoming: &MockRequest) -> MockReply {
    MockReply::text(incoming.last_user_text.clone())
}

/// The texts that a server received, sorted.
fn asked_texts(server: &MockServer) -> Vec<String> {
    let body = |text: &[u8]| serde_json::from_slice::<Value>(text).expect("a request is JSON");
    let requests = server.requests();
    let texts = requests.iter().map(|request| body(&request.body)["messages"][0]["content"].clone());
    let mut texts: Vec<String> = texts.map(|text| text.as_str().expect("a text").to_owned()).collect();
    texts.sort();
    texts
}

/// A file whose tests call a model.
fn config(extensions: &str) -> String {
    format!(
        "prompts: ['say {{{{ word }}}}']\nproviders: [openai:m]\nextensions: [{extensions}]\ntests:\n\
         - {{description: a, vars: {{word: tea}}, assert: [{{type: contains, value: '{{{{ word }}}}'}}]}}\n\
         - {{description: b, metadata: {{line: \"1\\u2028\\u20292\"}}, vars: {{word: milk}}, assert: [{{type: contains, value: '{{{{ word }}}}'}}]}}\n"
    )
}

/// Functions that keep a session from the first call to the last, and record their arguments.
const NODE_HOOKS: &str = r"
const fs = require('node:fs');
const path = require('node:path');
let session;
let ended = 0;
const note = (text) => fs.appendFileSync(path.join(__dirname, 'log.txt'), `${text}\n`);

async function hook(name, context) {
  if (name === 'beforeAll') {
    session = `S${context.suite.tests.length}`;
    console.log(`session ${session}`);
    context.suite.tests.push({ description: 'c', vars: { word: 'juice' } });
    context.suite.defaultTest.assert.push({ type: 'contains', value: 'S2' });
    context.suite.prompts[0].raw = `please ${context.suite.prompts[0].raw}`;
    return context;
  }
  if (name === 'beforeEach') {
    await new Promise((done) => setTimeout(done, 5));
    // Changed in place, without being returned.
    context.test.vars.word += ` ${session}`;
  }
  if (name === 'afterEach') {
    ended += 1;
    note(`${context.test.description} ${context.test.vars.word} ${context.result.success} ${context.result.response.output}`);
  }
  if (name === 'afterAll') {
    const passed = context.results.filter((result) => result.success).length;
    note(`end ${ended} ${passed} of ${context.results.length} ${context.prompts[0].metrics.testPassCount} ${context.evalId}`);
  }
}
module.exports = hook;
";

#[test]
fn functions_of_javascript_change_the_suite_and_its_tests_and_see_the_results() {
    if !has("node") {
        return;
    }
    let (cli, server) = with_server(repeat);
    cli.file("hooks.js", NODE_HOOKS);
    cli.file("c.yaml", config("'file://hooks.js:hook'"));
    let args = ["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "run", "-j", "1"];
    let output = cli.run(&args).expect_code(0);
    assert!(output.stderr.contains("hooks.js: session S2"), "{}", output.stderr);

    let asked = asked_texts(&server);
    let expected = ["please say juice S2", "please say milk S2", "please say tea S2"];
    assert_eq!(asked, expected);
    // The stored rows have the changed question.
    let stored = rows(&cli, "run");
    let answers: Vec<&Value> = stored.iter().map(|row| &row["answer"]).collect();
    assert_eq!(answers, ["please say tea S2", "please say milk S2", "please say juice S2"]);
    let questions = cli.read("run/questions.jsonl");
    assert!(questions.contains("please say juice S2"), "{questions}");

    let log = cli.read("log.txt");
    let logged: Vec<&str> = log.lines().collect();
    let id = info(&cli, "run")["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(
        logged[..3],
        [
            "a tea S2 true please say tea S2", "b milk S2 true please say milk S2",
            "c juice S2 true please say juice S2",
        ]
    );
    assert_eq!(logged[3..], [format!("end 3 3 of 3 3 {id}")]);

    // In a complete run, no hook runs again; only changed tests are sent again.
    cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--resume", "run"]).expect_code(0);
    assert_eq!(cli.read("log.txt").lines().count(), 4);
    cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "again"]).expect_code(0);
    assert_eq!(server.count(), 3);
    cli.file("hooks.js", NODE_HOOKS.replace("+= ` ${session}`", "+= ` ${session}!`"));
    let resumed = cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--resume", "run"]);
    assert!(resumed.stderr.contains("3 changed cases rerun"), "{}", resumed.stderr);
    assert_eq!(server.count(), 6);
}

/// Functions that are named after their hooks.
const PYTHON_HOOKS: &str = "
import os
count = 0

def beforeAll(context, more):
    assert more == {'hookName': 'beforeAll'}, more
    # Keys of model servers are not handed down.
    assert 'OPENAI_API_KEY' not in os.environ and 'PATH' in os.environ
    context['suite']['tests'] = context['suite']['tests'][:1]
    return context

async def beforeEach(context, more):
    global count
    count += 1
    context['test']['vars']['word'] = 'cup %d' % count
    context['test']['assert'].append({'type': 'equals', 'value': 'say cup {{ more }}'})
    context['test']['vars']['more'] = count
    return context

def ignored(name, context):
    # Not returned, so that it changes nothing.
    if name == 'beforeEach':
        context['test']['vars']['word'] = 'nothing'

def afterAll(context, more):
    print('ended %d of %d' % (count, len(context['results'])))
";

#[test]
fn functions_of_python_change_what_they_return_and_keep_their_variables() {
    if !has("python3") {
        return;
    }
    let (cli, server) = with_server(repeat);
    cli.file("lib/hooks.py", PYTHON_HOOKS);
    let all = ["beforeAll", "beforeEach", "ignored", "afterAll"]
        .map(|name| format!("'file://lib/hooks.py:{name}'"));
    cli.file("c.yaml", config(&all.join(", ")));
    let args = [
        "eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "run", "--trials", "2", "-j",
        "1",
    ];
    let output = cli.run(&args).expect_code(0);
    assert!(output.stderr.contains("hooks.py: ended 2 of 2"), "{}", output.stderr);
    let asked = asked_texts(&server);
    assert_eq!(asked, ["say cup 1", "say cup 2"]);
    for row in rows(&cli, "run") {
        assert_eq!(row["graders"].as_array().map(Vec::len), Some(2), "{row:#}");
    }
}

#[test]
fn merged_shards_with_functions_around_their_tests_are_the_whole_run() {
    if !has("python3") {
        return;
    }
    let (cli, server) = with_server(repeat);
    cli.file(
        "hooks.py",
        "def beforeAll(context, more):\n    for word in ['juice', 'rum', 'wine']:\n        check = {'type': 'contains', 'value': 'cup of ' + word}\n\
        \x20       context['suite']['tests'].append({'description': word, 'vars': {'word': word}, 'assert': [check]})\n    return context\n\
        def beforeEach(context, more):\n    context['test']['vars']['word'] = 'cup of ' + context['test']['vars']['word']\n    return context\n\
        def afterAll(context, more):\n    print('ended with %d' % len(context['results']))\n",
    );
    let all = ["beforeAll", "beforeEach", "afterAll"].map(|name| format!("'file://hooks.py:{name}'"));
    cli.file("c.yaml", config(&all.join(", ")));
    let eval = ["eval", "c.yaml", "--allow-code", "--judge", "offline"];
    let whole = cli.run(&[&eval[..], &["--run-dir", "whole"]].concat()).expect_code(0);
    assert!(whole.stderr.contains("ended with 5"), "{}", whole.stderr);
    assert_eq!(server.count(), 5);

    // Each shard calls the functions for its own tests.
    for (shard, own) in [("1/2", 3), ("2/2", 2)] {
        let folder = format!("shard-{}", &shard[..1]);
        let args = [&eval[..], &["--shard", shard, "--run-dir", &folder, "--no-cache"]].concat();
        let output = cli.run(&args).expect_code(0);
        assert!(output.stderr.contains(&format!("ended with {own}")), "{}", output.stderr);
    }
    assert_eq!(server.count(), 10, "each test was asked by one shard");
    cli.run(&["merge", "shard-1", "shard-2", "--run-dir", "merged"]).expect_code(0);
    assert_same_run(&cli, "whole", "merged");
}

#[test]
fn a_changed_test_keeps_what_programs_wrote() {
    if !has("python3") {
        return;
    }
    let (cli, server) = with_server(repeat);
    cli.file("prompt.py", "def make(context):\n    return 'say {{ word }} to {{ who }}'\n");
    cli.file("who.py", "def get_var(name, prompt, others):\n    return {'output': 'Bo {{ word }}'}\n");
    cli.file(
        "hooks.py",
        "def beforeEach(context, more):\n    context['test']['vars']['word'] += ' twice'\n    return context\n",
    );
    cli.file(
        "c.yaml",
        "prompts: ['file://prompt.py:make']\nproviders: [openai:m]\nextensions: ['file://hooks.py:beforeEach']\ntests:\n\
         - {vars: {word: tea, who: 'file://who.py'}, assert: [{type: contains, value: '{{ word }}'}]}\n",
    );
    cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "run"]).expect_code(0);
    // A value that a program returned for a variable is never a template, before or after a change.
    assert_eq!(asked_texts(&server), ["say tea twice to Bo {{ word }}"]);
}

#[test]
fn all_tests_may_come_from_a_function_and_are_selected_like_others() {
    if !has("python3") {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "hooks.py",
        "def beforeAll(context, more):\n    for word in ['tea', 'milk']:\n        check = {'type': 'contains', 'value': word}\n\
        \x20       context['suite']['tests'].append({'description': word, 'vars': {'word': word}, 'assert': [check]})\n    return context\n",
    );
    let text = "prompts: ['say {{ word }}']\nproviders: [echo]\nextensions: ['file://hooks.py:beforeAll']\ntests: []\n";
    cli.file("c.yaml", text);
    let refused = cli.run(&["eval", "c.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("`--allow-code`"), "{}", refused.stderr);
    cli.run(&["eval", "c.yaml", "--allow-code", "--run-dir", "all"]).expect_code(0);
    assert_eq!(rows(&cli, "all").len(), 2);
    cli.run(&["eval", "c.yaml", "--allow-code", "--filter", "milk", "--run-dir", "one"]).expect_code(0);
    assert_eq!(rows(&cli, "one")[0]["case_id"], "milk");
    let none = cli.run(&["eval", "c.yaml", "--allow-code", "--filter", "rum"]).expect_code(2);
    assert!(none.stderr.contains("no case matches `--filter`; there are 2"), "{}", none.stderr);

    cli.file("hooks.py", "def beforeAll(context, more):\n    pass\n");
    let empty = cli.run(&["eval", "c.yaml", "--allow-code"]).expect_code(2);
    assert!(!empty.stderr.contains("panicked"), "{}", empty.stderr);
}

#[test]
fn extensions_are_run_only_where_code_is_allowed_and_only_by_a_run() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("hooks.py", "open('started', 'w').close()\ndef hook(name, context):\n    pass\n");
    let text = "prompts: [p]\nproviders: [echo]\nextensions: ['file://hooks.py:hook']\n";
    cli.file("asks.yaml", format!("{text}tests: [{{assert: [{{type: contains, value: p}}]}}]\n"));
    let given = "tests: [{providerOutput: p, assert: [{type: contains, value: p}]}]\n";
    cli.file("given.yaml", format!("{text}{given}"));

    let refused = cli.run(&["eval", "asks.yaml", "--run-dir", "none"]).expect_code(2);
    let expected = "asks.yaml:3:14: `hooks.py:hook` of `extensions` (Python code)";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(!cli.path("none").exists());
    let planned = cli.run(&["eval", "asks.yaml", "--dry-run", "--allow-code"]).expect_code(0);
    assert!(planned.stderr.contains("it covers the tests as written"), "{}", planned.stderr);
    // Extensions have no effect on given answers.
    let idle = cli.run(&["eval", "given.yaml"]).expect_code(0);
    assert!(idle.stdout.contains("`extensions` have no effect on given answers"), "{}", idle.stdout);

    // No hook is called for a run that can't be carried out, nor for a plan.
    let unknown = cli.run(&["eval", "asks.yaml", "--allow-code", "--target", "none"]).expect_code(2);
    assert!(unknown.stderr.contains("none"), "{}", unknown.stderr);
    let batch = ["eval", "asks.yaml", "--allow-code", "--export-requests", "out"];
    let batch = cli.run(&batch).expect_code(2);
    assert!(batch.stderr.contains("more than once"), "{}", batch.stderr);
    let audit = cli.run(&["audit", "injection", "asks.yaml", "--judge", "offline"]).expect_code(2);
    assert!(audit.stderr.contains("only run with `assize eval` on a single machine"), "{}", audit.stderr);
    assert!(!cli.path("started").exists());

    if has("python3") {
        cli.run(&["eval", "asks.yaml", "--allow-code"]).expect_code(0);
        assert!(cli.path("started").exists());
    }
}

#[test]
fn what_fails_before_all_stops_the_run_and_what_fails_around_a_test_is_told() {
    if !has("python3") {
        return;
    }
    let (cli, server) = with_server(repeat);
    let hooks = |name: &str, body: &str| {
        cli.file(name, format!("import sys\ndef hook(name, context):\n{body}"));
        cli.file("c.yaml", config(&format!("'file://{name}:hook'")));
    };
    let args = ["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "run"];

    for (body, reason) in [
        ("    raise ValueError('no database')\n", "ValueError: no database"),
        ("    return {'tests': []}\n", "it returned no `suite`"),
        ("    sys.exit('gone')\n", "it ended before it answered\ngone"),
        ("    return {'suite': {**context['suite'], 'tests': [{'vars': 3}]}}\n", "`vars` must be a map"),
    ] {
        hooks("all.py", body);
        let refused = cli.run(&args).expect_code(2);
        assert!(refused.stderr.contains(reason), "{body}: {}", refused.stderr);
        assert!(refused.stderr.contains("nothing was run"), "{}", refused.stderr);
        assert!(!cli.path("run").exists());
    }
    for (name, text, reason) in [
        (
            "none.py",
            "def other(name, context):\n    pass\n",
            "`none.py:hook` can't be used: NameError: the file has no function 'hook'",
        ),
        ("load.py", "import no_such_module\n", "ModuleNotFoundError"),
    ] {
        cli.file(name, text);
        cli.file("c.yaml", config(&format!("'file://{name}:hook'")));
        let refused = cli.run(&args).expect_code(2);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
    if has("node") {
        cli.file("typed.ts", "export const hook = (name: string) => undefined;\n");
        cli.file("c.yaml", config("'file://typed.ts:hook'").replace("openai:m", "echo"));
        let output = cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "typed"]);
        let is_told = output.stderr.contains("this `node` can't run TypeScript");
        assert!(output.code == Some(0) || is_told, "{}", output.stderr);
    }
    assert_eq!(server.count(), 0);

    // The test for which it fails has no answer and no score.
    let body = "    if name == 'beforeEach' and context['test']['vars']['word'] == 'milk':\n        raise ValueError('no session')\n\
                    \x20   if name.startswith('after'):\n        raise ValueError('no end')\n";
    hooks("each.py", body);
    let output = cli.run(&args).expect_code(3);
    let found = rows(&cli, "run");
    assert_eq!((&found[0]["verdict"], &found[1]["verdict"]), (&json!("pass"), &json!("incomplete")));
    assert_eq!((&found[1]["score"], &found[1]["answer"]), (&Value::Null, &Value::Null));
    let message = found[1]["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("`beforeEach` of extension `each.py:hook` failed: ValueError: no session"),
        "{message}"
    );
    assert_eq!(server.count(), 1);
    for warning in ["case `a`: `afterEach` of extension", "`afterAll` of extension"] {
        assert!(output.stderr.contains(warning), "{}", output.stderr);
    }

    let changed = "    if name == 'beforeEach':\n        context['test']['assert'] = [{'type': 'nonsense'}]\n        return context\n";
    hooks("broken.py", changed);
    cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "broken"]).expect_code(3);
    let message = rows(&cli, "broken")[0]["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("returned can't be used") && message.contains("nonsense"), "{message}");
}

#[test]
fn extensions_of_agentv_are_told_the_case_and_change_no_test() {
    if !has("node") {
        return;
    }
    let cli = cli();
    cli.file(
        "hooks.mjs",
        "import { appendFileSync } from 'node:fs';\nimport { join } from 'node:path';\n\
         export function beforeEach(context) {\n  appendFileSync(join(context.eval_dir, 'log.txt'), `${context.hook_name} ${context.test_id}\\n`);\n\
         return { provider_context: { id: context.test_id }, output: 'done' };\n}\n",
    );
    cli.file(
        "a.eval.yaml",
        "prompts: ['{{ q }}']\nproviders: [echo]\nextensions: ['agentv:agent-rules', 'file://hooks.mjs:beforeEach']\n\
         default_test: {threshold: 0.5}\ntests: [{id: one, vars: {q: tea}, assert: [{type: contains, value: tea}]}]\n",
    );
    cli.run(&["eval", "a.eval.yaml", "--allow-code"]).expect_code(0);
    assert_eq!(cli.read("log.txt"), "beforeEach one\n");
}

#[cfg(unix)]
#[test]
fn extensions_of_agentv_work_in_the_workspace_of_each_case() {
    if !has("node") || !has("python3") {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    let note = "import { appendFileSync } from 'node:fs';\nimport { join } from 'node:path';\n\
                const note = (context, file) => appendFileSync(join(context.workspace_path, file), `${context.hook_name} ${context.test_id}\\n`);\n";
    cli.file(
        "hooks/setup.mjs",
        format!(
            "{note}export function beforeAll(context) {{ note(context, 'all.txt'); }}\n\
             export async function beforeEach(context) {{ note(context, 'each.txt'); }}\n"
        ),
    );
    cli.file(
        "hooks/reset.py",
        "import os\ndef afterEach(context, more):\n    path = os.path.join(context['eval_dir'], 'log.txt')\n    with open(path, 'a') as log:\n\
        \x20       log.write(more['hookName'] + ' ' + context['test_id'] + ' ' + open(os.path.join(context['workspace_path'], 'each.txt')).read())\n",
    );
    cli.file("base/readme.txt", "hello\n");
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: agent, provider: cli, command: 'cat all.txt each.txt; echo done > agent.txt'}\n",
    );
    cli.file(
        "a.eval.yaml",
        "prompts: ['{{ q }}']\nproviders: [agent]\nenvironment: {type: host, workdir: base}\n\
         extensions: ['file://hooks/setup.mjs:beforeAll', 'file://hooks/setup.mjs:beforeEach', 'file://hooks/reset.py:afterEach']\n\
         tests:\n- {id: one, vars: {q: tea}, assert: [{type: contains, value: beforeEach one}, {type: contains, value: beforeAll}]}\n\
         - {id: two, vars: {q: milk}, assert: [{type: contains, value: beforeEach two}]}\n",
    );
    let refused = cli.run(&["eval", "a.eval.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("`hooks/reset.py:afterEach` of `extensions`"), "{}", refused.stderr);
    cli.run(&["eval", "a.eval.yaml", "--allow-code", "--run-dir", "run", "-j", "1"]).expect_code(0);
    for row in rows(&cli, "run") {
        let changes = row["file_changes"].as_str().expect("a diff");
        assert!(changes.contains("agent.txt") && !changes.contains("each.txt"), "{changes}");
    }
    assert_eq!(cli.read("log.txt"), "afterEach one beforeEach one\nafterEach two beforeEach two\n");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_interpreter_and_leaves_the_end_for_later() {
    use std::process::Stdio;

    use crate::e2e::signals::{signal, until};

    if !has("python3") {
        return;
    }
    let (cli, _server) = with_server(repeat);
    cli.file(
        "hooks.py",
        "import os, subprocess, time\ndef hook(name, context):\n    if name == 'beforeAll':\n        child = subprocess.Popen(['sleep', '300'])\n\
        \x20       open('pids', 'w').write('%d %d' % (os.getpid(), child.pid))\n    if name == 'beforeEach' and context['test']['vars']['word'] == 'milk' and not os.path.exists('go'):\n\
        \x20       open('waits', 'w').close()\n        time.sleep(60)\n    if name == 'afterAll':\n        open('ended', 'w').close()\n",
    );
    cli.file("c.yaml", config("'file://hooks.py:hook'"));
    let args = ["eval", "c.yaml", "--allow-code", "--judge", "offline", "--run-dir", "run", "-j", "1"];
    let child = cli.command(&args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary starts");
    until("a function waits", || cli.path("waits").exists());
    assert!(signal("INT", child.id()));
    let output = child.wait_with_output().expect("it can be waited for");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("`afterAll` of `c.yaml` was not run"), "{told}");
    assert!(!cli.path("ended").exists());
    for process in cli.read("pids").split_whitespace() {
        let process = process.parse().expect("a number");
        until("the interpreter and its child end", || !signal("0", process));
    }

    // Before the first test ends, there is no state that a resumed run could continue from.
    cli.file(
        "slow.py",
        "import time\ndef beforeAll(context, more):\n    open('begun', 'w').close()\n    time.sleep(60)\n",
    );
    cli.file("slow.yaml", config("'file://slow.py:beforeAll'"));
    let args_slow = ["eval", "slow.yaml", "--allow-code", "--judge", "offline", "--run-dir", "slow"];
    let child = cli.command(&args_slow).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary starts");
    until("a function waits", || cli.path("begun").exists());
    assert!(signal("INT", child.id()));
    let output = child.wait_with_output().expect("it can be waited for");
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted during `beforeAll`"));
    assert!(!cli.path("slow").exists());

    cli.file("go", "");
    cli.run(&["eval", "c.yaml", "--allow-code", "--judge", "offline", "--resume", "run"]).expect_code(0);
    assert!(cli.path("ended").exists());
}

#[cfg(unix)]
#[test]
fn what_comes_after_all_tests_is_run_by_the_next_process_if_one_is_killed_before_its_end() {
    use std::process::Stdio;

    use crate::e2e::signals::until;

    if !has("python3") {
        return;
    }
    let (cli, server) = with_server(repeat);
    cli.file(
        "hooks.py",
        "import os, time\nparent = os.getppid()\ndef hook(name, context):\n    if name != 'afterAll':\n        return\n    open('begun', 'w').close()\n\
        \x20   while not os.path.exists('go') and os.getppid() == parent:\n        time.sleep(0.01)\n\
        \x20   if os.getppid() != parent:\n        os._exit(1)\n\
        \x20   with open('ended', 'a') as log:\n        log.write('%d\\n' % len(context['results']))\n",
    );
    cli.file("c.yaml", config("'file://hooks.py:hook'"));
    let args = ["eval", "c.yaml", "--allow-code", "--judge", "offline"];
    let mut child = cli.command(&[&args[..], &["--run-dir", "run"]].concat());
    let child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("the binary starts");
    until("`afterAll` begins", || cli.path("begun").exists());
    assert!(info(&cli, "run")["summary"].is_object(), "all results are there");
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
    let asked = server.count();

    cli.file("go", "");
    let resume = [&args[..], &["--resume", "run"]].concat();
    cli.run(&resume).expect_code(0);
    assert_eq!(cli.read("ended"), "2\n");
    let again = cli.run(&resume).expect_code(0);
    assert!(again.stderr.contains("the run was complete before it was resumed"), "{}", again.stderr);
    assert_eq!((cli.read("ended"), server.count()), ("2\n".to_owned(), asked));

    // Added results are new to it.
    let all = cli.read("c.yaml").replace("word: milk", "word: juice");
    cli.file("c.yaml", all);
    cli.run(&resume).expect_code(0);
    assert_eq!(cli.read("ended"), "2\n2\n");
}
