//! `nunjucksFilters`: filters for templates, written as JavaScript functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, NodeValue, codes, wrong_type};
use assize_evalfile::reading::{DecodeContext, find_matches, read_code};
use assize_model::{AuthorCode, CodeLanguage, FilePosition, LoadProgram, NamedProgram, ProgramRunner};
use assize_script::{ScriptTime, ScriptValue};
use minijinja::value::{Kwargs, Rest, Serde};
use minijinja::{Environment, ErrorKind, Value as JinjaValue};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};

use super::nodes::text_node;

/// Names under which the engine passes the arguments: first the value, then those in parentheses.
const ARGUMENTS: [&str; 8] = ["value", "a", "b", "c", "d", "e", "f", "g"];

/// Filters of a file.
pub(super) struct CustomFilters {
    filters: BTreeMap<String, CustomFilter>,
    /// Runs filters that load modules; `None` if programs must not be run.
    runner: Option<Arc<dyn ProgramRunner>>,
    /// Time for the scripts of the file.
    time: ScriptTime,
    state: Mutex<FilterState>,
}

struct CustomFilter {
    code: AuthorCode,
    /// The file, as written.
    file: String,
    span: Span,
    place: FilePosition,
}

#[derive(Default)]
struct FilterState {
    /// Results of programs, by filter and arguments. A template may be rendered twice, and many templates use
    /// the same values.
    returned: BTreeMap<(String, String), Result<Value, String>>,
    /// Filters that were needed but not run, for messages.
    unrun: BTreeSet<NamedProgram>,
    /// Failed calls, each with the span of its filter.
    failed: Vec<(Span, String)>,
}

impl CustomFilters {
    /// Reads the map of names and files.
    pub(super) fn read(cx: &mut DecodeContext, entry: Option<&MapEntry>) -> Arc<Self> {
        let mut filters = BTreeMap::new();
        match entry.map(|entry| &entry.value.data) {
            Some(NodeValue::Map(entries)) => {
                let read = |entry: &MapEntry| Some((entry.key.clone(), read_filter(cx, entry)?));
                filters.extend(entries.iter().filter_map(read));
            }
            None | Some(NodeValue::Null) => {}
            Some(_) => cx.problems.extend(
                entry.map(|entry| wrong_type(&entry.value, "`nunjucksFilters`", "a map of names and files")),
            ),
        }

        Arc::new(Self {
            filters,
            runner: cx.reach.programs.clone(),
            time: cx.script_time.clone(),
            state: Mutex::default(),
        })
    }

    /// Adds the filters to an environment. A filter replaces a built-in one with the same name.
    pub(super) fn add_to(self: &Arc<Self>, environment: &mut Environment<'static>) {
        for name in self.filters.keys() {
            let (all, own) = (Arc::clone(self), name.clone());
            environment.add_filter(
                name.clone(),
                move |value: JinjaValue, rest: Rest<JinjaValue>, named: Kwargs| {
                    all.call(&own, &value, &rest, &named)
                },
            );
        }
    }

    /// Reports filters that failed in variables. Rendering a variable reports nothing itself, since its text
    /// may not be meant as a template.
    pub(super) fn report_failures(&self, cx: &mut DecodeContext) {
        let failed = std::mem::take(&mut self.state().failed);
        for (span, reason) in failed {
            let problem =
                Diagnostic::error(codes::BAD_TEMPLATE, "a filter of a variable failed").at(span, reason);
            cx.problems.add(problem.with_help("the filter gets the value before `|`, and returns a new one"));
        }
    }

    /// Discards the failures in a template whose own error is reported.
    pub(super) fn forget_failures(&self) {
        self.state().failed.clear();
    }

    /// Returns the filters that were needed but not run, for messages.
    pub(super) fn unrun(&self) -> Vec<NamedProgram> {
        self.state().unrun.iter().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, FilterState> {
        self.state.lock()
    }

    fn call(
        &self,
        name: &str,
        value: &JinjaValue,
        rest: &[JinjaValue],
        named: &Kwargs,
    ) -> Result<JinjaValue, minijinja::Error> {
        let Some(filter) = self.filters.get(name) else { return Ok(value.clone()) };
        let mut arguments: Vec<Value> = std::iter::once(value).chain(rest).map(to_json).collect();
        let named: Map<String, Value> =
            named.args().filter_map(|key| Some((key.to_owned(), to_json(&named.get(key).ok()?)))).collect();
        if !named.is_empty() {
            arguments.push(Value::Object(named));
        }

        let returned = match &filter.code {
            AuthorCode::Script(script) => {
                let given: Vec<(&str, &Value)> = ARGUMENTS.into_iter().zip(&arguments).collect();
                let returned = script.call_within(&given, &self.time).map(ScriptValue::into_json);
                returned.map(Option::unwrap_or_default).map_err(|error| error.to_string())
            }
            AuthorCode::Program(code) => {
                let program = LoadProgram::Function { code: code.clone(), usual: "", takes_value: false };
                let Some(returned) = self.run(name, &program, json!(arguments)) else {
                    let language = code.language.name();
                    let what = format!("filter `{name}` of `{}` ({language} code)", filter.file);
                    self.state().unrun.insert(NamedProgram { place: filter.place.clone(), what });
                    return Ok(value.clone());
                };
                returned
            }
        };

        returned.map(|value| JinjaValue::from(Serde(value))).map_err(|reason| {
            let reason = format!("the filter `{name}` failed: {reason}");
            self.state().failed.push((filter.span, reason.clone()));
            minijinja::Error::new(ErrorKind::InvalidOperation, reason)
        })
    }

    /// Calls a program, or returns the earlier result for the same arguments. Returns `None` if programs must
    /// not be run.
    fn run(&self, name: &str, program: &LoadProgram, arguments: Value) -> Option<Result<Value, String>> {
        let key = (name.to_owned(), arguments.to_string());
        if let Some(known) = self.state().returned.get(&key) {
            return Some(known.clone());
        }

        let mut returned = self.runner.as_ref()?.run(program, &[arguments]);
        let result = returned.pop().unwrap_or_else(|| Err("it returned nothing".to_owned()));
        self.state().returned.insert(key, result.clone());
        Some(result)
    }
}

fn read_filter(cx: &mut DecodeContext, entry: &MapEntry) -> Option<CustomFilter> {
    let span = entry.value.use_span();
    let Some(written) = entry.value.as_str() else {
        return cx.problems.reject(wrong_type(&entry.value, "a filter", "the path of a file of JavaScript"));
    };
    let path = written.trim().strip_prefix("file://").unwrap_or(written.trim());
    // If a pattern matches several files, the last one is used.
    let path = if path.contains(['*', '?', '[', '{']) {
        find_matches(cx, path, span).pop()?.display().to_string()
    } else {
        path.to_owned()
    };
    if Path::new(&path).extension().is_some_and(|ending| ending == "py") {
        return Diagnostic::error(codes::UNKNOWN_FILE_KIND, "filters are functions of JavaScript")
            .at(span, "a Python file")
            .with_help("write it in JavaScript, as `module.exports = (value) => ...`")
            .reject_in(&mut cx.problems);
    }

    let node = text_node(span, format!("file://{path}"));
    let code = read_code(cx, &node, "nunjucksFilters", CodeLanguage::JavaScript)?;
    Some(CustomFilter { code, file: written.trim().to_owned(), span, place: cx.position(span) })
}

fn to_json(value: &JinjaValue) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
