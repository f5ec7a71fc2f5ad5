//! Files that the tools themselves wrote, shortened; and damaged ones.

use std::path::{Path, PathBuf};

use crate::{Record, RecordError, RecordFile, RecordFormat, detect_records, read_records};
use serde_json::json;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(path: &Path) -> RecordFile {
    let format = detect_records(path).expect("readable").expect("records");
    read_records(path, format).expect("well formed")
}

fn ids(file: &RecordFile) -> Vec<&str> {
    file.records.iter().map(|record| record.id.as_str()).collect()
}

fn reason(record: &Record) -> &str {
    record.output.as_ref().expect_err("no answer")
}

/// Returns the error for a file with this content.
fn error_of(name: &str, content: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("written");
    match detect_records(&path) {
        Err(error) => error.to_string(),
        Ok(None) => "not recognised".to_owned(),
        Ok(Some(format)) => read_records(&path, format).expect_err("damaged").to_string(),
    }
}

#[test]
fn formats_are_told_by_their_content() {
    for (name, format) in [
        ("capitals.eval", RecordFormat::Inspect),
        ("capitals.json", RecordFormat::Inspect),
        ("promptfoo.json", RecordFormat::Promptfoo),
        ("promptfoo.jsonl", RecordFormat::Promptfoo),
        ("openai-evals.jsonl", RecordFormat::OpenAiEvals),
        ("openai-evals-samples.jsonl", RecordFormat::OpenAiEvals),
        ("deepeval.json", RecordFormat::DeepEval),
        ("deepeval.jsonl", RecordFormat::DeepEval),
        ("deepeval-conversation.json", RecordFormat::DeepEval),
        ("skill-evals.json", RecordFormat::SkillEvals),
    ] {
        // The name of the file must not matter.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records");
        std::fs::copy(data(name), &path).expect("copied");
        assert_eq!(detect_records(&path).expect("readable"), Some(format), "{name}");
    }

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("answers.jsonl");
    for other in [
        "{\"id\": 1, \"answer\": \"a\", \"results\": 3}\n{",
        "id,answer\n1,a\n",
        "",
        "[]",
        "tests:\n  - a",
        "{",
    ] {
        std::fs::write(&path, other).expect("written");
        assert_eq!(detect_records(&path).expect("readable"), None, "{other}");
    }
}

#[test]
fn both_kinds_of_inspect_logs_hold_the_same() {
    let file = read(&data("capitals.eval"));
    assert_eq!(file, read(&data("capitals.json")));
    assert_eq!(file.name.as_deref(), Some("capitals"));
    assert_eq!(file.remarks, Vec::<String>::new());
    assert_eq!(ids(&file), ["2-epoch-1", "2-epoch-2", "3-epoch-1", "3-epoch-2", "fr-epoch-1", "fr-epoch-2"]);

    let [italy, _, choice, _, france, _] = file.records.as_slice() else { panic!("six records") };
    assert_eq!(italy.reference.as_deref(), Some("Any of these:\n- Rome\n- Roma"));
    assert_eq!(
        choice.input,
        Some(json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Which one?\n\nA) a\nB) b"},
        ]))
    );
    assert_eq!(france.input, Some(json!("What is the capital of France?")));
    assert_eq!(france.output, Ok(json!("Default output from mockllm/model")));
    assert_eq!(france.metadata["cluster"], "fr");
    assert_eq!(france.metadata["scores"], json!({"includes": "I", "match": "I"}));
    assert_eq!(france.metadata["area"], "Europe");
}

#[test]
fn tool_calls_of_inspect_are_part_of_the_answer() {
    let file = read(&data("tools.eval"));
    let call = json!({"tool": "add", "input": {"x": 1, "y": 1}, "output": "2"});
    assert_eq!(
        file.records[0].output,
        Ok(json!([
            {"role": "assistant", "content": "tool call for tool add", "tool_calls": [call]},
            {"role": "assistant", "content": "It is 2."},
        ]))
    );
}

#[test]
fn test_runs_of_deepeval_hold_answers_and_scores() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let run = json!({"testCases": [
        {"name": "n1", "input": "q1", "actualOutput": "a1", "expectedOutput": "e1", "success": true,
            "metricsData": [{"name": "M", "threshold": 0.5, "success": true, "score": 1.0, "reason": "ok"}]},
        {"name": "test_case_1", "input": "q2", "actualOutput": null}
    ], "conversationalTestCases": [], "metricsScores": []});
    for text in [run.to_string(), json!({"testRunData": run}).to_string(), format!("{run:#}")] {
        std::fs::write(&path, &text).expect("written");
        assert_eq!(detect_records(&path).expect("readable"), Some(RecordFormat::DeepEval), "{text}");
        let file = read_records(&path, RecordFormat::DeepEval).expect("readable");
        assert_eq!((file.records.len(), file.records[0].id.as_str()), (2, "n1"));
        assert_eq!(file.records[0].output, Ok(json!("a1")));
        assert_eq!(file.records[0].reference.as_deref(), Some("e1"));
        assert_eq!(file.records[0].metadata["scores"], json!({"M": 1.0}));
        assert!(file.records[1].output.is_err());
    }
}

#[test]
fn the_answer_of_a_conversation_in_inspect_is_about_its_last_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.json");
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let messages = [
        message("user", "What is 1+1?"),
        message("assistant", "2"),
        message("user", "And twice that?"),
        message("assistant", "4"),
    ];
    let log = json!({
        "version": 2, "status": "success", "eval": {"task": "t", "model": "m", "dataset": {}, "config": {}},
        "samples": [{"id": 1, "epoch": 1, "input": "What is 1+1?", "target": "4", "messages": messages,
            "output": {"completion": "4", "choices": [{"message": messages[3]}]}}]
    });
    std::fs::write(&path, log.to_string()).expect("written");

    let file = read_records(&path, RecordFormat::Inspect).expect("readable");
    assert_eq!(file.records[0].input, Some(json!(messages[..3])));
    assert_eq!(file.records[0].output, Ok(json!("4")));
}

#[test]
fn parts_of_inspect_that_are_no_text_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.json");
    let image = json!({"type": "image", "image": "data:image/png;base64,AAAA"});
    let sample = |id: u32, content: serde_json::Value| {
        json!({
            "id": id, "epoch": 1, "input": [{"role": "user", "content": content}], "target": "a",
            "messages": [{"role": "user", "content": content}],
            "output": {"completion": "a", "choices": [{"message": {"role": "assistant", "content": "a"}}]}
        })
    };
    let text = json!({"type": "text", "text": "See:"});
    let log = json!({
        "version": 2, "status": "success", "eval": {"task": "t", "model": "m", "dataset": {}, "config": {}},
        "samples": [sample(1, json!([text, image])), sample(2, json!([text]))]
    });
    std::fs::write(&path, log.to_string()).expect("written");

    let file = read_records(&path, RecordFormat::Inspect).expect("readable");
    assert_eq!(file.records[0].left_out.iter().collect::<Vec<_>>(), ["image"]);
    assert!(file.records[1].left_out.is_empty());
    assert!(
        file.remarks[0].starts_with("1 of 2 samples have parts that are not text (image)"),
        "{:?}",
        file.remarks
    );
}

#[test]
fn samples_that_ended_in_an_error_have_no_answer() {
    let file = read(&data("broken.eval"));
    assert_eq!(ids(&file), ["1", "2"]);
    assert!(file.records[0].output.is_ok());
    assert_eq!(reason(&file.records[1]), "it ended in an error: ValueError('boom')");
    assert_eq!(file.records[1].to_answer(), None);
}

#[test]
fn results_of_promptfoo_are_in_the_order_of_their_tests() {
    let file = read(&data("promptfoo.json"));
    assert_eq!(file.name.as_deref(), Some("parcels"));
    assert_eq!(file.records, read(&data("promptfoo.jsonl")).records);
    assert_eq!(
        ids(&file),
        [
            "first/echo", "first/echo-2", "first/second", "first/second-2", "test-2/echo", "test-2/echo-2",
            "test-2/second", "test-2/second-2"
        ]
    );

    let first = &file.records[0];
    assert_eq!(first.output, Ok(json!("Where is parcel 17?")));
    assert_eq!(first.metadata["cluster"], "first");
    assert_eq!(first.metadata["provider"], "echo");
    assert_eq!(first.assertions.len(), 3);
    assert!(reason(&file.records[2]).starts_with("the provider failed: API call error"));
    assert_eq!(file.records[4].metadata["area"], "north");
}

#[test]
fn logs_of_openai_evals_give_the_first_completion_of_a_sample() {
    let file = read(&data("openai-evals.jsonl"));
    assert_eq!(ids(&file), ["capitals.dev.9", "capitals.dev.10"]);
    let [france, italy] = file.records.as_slice() else { panic!("two records") };
    assert_eq!(france.output, Ok(json!("It is Lyon.")));
    assert_eq!(france.reference.as_deref(), Some("Any of these:\n- Paris\n- Lutetia"));
    assert_eq!(france.metadata["scores"], json!({"correct": false, "picked": null}));
    assert_eq!(france.metadata["model"], "gpt-4o-mini");
    assert_eq!(italy.output, Ok(json!("Rome")));
    assert_eq!(file.remarks.len(), 1, "{:?}", file.remarks);

    let samples = read(&data("openai-evals-samples.jsonl"));
    assert_eq!(ids(&samples), ["line-1", "line-2"]);
    assert_eq!(samples.records[0].reference.as_deref(), Some("Madrid"));
    assert_eq!(reason(&samples.records[0]), "data sets hold no answers");
}

#[test]
fn goldens_of_deepeval_have_an_answer_where_one_was_stored() {
    let file = read(&data("deepeval.json"));
    assert_eq!(ids(&file), ["golden-1", "golden-2", "golden-3"]);
    assert_eq!(reason(&file.records[0]), "it has no `actual_output`");
    assert_eq!(file.records[0].metadata["context"], json!(["France is a country."]));
    let answer = json!([{"role": "assistant", "content": "a2", "tool_calls": [{"tool": "t"}]}]);
    assert_eq!(file.records[1].output, Ok(answer));
    assert_eq!(file.records[2].metadata["expected_tools"], json!(["search"]));
    assert_eq!(read(&data("deepeval.jsonl")).records.len(), 2);

    let talk = read(&data("deepeval-conversation.json"));
    assert_eq!(talk.records[0].output, Ok(json!("hello")));
    assert_eq!(talk.records[0].input, Some(json!([{"role": "user", "content": "hi"}])));
    assert_eq!(talk.records[0].expected_outcome.as_deref(), Some("has a ticket"));
}

#[test]
fn evals_of_skills_have_assertions_and_files() {
    let file = read(&data("skill-evals.json"));
    assert_eq!(file.name.as_deref(), Some("csv-analyzer"));
    assert_eq!(ids(&file), ["eval-1", "no-file"]);
    assert_eq!(file.records[0].assertions, [json!("Names March"), json!("States the sum of March")]);
    assert_eq!(file.records[0].files, ["sales.csv"]);
    assert_eq!(reason(&file.records[0]), "evals of a skill hold no answers");
}

/// Reads a file with this content. The format is detected.
fn read_text(content: &[u8]) -> RecordFile {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("records");
    std::fs::write(&path, content).expect("written");
    read(&path)
}

fn problems(file: &RecordFile) -> Vec<String> {
    file.problems.iter().map(ToString::to_string).collect()
}

/// A zip archive with these parts, compressed.
fn archive_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, content).expect("written");
        let packed = encoder.finish().expect("written");
        let mut crc = flate2::Crc::new();
        crc.update(content);

        let number = |value: usize| u32::try_from(value).expect("it is small").to_le_bytes();
        let sizes =
            [number(crc.sum() as usize), number(packed.len()), number(content.len()), number(name.len())];
        // Versions, flags, deflate, no time.
        let common = [&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0][..], &sizes.concat()].concat();
        let offset = number(bytes.len());
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat());
        // No comment, first disk, no attributes.
        list.extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &offset, name.as_bytes()].concat());
    }

    let count = u16::try_from(parts.len()).expect("they are few").to_le_bytes();
    let [size, start] =
        [list.len(), bytes.len()].map(|value| u32::try_from(value).expect("it is small").to_le_bytes());
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &start, &[0; 2]].concat();
    [bytes, list, end].concat()
}

#[test]
fn archives_that_decompress_without_end_are_refused() {
    let header = br#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}"#;
    let sample = |bytes: usize| {
        let input = "x".repeat(bytes);
        format!(r#"{{"id": 1, "epoch": 1, "input": "{input}", "target": "", "messages": []}}"#)
    };
    let small = sample(100_000);
    let sound = archive_of(&[("header.json", header), ("samples/1_epoch_1.json", small.as_bytes())]);
    assert_eq!(read_text(&sound).records.len(), 1);

    let large = sample(20 << 20);
    let names: Vec<String> = (1..=20).map(|number| format!("samples/{number}_epoch_1.json")).collect();
    let mut parts: Vec<(&str, &[u8])> = vec![("header.json", header)];
    parts.extend(names.iter().map(|name| (name.as_str(), large.as_bytes())));
    let bomb = archive_of(&parts);
    assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
    let error = error_of("a.eval", &bomb);
    let is_bound = error.starts_with("the parts of the archive are larger than ");
    assert!(is_bound && error.ends_with(" MiB, and more than 50 times the archive"), "{error}");

    let dense =
        format!(r#"{{"id": 1, "epoch": 1, "input": "x", "messages": [{}1]}}"#, "1,".repeat(3_000_000));
    let error =
        error_of("a.eval", &archive_of(&[("header.json", header), ("samples/1.json", dense.as_bytes())]));
    let limit =
        "the values in the parts of the archive take more than 96 MiB, and more than 50 times the archive";
    assert_eq!(error, limit);
    // Lists in lists take more than their letters say, and need no commas.
    let lists = format!("{}{}", "[".repeat(90), "]".repeat(90));
    let nested = format!(
        r#"{{"id": 1, "epoch": 1, "input": "x", "metadata": {{"m": [{}]}}}}"#,
        vec![lists.as_str(); 20_000].join(",")
    );
    let error =
        error_of("b.eval", &archive_of(&[("header.json", header), ("samples/1.json", nested.as_bytes())]));
    assert_eq!(error, limit);
    // Events are not kept, so they may be as many as there are.
    let events = format!(
        r#"{{"id": 1, "epoch": 1, "input": "x", "output": {{"completion": "y"}}, "events": [{}1]}}"#,
        "1,".repeat(3_000_000)
    );
    let file = archive_of(&[("header.json", header), ("samples/1.json", events.as_bytes())]);
    assert_eq!(read_text(&file).records.len(), 1);
}

#[test]
fn a_text_that_a_log_names_again_and_again_is_refused() {
    let header = br#"{"eval": {"task": "t"}}"#;
    let text = "x".repeat(1_000_000);
    let named = r#"{"role": "user", "content": "attachment://h"}"#;
    let call = r#"{"id": "i", "function": "f", "arguments": {}}"#;
    for sample in [
        format!(r#"{{"id": 1, "input": [{}], "attachments": {{"h": "{text}"}}}}"#, vec![named; 40].join(",")),
        format!(
            r#"{{"id": 1, "input": "q", "messages": [{}], "attachments": {{"h": "{text}"}}}}"#,
            vec![named; 40].join(",")
        ),
        format!(
            r#"{{"id": 1, "input": "q", "output": {{"completion": "y"}}, "messages": [{{"role": "assistant", "content": "a", "tool_calls": [{}]}}, {{"role": "tool", "tool_call_id": "i", "content": "{text}"}}]}}"#,
            vec![call; 40].join(",")
        ),
    ] {
        let error = error_of(
            "a.eval",
            &archive_of(&[("header.json", header), ("samples/1.json", sample.as_bytes())]),
        );
        assert!(error.contains("are repeated beyond 16 MiB, and beyond 50 times the file"), "{error}");
    }
}

#[test]
fn files_that_are_damaged_as_a_whole_are_refused() {
    let archive = std::fs::read(data("capitals.eval")).expect("readable");
    let error = error_of("a.eval", &archive[..archive.len() / 2]);
    assert!(error.contains("damaged or not complete: the list of its parts"), "{error}");

    let deep = format!("{{\"version\": 2, \"status\": \"x\", \"eval\": {}1", "[".repeat(100_000));
    let error = error_of("a.json", deep.as_bytes());
    assert!(error.starts_with("line 1: ") && error.contains("too early"), "{error}");

    assert_eq!(error_of("a.parquet", b"PAR1...."), "a Parquet file is not read");
    assert_eq!(
        error_of("a.json", b"{\"skill_name\": \"s\",\n \"evals\": 2}"),
        "line 2: `evals` is the number 2, not a list"
    );
    let cut = error_of("a.json", b"{\"skill_name\": \"s\",\n \"evals\": [{\"prompt\"");
    assert_eq!(cut, "line 2: its JSON ends too early");
}

#[test]
fn each_record_that_is_damaged_is_named_and_the_others_are_read() {
    let lines = read_text(
        b"{\"run_id\": \"a\", \"event_id\": 1, \"sample_id\": \"a.1\", \"type\": \"sampling\", \"data\": {\"sampled\": [\"x\"], \"p\": NaN}}\n\
        {\"run_id\": \"a\", \"sample_id\": 5}\n{\"final_report\": {}, \"vars\": 1}\n[1]\n{\"x\": 1}\n\
        {\"run_id\": \"a\", \"event_id\": 2, \"sample_id\": \"a.2\", \"type\": \"sampling\", \"data\": {\"sampled\": [\"y\"]}}\n{\"run_id\"",
    );
    assert_eq!(ids(&lines), ["a.1", "a.2"]);
    assert_eq!(
        problems(&lines),
        [
            "line 2: `sample_id` is the number 5, not a text",
            "line 4: it is not a JSON object",
            "line 5: it is not an event of a sample, and has no `input`",
            "line 7: its JSON ends too early"
        ]
    );

    let list = read_text(
        b"[\n{\"input\": \"a\", \"actual_output\": \"b\"},\n{\"input\": [\"a\"]},\n {\"name\": \"c\",\n \"input\": 1},\n 7,\n\
        {\"testIdx\": 1},\n{\"input\": \"d\", \"actual_output\": \"e\"}]",
    );
    assert_eq!(list.records.len(), 2);
    assert_eq!(
        problems(&list),
        [
            "line 3: `input` is a list, not a text",
            "line 5: `input` is the number 1, not a text",
            "line 6: it is not a JSON object",
            "line 7: it has no `input`, `actual_output`, `scenario` or `turns`"
        ]
    );

    let evals = read_text(
        b"{\"skill_name\": \"s\", \"evals\": [{\"id\": 1, \"prompt\": \"p\"}, {\"id\": 2}, {\"id\": 1, \"prompt\": \"q\"}]}",
    );
    assert_eq!(ids(&evals), ["eval-1", "eval-1-2"]);
    assert_eq!(problems(&evals), ["line 1: it has no `prompt`"]);
    assert_eq!(
        evals.remarks,
        ["several records are called `eval-1`: the later ones got a number, such as `eval-1-2`"]
    );
}

#[test]
fn documents_that_break_off_are_read_up_to_there() {
    for (name, whole, key) in [
        ("capitals.json", 6, "\"epoch\":"),
        ("promptfoo.json", 8, "\"promptIdx\":"),
        ("deepeval.json", 3, "\"input\":"),
        ("skill-evals.json", 2, "\"prompt\":"),
    ] {
        let text = std::fs::read(data(name)).expect("readable");
        assert_eq!(problems(&read_text(&text)), Vec::<String>::new(), "{name}");

        // Cut off in the middle of the last record.
        let end = text.windows(key.len()).rposition(|found| found == key.as_bytes()).expect("the key");
        let file = read_text(&text[..end]);
        assert!(!file.records.is_empty() && file.records.len() < whole, "{name}: {}", file.records.len());
        assert_eq!(file.problems.len(), 1, "{name}: {:?}", file.problems);
        assert!(
            file.problems[0].why.starts_with("the file ends too early here"),
            "{name}: {:?}",
            file.problems
        );
        assert_eq!(file.problems[0].line, text[..end].split(|byte| *byte == b'\n').count(), "{name}");
    }
}

#[test]
fn damaged_samples_of_an_archive_are_named() {
    // Change a byte in the text of a sample that is stored without compression.
    let mut archive = std::fs::read(data("broken.eval")).expect("readable");
    let at = archive.windows(4).position(|four| four == b"good").expect("the question");
    archive[at] = b'f';
    let file = read_text(&archive);
    assert_eq!(problems(&file), ["`samples/1_epoch_1.json` in the archive: its checksum is wrong"]);
    assert_eq!(ids(&file), ["2"]);

    // Change the first bytes of a compressed sample, which follow its name.
    let mut archive = std::fs::read(data("capitals.eval")).expect("readable");
    let name = b"samples/fr_epoch_1.json";
    let at = archive.windows(name.len()).position(|found| found == name).expect("the sample") + name.len();
    archive[at..at + 60].fill(0xff);
    let file = read_text(&archive);
    assert_eq!(
        problems(&file),
        ["`samples/fr_epoch_1.json` in the archive: its compressed bytes are damaged"]
    );
    assert_eq!(file.records.len(), 5);
}

#[test]
fn results_of_promptfoo_in_other_formats_are_named() {
    let table = "Description,x,[mine] Where is {{x}}?,Status,Score,Named Scores,Grader Reason,Comment\n";
    for (name, text, kind) in [
        (
            "r.yaml",
            "evalId: eval-1\nresults:\n  version: 3\n",
            "a YAML file of promptfoo's results is not read",
        ),
        ("r.xml", "<promptfoo>\n  <evalId>e</evalId>\n", "an XML file of promptfoo's results is not read"),
        (
            "r.html",
            "<!doctype html>\n<html><a aria-label=\"Promptfoo\">",
            "a page of promptfoo's results is not read",
        ),
        ("r.csv", table, "a table of promptfoo's results, with a column for each provider, is not read"),
    ] {
        assert_eq!(error_of(name, text.as_bytes()), kind);
    }
    assert_eq!(error_of("a.csv", b"id,answer,Status\n1,a,b\n"), "not recognised");
}

#[test]
fn reasons_and_missing_outputs_of_promptfoo_are_kept_apart() {
    let result = |index: u32, rest: serde_json::Value| {
        let mut result = json!({
            "testIdx": index, "promptIdx": 0, "prompt": {"raw": "q"}, "vars": {"x": index}, "testCase": {"assert": []},
            "success": false, "score": 0
        });
        for (key, value) in rest.as_object().expect("an object") {
            result[key] = value.clone();
        }
        result.to_string()
    };
    let lines = [
        result(
            0,
            json!({
                "failureReason": 1, "error": "too plain", "response": {"output": "a"}, "cost": 0.01, "latencyMs": 8,
                "gradingResult": {"pass": false, "score": 0.5, "reason": "too plain", "componentResults": [
                    {"pass": true, "score": 1, "reason": "Assertion passed", "assertion": {"type": "contains", "value": "a"}},
                    {"pass": false, "score": 0, "reason": "too plain", "assertion": {"type": "llm-rubric", "metric": "style"}},
                ]}
            }),
        ),
        result(
            1,
            json!({"failureReason": 0, "error": "No output", "response": {"output": null}, "gradingResult": null}),
        ),
        result(2, json!({"failureReason": 2, "error": "Error: boom\n at x"})),
        result(3, json!({"failureReason": 2, "error": "quota", "response": {"error": "quota"}})),
        result(4, json!({"failureReason": 1, "error": "Expected output", "response": {"output": null}})),
    ];
    let file = read_text(lines.join("\n").as_bytes());
    assert_eq!(problems(&file), Vec::<String>::new());
    assert_eq!(
        file.records[0].metadata["reasons"],
        json!([
            {"type": "contains", "value": "a", "pass": true, "score": 1, "reason": "Assertion passed"},
            {"type": "llm-rubric", "metric": "style", "pass": false, "score": 0, "reason": "too plain"},
        ])
    );
    assert_eq!(file.records[0].metadata["cost"], json!(0.01));
    assert_eq!(file.records[0].metadata["latency_ms"], json!(8));
    let reasons: Vec<&str> = file.records[1..].iter().map(reason).collect();
    assert_eq!(
        reasons,
        [
            "the provider gave no output (`null`)", "the provider failed: Error: boom",
            "the provider failed: quota", "the provider gave no output (`null`)"
        ]
    );
}

#[test]
fn other_archives_are_told_apart() {
    use std::io::Write as _;

    for (part, expected) in [
        ("xl/workbook.xml", "a spreadsheet is not read"),
        ("a.txt", "it is a zip archive, but not a log of Inspect"),
    ] {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(part, stored).expect("begun");
        zip.write_all(b"<a/>").expect("written");
        let bytes = zip.finish().expect("ended").into_inner();
        assert_eq!(error_of("a.zip", &bytes), expected);
    }
}

#[test]
fn what_is_to_be_done_is_said_where_it_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, b"PAR1").expect("written");
    let error = detect_records(&path).expect_err("refused");
    assert!(error.help().is_some_and(|help| help.contains(".parquet")), "{error:?}");
    assert!(matches!(detect_records(&folder.path().join("none")), Err(RecordError::Unreadable(_))));
}
