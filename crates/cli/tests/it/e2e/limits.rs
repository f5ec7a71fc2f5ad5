//! Every limit in `docs/limits.md`, with a file that exceeds it.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use assize_testkit::cli::{CliOutput, CliTest};

use crate::e2e::bench::{cli, object};

/// The test of a limit: here, or in another crate by its file and name.
enum LimitTest {
    Here(fn(&CliTest)),
    There(&'static str, &'static str),
}

use LimitTest::{Here, There};

/// Tests of reports.
const REPORTS: &str = "report/tests/text/reports.rs";

/// Tests of requests to the grading service.
const HOSTILE: &str = "serve/tests/it/hostile.rs";

/// The rows of the page.
const LIMITS: &[(&str, LimitTest)] = &[
    ("kind of file", Here(special_files_are_refused)),
    ("YAML or JSON file", Here(|cli| sparse(cli, "a.eval.yaml", 65, &["validate", "a.eval.yaml"], "E0505"))),
    ("line of a JSONL file", Here(long_lines_are_refused)),
    (
        "settings file (targets, configuration, prices)",
        Here(|cli| sparse(cli, "t.yaml", 5, &["eval", "s.yaml", "--targets", "t.yaml"], "E0502")),
    ),
    ("attached text", Here(large_attachments_are_refused)),
    (
        "file to convert, file of another tool's records, part of an archive",
        Here(|cli| {
            sparse(cli, "a.csv", 257, &["convert", "--to", "tests", "a.csv"], "larger than 256 MiB");
        }),
    ),
    ("parts of an archive", There("records/src/archive.rs", "an_archive_has_a_million_parts_at_most")),
    (
        "label file",
        Here(|cli| sparse(cli, "a.csv", 65, &["calibrate", "agreement", "a.csv"], "larger than 64 MiB")),
    ),
    (
        "table of answers or tests in another encoding than UTF-8",
        Here(|cli| {
            cli.file("r.yaml", "criteria: [Says yes.]");
            let grade = ["grade", "r.yaml", "--answers", "a.csv", "--encoding", "windows-1252"];
            sparse(cli, "a.csv", 65, &[&grade[..], &["--judge", "offline"]].concat(), "larger than 64 MiB");
        }),
    ),
    ("Parquet file", There("table/tests/it/parquet.rs", "pages_that_decompress_without_end_are_refused")),
    (
        "decision sent from a review page",
        There("view/tests/it/review.rs", "a_decision_larger_than_the_limit_is_refused"),
    ),
    (
        "text in a table of `review --export`",
        There("review/src/spreadsheet.rs", "a_table_has_every_text_but_none_of_the_judge"),
    ),
    ("files that a pattern matches", Here(long_searches_are_refused)),
    ("nesting", Here(|cli| yaml(cli, &format!("tests: {}{}", "[".repeat(120), "]".repeat(120)), "E0005"))),
    ("keys of a map", Here(large_maps_are_refused)),
    ("copies by aliases", Here(aliases_of_long_texts_are_refused)),
    ("cases generated from prompts, tests and variables", Here(matrices_do_not_explode)),
    ("text that a template renders", There("load/tests/it/matrix.rs", "no_template_grows_beyond_its_limit")),
    (
        "values of `vars` in the texts of a case",
        There("evalfile/src/decode/vars.rs", "values_that_are_inserted_again_and_again_are_refused"),
    ),
    ("graders of a list, included ones among them", Here(includes_do_not_multiply)),
    ("problems of a file", Here(problems_are_counted)),
    (
        "time of a check by a pattern, a schema or a parser of SQL",
        There("run/src/grading/timed_check.rs", "a_schema_that_explodes_is_given_up"),
    ),
    (
        "SQL that is checked",
        There("grade/src/check/sql/mod.rs", "long_and_deep_texts_are_not_checked_and_break_nothing"),
    ),
    (
        "statements that a context grader decides on",
        There("grade/src/context.rs", "nothing_to_decide_on_is_no_rubric_and_too_much_is_refused"),
    ),
    ("memory of a script", There("script/tests/script.rs", "limits_stop_a_script")),
    ("instructions of a script", There("script/tests/script.rs", "limits_stop_a_script")),
    ("time of a script", There("script/src/script.rs", "the_clock_stops_a_script_that_takes_few_steps")),
    ("size of a script", There("script/tests/script.rs", "limits_stop_a_script")),
    ("reply of a model", There("llm/tests/it/faults.rs", "an_answer_beyond_the_size_limit")),
    ("output of a grading program", Here(long_output_of_programs_is_refused)),
    ("files of a workspace", There("workspace/tests/changes.rs", "a_workspace_without_end_is_refused")),
    (
        "samples of a call of `grade`, for agents",
        There("mcp/tests/it/limits.rs", "more_than_a_thousand_samples_are_refused"),
    ),
    (
        "runs in progress of one server for agents",
        There("mcp/tests/it/limits.rs", "a_fifth_run_waits_for_nobody_and_is_refused"),
    ),
    (
        "shards of a plan",
        Here(|cli| expect_refusal(cli.run(&["eval", "s.yaml", "--shard", "1/100001"]), "1 to 100000 shards")),
    ),
    (
        "line of a file of imported replies",
        There("llm/src/batch_lines.rs", "a_file_is_read_to_its_end_whatever_single_lines_are_like"),
    ),
    ("body of a request", There(HOSTILE, "limits_of_requests_are_told_by_name")),
    (
        "bodies of all requests that are being received or worked on",
        There(HOSTILE, "bodies_of_all_requests_together_are_limited"),
    ),
    ("nesting of a body", There(HOSTILE, "limits_of_requests_are_told_by_name")),
    ("samples of a request; pairs within its groups", There(HOSTILE, "limits_of_requests_are_told_by_name")),
    (
        "rubric or scorecard in a request",
        There("serve/src/inline_rubric.rs", "a_rubric_that_is_too_long_is_not_decoded"),
    ),
    (
        "criteria of a rubric in a request with the values of `vars`",
        There("serve/src/inline_rubric.rs", "values_of_samples_do_not_make_a_rubric_longer_than_is_allowed"),
    ),
    ("criteria of a rubric in a request", There(HOSTILE, "limits_of_requests_are_told_by_name")),
    (
        "judge calls of a sample by a rubric in a request",
        There(
            "serve/src/inline_rubric.rs",
            "a_rubric_may_name_only_judges_of_the_server_and_ask_for_so_many_calls",
        ),
    ),
    ("id, group, idempotency key", There(HOSTILE, "limits_of_requests_are_told_by_name")),
    ("problems of a request", There(HOSTILE, "problems_beyond_a_hundred_are_counted")),
    ("samples accepted at once", There(HOSTILE, "a_full_queue_refuses_with_a_time_to_try_again")),
    ("connections", There(HOSTILE, "connections_beyond_the_limit_wait")),
    (
        "first request of a connection; headers of a request",
        There(HOSTILE, "connections_that_ask_nothing_are_closed_before_anybody_needs_a_key"),
    ),
    (
        "connection without a request",
        There(
            "serve/src/connection_watch.rs",
            "a_connection_needs_a_request_and_a_client_that_takes_its_reply",
        ),
    ),
    ("time to receive the body of a request", There(HOSTILE, "clients_that_dawdle_are_shown_out")),
    (
        "client that stops reading its reply (on HTTP/2, one of its replies)",
        There(HOSTILE, "a_stream_whose_client_takes_nothing_ends_its_connection"),
    ),
    (
        "rubric with `{{ }}`, multiplied by the samples of the request",
        There("serve/src/inline_rubric.rs", "a_long_rubric_is_not_decoded_for_many_samples"),
    ),
    (
        "answers remembered for `Idempotency-Key`",
        There("serve/src/idempotency.rs", "the_oldest_requests_are_forgotten"),
    ),
    ("formula of a `multi` grader", There("rubric/src/formula.rs", "nothing_else_is_read")),
    (
        "text of an OpenAI grader with the values of its references",
        There("serve/src/adapters/template.rs", "a_long_value_is_not_filled_in_again_and_again"),
    ),
    (
        "numbers of the `range` of a `score_model` grader",
        There(
            "serve/tests/it/adapters.rs",
            "graders_that_no_answer_could_satisfy_are_problems_of_the_request",
        ),
    ),
    ("requests of a batch", There("llm/src/batch/draft.rs", "a_batch_is_full_at_the_limits_of_its_format")),
    ("bytes of a batch", There("llm/src/batch/draft.rs", "a_batch_is_full_at_the_limits_of_its_format")),
    (
        "fewest requests of a batch",
        There(
            "cli/tests/it/runs/judge_batch/bedrock.rs",
            "too_few_requests_for_a_job_are_asked_live_with_a_note",
        ),
    ),
    ("cases of an HTML page", There(REPORTS, "a_page_is_bounded_and_counts_what_it_leaves_out")),
    (
        "question, reference or answer in an HTML page",
        There(REPORTS, "a_page_is_bounded_and_counts_what_it_leaves_out"),
    ),
    ("Markdown", There(REPORTS, "markdown_fits_a_comment_and_says_what_it_leaves_out")),
    ("annotations of a kind", There(REPORTS, "annotations_are_commands_of_one_line_and_few")),
];

#[test]
fn every_limit_holds() {
    for (name, test) in LIMITS {
        println!("{name}");
        match test {
            Here(test) => {
                let cli = cli();
                cli.file("s.yaml", "tests:\n- {id: a, input: x, output: y, assertions: [y]}\n");
                test(&cli);
            }
            There(file, name) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
                let text = std::fs::read_to_string(path).expect("the file is there");
                assert!(text.contains(&format!("fn {name}(")), "{file} has no test `{name}`");
            }
        }
    }
}

#[test]
fn every_limit_of_the_page_has_a_test() {
    let page = include_str!("../../../../../docs/limits.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let rows: Vec<&str> = rows.filter(|name| *name != "what").collect();
    assert_eq!(rows, LIMITS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

/// Checks that a command is refused with these words and a short message.
#[track_caller]
fn expect_refusal(output: CliOutput, words: &str) {
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains(words), "no `{words}` in: {told:.2000}");
    assert!(told.len() < 300_000, "{} bytes of output", told.len());
    output.expect_code(2);
}

/// Checks that an eval file is refused.
#[track_caller]
fn yaml(cli: &CliTest, text: &str, words: &str) {
    cli.file("a.eval.yaml", text);
    expect_refusal(cli.run(&["validate", "a.eval.yaml"]), words);
}

/// Checks that a file of this many MiB is refused. The file is sparse.
#[track_caller]
fn sparse(cli: &CliTest, name: &str, mebibytes: u64, args: &[&str], words: &str) {
    File::create(cli.path(name)).and_then(|file| file.set_len(mebibytes << 20)).expect("a file");
    expect_refusal(cli.run(args), words);
}

fn matrices_do_not_explode(cli: &CliTest) {
    let list = format!("[{}]", vec!["'x'"; 60].join(", "));
    let text = format!(
        "prompts: [p]\nproviders: [echo]\ntests:\n- vars: {{a: {list}, b: {list}, c: {list}}}\n  assert: [{{type: contains, value: p}}]\n"
    );
    yaml(cli, &text, "E0424");

    // A long prompt counts for each of the values.
    cli.file("p.txt", "x".repeat(8 << 20));
    let list = format!("[{}]", vec!["'x'"; 40].join(", "));
    let text = format!(
        "prompts: [file://p.txt]\nproviders: [echo]\ntests:\n- vars: {{a: {list}}}\n  assert: [{{type: contains, value: p}}]\n"
    );
    yaml(cli, &text, "E0424");
}

fn special_files_are_refused(cli: &CliTest) {
    let made = std::process::Command::new("mkfifo").arg(cli.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    cli.file("r.yaml", "criteria: [a]\n");
    cli.file("tests.yaml", "tests: pipe\n");
    cli.file("input.yaml", "tests: [{id: a, input: x, input_files: [pipe], criteria: y}]\n");

    for path in ["pipe", "/dev/zero"] {
        for args in [
            vec!["validate", path],
            vec!["lint", path],
            vec!["convert", "--to", "tests", path],
            vec!["grade", "r.yaml", "--answers", path, "--judge", "offline"],
            vec!["calibrate", "agreement", path],
            vec!["convert", "--to", "cases", path],
            vec!["--env-file", path, "validate", "s.yaml"],
            vec!["eval", "s.yaml", "--targets", path],
        ] {
            cli.run(&args).expect_code(2);
        }
    }

    for file in ["tests.yaml", "input.yaml"] {
        cli.run(&["validate", file]).expect_code(2);
    }
}

fn long_lines_are_refused(cli: &CliTest) {
    cli.file("a.jsonl", "x".repeat(17 << 20));
    expect_refusal(cli.run(&["validate", "a.jsonl"]), "E0505");
}

fn large_attachments_are_refused(cli: &CliTest) {
    File::create(cli.path("a.txt")).and_then(|file| file.set_len(17 << 20)).expect("a file");
    yaml(cli, "tests: [{id: a, input: x, input_files: [a.txt], criteria: y}]\n", "E0502");
}

fn long_searches_are_refused(cli: &CliTest) {
    for number in 0..10_001 {
        cli.file(format!("cases/{number}.yaml"), "");
    }

    yaml(cli, "tests: [file://cases/*.yaml]\n", "E0508");

    // Nothing outside the allowed folders is listed.
    for pattern in ["file:///**/*", "file://../**/*", "file:///etc/*"] {
        yaml(cli, &format!("tests: ['{pattern}']\n"), "E0503");
        let told = cli.run(&["validate", "a.eval.yaml"]);
        assert!(!told.stdout.contains("hostname") && told.stdout.len() < 4_000, "{}", told.stdout);
    }
}

fn large_maps_are_refused(cli: &CliTest) {
    let mut text = String::from("tests:\n- id: a\n  input: x\n  metadata:\n");
    for number in 0..=10_000 {
        let _ = writeln!(text, "    k{number}: 1");
    }

    yaml(cli, &text, "E0508");
}

fn aliases_of_long_texts_are_refused(cli: &CliTest) {
    let text = "x".repeat(1_000_000);
    let aliases = vec!["*a"; 100].join(", ");
    yaml(
        cli,
        &format!("x-a: &a {text}\nx-b: [{aliases}]\ntests: [{{id: a, input: x, criteria: y}}]\n"),
        "E0006",
    );

    let (open, close) = ("&a [".repeat(80), "]".repeat(80));
    let values = vec!["1"; 10_000].join(",");
    yaml(cli, &format!("x-a: {open}{values}{close}\ntests: [{{id: a, input: x, criteria: y}}]\n"), "E0006");
}

fn includes_do_not_multiply(cli: &CliTest) {
    cli.file("t1.yaml", format!("assertions:\n{}", "- include: ./t2.yaml\n".repeat(200)));
    cli.file("t2.yaml", format!("assertions:\n{}", "- include: ./t3.yaml\n".repeat(200)));
    cli.file("t3.yaml", format!("assertions:\n{}", "- {type: contains, value: x}\n".repeat(200)));
    yaml(cli, "tests: [{id: a, input: x, assertions: [{include: ./t1.yaml}]}]\n", "E0508");
}

fn problems_are_counted(cli: &CliTest) {
    let same = "- {id: a, input: x, criteria: y}\n".repeat(20_000);
    yaml(cli, &format!("tests:\n{same}"), "19799 more errors in this file");

    let old = (0..300).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "- {{id: a{number}, input: x, expected_outcome: y}}");
        text
    });
    cli.file("a.eval.yaml", format!("tests:\n{old}"));
    let output = cli.run(&["validate", "a.eval.yaml"]);
    assert!(output.stdout.contains("W0404") || output.stderr.contains("W0404"), "{:.3000}", output.stdout);
}

fn long_output_of_programs_is_refused(cli: &CliTest) {
    let command = "head -c 5000000 /dev/zero | tr '\\\\0' x";
    cli.file(
        "p.yaml",
        format!(
            "tests:\n- id: a\n  input: x\n  output: y\n  assertions:\n  - {{type: code-grader, command: [sh, -c, \"{command}\"]}}\n"
        ),
    );
    let output =
        cli.run(&["eval", "p.yaml", "--judge", "offline", "--json", "--run-dir", "run"]).expect_code(3);
    assert_eq!(object(&output)["counts"]["incomplete"], 1);
}
