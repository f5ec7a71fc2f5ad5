//! Cases that wait for the code that writes their variables and prompts.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;
use assize_evalfile::reading::{DecodeContext, LoadScope};
use assize_model::{CaseHistory, NamedProgram};
use assize_script::Script;
use serde_json::{Map, Value, json};

use super::code_part::{CodeCall, CodePart, CodeResult, run_calls};
use super::matrix_file::{MatrixFile, place_of};
use super::matrix_test::MatrixTest;
use super::prompts::{MatrixPrompt, PromptBody};
use super::providers::MatrixProvider;
use super::spelling::MatrixSpelling;
use super::variables::{
    circle_of_variables, render_variables, strip_line_ends, transform_variables, unread_template,
};

/// A test with one combination of variables, and a prompt.
pub(super) struct PendingCase<'a> {
    pub(super) id: String,
    /// Id of the test with this combination of variables, the same for all prompts.
    pub(super) test_id: Arc<str>,
    pub(super) test: Rc<MatrixTest>,
    /// Script that changes the variables.
    pub(super) transform: Option<Rc<(Script, Span)>>,
    pub(super) prompt: Option<&'a MatrixPrompt>,
    pub(super) media: bool,
    pub(super) span: Span,
    /// What the case takes over from others.
    pub(super) history: Option<CaseHistory>,
    /// Tests of which one takes over the answer to another share it.
    pub(super) cluster: Option<String>,
    pub(super) variants: Vec<CaseVariant>,
}

/// A case for one or several of its providers, or for all.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseVariant {
    /// Indexes of the providers; empty for all providers of the case.
    pub(super) providers: Vec<usize>,
    pub(super) vars: Map<String, Value>,
    /// Variables with their templates, if extensions are to see them like this.
    pub(super) unrendered: Option<Map<String, Value>>,
    /// Variables whose code has not been run yet, in order.
    pub(super) code: Vec<(String, Arc<CodePart>)>,
    /// Names of the variables that hold answers to other tests, or texts made of them.
    pub(super) answers: BTreeSet<String>,
    /// The turns of the conversation before it; `None` if they are not known yet.
    pub(super) turns: Option<Value>,
    /// Prompt that code returned.
    pub(super) prompt: Option<PromptBody>,
    /// Code of variables that was not run, for messages.
    pub(super) unrun: BTreeSet<NamedProgram>,
    /// Code of the prompt that was not run, for messages.
    pub(super) unrun_prompt: Option<NamedProgram>,
    /// True if an error was reported.
    pub(super) is_broken: bool,
}

impl CaseVariant {
    fn is_same(&self, other: &Self) -> bool {
        self.vars == other.vars && self.prompt == other.prompt
    }
}

/// Runs the code of variables and prompts. Then merges variants of a case that turned out equal.
pub(super) fn run_code(cx: &mut DecodeContext, file: &MatrixFile<'_>, pending: &mut [PendingCase<'_>]) {
    fill_variables(cx, file, pending);
    write_prompts(cx, file, pending);

    for case in pending {
        if case.variants.iter().any(|variant| variant.is_broken) {
            continue;
        }
        let mut merged: Vec<CaseVariant> = Vec::new();
        for variant in case.variants.drain(..) {
            match merged.iter_mut().find(|known| known.is_same(&variant)) {
                Some(known) => known.providers.extend(variant.providers),
                None => merged.push(variant),
            }
        }
        if let [only] = merged.as_mut_slice() {
            only.providers.clear();
        }
        case.variants = merged;
    }
}

/// Completes the variables: removes line ends, renders templates, and applies the script that changes
/// variables. `written` are the variables that code returned. Returns false after adding a diagnostic.
pub(super) fn finish_variables(
    cx: &mut DecodeContext,
    file: &MatrixFile<'_>,
    (test, transform): (&MatrixTest, Option<&(Script, Span)>),
    written: &BTreeSet<String>,
    vars: &mut Map<String, Value>,
) -> bool {
    if file.spelling == MatrixSpelling::Camel {
        strip_line_ends(vars);
    }
    let place = place_of(test, file.root.use_span());
    match render_variables(cx, &file.templates, place, written, vars) {
        Ok(unread) => {
            cx.problems.extend(unread.iter().map(|name| unread_template(name, &test.vars, place)));
        }
        Err(circle) => {
            cx.problems.add(circle_of_variables(&circle, &test.vars, place));
            return false;
        }
    }
    transform.is_none_or(|script| transform_variables(cx, script, vars))
}

/// Runs the code of variables in rounds: first the first variable of every test, then the second, and so on,
/// because the code of a variable receives the values before it.
fn fill_variables(cx: &mut DecodeContext, file: &MatrixFile<'_>, pending: &mut [PendingCase<'_>]) {
    let rounds = variants(pending).map(|(_, variant)| variant.code.len()).max().unwrap_or_default();
    for round in 0..rounds {
        let due = |variant: &&CaseVariant| !variant.is_broken && round < variant.code.len();
        let calls: Vec<CodeCall<'_>> = variants(pending)
            .filter(|(_, variant)| due(variant))
            .map(|(case, variant)| {
                let (name, part) = &variant.code[round];
                let prompt = case.prompt.map(MatrixPrompt::raw_text).unwrap_or_default();
                let mut arguments = vec![json!(name), json!(prompt), json!(variant.vars)];
                if part.takes_provider() {
                    arguments.push(provider_of(&cx.reach, file, variant));
                }
                CodeCall { part, arguments }
            })
            .collect();
        let mut results = run_calls(cx, &calls).into_iter();

        for case in &mut *pending {
            let span = case.span;
            for variant in case.variants.iter_mut().filter(|variant| due(&&**variant)) {
                let (name, part) = variant.code[round].clone();
                let value = match results.next() {
                    Some(CodeResult::Value(value)) => variable_value(&part, value),
                    Some(CodeResult::Failed(reason)) => Err(Box::new(part.failure(reason))),
                    Some(CodeResult::NotRun) | None => {
                        variant.unrun.insert(part.named(cx));
                        continue;
                    }
                };
                match value {
                    Ok(value) => {
                        variant.vars.insert(name, value);
                    }
                    Err(problem) => {
                        cx.problems.add(problem.with_secondary(span, "for this test"));
                        variant.is_broken = true;
                    }
                }
            }
        }
    }

    for case in pending {
        for variant in case.variants.iter_mut().filter(|variant| !variant.code.is_empty()) {
            let written = variant.code.iter().map(|(name, _)| name.clone()).collect();
            let transform = case.transform.as_deref();
            if !variant.is_broken {
                variant.is_broken =
                    !finish_variables(cx, file, (&case.test, transform), &written, &mut variant.vars);
            }
        }
    }
}

/// Returns the value of a variable from the result of its code.
fn variable_value(part: &CodePart, returned: Value) -> Result<Value, Box<Diagnostic>> {
    let Value::Object(mut parts) = returned else {
        return Err(Box::new(part.misfit("it did not return a map with `output`")));
    };
    if let Some(error) = parts.get("error").filter(|error| !is_nothing(error)) {
        let reason = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Err(Box::new(part.failure(reason.lines().next().unwrap_or_default())));
    }

    match parts.remove("output") {
        None | Some(Value::Null) => Err(Box::new(part.misfit("it returned no `output`"))),
        // As in promptfoo, only the result of Python is trimmed.
        Some(Value::String(text)) if !part.takes_provider() => Ok(Value::from(text.trim())),
        Some(other) => Ok(other),
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null()
        || *value == Value::Bool(false)
        || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Calls the functions that write prompts.
fn write_prompts(cx: &mut DecodeContext, file: &MatrixFile<'_>, pending: &mut [PendingCase<'_>]) {
    let code_of = |case: &PendingCase<'_>| match &case.prompt?.body {
        PromptBody::Code(part) => Some(Arc::clone(part)),
        PromptBody::Text(_) | PromptBody::Json(_) => None,
    };
    let parts: Vec<Option<Arc<CodePart>>> = pending.iter().map(code_of).collect();
    let reach = &Arc::clone(&cx.reach);
    let calls: Vec<CodeCall<'_>> = pending
        .iter()
        .zip(&parts)
        .filter_map(|(case, part)| Some((case, part.as_deref()?)))
        .flat_map(|(case, part)| {
            let config = case.prompt.map(|prompt| &prompt.config);
            let ready = case.variants.iter().filter(|variant| !variant.is_broken);
            ready.map(move |variant| {
                let provider = provider_of(reach, file, variant);
                let config = config.filter(|config| !config.is_null()).cloned().unwrap_or_else(|| json!({}));
                let context = json!({"vars": variant.vars, "provider": provider, "config": config});
                CodeCall { part, arguments: vec![context] }
            })
        })
        .collect();
    let mut results = run_calls(cx, &calls).into_iter();

    for (case, part) in pending.iter_mut().zip(&parts) {
        let Some(part) = part else { continue };
        for variant in case.variants.iter_mut().filter(|variant| !variant.is_broken) {
            let body = match results.next() {
                Some(CodeResult::Value(value)) => prompt_body(cx, part, value),
                Some(CodeResult::Failed(reason)) => Err(Box::new(part.failure(reason))),
                Some(CodeResult::NotRun) | None => {
                    variant.unrun_prompt = Some(part.named(cx));
                    continue;
                }
            };
            match body {
                Ok(body) => variant.prompt = Some(body),
                Err(problem) => {
                    cx.problems.add(problem.with_secondary(case.span, "for this test"));
                    variant.is_broken = true;
                }
            }
        }
    }
}

/// Returns the prompt that a function returned. As in promptfoo, it is a template.
fn prompt_body(
    cx: &mut DecodeContext,
    part: &CodePart,
    returned: Value,
) -> Result<PromptBody, Box<Diagnostic>> {
    let written = match returned {
        Value::Object(mut parts) => match parts.remove("prompt") {
            None => Value::Object(parts),
            Some(prompt) => {
                let config = parts.get("config").and_then(Value::as_object);
                if config.is_some_and(|config| !config.is_empty()) {
                    Diagnostic::warning(
                        codes::NO_EFFECT,
                        "the `config` that this function returns has no effect",
                    )
                    .at(part.span, "prompts don't change the settings of providers here")
                    .with_help("write it as `config` of the providers")
                    .add_to(&mut cx.problems);
                }
                prompt
            }
        },
        other => other,
    };

    match written {
        Value::String(text) => Ok(PromptBody::Text(text)),
        Value::Array(_) | Value::Object(_) => Ok(PromptBody::Json(written)),
        Value::Null => Err(Box::new(part.misfit("it returned nothing"))),
        other => Err(Box::new(part.misfit(format!("it returned `{other}`, which is not a prompt")))),
    }
}

fn variants<'p>(
    pending: &'p [PendingCase<'_>],
) -> impl Iterator<Item = (&'p PendingCase<'p>, &'p CaseVariant)> {
    pending.iter().flat_map(|case| case.variants.iter().map(move |variant| (case, variant)))
}

/// Returns the provider that code receives. An empty map if there are several.
fn provider_of(reach: &LoadScope, file: &MatrixFile<'_>, variant: &CaseVariant) -> Value {
    let described = |id: &str, label: &str| json!({"id": id, "label": label});
    let provider = match (reach.targets.as_slice(), variant.providers.as_slice(), file.providers.as_slice()) {
        ([target], ..) => return described(target, target),
        ([], [only], all) => all.get(*only),
        ([], [], [only]) => Some(only),
        _ => None,
    };

    provider.map_or_else(|| json!({}), |MatrixProvider { id, name, .. }| described(id, name))
}
