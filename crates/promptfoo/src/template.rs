//! Templates of matrix files, with values of this file only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;
use assize_evalfile::FileEnvironment;
use assize_evalfile::reading::DecodeContext;
use assize_limits::{EXPANSION_FACTOR, TEMPLATE_STEPS};
use assize_model::TextPart;
use assize_template::{
    TemplateWork, first_line, full_environment, has_markers, render_text, translate, unclosed_marker,
};
use minijinja::value::{Object, ObjectRepr, Serde};
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value as JinjaValue};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::filters::CustomFilters;

/// Renderer of the templates of one file.
pub(super) struct TemplateRenderer {
    strict: Environment<'static>,
    lenient: Environment<'static>,
    variables: Arc<EnvironmentObject>,
    /// Steps and bytes of the templates so far.
    work: TemplateWork,
    /// Filters of the file itself.
    pub(super) filters: Arc<CustomFilters>,
}

/// Values that a template may name.
pub(super) struct TemplateScope {
    values: JinjaValue,
    names: BTreeSet<String>,
}

impl TemplateRenderer {
    /// Creates a renderer. `own` are the variables that the file itself sets under `env`.
    pub(super) fn new(
        environment: FileEnvironment,
        own: BTreeMap<String, String>,
        filters: Arc<CustomFilters>,
    ) -> Self {
        let with_filters = |undefined| {
            let mut environment = full_environment(undefined);
            filters.add_to(&mut environment);
            environment
        };
        let variables = Arc::new(EnvironmentObject { environment, own, used: Mutex::default() });
        Self {
            strict: with_filters(UndefinedBehavior::SemiStrict),
            lenient: with_filters(UndefinedBehavior::Chainable),
            variables,
            work: TemplateWork::default(),
            filters,
        }
    }

    /// Counts the work from now on. During a run, the limit is for about one case.
    pub(super) fn begin_case(&self) {
        self.work.reset();
    }

    /// Returns the scope of these variables.
    pub(super) fn scope(&self, vars: &Map<String, Value>) -> TemplateScope {
        self.scope_from(vars)
    }

    /// Returns the scope of the variables with these names.
    pub(super) fn scope_of(&self, vars: &Map<String, Value>, names: &BTreeSet<String>) -> TemplateScope {
        self.scope_from(names.iter().filter_map(|name| vars.get_key_value(name)))
    }

    fn scope_from<'v>(&self, vars: impl IntoIterator<Item = (&'v String, &'v Value)>) -> TemplateScope {
        let vars = vars.into_iter();
        let mut all: BTreeMap<String, JinjaValue> =
            vars.map(|(name, value)| (name.clone(), JinjaValue::from(Serde(value)))).collect();
        let names = all.keys().cloned().collect();
        all.entry("null".to_owned()).or_insert_with(|| JinjaValue::from(()));
        all.insert("env".to_owned(), JinjaValue::from_dyn_object(Arc::clone(&self.variables)));

        TemplateScope { values: JinjaValue::from(all), names }
    }

    /// Renders a text. Returns `None` after adding a diagnostic. An undefined name causes a warning and renders as
    /// nothing.
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

        if !self.may_work(cx, span) {
            return None;
        }
        let mut rendered = render_text(&self.strict, text, &scope.values, &self.work);
        if rendered.as_ref().is_err_and(|error| error.kind() == ErrorKind::UndefinedError) {
            rendered = render_text(&self.lenient, text, &scope.values, &self.work);
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
                    None if reason.contains("use - operator") => {
                        "a `-` in a template subtracts; write `_` instead in the name of a variable"
                            .to_owned()
                    }
                    None => {
                        "put text that is not a template between `{% raw %}` and `{% endraw %}`".to_owned()
                    }
                };
                Diagnostic::error(codes::BAD_TEMPLATE, "this template can't be rendered")
                    .at(span, reason)
                    .with_help(help)
                    .reject_in(&mut cx.problems)
            }
        }
    }

    /// Renders a variable's own text, which may be any text. Returns `None` if it can't be rendered and stays
    /// unchanged.
    pub(super) fn render_value(
        &self,
        cx: &mut DecodeContext,
        text: &str,
        span: Span,
        scope: &TemplateScope,
    ) -> Option<String> {
        if !has_markers(text) {
            return Some(text.to_owned());
        }
        if !self.may_work(cx, span) {
            return None;
        }
        let rendered = render_text(&self.strict, text, &scope.values, &self.work).ok();
        self.check_variables(cx, text, span);
        rendered
    }

    /// Returns false, after adding a diagnostic, if the templates of the file have taken too many steps.
    fn may_work(&self, cx: &mut DecodeContext, span: Span) -> bool {
        let limit = cx.allowed(EXPANSION_FACTOR as usize, TEMPLATE_STEPS, usize::MAX);
        let is_within = self.work.steps() <= limit as u64;
        if !is_within {
            let label = format!("more than {TEMPLATE_STEPS} steps and bytes");
            Diagnostic::error(codes::BAD_TEMPLATE, "the templates of this file take too long")
                .at(span, label)
                .with_note(format!("or {EXPANSION_FACTOR} for each byte of the files, if they are large"))
                .with_help("write shorter templates, or fewer tests")
                .add_to(&mut cx.problems);
        }
        is_within
    }

    /// Returns the names that a template uses; `None` for a text that is not a template.
    pub(super) fn names_in(&self, text: &str) -> Option<BTreeSet<String>> {
        self.work.add(text.len() as u64);
        let translated = translate(text).ok().filter(|_| has_markers(text))?;
        let template = self.lenient.template_from_str(&translated).ok()?;
        Some(template.undeclared_variables(false).into_iter().collect())
    }

    /// Returns the names of variables whose texts use the variables with these names, and those names.
    pub(super) fn made_of(&self, vars: &Map<String, Value>, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut made = names.clone();
        if made.is_empty() {
            return made;
        }
        let texts: Vec<(&String, BTreeSet<String>)> =
            vars.iter().filter_map(|(name, value)| Some((name, self.names_in(value.as_str()?)?))).collect();
        loop {
            let before = made.len();
            made.extend(
                texts
                    .iter()
                    .filter(|(_, used)| !used.is_disjoint(&made))
                    .map(|(name, _)| (*name).clone())
                    .collect::<Vec<_>>(),
            );
            if made.len() == before {
                return made;
            }
        }
    }

    fn report_undefined(&self, cx: &mut DecodeContext, text: &str, span: Span, scope: &TemplateScope) {
        let Ok(translated) = translate(text) else { return };
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
            let diagnostic =
                Diagnostic::warning(codes::UNKNOWN_VARIABLE, format!("the test has no variable `{name}`"))
                    .at(span, format!("`{{{{ {name} }}}}` has no value here"));
            let near = assize_diagnostic::did_you_mean(&name, scope.names.iter().map(String::as_str));
            cx.problems.add(match near {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("add it to `vars` of the test"),
            });
        }
    }

    /// Reports unset environment variables. The values of set ones are recorded, and hidden in diagnostics.
    fn check_variables(&self, cx: &mut DecodeContext, text: &str, span: Span) {
        let used = std::mem::take(&mut *self.variables.used.lock());
        for (name, value) in used {
            cx.reach.environment.note(&name, TextPart::Case, cx.position(span));
            match value {
                Some(value) => {
                    cx.problems.hide(&value, &format!("{{{{ env.{name} }}}}"), span);
                }
                None if text.contains("default") => {}
                None => cx.problems.add_unset(
                    Diagnostic::error(
                        codes::VARIABLE_NOT_SET,
                        format!("the environment variable `{name}` is not set"),
                    )
                    .at(span, "needed here")
                    .with_help(format!("set `{name}` in the environment or in the `.env` file"))
                    .with_help(format!("or give a default: `{{{{ env.{name} | default('value') }}}}`")),
                ),
            }
        }
    }
}

/// The environment variables, as `env` in templates. Records which ones a template reads.
struct EnvironmentObject {
    environment: FileEnvironment,
    own: BTreeMap<String, String>,
    used: Mutex<BTreeMap<String, Option<String>>>,
}

impl fmt::Debug for EnvironmentObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvironmentObject")
    }
}

impl Object for EnvironmentObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &JinjaValue) -> Option<JinjaValue> {
        let name = key.as_str()?;
        if let Some(own) = self.own.get(name) {
            return Some(JinjaValue::from(own.clone()));
        }
        let value = self.environment.value(name);
        self.used.lock().insert(name.to_owned(), value.clone());

        value.map(JinjaValue::from)
    }
}
