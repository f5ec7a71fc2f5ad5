//! Claims about few pairs, about pairs that do not differ or all differ by the same amount, and about a stopped run, in
//! every command that compares.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::e2e::bench::{object, with_server};
use crate::e2e::pairwise::shown;
use crate::scorecard::support as cards;

/// With fewer pairs than this, even the most extreme result is not significant at 5 %.
const MIN_PAIRS: usize = 6;

/// Words of conclusions.
const CLAIMS: [&str; 8] = [
    "better", "worse", "significantly", "equivalent", "no difference", "is preferred", "is stronger",
    "Higher by",
];

/// Cases whose answers all say `good`, and also `fine` if `is_fine` says so.
fn suite(cases: usize, is_fine: impl Fn(usize) -> bool) -> String {
    (0..cases).fold("name: s\ntests:\n".to_owned(), |mut text, at| {
        let answer = if is_fine(at) { "good fine" } else { "good" };
        let _ = writeln!(
            text,
            "- {{id: c{at}, criteria: c, input: i{at}, output: {answer}, assertions: [{{type: contains, value: good}}, {{type: \
             contains, value: fine}}, {{name: r, type: rubrics, criteria: [{{id: k, outcome: Says `good`}}, {{id: m, outcome: Says \
             `fine`}}]}}]}}"
        );
        text
    })
}

fn eval(cli: &CliTest, run: &str, text: &str, more: &[&str]) {
    let file = format!("{run}.yaml");
    cli.file(&file, text);
    let output = cli.run(&[&["eval", &file, "--judge", "offline", "--run-dir", run, "-q"], more].concat());
    assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
}

#[track_caller]
fn claims_nothing(text: &str, what: &str) {
    for word in CLAIMS {
        assert!(!text.contains(word), "{what} says `{word}`:\n{text}");
    }
}

/// Prefers the answer that says `fine`.
fn prefers_fine(incoming: &MockRequest) -> MockReply {
    let [one, two] = shown(&incoming.last_user_text).expect("two answers").map(|text| text.contains("fine"));
    let better = match (one, two) {
        (true, false) => "answer 1",
        (false, true) => "answer 2",
        _ => "tie",
    };
    MockReply::Json(json!({ "evidence": [], "reason": "by rule", "better": better }))
}

#[test]
fn few_pairs_claim_nothing_whether_none_or_all_differ_alike() {
    let (cli, _server) = with_server(prefers_fine);
    for pairs in 1..=MIN_PAIRS {
        for differs in [false, true] {
            let what = format!("{pairs} pairs, differing: {differs}");
            let [base, candidate] = [format!("base{pairs}{differs}"), format!("candidate{pairs}{differs}")];
            eval(&cli, &base, &suite(pairs, |_| true), &[]);
            eval(&cli, &candidate, &suite(pairs, |_| !differs), &[]);
            let sides = [base.as_str(), &candidate];

            let found = object(&cli.run(&["compare", sides[0], sides[1], "--json"]).expect_code(0));
            let found = &found["comparisons"][0];
            let expected = match (pairs < MIN_PAIRS, differs) {
                (true, _) => "inconclusive",
                (false, true) => "worse",
                (false, false) => "no_difference",
            };
            assert_eq!(found["verdict"], expected, "{what}: {found}");
            for metric in ["score", "pass_rate"] {
                assert_eq!(found[metric]["call"], expected, "{what}");
                // If no pair differs, the interval is an exact bound for any number of pairs.
                let is_withheld = pairs < MIN_PAIRS && differs;
                assert_eq!(found[metric]["low"].is_null(), is_withheld, "{what}: {}", found[metric]);
            }
            // A gate that needs a claim does not fail, and a strict one reports that no difference was shown.
            let fails = pairs == MIN_PAIRS && differs;
            cli.run(&["compare", sides[0], sides[1], "--fail-on", "worse"]).expect_code(i32::from(fails));
            let strict = if pairs < MIN_PAIRS { 5 } else { 0 };
            cli.run(&["compare", sides[0], sides[1], "--strict"]).expect_code(strict);
            let trend = cli.run(&["compare", "--trend", sides[0], sides[1]]).expect_code(0).stdout;
            claims_nothing(
                &trend.replace("Before you conclude that one is better", ""),
                &format!("trend of {what}"),
            );

            let page = format!("{candidate}.html");
            let written = cli.run(&["compare", sides[0], sides[1], "-o", &page]).expect_code(0).stdout;
            let pairwise =
                cli.run(&["compare", "pairwise", sides[0], sides[1], "--judge", "openai:m", "--json"]);
            assert!(pairwise.stdout.contains("\"says\""), "{}{}", pairwise.stdout, pairwise.stderr);
            if pairs == MIN_PAIRS {
                continue;
            }
            claims_nothing(&written, &format!("compare of {what}"));
            let markdown = cli.run(&["compare", sides[0], sides[1], "--markdown"]).expect_code(0).stdout;
            claims_nothing(&markdown, &format!("Markdown of {what}"));
            let report = ["report", sides[1], "--baseline", sides[0], "--format", "markdown"];
            claims_nothing(&cli.run(&report).expect_code(0).stdout, &format!("report of {what}"));
            let page = cli.read(&page);
            for word in ["better", "worse", "no difference", "equivalent"] {
                assert!(!page.contains(&format!(">{word}<")), "page of {what} says `{word}`");
            }
            let pair = &object(&pairwise)["pairwise"]["pairs"][0];
            assert!(pair["better"].is_null() && pair["says"].is_string(), "pairwise of {what}: {pair}");
            let labels = format!("{candidate}.csv");
            let mut text = "case,criterion,label\n".to_owned();
            for at in 0..pairs {
                let _ = writeln!(text, "c{at},k,met\nc{at},m,{}", if differs { "met" } else { "unmet" });
            }
            cli.file(&labels, text);
            let calibrated = cli.run(&["calibrate", sides[1], "--labels", &labels, "--resamples", "100"]);
            let agrees = calibrated
                .stdout
                .lines()
                .find(|line| line.starts_with("The judge agrees"))
                .unwrap_or_default();
            assert!(
                agrees.contains("too few to say more") || agrees.ends_with(&format!("of {}.", 2 * pairs)),
                "{agrees}"
            );
            let labelled: Vec<String> = sides.iter().map(|side| format!("{side}={labels}")).collect();
            let corrected = [
                "compare", sides[0], sides[1], "--labels", &labelled[0], "--labels", &labelled[1],
                "--assume-random", "-o", "people.html", "-o", "people.md",
            ];
            let corrected = cli.run(&corrected).expect_code(0).stdout;
            for text in [&corrected, &cli.read("people.html"), &cli.read("people.md")] {
                let (people, judges) = (text.find("by people"), text.find("by the judges alone"));
                assert!(people.is_some() && people < judges, "people's verdicts come first: {text}");
            }
            assert!(corrected.contains("not corrected, because it takes 30 labels"), "{corrected}");
            claims_nothing(&corrected, &format!("labelled comparison of {what}"));
        }
    }
}

#[test]
fn audits_and_drift_of_few_cases_claim_nothing() {
    let (cli, _server) = with_server(prefers_fine);
    for cases in 1..=MIN_PAIRS {
        for is_fine in [false, true] {
            let file = format!("s{cases}{is_fine}.yaml");
            cli.file(&file, suite(cases, |_| is_fine));
            for (audit, more) in [("length", &[][..]), ("order", &["--judging", "batched:2"])] {
                let run = format!("{audit}{cases}{is_fine}");
                let args = ["audit", audit, &file, "--judge", "offline", "--run-dir", &run];
                let text = cli.run(&[&args, more].concat()).expect_code(0).stdout;
                let conclusion = text.lines().find(|line| line.starts_with("No ")).unwrap_or_default();
                assert!(
                    conclusion.contains("significantly") || conclusion.contains("changed a decision"),
                    "{audit} of {cases}: {text}"
                );
            }
        }
    }
}

#[test]
fn scorecards_of_few_cases_claim_nothing() {
    let server = MockServer::start(cards::judge);
    let ids = ["a", "b", "c", "d", "e", "f"];
    let cases = |count: usize, text: &'static str| -> Vec<(&str, &str, &str)> {
        ids[..count].iter().map(|id| (*id, "judged", text)).collect()
    };
    let cli = cards::fixture(&server, &cases(1, "fine"));
    for pairs in 1..=MIN_PAIRS {
        for worse in ["fine", "bad"] {
            let [before, after] = [format!("before{pairs}{worse}"), format!("after{pairs}{worse}")];
            for (run, text) in [(&before, "fine"), (&after, worse)] {
                cards::relabel(&cli, &cases(pairs, text), &[]);
                let output = cards::run(&cli, &["--run-dir", run]);
                assert!(output.code.is_some_and(|code| code != 2), "{}", output.stderr);
            }
            let compare =
                |more: &[&str]| cli.run(&[&["scorecard", "compare", &before, &after], more].concat());
            let found = cards::printed(&compare(&["--json"]));
            let nodes = found["nodes"].as_array().expect("a list");
            let claimed: Vec<&Value> = nodes
                .iter()
                .filter(|node| {
                    ["better", "worse", "equivalent", "no_difference"]
                        .iter()
                        .any(|claim| node["conclusion"] == *claim)
                })
                .collect();
            let has_interval = |node: &&Value| node["low"].as_f64().is_some_and(|low| low > -0.4);
            if pairs < MIN_PAIRS {
                assert!(claimed.is_empty(), "{pairs} {worse}: {claimed:?}");
                assert!(!nodes.iter().any(|node| has_interval(&node)), "{pairs} {worse}: {nodes:?}");
                claims_nothing(&compare(&[]).stdout, &format!("scorecard of {pairs}, {worse}"));
            } else {
                assert!(!claimed.is_empty(), "{found}");
            }
        }
    }
}

#[test]
fn a_stopped_run_claims_only_what_holds_whenever_it_stops() {
    let (cli, _server) = with_server(prefers_fine);
    eval(&cli, "base", &suite(150, |_| true), &[]);
    let stop = ["--stop-when", "decided", "--against", "0.6", "--shuffle", "--seed", "4", "-j", "2"];
    eval(&cli, "stopped", &suite(150, |at| at % 20 != 7), &stop);
    assert!(cli.read("stopped/results.jsonl").lines().count() < 150, "the run did not stop");
    for sides in [["base", "stopped"], ["stopped", "base"]] {
        let output = cli.run(&["compare", sides[0], sides[1], "--json"]);
        let found = object(&output);
        for metric in ["score", "pass_rate"] {
            let found = &found["comparisons"][0][metric];
            assert!(found["p"].is_null() && found["p_adjusted"].is_null(), "{found}");
            let method = found["interval_method"].as_str();
            assert!(method.is_none_or(|method| method.contains("betting")), "{found}");
        }
        for group in found["comparisons"][0]["tables"].as_array().expect("tables") {
            for row in group["rows"].as_array().expect("rows") {
                assert!(row["contrast"]["p"].is_null() && row["p"].is_null(), "{row}");
            }
        }
        for more in [&[][..], &["--markdown"]] {
            let text = cli.run(&[&["compare", sides[0], sides[1]], more].concat()).stdout;
            assert!(!text.contains("McNemar") && !text.contains("Bonett"), "{text}");
        }
    }
    let trend = object(&cli.run(&["compare", "--trend", "base", "stopped", "--json"]));
    let rate = &trend["runs"][1]["pass_rate"];
    assert!(
        rate["low"].is_null() || rate["method"].as_str().is_some_and(|name| name.contains("betting")),
        "{rate}"
    );
}

/// Every p value is compared with a level in one file, `claims.rs` of the analysis, apart from the statistics themselves.
#[test]
fn only_the_claims_compare_a_p_value_with_a_level() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&crates)
        .expect("crates")
        .map(|entry| entry.expect("readable").path().join("src"))
        .collect();
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        if folder.starts_with(crates.join("stats")) || !folder.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("src/tests")));
                continue;
            }
            if path.extension().is_none_or(|ending| ending != "rs")
                || path.ends_with("analysis/src/claims.rs")
            {
                continue;
            }
            read += 1;
            let text = std::fs::read_to_string(&path).expect("readable");
            let product = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in product.lines().enumerate() {
                let line =
                    line.split("//").next().unwrap_or_default().replace(" < ", "<").replace(" <= ", "<=");
                assert!(
                    !compares_with_level(&line),
                    "{}:{} compares a p value with a level; ask `claims` instead: {line}",
                    path.display(),
                    number + 1
                );
            }
        }
    }
    assert!(read > 500, "only {read} files were read");
    for bad in
        ["if p<=alpha {", "found.p<0.05", "p_adjusted<=ALPHA", "is_significant(p,0.05)", "p<=1.0 - level"]
    {
        assert!(compares_with_level(bad), "{bad}");
    }
}

/// Whether a line without spaces around signs compares a p value with a level. Very small p values may be shown as `< 0.001`.
fn compares_with_level(line: &str) -> bool {
    const LEVELS: [&str; 7] = ["alpha", "ALPHA", "options.alpha", "0.05", "0.01", "1.0 - ", "level"];
    if line.contains("is_significant(") {
        return true;
    }
    ["p", "p_adjusted", "p_value", "p_exact"].iter().any(|name| {
        LEVELS.iter().any(|level| {
            ["<=", "<"].iter().any(|sign| {
                let pattern = format!("{name}{sign}{level}");
                line.match_indices(&pattern).any(|(at, _)| {
                    // `step<level` is no comparison of `p`.
                    !line[..at]
                        .chars()
                        .next_back()
                        .is_some_and(|before| before.is_alphanumeric() || before == '_')
                })
            })
        })
    })
}
