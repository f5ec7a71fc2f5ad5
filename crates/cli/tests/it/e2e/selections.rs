//! Assertions that compare the answers of all providers and prompts to a test.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{assert_same_run, cli, rows, with_server};

/// Prefers the answer with more `+`, in either order.
fn counts_pluses(incoming: &MockRequest) -> MockReply {
    let pluses = |number: u8| {
        let after = incoming.last_user_text.split_once(&format!("[[BEGIN answer {number} "));
        let text = after.expect("fenced").1.split_once(&format!("[[END answer {number} "));
        text.expect("fenced").0.matches('+').count()
    };
    let better = match pluses(1).cmp(&pluses(2)) {
        std::cmp::Ordering::Greater => "answer 1",
        std::cmp::Ordering::Less => "answer 2",
        std::cmp::Ordering::Equal => "tie",
    };
    MockReply::Json(json!({ "evidence": [], "reason": format!("it is {better}"), "better": better }))
}

const FILE: &str = "promptfooconfig.yaml";
const JUDGE: [&str; 2] = ["--judge", "openai:m"];
const BEST: &str = "[{type: select-best, value: has more pluses}]";

/// A test whose answers are the prompts, because its provider is `echo`.
fn config(prompts: &[&str], assertions: &str) -> String {
    let prompts = json!(prompts);
    format!("prompts: {prompts}\nproviders: [echo]\ntests:\n- description: t\n  assert: {assertions}\n")
}

/// Scores of a grader in a run, in the order of case ids; `None` for unknown scores.
fn scores(cli: &CliTest, folder: &str, grader: &str) -> Vec<Option<f64>> {
    let score = |row: &Value| {
        let graders = row["graders"].as_array().expect("a row has graders");
        let found = graders.iter().find(|of| of["name"] == grader).expect("the grader");
        found["score"].as_f64()
    };
    rows(cli, folder).iter().map(score).collect()
}

#[test]
fn the_answer_that_a_judge_prefers_passes_and_its_calls_are_counted_and_cached() {
    let (cli, server) = with_server(counts_pluses);
    cli.file(FILE, config(&["a +", "b ++", "c"], BEST));

    let plan = cli.run(&["eval", FILE, "--dry-run", JUDGE[0], JUDGE[1]]).expect_code(0);
    assert!(plan.stdout.contains("6 calls"), "three pairs in both orders: {}", plan.stdout);
    cli.run(&["eval", FILE, "--run-dir", "one", "-j", "1", JUDGE[0], JUDGE[1]]).expect_code(1);
    assert_eq!(server.count(), 6);
    assert_eq!(scores(&cli, "one", "select-best"), [Some(0.0), Some(1.0), Some(0.0)]);

    let explained = cli.run(&["explain", "one", "t/prompt-2"]).expect_code(0).stdout;
    for words in [
        "selected: 2 of 2 points, more than any other of 3 answers",
        "against `echo` to `t/prompt-1`: better in both orders",
        "as answer 1: it is answer 2",
    ] {
        assert!(explained.contains(words), "{words}: {explained}");
    }

    cli.run(&["eval", FILE, "--run-dir", "two", JUDGE[0], JUDGE[1]]).expect_code(1);
    assert_eq!(server.count(), 6, "all replies come from the cache");
}

#[test]
fn a_judge_that_says_nothing_leaves_all_answers_ungraded_until_the_run_is_resumed() {
    let mute = Arc::new(AtomicBool::new(true));
    let is_mute = Arc::clone(&mute);
    let (cli, _server) = with_server(move |incoming: &MockRequest| {
        // Only comparisons with the third answer fail.
        if is_mute.load(Ordering::SeqCst) && incoming.last_user_text.contains("third") {
            return MockReply::text("no comment");
        }
        counts_pluses(incoming)
    });
    cli.file(FILE, config(&["a +", "b ++", "third"], BEST));

    let first = cli.run(&["eval", FILE, "--run-dir", "run", JUDGE[0], JUDGE[1]]);
    assert_ne!(first.code, Some(0), "{}", first.stdout);
    assert_eq!(scores(&cli, "run", "select-best"), [None, None, None]);
    assert!(rows(&cli, "run").iter().all(|row| row["verdict"] == "incomplete"));

    mute.store(false, Ordering::SeqCst);
    let resumed = ["eval", FILE, "--resume", "run", "--retry-incomplete", JUDGE[0], JUDGE[1]];
    cli.run(&resumed).expect_code(1);
    assert_eq!(scores(&cli, "run", "select-best"), [Some(0.0), Some(1.0), Some(0.0)]);
}

#[test]
fn an_answer_that_is_not_part_of_the_run_leaves_the_others_ungraded() {
    let (cli, server) = with_server(counts_pluses);
    cli.file(FILE, config(&["a +", "b ++"], BEST));
    cli.run(&["eval", FILE, "--run-dir", "run", "--filter", "t/prompt-1", JUDGE[0], JUDGE[1]]);
    assert_eq!(scores(&cli, "run", "select-best"), [None]);
    assert_eq!(server.count(), 0);

    let explained = cli.run(&["explain", "run", "t/prompt-1"]).stdout;
    assert!(explained.contains("case `t/prompt-2` is excluded"), "{explained}");
}

#[test]
fn a_test_of_which_one_answer_changed_is_compared_again_as_a_whole() {
    let (cli, server) = with_server(counts_pluses);
    cli.file(FILE, config(&["a +", "b ++", "c"], BEST));
    cli.run(&["eval", FILE, "--run-dir", "run", JUDGE[0], JUDGE[1]]).expect_code(1);
    cli.file(FILE, config(&["a +", "b ++", "c +++"], BEST));
    cli.run(&["eval", FILE, "--resume", "run", JUDGE[0], JUDGE[1]]).expect_code(1);

    assert_eq!(scores(&cli, "run", "select-best"), [Some(0.0), Some(0.0), Some(1.0)]);
    // The comparison of the other two was in the cache.
    assert_eq!(server.count(), 6 + 4);
}

#[test]
fn all_answers_to_a_test_are_in_one_shard() {
    let cli = cli();
    let mut text = "prompts: [x, 'y {{a}}']\nproviders: [echo]\ntests:\n".to_owned();
    for number in 0..6 {
        write!(
            text,
            "- description: t{number}\n  vars: {{a: b}}\n  \
             assert: [{{type: icontains, value: b}}, {{type: max-score}}]\n"
        )
        .expect("a string takes everything");
    }
    cli.file(FILE, text);

    let mut all = 0;
    for shard in 1..=3 {
        let (folder, shard) = (format!("run-{shard}"), format!("{shard}/3"));
        cli.run(&["eval", FILE, "--run-dir", &folder, "--shard", &shard]).expect_code(1);
        let found = scores(&cli, &folder, "max-score");
        all += found.len();
        assert!(found.chunks(2).all(|pair| pair == [Some(0.0), Some(1.0)]), "{found:?}");
    }
    assert_eq!(all, 12);
}

#[test]
fn merged_shards_of_compared_answers_are_the_whole_run() {
    let (cli, _server) = with_server(counts_pluses);
    let mut text = "prompts: ['a + {{n}}', 'b ++ {{n}}', 'c {{n}}']\nproviders: [echo]\nderivedMetrics: [{name: share, value: plus / __count}]\ntests:\n".to_owned();
    for number in 1..=5 {
        writeln!(
            text,
            "- description: t{number}\n  vars: {{n: '{number}'}}\n  \
             assert: [{{type: contains, value: '+', metric: plus}}, {{type: max-score}}, {{type: select-best, value: more pluses}}]\n"
        )
        .expect("a string takes everything");
    }
    cli.file(FILE, text);
    let whole = cli.run(&["eval", FILE, "--run-dir", "whole", JUDGE[0], JUDGE[1]]);

    // More shards than tests: some are empty, and none has only part of a test.
    let folders: Vec<String> = (1..=7).map(|shard| format!("shard-{shard}")).collect();
    for (at, folder) in folders.iter().enumerate() {
        let shard = format!("{}/7", at + 1);
        // Rows record that cached calls are free.
        cli.run(&["eval", FILE, "--run-dir", folder, "--shard", &shard, "--no-cache", JUDGE[0], JUDGE[1]]);
        assert_eq!(rows(&cli, folder).len() % 3, 0, "{folder}");
    }
    let mut merge = vec!["merge", "--run-dir", "merged"];
    merge.extend(folders.iter().map(String::as_str));
    let merged = cli.run(&merge);
    assert_eq!(merged.code, whole.code, "{}", merged.stderr);
    assert_same_run(&cli, "whole", "merged");
}

#[test]
fn scores_of_the_other_assertions_are_weighted_by_their_types() {
    let cli = cli();
    // The first answer passes only the first assertion, the second one only the second.
    for (at, (value, wanted)) in [
        ("{method: average}", [Some(0.5), Some(0.5)]),
        ("{weights: {contains: 3}}", [Some(1.0), Some(0.0)]),
        ("{method: sum, weights: {contains: 1, not-contains: 2}, threshold: 2}", [Some(0.0), Some(1.0)]),
        ("{method: average, weights: {contains: 3}, threshold: 0.8}", [Some(0.0), Some(0.0)]),
    ]
    .into_iter()
    .enumerate()
    {
        let assertions = format!(
            "[{{type: contains, value: a}}, {{type: not-contains, value: b}}, {{type: max-score, value: {value}}}]"
        );
        cli.file(FILE, config(&["a b", "c"], &assertions));
        let folder = format!("run-{at}");
        cli.run(&["eval", FILE, "--run-dir", &folder]).expect_code(1);
        assert_eq!(scores(&cli, &folder, "max-score"), wanted, "{value}");
    }
}

#[test]
fn what_can_not_be_compared_is_refused_at_its_place() {
    let cli = cli();
    for (assertions, words) in [
        ("[{type: select-best}]", "`select-best` needs `value`"),
        ("[{type: select-best, value: [a]}]", "`value` of `select-best`"),
        ("[{type: max-score, value: {method: median}}]", "median"),
        ("[{type: assert-set, assert: [{type: max-score}]}]", "`max-score` can't be used in a composite"),
    ] {
        cli.file(FILE, config(&["a", "b"], assertions));
        let output = cli.run(&["validate", FILE]).expect_code(2);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains(words) && text.contains("promptfooconfig.yaml:5"), "{words}: {text}");
    }

    cli.file(FILE, config(&["a", "b"], "[{type: max-score}]"));
    let output = cli.run(&["eval", FILE]).expect_code(2);
    assert!(output.stderr.contains("no other grader whose scores"), "{}", output.stderr);
}
