//! Every limit in `docs/limits.md`, with a file that exceeds it.

use std::fmt::Write as _;
use std::fs::File;

use assize_testkit::cli::{CliOutput, CliTest};

use crate::e2e::bench::{cli, object};
use crate::e2e::named_tests::expect_test;

/// The test of a limit: here, or in another crate by its file and name.
enum LimitTest {
    Here(fn(&CliTest)),
    There(&'static str, &'static str),
}

use LimitTest::{Here, There};

impl LimitTest {
    #[track_caller]
    fn holds(&self, cli: &CliTest) {
        match self {
            Here(test) => test(cli),
            There(file, name) => expect_test(file, name, "limits.md"),
        }
    }
}

/// Tests of reports.
const REPORTS: &str = "report/src/tests/reports.rs";

/// Tests of requests to the grading service.
const HOSTILE: &str = "serve/src/tests/hostile.rs";

/// The rows of the page.
const LIMITS: &[(&str, LimitTest)] = &[
    ("kind of file", Here(special_files_are_refused)),
    ("YAML or JSON file", Here(|cli| sparse(cli, "a.eval.yaml", 65, &["validate", "a.eval.yaml"], "E0505"))),
    ("line of a JSONL file", Here(long_lines_are_refused)),
    (
        "settings file (targets, configuration, prices)",
        Here(|cli| sparse(cli, "t.yaml", 5, &["eval", "s.yaml", "--targets", "t.yaml"], "E0502")),
    ),
    ("files of tests that name each other", Here(files_of_tests_do_not_lead_back_to_themselves)),
    ("attached text", Here(large_attachments_are_refused)),
    (
        "file to convert, file of another tool's records, part of an archive",
        Here(|cli| {
            sparse(cli, "a.csv", 257, &["convert", "--to", "tests", "a.csv"], "larger than 256 MiB");
        }),
    ),
    ("parts of an archive", There("records/src/archive.rs", "an_archive_has_a_million_parts_at_most")),
    (
        "what a compressed file becomes (archive, spreadsheet, Parquet); texts that a log repeats by its attachments and tool calls",
        There("records/src/tests.rs", "archives_that_decompress_without_end_are_refused"),
    ),
    (
        "values of a line, or of a file that is no list of lines, of a session log or another tool's rubrics",
        There("trace/src/tests.rs", "a_record_of_too_many_values_is_not_parsed"),
    ),
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
    (
        "Parquet file, spreadsheet",
        There("table/src/tests/parquet.rs", "pages_that_decompress_without_end_are_refused"),
    ),
    (
        "columns of a table",
        Here(|cli| {
            There("table/src/parquet_footer.rs", "columns_are_counted_before_they_are_read").holds(cli);
            There("table/src/cell_scanner.rs", "a_row_has_as_many_cells_as_a_table_may_have_columns")
                .holds(cli);
        }),
    ),
    (
        "people whose labels are read",
        Here(|cli| {
            let rows: Vec<String> = (0..1_001).map(|rater| format!("c1,met,r{rater}")).collect();
            cli.file("a.csv", format!("case,label,who\n{}\n", rows.join("\n")));
            for command in
                [&["calibrate", "--labels"][..], &["calibrate", "agreement"], &["calibrate", "panel"]]
            {
                expect_refusal(cli.run(&[command, &["a.csv"]].concat()), "labels of more than 1,000 people");
            }
        }),
    ),
    (
        "decision sent from a review page",
        There("view/src/tests/review.rs", "a_decision_larger_than_the_limit_is_refused"),
    ),
    (
        "text in a table of `review --export`",
        There("review/src/spreadsheet.rs", "a_table_has_every_text_but_none_of_the_judge"),
    ),
    ("files that a pattern matches", Here(long_searches_are_refused)),
    ("nesting", Here(|cli| yaml(cli, &format!("tests: {}{}", "[".repeat(120), "]".repeat(120)), "E0005"))),
    ("keys of a map", Here(large_maps_are_refused)),
    (
        "values of a case, or of a file that is not read case by case",
        Here(|cli| {
            let values = "1,".repeat(1_000_001);
            yaml(cli, &format!("tests: [{{id: a, input: x, criteria: y, metadata: [{values}]}}]\n"), "E0508");
        }),
    ),
    ("copies by aliases", Here(aliases_of_long_texts_are_refused)),
    (
        "values of all eval files of a command and of the files that they name",
        Here(files_of_a_command_share_their_memory),
    ),
    (
        "cases generated from prompts, tests and variables",
        Here(|cli| {
            matrices_do_not_explode(cli);
            long_texts_of_many_cases_are_refused(cli);
            values_of_many_cases_are_refused(cli);
            tests_of_tables_are_counted(cli);
        }),
    ),
    ("tests generated by a scenario", Here(scenarios_do_not_explode)),
    ("assertions after `$ref`s, sets and defaults", Here(references_do_not_explode)),
    ("template", There("template/src/limits.rs", "size_is_limited_and_length_is_no_depth")),
    (
        "tags and operators of a template inside of each other, chains among them",
        Here(deep_templates_are_refused),
    ),
    ("text that a template renders", There("load/src/tests/matrix.rs", "no_template_grows_beyond_its_limit")),
    ("time of all JavaScript that runs while a file is read", Here(scripts_of_a_file_share_their_time)),
    (
        "values that such JavaScript returns, and scripts of graders",
        There("script/src/tests.rs", "a_result_of_too_many_values_is_refused"),
    ),
    ("all templates that are rendered while a file is read", Here(templates_of_a_file_share_their_steps)),
    (
        "time to compile the patterns of a file, without those that take less than a millisecond",
        Here(patterns_of_a_file_share_their_time),
    ),
    ("files that a file names again", Here(files_that_are_named_again_count_again)),
    (
        "values of `vars` in the texts of a case",
        There("evalfile/src/decode/vars.rs", "values_that_are_inserted_again_and_again_are_refused"),
    ),
    (
        "targets of a file",
        Here(|cli| {
            let targets = list_of(1_001, "{name: t#, provider: mock, response: x}");
            cli.file("t.yaml", format!("targets: {targets}\n"));
            expect_refusal(cli.run(&["eval", "s.yaml", "--targets", "t.yaml"]), "more than 1000 targets");
        }),
    ),
    (
        "trials of a case",
        Here(|cli| {
            yaml(
                cli,
                "tests: [{id: a, input: x, output: y, criteria: z, execution: {trials: {count: 1001}}}]\n",
                "1000",
            );
        }),
    ),
    ("graders of a list, included ones among them", Here(includes_do_not_multiply)),
    ("problems of a file", Here(problems_are_counted)),
    (
        "time of a check by a pattern, a schema, a script or a parser of SQL",
        There("grade/src/check_threads.rs", "checks_that_run_on_take_places_of_their_own_client_only"),
    ),
    (
        "SQL that is checked",
        There("grade/src/check/sql/mod.rs", "long_and_deep_texts_are_not_checked_and_break_nothing"),
    ),
    (
        "statements that a context grader decides on",
        There("grade/src/context.rs", "nothing_to_decide_on_is_no_rubric_and_too_much_is_refused"),
    ),
    ("memory of a script", There("script/src/tests.rs", "limits_stop_a_script")),
    ("instructions of a script", There("script/src/tests.rs", "limits_stop_a_script")),
    ("time of a script", There("script/src/engine.rs", "the_clock_stops_a_script_that_takes_few_steps")),
    ("size of a script", Here(large_scripts_are_refused)),
    ("reply of a model", There("llm/src/tests/faults.rs", "an_answer_beyond_the_size_limit")),
    ("output of a grading program", Here(long_output_of_programs_is_refused)),
    ("output of a program that writes a part of a file", Here(long_prompts_of_programs_are_refused)),
    ("image in a prompt", Here(large_images_are_not_sent)),
    ("files of a workspace", There("workspace/src/tests.rs", "a_workspace_without_end_is_refused")),
    (
        "message from an agent",
        There("mcp/src/message_limit.rs", "a_request_that_is_too_long_becomes_one_with_its_id"),
    ),
    (
        "samples of a call of `grade`, for agents",
        There("mcp/src/tests/limits.rs", "more_than_a_thousand_samples_are_refused"),
    ),
    (
        "runs in progress of one server for agents",
        There("mcp/src/tests/limits.rs", "a_fifth_run_waits_for_nobody_and_is_refused"),
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
        There(HOSTILE, "bodies_are_counted_by_the_memory_that_their_values_take"),
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
            "serve/src/tests/adapters.rs",
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
        let cli = cli();
        cli.file("s.yaml", "tests:\n- {id: a, input: x, output: y, assertions: [y]}\n");
        test.holds(&cli);
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

fn files_of_tests_do_not_lead_back_to_themselves(cli: &CliTest) {
    cli.file("loop.yaml", "- file://loop.yaml\n");
    cli.file(
        "scenarios.yaml",
        "- {config: [{vars: {a: b}}], tests: [{vars: {c: d}}]}\n- file://scenarios.yaml\n",
    );
    for keys in ["tests: file://loop.yaml", "tests: [file://loop.yaml]", "scenarios: [file://scenarios.yaml]"]
    {
        matrix(cli, &format!("prompts: [p]\n{keys}\n"), "E0313");
    }
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

/// A matrix file with these keys, and a test of each prompt.
fn matrix(cli: &CliTest, keys: &str, words: &str) {
    yaml(cli, &format!("providers: [echo]\n{keys}"), words);
}

fn scenarios_do_not_explode(cli: &CliTest) {
    let list = |name: &str, count: usize| {
        let items: Vec<String> =
            (0..count).map(|number| format!("{{vars: {{{name}: '{number}'}}}}")).collect();
        items.join(", ")
    };
    let scenario = |count| {
        format!(
            "prompts: [p]\nscenarios:\n- {{config: [{}], tests: [{}]}}\n",
            list("i", count),
            list("j", count)
        )
    };
    matrix(cli, &scenario(400), "more than 100000 tests");

    cli.file("a.eval.yaml", format!("providers: [echo]\n{}", scenario(60)));
    let found = cli.run(&["validate", "a.eval.yaml"]).expect_code(0).stdout;
    assert!(found.contains("3600 cases"), "{found}");
}

/// Places of a test that each case takes a copy of.
const COPIED: [&str; 6] = [
    "defaultTest: {vars: {x: TEXT}}\ntests: MANY",
    "defaultTest: {metadata: {x: TEXT}}\ntests: MANY",
    "defaultTest: {assert: [{type: contains, value: TEXT}]}\ntests: MANY",
    "tests: [{vars: {x: TEXT, i: NUMBERS, j: NUMBERS}}]",
    "scenarios: [{config: [{vars: {x: TEXT}}], tests: MANY}]",
    "defaultTest: {vars: {x: TEXT}}\nscenarios: [{config: MANY, tests: MANY}]",
];

fn long_texts_of_many_cases_are_refused(cli: &CliTest) {
    let many = format!("[{}]", vec!["{vars: {y: z}}"; 120].join(", "));
    let numbers = format!("[{}]", vec!["'1'"; 20].join(", "));
    let text = format!("'{}'", "x".repeat(1_000_000));
    for place in COPIED {
        let file = place.replace("MANY", &many).replace("NUMBERS", &numbers).replace("TEXT", &text);
        matrix(cli, &format!("prompts: [p]\n{file}\n"), "64 MiB of texts");
    }
}

/// A list of this many items, in which `#` is the number of each.
fn list_of(count: usize, item: &str) -> String {
    let items: Vec<String> = (0..count).map(|number| item.replace('#', &number.to_string())).collect();
    format!("[{}]", items.join(", "))
}

fn values_of_many_cases_are_refused(cli: &CliTest) {
    let [i, j] = ["{vars: {i: '#'}}", "{vars: {j: '#'}}"].map(|item| list_of(310, item));
    matrix(cli, &format!("prompts: [p]\nscenarios: [{{config: {i}, tests: {j}}}]\n"), "96 MiB of values");

    let numbers = list_of(70, "'#'");
    for copied in [
        format!("assert: {}", list_of(100, "{type: contains, value: x#}")),
        format!("metadata: {{x: {}}}", list_of(300, "[]")),
        format!("vars: {{x: {{y: {}}}}}", list_of(300, "[]")),
    ] {
        let tests = format!("tests: [{{vars: {{i: {numbers}, j: {numbers}}}}}]");
        matrix(cli, &format!("prompts: [p]\ndefaultTest: {{{copied}}}\n{tests}\n"), "96 MiB of values");
    }

    // A larger file may become more, up to its own limit.
    let (prompts, text) = (list_of(60, "'p# {{ a }}'"), "y".repeat(16_000));
    let tests = list_of(300, &format!("{{vars: {{a: '# {text}'}}}}"));
    matrix(cli, &format!("prompts: {prompts}\ntests: {tests}\n"), "64 MiB of texts");

    let (providers, numbers) = (list_of(100, "{id: echo, label: e#}"), list_of(300, "'#'"));
    let file =
        format!("prompts: [p]\nproviders: {providers}\ntests: [{{vars: {{i: {numbers}, j: {numbers}}}}}]\n");
    yaml(cli, &file, "1000000 answers");

    // A prompt of a judge is not copied.
    let asked = "assert: [{type: llm-rubric, value: v}], options: {rubricPrompt: '";
    let [text, numbers] = ["x".repeat(1_000_000), list_of(60, "'#'")];
    let file = format!(
        "providers: [echo]\nprompts: [p]\ndefaultTest: {{{asked}{text}'}}}}\ntests: [{{vars: {{i: {numbers}, j: {numbers}}}}}]\n"
    );
    cli.file("a.eval.yaml", file);
    cli.run(&["validate", "a.eval.yaml"]).expect_code(0);

    // Variables that name each other take no longer than they are long, and can't become longer than texts of other cases.
    let chain = |of: &dyn Fn(usize) -> usize, first: &str| {
        let rest: Vec<String> =
            (1..5_000).map(|number| format!("v{number}: '{{{{ v{} }}}}'", of(number))).collect();
        format!(
            "prompts: ['{{{{ v4999 }}}}']\ntests: [{{vars: {{v0: {first}, {}}}, assert: [{{type: contains, value: a}}]}}]\n",
            rest.join(", ")
        )
    };
    cli.file("a.eval.yaml", format!("providers: [echo]\n{}", chain(&|number| number - 1, "a")));
    cli.run(&["validate", "a.eval.yaml"]).expect_code(0);
    matrix(cli, &chain(&|_| 0, &"x".repeat(100_000)), "the variables of this test become too long");
}

fn tests_of_tables_are_counted(cli: &CliTest) {
    let rows: Vec<String> = (0..60_000).map(|row| format!("q{row},a")).collect();
    let table = format!("question,__expected\n{}\n", rows.join("\n"));
    cli.file("t.csv", &table);
    let providers = list_of(10, "{id: echo, label: e#}");
    cli.file(
        "a.eval.yaml",
        format!("prompts: ['{{{{question}}}}']\nproviders: {providers}\ntests: file://t.csv\n"),
    );
    // At a row, before there is a case.
    for command in [&["validate", "a.eval.yaml"][..], &["eval", "a.eval.yaml", "--dry-run"]] {
        let found = cli.run(command);
        assert!(found.stderr.contains("t.csv:5") || found.stdout.contains("t.csv:5"), "{found:?}");
        expect_refusal(found, "96 MiB of values");
    }

    // All tables of a file share one limit.
    let half = table.lines().take(30_000).collect::<Vec<_>>().join("\n");
    cli.file("t.csv", &half);
    cli.file("u.csv", half.replace('q', "v"));
    matrix(cli, "prompts: [p]\ntests: [file://t.csv, file://u.csv]\n", "96 MiB of values");
}

fn templates_of_a_file_share_their_steps(cli: &CliTest) {
    let tests = list_of(300, "{vars: {a: '#'}, assert: [{type: contains, value: a}]}");
    let loops = "{% for a in range(90) %}{% for b in range(90) %}{% endfor %}{% endfor %}";
    let template = format!("{loops}{{# {} #}}a", "x".repeat(1_000_000));
    matrix(
        cli,
        &format!("prompts: ['{template}']\ntests: {tests}\n"),
        "the templates of this file take too long",
    );
}

fn patterns_of_a_file_share_their_time(cli: &CliTest) {
    let pattern = r"(?:[\p{L}\p{N}]{1,60}#){3}";
    let patterns = list_of(900, &format!("{{type: regex, value: '{pattern}'}}"));
    let schemas =
        list_of(900, &format!("{{type: is-json, schema: {{properties: {{a: {{pattern: '{pattern}'}}}}}}}}"));
    for graders in [patterns, schemas] {
        let file = format!("tests: [{{id: a, input: x, output: y, assertions: {graders}}}]\n");
        yaml(cli, &file, "the patterns of this file have taken 4 s together");
    }
}

fn files_that_are_named_again_count_again(cli: &CliTest) {
    cli.file("big.txt", "x".repeat(12 << 20));
    for test in [
        "{id: c#, input: x, output: 'file://big.txt', criteria: z}",
        "{id: c#, input: x, output: y, assertions: [{type: llm-grader, prompt: 'file://big.txt'}]}",
    ] {
        yaml(cli, &format!("tests: {}\n", list_of(30, test)), "the same files are named too often");
    }
}

fn references_do_not_explode(cli: &CliTest) {
    let mut text = String::from("prompts: [p]\nassertionTemplates:\n  t0: {type: contains, value: x}\n");
    for level in 1..8 {
        let reference = format!("{{$ref: '#/assertionTemplates/t{}'}}", level - 1);
        let _ =
            writeln!(text, "  t{level}: {{type: assert-set, assert: [{}]}}", vec![reference; 30].join(", "));
    }
    text.push_str("tests:\n- assert: [{$ref: '#/assertionTemplates/t7'}]\n");
    matrix(cli, &text, "more than 10000 assertions in a test");

    // Each reference is a copy of its template.
    let long = "x".repeat(100_000);
    let references = vec!["{$ref: '#/assertionTemplates/t'}"; 9_000].join(", ");
    let text = format!(
        "prompts: [p]\nassertionTemplates: {{t: {{type: contains, value: {long}}}}}\ntests: [{{assert: [{references}]}}]\n"
    );
    matrix(cli, &text, "64 MiB of texts");
}

fn deep_templates_are_refused(cli: &CliTest) {
    const COUNT: usize = 20_000;
    for (before, part, after) in [
        ("{{ -", "-", "1 }}"),
        ("{{ ", "not ", "a }}"),
        ("{{ a", " + 1", " }}"),
        ("{{ a", " ~ a", " }}"),
        ("{{ a", " and a", " }}"),
        ("{{ a", "|string", " }}"),
        ("{{ a", ".a", " }}"),
        ("{{ a", "()", " }}"),
        ("{{ a", " if a else a", " }}"),
        ("{% if a %}", "{% elif a %}", "{% endif %}"),
    ] {
        let template = format!("{before}{}{after}", part.repeat(COUNT));
        let keys = format!(
            "prompts: ['{template}']\ntests: [{{vars: {{a: b}}, assert: [{{type: contains, value: p}}]}}]\n"
        );
        matrix(cli, &keys, "more than 200 tags and operators inside of each other");
    }
}

fn scripts_of_a_file_share_their_time(cli: &CliTest) {
    cli.file(
        "p.js",
        "module.exports = () => { for (;;) { try { ''.padEnd(1e6, 'ab').split('b') } catch {} } }",
    );
    let tests: Vec<String> = (0..20)
        .map(|number| format!("{{vars: {{a: '{number}'}}, assert: [{{type: contains, value: p}}]}}"))
        .collect();
    let keys = format!("prompts: ['file://p.js']\ntests: [{}]\n", tests.join(", "));
    matrix(cli, &keys, "the scripts of this file have taken 10 s together");
}

fn large_scripts_are_refused(cli: &CliTest) {
    There("script/src/tests.rs", "limits_stop_a_script").holds(cli);
    There("script/src/tests.rs", "a_file_that_is_too_large_is_not_compiled_to_tell_its_form").holds(cli);

    cli.file("p.js", format!("module.exports = () => 'x';\n//{}", "x".repeat(1 << 20)));
    for keys in [
        "prompts: [file://p.js]\ntests: [{vars: {a: b}}]",
        "prompts: [p]\ntests: file://p.js",
        "prompts: [p]\ntests: [{vars: {a: file://p.js}}]",
        "prompts: [p]\ntests: [{assert: [{type: javascript, value: file://p.js}]}]",
        "prompts: [p]\ntests: [{vars: {a: b}, options: {transform: file://p.js}}]",
        "prompts: [p]\ntests: [{vars: {a: b}, options: {transformVars: file://p.js}}]",
    ] {
        matrix(cli, &format!("{keys}\n"), "larger than 1024 KiB");
    }
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

    // All files together have a limit too.
    let keys: Vec<String> = (0..100).map(|number| format!("k{number}: v")).collect();
    cli.file("b.yaml", format!("- &t {{vars: {{{}}}}}\n{}", keys.join(", "), "- *t\n".repeat(450)));
    let tests = list_of(20, "'file://b.yaml'");
    matrix(
        cli,
        &format!("prompts: [p]\ntests: {tests}\n"),
        "the values of all files together take too much memory",
    );
}

fn files_of_a_command_share_their_memory(cli: &CliTest) {
    let (values, aliases) = (list_of(99, "1"), list_of(900, "*x"));
    for number in 0..20 {
        let data = format!("{{first: &x {values}, more: {aliases}}}");
        cli.file(
            format!("many/{number}.eval.yaml"),
            format!("tests: [{{id: a, input: x, criteria: y, metadata: {data}}}]\n"),
        );
    }
    expect_refusal(cli.run(&["validate", "many"]), "the values of all files together take too much memory");
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

fn long_prompts_of_programs_are_refused(cli: &CliTest) {
    let keys = "prompts: ['exec:head -c 70000000 /dev/zero']\nproviders: [echo]\ntests: [{assert: [{type: contains, value: p}]}]\n";
    cli.file("a.eval.yaml", keys);
    expect_refusal(cli.run(&["eval", "a.eval.yaml", "--allow-code"]), "E0426");
}

fn large_images_are_not_sent(cli: &CliTest) {
    File::create(cli.path("a.png")).and_then(|file| file.set_len(17 << 20)).expect("a file");
    cli.file(
        "p.yaml",
        "targets: [{name: t, provider: openai, model: m, api_key: k, base_url: 'http://127.0.0.1:9/v1'}]\nexecution: {target: t}\n\
         tests:\n- id: a\n  input: [{role: user, content: [{type: image, value: a.png}]}]\n  criteria: z\n",
    );
    let output = cli.run(&["eval", "p.yaml", "--judge", "offline", "--max-retries", "0"]);
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains("larger than 16 MiB"), "{told:.2000}");
}
