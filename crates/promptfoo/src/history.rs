//! What a test takes over from tests before it: the conversation so far, and stored outputs.
//!
//! Answers to other tests are there only during the run. So a test that takes some over is planned with stand-ins for
//! them, and its case is written again when its turn comes, see
//! [`MatrixAuthoredTest`](super::authored::MatrixAuthoredTest).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{TreeNode, codes};
use assize_evalfile::reading::DecodeContext;
use assize_model::{CaseHistory, TURNS_VARIABLE};
use assize_template::has_markers;
use regex::Regex;
use serde_json::{Map, Value};

use super::choices::takes;
use super::code_part::names_code;
use super::matrix_file::{MatrixFile, merge_default, place_of};
use super::matrix_test::MatrixTest;
use super::prompts::{MatrixPrompt, PromptBody};
use super::template::TemplateRenderer;
use super::test_value::merged_value;

/// What the tests of a file take over from each other.
#[derive(Debug, Default)]
pub(super) struct FileHistory {
    /// For each prompt, whether it shows the conversation so far.
    shows_turns: Vec<bool>,
    /// For each prompt, whether it may show the prompts of the turns.
    shows_prompts: Vec<bool>,
    /// Outputs that tests use, by the index of the test.
    used: BTreeMap<usize, BTreeSet<Arc<str>>>,
    /// For each name of a test that stores its output or continues a conversation, another name that is tied to it.
    ties: BTreeMap<String, String>,
    /// Outputs that some test uses, each with the index of the first test that stores it.
    stored: BTreeMap<Arc<str>, usize>,
}

impl FileHistory {
    /// Finds out what tests take over. Refuses what can't be taken over, and warns about outputs that no test uses.
    pub(super) fn read(cx: &mut DecodeContext, file: &MatrixFile<'_>) -> Self {
        let prompts = &file.prompts.found;
        let mut found = Self {
            shows_turns: prompts.iter().map(|prompt| shows_turns(&file.templates, prompt)).collect(),
            shows_prompts: {
                let parts =
                    ["providers", "targets", "extensions"].into_iter().filter_map(|key| file.root.get(key));
                let is_seen = parts.map(TreeNode::to_json).any(|part| may_look(&part));
                prompts
                    .iter()
                    .map(|prompt| is_seen || shows_prompts(&prompt.raw_text()).unwrap_or(true))
                    .collect()
            },
            ..Self::default()
        };
        for (prompt, _) in prompts.iter().zip(&found.shows_turns).filter(|(_, shows)| **shows) {
            check_prompt(cx, prompt);
        }

        let stores = |test: &MatrixTest| test.options.store.is_some();
        if stores(&file.default) || file.tests.parts().any(stores) {
            found.find_used(cx, file);
        }
        if !found.is_empty() {
            found.tie_tests(cx, file);
        }

        found
    }

    /// Whether no test takes over anything.
    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty() && !self.shows_turns.contains(&true)
    }

    /// Finds the outputs that each test uses of those before it.
    fn find_used(&mut self, cx: &mut DecodeContext, file: &MatrixFile<'_>) {
        let mut stored: BTreeMap<String, (Span, usize)> = BTreeMap::new();
        for (index, test) in file.tests.all().enumerate() {
            let test = merge_default(file, &test);
            // The second combination of a test may use the output of the first.
            let (early, late) = if may_be_several(&test) {
                (test.options.store.as_ref(), None)
            } else {
                (None, test.options.store.as_ref())
            };
            let add = |store: Option<&SpannedValue<String>>, stored: &mut BTreeMap<String, (Span, usize)>| {
                if let Some(SpannedValue { value, span }) = store {
                    stored.entry(value.clone()).or_insert((*span, index));
                }
            };
            add(early, &mut stored);
            for (name, (at, first)) in &stored {
                if uses(cx, file, &test, name, *at) {
                    self.used.entry(index).or_default().insert(name.as_str().into());
                    self.stored.insert(name.as_str().into(), *first);
                }
            }
            add(late, &mut stored);
        }

        for (name, (at, _)) in stored.into_iter().filter(|(name, _)| !self.stored.contains_key(name.as_str()))
        {
            Diagnostic::warning(codes::NO_EFFECT, format!("no later test uses the stored output `{name}`"))
                .at(at, "stored for nothing")
                .with_help(format!(
                    "remove it; for code that uses it, name it in `vars`: `{name}: '{{{{ {name} }}}}'`"
                ))
                .add_to(&mut cx.problems);
        }
    }

    /// Ties the names of each test to each other, so that tests of which one takes over the answer of another have the
    /// same cluster. Refuses an order that differs from that of the file.
    fn tie_tests(&mut self, cx: &mut DecodeContext, file: &MatrixFile<'_>) {
        let mut serial: [Option<Span>; 2] = [None; 2];
        for (index, test) in file.tests.all().enumerate() {
            let test = merge_default(file, &test);
            let names = self.names_of(file, index, &test);
            let [first, rest @ ..] = names.as_slice() else { continue };
            let place = place_of(&test, file.root.use_span());
            serial[usize::from(test.options.runs_serially)].get_or_insert(place);
            let first = self.root_of(first);
            for name in rest {
                let root = self.root_of(name);
                if root != first {
                    self.ties.insert(root, first.clone());
                }
            }
        }
        if let [Some(other), Some(serial)] = serial {
            Diagnostic::error(
                codes::NOT_SUPPORTED,
                "`runSerially` changes the order of tests that take over answers",
            )
            .at(serial, "promptfoo runs this test before those without `runSerially`")
            .with_secondary(other, "has none")
            .with_help("remove `runSerially`: tests that take over answers run in order anyway")
            .with_help("or write the tests in the order in which they are to run")
            .add_to(&mut cx.problems);
        }
    }

    /// The names of what a test takes over and hands on.
    fn names_of(&self, file: &MatrixFile<'_>, index: usize, test: &MatrixTest) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut prompts = file.prompts.found.iter().zip(&self.shows_turns);
        if test.input.is_none() && prompts.any(|(prompt, shows)| *shows && takes(test, prompt)) {
            names.push(conversation_of(file, index, test));
        }
        let used = self.used.get(&index).into_iter().flatten();
        let own = test.options.store.iter().filter_map(|name| self.stored.get_key_value(name.value.as_str()));
        names.extend(used.chain(own.map(|(name, _)| name)).map(|name| format!("output {name}")));
        names
    }

    fn root_of(&self, name: &str) -> String {
        let mut name = name;
        while let Some(next) = self.ties.get(name) {
            name = next;
        }
        name.to_owned()
    }

    /// The cluster of the cases of a test; `None` if it takes over nothing and hands on nothing.
    pub(super) fn cluster_of(
        &self,
        file: &MatrixFile<'_>,
        index: usize,
        test: &MatrixTest,
    ) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        self.names_of(file, index, test).first().map(|name| self.root_of(name))
    }

    /// The history of a case: of a test, and of the position of its combination of variables, with a prompt.
    pub(super) fn of_case(
        &self,
        file: &MatrixFile<'_>,
        (index, at): (usize, usize),
        test: &MatrixTest,
        prompt: Option<&MatrixPrompt>,
    ) -> Option<CaseHistory> {
        if self.is_empty() {
            return None;
        }
        let number =
            prompt.and_then(|prompt| file.prompts.found.iter().position(|one| std::ptr::eq(one, prompt)));
        let shows_turns = number.is_some_and(|number| self.shows_turns[number]);
        let conversation = number.filter(|_| shows_turns).map(|number| {
            let name = conversation_of(file, index, test);
            format!("prompt {}, {name}", number + 1).into()
        });
        let has_own = test.vars.iter().any(|entry| entry.key == TURNS_VARIABLE);
        let own = test.options.store.as_ref().and_then(|name| self.stored.get_key_value(name.value.as_str()));
        let mut uses = self.used.get(&index).cloned().unwrap_or_default();
        if let Some((name, _)) = own.filter(|(_, first)| at == 0 && **first == index) {
            // Nothing was stored before.
            uses.remove(name);
        }
        let stores = own.map(|(name, _)| Arc::clone(name));
        if conversation.is_none() && stores.is_none() && uses.is_empty() {
            return None;
        }

        Some(CaseHistory {
            shows_turns: conversation.is_some() && !test.options.disable_conversation && !has_own,
            shows_prompts: number.is_some_and(|number| self.shows_prompts[number])
                || conversation.is_some() && may_look(&merged_value(test)),
            conversation,
            uses,
            stores,
            prompt: Value::Null,
        })
    }
}

/// The name of the conversation of a test: `conversationId` of its metadata, or else its scenario, or else the file.
fn conversation_of(file: &MatrixFile<'_>, index: usize, test: &MatrixTest) -> String {
    let named = test.metadata.iter().find(|entry| entry.key == "conversationId");
    match named.map(|entry| entry.value.to_json()).filter(|value| !value.is_null()) {
        Some(Value::String(name)) => format!("conversation {name}"),
        Some(name) => format!("conversation {name}"),
        None => match file.tests.round_of(index) {
            Some(round) => format!("scenario {}", round + 1),
            None => "conversation".to_owned(),
        },
    }
}

fn shows_turns(templates: &TemplateRenderer, prompt: &MatrixPrompt) -> bool {
    let text = prompt.raw_text();
    let is_code = matches!(prompt.body, PromptBody::Code(_));
    // A template that can't be read is reported when it is rendered.
    let names_it = || templates.names_in(&text).is_none_or(|names| names.contains(TURNS_VARIABLE));
    text.contains(TURNS_VARIABLE) && (is_code || has_markers(&text) && names_it())
}

/// Returns true if a template may show more of the turns than their inputs and outputs. It does not if it only tests or
/// counts the turns, and in its loops over them only names these two parts.
fn shows_prompts(text: &str) -> Result<bool, regex::Error> {
    let harmless = Regex::new(
        r"\bfor\s+(\w+)\s+in\s+_conversation\s*[%-]|\b(?:if|elif|not)\s+_conversation\s*[%-]|_conversation\s*[.|]\s*length",
    )?;
    let turns: Vec<&str> =
        harmless.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    if harmless.replace_all(text, "").contains(TURNS_VARIABLE) {
        return Ok(true);
    }
    if turns.is_empty() {
        return Ok(false);
    }

    let turns = turns.join("|");
    // The name of a part is not that of a variable.
    let said = Regex::new(&format!(r"\b(?:{turns})\.(?:input|output)\b|\.\w+|\bfor\s+(?:{turns})\s+in\s"))?;
    let shown = Regex::new(&format!(r"\b(?:{turns})\b"))?;
    let other_turns = Regex::new(r"\bloop\.\w*item\b")?;
    Ok(other_turns.is_match(text) || shown.is_match(&said.replace_all(text, " ")))
}

/// Returns true if code or templates in a value may look at the variables of a test.
fn may_look(value: &Value) -> bool {
    let words = ["vars", "context", "file://", "exec:", "python:", TURNS_VARIABLE];
    any_text(value, &|text| words.iter().any(|word| text.contains(word)))
}

/// Refuses a prompt that can't show the conversation.
fn check_prompt(cx: &mut DecodeContext, prompt: &MatrixPrompt) {
    let text = prompt.raw_text();
    if let PromptBody::Code(_) = prompt.body {
        refuse(cx, prompt.span, "code can't write a prompt that shows the conversation", CODE_HELP);
    } else if [".metadata", "['metadata']", "[\"metadata\"]"].iter().any(|key| text.contains(key)) {
        let help = "remove it: a turn has `prompt`, `input` and `output`";
        refuse(cx, prompt.span, "the turns of a conversation have no `metadata` here", help);
    }
}

const CODE_HELP: &str = "code runs when the file is read, before there are answers; write a template";

fn refuse(cx: &mut DecodeContext, span: Span, title: &str, help: &str) {
    Diagnostic::error(codes::NOT_SUPPORTED, title)
        .at(span, "takes over answers")
        .with_help(help)
        .add_to(&mut cx.problems);
}

/// Adds an empty history to the variables if a prompt shows the conversation and the test brings none, and those turns
/// if there are some. `None` if nothing is to be added.
pub(super) fn with_turns(
    prompt: Option<&MatrixPrompt>,
    vars: &Map<String, Value>,
    turns: Option<&Value>,
) -> Option<Map<String, Value>> {
    let shows = prompt.is_some_and(|prompt| prompt.raw_text().contains(TURNS_VARIABLE));
    let turns = turns.cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    (shows && !vars.contains_key(TURNS_VARIABLE)).then(|| {
        let mut vars = vars.clone();
        vars.insert(TURNS_VARIABLE.to_owned(), turns);
        vars
    })
}

/// What stands for a stored output until it is there.
pub(super) fn stand_in(name: &str) -> Value {
    Value::from(format!("<{name}>"))
}

/// Returns the variables with texts of answers as they stand between the quotation marks of JSON, if the template of a
/// prompt writes JSON around them: so no answer can end a message and begin another. A template that uses `dump` does
/// this itself, and the texts of a template that is JSON are rendered one by one.
pub(super) fn escaped_for(
    cx: &mut DecodeContext,
    templates: &TemplateRenderer,
    prompt: &MatrixPrompt,
    vars: &Map<String, Value>,
    answers: &BTreeSet<String>,
) -> Option<Map<String, Value>> {
    let PromptBody::Text(text) = &prompt.body else { return None };
    let escapes = ["dump", "tojson"].iter().any(|filter| text.contains(filter));
    if answers.is_empty() || escapes || is_json(text) {
        return None;
    }

    let change = |change: &dyn Fn(&mut Value)| {
        let mut changed = vars.clone();
        changed.iter_mut().filter(|(name, _)| answers.contains(*name)).for_each(|(_, value)| change(value));
        changed
    };
    let plain = change(&|value: &mut Value| match value {
        Value::Array(items) => items.clear(),
        other => *other = Value::from("answer"),
    });
    let quiet = cx.problems.fork();
    let known = std::mem::replace(&mut cx.problems, quiet);
    let rendered = templates.render(cx, text, prompt.span, &templates.scope(&plain));
    cx.problems = known;

    rendered.filter(|text| is_json(text)).map(|_| change(&escape_texts))
}

/// Returns true for a list or a map in JSON.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['[', '{']) && serde_json::from_str::<Value>(text).is_ok()
}

fn escape_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            let quoted = Value::from(text.as_str()).to_string();
            quoted[1..quoted.len() - 1].clone_into(text);
        }
        Value::Array(items) => items.iter_mut().for_each(escape_texts),
        Value::Object(members) => members.values_mut().for_each(escape_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns true if a test makes several cases: its lists of values do.
fn may_be_several(test: &MatrixTest) -> bool {
    let is_several = |node: &TreeNode| match node.as_str() {
        Some(text) => text.trim().starts_with("file://") && text.contains('*'),
        None => node.as_seq().is_some_and(|items| items.len() > 1 && items[0].as_str().is_some()),
    };
    !test.options.disable_expansion && test.vars.iter().any(|entry| is_several(&entry.value))
}

/// Returns true if a test uses a stored output in its prompts, variables or assertions. Refuses a test that can't.
fn uses(cx: &mut DecodeContext, file: &MatrixFile<'_>, test: &MatrixTest, name: &str, stored: Span) -> bool {
    let templates = &*file.templates;
    let mut prompts = file.prompts.found.iter().filter(|prompt| test.input.is_none() && takes(test, prompt));
    let of_prompts = prompts.clone().any(|prompt| names(templates, &prompt.raw_text(), name));
    let in_text = |value: &TreeNode| any_text(&value.to_json(), &|text| names(templates, text, name));
    let of_vars = test.vars.iter().any(|entry| in_text(&entry.value));
    let is_used = of_prompts || of_vars || test.assertions.iter().any(in_text);
    if !is_used {
        return false;
    }

    let place = place_of(test, file.root.use_span());
    let is_code = |value: &TreeNode| {
        value.as_str().and_then(|text| text.trim().strip_prefix("file://")).is_some_and(names_code)
    };
    let is_written = |prompt: &MatrixPrompt| matches!(prompt.body, PromptBody::Code(_));
    let title = if prompts.any(|prompt| is_written(prompt) && names(templates, &prompt.raw_text(), name)) {
        format!("code can't write a prompt with the stored output `{name}`")
    } else if test.vars.iter().any(|entry| is_code(&entry.value)) {
        format!("code can't write variables of a test that uses the stored output `{name}`")
    } else if test.options.transform_vars.is_some() {
        format!("`transformVars` can't change variables of a test that uses the stored output `{name}`")
    } else {
        return true;
    };
    Diagnostic::error(codes::NOT_SUPPORTED, title)
        .at(place, "uses it")
        .with_secondary(stored, "stored here")
        .with_help(CODE_HELP)
        .add_to(&mut cx.problems);
    true
}

/// Returns true if a template or a piece of code names a variable.
pub(super) fn names(templates: &TemplateRenderer, text: &str, name: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_turns_are_handed_on_where_a_template_may_show_them() {
        for text in [
            "{% for c in _conversation %}{{ c.input }}: {{ c.output }}{% endfor %}{{ q }}",
            "[{%- for turn in _conversation -%}{{turn.input|dump}},{{ turn.output | dump }},{% endfor %}{{q|dump}}]",
            "{% if _conversation %}{{ _conversation.length }} of {{ _conversation | length }}{% endif %}{{ prompt }}",
            "{% for c in _conversation %}{% if loop.last %}{{ c.output }}{% endif %}{% endfor %} prompt",
            "{% for c in _conversation %}{% if c.output == x.c %}{{ c.input }}{% endif %}{% endfor %}",
        ] {
            assert_eq!(shows_prompts(text), Ok(false), "{text}");
        }
        for text in [
            "{% for c in _conversation %}{{ c.prompt }}{% endfor %}",
            "{% for c in _conversation %}{{ c | dump }}{% endfor %}",
            "{% for c in _conversation %}{{ c['prompt'] }}{% endfor %}",
            "{% for c in _conversation %}{{ loop.previtem.prompt }}{{ c.input }}{% endfor %}",
            "{% for c in _conversation %}{% set d = c %}{{ d.prompt }}{% endfor %}",
            "{% for c in _conversation %}{% for k, v in c %}{{ v }}{% endfor %}{% endfor %}",
            "{% for c in _conversation | reverse %}{{ c.input }}{% endfor %}",
            "{{ _conversation | dump }}",
            "{{ _conversation[0].prompt }}",
            "{% set all = _conversation %}{{ all }}",
        ] {
            assert_eq!(shows_prompts(text), Ok(true), "{text}");
        }
    }
}
