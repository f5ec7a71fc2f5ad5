//! Variables of a test: files, lists of values that multiply the test, and templates that refer to other
//! variables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::{MapEntry, NodeValue, TreeNode, codes, file_extension};
use assize_evalfile::reading::{DecodeContext, find_matches, read_code};
use assize_limits::INSERTED_BYTES;
use assize_model::{AuthorCode, CodeLanguage};
use assize_script::{Script, ScriptValue};
use assize_table::is_table;
use assize_template::has_markers;
use serde_json::{Map, Value};

use super::code_part::{CodePart, WrittenPart, names_code};
use super::matrix_test::MatrixTest;
use super::prompts::{MatrixPrompt, PromptBody};
use super::template::TemplateRenderer;
use super::test_entries::{is_sheet, sheet_of_variables};

/// Extensions of files that are not text.
const MEDIA_ENDINGS: [&str; 16] = [
    "jpg", "jpeg", "png", "gif", "webp", "bmp", "svg", "mp3", "wav", "ogg", "mp4", "webm", "mov", "pdf",
    "tiff", "m4a",
];

/// Maximum number of characters of a prompt that a message shows.
const MAX_SHOWN_LETTERS: usize = 60;

/// Values of a variable. Several values multiply the test.
pub(super) struct VariableValues {
    pub(super) name: String,
    pub(super) values: Vec<VariableValue>,
}

/// A value of a variable.
#[derive(Debug, Clone)]
pub(super) enum VariableValue {
    Written(Value),
    /// Code that returns the value for each test and prompt.
    Code(Arc<CodePart>),
}

/// One value for each variable.
pub(super) struct VariableCombination {
    /// Values. If code returns the value, this is the path of the code until then.
    pub(super) vars: Map<String, Value>,
    pub(super) code: Vec<(String, Arc<CodePart>)>,
}

/// Reads the values of a test's variables. The second result is true if one of them is an image, a sound, or
/// another file that is not text.
pub(super) fn read_values(
    cx: &mut DecodeContext,
    vars: &[MapEntry],
    expands: bool,
) -> Option<(Vec<VariableValues>, bool)> {
    let before = cx.problems.error_count();
    let mut media = false;
    let mut all = Vec::new();
    for entry in vars {
        let span = entry.value.use_span();
        let values = match &entry.value.data {
            NodeValue::Str(text) => match text.trim().strip_prefix("file://") {
                Some(path) if !text.trim().contains('\n') => read_files(cx, path, span, &mut media),
                _ => vec![VariableValue::Written(Value::from(text.as_str()))],
            },
            // Only lists of strings multiply a test.
            NodeValue::Seq(items) if expands && items.first().is_some_and(|item| item.as_str().is_some()) => {
                items.iter().map(|item| value_of(cx, item, &mut media)).collect()
            }
            _ => vec![VariableValue::Written(entry.value.to_json())],
        };
        all.push(VariableValues { name: entry.key.clone(), values });
    }

    (cx.problems.error_count() == before).then_some((all, media))
}

fn value_of(cx: &mut DecodeContext, item: &TreeNode, media: &mut bool) -> VariableValue {
    let path = item.as_str().and_then(|text| text.trim().strip_prefix("file://"));
    let value = path.and_then(|path| read_files(cx, path, item.use_span(), media).into_iter().next());

    value.unwrap_or_else(|| VariableValue::Written(if path.is_some() { Value::Null } else { item.to_json() }))
}

/// Reads the file that a variable names, or all files that match a pattern.
fn read_files(cx: &mut DecodeContext, path: &str, span: Span, media: &mut bool) -> Vec<VariableValue> {
    if names_code(path) {
        let part = CodePart::read(cx, WrittenPart::Variable, path, span);
        return part.into_iter().map(|part| VariableValue::Code(Arc::new(part))).collect();
    }
    if !path.contains(['*', '?', '[']) {
        return read_file(cx, path, span, media).into_iter().map(VariableValue::Written).collect();
    }

    let mut values = Vec::new();
    for file in find_matches(cx, path, span) {
        let real = std::fs::canonicalize(&file).unwrap_or(file).display().to_string();
        values.extend(read_file(cx, &real, span, media).map(VariableValue::Written));
    }
    values
}

fn read_file(cx: &mut DecodeContext, path: &str, span: Span, media: &mut bool) -> Option<Value> {
    if MEDIA_ENDINGS.contains(&file_extension(std::path::Path::new(path)).as_str()) {
        cx.find_file(path, span)?;
        *media = true;
        return Some(Value::from(format!("file://{path}")));
    }

    if is_sheet(path) {
        return cx.problems.reject(sheet_of_variables(span));
    }

    let file = cx.read_text(path, span)?;
    Some(match file_extension(&file.path).as_str() {
        "yaml" | "yml" => {
            let source = cx.sources.add(&file.path, file.text.clone());
            let root = cx.read_yaml(source)?;
            Value::from(root.to_json().to_string())
        }
        _ => Value::from(file.text.trim()),
    })
}

/// Returns every combination of values.
pub(super) fn combinations(all: &[VariableValues]) -> impl Iterator<Item = VariableCombination> {
    let count = all.iter().map(|one| one.values.len()).product::<usize>();
    (0..count).map(move |mut index| {
        let mut chosen: Vec<(&str, &VariableValue)> = Vec::new();
        // The last variable varies fastest.
        for one in all.iter().rev() {
            let at = index % one.values.len();
            index /= one.values.len();
            chosen.push((&one.name, &one.values[at]));
        }

        let mut combination = VariableCombination { vars: Map::new(), code: Vec::new() };
        for (name, value) in chosen.into_iter().rev() {
            let value = match value {
                VariableValue::Written(value) => value.clone(),
                VariableValue::Code(part) => {
                    combination.code.push((name.to_owned(), Arc::clone(part)));
                    Value::from(part.reference())
                }
            };
            combination.vars.insert(name.to_owned(), value);
        }

        combination
    })
}

/// Returns the number of combinations; `None` if it overflows.
pub(super) fn count_combinations(all: &[VariableValues]) -> Option<usize> {
    all.iter().try_fold(1usize, |product, one| product.checked_mul(one.values.len()))
}

/// Removes the line break at the end of YAML block strings, as promptfoo does.
pub(super) fn strip_line_ends(vars: &mut Map<String, Value>) {
    for value in vars.values_mut() {
        if let Value::String(text) = value
            && text.ends_with('\n')
        {
            text.pop();
        }
    }
}

/// Renders the templates in variables. A variable is rendered after those that it refers to. Variables in
/// `written` were returned by code and are not templates. Returns the names of variables that look like
/// templates but can't be rendered.
///
/// # Errors
/// The names of variables that refer to each other in a cycle.
pub(super) fn render_variables(
    cx: &mut DecodeContext,
    templates: &TemplateRenderer,
    place: Span,
    written: &BTreeSet<String>,
    vars: &mut Map<String, Value>,
) -> Result<Vec<String>, Vec<String>> {
    let mut unread = Vec::new();
    let mut pending: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in vars.iter().filter(|(name, _)| !written.contains(*name)) {
        let Some(text) = value.as_str().filter(|text| has_markers(text)) else { continue };
        match templates.names_in(text) {
            Some(names) => _ = pending.insert(name.clone(), names),
            None => unread.push(name.clone()),
        }
    }

    // For each variable, the number of variables that it waits for, and the ones that wait for it.
    let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waiting: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, names) in &pending {
        let needed = names.iter().filter_map(|needed| pending.get_key_value(needed));
        waits.insert(name, 0);
        for (needed, _) in needed {
            *waits.entry(name).or_default() += 1;
            waiting.entry(needed).or_default().push(name);
        }
    }
    let mut ready: BTreeSet<&str> =
        waits.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut bytes = 0;
    while let Some(name) = ready.pop_first() {
        waits.remove(name);
        let scope = templates.scope_of(vars, &pending[name]);
        if let Some(Value::String(text)) = vars.get_mut(name) {
            match templates.render_value(cx, text, place, &scope) {
                Some(rendered) => *text = rendered,
                None => unread.push(name.to_owned()),
            }
            bytes += text.len();
        }
        if bytes > INSERTED_BYTES {
            Diagnostic::error(codes::LIMIT_REACHED, "the variables of this test become too long")
                .at(place, format!("more than {} MiB", INSERTED_BYTES >> 20))
                .with_help("insert long values into fewer other variables")
                .add_to(&mut cx.problems);
            return Ok(unread);
        }
        for next in waiting.remove(name).unwrap_or_default() {
            let count = waits.entry(next).or_default();
            *count -= 1;
            if *count == 0 {
                ready.insert(next);
            }
        }
    }
    if waits.is_empty() {
        return Ok(unread);
    }

    let left: BTreeSet<String> = waits.into_keys().map(str::to_owned).collect();
    pending.retain(|name, _| left.contains(name));
    Err(find_circle(&pending))
}

/// Returns the variables of a cycle, given that each pending variable refers to another pending one.
fn find_circle(pending: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut path: Vec<&String> = Vec::new();
    let mut next = pending.keys().next();
    while let Some(name) = next {
        if let Some(start) = path.iter().position(|seen| *seen == name) {
            return path[start..].iter().map(|name| (*name).clone()).collect();
        }
        path.push(name);
        next = pending[name].iter().find(|name| pending.contains_key(*name));
    }

    Vec::new()
}

/// Returns the error that variables of a test refer to each other in a cycle.
pub(super) fn circle_of_variables(circle: &[String], vars: &[MapEntry], place: Span) -> Diagnostic {
    let first = circle.first().map_or("", String::as_str);
    let at = vars.iter().find(|entry| entry.key == first).map_or(place, |entry| entry.value.use_span());
    let steps: Vec<String> = circle.iter().map(|name| format!("`{name}`")).collect();
    let label = match steps.as_slice() {
        [_] => "names itself".to_owned(),
        _ => format!("{} → `{first}`", steps.join(" → ")),
    };

    Diagnostic::error(codes::BAD_TEMPLATE, "variables refer to each other in a cycle")
        .at(at, label)
        .with_help("put text that is not a template between `{% raw %}` and `{% endraw %}`")
}

/// Returns the warning that a variable looks like a template but keeps its text.
pub(super) fn unread_template(name: &str, vars: &[MapEntry], place: Span) -> Diagnostic {
    let at = vars.iter().find(|entry| entry.key == name).map_or(place, |entry| entry.value.use_span());
    Diagnostic::warning(codes::READ_DIFFERENTLY, format!("the template in `{name}` can't be rendered"))
        .at(at, "stays as it is written")
        .with_help("if it is no template, put it between `{% raw %}` and `{% endraw %}`")
}

/// Returns the error that a prompt is empty because a variable of the test is. `None` if no variable in the
/// prompt is blank.
pub(super) fn blank_variable(
    cx: &DecodeContext,
    vars: &[MapEntry],
    prompt: &MatrixPrompt,
) -> Option<Diagnostic> {
    let text = prompt.raw_text();
    let is_blank = |entry: &&MapEntry| {
        entry.value.is_null() || entry.value.as_str().is_some_and(|text| text.trim().is_empty())
    };
    let entry = vars.iter().filter(is_blank).find(|entry| text.contains(entry.key.as_str()))?;
    let name = &entry.key;
    let path = cx.sources.file(entry.value.span.source).path();
    let (label, help) = if is_table(path) {
        (format!("the column `{name}` is empty in this row"), "fill the cell, or delete the row".to_owned())
    } else {
        (format!("`{name}` is empty"), format!("write a value for `{name}`, or remove the test"))
    };

    let title = format!("the prompt of this test is empty, as its variable `{name}` is");
    let diagnostic = Diagnostic::error(codes::EMPTY_TEXT, title).at(entry.value.use_span(), label);
    Some(diagnostic.with_note(shown_prompt(&text)).with_help(help))
}

/// Returns the error that a prompt consists of a single variable that the test does not have.
pub(super) fn absent_variable(
    test: &MatrixTest,
    vars: &Map<String, Value>,
    prompt: &MatrixPrompt,
    span: Span,
) -> Option<Diagnostic> {
    let PromptBody::Text(text) = &prompt.body else { return None };
    let name = only_variable(text).filter(|name| !vars.contains_key(*name))?;
    let around = [&test.options.prefix, &test.options.suffix];
    if around.into_iter().flatten().any(|text| !text.trim().is_empty()) {
        return None;
    }

    if test.is_stand_in {
        let title = format!("there are no tests, and the prompt needs the variable `{name}`");
        let diagnostic = Diagnostic::error(codes::EMPTY_TEXT, title).at(prompt.span, "nothing to ask");
        return Some(diagnostic.with_help(format!("add a test: `tests: [{{vars: {{{name}: TEXT}}}}]`")));
    }

    let title = format!("the prompt of this test is empty, as it has no variable `{name}`");
    let diagnostic = Diagnostic::error(codes::EMPTY_TEXT, title)
        .at(span, format!("no `{name}` here"))
        .with_note(shown_prompt(text));
    Some(match did_you_mean(name, vars.keys().map(String::as_str)) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
        None => diagnostic.with_help(format!("add `{name}` to `vars` of the test")),
    })
}

fn shown_prompt(text: &str) -> String {
    let short: String = text.trim().chars().take(MAX_SHOWN_LETTERS).collect();
    format!("the prompt is `{short}`")
}

/// Names of the values that a script for variables receives.
const PARAMETERS: [&str; 2] = ["vars", "context"];

/// Reads the script that changes the variables of a test. It is run while the file is loaded, and only by the
/// built-in engine.
pub(super) fn read_variables_script(
    cx: &mut DecodeContext,
    written: &SpannedValue<String>,
) -> Option<Script> {
    let span = written.span;
    let script = match written.value.trim().strip_prefix("file://") {
        Some(path) if !path.contains('\n') => {
            let node = TreeNode::new(span, NodeValue::Str(written.value.clone()));
            match read_code(cx, &node, "transformVars", CodeLanguage::JavaScript)? {
                AuthorCode::Script(script) => script,
                AuthorCode::Program(program) => {
                    return Diagnostic::error(codes::NOT_SUPPORTED, "variables are not changed by a program")
                        .at(span, format!("{} code", program.language.name()))
                        .with_help("write it as JavaScript that loads no modules")
                        .reject_in(&mut cx.problems);
                }
            }
        }
        _ => Script::from_code(&written.value),
    };

    match script.check(&PARAMETERS) {
        Ok(()) => Some(script),
        Err(error) => cx.problems.reject(bad_script(span, error.to_string())),
    }
}

/// Applies the script that changes variables. Returns false after adding a diagnostic.
pub(super) fn transform_variables(
    cx: &mut DecodeContext,
    (script, span): &(Script, Span),
    vars: &mut Map<String, Value>,
) -> bool {
    let given = Value::Object(vars.clone());
    let context = serde_json::json!({"vars": given, "prompt": {}});
    let called = script.call_within(&[("vars", &given), ("context", &context)], &cx.script_time);
    match called.map(ScriptValue::into_json) {
        Ok(Some(Value::Object(changed))) => {
            *vars = changed;
            true
        }
        Ok(_) => {
            cx.problems.add(bad_script(*span, "it does not return a map of variables".to_owned()));
            false
        }
        Err(error) => {
            cx.problems.add(bad_script(*span, error.to_string()));
            false
        }
    }
}

fn bad_script(span: Span, reason: String) -> Diagnostic {
    Diagnostic::error(codes::BAD_SCRIPT, "the variables can't be changed by this script")
        .at(span, reason)
        .with_help("return a map, such as `{ ...vars, name: vars.name.trim() }`")
}

/// Returns the name of the variable if a text is nothing but one.
pub(super) fn only_variable(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}
