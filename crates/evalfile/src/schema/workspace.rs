//! Schemas of workspaces, their repositories and hooks.

use super::SchemaDefinitions;
use super::shape::{
    MapSchema, any_map, any_of, at_least, boolean, integer, list, list_or_none, reference, string, text,
    texts, word,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    defs.add_keys(
        "workspace",
        MapSchema::new("`workspace`", "The folder a case is worked on in.")
            .optional_key("template", text(), "The folder whose contents it begins with.")
            .optional_key("path", text(), "A folder of your own, with `mode: static`.")
            .optional_key(
                "isolation",
                word(&["shared", "per_test", "per_case"]),
                "Whether each case finds it as it was made.",
            )
            .optional_key(
                "mode",
                word(&["pooled", "temp", "static"]),
                "How it is made, and what becomes of it.",
            )
            .optional_key("hooks", reference("hooks"), "Commands around its use.")
            .optional_key("docker", any_map(), "A container; not built yet.")
            .optional_key("env", any_map(), "Checks of the surroundings; not built yet.")
            .optional_key("repos", list_or_none(reference("repo")), "Git repositories in it."),
    );

    defs.add_keys(
        "hooks",
        MapSchema::new("`hooks`", "Commands around the use of a workspace.")
            .optional_key("enabled", boolean(), "`false` turns all of them off.")
            .optional_key("before_all", hook(), "Once, before the first case.")
            .optional_key("before_each", hook(), "Before each case.")
            .optional_key("after_each", hook(), "After each case was graded.")
            .optional_key("after_all", hook(), "Once, after the last case."),
    );

    defs.add_keys(
        "hook",
        MapSchema::new("a hook", "A command, a reset, or both.")
            .non_null_key("command", command(), "The command: a list, or a line for the shell.")
            .older_key("script", "command")
            .optional_key("cwd", text(), "The folder it runs in; that of the file unless given.")
            .optional_key("timeout_ms", at_least(0.0), "How long it may take, in milliseconds.")
            .optional_key("timeout_seconds", at_least(0.0), "How long it may take, in seconds.")
            .optional_key("reset", word(&["none", "fast", "strict"]), "How the workspace is put back.")
            .one_of(&["command", "script", "reset"]),
    );

    defs.add_keys(
        "repo",
        revision(MapSchema::new("a repository of `repos`", "A git repository."))
            .optional_key("path", text(), "Its folder in the workspace.")
            .optional_key("repo", text(), "Its address, its folder, or `ORGANISATION/NAME`.")
            .optional_key("source", any_of([text(), reference("repo-source")]), "The same, in the older way.")
            .optional_key("checkout", reference("repo-checkout"), "Which commit, in the older way.")
            .optional_key("sparse", texts(), "Patterns of the files that are checked out.")
            .optional_key("clone", reference("repo-clone"), "How much of it is fetched.")
            .one_of(&["repo", "source"])
            .not_both(&["repo", "source"]),
    );

    defs.add_keys(
        "repo-source",
        MapSchema::new("`source`", "Where a repository comes from.")
            .optional_key("type", word(&["git", "local"]), "Which kind.")
            .optional_key("url", text(), "Its address.")
            .optional_key("path", text(), "Its folder.")
            .one_of(&["url", "path"])
            .not_both(&["url", "path"]),
    );

    defs.add_keys(
        "repo-checkout",
        revision(MapSchema::new("`checkout`", "Which commit.")).optional_key(
            "resolve",
            word(&["remote", "local"]),
            "Without effect: a name means the same commit either way.",
        ),
    );
    defs.add_keys(
        "repo-clone",
        MapSchema::new("`clone`", "How much of a repository is fetched.")
            .optional_key("depth", integer(1, i64::from(u32::MAX)), "Commits of history; all unless given.")
            .optional_key("filter", text(), "What is left out until it is needed, such as `blob:none`.")
            .optional_key("sparse", texts(), "Patterns of the files that are checked out."),
    );
}

fn command() -> super::shape::ValueSchema {
    any_of([text(), list(string())])
}

fn hook() -> super::shape::ValueSchema {
    any_of([command(), reference("hook")])
}

fn revision(keys: MapSchema) -> MapSchema {
    keys.optional_key("commit", text(), "The branch, tag or commit.")
        .optional_key("base_commit", text(), "The same.")
        .optional_key("ref", text(), "The same.")
        .optional_key("ancestor", integer(0, 1_000_000), "How many first parents to go back from there.")
}
