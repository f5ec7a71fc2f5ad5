//! However the program ends, no process that it has started continues.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use assize_testkit::cli::CliTest;

use crate::e2e::bench::cli;
use crate::e2e::signals::{signal, until};

/// Ids of the processes whose arguments contain this text, including zombies.
fn marked(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("there").filter_map(Result::ok);
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|process| {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(mark)
        })
        .collect()
}

fn is_there(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// A suite whose commands start others, inside and outside their group, and never end.
fn endless(cli: &CliTest, mark: &str) {
    cli.file("start/x", "");
    cli.file(
        "agent.sh",
        "sh -c 'sleep 600 & wait' \"$1\" & setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' \"$1\" & \
         env -i sh -c 'sleep 600 & wait' \"$1\" & wait\n",
    );
    let script = cli.path("agent.sh");
    cli.file(
        ".assize/targets.yaml",
        format!("targets:\n- {{name: a, provider: cli, command: [sh, '{}', '{mark}']}}\n", script.display()),
    );
    cli.file(
        "s.yaml",
        "name: s\nworkspace: {template: ./start, hooks: {after_all: touch torn-down}}\ntests:\n\
         - {id: a, criteria: x, input: q, assertions: [{type: contains, value: x}]}\n\
         - {id: b, criteria: x, input: q, assertions: [{type: contains, value: x}]}\n",
    );
}

#[test]
fn neither_orphans_nor_zombies_nor_workspaces_are_left() {
    for name in ["INT", "TERM", "KILL"] {
        let mut cli = cli();
        let temp = cli.path("temp");
        fs::create_dir(&temp).expect("made");
        cli.env("TMPDIR", temp.to_string_lossy());
        let mark = format!("assize-test-{name}-{}", cli.dir().file_name().expect("named").to_string_lossy());
        endless(&cli, &mark);
        let mut child = cli
            .command(&["eval", "s.yaml", "--run-dir", "run"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        // Two agents with three other processes each.
        until("all processes run", || marked(&mark).len() == 8);
        let processes = marked(&mark);
        assert!(signal(name, child.id()));
        let status = child.wait().expect("it can be waited for");
        assert_eq!(status.code(), if name == "KILL" { None } else { Some(130) }, "{name}");
        assert_eq!(cli.path("torn-down").exists(), name != "KILL", "{name}: `after_all`");
        until("nothing marked runs", || marked(&mark).is_empty());
        until("none of them is a zombie", || !processes.iter().any(|process| is_there(*process)));
        let left = || fs::read_dir(&temp).expect("there").filter_map(Result::ok).count();
        if name == "KILL" {
            assert!(left() > 0, "there is something to find");
        }
        // The next start finds the leftovers of a killed run.
        cli.file("t.yaml", "name: t\ntests: [{id: a, criteria: x, input: q, output: x, assertions: [{type: equals, value: x}]}]\n");
        cli.run(&["eval", "t.yaml", "--run-dir", "next"]).expect_code(0);
        let workspaces = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("assize-ws-");
        let found = fs::read_dir(&temp).expect("there").filter_map(Result::ok).filter(workspaces).count();
        assert_eq!(found, 0, "{name}");
    }
}

#[test]
fn a_process_that_left_its_group_ends_with_the_run() {
    let cli = cli();
    let mark = format!("assize-test-left-{}", cli.dir().file_name().expect("named").to_string_lossy());
    cli.file(
        ".assize/targets.yaml",
        format!("targets:\n- name: a\n  provider: cli\n  command: \"setsid sh -c 'sleep 600' {mark} >/dev/null 2>&1 & echo done\"\n"),
    );
    cli.file(
        "s.yaml",
        "name: s\ntests: [{id: a, criteria: x, input: q, assertions: [{type: contains, value: done}]}]\n",
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    assert_eq!(marked(&mark), Vec::<u32>::new());
}
