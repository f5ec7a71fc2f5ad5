//! Scripts: the features that they may use, and the limits that stop them.

use crate::{Script, ScriptError, ScriptValue, is_es_module};
use serde_json::{Value, json};

fn call(code: &str, output: &str) -> Result<ScriptValue, ScriptError> {
    let (output, context) = (json!(output), json!({"vars": {"name": "Ada"}, "config": {"least": 3}}));
    Script::from_code(code).call(&[("output", &output), ("context", &context)])
}

#[test]
fn results_of_every_kind_are_read() {
    for (code, value) in [
        ("output.includes(context.vars.name)", ScriptValue::Json(Value::Bool(true))),
        ("output.length", ScriptValue::Number(9.0)),
        ("1 / 0", ScriptValue::Number(f64::INFINITY)),
        ("undefined", ScriptValue::Undefined),
        ("null", ScriptValue::Json(Value::Null)),
        (
            "({pass: output.length > context.config.least, score: 0.5})",
            ScriptValue::Json(json!({"pass": true, "score": 0.5})),
        ),
        ("const n = output.length; n > 3", ScriptValue::Json(Value::Bool(true))),
        ("const words = output.split(' ');\nreturn words.length;", ScriptValue::Number(2.0)),
        ("Promise.resolve(output).then((text) => text.toUpperCase())", ScriptValue::Json(json!("HELLO ADA"))),
        ("console.log(output) === undefined", ScriptValue::Json(Value::Bool(true))),
    ] {
        assert_eq!(call(code, "Hello Ada"), Ok(value), "{code}");
    }
}

#[test]
fn nothing_outside_of_a_script_exists() {
    for name in
        ["require", "process", "fetch", "XMLHttpRequest", "setTimeout", "Deno", "std", "os", "load", "print"]
    {
        assert_eq!(call(&format!("typeof {name}"), ""), Ok(ScriptValue::Json(json!("undefined"))), "{name}");
    }
    assert!(matches!(call("import('fs')", ""), Err(ScriptError::Thrown(_))));
    assert_eq!(call("new Promise(() => {})", ""), Err(ScriptError::Pending));
    assert!(
        matches!(call("process.env.HOME", ""), Err(ScriptError::Thrown(message)) if message.ends_with("not defined"))
    );
    for circular in ["10n", "const a = {}; a.a = a; a"] {
        assert!(matches!(call(circular, ""), Err(ScriptError::Result(_))), "{circular} is no JSON");
    }
}

#[test]
fn calls_share_nothing_and_random_numbers_are_the_same_in_each() {
    call("globalThis.left = 1", "").expect("runs");
    assert_eq!(call("typeof left", ""), Ok(ScriptValue::Json(json!("undefined"))));
    assert_eq!(call("Math.random()", ""), call("Math.random()", ""));
    assert_eq!(call("Math.random() !== Math.random()", ""), Ok(ScriptValue::Json(Value::Bool(true))));
}

#[test]
fn a_result_of_too_many_values_is_refused() {
    assert!(call("Array(100_000).fill({ a: 1 })", "").is_ok());
    assert_eq!(call("Array(300_000).fill({ a: 1 })", ""), Err(ScriptError::TooManyValues(96)));
}

#[test]
fn limits_stop_a_script() {
    // On a busy machine, the time is over before the steps are. An interrupt can't be caught.
    for code in ["while (true) {}\nreturn 1", "try { while (true) {} } catch { return true }\nreturn 1"] {
        let stopped = call(code, "");
        assert!(matches!(stopped, Err(ScriptError::TooManySteps | ScriptError::TooSlow(_))), "{stopped:?}");
    }
    assert_eq!(call("'x'.repeat(1e9)", ""), Err(ScriptError::TooMuchMemory(64)));
    assert_eq!(
        call("let all = [];\nfor (;;) all.push(new Array(1e6).fill(1));", ""),
        Err(ScriptError::TooMuchMemory(64))
    );
    assert!(matches!(call("const f = () => f() + 1;\nreturn f();", ""), Err(ScriptError::Thrown(_))));
    let large = Script::from_code(&"1+".repeat(600_000));
    assert_eq!(large.call(&[]), Err(ScriptError::TooLarge(1024)));
    assert_eq!(large.check(&[]), Err(ScriptError::TooLarge(1024)));
}

#[test]
fn a_file_that_is_too_large_is_not_compiled_to_tell_its_form() {
    // Only the engine knows that the line is a part of a text.
    let file = |size: usize| format!("module.exports = () => `\nexport x\n{}`", "y".repeat(size));
    assert!(!is_es_module(&file(1_000)));
    assert!(is_es_module(&file(1 << 20)));
    assert_eq!(Script::from_file(&file(1 << 20), None).check(&[]), Err(ScriptError::TooLarge(1024)));
}

#[test]
fn loops_over_slow_methods_are_stopped() {
    let text = "ab".repeat(200_000);
    for slow in [
        "output.replaceAll('b', 'c')",
        "output.split('').reverse().join('')",
        "output.indexOf('z')",
        "output.toUpperCase()",
        "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    ] {
        let begun = std::time::Instant::now();
        let code = format!("for (;;) {{ try {{ {slow} }} catch (error) {{}} }}\nreturn 1");
        let expected = [ScriptError::TooManySteps, ScriptError::TooSlow(10)].map(Err);
        let stopped = call(&code, &text);
        assert!(expected.contains(&stopped), "{slow}: {stopped:?}");
        assert!(begun.elapsed().as_secs() < 30, "{slow}: {:?}", begun.elapsed());
    }
    assert_eq!(
        call("[''.split.name, ''.split.length, Object.keys(''.__proto__).length].join() === 'split,2,0'", ""),
        Ok(ScriptValue::Json(Value::Bool(true)))
    );
}

#[test]
fn a_pattern_that_explodes_is_stopped() {
    let output = "a".repeat(40);
    let stopped = call("/^(a+)+$/.test(output + 'b')", &output);
    let expected = [ScriptError::TooManySteps, ScriptError::TooSlow(10)].map(Err);
    assert!(expected.contains(&stopped), "{stopped:?}");
}

#[test]
fn syntax_is_checked_without_running() {
    let check = |code: &str| Script::from_code(code).check(&["output", "context"]);
    assert_eq!(check("output.length > 1"), Ok(()));
    assert_eq!(check("while (true) {}\nreturn 1"), Ok(()));
    assert!(matches!(check("output.includes("), Err(ScriptError::Syntax(_))));
    assert!(matches!(check("const = 1;\nreturn 2"), Err(ScriptError::Syntax(_))));
}

#[test]
fn files_export_their_function_in_three_ways() {
    let run = |text: &str, export: Option<&str>| {
        let (output, context) = (json!("abc"), json!({}));
        Script::from_file(text, export).call(&[("output", &output), ("context", &context)])
    };
    let three = Ok(ScriptValue::Number(3.0));
    assert_eq!(run("module.exports = (output) => output.length;", None), three);
    assert_eq!(run("module.exports = { size: (output) => output.length };", Some("size")), three);
    assert_eq!(run("export default function (output) { return output.length; }", None), three);
    assert_eq!(run("export const size = (output) => output.length;", Some("size")), three);
    assert_eq!(run("exports.default = (output) => output.length;", None), three);
    for (text, export, reason) in [
        ("module.exports = 1;", None, "the file exports no function"),
        (
            "exports.size = () => 1; exports.b = 2;",
            Some("length"),
            "the file exports no function `length`, only `size`, `b`",
        ),
        (
            "module.exports = () => 1;",
            Some("size"),
            "the file exports no function `size`, only one without a name",
        ),
    ] {
        assert_eq!(run(text, export), Err(ScriptError::Result(reason.to_owned())), "{text}");
    }
    let required = run("const fs = require('fs');\nmodule.exports = () => 1;", None);
    assert!(matches!(required, Err(ScriptError::Load(message)) if message.contains("other files")));
    for text in ["throw new Error('no');\nmodule.exports = () => 1;", "export default () => 1;\nnull.x;"] {
        assert!(matches!(run(text, None), Err(ScriptError::Load(_))), "{text}");
    }
    assert!(run("import fs from 'fs';\nexport default () => 1;", None).is_err());
}

#[test]
fn an_answer_that_needs_too_much_memory_is_told_apart_from_an_error_of_the_script() {
    let words = "word ".repeat(640_000);
    for code in [
        "[...output.matchAll(/\\w+/g)].length > 1",
        "new Map(output.split(' ').map((word, at) => [word + at, at])).size > 1",
        "const seen = new Set();\nfor (let i = 0; i < output.length; i++) seen.add(output.slice(i, i + 2) + i);\nreturn true",
        "output.split('').length > 1",
        "[...output].length > 1",
    ] {
        assert_eq!(call(code, &words), Err(ScriptError::TooMuchMemory(64)), "{code}");
    }
}

#[test]
fn words_in_an_error_are_no_limit() {
    for text in ["the download was interrupted", "out of memory", "too many steps"] {
        let thrown = call(&format!("(() => {{ throw new Error('{text}') }})()"), "");
        assert_eq!(thrown, Err(ScriptError::Thrown(text.to_owned())));
    }
}

#[test]
fn only_parsing_tells_modules_from_common_js() {
    let answer = "module.exports = (output) => output.length > 0;";
    for comment in ["/*\nimport the helper\n*/\n", "const HELP = `\nexport your key\n`;\n", "// import x\n"] {
        let file = Script::from_file(&format!("{comment}{answer}"), None);
        let called = file.call(&[("output", &json!("yes")), ("context", &json!({}))]);
        assert_eq!(called, Ok(ScriptValue::Json(json!(true))), "{comment}");
    }
    for (module, name) in [
        ("export default (output) => output.length > 0;", None),
        ("const check = (output) => output.length > 0;\n  export { check };", Some("check")),
        ("export\tconst check = (output) => output.length > 0;", Some("check")),
    ] {
        assert!(crate::is_es_module(module), "{module}");
        let called = Script::from_file(module, name).call(&[("output", &json!("yes"))]);
        assert_eq!(called, Ok(ScriptValue::Json(json!(true))), "{module}");
    }
}
