//! Templates of matrix files: the subset of nunjucks that minijinja can render.
//!
//! promptfoo renders templates with nunjucks. Here they are rendered by minijinja, which needs no JavaScript
//! engine and whose steps can be limited. So templates are translated to its syntax (`syntax`), and values are
//! written and filtered as JavaScript would do it (`script_values`). A construct that can't be translated is an
//! error, not an approximation.
//!
//! A template may come from a stranger, so three things are limited:
//!
//! - Size. A small template must not produce a large text. Multiplication, loops over expressions, and `set`
//!   inside a loop are rejected; only filters that can't enlarge a text are available (`allowed_environment`),
//!   or have a limit; each template has a number of steps (`TEMPLATE_FUEL`); and the output ends at
//!   [`MAX_RENDERED_BYTES`].
//! - Secrets. `env` is an object that records which variables were used. After rendering, variables that look
//!   like secrets are reported, and the values of all others are hidden in diagnostics.
//! - Repetition. A rendered text is not rendered again. Only the texts of variables are templates themselves,
//!   and each is rendered once.
//!
//! Undefined names are a warning in a prompt, as in promptfoo, so a text is rendered twice in that case: first
//! by the `strict` environment, which fails at an undefined name, then by the `lenient` one. The text of a
//! variable is only rendered strictly, since it may not be meant as a template at all.

mod script_values;
mod syntax;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use assize_diagnostic::{Diagnostic, Span};
use minijinja::filters;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Object, ObjectRepr, Serde, ValueKind};
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, Value as JinjaValue};
use serde_json::{Map, Value};

use self::script_values::{add_script_filters, add_text_filters, script_text, with_whole_numbers};
use super::filters::CustomFilters;
use crate::codes;
use crate::decode::interpolate::is_secret_variable;
use crate::decode::{DecodeContext, EnvironmentLookup};
use crate::http_request::UNRESERVED;
use crate::model::SecretText;

/// Maximum number of steps for rendering one template.
const TEMPLATE_FUEL: u64 = 1_000_000;
/// Maximum number of bytes of a rendered text.
pub(crate) const MAX_RENDERED_BYTES: usize = 16 * 1024 * 1024;

/// Renders the templates of one file.
pub(super) struct TemplateRenderer {
    strict: Environment<'static>,
    lenient: Environment<'static>,
    variables: Arc<EnvironmentObject>,
    /// Filters that the file defines.
    pub(super) filters: Arc<CustomFilters>,
}

/// Values that a template may use.
pub(super) struct TemplateScope {
    values: JinjaValue,
    names: BTreeSet<String>,
}

impl TemplateRenderer {
    /// Creates a renderer. `own` are the variables that the file sets under `env`.
    pub(super) fn new(
        lookup: EnvironmentLookup,
        own: BTreeMap<String, String>,
        filters: Arc<CustomFilters>,
    ) -> Self {
        let environment = |undefined| {
            let mut environment = full_environment(undefined);
            filters.add_to(&mut environment);
            environment
        };
        let variables = Arc::new(EnvironmentObject { lookup, own, used: Mutex::default() });
        Self {
            strict: environment(UndefinedBehavior::SemiStrict),
            lenient: environment(UndefinedBehavior::Chainable),
            variables,
            filters,
        }
    }

    /// Returns the scope with these variables.
    pub(super) fn scope(&self, vars: &Map<String, Value>) -> TemplateScope {
        let mut all: BTreeMap<String, JinjaValue> =
            vars.iter().map(|(name, value)| (name.clone(), JinjaValue::from(Serde(value)))).collect();
        let names = all.keys().cloned().collect();
        all.entry("null".to_owned()).or_insert_with(|| JinjaValue::from(()));
        all.insert("env".to_owned(), JinjaValue::from_dyn_object(Arc::clone(&self.variables)));

        TemplateScope { values: JinjaValue::from(all), names }
    }

    /// Renders a text. Returns `None` after adding a diagnostic. An undefined name is a warning, and is
    /// rendered as nothing.
    pub(super) fn render(
        &self,
        cx: &mut DecodeContext,
        text: &str,
        span: Span,
        scope: &TemplateScope,
    ) -> Option<String> {
        if !has_markers(text) {
            return Some(text.to_owned());
        }

        self.variables.take_used();
        let mut rendered = render_with(&self.strict, text, scope);
        if rendered.as_ref().is_err_and(|error| error.kind() == ErrorKind::UndefinedError) {
            rendered = render_with(&self.lenient, text, scope);
            if rendered.is_ok() {
                self.report_undefined(cx, text, span, scope);
            }
        }
        self.check_variables(cx, text, span);

        match rendered {
            Ok(text) => Some(text),
            Err(error) => {
                self.filters.forget_failures();
                let reason = first_line(&error);
                let help = match unclosed_marker(text) {
                    Some((opened, closing)) => format!("close `{opened}` with `{closing}`"),
                    None => {
                        "put text that is not a template between `{% raw %}` and `{% endraw %}`".to_owned()
                    }
                };
                cx.problems.add(
                    Diagnostic::error(codes::BAD_TEMPLATE, "this template can't be rendered", span, reason)
                        .with_help(help),
                );
                None
            }
        }
    }

    /// Renders the text of a variable. It need not be meant as a template: returns `None` if it can't be
    /// rendered, and the variable keeps its text.
    pub(super) fn render_value(&self, text: &str, scope: &TemplateScope) -> Option<String> {
        if !has_markers(text) {
            return Some(text.to_owned());
        }
        render_with(&self.strict, text, scope).ok()
    }

    /// Returns true for a text that looks like a template but can't be parsed as one.
    pub(super) fn is_unread(&self, text: &str) -> bool {
        has_markers(text) && self.names_in(text).is_none()
    }

    /// Returns the names that a text uses as a template; `None` if it is not a template.
    pub(super) fn names_in(&self, text: &str) -> Option<BTreeSet<String>> {
        let translated = syntax::translate(text).ok().filter(|_| has_markers(text))?;
        let template = self.lenient.template_from_str(&translated).ok()?;
        Some(template.undeclared_variables(false).into_iter().collect())
    }

    fn report_undefined(&self, cx: &mut DecodeContext, text: &str, span: Span, scope: &TemplateScope) {
        let Ok(translated) = syntax::translate(text) else { return };
        let Ok(template) = self.lenient.template_from_str(&translated) else { return };
        let mut missing: Vec<String> = template
            .undeclared_variables(true)
            .into_iter()
            .filter(|name| {
                let root = name.split('.').next().unwrap_or(name);
                root != "env" && !scope.names.contains(root)
            })
            .collect();
        missing.sort();

        for name in missing {
            let diagnostic = Diagnostic::warning(
                codes::UNKNOWN_VARIABLE,
                format!("the test has no variable `{name}`"),
                span,
                format!("`{{{{ {name} }}}}` has no value here"),
            );
            let near = assize_diagnostic::did_you_mean(&name, scope.names.iter().map(String::as_str));
            cx.problems.add(match near {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("add it to `vars` of the test"),
            });
        }
    }

    /// Reports environment variables that are not set or hold a secret. The values of all others are hidden in
    /// diagnostics.
    fn check_variables(&self, cx: &mut DecodeContext, text: &str, span: Span) {
        for (name, value) in self.variables.take_used() {
            match value {
                Some(value) => {
                    if is_secret_variable(&name, &value) {
                        cx.problems.add(
                            Diagnostic::error(
                                codes::BAD_VARIABLE,
                                format!(
                                    "`{name}` looks like a secret, but this text is sent to models, printed and stored in runs"
                                ),
                                span,
                                "secrets are not allowed here",
                            )
                            .with_help("remove the variable; the `config` of a provider may name it"),
                        );
                    }
                    cx.problems.hide(&value, &format!("{{{{ env.{name} }}}}"), span);
                }
                None if text.contains("default") => {}
                None => cx.problems.add_unset(
                    Diagnostic::error(
                        codes::VARIABLE_NOT_SET,
                        format!("the environment variable `{name}` is not set"),
                        span,
                        "needed here",
                    )
                    .with_help(format!("set `{name}` in the environment or in the `.env` file"))
                    .with_help(format!("or give a default: `{{{{ env.{name} | default('value') }}}}`")),
                ),
            }
        }
    }
}

fn has_markers(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|marker| text.contains(marker))
}

fn render_with(
    environment: &Environment<'_>,
    text: &str,
    scope: &TemplateScope,
) -> Result<String, minijinja::Error> {
    let text =
        syntax::translate(text).map_err(|reason| minijinja::Error::new(ErrorKind::SyntaxError, reason))?;
    let mut written = LimitedText::default();
    let template = environment.template_from_str(&text)?;
    let rendered = template.render_captured_to(scope.values.clone(), &mut written).map(|_| ());
    if written.is_full {
        bounded(usize::MAX)?;
    }
    rendered?;

    String::from_utf8(written.bytes)
        .map_err(|error| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// How values are escaped in the texts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEscape {
    /// Not at all.
    None,
    /// Strings are inserted inside of quotes and escaped for JSON; other values are inserted as JSON.
    Json,
    /// Values are escaped as a single part of a URL. Values of environment variables are inserted unchanged,
    /// since they may be several parts.
    Url,
}

/// Renders a text of a request. `secrets` are the environment variables that it may use.
///
/// # Errors
/// If it is not a template, or uses a value that does not exist. The reason contains no values.
pub(crate) fn render_request(
    text: &str,
    values: &Map<String, Value>,
    secrets: &BTreeMap<String, SecretText>,
    escape: RequestEscape,
) -> Result<String, String> {
    if !has_markers(text) {
        return Ok(text.to_owned());
    }

    let mut all: BTreeMap<String, JinjaValue> =
        values.iter().map(|(name, value)| (name.clone(), JinjaValue::from(Serde(value)))).collect();
    let trusted: BTreeMap<String, JinjaValue> = secrets
        .iter()
        .map(|(name, value)| (name.clone(), JinjaValue::from_safe_string(value.expose().to_owned())))
        .collect();
    all.insert("env".to_owned(), JinjaValue::from(trusted));
    let names = all.keys().cloned().collect();
    let scope = TemplateScope { values: JinjaValue::from(all), names };

    let mut environment = full_environment(UndefinedBehavior::SemiStrict);
    environment.set_formatter(move |out, state, value| match escape {
        _ if value.is_undefined() => write_value(out, state, value),
        RequestEscape::Json => {
            let text = json_text(value);
            let is_text = value.kind() == ValueKind::String;
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| is_text);
            out.write_str(inner.unwrap_or(&text)).map_err(minijinja::Error::from)
        }
        RequestEscape::Url if !value.is_safe() => {
            let text = script_text(value);
            if matches!(text.as_str(), "." | "..") {
                let reason = "a value that is `.` or `..` can't be part of an address";
                return Err(minijinja::Error::new(ErrorKind::InvalidOperation, reason));
            }
            let encoded = percent_encoding::utf8_percent_encode(&text, UNRESERVED).to_string();
            out.write_str(&encoded).map_err(minijinja::Error::from)
        }
        RequestEscape::None | RequestEscape::Url => write_value(out, state, value),
    });

    render_with(&environment, text, &scope).map_err(|error| {
        if error.kind() == ErrorKind::UndefinedError {
            let known: Vec<&str> = scope.names.iter().map(String::as_str).collect();
            return format!(
                "a template of the request names an unknown value; known are {}",
                known.join(", ")
            );
        }
        format!("a template of the request can't be rendered: {}", first_line(&error))
    })
}

/// Returns an environment with all filters.
fn full_environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = allowed_environment();
    environment.set_undefined_behavior(undefined);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(write_value);
    environment.set_fuel(Some(TEMPLATE_FUEL));
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    add_text_filters(&mut environment);
    add_script_filters(&mut environment);
    environment.add_filter("load", |text: String| {
        serde_json::from_str::<Value>(&text)
            .map(|value| JinjaValue::from(Serde(value)))
            .map_err(|error| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string()))
    });
    environment.add_filter("wordcount", |text: String| text.split_whitespace().count());

    environment
}

/// Returns an environment with those filters that can't make a large text from a small one. The others are
/// added with a limit.
fn allowed_environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.add_filter("abs", filters::abs);
    environment.add_filter("batch", filters::batch);
    environment.add_filter("capitalize", filters::capitalize);
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("dictsort", filters::dictsort);
    environment.add_filter("first", filters::first);
    environment.add_filter("float", filters::float);
    environment.add_filter("int", filters::int);
    environment.add_filter("last", filters::last);
    environment.add_filter("length", filters::length);
    environment.add_filter("list", filters::list);
    environment.add_filter("max", filters::max);
    environment.add_filter("min", filters::min);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("safe", filters::safe);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("sum", filters::sum);
    environment.add_filter("title", filters::title);
    environment.add_filter("unique", filters::unique);

    environment
}

fn bounded(bytes: usize) -> Result<(), minijinja::Error> {
    if bytes <= MAX_RENDERED_BYTES {
        return Ok(());
    }
    let limit = format!("the text becomes larger than {} MiB", MAX_RENDERED_BYTES / 1024 / 1024);
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, limit))
}

/// A buffer that accepts no more bytes than the limit.
#[derive(Default)]
struct LimitedText {
    bytes: Vec<u8>,
    is_full: bool,
}

impl io::Write for LimitedText {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > MAX_RENDERED_BYTES {
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the last opening marker that is not closed, together with the rest of its line, and its closing
/// marker.
fn unclosed_marker(text: &str) -> Option<(&str, &'static str)> {
    let last = |marker: &str| text.rfind(marker);
    let (at, closing) = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")]
        .into_iter()
        .filter_map(|(opening, closing)| Some((last(opening)?, closing)))
        .max_by_key(|(at, _)| *at)?;
    let opened = text[at..].lines().next().unwrap_or_default();

    (!text[at..].contains(closing)).then_some((opened, closing))
}

fn first_line(error: &minijinja::Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    detail.lines().next().unwrap_or_default().to_owned()
}

/// Writes a value as JavaScript would.
fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &JinjaValue,
) -> Result<(), minijinja::Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::String => minijinja::escape_formatter(out, state, value),
        _ => out.write_str(&script_text(value)).map_err(minijinja::Error::from),
    }
}

/// Returns a value as JSON. Empty if it is undefined or too large.
fn json_text(value: &JinjaValue) -> String {
    if value.is_undefined() {
        return String::new();
    }
    let mut written = LimitedText::default();
    let plain = serde_json::to_value(value).map(with_whole_numbers);
    match plain.and_then(|plain| serde_json::to_writer(&mut written, &plain)) {
        Ok(()) => String::from_utf8(written.bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

fn strip_tags(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .filter(|c| {
            let keep = !inside && *c != '<';
            inside = (inside || *c == '<') && *c != '>';
            keep
        })
        .collect()
}

/// The environment variables, as `env` in templates. Records which of them were used.
struct EnvironmentObject {
    lookup: EnvironmentLookup,
    own: BTreeMap<String, String>,
    used: Mutex<BTreeMap<String, Option<String>>>,
}

impl fmt::Debug for EnvironmentObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvironmentObject")
    }
}

impl EnvironmentObject {
    fn take_used(&self) -> BTreeMap<String, Option<String>> {
        std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Object for EnvironmentObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &JinjaValue) -> Option<JinjaValue> {
        let name = key.as_str()?;
        let value = self.own.get(name).cloned().or_else(|| (self.lookup)(name));
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(name.to_owned(), value.clone());

        value.map(JinjaValue::from)
    }
}
