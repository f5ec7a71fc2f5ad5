//! Cases that work in folders: created, acquired, judged by their changes, restored and removed.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::MockRequest;
use serde_json::Value;

use crate::e2e::bench::{cli, info, rows, with_server};
use crate::e2e::judge::honest;

/// The binary, with its own folder for temporary files.
fn desk() -> CliTest {
    let mut cli = cli();
    let temp = cli.path("temp");
    fs::create_dir(&temp).expect("made");
    cli.env("TMPDIR", temp.to_string_lossy());
    cli
}

/// A target that runs this script in the workspace and answers `done`.
fn agent(cli: &CliTest, script: &str) {
    let script = serde_json::to_string(&format!("{script}\necho done")).expect("a text");
    cli.file(
        ".assize/targets.yaml",
        format!("targets:\n- {{name: agent, provider: cli, command: {script}}}\n"),
    );
}

/// Cases with these ids, all graded by their answer.
fn suite(cli: &CliTest, workspace: &str, ids: &[&str]) {
    let mut text = format!("name: s\nworkspace: {workspace}\ntests:\n");
    for id in ids {
        let _ = writeln!(
            text,
            "- {{id: '{id}', input: q, criteria: x, assertions: [{{type: contains, value: done}}]}}"
        );
    }
    cli.file("s.eval.yaml", text);
}

fn eval(cli: &CliTest, more: &[&str]) -> CliOutput {
    fs::remove_dir_all(cli.path("run")).ok();
    let mut words = vec!["eval", "s.eval.yaml", "--run-dir", "run"];
    words.extend(more);
    cli.run(&words)
}

fn changes(row: &Value) -> &str {
    row["file_changes"].as_str().unwrap_or_else(|| panic!("no file changes: {row}"))
}

#[track_caller]
fn nothing_left(cli: &CliTest) {
    let left: Vec<_> = fs::read_dir(cli.path("temp")).expect("there").filter_map(Result::ok).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn each_case_finds_the_template_and_what_it_changes_reaches_programs_and_results() {
    let cli = desk();
    cli.file("start/hello.txt", "hello\n").file("start/old.log", "x\n").file("start/.gitignore", "junk/\n");
    agent(
        &cli,
        "test ! -e mark || exit 1; touch mark; echo more >> hello.txt; rm old.log; mkdir junk; \
         head -c 300000 /dev/zero | tr '\\0' x > junk/big; mkdir -p sub/.git; echo secret > sub/.git/x; \
         echo new > sub/file; printf 'a\\0b' > blob",
    );
    suite(&cli, "{template: ./start}", &["one", "a/../b c", "three"]);
    let text = cli.read("s.eval.yaml").replace(
        "assertions: [",
        "assertions: [{type: code-grader, name: look, cwd: ., command: [sh, -c, 'cat > payload-$$.json; echo \"{\\\"score\\\": 1}\"']}, ",
    );
    cli.file("s.eval.yaml", text);
    eval(&cli, &["-j", "3"]).expect_code(0);
    let mut places = BTreeSet::new();
    for row in rows(&cli, "run") {
        let diff = changes(&row);
        for part in [
            "--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1,2 @@\n hello\n+more\n",
            "diff --git a/old.log b/old.log\ndeleted file mode 100644\n",
            "diff --git a/sub/file b/sub/file\nnew file mode 100644\n",
            "Binary files a/blob and b/blob differ (nothing to 3 bytes, blake3 ",
            "[cut: 1 changed file in `junk`, which .gitignore excludes: not shown]\n",
        ] {
            assert!(diff.contains(part), "{part}\nis not in\n{diff}");
        }
        assert!(!diff.contains("secret"), "{diff}");
    }
    for entry in fs::read_dir(cli.dir()).expect("there").filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with("payload-") {
            let payload: Value =
                serde_json::from_str(&fs::read_to_string(entry.path()).expect("there")).expect("JSON");
            assert!(payload["file_changes"].as_str().is_some_and(|diff| diff.contains("+more")));
            places.insert(payload["workspace_path"].as_str().expect("a path").to_owned());
        }
    }
    assert_eq!(places.len(), 3, "{places:?}");
    let temp = cli.path("temp").canonicalize().expect("there");
    assert!(places.iter().all(|place| Path::new(place).starts_with(&temp)), "{places:?}");
    nothing_left(&cli);
}

#[test]
fn stored_changes_are_graded_again() {
    let cli = desk();
    cli.file("start/calc.py", "def add(a, b):\n    return a + b\n");
    agent(&cli, "echo 'def subtract(a, b): return a - b' >> calc.py");
    suite(&cli, "{template: ./start}", &["one"]);
    eval(&cli, &[]).expect_code(0);
    cli.file("rubric.yaml", "criteria:\n- {id: sub, outcome: Mentions subtract}\n");
    let columns = ["--columns", "id=case_id,metadata=*"];
    let args = ["grade", "rubric.yaml", "--answers", "run/results.jsonl", "--run-dir", "again"];
    let output = cli.run(&[&args[..], &columns].concat());
    let again = rows(&cli, "again");
    assert!(changes(&again[0]).contains("+def subtract"), "{}{}", output.stdout, output.stderr);
    let evidence = &again[0]["graders"][0]["criteria"][0]["evidence"][0];
    assert!(evidence["quote"].as_str().is_some_and(|quote| quote.contains("def subtract")), "{}", again[0]);
    let shown = cli.run(&["explain", "run", "one"]).expect_code(0);
    assert!(shown.stdout.contains("1 file changed"), "{}", shown.stdout);
}

#[test]
fn judges_see_what_changed_however_much_it_is() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let bodies = Arc::clone(&seen);
    let (mut cli, _server) = with_server(move |incoming: &MockRequest| {
        bodies.lock().expect("unbroken").push(incoming.body.to_string());
        honest(incoming)
    });
    let temp = cli.path("temp");
    fs::create_dir(&temp).expect("made");
    cli.env("TMPDIR", temp.to_string_lossy());
    cli.file("start/x", "");
    agent(&cli, "echo marked-line > small; seq 300000 > two-megabytes; seq 900000 > six-megabytes");
    cli.file(
        "s.eval.yaml",
        "name: s\nworkspace: {template: ./start}\ntests:\n\
         - {id: a, input: q, criteria: x, assertions: [Names `done`]}\n",
    );
    eval(&cli, &["--judge", "openai:m", "--context-tokens", "20000000"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    let diff = changes(row);
    assert!(diff.contains("\n+300000\n") && diff.len() > 5 << 20, "{} bytes", diff.len());
    assert!(diff.contains("more lines of this file's diff are not shown]"), "the cut is said");
    let bodies = seen.lock().expect("unbroken");
    assert!(bodies.iter().all(|body| body.contains("+marked-line") && body.contains("+300000")));
    assert!(!bodies.is_empty());
}

#[test]
fn the_turns_of_a_conversation_share_a_workspace() {
    let cli = desk();
    cli.file("start/x", "");
    agent(&cli, "echo line >> said; cat said");
    cli.file(
        "s.eval.yaml",
        "name: s\nworkspace: {template: ./start}\ntests:\n- id: a\n  criteria: x\n  mode: conversation\n  turns:\n  \
         - {input: one, assertions: [{type: contains, value: line}]}\n  \
         - {input: two, assertions: [{type: contains, value: \"line\\nline\"}]}\n",
    );
    eval(&cli, &[]).expect_code(0);
    assert!(changes(&rows(&cli, "run")[0]).contains("@@ -0,0 +1,2 @@\n+line\n+line\n"));
    nothing_left(&cli);
}

#[test]
fn a_shared_workspace_goes_from_case_to_case_in_order() {
    let cli = desk();
    cli.file("start/.gitignore", "kept\n").file("start/base", "1\n");
    agent(&cli, "echo $(ls) >> order; echo x > kept; echo y > extra; echo z >> base");
    let ids = ["a", "b", "c", "d"];
    suite(&cli, "{template: ./start, isolation: shared}", &ids);
    eval(&cli, &["-j", "4"]).expect_code(0);
    let found = rows(&cli, "run");
    assert!(changes(&found[0]).contains("+++ b/extra") && !changes(&found[1]).contains("b/extra"));
    for (row, count) in found.iter().zip(0..) {
        // Each case finds as many lines as there were cases before it.
        let before = changes(row).lines().filter(|line| line.starts_with(" base")).count();
        assert_eq!(before, if count == 0 { 0 } else { count.min(3) }, "{}", changes(row));
    }
    for (reset, keeps) in [("fast", true), ("strict", false)] {
        suite(
            &cli,
            &format!("{{template: ./start, isolation: shared, hooks: {{after_each: {{reset: {reset}}}}}}}"),
            &ids,
        );
        eval(&cli, &[]).expect_code(0);
        for row in &rows(&cli, "run")[1..] {
            assert!(changes(row).contains("+++ b/extra"), "{reset}: {}", changes(row));
            assert_eq!(changes(row).contains("b/kept"), !keeps, "{reset}: {}", changes(row));
        }
    }
    nothing_left(&cli);
}

#[test]
fn a_pooled_workspace_is_as_new_for_each_case() {
    let cli = desk();
    cli.file("start/dir/file", "1\n").file("start/.git/config", "c\n").file("start/.gitignore", "kept\n");
    fs::create_dir_all(cli.path("seen")).expect("made");
    let seen = cli.path("seen");
    agent(
        &cli,
        &format!(
            "pwd >> {0}/places; ls -aR > {0}/$(ls {0} | wc -l); cat dir/file .git/config >> {0}/contents; \
             echo 2 > dir/file; echo evil > .git/config; mkdir -p deep/er; echo x > deep/er/f; echo k > kept; \
             chmod 0 deep/er; chmod 500 dir; rm .gitignore; ln -s / .gitignore; touch -d 2001-01-01 dir/file",
            seen.display()
        ),
    );
    suite(&cli, "{template: ./start, mode: pooled}", &["a", "b", "c"]);
    eval(&cli, &["-j", "1"]).expect_code(0);
    let read = |name: &str| fs::read_to_string(seen.join(name)).expect("there");
    let places: Vec<String> = read("places").lines().map(str::to_owned).collect();
    assert!(places.len() == 3 && places.iter().all(|place| *place == places[0]), "{places:?}");
    assert_eq!(read("contents"), "1\nc\n".repeat(3));
    assert_eq!(read("1"), read("3"));
    assert_eq!(read("1"), read("4"));
    let found = rows(&cli, "run");
    assert_eq!(changes(&found[0]), changes(&found[2]));
    nothing_left(&cli);
}

#[test]
fn hooks_run_in_order_and_know_where_and_what_for() {
    let cli = desk();
    cli.file("start/x", "");
    agent(&cli, "echo agent >> $PWD/../../../log");
    cli.file("hook.sh", "#!/bin/sh\necho \"$1\" >> log\ncat >> \"$1.json\"; echo >> \"$1.json\"\n");
    let hooks = ["before_all", "before_each", "after_each", "after_all"];
    let of = |whose: &str| {
        let each: Vec<String> = hooks
            .iter()
            .map(|hook| {
                format!("{hook}: {{command: [sh, hook.sh, '{whose}-{hook}', '{{{{workspace_path}}}}']}}")
            })
            .collect();
        format!("{{{}}}", each.join(", "))
    };
    suite(&cli, &format!("{{template: ./start, hooks: {}}}", of("w")), &["one", "two"]);
    let text = cli.read("s.eval.yaml");
    let text =
        format!("{text}execution: {{targets: [{{name: variant, use_target: agent, hooks: {}}}]}}\n", of("t"));
    cli.file("s.eval.yaml", text);
    eval(&cli, &["-j", "1"]).expect_code(0);
    let each = "w-before_each t-before_each agent t-after_each w-after_each";
    let log = cli.read("log").lines().collect::<Vec<_>>().join(" ");
    assert_eq!(log, format!("w-before_all t-before_all {each} {each} t-after_all w-after_all"));
    let inputs: Vec<Value> = cli
        .read("w-before_each.json")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(inputs[1]["test_id"], "two");
    assert_eq!(inputs[1]["case_input"], "q");
    assert_eq!(inputs[1]["eval_run_id"], info(&cli, "run")["run_id"]);
    assert!(inputs[1]["workspace_path"].as_str().is_some_and(|path| path.contains("assize-ws-")));
    assert_eq!(rows(&cli, "run")[0]["target"], "variant");
}

#[test]
fn a_failed_hook_is_an_error_of_the_case_and_never_a_score() {
    let cli = desk();
    cli.file("start/x", "");
    agent(&cli, "touch $PWD/../../../asked");
    let failing = |hook: &str, command: &str| {
        suite(&cli, &format!("{{template: ./start, hooks: {{{hook}: {command}}}}}"), &["one", "two"]);
        fs::remove_file(cli.path("asked")).ok();
        let output = eval(&cli, &[]);
        (output, rows(&cli, "run"), cli.path("asked").exists())
    };
    for hook in ["before_all", "before_each"] {
        let (output, rows, asked) = failing(hook, "'echo no tools here >&2; exit 7'");
        output.expect_code(3);
        assert!(!asked, "{hook}: the agent was asked");
        for row in rows {
            assert_eq!((&row["score"], row["verdict"].as_str()), (&Value::Null, Some("incomplete")));
            assert_eq!(
                (row["error"]["stage"].as_str(), row["error"]["kind"].as_str()),
                (Some("workspace"), Some("hook"))
            );
            let message = row["error"]["message"].as_str().expect("a message");
            for part in [hook, "exit code 7", "no tools here", "s.eval.yaml:2:"] {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }
    let (output, rows_now, _) = failing("before_each", "{command: [sleep, '30'], timeout_ms: 50}");
    output.expect_code(3);
    assert_eq!(rows_now[0]["error"]["kind"], "timeout");
    let (output, rows_now, asked) = failing("after_each", "[sh, -c, 'exit 3']");
    output.expect_code(3);
    assert!(asked);
    assert_eq!(rows_now[0]["error"]["stage"], "teardown");
    assert_eq!(
        (rows_now[0]["score"].as_f64(), rows_now[0]["verdict"].as_str()),
        (Some(1.0), Some("incomplete"))
    );
    cli.run(&["explain", "run", "one"]).expect_code(0);
    cli.run(&["score", "run"]).expect_code(3);
    let (output, _, _) = failing("after_all", "[sh, -c, 'exit 3']");
    assert!(output.stderr.contains("after_all"), "{}", output.stderr);
    assert!(info(&cli, "run")["warnings"].to_string().contains("after_all"));
    nothing_left(&cli);
}

#[test]
fn a_template_can_not_lead_out_of_itself() {
    let cli = desk();
    agent(&cli, "true");
    cli.file("secret/key", "k").file("start/real", "r");
    for leads in ["/etc", "../secret", "sub/../../secret/key", "a-link/../../secret"] {
        fs::remove_file(cli.path("start/link")).ok();
        std::os::unix::fs::symlink(leads, cli.path("start/link")).expect("made");
        suite(&cli, "{template: ./start}", &["one"]);
        eval(&cli, &[]).expect_code(3);
        let row = &rows(&cli, "run")[0];
        assert_eq!(row["error"]["kind"], "template", "{leads}: {row}");
        assert!(row["error"]["message"].as_str().is_some_and(|text| text.contains("leads outside")));
    }
    fs::remove_file(cli.path("start/link")).ok();
    std::os::unix::fs::symlink("real", cli.path("start/link")).expect("made");
    eval(&cli, &[]).expect_code(0);
    nothing_left(&cli);
}

pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@localhost", "-c", "init.defaultBranch=main"])
        .args(words)
        .current_dir(folder)
        .output()
        .expect("git is there");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn repositories_stand_at_their_commit_and_can_not_reach_back() {
    let mut cli = desk();
    let source = cli.path("source");
    fs::create_dir(&source).expect("made");
    git(&source, &["init", "--quiet"]);
    let mut commits = Vec::new();
    for number in 1..=3 {
        cli.file("source/version", format!("{number}\n")).file("source/docs/page", "p\n");
        git(&source, &["add", "."]);
        git(&source, &["commit", "--quiet", "-m", "x"]);
        commits.push(git(&source, &["rev-parse", "HEAD"]));
    }
    git(&source, &["tag", "v2", &commits[1]]);
    git(&source, &["branch", "side", &commits[0]]);
    // As in a git hook: none of these variables may matter.
    cli.env("GIT_DIR", source.join(".git").to_string_lossy());
    cli.env("GIT_WORK_TREE", source.to_string_lossy());
    cli.env("GIT_INDEX_FILE", "nowhere");
    agent(&cli, "cat r/version; git -C r remote; ls r; echo changed > r/version; cd r && git commit -qam x");
    let full = &commits[0];
    for (repo, version) in [
        ("commit: side".to_owned(), "1"),
        ("commit: v2".to_owned(), "2"),
        ("checkout: {ref: main, ancestor: 1}".to_owned(), "2"),
        (format!("base_commit: {full}"), "1"),
        (format!("base_commit: {}", &full[..10]), "1"),
        ("clone: {depth: 1}".to_owned(), "3"),
        ("commit: main, clone: {depth: 1}, ancestor: 2".to_owned(), "1"),
        ("sparse: [/version]".to_owned(), "3"),
    ] {
        suite(&cli, &format!("{{repos: [{{path: r, repo: ./source, {repo}}}]}}"), &["one"]);
        let output = eval(&cli, &[]);
        let row = &rows(&cli, "run")[0];
        assert_eq!(output.code, Some(0), "{repo}: {row}");
        let docs = if repo.contains("sparse") { "" } else { "docs\n" };
        assert_eq!(row["answer"], format!("{version}\n{docs}version\ndone"), "{repo}");
        // Committed changes count as changes; the repository's own data is not shown.
        assert!(changes(row).contains(&format!("-{version}\n+changed")), "{repo}: {}", changes(row));
        assert!(!changes(row).contains(".git"), "{repo}: {}", changes(row));
    }
    assert_eq!(git(&source, &["rev-parse", "HEAD"]), commits[2]);
    assert_eq!(git(&source, &["status", "--porcelain"]), "");
    suite(&cli, "{repos: [{path: r, repo: ./source, commit: nowhere}]}", &["one"]);
    eval(&cli, &[]).expect_code(3);
    let error = rows(&cli, "run")[0]["error"].clone();
    assert_eq!(error["kind"], "repository");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("no commit `nowhere`")), "{error}");
    nothing_left(&cli);
}

#[test]
fn a_folder_of_ones_own_is_filled_once_and_never_removed() {
    let cli = desk();
    cli.file("start/base", "1\n");
    agent(&cli, "echo line >> mine");
    suite(&cli, "{template: ./start, mode: static, path: ./own/place}", &["one", "two"]);
    eval(&cli, &["-j", "2"]).expect_code(0);
    assert_eq!(cli.read("own/place/mine"), "line\nline\n");
    cli.file("start/base", "2\n");
    eval(&cli, &[]).expect_code(0);
    assert_eq!(
        (cli.read("own/place/base"), cli.read("own/place/mine").lines().count()),
        ("1\n".to_owned(), 4)
    );
    nothing_left(&cli);
}

/// Runs two cases with an agent that replaces the path in `replace` by a link to `docs`; returns the rows. No
/// file in `docs` may change, and none of its text may appear in a row.
fn replaced_by_a_link(workspace: &str, replace: &str) -> Vec<Value> {
    let cli = desk();
    cli.file("start/a.txt", "a\n").file("start/sub/b.txt", "b\n").file("docs/thesis.txt", "SECRET-THESIS\n");
    cli.file("docs/sub/b.txt", "SECRET-B\n").file("own/a.txt", "a\n");
    let docs = cli.path("docs");
    let script = replace.replace("DOCS", &docs.to_string_lossy());
    agent(&cli, &script);
    // By name: with an empty path, this must not empty the root.
    let hooks = "hooks: {after_each: {command: 'rm -rf {{workspace_path}}/thesis.txt {{workspace_path}}/sub'}, \
                 before_each: {reset: strict}}";
    suite(&cli, &format!("{{template: ./start, {workspace}, {hooks}}}"), &["one", "two"]);

    let output = eval(&cli, &[]);

    assert_eq!(cli.read("docs/thesis.txt"), "SECRET-THESIS\n", "{workspace}, {replace}");
    assert_eq!(cli.read("docs/sub/b.txt"), "SECRET-B\n", "{workspace}, {replace}");
    // A temporary folder that is a link is used as one; workspaces in it have their own names.
    let is_own = |name: &str| !name.starts_with("assize-");
    let names = fs::read_dir(&docs).expect("there").map(|entry| entry.expect("readable").file_name());
    let kept = names.filter(|name| is_own(&name.to_string_lossy())).count();
    assert_eq!(kept, 2, "{workspace}, {replace}");
    let stored =
        cli.read("run/results.jsonl") + &cli.read("run/judgements.jsonl") + &output.stdout + &output.stderr;
    assert!(!stored.contains("SECRET"), "{workspace}, {replace}: {stored}");
    assert_ne!(output.code, Some(101));
    rows(&cli, "run")
}

#[test]
fn a_link_in_the_place_of_a_workspace_leads_to_nothing_that_is_read_or_removed() {
    let modes = [
        "mode: temp", "mode: pooled", "isolation: shared", "isolation: per_test",
        "mode: pooled, isolation: shared", "mode: static, path: ./own",
    ];
    for mode in modes {
        for replace in [
            "p=$(pwd); mv $p $p.x; ln -s DOCS $p", "p=$(pwd); rm -rf $p; ln -s DOCS $p",
            "p=$(pwd); mv $p $p.x; mkdir $p",
        ] {
            for row in replaced_by_a_link(mode, replace) {
                let message = row["error"]["message"].as_str().unwrap_or_default();
                assert!(message.contains("was replaced: "), "{mode}, {replace}: {row}");
            }
        }
    }
}

#[test]
fn a_link_in_the_place_of_an_inner_folder_is_a_link_among_the_changes() {
    for mode in ["mode: temp", "mode: pooled", "isolation: shared"] {
        for row in
            replaced_by_a_link(mode, "rm -r sub; ln -s DOCS/sub sub; ln -s DOCS all; ln -s DOCS/thesis.txt a")
        {
            assert!(row["error"].is_null(), "{mode}: {row}");
            assert!(changes(&row).contains("new file mode 120000"), "{mode}: {row}");
        }
    }
}

#[test]
fn a_link_in_the_place_of_the_folder_above_is_noticed() {
    for mode in ["mode: temp", "mode: pooled", "isolation: shared"] {
        // `-n`: if the other case was here before, its link is not followed into `docs`.
        let replace = "d=$(dirname $(pwd)); mv $d $d.x; ln -sn DOCS $d";
        for row in replaced_by_a_link(mode, replace) {
            let message = row["error"]["message"].as_str().unwrap_or_default();
            assert!(!message.is_empty(), "{mode}: {row}");
        }
    }
}

#[test]
fn special_files_of_a_template_are_never_opened() {
    let cli = desk();
    agent(&cli, "true");
    let socket = |path: &Path| drop(std::os::unix::net::UnixListener::bind(path).expect("bound"));
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo is there").success());
    };
    for (name, make) in [("pipe", &pipe as &dyn Fn(&Path)), ("socket", &socket)] {
        cli.file("start/sub/a.txt", "a\n");
        make(&cli.path("start/sub").join(name));
        for mode in ["mode: temp", "mode: pooled", "isolation: shared"] {
            suite(&cli, &format!("{{template: ./start, {mode}}}"), &["one", "two"]);
            eval(&cli, &[]).expect_code(3);
            for row in rows(&cli, "run") {
                let message = row["error"]["message"].as_str().unwrap_or_default();
                assert!(message.contains(name) && message.contains("is neither a file nor"), "{mode}: {row}");
            }
            nothing_left(&cli);
        }

        // In place of the template itself, and as a link to it.
        make(&cli.path(name));
        std::os::unix::fs::symlink(cli.path(name), cli.path(format!("{name}-link"))).expect("linked");
        for template in [name.to_owned(), format!("{name}-link")] {
            suite(&cli, &format!("{{template: ./{template}}}"), &["one"]);
            let output = eval(&cli, &[]);
            assert!(matches!(output.code, Some(2 | 3)), "{template}: {:?}", output.code);
        }
        fs::remove_dir_all(cli.path("start")).expect("removed");
    }

    // Links that an agent creates are listed among the changes, and not opened either.
    cli.file("start/a.txt", "a\n");
    agent(&cli, "mkfifo made; rm a.txt; mkfifo a.txt");
    for mode in ["mode: temp", "mode: pooled", "isolation: shared"] {
        suite(&cli, &format!("{{template: ./start, {mode}}}"), &["one", "two"]);
        eval(&cli, &[]);
        assert!(changes(&rows(&cli, "run")[0]).contains("a.txt"), "{mode}");
    }
}

#[test]
fn kept_workspaces_can_be_looked_into() {
    let cli = desk();
    cli.file("start/x", "");
    agent(&cli, "echo here > found");
    suite(&cli, "{template: ./start}", &["one"]);
    let output = eval(&cli, &["--keep-workspaces"]).expect_code(0);
    let folder =
        output.stderr.split('`').find(|part| part.contains("assize-kept-")).expect("named").to_owned();
    let holds = |entry: &fs::DirEntry| entry.path().join("found").exists();
    let count = fs::read_dir(&folder).expect("there").filter_map(Result::ok).filter(holds).count();
    assert_eq!(count, 1, "{folder}");
    eval(&cli, &[]).expect_code(0);
    assert!(Path::new(&folder).is_dir());
}

#[test]
fn workspaces_without_effect_are_told_and_wrong_ones_refused() {
    let cli = desk();
    agent(&cli, "true");
    cli.file(
        "s.eval.yaml",
        "name: s\nexecution: {targets: [{name: v, use_target: agent, hooks: {before_each: [x]}}]}\ntests:\n\
         - {id: a, input: q, criteria: x, assertions: [{type: contains, value: done}]}\n",
    );
    let output = eval(&cli, &[]).expect_code(0);
    assert!(output.stdout.contains("are not run: the case has no `workspace`"), "{}", output.stdout);
    suite(&cli, "{docker: {}}", &["one"]);
    assert!(eval(&cli, &[]).expect_code(2).stderr.contains("a container has no `image`"));
    suite(&cli, "{template: ./nowhere}", &["one"]);
    assert!(eval(&cli, &[]).expect_code(2).stderr.contains("E0501"));
}

#[test]
fn a_grading_program_runs_in_the_workspace_with_the_files_of_its_eval_file() {
    let cli = desk();
    cli.file("project/calc.sh", "right=1\n")
        .file("calc.sh", "right=1\n")
        .file("test.sh", ". ./calc.sh; test \"$right\" = 1\n");
    agent(&cli, "echo right=0 > calc.sh; echo exit 0 > test.sh");
    let case = |folder: &str| {
        format!(
            "name: s\nworkspace: {{template: ./project}}\ntests:\n- id: a\n  input: q\n  criteria: x\n  assertions:\n  \
             - {{type: code-grader, command: [sh, test.sh], result: exit-code{folder}}}\n"
        )
    };
    for (folder, code) in [("", 1), (", cwd: .", 0), (", cwd: '{{workspace_path}}'", 0)] {
        cli.file("s.eval.yaml", case(folder));
        eval(&cli, &[]).expect_code(code);
    }
    cli.file(
        "s.eval.yaml",
        case(", cwd: '{{workspace_path}}'").replace("workspace: {template: ./project}\n", ""),
    );
    eval(&cli, &[]).expect_code(3);
}
