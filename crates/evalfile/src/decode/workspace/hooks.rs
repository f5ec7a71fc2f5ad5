//! Decoder of `hooks`: commands and resets around the use of a workspace.

use std::path::{Component, Path, PathBuf};

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{GraderCommand, WorkspaceHook, WorkspaceHooks, WorkspaceReset};

use super::folder::find_existing_folder;
use crate::decode::common::{decode_keyword, find_spelling};
use crate::decode::grader::{decode_command, decode_duration};
use crate::decode::{DecodeContext, second_shell};

/// Decodes `hooks` of a workspace, or of a target that a suite names.
pub(crate) fn decode_hooks(cx: &mut DecodeContext, node: &TreeNode) -> WorkspaceHooks {
    if node.is_null() {
        return WorkspaceHooks::default();
    }

    let Some(mut object) = MapReader::new(node, "`hooks`", &mut cx.problems) else {
        return WorkspaceHooks::default();
    };
    let enabled = object.boolean("enabled", &mut cx.problems).map(|enabled| enabled.value);
    let mut decode = |key: &'static str| object.entry(key).and_then(|entry| decode_hook(cx, entry));
    let before_all = decode("before_all");
    let before_each = decode("before_each");
    let after_each = decode("after_each");
    let after_all = decode("after_all");
    for (key, hook) in [("before_all", &before_all), ("after_all", &after_all)] {
        let Some(at) = object.value(key).filter(|_| hook.as_ref().is_some_and(|hook| hook.reset.is_some()))
        else {
            continue;
        };
        Diagnostic::warning(codes::NO_EFFECT, format!("`reset` has no effect in `{key}`"))
            .at(at.use_span(), "nothing to reset at that time")
            .with_help("put it into `before_each` or `after_each`, or remove it")
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    WorkspaceHooks { enabled, before_all, before_each, after_each, after_all, functions: Vec::new() }
}

/// Decodes a hook: a map, or only a command.
fn decode_hook(cx: &mut DecodeContext, entry: &MapEntry) -> Option<WorkspaceHook> {
    let node = &entry.value;
    let place = cx.position(entry.key_span);
    let home = cx.folder_of(entry.key_span.source);
    match &node.data {
        NodeValue::Null => return None,
        NodeValue::Str(_) | NodeValue::Seq(_) => {
            let command = decode_hook_command(cx, entry)?;
            return Some(WorkspaceHook {
                command: Some(command),
                cwd: home,
                timeout: None,
                reset: None,
                place,
            });
        }
        NodeValue::Map(_) => {}
        _ => {
            cx.problems.add(wrong_type(node, &format!("`{}`", entry.key), "a map with `command` or `reset`"));
            return None;
        }
    }

    let mut object = MapReader::new(node, "a hook", &mut cx.problems)?;
    let head = object.head();
    let given = find_spelling(cx, &mut object, &["command", "script"], 2);
    let command = given.and_then(|entry| decode_hook_command(cx, entry));
    let cwd = object.text("cwd", &mut cx.problems).and_then(|written| decode_hook_folder(cx, &written));
    let millis = decode_duration(&mut object, "timeout_ms", 0.001, &mut cx.problems);
    let seconds = decode_duration(&mut object, "timeout_seconds", 1.0, &mut cx.problems);
    let resets = object.has("reset");
    let reset = object.value("reset").and_then(|node| {
        let words =
            [("none", None), ("fast", Some(WorkspaceReset::Fast)), ("strict", Some(WorkspaceReset::Strict))];
        decode_keyword(cx, node, "reset", &words)?
    });

    object.finish(&mut cx.problems);

    if given.is_none() && !resets {
        Diagnostic::error(codes::MISSING_SETTING, "this hook does nothing")
            .at(head, "no `command` here")
            .with_help("write `command: [PROGRAM, ARGUMENT]`, or `reset: fast`, or remove the hook")
            .add_to(&mut cx.problems);
        return None;
    }

    if given.is_some() {
        command.as_ref()?;
    }

    Some(WorkspaceHook { command, cwd: cwd.unwrap_or(home), timeout: millis.or(seconds), reset, place })
}

/// Decodes the command of a hook. The id of a case may come from a dataset, so a second shell must not read it
/// as script.
fn decode_hook_command(cx: &mut DecodeContext, entry: &MapEntry) -> Option<GraderCommand> {
    const OF_DATA: [&str; 1] = ["test_id"];

    let command = decode_command(cx, entry)?;
    let span = entry.value.use_span();
    let found = match &command {
        GraderCommand::Shell(script) => second_shell::check_script(script, &OF_DATA, span),
        GraderCommand::Argv(words) => second_shell::check_words(words, &OF_DATA, span),
    };
    if let Some(problem) = found {
        cx.problems.add(problem);
        return None;
    }

    Some(command)
}

/// Decodes the folder of a hook. A folder inside the workspace need not exist yet.
fn decode_hook_folder(cx: &mut DecodeContext, written: &SpannedValue<String>) -> Option<PathBuf> {
    if !written.value.contains("{{") {
        return find_existing_folder(cx, written);
    }

    let path = Path::new(&written.value);
    if path.components().any(|part| part == Component::ParentDir) {
        Diagnostic::error(codes::OUTSIDE_ROOT, "this folder may be outside the workspace")
            .at(written.span, "`..` leads upwards")
            .with_help("name the folder without `..`")
            .add_to(&mut cx.problems);
        return None;
    }

    Some(path.to_path_buf())
}
