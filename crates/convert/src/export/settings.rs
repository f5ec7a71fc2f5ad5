//! Settings of suites and cases that other tools' formats can't express.

use assize_model::{Case, PanelSpec, Suite, SuiteSettings, TargetRef};
use serde_json::Value;

use crate::note::ConversionNotes;

/// Keys with free values. Their content is data, not settings of the file.
const FREE_KEYS: [&str; 9] =
    ["args", "config", "content", "expected_output", "input", "metadata", "output", "schema", "vars"];

/// Which parts of suites and cases an export keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeptSettings {
    /// Whether the description of the suite is kept.
    pub(super) description: bool,
    /// Whether targets that are named after models are kept.
    pub(super) models: bool,
    /// Whether the tags of cases are kept.
    pub(super) tags: bool,
}

/// Returns true for a target that needs no definition, like a provider of promptfoo: a model, or `echo`.
pub(super) fn is_provider(target: &str) -> bool {
    target.contains(':') || target == "echo"
}

/// Adds notes about the loss of a suite's settings. The thresholds are noted with each case.
pub(super) fn note_suite_settings(suite: &Suite, kept: KeptSettings, notes: &mut ConversionNotes) {
    let Suite {
        format: _,
        name: _,
        name_place: _,
        path: _,
        description,
        tags,
        metadata,
        graders: _,
        settings,
        workspace,
        preprocessors,
        defined_targets,
        extensions,
        derived_metrics,
        unbuilt: _,
        unrun_code: _,
        variables: _,
        has_providers: _,
    } = suite;
    let SuiteSettings {
        targets,
        workers,
        thresholds: _,
        threshold_mark: _,
        judge_place: _,
        judging,
        evidence,
        truncate,
        judge,
        panel,
        budget_usd,
        cache,
        cache_path,
        fail_on_error,
        trials,
    } = settings;

    let is_kept = |target: &TargetRef| {
        kept.models && is_provider(&target.name) && target.use_target.is_none() && target.hooks.is_none()
    };
    let parts = [
        ("description", description.is_some() && !kept.description),
        ("tags", !tags.is_empty()),
        ("metadata", !metadata.is_empty()),
        ("workspace", workspace.is_some()),
        ("preprocessors", !preprocessors.is_empty()),
        ("targets", !targets.iter().all(is_kept)),
        ("definitions of targets", !kept.models && !defined_targets.is_empty()),
        ("extensions", extensions.is_some()),
        ("derivedMetrics", !derived_metrics.is_empty()),
        ("workers", workers.is_some()),
        ("judging", judging.is_some()),
        ("evidence", evidence.is_some()),
        ("truncate", truncate.is_some()),
        ("judge", judge.is_some()),
        ("panel", *panel != PanelSpec::default()),
        ("budget_usd", budget_usd.is_some()),
        ("cache", cache.is_some()),
        ("cache_path", cache_path.is_some()),
        ("fail_on_error", fail_on_error.is_some()),
        ("trials", trials.is_some()),
    ];
    for (key, _) in parts.into_iter().filter(|(_, is_lost)| *is_lost) {
        notes.add_loss(None, format!("`{key}` of the suite"), "is not carried over");
    }
}

/// Adds notes about the loss of a case's settings that are not part of its question, answer or graders.
pub(super) fn note_case_settings(case: &Case, kept: KeptSettings, notes: &mut ConversionNotes) {
    let parts = [
        ("targets", !case.targets.is_empty()),
        ("file_changes", case.file_changes.is_some()),
        ("trials", case.trials.is_some()),
        ("tags", !case.tags.is_empty() && !kept.tags),
        ("metadata", !case.metadata.is_empty()),
        ("conversation_id", case.conversation_id.is_some()),
        ("depends_on", !case.depends_on.is_empty()),
    ];
    let lost: Vec<String> =
        parts.into_iter().filter(|(_, is_lost)| *is_lost).map(|(key, _)| format!("`{key}`")).collect();

    if !lost.is_empty() {
        notes.add_case_loss(case, format!("not carried over: {}", lost.join(", ")));
    }
}

/// Adds notes about the loss of the user's own keys, which begin with `x-`. `line` returns the line of a JSON
/// pointer.
pub(crate) fn note_own_keys(value: &Value, line: &dyn Fn(&str) -> usize, notes: &mut ConversionNotes) {
    visit(value, &mut String::new(), &mut |pointer, key| {
        notes.add_loss(line(pointer), format!("`{key}`"), "is not carried over");
    });
}

fn visit(value: &Value, pointer: &mut String, see: &mut dyn FnMut(&str, &str)) {
    let length = pointer.len();
    let mut enter = |part: &str, inner: &Value, see: &mut dyn FnMut(&str, &str)| {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));

        if part.starts_with("x-") {
            see(pointer, part);
        } else if !FREE_KEYS.contains(&part) {
            visit(inner, pointer, see);
        }

        pointer.truncate(length);
    };

    match value {
        Value::Object(members) => members.iter().for_each(|(key, inner)| enter(key, inner, see)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| enter(&at.to_string(), item, see));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
