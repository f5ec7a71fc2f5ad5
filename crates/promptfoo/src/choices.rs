//! Resolves the prompts and providers that tests and providers refer to.

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;

use super::matrix_file::MatrixFile;
use super::matrix_test::MatrixTest;
use super::prompts::MatrixPrompt;
use super::providers::MatrixProvider;
use super::values::unknown_provider;

/// Returns the prompts of a test. `None` in the list is a test without a prompt: its input is its own `input`,
/// or else its variables.
pub(super) fn prompts_of<'a>(
    cx: &mut DecodeContext,
    file: &'a MatrixFile<'a>,
    test: &MatrixTest,
    span: Span,
) -> Vec<Option<&'a MatrixPrompt>> {
    let before = cx.problems.error_count();
    for wanted in &test.providers {
        let known = &file.providers;
        if !known.iter().any(|provider| is_called(provider, &wanted.value)) && !known.is_empty() {
            let names = known.iter().map(|provider| provider.name.as_str());
            cx.problems.add(unknown_provider(wanted, names));
        }
    }

    let all = &file.prompts.found;
    if test.input.is_some() || all.is_empty() {
        return vec![None];
    }

    for wanted in &test.prompts {
        check_name(cx, wanted, all);
    }

    let used = |prompt: &MatrixPrompt| {
        let providers = &file.providers;
        providers.is_empty()
            || providers.iter().any(|provider| asks(provider, prompt) && runs(test, provider))
    };
    let chosen: Vec<_> = all.iter().filter(|prompt| takes(test, prompt) && used(prompt)).map(Some).collect();
    if chosen.is_empty() && test.prompts.is_empty() && cx.problems.error_count() == before {
        Diagnostic::warning(codes::NO_EFFECT, "no provider runs this test")
            .at(span, "left out")
            .with_help("check `providers` of the test and `prompts` of the providers")
            .add_to(&mut cx.problems);
    }

    chosen
}

/// Reports references of providers to prompts that do not exist. Such a provider would not answer anything.
pub(super) fn check_prompts_of_providers(cx: &mut DecodeContext, file: &MatrixFile<'_>) {
    let all = &file.prompts.found;
    if all.is_empty() {
        return;
    }
    for wanted in file.providers.iter().flat_map(|provider| &provider.prompts) {
        check_name(cx, wanted, all);
    }
}

fn check_name(cx: &mut DecodeContext, wanted: &SpannedValue<String>, all: &[MatrixPrompt]) {
    if all.iter().any(|prompt| is_meant(prompt, &wanted.value)) {
        return;
    }

    let names = all.iter().flat_map(|prompt| [prompt.label.as_deref(), prompt.id.as_deref()]).flatten();
    let help = match did_you_mean(&wanted.value, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a prompt by its `label` or `id`".to_owned(),
    };
    Diagnostic::error(codes::BAD_MATRIX_PART, format!("there is no prompt `{}`", wanted.value))
        .at(wanted.span, "not one of `prompts`")
        .with_help(help)
        .add_to(&mut cx.problems);
}

/// Returns true if a name refers to the prompt. It may be a pattern that ends with `*`.
fn is_meant(prompt: &MatrixPrompt, wanted: &str) -> bool {
    prompt.is_called(wanted) || glob_fits(prompt, wanted)
}

/// Returns true if the test is run with this prompt.
pub(super) fn takes(test: &MatrixTest, prompt: &MatrixPrompt) -> bool {
    test.prompts.is_empty() || test.prompts.iter().any(|name| is_meant(prompt, &name.value))
}

/// Returns true if the provider gets this prompt.
pub(super) fn asks(provider: &MatrixProvider, prompt: &MatrixPrompt) -> bool {
    provider.prompts.is_empty() || provider.prompts.iter().any(|name| is_meant(prompt, &name.value))
}

/// Returns true if the test is run with the provider.
pub(super) fn runs(test: &MatrixTest, provider: &MatrixProvider) -> bool {
    test.providers.is_empty() || test.providers.iter().any(|wanted| is_called(provider, &wanted.value))
}

fn is_called(provider: &MatrixProvider, wanted: &str) -> bool {
    let fits = |name: &str| match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(':')),
    };
    fits(&provider.name) || fits(&provider.id)
}

fn glob_fits(prompt: &MatrixPrompt, wanted: &str) -> bool {
    let Some(start) = wanted.strip_suffix('*') else { return false };
    [&prompt.label, &prompt.id].into_iter().flatten().any(|name| name.starts_with(start))
}
