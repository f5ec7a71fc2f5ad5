//! AgentV 4 files other than eval files: programs as providers, file conversions, containers.

use assize_testkit::cli::CliTest;

use crate::e2e::bench::{cli, rows};

/// Stands in for `docker`: knows the image, and runs the program on this machine. Its arguments go to a file.
const DOCKER: &str = r#"#!/bin/sh
echo "$*" >> "$DOCKER_LOG"
case "$1" in
  image) exit 0 ;;
  run) ;;
  *) exit 1 ;;
esac
while [ "$1" != --entrypoint ]; do shift; done
program=$2
shift 3
exec "$program" "$@"
"#;

const GRADED_IN_CONTAINER: &str = "name: s
workspace:
  docker: {image: 'python:3.12-slim', timeout: 300, memory: 2g, cpus: 1}
tests:
- id: a
  input: q
  output: ripe apples
  assertions:
  - {name: check, type: code-grader, command: [sh, -c, 'grep -q \"ripe apples\" && echo \"{\\\"score\\\": 0.75}\"']}
";

/// Makes folders with the usual programs the whole `PATH`, including `docker` if there is a script for it.
fn only_programs(cli: &mut CliTest, docker: Option<&str>) {
    let folder = cli.path("programs");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["sh", "grep", "cat"] {
        let found = ["/bin", "/usr/bin"].map(|kept| std::path::Path::new(kept).join(name));
        let found = found.iter().find(|path| path.exists()).expect("a usual program");
        std::os::unix::fs::symlink(found, folder.join(name)).expect("a link");
    }
    if let Some(script) = docker {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(folder.join("docker"), script).expect("written");
        std::fs::set_permissions(folder.join("docker"), std::fs::Permissions::from_mode(0o755)).expect("set");
    }
    let (path, log) = (folder.display().to_string(), cli.path("docker.log").display().to_string());
    cli.env("PATH", path).env("DOCKER_LOG", log);
}

#[test]
fn a_program_of_the_project_answers_as_a_provider() {
    let cli = cli();
    cli.file(".agentv/providers/parrot.sh", "printf 'you said: %s' \"$1\"\n");
    cli.file(".agentv/targets.yaml", "targets:\n- {name: bird, provider: parrot, own_setting: 1}\n");
    cli.file(
        "evals/s.eval.yaml",
        "name: s\ntests:\n- id: a\n  input: \"pie $(touch x)\"\n  assertions: [{type: equals, value: 'you said: pie $(touch x)'}]\n",
    );
    cli.run(&["eval", "evals/s.eval.yaml", "--target", "bird", "--run-dir", "run"]).expect_code(0);
    assert_eq!(rows(&cli, "run")[0]["answer"], "you said: pie $(touch x)");
    assert!(!cli.path("evals/x").exists() && !cli.path("x").exists());
}

#[test]
fn graders_run_in_the_container_of_the_workspace() {
    let mut cli = cli();
    only_programs(&mut cli, Some(DOCKER));
    cli.file("s.yaml", GRADED_IN_CONTAINER);
    cli.run(&["eval", "s.yaml", "--run-dir", "run", "--threshold", "0.7"]).expect_code(0);
    assert_eq!(rows(&cli, "run")[0]["score"], 0.75);
    let log = cli.read("docker.log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "image inspect python:3.12-slim");
    assert!(lines[1].starts_with("run --rm --interactive --init --name assize-"), "{log}");
    assert!(lines[1].contains(" --memory=2g --cpus=1 --entrypoint sh python:3.12-slim -c "), "{log}");
}

#[test]
fn a_container_without_docker_is_refused_before_anything_is_run() {
    let mut cli = cli();
    only_programs(&mut cli, None);
    cli.file("s.yaml", GRADED_IN_CONTAINER);
    let refused = cli.run(&["eval", "s.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("s.yaml:3:12: a container"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("needs the program `docker`, which is not in PATH"),
        "{}",
        refused.stderr
    );
}

/// A suite whose target writes a file and names it, with these lines at the top.
fn suite_of_files(cli: &CliTest, head: &str) {
    cli.file(
        ".assize/targets.yaml",
        r#"targets:
- name: writer
  provider: cli
  command: |
    printf 'PK\000\001' > report.xlsx
    printf 'plain\r\nwords' > notes.txt
    printf '%s' '{"output": [{"role": "assistant", "content": [{"type": "text", "text": "See the files."}, {"type": "file", "media_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "path": "report.xlsx"}, {"type": "file", "media_type": "text/plain", "path": "notes.txt"}]}]}'
"#,
    );
    cli.file(
        "s.yaml",
        format!(
            "name: s\n{head}execution: {{target: writer}}\ntests:\n- id: a\n  input: q\n  \
             assertions: [{{type: contains, value: \"plain\\nwords\"}}]\n"
        ),
    );
}

#[test]
fn files_of_an_answer_are_converted_to_text() {
    let cli = cli();
    suite_of_files(&cli, "preprocessors: [{type: xlsx, command: [sh, convert.sh]}]\n");
    cli.file("convert.sh", "grep -o '\"original_path\":\"[^\"]*\"'; echo revenue,42\n");
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    assert_eq!(
        rows(&cli, "run")[0]["answer"],
        "See the files.\n[[ file: report.xlsx ]]\n\"original_path\":\"report.xlsx\"\nrevenue,42\n\
         [[ file: notes.txt ]]\nplain\nwords"
    );
}

#[test]
fn a_grader_may_name_the_preprocessors_of_its_files() {
    let cli = cli();
    suite_of_files(&cli, "preprocessors: [{type: xlsx, command: [sh, -c, exit 3]}]\n");
    cli.file("convert.sh", "echo revenue,42\n");
    let suite = std::fs::read_to_string(cli.path("s.yaml")).expect("read");
    let grader = "{type: llm-grader, weight: 0, preprocessors: [{type: xlsx, command: [sh, convert.sh]}]}";
    let suite = suite.replace("input: q", "input: q\n  criteria: States the revenue.");
    let with = |more: &str| suite.replace("assertions: [", &format!("assertions: [{grader}, {more}"));
    cli.file("s.yaml", with(""));
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run"]);
    let answer = rows(&cli, "run")[0]["answer"].to_string();
    assert!(
        answer.contains("[[ file: report.xlsx ]]\\nrevenue,42"),
        "the grader's own comes first: {answer}"
    );

    cli.file("s.yaml", with("{type: llm-grader, name: other}, "));
    let refused = cli.run(&["eval", "s.yaml", "--judge", "offline"]).expect_code(2);
    assert!(refused.stderr.contains("sheet` differently"), "{}", refused.stderr);
}

#[test]
fn a_file_that_cannot_be_shown_says_why() {
    let cli = cli();
    suite_of_files(&cli, "");
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    let answer = rows(&cli, "run")[0]["answer"].to_string();
    assert!(answer.contains("[[ file: report.xlsx ]]\\n[not shown: it is not text;"), "{answer}");
}

#[test]
fn a_preprocessor_that_fails_leaves_the_case_open() {
    let cli = cli();
    suite_of_files(&cli, "preprocessors: [{type: xlsx, command: [sh, -c, 'echo no sheet >&2; exit 3']}]\n");
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(3);
    let row = &rows(&cli, "run")[0];
    assert_eq!(row["verdict"], "incomplete");
    let error = row["error"]["message"].to_string();
    assert!(error.contains("preprocessor of `report.xlsx` (s.yaml:2:"), "{error}");
    assert!(error.contains("no sheet"), "{error}");
}
