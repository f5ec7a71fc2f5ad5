//! Schemas of workspaces, their repositories and hooks.

use super::Defs;
use super::shape::{
    Keys, any_of, at_least, boolean, free, like, list, list_or_none, string, text, texts, whole, word,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut Defs) {
    defs.keys(
        "workspace",
        Keys::of("`workspace`", "The folder a case is worked on in.")
            .key("template", text(), "The folder whose contents it begins with.")
            .key("path", text(), "A folder of your own, with `mode: static`.")
            .key(
                "isolation",
                word(&["shared", "per_test", "per_case"]),
                "Whether each case finds it as it was made.",
            )
            .key("mode", word(&["pooled", "temp", "static"]), "How it is made, and what becomes of it.")
            .key("hooks", like("hooks"), "Commands around its use.")
            .key("docker", free(), "A container; not built yet.")
            .key("env", free(), "Checks of the surroundings; not built yet.")
            .key("repos", list_or_none(like("repo")), "Git repositories in it."),
    );
    defs.keys(
        "hooks",
        Keys::of("`hooks`", "Commands around the use of a workspace.")
            .key("enabled", boolean(), "`false` turns all of them off.")
            .key("before_all", hook(), "Once, before the first case.")
            .key("before_each", hook(), "Before each case.")
            .key("after_each", hook(), "After each case was graded.")
            .key("after_all", hook(), "Once, after the last case."),
    );
    defs.keys(
        "hook",
        Keys::of("a hook", "A command, a reset, or both.")
            .filled("command", command(), "The command: a list, or a line for the shell.")
            .older("script", "command")
            .key("cwd", text(), "The folder it runs in; that of the file unless given.")
            .key("timeout_ms", at_least(0.0), "How long it may take, in milliseconds.")
            .key("timeout_seconds", at_least(0.0), "How long it may take, in seconds.")
            .key("reset", word(&["none", "fast", "strict"]), "How the workspace is put back.")
            .one_of(&["command", "script", "reset"]),
    );
    defs.keys(
        "repo",
        revision(Keys::of("a repository of `repos`", "A git repository."))
            .key("path", text(), "Its folder in the workspace.")
            .key("repo", text(), "Its address, its folder, or `ORGANISATION/NAME`.")
            .key("source", any_of([text(), like("repo-source")]), "The same, in the older way.")
            .key("checkout", like("repo-checkout"), "Which commit, in the older way.")
            .key("sparse", texts(), "Patterns of the files that are checked out.")
            .key("clone", like("repo-clone"), "How much of it is fetched.")
            .one_of(&["repo", "source"])
            .not_both(&["repo", "source"]),
    );
    defs.keys(
        "repo-source",
        Keys::of("`source`", "Where a repository comes from.")
            .key("type", word(&["git", "local"]), "Which kind.")
            .key("url", text(), "Its address.")
            .key("path", text(), "Its folder.")
            .one_of(&["url", "path"])
            .not_both(&["url", "path"]),
    );
    defs.keys(
        "repo-checkout",
        revision(Keys::of("`checkout`", "Which commit.")).key(
            "resolve",
            word(&["remote", "local"]),
            "Without effect: a name means the same commit either way.",
        ),
    );
    defs.keys(
        "repo-clone",
        Keys::of("`clone`", "How much of a repository is fetched.")
            .key("depth", whole(1, i64::from(u32::MAX)), "Commits of history; all unless given.")
            .key("filter", text(), "What is left out until it is needed, such as `blob:none`.")
            .key("sparse", texts(), "Patterns of the files that are checked out."),
    );
}

fn command() -> super::shape::Shape {
    any_of([text(), list(string())])
}

fn hook() -> super::shape::Shape {
    any_of([command(), like("hook")])
}

fn revision(keys: Keys) -> Keys {
    keys.key("commit", text(), "The branch, tag or commit.")
        .key("base_commit", text(), "The same.")
        .key("ref", text(), "The same.")
        .key("ancestor", whole(0, 1_000_000), "How many first parents to go back from there.")
}
