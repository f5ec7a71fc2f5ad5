//! `workspace` in eval files: every spelling, and every blocked attempt to leave its folder.

use std::fs;
use std::path::Path;

use crate::load_suite;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::{GraderCommand, HookEvent, RepoSource, WorkspaceIsolation, WorkspaceMode, WorkspaceReset};
use tempfile::TempDir;

fn with_files(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    folder
}

fn load(folder: &TempDir, name: &str) -> LoadedSuite {
    let options = LoadOptions::new(folder.path().join("a"));
    load_suite(&folder.path().join(name), &options)
}

fn codes(loaded: &LoadedSuite) -> Vec<String> {
    loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect()
}

#[test]
fn workspaces_are_read_in_the_spellings_of_both_generations() {
    let folder = with_files(&[
        (
            "evals/a.yaml",
            "workspace: ../shared/ws.yaml\ntests:\n  - {id: a, input: i, criteria: c, workspace: {isolation: per_case, \
             hooks: {before_each: [own]}}}\n  - {id: b, input: i, criteria: c}\n",
        ),
        (
            "shared/ws.yaml",
            "template: ./start\nisolation: shared\nmode: pooled\nhooks:\n  before_each: {command: all, timeout_ms: 500}\n  \
             after_each: {reset: strict}\nrepos:\n  - {path: ./x/y, source: {type: git, url: 'https://h/o/n.git'}, \
             checkout: {ref: main, ancestor: 1}, clone: {depth: 2}}\n  - {repo: o/n}\n",
        ),
        ("shared/start/file", "x"),
        (".git/HEAD", ""),
    ]);
    let loaded = load(&folder, "evals/a.yaml");
    assert!(codes(&loaded).is_empty(), "{:?}", codes(&loaded));
    let suite = loaded.suite.as_ref().expect("read");
    let all = suite.workspace.as_deref().expect("there");
    assert!(all.template.as_ref().is_some_and(|template| template.ends_with("shared/start")));
    assert_eq!((all.isolation(), all.mode()), (WorkspaceIsolation::Shared, WorkspaceMode::Pooled));
    assert_eq!(all.repos[0].revision.as_deref(), Some("main"));
    assert_eq!((all.repos[0].ancestor, all.repos[0].depth), (1, Some(2)));
    assert_eq!(all.repos[0].path, Path::new("x/y"));
    assert_eq!(all.repos[1].source, RepoSource::Url("https://github.com/o/n.git".into()));
    assert_eq!(all.repos[1].path, Path::new("n"));
    let own = loaded
        .cases
        .iter()
        .next()
        .expect("a case")
        .expect("sound")
        .workspace
        .clone()
        .expect("its own")
        .or(all);
    assert_eq!((own.isolation(), own.mode()), (WorkspaceIsolation::PerTest, WorkspaceMode::Pooled));
    let each = own.hooks.for_event(HookEvent::BeforeEach).expect("its own");
    assert_eq!(each.command, Some(GraderCommand::Argv(vec!["own".into()])));
    assert!(each.cwd.ends_with("evals"));
    let after = own.hooks.for_event(HookEvent::AfterEach).expect("the suite's");
    assert_eq!((after.reset, &after.command), (Some(WorkspaceReset::Strict), &None));
    assert!(all.hooks.for_event(HookEvent::BeforeEach).expect("there").cwd.ends_with("shared"));
}

#[test]
fn a_workspace_leads_nowhere_it_must_not() {
    let found = |workspace: &str| {
        let text = format!("workspace: {workspace}\ntests: [{{id: a, input: i, criteria: c}}]\n");
        let folder = with_files(&[("a/a.yaml", &text), ("a/.git/HEAD", ""), ("a/file", ""), ("b/x", "")]);
        codes(&load(&folder, "a/a.yaml"))
    };
    let mut wrong = Vec::new();
    for (workspace, code) in [
        ("{template: ../b}", "E0503"),
        ("{template: nowhere}", "E0501"),
        ("{template: ./file}", "E0502"),
        ("{mode: static, path: ../new}", "E0503"),
        ("{mode: static, path: /somewhere/new}", "E0503"),
        ("{mode: static}", "E0304"),
        ("{mode: temp, path: ./x}", "E0306"),
        ("{repos: [{path: ../x, repo: o/n}]}", "E0503"),
        ("{repos: [{path: /x, repo: o/n}]}", "E0503"),
        ("{repos: [{path: x/.git/hooks, repo: o/n}]}", "E0503"),
        ("{repos: [{repo: 'ext::sh -c id'}]}", "E0414"),
        ("{repos: [{repo: '--upload-pack=x'}]}", "E0414"),
        ("{repos: [{repo: 'file:///etc'}]}", "E0503"),
        ("{repos: [{repo: o/n, commit: --help}]}", "E0414"),
        ("{repos: [{repo: o/n, commit: a, base_commit: b}]}", "E0104"),
        ("{repos: [{path: x, repo: o/n}, {path: ./x, repo: o/m}]}", "E0101"),
        ("{repos: [{path: x}]}", "E0304"),
        ("{hooks: {before_each: {timeout_ms: 5}}}", "E0304"),
        ("{hooks: {before_each: {reset: soft}}}", "E0307"),
        ("{hooks: {before_each: {command: []}}}", "E03"),
        ("{hooks: {before_each: {command: x, cwd: '{{workspace_path}}/..'}}}", "E0503"),
        ("{hooks: {before_each: {command: x, cwd: ../b}}}", "E0503"),
        ("{hooks: {befor_each: {command: x}}}", "E0103"),
        ("{hooks: {after_all: {reset: fast}}}", "W0403"),
        ("{isolation: alone}", "E0307"),
    ] {
        let codes = found(workspace);
        if codes.len() != 1 || !codes[0].starts_with(code) {
            wrong.push(format!("{workspace}: {codes:?}, not {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
