//! `assertScoringFunction`: functions that combine the scores of a test's assertions.

use serde_json::{Value, json};

use crate::e2e::bench::{cli, rows};
use crate::e2e::extensions::has;

const CONFIG: &str = "
prompts: ['say {{text}}']
providers: [echo]
defaultTest:
  assertScoringFunction: file://lib/product.js
  assert:
    - {type: javascript, value: output.length / 20, metric: length, weight: 0}
    - {type: contains, value: a, metric: letters, weight: 3}
    - {type: contains, value: b, metric: letters}
tests:
  - {description: product, vars: {text: a cup}}
  - {description: named, threshold: 0.9, vars: {text: abc}, assertScoringFunction: 'file://lib/others.js:lowest'}
  - {description: thrown, vars: {text: abc}, assertScoringFunction: 'file://lib/others.js:thrown'}
  - {description: nothing, vars: {text: abc}, assertScoringFunction: 'file://lib/others.js:nothing'}
";

const PRODUCT: &str = "module.exports = (scores, context) => {
  const score = Object.values(scores).reduce((product, one) => product * one, 1);
  return {pass: score >= (context.threshold ?? 0.2), score, reason: `product of ${Object.keys(scores).join(', ')}`};
};";

const OTHERS: &str = "module.exports = {
  lowest: (scores, context) => {
    const score = Math.min(...context.componentResults.map((part) => part.score));
    // Its own word counts, whatever the score.
    return {pass: context.threshold === 0.9, score, reason: 'lowest'};
  },
  thrown: () => { throw new Error('no way'); },
  nothing: (scores) => { scores.length = 0; },
};";

#[test]
fn the_function_decides_score_and_verdict() {
    let cli = cli();
    cli.file("c.yaml", CONFIG);
    cli.file("lib/product.js", PRODUCT);
    cli.file("lib/others.js", OTHERS);
    let output = cli.run(&["eval", "c.yaml", "--run-dir", "run"]).expect_code(3);

    let row = |id: &str| rows(&cli, "run").into_iter().find(|row| row["case_id"] == id).expect(id);
    // `say a cup`: 9 of 20 letters, and a mean of 3/4 for `letters`. Assertions with weight 0 keep their score.
    let product = row("product");
    assert!((product["score"].as_f64().expect("a score") - 0.45 * 0.75).abs() < 1e-12, "{product}");
    assert_eq!(product["verdict"], "pass");
    let named = row("named");
    assert_eq!((&named["score"], &named["verdict"]), (&json!(0.35), &json!("pass")));

    // A function that fails gives neither a score of 0 nor a verdict.
    for (id, reason) in [("thrown", "no way"), ("nothing", "it must return a map")] {
        let row = row(id);
        assert_eq!((&row["score"], &row["verdict"]), (&Value::Null, &json!("incomplete")), "{id}");
        let error = row["graders"][0]["error"].as_str().expect("an error").to_owned();
        assert!(error.contains("the scoring function failed") && error.contains(reason), "{error}");
    }
    assert!(output.stdout.contains("2 incomplete"), "{}", output.stdout);

    let explained = cli.run(&["explain", "run", "product"]);
    for part in [
        "product of length, letters",
        "the scoring function passes it: yes",
        "scoring-function/letters-2",
        "the scoring function decides that, whatever the score",
    ] {
        assert!(explained.stdout.contains(part), "{part}: {}", explained.stdout);
    }
    // Rescoring from stored rows keeps the function's result.
    let again = cli.run(&["score", "run"]);
    assert!(again.stdout.contains("0 of 4 verdicts changed"), "{}", again.stdout);

    // Changing one function changes only its own result.
    cli.file("lib/product.js", PRODUCT.replace("?? 0.2", "?? 0.9"));
    let resumed = cli.run(&["eval", "c.yaml", "--resume", "run"]).expect_code(1);
    assert!(resumed.stderr.contains("1 changed case rerun"), "{}", resumed.stderr);
    let product = rows(&cli, "run").into_iter().find(|row| row["case_id"] == "product").expect("there");
    assert_eq!(product["verdict"], "fail");
}

#[test]
fn python_decides_with_permission_only() {
    if !has("python3") {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "c.yaml",
        CONFIG.replace("lib/product.js", "lib/mean.py").split("  - {description: named").next().expect("one"),
    );
    cli.file(
        "lib/mean.py",
        "def func(scores, context):\n    assert 'threshold' not in context\n    score = sum(scores.values()) / len(scores)\n    \
         return {'pass': score >= context.get('threshold', 0.5), 'score': score, 'reason': 'mean'}\n",
    );
    let refused = cli.run(&["eval", "c.yaml", "--run-dir", "run"]).expect_code(2);
    assert!(refused.stderr.contains("grader `scoring-function` (Python code in"), "{}", refused.stderr);

    cli.run(&["eval", "c.yaml", "--run-dir", "run", "--allow-code"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    assert!((row["score"].as_f64().expect("a score") - 0.6).abs() < 1e-12, "{row}");
}

#[test]
fn what_is_no_function_in_a_file_is_located() {
    let cli = cli();
    cli.file("c.yaml", CONFIG.replace("file://lib/product.js", "'() => 1'"));
    cli.file("lib/others.js", OTHERS);
    let output = cli.run(&["validate", "c.yaml"]).expect_code(2);
    assert!(output.stdout.contains("c.yaml:5:26"), "{}", output.stdout);
    assert!(output.stdout.contains("a scoring function has to be a function in a file"), "{}", output.stdout);
}
