//! Decoder of `execution`: targets, limits and the lists of graders, of a suite or a case.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};

use super::common::{FoundLines, dollars, filled_list, lines, old_spelling, refuse, usable_id};
use super::grader::{Use, evidence, judging, panel, truncate};
use super::object::{string, wrong_type};
use super::trials::trials;
use super::workspace::hooks;
use super::{Context, Object};
use crate::codes;
use crate::model::{Format, SuiteSettings, TargetRef};
use crate::tree::{Data, Entry, Node};

/// Keys of newer versions, with the equivalent here.
const FOREIGN: &[(&str, &str)] = &[
    ("provider", "name the target: `target: NAME`"),
    ("providers", "list the targets: `targets: [NAME, ...]`"),
    ("max_concurrency", "write `workers: N`"),
    ("grader_target", "name the judge: `judge: NAME`"),
    ("judge_target", "name the judge: `judge: NAME`"),
];

/// Opens `execution` of a suite or case, if present.
pub(crate) fn open<'n>(cx: &mut Context, object: &mut Object<'n>) -> Option<Object<'n>> {
    let node = object.value("execution")?;
    let mut inner = Object::new(node, "`execution`", &mut cx.problems)?;
    refuse(cx, &mut inner, FOREIGN);
    Some(inner)
}

/// Decodes the settings of a suite from its own keys and `execution`.
pub(crate) fn settings(
    cx: &mut Context,
    outer: &mut Object<'_>,
    inner: Option<&mut Object<'_>>,
) -> SuiteSettings {
    let mut settings = SuiteSettings::default();
    let mut found = FoundLines::default();
    lines(cx, outer, &mut found);
    let Some(inner) = inner else {
        settings.trials = trials(cx, outer, None);
        settings.targets = targets(cx, outer, None);
        settings.threshold_mark = found.pass_span().map(|span| cx.mark(span));
        settings.lines = found.finish(cx);
        return settings;
    };
    settings.trials = trials(cx, outer, Some(inner));
    settings.targets = targets(cx, outer, Some(inner));
    lines(cx, inner, &mut found);
    settings.threshold_mark = found.pass_span().map(|span| cx.mark(span));
    settings.lines = found.finish(cx);
    settings.workers =
        inner.integer("workers", 1, 50, &mut cx.problems).map(|workers| workers.value as usize);
    settings.judging = judging(cx, inner);
    settings.evidence = evidence(cx, inner);
    settings.truncate = truncate(cx, inner);
    settings.judge = inner.text("judge", &mut cx.problems).map(|judge| judge.value);
    settings.panel = panel(cx, inner, Use::Defaults { judge: settings.judge.as_deref() });
    settings.budget_usd = dollars(cx, inner, "budget_usd");
    settings.cache = inner.boolean("cache", &mut cx.problems).map(|cache| cache.value);
    if let Some(path) = inner.text("cache_path", &mut cx.problems) {
        cx.problems.add(
            Diagnostic::warning(
                codes::NO_EFFECT,
                "`cache_path` has no effect",
                path.span,
                "replies are kept in `.assize/cache` of the working folder",
            )
            .with_help("remove it"),
        );
        settings.cache_path = Some(PathBuf::from(path.value));
    }
    if let Some(stop) = inner.boolean("fail_on_error", &mut cx.problems) {
        settings.fail_on_error = Some(stop.value);
    }
    if let Some(entry) = inner.foreign("skip_defaults") {
        cx.problems.add(
            Diagnostic::error(
                codes::NOT_SUPPORTED,
                "`skip_defaults` belongs on a case",
                entry.key_span,
                "a suite has no defaults to skip",
            )
            .with_help(
                "move it into the `execution` of the cases that do without the suite's graders and input",
            ),
        );
    }
    settings
}

/// Decodes the targets of a suite or case: `target` or `targets` of `execution`, or the top-level `target`.
pub(crate) fn targets(
    cx: &mut Context,
    outer: &mut Object<'_>,
    inner: Option<&mut Object<'_>>,
) -> Vec<TargetRef> {
    let mut given: Vec<&Entry> = Vec::new();
    if let Some(inner) = inner {
        given.extend(inner.entry("targets"));
        given.extend(inner.entry("target"));
    }
    given.extend(outer.entry("target"));
    if let [first, extra, ..] = given.as_slice() {
        cx.problems.add(
            Diagnostic::error(
                codes::TWO_SPELLINGS,
                "targets are named twice",
                extra.key_span,
                "this one is extra",
            )
            .with_secondary(first.key_span, "already given here")
            .with_help("keep `execution.target` for one target, `execution.targets` for several"),
        );
    }
    let Some(entry) = given.first() else { return Vec::new() };
    if entry.key == "target" {
        if entry.value.is_null() {
            return Vec::new();
        }
        return target_name(cx, &entry.value, "target").into_iter().collect();
    }
    let Some(items) = filled_list(cx, entry) else { return Vec::new() };
    let mut targets: Vec<(TargetRef, Span)> = Vec::new();
    for item in items {
        let Some(target) = target(cx, item) else { continue };
        if let Some((first, place)) = targets.iter().find(|(known, _)| known.name == target.name) {
            cx.problems.add(
                Diagnostic::error(
                    codes::DUPLICATE_KEY,
                    format!("the target `{}` is named twice", first.name),
                    item.place(),
                    "second time",
                )
                .with_secondary(*place, "first time")
                .with_help("keep one of them, or give one another `name` with `use_target`"),
            );
        } else {
            targets.push((target, item.place()));
        }
    }
    targets.into_iter().map(|(target, _)| target).collect()
}

fn target_name(cx: &mut Context, node: &Node, key: &str) -> Option<TargetRef> {
    let name = string(node, key, &mut cx.problems)?;
    let name = usable_id(cx, name, "the name of a target")?;
    Some(TargetRef { name: name.value, use_target: None, hooks: None, place: cx.place(name.span) })
}

fn target(cx: &mut Context, node: &Node) -> Option<TargetRef> {
    if matches!(node.data, Data::Str(_)) {
        return target_name(cx, node, "targets");
    }
    if node.as_map().is_none() {
        cx.problems.add(wrong_type(node, "a target", "a name or a map with a name"));
        return None;
    }
    let mut object = Object::new(node, "a target of `targets`", &mut cx.problems)?;
    let head = object.head();
    let name = object.value("name").map(|node| target_name(cx, node, "name"));
    let use_target = object.text("use_target", &mut cx.problems).map(|name| name.value);
    let given = object.entry("hooks").filter(|entry| !entry.value.is_null());
    if name.is_none() {
        cx.problems.add(
            Diagnostic::error(codes::MISSING_SETTING, "a target has no name", head, "this target")
                .with_help("add `name: NAME`, the name of a target of the targets file"),
        );
    }
    object.finish(&mut cx.problems);
    let hooks = given.map(|entry| Arc::new(hooks(cx, &entry.value)));
    Some(TargetRef { use_target, hooks, ..name?? })
}

/// Returns the only list of graders of a suite or case, whatever its key.
pub(crate) fn grader_list<'n>(
    cx: &mut Context,
    outer: &mut Object<'n>,
    mut inner: Option<&mut Object<'n>>,
    format: Format,
) -> Option<&'n Entry> {
    let mut inside = |key| inner.as_mut().and_then(|inner| inner.entry(key));
    let lists = [
        (outer.entry("assertions"), "assertions"),
        (outer.entry("assert"), "assert"),
        (inside("assertions"), "execution.assertions"),
        (inside("assert"), "execution.assert"),
        (inside("evaluators"), "execution.evaluators"),
        (outer.entry("evaluators"), "evaluators"),
    ];
    let mut given = lists.into_iter().filter_map(|(entry, path)| Some((entry?, path)));
    let (first, path) = given.next()?;
    for (extra, extra_path) in given {
        cx.problems.add(
            Diagnostic::error(
                codes::TWO_GRADER_LISTS,
                format!("`{path}` and `{extra_path}` both list graders"),
                extra.key_span,
                "this list is extra",
            )
            .with_secondary(first.key_span, "already listed here")
            .with_help(format!("move all graders into `{path}`")),
        );
    }
    let spelled_right = match format {
        Format::One => matches!(path, "execution.evaluators" | "evaluators"),
        Format::Two => matches!(path, "assertions" | "execution.assertions"),
    };
    if !spelled_right {
        let present = match format {
            Format::One => "execution.evaluators",
            Format::Two => "assertions",
        };
        old_spelling(cx, first, present);
    }
    Some(first)
}
