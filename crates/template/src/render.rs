//! Rendering of a text as a template, within limits of steps and size.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use minijinja::filters;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, Value as JinjaValue};
use serde_json::Value;

use super::limited_text::{LimitedText, bounded};
use super::script_values::{add_script_filters, add_text_filters, script_text};
use super::syntax::translate;

/// Steps that one template may take.
const TEMPLATE_FUEL: u64 = 1_000_000;
/// Time of a step of a template that fails.
const STEP_NANOSECONDS: u64 = 20;

/// Returns true for a text that may be a template.
pub fn has_markers(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|marker| text.contains(marker))
}

/// The steps that templates have taken, with their bytes.
#[derive(Debug, Default)]
pub struct TemplateWork(AtomicU64);

impl TemplateWork {
    /// All steps so far.
    pub fn steps(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds steps.
    pub fn add(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
    }
}

/// Renders a text with these values, and adds its steps to `work`. Ends with an error when the text becomes too large.
pub fn render_text(
    environment: &Environment<'_>,
    text: &str,
    values: &JinjaValue,
    work: &TemplateWork,
) -> Result<String, minijinja::Error> {
    work.add(text.len() as u64);
    let text = translate(text).map_err(|reason| minijinja::Error::new(ErrorKind::SyntaxError, reason))?;
    let mut written = LimitedText::default();
    let template = environment.template_from_str(&text)?;
    let started = Instant::now();
    let captured = template.render_captured_to(values.clone(), &mut written);
    work.add(match captured.as_ref().map(|captured| captured.state().fuel_levels()) {
        Ok(levels) => levels.map_or(0, |(taken, _)| taken),
        // The number of steps is unknown after an error, so it is estimated from the time, up to the maximum.
        Err(_) => TEMPLATE_FUEL
            .min(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX) / STEP_NANOSECONDS),
    });
    let rendered = captured.map(|_| ());
    if written.is_full {
        bounded(usize::MAX)?;
    }
    rendered?;

    String::from_utf8(written.bytes)
        .map_err(|error| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// Returns an environment with all filters.
pub fn full_environment(undefined: UndefinedBehavior) -> Environment<'static> {
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

/// Returns an environment with the filters that can't make a large text from a small one. Other filters are added
/// later, with a limit.
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

/// Returns the last marker of a template that opens and is not closed, with what follows it on its line, and its closing marker.
pub fn unclosed_marker(text: &str) -> Option<(&str, &'static str)> {
    let last = |marker: &str| text.rfind(marker);
    let (at, closing) = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")]
        .into_iter()
        .filter_map(|(opening, closing)| Some((last(opening)?, closing)))
        .max_by_key(|(at, _)| *at)?;
    let opened = text[at..].lines().next().unwrap_or_default();

    (!text[at..].contains(closing)).then_some((opened, closing))
}

/// Returns the reason of an error in one line.
pub fn first_line(error: &minijinja::Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    detail.lines().next().unwrap_or_default().to_owned()
}

/// Writes a value as JavaScript would.
pub(super) fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &JinjaValue,
) -> Result<(), minijinja::Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::String => minijinja::escape_formatter(out, state, value),
        _ => out.write_str(&script_text(value)).map_err(minijinja::Error::from),
    }
}
