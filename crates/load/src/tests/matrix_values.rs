//! Values of variables and assertions in files with prompts, providers and tests.

use std::fs;

use crate::load_suite;
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_model::{AnswerCheck, GraderKind};

/// Loads a file with the prompt `{{ x }}`, beside a file `words.txt`.
fn load_file(tests: &str) -> LoadedSuite {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("promptfooconfig.yaml");
    let text = format!("prompts: ['{{{{ x }}}}']\nproviders: [echo]\ntests:\n- {tests}\n");
    fs::write(&path, text).expect("written");
    fs::write(folder.path().join("words.txt"), "some words\n").expect("written");

    load_suite(&path, &LoadOptions::new(folder.path()))
}

/// Returns the questions of the cases of a file, or its errors: code, title and label.
fn load(tests: &str) -> Result<Vec<String>, Vec<String>> {
    let loaded = load_file(tests);
    let errors: Vec<String> = loaded
        .diagnostics
        .iter()
        .filter(|found| found.severity == assize_diagnostic::Severity::Error)
        .map(|found| format!("{}: {} ({})", found.code, found.title, found.primary.text))
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    for warning in &loaded.diagnostics {
        let is_known = tests.contains("threshold: 0,")
            && warning.title == "a set with `threshold: 0` always passes"
            || warning.title.ends_with("can't be rendered");
        assert!(is_known, "{warning:?}");
    }
    Ok(loaded.cases.iter().map(|case| case.expect("valid").question()).collect())
}

fn with_assertion(assertion: &str) -> Result<Vec<String>, Vec<String>> {
    load(&format!("{{vars: {{x: hi}}, assert: [{assertion}]}}"))
}

#[test]
fn variables_are_rendered_after_those_that_they_name() {
    for (vars, question) in [
        ("{x: 'Hi {{y}}', y: 'dear {{z}}', z: Ann}", "Hi dear Ann"),
        ("{z: Ann, y: 'dear {{z | upper}}', x: 'Hi {{y}}{% if z %}!{% endif %}'}", "Hi dear ANN!"),
        (
            "{x: '{{a}}', a: '{{b}}', b: '{{c}}', c: '{{d}}', d: '{{e}}', e: '{{f}}', f: '{{g}}', g: end}",
            "end",
        ),
        ("{x: 'say {% raw %}{{y}}{% endraw %}', y: '{{x}}'}", "say {{y}}"),
        ("{x: 'Hi {{y}}', y: '{{ not closed'}", "Hi {{ not closed"),
        ("{x: 'Hi {{ missing }}', y: '{{x}}'}", "Hi {{ missing }}"),
    ] {
        let test = format!("{{vars: {vars}, assert: [{{type: contains, value: a}}]}}");
        assert_eq!(load(&test), Ok(vec![question.to_owned()]), "{vars}");
    }
}

#[test]
fn variables_that_name_each_other_are_an_error() {
    for (vars, label) in [
        ("{x: '{{x}}'}", "names itself"),
        ("{x: '{{y}}', y: '{{x}}'}", "`x` → `y` → `x`"),
        ("{a: '{{x}}', x: '{{y}}', y: '{{z}} {{a}}', z: '{{y}}'}", "`x` → `y` → `a` → `x`"),
    ] {
        let test = format!("{{vars: {vars}, assert: [{{type: contains, value: a}}]}}");
        let errors = load(&test).expect_err(vars);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with("E0423: variables refer to each other in a cycle"), "{errors:?}");
        assert!(label.split(" → ").all(|name| errors[0].contains(name)), "{errors:?}");
    }
}

#[test]
fn a_missing_value_is_an_error_where_one_is_needed() {
    for kind in [
        "factuality", "model-graded-factuality", "model-graded-closedqa", "g-eval", "llm-rubric",
        "trajectory:goal-success", "not-llm-rubric", "levenshtein", "word-count", "finish-reason",
        "tool-call-f1", "trajectory:tool-used", "trajectory:step-count",
    ] {
        for assertion in [format!("{{type: '{kind}'}}"), format!("{{type: '{kind}', value: null}}")] {
            let expected = format!("E0304: `{kind}` needs `value` (no `value` here)");
            assert_eq!(with_assertion(&assertion), Err(vec![expected]), "{assertion}");
        }
    }
    // A custom prompt may replace the criterion, but only for `llm-rubric`.
    assert!(with_assertion("{type: llm-rubric, rubricPrompt: 'Is {{output}} kind?'}").is_ok());
    // A circle of variables hides no other error.
    let broken = load("{vars: {x: '{{x}}'}, assert: [{type: contians}]}").expect_err("broken");
    assert!(matches!(broken.as_slice(), [_, other] if other.starts_with("E0301")), "{broken:?}");
    assert!(with_assertion("{type: factuality, rubricPrompt: 'Is {{output}} true?'}").is_err());
}

#[test]
fn limits_of_words_are_checked() {
    for value in ["3", "'3'", "{min: 5}", "{max: '5'}", "{min: 2, max: 2}"] {
        assert!(with_assertion(&format!("{{type: word-count, value: {value}}}")).is_ok(), "{value}");
    }
    for (value, error) in [
        ("{minimum: 5}", "E0103: the `value` of `word-count` has no key `minimum`"),
        ("{min: 1, maximum: 5}", "E0103: the `value` of `word-count` has no key `maximum`"),
        ("three", "the `value` of `word-count` must be a number, or a map with `min` and `max`"),
        ("[1, 2]", "the `value` of `word-count` must be a number, or a map with `min` and `max`"),
        ("{min: few}", "`min` must be a number of words"),
        ("{min: 5, max: 2}", "no answer has this many words"),
        ("{}", "`word-count` has no limit"),
    ] {
        let errors = with_assertion(&format!("{{type: word-count, value: {value}}}")).expect_err(value);
        assert!(matches!(errors.as_slice(), [one] if one.contains(error)), "{value}: {errors:?}");
    }
}

#[test]
fn thresholds_that_no_score_reaches_are_errors() {
    let set = "type: assert-set, assert: [{type: contains, value: a}]";
    let similar = "type: similar, value: a";
    for kind in [set, similar, "type: g-eval, value: a", "type: rouge-n, value: a"] {
        for threshold in ["1.5", "-0.1", "75"] {
            let errors = with_assertion(&format!("{{{kind}, threshold: {threshold}}}")).expect_err(kind);
            let expected = format!("must be between 0 and 1 (found {threshold})");
            assert!(matches!(errors.as_slice(), [one] if one.ends_with(&expected)), "{kind}: {errors:?}");
        }
    }
    for fine in [
        format!("{{{set}, threshold: 1}}"),
        format!("{{threshold: 0, {set}}}"),
        "{type: 'similar:euclidean', value: a, threshold: 3}".to_owned(),
        "{type: levenshtein, value: a, threshold: 20}".to_owned(),
    ] {
        assert!(with_assertion(&fine).is_ok(), "{fine}");
    }
}

/// Keys that a type does not use, each with the assertion that has it.
const IDLE_KEYS: &[(&str, &str)] = &[
    ("threshold", "{type: contains, value: a, threshold: 0.5}"),
    ("threshold", "{type: not-icontains-any, value: [a], threshold: 0.5}"),
    ("threshold", "{type: equals, value: a, threshold: 0.5}"),
    ("threshold", "{type: is-json, threshold: 0.5}"),
    ("threshold", "{type: is-sql, threshold: 0.5}"),
    ("threshold", "{type: word-count, value: 3, threshold: 0.5}"),
    ("threshold", "{type: moderation, threshold: 0.5}"),
    ("threshold", "{type: skill-used, value: s, threshold: 0.5}"),
    ("value", "{type: is-html, value: a}"),
    ("value", "{type: guardrails, value: a}"),
    ("value", "{type: latency, value: 2000, threshold: 1000}"),
    ("value", "{type: cost, value: 1, threshold: 1}"),
    ("value", "{type: assert-set, value: a, assert: [{type: contains, value: a}]}"),
    ("value", "{type: context-relevance, value: a}"),
    ("provider", "{type: contains, value: a, provider: 'openai:gpt-5'}"),
    ("provider", "{type: javascript, value: 'true', provider: 'openai:gpt-5'}"),
    ("rubricPrompt", "{type: regex, value: a, rubricPrompt: Is it good?}"),
    ("rubricPrompt", "{type: similar, value: a, rubricPrompt: Is it good?}"),
    ("contextTransform", "{type: contains, value: a, contextTransform: output}"),
    ("config", "{type: contains, value: a, config: {a: 1}}"),
];

#[test]
fn keys_that_a_type_does_not_use_are_named() {
    for (key, assertion) in IDLE_KEYS {
        // Two cases of one assertion have one warning.
        let loaded = load_file(&format!("{{vars: {{x: [hi, ho], context: c}}, assert: [{assertion}]}}"));
        let found: Vec<String> =
            loaded.diagnostics.iter().map(|found| format!("{} {}", found.code, found.title)).collect();
        assert_eq!(found, [format!("W0403 `{key}` has no effect")], "{assertion}");
        assert_eq!(loaded.cases.len(), 2);
    }
    for used in [
        "{type: levenshtein, value: a, threshold: 3}",
        "{type: javascript, value: '1', threshold: 0.5}",
        "{type: context-recall, value: a, contextTransform: output, provider: 'openai:gpt-5', threshold: 0.5}",
        "{type: moderation, value: [hate], provider: 'openai:moderation:m'}",
        "{type: similar, value: a, provider: 'openai:embedding:m', threshold: 0.5}",
        "{type: max-score, value: {method: sum}}",
        "{type: g-eval, value: a, provider: 'openai:gpt-5', threshold: 0.5}",
    ] {
        assert!(with_assertion(used).is_ok(), "{used}");
    }
}

#[test]
fn typical_mistakes_have_a_hint() {
    for (assertion, hint) in [
        ("{type: contains, value: a, not: true}", "write `type: not-contains` instead"),
        ("{type: contains, value: a, not: false}", "remove it"),
        ("{type: not-contains, value: a, not: true}", "remove it: the type is negated by its prefix"),
        ("{type: latency, threshold: 2s}", "write the number of milliseconds: 2000"),
        ("{type: latency, threshold: 1.5 S}", "write the number of milliseconds: 1500"),
        ("{type: latency, threshold: 800 ms}", "write the number of milliseconds: 800"),
        ("{type: cost, threshold: $0.05}", "write the number of dollars: 0.05"),
        ("{type: cost, threshold: 0.05 USD}", "write the number of dollars: 0.05"),
        ("{type: similar, value: a, threshold: 80%}", "write the share: 0.8"),
        ("{type: similar, value: a, threshold: '0.8'}", "remove the quotes: 0.8"),
    ] {
        let loaded = load_file(&format!("{{vars: {{x: hi}}, assert: [{assertion}]}}"));
        let found: Vec<String> = loaded
            .diagnostics
            .iter()
            .map(|found| match &found.suggestion {
                Some(edit) => format!("{}: {}", edit.title, edit.replacement),
                None => found.help[0].clone(),
            })
            .collect();
        assert_eq!(found, [hint], "{assertion}");
    }
}

#[test]
fn lists_of_texts_are_read_as_they_are_written() {
    for (assertion, texts) in [
        ("{type: not-contains-any, value: ['file://words.txt', b]}", vec!["some words", "b"]),
        ("{type: contains-all, value: '\"a, b\", c'}", vec!["a, b", "c"]),
        ("{type: contains-all, value: ['\"a']}", vec!["\"a"]),
    ] {
        let loaded = load_file(&format!("{{vars: {{x: hi}}, assert: [{assertion}]}}"));
        let case = loaded.cases.iter().next().expect("a case").expect("valid");
        let GraderKind::Check(AnswerCheck::Text(check)) = &case.graders[0].kind else {
            panic!("{assertion}")
        };
        assert_eq!(check.values, texts, "{assertion}");
    }
    for broken in ["'\"a, b'", "'\"a\" b'", "'c, \"a\"b'"] {
        let errors =
            with_assertion(&format!("{{type: not-contains-any, value: {broken}}}")).expect_err(broken);
        assert!(
            matches!(errors.as_slice(), [one] if one.contains("has misplaced quotation marks")),
            "{errors:?}"
        );
    }
    assert!(with_assertion("{type: contains-any, value: ['file://missing.txt']}").is_err());
}

/// Returns code and title of each diagnostic of a file beside `answer.py`.
fn found_in(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text).expect("written");
    let loaded = load_suite(&path, &LoadOptions::new(folder.path()));
    loaded.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.title)).collect()
}

#[test]
fn a_variable_that_is_no_template_is_kept_with_a_warning() {
    for (value, is_kept) in [
        ("{{ y.slice(0, 2) }}", true),
        ("{{ 3 * 2 }}", true),
        ("{{ missing }}", true),
        ("{% raw %}{{ y.slice(0, 2) }}{% endraw %}", false),
        ("{{ y }}", false),
        ("function() { return {}; }", false),
    ] {
        let test = format!("{{vars: {{x: '{value}', y: abc}}, assert: [{{type: contains, value: a}}]}}");
        let loaded = load_file(&test);
        let titles: Vec<&str> = loaded.diagnostics.iter().map(|found| found.title.as_str()).collect();
        let expected: &[&str] = if is_kept { &["the template in `x` can't be rendered"] } else { &[] };
        assert_eq!(titles, expected, "{value}");
        let question = loaded.cases.iter().next().and_then(Result::ok).expect("a case").question();
        assert!(!is_kept || question == value, "{question}");
    }
}

#[test]
fn names_of_variables_may_have_letters_of_any_language() {
    let test = "{vars: {x: '{{ größe }} {{ 名前 | upper }}', größe: 5, 名前: ab}, assert: [{type: contains, value: a}]}";
    assert_eq!(load(test), Ok(vec!["5 AB".to_owned()]));
}

#[test]
fn a_prompt_that_is_empty_names_the_variable() {
    for value in ["null", "''", "' '"] {
        let errors = load(&format!("{{vars: {{x: {value}}}}}")).expect_err(value);
        assert!(errors[0].contains("the prompt of this test is empty, as its variable `x` is"), "{errors:?}");
    }
}

#[test]
fn an_assertion_is_negated_once() {
    let twice = with_assertion("{type: not-contains, value: a, negate: true}").expect_err("negated twice");
    assert!(twice[0].starts_with("E0425: the assertion is negated twice"), "{twice:?}");
    assert!(with_assertion("{type: not-contains, value: a, negate: false}").is_ok());
    assert!(with_assertion("{type: contains, value: a, negate: true}").is_ok());
}

#[test]
fn providers_name_prompts_that_exist() {
    let file = |provider: &str| {
        format!(
            "prompts: [{{label: short, raw: hi}}]\nproviders: [{provider}]\n\
             tests: [{{assert: [{{type: contains, value: a}}]}}]\n"
        )
    };
    assert_eq!(found_in(&file("{id: echo, prompts: [short]}")), [""; 0]);
    assert_eq!(found_in(&file("{id: echo, prompts: [shrt]}"))[0], "E0425: there is no prompt `shrt`");
}

#[test]
fn a_misspelt_key_is_corrected_in_the_spelling_of_its_file() {
    let text = "prompts: [hi]\nproviders: [ehco]\ndefaultTets: {assert: []}\n\
        tests: [{assert: [{type: contains, value: a}]}]\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text).expect("written");
    let loaded = load_suite(&path, &LoadOptions::new(folder.path()));
    let helps: Vec<&String> = loaded.diagnostics.iter().flat_map(|found| &found.help).collect();
    assert!(helps.iter().any(|help| help.contains("`defaultTest`")), "{helps:?}");
}
