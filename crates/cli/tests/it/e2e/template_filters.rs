//! `nunjucksFilters`: template filters that are JavaScript functions.

use serde_json::json;

use crate::e2e::bench::{cli, rows};
use crate::e2e::extensions::has;

const CONFIG: &str = "
prompts: [\"{{ body | allcaps }} {{ n | plus(2) + 1 }} {{ derived }} {{ body | upper }}\"]
providers: [echo]
nunjucksFilters: {allcaps: ./lib/allcaps.js, plus: lib/plus.mjs, upper: lib/upper.js}
tests:
  - vars: {body: hi there, n: 3, derived: \"<{{ body | allcaps }}>\"}
    assert: [{type: contains, value: \"{{ body | allcaps }}\", metric: \"{{ body | allcaps }}\"}]
";

fn files(cli: &assize_testkit::cli::CliTest) {
    cli.file("c.yaml", CONFIG);
    cli.file("lib/allcaps.js", "module.exports = function (text) { return text.toUpperCase(); };");
    cli.file("lib/plus.mjs", "export default (a, b) => a + b;");
    // It replaces the built-in filter.
    cli.file("lib/upper.js", "module.exports = (text) => `own ${text}`;");
}

#[test]
fn filters_change_prompts_variables_and_assertions() {
    let cli = cli();
    files(&cli);
    cli.run(&["eval", "c.yaml", "--run-dir", "run"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    assert_eq!(row["answer"], "HI THERE 6 <HI THERE> own hi there");
    assert_eq!((&row["metrics"][0]["name"], &row["metrics"][0]["score"]), (&json!("HI THERE"), &json!(1.0)));

    // A changed filter result makes another case.
    cli.file("lib/allcaps.js", "module.exports = (text) => text.toUpperCase() + '!';");
    let resumed = cli.run(&["eval", "c.yaml", "--resume", "run"]).expect_code(0);
    assert!(resumed.stderr.contains("1 changed case rerun"), "{}", resumed.stderr);
    assert_eq!(rows(&cli, "run")[0]["answer"], "HI THERE! 6 <HI THERE!> own hi there");
}

#[test]
fn filters_that_load_modules_need_permission() {
    if !has("node") {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    files(&cli);
    cli.file(
        "lib/allcaps.js",
        "const path = require('path');\nmodule.exports = (text) => path.basename(`a/${text}`).toUpperCase();",
    );
    let refused = cli.run(&["eval", "c.yaml", "--run-dir", "run"]).expect_code(2);
    let wanted = "filter `allcaps` of `./lib/allcaps.js` (JavaScript code)";
    assert!(refused.stderr.contains(wanted) && refused.stderr.contains("--allow-code"), "{}", refused.stderr);
    cli.run(&["validate", "c.yaml"]).expect_code(0);

    cli.run(&["eval", "c.yaml", "--run-dir", "run", "--allow-code"]).expect_code(0);
    assert_eq!(rows(&cli, "run")[0]["answer"], "HI THERE 6 <HI THERE> own hi there");
}

#[test]
fn filters_that_fail_or_are_not_there_are_located() {
    let cli = cli();
    files(&cli);
    cli.file("lib/plus.mjs", "export default (a) => { throw new Error(`no number: ${a}`); };");
    let failed = cli.run(&["validate", "c.yaml"]).expect_code(2);
    assert!(failed.stdout.contains("the filter `plus` failed"), "{}", failed.stdout);
    assert!(failed.stdout.contains("no number: 3"), "{}", failed.stdout);

    // Texts of variables without templates are not changed; a failing filter is an error anyway.
    cli.file("lib/plus.mjs", "export default (a, b) => a + b;");
    cli.file("c.yaml", CONFIG.replace("<{{ body | allcaps }}>", "{{ n | allcaps }}"));
    let failed = cli.run(&["validate", "c.yaml"]).expect_code(2);
    assert!(
        failed.stdout.contains("c.yaml:4:28") && failed.stdout.contains("`allcaps` failed"),
        "{}",
        failed.stdout
    );

    let config = CONFIG
        .replace("lib/plus.mjs", "lib/none.mjs")
        .replace("./lib/allcaps.js", "lib/caps.py")
        .replace("lib/upper.js", "7");
    cli.file("c.yaml", config);
    let output = cli.run(&["validate", "c.yaml"]).expect_code(2);
    for words in ["file not found", "filters are functions of JavaScript", "a filter must be the path"] {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
}

#[test]
fn variables_do_not_come_from_tables() {
    let cli = cli();
    cli.file("c.yaml", "prompts: ['{{a}}']\nproviders: [echo]\ntests:\n  - vars: file://x.xlsx\n  - vars: {a: file://x.xlsx}\n");
    let output = cli.run(&["validate", "c.yaml"]).expect_code(2);
    for place in ["c.yaml:4:11", "c.yaml:5:15"] {
        assert!(output.stdout.contains(place), "{place}: {}", output.stdout);
    }
    assert!(output.stdout.contains("`tests: file://NAME.xlsx`"), "{}", output.stdout);
}
