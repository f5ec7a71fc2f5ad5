//! Files of prompts, providers and tests, as the loader expands them to cases.

use std::collections::HashSet;
use std::path::Path;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_evalfile::{LoadOptions, LoadedSuite, LoweredLoss, LoweredSuite, LoweredTarget};
use assize_model::{Case, Suite};
use assize_promptfoo::{LOSS_WARNINGS, lower_matrix};
use serde_json::{Map, Value, json};

use crate::ConvertError;
use crate::eval_file_builder::EvalFileBuilder;
use crate::loaded::{broken_file, collect_cases};
use crate::note::ConversionNotes;

/// Keys of graders, cases and suites that name targets.
const TARGET_KEYS: [&str; 3] = ["target", "judge", "embedding"];
/// Keys of a case whose values are the user's own data.
const USER_DATA: [&str; 5] = ["vars", "metadata", "input", "output", "schema"];

/// A configuration that was read.
pub(crate) struct MatrixContent {
    /// Its content in the `tests` format.
    pub(crate) doc: EvalFileBuilder,
    /// The suite that a run of it has.
    pub(crate) suite: Suite,
    /// The cases that a run of it has.
    pub(crate) cases: Vec<Case>,
    /// Diagnostics about it that are not among the losses.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Texts that the warnings point into.
    pub(crate) sources: SourceMap,
}

/// Reads a configuration.
///
/// # Errors
/// If the file can't be read, or none of its tests.
pub(crate) fn read_config(
    path: &Path,
    options: &LoadOptions,
    notes: &mut ConversionNotes,
) -> Result<MatrixContent, ConvertError> {
    let (loaded, lowered) = lower_matrix(path, options);
    let cases = collect_cases(path, &loaded)?;
    let LoadedSuite { suite, diagnostics: mut warnings, sources, .. } = loaded;
    let Some(suite) = suite.filter(|_| !lowered.cases.is_empty()) else {
        return Err(broken_file(path, warnings, sources));
    };
    warnings.retain(|found| !LOSS_WARNINGS.contains(&found.code));

    let LoweredSuite { mut head, cases: mut values, targets, losses, .. } = lowered;
    for LoweredLoss { place, item, what, cases } in losses {
        let what = if cases > 1 { format!("{what} ({cases} cases)") } else { what };
        notes.add_loss_in(place.path(), place.line, item, what);
    }
    if suite.extensions.is_some() {
        notes.add_loss(None, "`extensions`", "functions around a run are not converted");
    }
    if !suite.derived_metrics.is_empty() {
        notes.add_loss(None, "`derivedMetrics`", "not converted: compute them from the results");
    }

    let unrunnable = define_targets(&targets, &mut head, notes);
    for value in values.iter_mut().chain(head.values_mut()) {
        remove_targets(value, &unrunnable);
    }

    Ok(MatrixContent { doc: EvalFileBuilder::with_cases(head, values), suite, cases, warnings, sources })
}

/// Adds definitions of the targets that a name alone does not describe. Returns the names of targets that can't
/// be run.
fn define_targets(
    targets: &[LoweredTarget],
    head: &mut Map<String, Value>,
    notes: &mut ConversionNotes,
) -> HashSet<String> {
    let mut unrunnable = HashSet::new();
    let mut defined = Vec::new();
    for target in targets {
        if let Some(problem) = target.problems.first() {
            unrunnable.insert(target.name.clone());
            let item = format!("provider `{}`", target.name);
            let what = problem.strip_prefix(&item).unwrap_or(problem).trim_start();
            notes.add_loss_in(target.place.path(), target.place.line, &item, what);
        } else if plain_name(&target.entry).as_ref() != Some(&target.name) {
            defined.push(target.entry.clone());
        }
    }

    if !defined.is_empty() {
        head.insert("targets".to_owned(), json!(defined));
    }
    unrunnable
}

/// Returns the name of a target that needs no definition: a model without settings, or `echo`.
fn plain_name(entry: &Value) -> Option<String> {
    let keys = entry.as_object()?;
    let text = |key: &str| keys.get(key).and_then(Value::as_str);
    match (text("provider")?, text("model"), keys.len()) {
        ("echo", None, 2) => Some("echo".to_owned()),
        (provider, Some(model), 3) => Some(format!("{provider}:{model}")),
        _ => None,
    }
}

/// Removes the names of targets that can't be run.
fn remove_targets(value: &mut Value, unrunnable: &HashSet<String>) {
    let runs = |name: &Value| !name.as_str().is_some_and(|name| unrunnable.contains(name));
    match value {
        Value::Array(items) => {
            for item in items {
                remove_targets(item, unrunnable);
            }
        }
        Value::Object(members) => {
            for (key, inner) in members.iter_mut() {
                match inner {
                    Value::Array(names) if key == "targets" => names.retain(runs),
                    // The user's own data.
                    _ if USER_DATA.contains(&key.as_str()) => {}
                    other => remove_targets(other, unrunnable),
                }
            }
            members.retain(|key, inner| match inner {
                Value::Array(names) if key == "targets" => !names.is_empty(),
                name => !TARGET_KEYS.contains(&key.as_str()) || runs(name),
            });
            members.retain(|key, inner| {
                key != "execution" || inner.as_object().is_none_or(|settings| !settings.is_empty())
            });
        }
        _ => {}
    }
}
