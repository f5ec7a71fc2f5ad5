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
        MapSchema::new("`workspace`", "The folder in which a target works on a case.")
            .optional_key("template", text(), "Folder to copy into the workspace.")
            .optional_key("path", text(), "Existing folder to use, with `mode: static`.")
            .optional_key(
                "isolation",
                word(&["shared", "per_test", "per_case"]),
                "Whether each case gets a fresh workspace.",
            )
            .optional_key(
                "mode",
                word(&["pooled", "temp", "static"]),
                "How the workspace is created and what happens to it afterwards.",
            )
            .optional_key("hooks", reference("hooks"), "Commands to run before and after cases.")
            .optional_key("docker", reference("container"), "Container in which program graders run.")
            .optional_key("env", any_map(), "Environment checks. Not supported yet.")
            .optional_key(
                "repos",
                list_or_none(reference("repo")),
                "Git repositories to check out in the workspace.",
            ),
    );

    defs.add_keys(
        "preprocessor",
        MapSchema::new("a preprocessor", "A program that turns files of answers into text.")
            .required_key("type", text(), "Type of the files: a media type, or a short name such as `xlsx`.")
            .required_key("command", command(), "Command: reads JSON with `path`, prints the text."),
    );

    defs.add_keys(
        "container",
        MapSchema::new("`docker`", "A container in which program graders run.")
            .required_key("image", text(), "Image, such as `python:3.12-slim`.")
            .optional_key("timeout", at_least(0.0), "Timeout of a program in seconds. Default: 1800.")
            .optional_key("memory", text(), "Limit of its memory, such as `2g`.")
            .optional_key("cpus", at_least(0.1), "Limit of its processors."),
    );

    defs.add_keys(
        "hooks",
        MapSchema::new("`hooks`", "Commands to run before and after cases in a workspace.")
            .optional_key("enabled", boolean(), "`false` disables all hooks.")
            .optional_key("before_all", hook(), "Runs once, before the first case.")
            .optional_key("before_each", hook(), "Runs before each case.")
            .optional_key("after_each", hook(), "Runs after each case is graded.")
            .optional_key("after_all", hook(), "Runs once, after the last case."),
    );

    defs.add_keys(
        "hook",
        MapSchema::new("a hook", "A command, a reset, or both.")
            .non_null_key("command", command(), "Command: a list of arguments, or a line for the shell.")
            .older_key("script", "command")
            .optional_key("cwd", text(), "Working folder. Default: the folder of the file.")
            .optional_key("timeout_ms", at_least(0.0), "Timeout in milliseconds.")
            .optional_key("timeout_seconds", at_least(0.0), "Timeout in seconds.")
            .optional_key("reset", word(&["none", "fast", "strict"]), "How to reset the workspace.")
            .one_of(&["command", "script", "reset"]),
    );

    add_repositories(defs);
}

fn add_repositories(defs: &mut SchemaDefinitions) {
    defs.add_keys(
        "repo",
        revision(MapSchema::new("a repository of `repos`", "A git repository."))
            .optional_key("path", text(), "Folder in the workspace.")
            .optional_key("repo", text(), "URL, local folder, or `ORGANIZATION/NAME`.")
            .optional_key(
                "source",
                any_of([text(), reference("repo-source")]),
                "Repository (deprecated form of `repo`).",
            )
            .optional_key("checkout", reference("repo-checkout"), "Commit to check out (deprecated form).")
            .optional_key("sparse", texts(), "Patterns of files to check out.")
            .optional_key("clone", reference("repo-clone"), "How much of the repository to fetch.")
            .one_of(&["repo", "source"])
            .not_both(&["repo", "source"]),
    );

    defs.add_keys(
        "repo-source",
        MapSchema::new("`source`", "Source of a repository.")
            .optional_key("type", word(&["git", "local"]), "Type of source.")
            .optional_key("url", text(), "URL of the repository.")
            .optional_key("path", text(), "Local folder of the repository.")
            .one_of(&["url", "path"])
            .not_both(&["url", "path"]),
    );

    defs.add_keys(
        "repo-checkout",
        revision(MapSchema::new("`checkout`", "Commit to check out.")).optional_key(
            "resolve",
            word(&["remote", "local"]),
            "No effect.",
        ),
    );
    defs.add_keys(
        "repo-clone",
        MapSchema::new("`clone`", "How much of a repository to fetch.")
            .optional_key(
                "depth",
                integer(1, i64::from(u32::MAX)),
                "Number of commits of history to fetch. Default: all.",
            )
            .optional_key("filter", text(), "Partial clone filter, such as `blob:none`.")
            .optional_key("sparse", texts(), "Patterns of files to check out."),
    );
}

fn command() -> super::shape::ValueSchema {
    any_of([text(), list(string())])
}

fn hook() -> super::shape::ValueSchema {
    any_of([command(), reference("hook")])
}

fn revision(keys: MapSchema) -> MapSchema {
    keys.optional_key("commit", text(), "Branch, tag or commit.")
        .optional_key("base_commit", text(), "Branch, tag or commit (alias).")
        .optional_key("ref", text(), "Branch, tag or commit (alias).")
        .optional_key(
            "ancestor",
            integer(0, 1_000_000),
            "Number of first parents to go back from the commit.",
        )
}
