//! Decoder of `hooks`: commands and resets around the use of a workspace.

use std::path::{Component, Path, PathBuf};

use assize_diagnostic::{Diagnostic, Spanned};

use super::spec::folder;
use crate::codes;
use crate::decode::common::{one_word, spelled};
use crate::decode::grader::{command, duration};
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::model::{Hook, Hooks, Reset};
use crate::tree::{Data, Entry, Node};

/// Decodes `hooks` of a workspace, or of a target named by a suite.
pub(crate) fn hooks(cx: &mut Context, node: &Node) -> Hooks {
    if node.is_null() {
        return Hooks::default();
    }
    let Some(mut object) = Object::new(node, "`hooks`", &mut cx.problems) else { return Hooks::default() };
    let enabled = object.boolean("enabled", &mut cx.problems).map(|enabled| enabled.value);
    let mut of = |key: &'static str| object.entry(key).and_then(|entry| hook(cx, entry));
    let before_all = of("before_all");
    let before_each = of("before_each");
    let after_each = of("after_each");
    let after_all = of("after_all");
    for (key, hook) in [("before_all", &before_all), ("after_all", &after_all)] {
        let Some(at) = object.value(key).filter(|_| hook.as_ref().is_some_and(|hook| hook.reset.is_some()))
        else {
            continue;
        };
        cx.problems.add(
            Diagnostic::warning(
                codes::NO_EFFECT,
                format!("`reset` has no effect in `{key}`"),
                at.place(),
                "there is nothing to put back at that time",
            )
            .with_help("put it into `before_each` or `after_each`, or remove it"),
        );
    }
    object.finish(&mut cx.problems);
    Hooks { enabled, before_all, before_each, after_each, after_all }
}

/// Decodes one hook: a map, or only its command.
fn hook(cx: &mut Context, entry: &Entry) -> Option<Hook> {
    let node = &entry.value;
    let place = cx.place(entry.key_span);
    let home = cx.folder_of(entry.key_span.source);
    match &node.data {
        Data::Null => return None,
        Data::Str(_) | Data::Seq(_) => {
            let command = command(cx, entry)?;
            return Some(Hook { command: Some(command), cwd: home, timeout: None, reset: None, place });
        }
        Data::Map(_) => {}
        _ => {
            cx.problems.add(wrong_type(node, &format!("`{}`", entry.key), "a map with `command` or `reset`"));
            return None;
        }
    }
    let mut object = Object::new(node, "a hook", &mut cx.problems)?;
    let head = object.head();
    let given = spelled(cx, &mut object, &["command", "script"], 2);
    let command = given.and_then(|entry| command(cx, entry));
    let cwd = object.text("cwd", &mut cx.problems).and_then(|written| own_cwd(cx, &written));
    let millis = duration(&mut object, "timeout_ms", 0.001, &mut cx.problems);
    let seconds = duration(&mut object, "timeout_seconds", 1.0, &mut cx.problems);
    let resets = object.has("reset");
    let reset = object.value("reset").and_then(|node| {
        let words = [("none", None), ("fast", Some(Reset::Fast)), ("strict", Some(Reset::Strict))];
        one_word(cx, node, "reset", &words)?
    });
    object.finish(&mut cx.problems);
    if given.is_none() && !resets {
        cx.problems.add(
            Diagnostic::error(codes::MISSING_SETTING, "this hook does nothing", head, "no `command` here")
                .with_help("write `command: [PROGRAM, ARGUMENT]`, or `reset: fast`, or remove the hook"),
        );
        return None;
    }
    if given.is_some() {
        command.as_ref()?;
    }
    Some(Hook { command, cwd: cwd.unwrap_or(home), timeout: millis.or(seconds), reset, place })
}

/// Decodes the folder of a hook; one inside the workspace does not exist yet.
fn own_cwd(cx: &mut Context, written: &Spanned<String>) -> Option<PathBuf> {
    if !written.value.contains("{{") {
        return folder(cx, written);
    }
    let path = Path::new(&written.value);
    if path.components().any(|part| part == Component::ParentDir) {
        cx.problems.add(
            Diagnostic::error(
                codes::OUTSIDE_ROOT,
                "this folder may lie outside the workspace",
                written.span,
                "`..` leads upwards",
            )
            .with_help("name the folder without `..`"),
        );
        return None;
    }
    Some(path.to_path_buf())
}
