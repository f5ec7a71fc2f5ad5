//! The conclusion of a run is the same on every output: exit code, scope, blocking gates, disputes, weakening options.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::{Value, json};

use crate::e2e::view::{between, send, start, visit};
use crate::scorecard::support::{fixture, folder, judge, printed, run};

/// Formats of `assize report` that are texts.
const FORMATS: [&str; 10] =
    ["markdown", "junit", "csv", "csv-cases", "github", "gitlab", "sarif", "html", "otlp", "inspect"];

/// What happens to a run before its outputs are compared.
#[derive(Clone, Copy)]
enum Then {
    /// Nothing.
    Nothing,
    /// A reviewer decides on a case and a benchmark.
    Label(&'static str, &'static str, &'static str),
    /// The run is left as a killed one leaves it.
    Killed,
}

/// A run, and the conclusion that all outputs must have.
struct Situation {
    name: &'static str,
    args: &'static [&'static str],
    then: Then,
    exit_code: i32,
    /// A part of the sentence that every output shows; empty for a run without one.
    says: &'static str,
    /// The same in a few words, as lists have it.
    in_lists: &'static str,
}

/// A run of the scorecard in `card`, with these options.
macro_rules! card {
    ($($option:literal),*) => { &["scorecard", "run", "card", "--judge", "openai:judge-1", $($option),*] };
}

/// A run of the eval file, with these options.
macro_rules! eval {
    ($($option:literal),*) => { &["eval", "s.yaml", "--judge", "offline", "-j", "1", $($option),*] };
}

const SITUATIONS: [Situation; 18] = [
    Situation {
        name: "filtered",
        args: card!["--filter", "good"],
        then: Then::Nothing,
        exit_code: 3,
        says: "1 of 4 cases",
        in_lists: "1 of 4 cases",
    },
    Situation {
        name: "filtered, failing",
        args: card!["--filter", "b*"],
        then: Then::Nothing,
        exit_code: 1,
        says: "Blocked by C1",
        in_lists: "blocked by C1",
    },
    Situation {
        name: "filtered eval",
        args: eval!["--filter", "good"],
        then: Then::Nothing,
        exit_code: 0,
        says: "1 of 2 cases",
        in_lists: "1 of 2 cases",
    },
    Situation {
        name: "whole",
        args: card![],
        then: Then::Nothing,
        exit_code: 1,
        says: "Blocked by C1",
        in_lists: "blocked by C1",
    },
    Situation {
        name: "label to pass",
        args: &["scorecard", "run", "people", "--judge", "openai:judge-1"],
        then: Then::Label("read", "C4", "pass"),
        exit_code: 0,
        says: "",
        in_lists: "",
    },
    Situation {
        name: "label to fail",
        args: &["scorecard", "run", "labelled", "--judge", "openai:judge-1"],
        then: Then::Label("read", "C4", "fail"),
        exit_code: 1,
        says: "Blocked by C4",
        in_lists: "blocked by C4",
    },
    Situation {
        name: "disputed gate",
        args: &["scorecard", "run", "people", "--judge", "openai:judge-1"],
        then: Then::Label("good", "C1", "fail"),
        exit_code: 3,
        says: "C1 on good",
        in_lists: "1 disputed",
    },
    Situation {
        name: "people override",
        args: &["scorecard", "run", "people", "--judge", "openai:judge-1", "--people", "override"],
        then: Then::Label("good", "C1", "fail"),
        exit_code: 1,
        says: "--people override",
        in_lists: "--people override",
    },
    Situation {
        name: "component without cases",
        args: &["scorecard", "run", "parts", "--judge", "openai:judge-1"],
        then: Then::Nothing,
        exit_code: 3,
        says: "incomplete",
        in_lists: "incomplete",
    },
    Situation {
        name: "treat-missing skip",
        args: &["scorecard", "run", "skips", "--judge", "openai:judge-1", "--treat-missing", "skip"],
        then: Then::Nothing,
        exit_code: 0,
        says: "treat-missing skip",
        in_lists: "treat-missing skip",
    },
    Situation {
        name: "unbound labels",
        args: &["scorecard", "run", "unbound", "--judge", "openai:judge-1", "--accept-unbound-labels"],
        then: Then::Nothing,
        exit_code: 0,
        says: "accept-unbound-labels",
        in_lists: "accept-unbound-labels",
    },
    Situation {
        name: "other weight set",
        args: card!["--weights", "late"],
        then: Then::Nothing,
        exit_code: 1,
        says: "--weights late",
        in_lists: "--weights late",
    },
    Situation {
        name: "threshold of the command line",
        args: eval!["--threshold", "0.25"],
        then: Then::Nothing,
        exit_code: 1,
        says: "--threshold 0.25",
        in_lists: "--threshold 0.25",
    },
    Situation {
        name: "shard",
        args: eval!["--shard", "1/2"],
        then: Then::Nothing,
        exit_code: 1,
        says: "shard 1 of 2",
        in_lists: "shard 1 of 2",
    },
    Situation {
        name: "stopped early",
        args: eval!["--bail"],
        then: Then::Nothing,
        exit_code: 1,
        says: "1 not run",
        in_lists: "1 not run",
    },
    Situation {
        name: "killed",
        args: eval!["--filter", "good"],
        then: Then::Killed,
        exit_code: 3,
        says: "before the run stopped",
        in_lists: "before the run stopped",
    },
    Situation {
        name: "killed scorecard",
        args: card![],
        then: Then::Killed,
        exit_code: 1,
        says: "before the run stopped",
        in_lists: "before the run stopped",
    },
    Situation {
        name: "budget",
        args: card!["--budget-calls", "1", "--max-concurrency", "1"],
        then: Then::Nothing,
        exit_code: 4,
        says: "not run",
        in_lists: "not run",
    },
];

/// The scorecards and the eval file that the situations run.
fn files(server: &MockServer) -> CliTest {
    let cases = [
        ("bad", "judged", "bad"),
        ("good", "judged", "fine"),
        ("later", "judged", "fine too"),
        ("more", "judged", "fine"),
    ];
    let cli = folder(server, &cases);
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- {id: bad, criteria: x, input: q, output: pears, assertions: [{type: contains, value: apples}]}\n\
         - {id: good, criteria: x, input: q, output: apples, assertions: [{type: contains, value: apples}]}\n",
    );

    // A person decides on `read`, which is a gate.
    let people = |name: &str| {
        cli.copy_folder(&cli.path("card"), name);
        let gate = cli.read("card/benchmarks/C4.yaml") + "\ncriticality: hard_gate\n";
        cli.file(format!("{name}/benchmarks/C4.yaml"), gate);
        let case = |id: &str, tag: &str| {
            json!({ "id": id, "tags": [tag], "source_narrative": "n", "candidate_output": "fine" })
                .to_string()
        };
        cli.file(
            format!("{name}/cases/all.jsonl"),
            case("good", "judged") + "\n" + &case("read", "read") + "\n",
        );
    };
    people("people");
    people("labelled");
    people("unbound");
    let label = r#"{"case":"read","criterion":"C4","label":"pass","who":"ann"}"#.to_owned() + "\n";
    cli.file("unbound/labels/a.jsonl", &label);

    // The judge gives no usable reply about one of two cases.
    cli.copy_folder(&cli.path("card"), "skips");
    let case = |id: &str, output: &str| {
        json!({ "id": id, "tags": ["judged"], "source_narrative": "n", "candidate_output": output })
            .to_string()
    };
    cli.file("skips/cases/all.jsonl", case("good", "fine") + "\n" + &case("odd", "broken") + "\n");

    // The benchmark of component `D` has no case.
    cli.copy_folder(&cli.path("card"), "parts");
    cli.file(
        "parts/index.yaml",
        "code: TOP\npassing_threshold: 0.5\ncomponents: [C, D]\nweight_sets: {pilot: {C: 0.5, D: 0.5}}\n",
    );
    let component = cli.read("card/rubrics/R.yaml").replace("code: R", "code: D");
    cli.file("parts/rubrics/D.yaml", component.replace("benchmarks: [C1, C2, C3, C4]", "benchmarks: [D1]"));
    let benchmark = cli
        .read("card/benchmarks/C3.yaml")
        .replace("code: C3", "code: D1")
        .replace("weight: 0.2", "weight: 1.0");
    cli.file("parts/benchmarks/D1.yaml", benchmark.replace("coded", "nowhere"));
    let case =
        json!({ "id": "good", "tags": ["judged"], "source_narrative": "n", "candidate_output": "fine" });
    cli.file("parts/cases/all.jsonl", format!("{case}\n"));

    cli
}

/// Leaves the newest run as a killed one leaves it: without an end and a summary.
fn kill(cli: &CliTest, folder: &str) {
    cli.drop_checksums(folder);
    let path = format!("{folder}/run.json");
    let mut info: Value = serde_json::from_str(&cli.read(&path)).expect("JSON");
    info["finished_at"] = Value::Null;
    info["summary"] = Value::Null;
    cli.file(&path, info.to_string());
}

/// What a tool of `assize mcp` returned.
fn ask_mcp(cli: &CliTest, tool: &str, arguments: &Value) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } });
    let output = cli.run_with_input(&["mcp"], &format!("{hello}\n{ready}\n{call}\n"));
    let reply: Value = serde_json::from_str(output.stdout.lines().last().unwrap_or_default()).expect("JSON");
    reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// One output: its name, its text, and the exit code that it states.
struct Shown {
    name: String,
    text: String,
    exit_code: Option<i64>,
    /// The conclusion as data, if the output has it.
    conclusion: Option<Value>,
}

/// All outputs about the newest run.
fn outputs(cli: &CliTest, folder: &str, case: &str, is_card: bool) -> Vec<Shown> {
    let shown = |name: &str, text: String, exit_code: Option<i64>| Shown {
        name: name.to_owned(),
        text,
        exit_code,
        conclusion: None,
    };
    // An output that is data: `path` leads to its exit code and conclusion.
    let data = |name: &str, text: String, path: &str| {
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let found = value.pointer(path).cloned().unwrap_or_default();
        Shown {
            name: name.to_owned(),
            text,
            exit_code: Some(found["exit_code"].as_i64().unwrap_or(-1)),
            conclusion: Some(found["conclusion"].clone()),
        }
    };
    let printed_by = |args: &[&str]| {
        let output = cli.run(args);
        format!("{}{}", output.stdout, output.stderr)
    };

    let mut all: Vec<Shown> = FORMATS
        .iter()
        .map(|format| shown(format, printed_by(&["report", folder, "--format", format]), None))
        .collect();
    all.push(data("json", cli.run(&["report", folder, "--format", "json"]).stdout, ""));
    all.push(shown("list", printed_by(&["list"]), None));
    all.push(data("list --json", cli.run(&["list", "--json"]).stdout, "/0"));
    all.push(shown("explain RUN", printed_by(&["explain", folder]), None));
    all.push(shown("explain RUN CASE", printed_by(&["explain", folder, case]), None));
    all.push(shown("compare", printed_by(&["compare", folder, folder]), None));
    // The result stands with the metrics, and not only in a warning beside them.
    let stdout = |args: &[&str]| cli.run(args).stdout;
    all.push(shown("result: compare", stdout(&["compare", folder, folder]), None));
    all.push(shown("result: compare --json", stdout(&["compare", folder, folder, "--json"]), None));
    all.push(shown("result: compare --markdown", stdout(&["compare", folder, folder, "--markdown"]), None));
    all.push(shown("result: matrix", stdout(&["report", folder, folder, "--format", "matrix"]), None));
    let against = ["report", folder, "--baseline", folder, "--format"];
    all.push(shown("result: HTML", stdout(&[&against[..], &["html"]].concat()), None));
    let markdown = stdout(&[&against[..], &["markdown"]].concat());
    let before_metrics = markdown.split("### ").take(2).collect::<Vec<_>>().join("### ");
    all.push(shown("result: Markdown", before_metrics.clone(), None));
    all.push(shown("Markdown against a baseline", before_metrics, None));
    all.push(shown("trend", printed_by(&["compare", "--trend", folder, folder]), None));
    all.push(shown("result: trend", stdout(&["compare", "--trend", folder, folder]), None));
    all.push(data("trend --json", stdout(&["compare", "--trend", folder, folder, "--json"]), "/runs/0"));
    if is_card {
        for args in [["scorecard", "compare", folder, folder].as_slice(), &["scorecard", "trend", folder]] {
            let json = [args, &["--json"]].concat();
            all.push(shown(&args[..2].join(" "), printed_by(args), None));
            all.push(shown(&format!("result: {}", args[..2].join(" ")), stdout(args), None));
            all.push(shown(&format!("result: {}", json.join(" ")), stdout(&json), None));
        }
        let output = cli.run(&["scorecard", "score", folder]);
        all.push(shown("scorecard score", output.stdout + &output.stderr, output.code.map(i64::from)));
    }

    all.push(data("mcp list_runs", ask_mcp(cli, "list_runs", &json!({})), "/runs/0"));
    let question = json!({ "run": folder, "case": case });
    all.push(shown("result: mcp explain", ask_mcp(cli, "explain", &question), None));
    all.push(data("mcp results", ask_mcp(cli, "results", &json!({ "run": folder })), "/summary"));

    let (mut child, url) = start(cli, &[folder]);
    let host = between(&url, "http://", "/").to_owned();
    let cookie = between(&visit(&url), "set-cookie: ", ";").to_owned();
    let name = folder.rsplit('/').next().expect("a name");
    for (page, path) in [
        ("page: runs", "/".to_owned()),
        ("page: summary", format!("/runs/{name}")),
        ("page: cases", format!("/runs/{name}/cases")),
        ("page: criteria", format!("/runs/{name}/criteria")),
        ("page: trend", "/trend".to_owned()),
        ("page: comparison", format!("/compare?base={name}&candidate={name}")),
        ("page: side by side", format!("/matrix?run={name}&run={name}")),
    ] {
        all.push(shown(page, send(&host, &cookie, "GET", &path, ""), None));
    }
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");

    all
}

#[test]
fn all_outputs_show_one_conclusion() {
    let server = MockServer::start(judge);
    let mut problems = Vec::new();
    let mut table = String::new();
    for Situation { name, args, then, exit_code, says, in_lists } in SITUATIONS {
        let cli = files(&server);
        if name == "label to fail" {
            let line =
                r#"{"case":"read","criterion":"C4","label":"pass","severity":"high"}"#.to_owned() + "\n";
            cli.file("decisions.jsonl", line);
            cli.run(&[args, &["--run-dir", ".assize/runs/before"][..]].concat());
            cli.run(&["review", "before", "--who", "ann", "--decisions", "decisions.jsonl"]).expect_code(0);
        }
        let run = ".assize/runs/one";
        let first = cli.run(&[args, &["--run-dir", run][..]].concat());
        match then {
            Then::Nothing => {
                if first.code != Some(exit_code) || !first.stdout.contains(says) {
                    problems.push(format!(
                        "{name}: terminal: {:?}: {}{}",
                        first.code, first.stdout, first.stderr
                    ));
                }
            }
            Then::Label(case, criterion, outcome) => {
                let line =
                    json!({ "case": case, "criterion": criterion, "label": outcome, "severity": "high" });
                cli.file("decisions.jsonl", format!("{line}\n"));
                if name == "label to fail" {
                    std::fs::remove_dir_all(cli.path("labelled/labels")).expect("the label is there");
                }
                let args = ["review", run, "--who", "ann", "--decisions", "decisions.jsonl"];
                cli.run(&args).expect_code(0);
            }
            Then::Killed => kill(&cli, run),
        }

        let is_card = args[0] == "scorecard";
        let case = match (args.contains(&"b*"), then) {
            (_, Then::Label(case, ..)) => case,
            (true, _) => "bad",
            (false, _) if name == "stopped early" || name == "budget" || name == "shard" => "bad",
            (false, _) => "good",
        };
        let shown = outputs(&cli, run, case, is_card);
        let reported = shown.iter().find(|one| one.name == "json").and_then(|one| one.conclusion.clone());
        let mut row = Vec::new();
        for Shown { name: output, text, exit_code: stated, conclusion } in shown {
            let is_right = stated.is_none_or(|stated| stated == i64::from(exit_code));
            let told = match &conclusion {
                Some(found) => Some(found) == reported.as_ref() && !found.is_null(),
                // A trend leaves out shards, which are not comparable.
                None if output == "page: trend" && name == "shard" => !text.contains("data-row"),
                // A list has no room for all cases and dates.
                None if output == "list" || output.starts_with("page: ") => text.contains(in_lists),
                // A narrow table wraps its cells.
                None if output.starts_with("result: ") => {
                    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                    words(&text).contains(&words(in_lists))
                }
                None => text.contains(says),
            };
            row.push(format!("{output} {}", if is_right && told { "ok" } else { "NO" }));
            if !is_right || !told {
                let start: String = text.chars().take(1500).collect();
                problems.push(format!(
                    "{name}: {output} (exit code {stated:?}, expected {exit_code} and `{says}`): {start}"
                ));
            }
        }
        writeln!(table, "{name} ({exit_code}): {}", row.join(", ")).expect("a string takes everything");
    }
    assert!(problems.is_empty(), "{table}\n{}", problems.join("\n----\n"));
}

#[test]
fn a_whole_run_has_nothing_to_add() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &[("good", "judged", "fine")]);
    run(&cli, &[]).expect_code(0);
    let found = printed(&cli.run(&["report", "last", "--format", "json"]).expect_code(0));
    assert_eq!((&found["exit_code"], &found["conclusion"]), (&0.into(), &serde_json::json!({})));
}
