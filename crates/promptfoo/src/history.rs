//! Data that a test takes from earlier tests: the conversation so far, and stored outputs.
//!
//! Each test runs independently here, so a test that needs the answer to another test is refused. The first test of a
//! conversation is allowed, because its history is empty.

use std::collections::{BTreeMap, HashMap};

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{NodeValue, codes};
use assize_evalfile::reading::DecodeContext;
use serde_json::{Map, Value, json};

use super::choices::{asks, runs, takes};
use super::matrix_file::{MatrixFile, merge_default, place_of};
use super::matrix_test::MatrixTest;
use super::prompts::MatrixPrompt;
use super::template::TemplateRenderer;

/// Variable with the conversation so far.
const CONVERSATION: &str = "_conversation";

/// Returns the variables for a prompt that shows the conversation so far: an empty conversation is added unless the
/// test has one. `None` if nothing is to be added.
pub(super) fn with_history(prompt: &MatrixPrompt, vars: &Map<String, Value>) -> Option<Map<String, Value>> {
    if vars.contains_key(CONVERSATION) || !shows_history(prompt) {
        return None;
    }
    let mut vars = vars.clone();
    vars.insert(CONVERSATION.to_owned(), json!([]));
    Some(vars)
}

fn shows_history(prompt: &MatrixPrompt) -> bool {
    prompt.raw_text().contains(CONVERSATION)
}

/// Refuses tests that need the answers to others.
pub(super) fn refuse_needed_answers(cx: &mut DecodeContext, file: &MatrixFile<'_>) {
    for prompt in file.prompts.found.iter().filter(|prompt| shows_history(prompt)) {
        refuse_continued(cx, file, prompt);
    }

    let stores = |test: &MatrixTest| test.options.store.is_some();
    if stores(&file.default) || file.tests.parts().any(stores) {
        refuse_stored(cx, file);
    }
}

/// Refuses the first test that continues a conversation of this prompt.
fn refuse_continued(cx: &mut DecodeContext, file: &MatrixFile<'_>, prompt: &MatrixPrompt) {
    // Each provider holds its own conversations. Without providers, the target of the command line holds them.
    let providers = file.providers.iter().map(Some).chain(file.providers.is_empty().then_some(None));
    for provider in providers.filter(|provider| provider.is_none_or(|provider| asks(provider, prompt))) {
        let mut begun: HashMap<Option<String>, Span> = HashMap::new();
        for test in file.tests.all() {
            let test = merge_default(file, &test);
            let continues = !test.options.disable_conversation
                && test.input.is_none()
                && !test.vars.iter().any(|entry| entry.key == CONVERSATION)
                && takes(&test, prompt)
                && provider.is_none_or(|provider| runs(&test, provider));
            if !continues {
                continue;
            }

            let name = test.metadata.iter().find(|entry| entry.key == "conversationId");
            let name = name.map(|entry| entry.value.to_json().to_string());
            let place = place_of(&test, file.root.use_span());
            let before = begun.insert(name, place).or(has_several_values(&test).then_some(place));
            if let Some(before) = before {
                cx.problems.add(continued(prompt, place, before));
                return;
            }
        }
    }
}

fn continued(prompt: &MatrixPrompt, place: Span, before: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        codes::NOT_SUPPORTED,
        "this test continues a conversation, but each test is run on its own",
    )
    .at(
        place,
        if place == before { "several tests by its lists of values" } else { "needs the answer before it" },
    )
    .with_secondary(prompt.span, format!("shows the conversation so far, `{CONVERSATION}`"));
    let diagnostic =
        if place == before { diagnostic } else { diagnostic.with_secondary(before, "the test before it") };
    diagnostic
        .with_help("write the conversation as one case with `turns`, in an eval file of its own")
        .with_help(
            "tests that are no conversation: give each its own `metadata: {conversationId: NAME}`, or set \
             `options: {disableConversationVar: true}`",
        )
}

/// Returns true if one of the variables has several values: each value makes a test.
fn has_several_values(test: &MatrixTest) -> bool {
    let is_several = |value: &NodeValue| match value {
        NodeValue::Seq(items) => items.len() > 1 && items[0].as_str().is_some(),
        NodeValue::Str(text) => text.trim().starts_with("file://") && text.contains('*'),
        _ => false,
    };
    !test.options.disable_expansion && test.vars.iter().any(|entry| is_several(&entry.value.data))
}

/// Refuses tests that use the stored output of a test before them. Warns about outputs that no test uses.
fn refuse_stored(cx: &mut DecodeContext, file: &MatrixFile<'_>) {
    // The outputs stored so far, and whether a later test uses them.
    let mut stored: BTreeMap<String, (Span, bool)> = BTreeMap::new();
    for test in file.tests.all() {
        let test = merge_default(file, &test);
        for (name, (at, is_used)) in stored.iter_mut().filter(|(_, (_, is_used))| !is_used) {
            if uses(file, &test, name) {
                *is_used = true;
                let place = place_of(&test, file.root.use_span());
                Diagnostic::error(
                    codes::NOT_SUPPORTED,
                    format!("this test uses the stored output `{name}`, but each test is run on its own"),
                )
                .at(place, "needs the answer to another test")
                .with_secondary(*at, "stored here")
                .with_help("write the tests as the `turns` of one case, in an eval file of its own")
                .add_to(&mut cx.problems);
            }
        }
        if let Some(SpannedValue { value, span }) = &test.options.store {
            stored.entry(value.clone()).or_insert((*span, false));
        }
    }

    for (name, (at, _)) in stored.into_iter().filter(|(_, (_, is_used))| !is_used) {
        Diagnostic::warning(codes::NO_EFFECT, format!("no later test uses the stored output `{name}`"))
            .at(at, "stored for nothing")
            .with_help("remove it")
            .add_to(&mut cx.problems);
    }
}

/// Returns true if a test uses a variable in its prompts, variables or assertions.
fn uses(file: &MatrixFile<'_>, test: &MatrixTest, name: &str) -> bool {
    let templates = &*file.templates;
    let prompts = file.prompts.found.iter().filter(|prompt| takes(test, prompt));
    prompts.map(MatrixPrompt::raw_text).any(|text| names(templates, &text, name))
        || test
            .vars
            .iter()
            .any(|entry| any_text(&entry.value.to_json(), &|text| names(templates, text, name)))
        || test.assertions.iter().any(|node| any_text(&node.to_json(), &|text| names(templates, text, name)))
}

/// Returns true if a template or a piece of code names a variable.
fn names(templates: &TemplateRenderer, text: &str, name: &str) -> bool {
    let in_code = [format!("vars.{name}"), format!("vars['{name}']"), format!("vars[\"{name}\"]")];
    in_code.iter().any(|code| text.contains(code.as_str()))
        || text.contains(name) && templates.names_in(text).is_some_and(|names| names.contains(name))
}

fn any_text(value: &Value, fits: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => fits(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, fits)),
        Value::Object(members) => members.values().any(|item| any_text(item, fits)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
