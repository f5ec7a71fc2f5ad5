//! Decoder of `execution`: targets, limits and the lists of graders, of a suite or a case.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, string, wrong_type};
use assize_model::{SuiteSettings, TargetRef};

use super::DecodeContext;
use super::common::{
    DecodedThresholds, check_id, decode_dollars, decode_thresholds, non_empty_list, old_spelling,
    refuse_foreign_keys,
};
use super::grader::{PanelUse, decode_evidence, decode_judging, decode_panel, decode_truncate};
use super::trials::decode_trials;
use super::workspace::decode_hooks;

const TIMEOUT_HELP: &str =
    "write `timeout_seconds` in the target; `--request-timeout` limits requests to models";

/// Keys of newer versions, with the equivalent here.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("provider", "name the target: `target: NAME`"),
    ("providers", "list the targets: `targets: [NAME, ...]`"),
    ("max_concurrency", "write `workers: N`"),
    ("timeout", TIMEOUT_HELP),
    ("timeout_seconds", TIMEOUT_HELP),
    ("grader_target", "name the judge: `judge: NAME`"),
    ("judge_target", "name the judge: `judge: NAME`"),
];

/// Opens `execution` of a suite or case, if present.
pub(crate) fn open_execution<'n>(
    cx: &mut DecodeContext,
    object: &mut MapReader<'n>,
) -> Option<MapReader<'n>> {
    let node = object.value("execution")?;
    let mut inner = MapReader::new(node, "`execution`", &mut cx.problems)?;
    refuse_foreign_keys(cx, &mut inner, FOREIGN_KEYS);
    Some(inner)
}

/// Decodes the settings of a suite from its own keys and `execution`.
pub(crate) fn decode_settings(
    cx: &mut DecodeContext,
    outer: &mut MapReader<'_>,
    inner: Option<&mut MapReader<'_>>,
) -> SuiteSettings {
    let mut settings = SuiteSettings::default();
    let mut found = DecodedThresholds::default();
    decode_thresholds(cx, outer, &mut found);

    let Some(inner) = inner else {
        settings.trials = decode_trials(cx, outer, None);
        settings.targets = decode_targets(cx, outer, None);
        settings.threshold_mark = found.pass_span().map(|span| cx.mark(span));
        settings.thresholds = found.finish(cx);
        return settings;
    };

    settings.trials = decode_trials(cx, outer, Some(inner));
    settings.targets = decode_targets(cx, outer, Some(inner));
    decode_thresholds(cx, inner, &mut found);
    settings.threshold_mark = found.pass_span().map(|span| cx.mark(span));
    settings.thresholds = found.finish(cx);
    settings.workers =
        inner.integer("workers", 1, 50, &mut cx.problems).map(|workers| workers.value as usize);
    settings.judging = decode_judging(cx, inner);
    settings.evidence = decode_evidence(cx, inner);
    settings.truncate = decode_truncate(cx, inner);
    if let Some(judge) = inner.text("judge", &mut cx.problems) {
        settings.judge_place = Some(cx.position(judge.span));
        settings.judge = Some(judge.value);
    }
    settings.panel = decode_panel(cx, inner, PanelUse::Defaults { judge: settings.judge.as_deref() });
    settings.budget_usd = decode_dollars(cx, inner, "budget_usd");
    settings.cache = inner.boolean("cache", &mut cx.problems).map(|cache| cache.value);

    if let Some(path) = inner.text("cache_path", &mut cx.problems) {
        Diagnostic::warning(codes::NO_EFFECT, "`cache_path` has no effect")
            .at(path.span, "the reply cache is in `.assize/cache` of the working folder")
            .with_help("remove it")
            .add_to(&mut cx.problems);
        settings.cache_path = Some(PathBuf::from(path.value));
    }

    if let Some(stop) = inner.boolean("fail_on_error", &mut cx.problems) {
        settings.fail_on_error = Some(stop.value);
    }

    if let Some(entry) = inner.foreign("skip_defaults") {
        Diagnostic::error(codes::NOT_SUPPORTED, "`skip_defaults` belongs on a case")
            .at(entry.key_span, "only a case can skip defaults")
            .with_help("move it into the `execution` of the cases")
            .add_to(&mut cx.problems);
    }

    settings
}

/// Decodes the targets of a suite or case: `target` or `targets` of `execution`, or the top-level `target`.
pub(crate) fn decode_targets(
    cx: &mut DecodeContext,
    outer: &mut MapReader<'_>,
    inner: Option<&mut MapReader<'_>>,
) -> Vec<TargetRef> {
    let mut given: Vec<&MapEntry> = Vec::new();
    if let Some(inner) = inner {
        given.extend(inner.entry("targets"));
        given.extend(inner.entry("target"));
    }

    given.extend(outer.entry("target"));

    if let [first, extra, ..] = given.as_slice() {
        Diagnostic::error(codes::TWO_SPELLINGS, "targets are named twice")
            .at(extra.key_span, "this one is extra")
            .with_secondary(first.key_span, "already given here")
            .with_help("keep `execution.target` for one target, `execution.targets` for several")
            .add_to(&mut cx.problems);
    }

    let Some(entry) = given.first() else { return Vec::new() };
    if entry.key == "target" {
        if entry.value.is_null() {
            return Vec::new();
        }
        return decode_target_name(cx, &entry.value, "target").into_iter().collect();
    }

    let Some(items) = non_empty_list(cx, entry) else { return Vec::new() };
    let mut targets: Vec<(TargetRef, Span)> = Vec::new();
    for item in items {
        let Some(target) = decode_target(cx, item) else { continue };
        if let Some((first, place)) = targets.iter().find(|(known, _)| known.name == target.name) {
            Diagnostic::error(codes::DUPLICATE_KEY, format!("the target `{}` is named twice", first.name))
                .at(item.use_span(), "second time")
                .with_secondary(*place, "first time")
                .with_help("keep one of them, or give one another `name` with `use_target`")
                .add_to(&mut cx.problems);
        } else {
            targets.push((target, item.use_span()));
        }
    }

    targets.into_iter().map(|(target, _)| target).collect()
}

fn decode_target_name(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<TargetRef> {
    let name = string(node, key, &mut cx.problems)?;
    let name = check_id(cx, name, "the name of a target")?;
    Some(TargetRef { name: name.value, use_target: None, hooks: None, place: cx.position(name.span) })
}

fn decode_target(cx: &mut DecodeContext, node: &TreeNode) -> Option<TargetRef> {
    if matches!(node.data, NodeValue::Str(_)) {
        return decode_target_name(cx, node, "targets");
    }
    if node.as_map().is_none() {
        return cx.problems.reject(wrong_type(node, "a target", "a name or a map with a name"));
    }

    let mut object = MapReader::new(node, "a target of `targets`", &mut cx.problems)?;
    let head = object.head();
    let name = object.value("name").map(|node| decode_target_name(cx, node, "name"));
    let use_target = object.text("use_target", &mut cx.problems).map(|name| name.value);
    let given = object.entry("hooks").filter(|entry| !entry.value.is_null());

    if name.is_none() {
        Diagnostic::error(codes::MISSING_SETTING, "a target has no name")
            .at(head, "this target")
            .with_help("add `name: NAME`, the name of a target of the targets file")
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    let hooks = given.map(|entry| Arc::new(decode_hooks(cx, &entry.value)));
    Some(TargetRef { use_target, hooks, ..name?? })
}

/// Returns the list of graders of a suite or case, whichever key it has. There may be only one.
pub(crate) fn find_grader_list<'n>(
    cx: &mut DecodeContext,
    outer: &mut MapReader<'n>,
    mut inner: Option<&mut MapReader<'n>>,
) -> Option<&'n MapEntry> {
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
        Diagnostic::error(codes::TWO_GRADER_LISTS, format!("`{path}` and `{extra_path}` both list graders"))
            .at(extra.key_span, "this list is extra")
            .with_secondary(first.key_span, "already listed here")
            .with_help(format!("move all graders into `{path}`"))
            .add_to(&mut cx.problems);
    }

    let own =
        cx.format.choose(["execution.evaluators", "evaluators"], ["assertions", "execution.assertions"]);
    let spelled_right = own.contains(&path);
    if !spelled_right {
        let present = cx.format.choose("execution.evaluators", "assertions");
        old_spelling(cx, first, present);
    }

    Some(first)
}
