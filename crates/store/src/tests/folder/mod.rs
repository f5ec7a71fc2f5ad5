//! Writing and reading run folders, including torn tails and leftovers.

use std::fs;
use std::io::Write;

use crate::{
    CaseRecord, CaseRows, CriterionRow, FORMAT_VERSION, GraderRow, JudgementRow, QuestionRow, RecordPlace,
    RecordPosition, ResultRow, RowsFile, RunFolder, RunInfo, RunSettings, RunWriter, StoreError,
    VerdictCounts, first_in_order,
};
use assize_rubric::{
    CaseDecision, Criterion, Decision, Finding, GraderWeighting, JudgeIdentity, JudgingUsage, Outcome,
    OutcomeKind, Tokens, UnitInterval, Verdict, VerdictThresholds,
};

mod integrity;
mod merging;

fn info() -> RunInfo {
    RunInfo {
        format_version: FORMAT_VERSION,
        run_id: "run".to_owned(),
        assize_version: "0.0.0".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        finished_at: None,
        command: "eval".to_owned(),
        label: None,
        suites: Vec::new(),
        inputs: Vec::new(),
        judges: Vec::new(),
        targets: Vec::new(),
        settings: RunSettings::default(),
        warnings: Vec::new(),
        scorecard: None,
        shard: None,
        merged: None,
        rows: None,
        summary: None,
    }
}

fn result(case_id: &str) -> ResultRow {
    ResultRow {
        format: Some(2),
        suite: "s".into(),
        case_id: case_id.into(),
        target: None,
        answered_by: None,
        trial: 1,
        place: None,
        trials: None,
        tags: Vec::new(),
        cluster: None,
        test: None,
        prompt: None,
        metrics: Vec::new(),
        case_hash: None,
        score: Some(1.0),
        score_low: Some(1.0),
        score_high: Some(1.0),
        coverage: Some(1.0),
        verdict: Verdict::Pass,
        gates_failed: Vec::new(),
        graders: vec![GraderRow {
            settings: None,
            name: "rubrics".to_owned(),
            type_name: "rubrics".to_owned(),
            weight: 1.0,
            negate: false,
            score: Some(1.0),
            verdict: Some(Verdict::Pass),
            error: None,
            criteria: vec![CriterionRow {
                id: "c".into(),
                outcome: OutcomeKind::Met,
                raw_score: None,
                points: None,
                value: Some(1.0),
                weight: 1.0,
                gate: None,
                reason: "line\nbreak \u{1F600}".to_owned(),
                evidence: Vec::new(),
                judge: JudgeIdentity::default(),
                panel: None,
                truncated: None,
            }],
            pairwise: Vec::new(),
        }],
        answer: Some("answer".to_owned()),
        turns: Vec::new(),
        file_changes: None,
        tool_calls: Vec::new(),
        tool_calls_dropped: 0,
        history: None,
        error: None,
        tokens: Tokens::default(),
        cost_usd: None,
        cost_partial: None,
        latency_ms: None,
        duration_ms: 3,
    }
}

fn decisions(case_id: &str) -> Vec<CaseDecision> {
    let thresholds =
        VerdictThresholds::new(UnitInterval::new(0.8).expect("in range"), None).expect("in order");
    let criterion = Criterion::checklist("c", "does it");
    let finding = Finding::Criterion { criterion, outcome: Outcome::Met };
    let spent = JudgingUsage {
        attempts: 1,
        cost: assize_rubric::Cost::UNKNOWN,
        replies: vec!["raw".to_owned()],
        ..JudgingUsage::default()
    };
    let decision = Decision {
        spent,
        ..Decision::new(JudgeIdentity::default(), finding, format!("because of {case_id}"))
    };
    vec![CaseDecision {
        thresholds,
        grader: "rubrics".into(),
        weighting: GraderWeighting::default(),
        member: Vec::new(),
        turn: None,
        judging: None,
        decision,
        vote: None,
        panel: None,
    }]
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    for id in ["a", "b/with slash", "ü space"] {
        writer.record(&decisions(id), &result(id)).expect("recorded");
    }
    let mut done = RunInfo { finished_at: Some("later".to_owned()), ..info() };
    writer.finish(&mut done).expect("finished");
    let counted = done.rows.expect("counted");
    assert_eq!((counted.results, counted.judgements, counted.questions), (3, 3, Some(0)));

    assert_eq!(folder.info().expect("readable"), done);
    let records: Vec<_> = folder.cases().expect("readable").map(|record| record.expect("sound")).collect();
    assert_eq!(records.len(), 3);
    for (record, id) in records.iter().zip(["a", "b/with slash", "ü space"]) {
        assert_eq!(record.result, result(id));
        assert_eq!(record.decisions, decisions(id));
    }
}

#[test]
fn rows_have_exactly_the_documented_fields() {
    let value = serde_json::to_value(result("a")).expect("serialisable");
    let mut fields: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "answer", "case_hash", "case_id", "cluster", "cost_usd", "coverage", "duration_ms", "error",
            "format", "gates_failed", "graders", "repeat", "score", "score_high", "score_low", "suite",
            "tags", "target", "tokens", "verdict"
        ]
    );
    let mut fields: Vec<&str> = value["graders"][0]["criteria"][0]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["evidence", "gate", "id", "judge", "outcome", "raw_score", "reason", "value", "weight"]
    );
    assert_eq!(value["graders"][0]["type"], "rubrics");
}

#[test]
fn a_torn_tail_and_judgements_without_a_result_are_passed_over() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path());
    let mut writer = folder.create(&info()).expect("created");
    writer.record(&decisions("a"), &result("a")).expect("recorded");
    drop(writer);
    // A crash: the judgements of `b` were written, its result was not; another row is torn.
    let mut file =
        fs::OpenOptions::new().append(true).open(dir.path().join("judgements.jsonl")).expect("there");
    for case_id in ["b", "c"] {
        let row = JudgementRow::new(&result(case_id).key(), &decisions(case_id)[0]);
        writeln!(file, "{}", serde_json::to_string(&row).expect("serialisable")).expect("written");
    }
    write!(file, "{{\"suite\": \"s\", \"case").expect("written");
    let mut file = fs::OpenOptions::new().append(true).open(dir.path().join("results.jsonl")).expect("there");
    writeln!(file, "{}", serde_json::to_string(&result("c")).expect("serialisable")).expect("written");
    write!(file, "{{\"format\": 2, \"suite\"").expect("written");

    let records: Vec<_> = folder.cases().expect("readable").map(|record| record.expect("sound")).collect();
    let ids: Vec<&str> = records.iter().map(|record| &*record.result.case_id).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(records[1].decisions, decisions("c"));
}

#[test]
fn records_and_questions_are_read_again_at_any_place() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path());
    let mut writer = folder.create(&info()).expect("created");
    let unjudged = ResultRow { graders: Vec::new(), ..result("b") };
    for (row, decided) in
        [(result("a"), decisions("a")), (unjudged, Vec::new()), (result("c"), decisions("c"))]
    {
        writer.record(&decided, &row).expect("recorded");
    }
    for hash in ["one", "two"] {
        let question = Some(format!("{hash}?"));
        let row =
            QuestionRow { case_hash: hash.to_owned(), question, expected_outcome: None, reference: None };
        writer.record_question(&row).expect("recorded");
    }
    writer.finish(&mut info()).expect("finished");

    let mut records = folder.cases().expect("readable");
    let (mut positions, mut found) = (Vec::new(), Vec::new());
    loop {
        let position = records.position();
        let Some(record) = records.next() else { break };
        positions.push(position);
        found.push(record.expect("sound"));
    }
    assert_eq!(found.len(), 3);
    for at in [2, 0, 1, 1, 2, 0] {
        let again = records.read_at(positions[at]).expect("readable");
        assert_eq!(again.as_ref(), Some(&found[at]), "{at}");
    }

    let mut questions = folder.question_index().expect("readable");
    for (hash, question) in
        [("two", Some("two?")), ("one", Some("one?")), ("three", None), ("two", Some("two?"))]
    {
        let row = questions.read(hash).expect("readable");
        assert_eq!(row.and_then(|row| row.question).as_deref(), question);
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_said() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path());
    drop(folder.create(&info()).expect("created"));
    fs::write(dir.path().join("results.jsonl"), "{\"format\": 2}\n").expect("written");
    let error = folder.results().expect("opens").next().expect("a row").expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { line: 1, .. }), "{error}");
}

#[test]
fn folders_that_are_taken_unwritable_or_from_the_future_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    drop(folder.create(&info()).expect("created"));
    assert!(matches!(folder.create(&info()), Err(StoreError::Occupied { .. })));

    let blocked = dir.path().join("file");
    fs::write(&blocked, "").expect("written");
    assert!(matches!(RunFolder::new(blocked.join("run")).create(&info()), Err(StoreError::Io { .. })));

    assert!(matches!(RunFolder::new(dir.path()).info(), Err(StoreError::NotARun { .. })));
    let newer = serde_json::json!({ "format_version": FORMAT_VERSION + 1, "anything": "else" });
    fs::write(dir.path().join("run").join("run.json"), newer.to_string()).expect("written");
    assert!(matches!(folder.info(), Err(StoreError::Version { .. })));
}

#[test]
fn verdicts_are_counted() {
    let mut counts = VerdictCounts::default();
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Fail, Verdict::Incomplete] {
        counts.add_verdict(verdict);
    }
    assert_eq!((counts.pass, counts.fail, counts.incomplete, counts.total()), (1, 2, 1, 4));
}

/// A run written by the first version of the layout stays readable.
#[test]
fn a_run_of_format_version_one_is_read() {
    let folder = RunFolder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run-v1"));
    let info = folder.info().expect("readable");
    assert_eq!(info.format_version, 1);
    let records: Vec<_> = folder.cases().expect("readable").map(|record| record.expect("sound")).collect();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].decisions.len(), 1);
    assert_eq!(records[0].result.verdict, Verdict::Pass);
}

#[test]
fn metrics_are_read_under_their_older_key_and_written_under_the_new_one() {
    let stored = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run-v1/run.json"));
    let mut run: serde_json::Value = serde_json::from_str(&stored.expect("readable")).expect("JSON");
    let metric = |value: f64| {
        serde_json::json!({
            "value": value, "n": 1, "clusters": null, "low": null, "high": null, "level": 0.95, "method": null,
            "undefined": "a single value", "says": "",
        })
    };
    run["summary"]["figures"] = serde_json::json!({
        "pass_rate": metric(1.0), "pass_rate_bounds": null, "mean_score": metric(0.5), "mean_score_bounds": null,
        "design_effect": null, "noise": null, "decision_noise": null, "pairwise": null, "unstable": [],
        "repeats": null, "targets": [], "remarks": [],
    });

    let info: RunInfo = serde_json::from_value(run).expect("an older run");
    let summary = info.summary.expect("a summary");
    assert_eq!(summary.figures.as_ref().and_then(|metrics| metrics.mean_score.value), Some(0.5));
    let written = serde_json::to_value(&summary).expect("JSON");
    assert_eq!(written["metrics"]["mean_score"]["value"], 0.5);
    assert!(written.get("figures").is_none(), "{written:#}");
}

/// Rows of every kind, as the versions before wrote them.
const OLD_ROWS: &str = include_str!("../../../tests/data/judgements-v1.jsonl");

#[test]
fn old_rows_are_read_and_written_back_byte_for_byte() {
    for line in OLD_ROWS.lines() {
        let row: JudgementRow = serde_json::from_str(line).expect("readable");
        let mut key = result(&row.case_id).key();
        key.suite = row.suite.clone();
        key.target = row.target.clone();
        key.trial = row.trial;
        let again = JudgementRow::new(&key, &row.into());
        assert_eq!(serde_json::to_string(&again).expect("JSON"), line);
    }
}

#[test]
fn an_outcome_of_a_newer_version_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    writer.record(&decisions("a"), &result("a")).expect("recorded");
    drop(writer);

    for file in ["judgements.jsonl", "results.jsonl"] {
        let path = folder.path().join(file);
        let known = fs::read_to_string(&path).expect("readable");
        let newer = without_checksums(&known).replace(r#""outcome":"met""#, r#""outcome":"surpassed""#);
        fs::write(&path, newer).expect("written");
        let read = folder.cases().expect("readable").next().expect("a case");
        let Err(StoreError::Damaged { line: 1, message, .. }) = read else { panic!("{read:?}") };
        assert!(message.contains("unknown variant `surpassed`"), "{message}");
        fs::write(&path, known).expect("written");
    }
}

#[test]
fn rows_are_written_as_serde_json_writes_them() {
    let result = result("a");
    let mut plain = decisions("a \"case\"\\ \u{1}\tü\n").remove(0);
    plain.decision.spent.replies =
        vec![r#"{"verdict": "met", "reason": "A \"quote\"."}"#.repeat(9), String::new()];
    let mut full = serde_json::to_value(JudgementRow::new(&result.key(), &plain)).expect("JSON");
    let parts = serde_json::json!({
        "target": "t", "points": 6.5, "probability": {"expected": 0.1, "mass": 1.0, "written": null},
        "confidence": "high", "evidence": [{"quote": "a\r\nb", "verified": true}],
        "judge": {"name": "j", "model": "m", "version": "1", "prompt_hash": "00"},
        "ungraded": {"kind": "context_length", "message": "m"}, "latency_ms": 7, "cost_usd": 0.000_001_5,
        "cost_partial": {"at_least_usd": 0.25, "unpriced_calls": 2},
        "truncated": {"mode": "chunk", "characters": 9, "omitted": 1, "parts": 2},
        "judging": "batched:4", "member": ["x", "y"], "turn": 3,
        "vote": {"judge": 1, "repeat": 2, "weight": 0.5},
        "grader_result": {
            "score": 0.3, "error": null, "notes": [{"text": "n", "passed": true, "reason": "", "weight": 2.0}],
            "details": {"any\n": [1, -2, 3.5, null, {}, []]},
            "composite": {"aggregator": {"threshold": 0.5}, "members": []},
        },
    });
    full.as_object_mut().expect("an object").extend(parts.as_object().expect("an object").clone());
    let full: JudgementRow = serde_json::from_value(full).expect("a row");
    let rows = [plain, full.into()];

    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    writer.record(&rows, &result).expect("recorded");
    let written = |name| std::fs::read_to_string(folder.path().join(name)).expect("readable");
    let as_row = |row| serde_json::to_string(&JudgementRow::new(&result.key(), &row)).expect("JSON") + "\n";
    let plain = rows.map(as_row).concat();
    assert_eq!(without_checksums(&written("judgements.jsonl")), plain);
    assert_eq!(
        without_checksums(&written("results.jsonl")),
        serde_json::to_string(&result).expect("JSON") + "\n"
    );
}

/// Returns rows as older versions wrote them.
fn without_checksums(rows: &str) -> String {
    let lead = ",\"crc\":\"";
    rows.lines()
        .map(|line| line.rsplit_once(lead).map_or(line.to_owned(), |(row, _)| format!("{row}}}")) + "\n")
        .collect()
}

#[test]
fn a_result_of_a_run_that_goes_on_needs_its_decisions_too() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    record(&mut writer, "a");
    drop(writer);
    fs::write(folder.path().join("judgements.jsonl"), "").expect("written");
    let Err(StoreError::Damaged { message, .. }) = integrity::read_all(&folder) else { panic!("not told") };
    assert!(message.contains("`a` are missing"), "{message}");
}

fn record(writer: &mut RunWriter, case_id: &str) {
    let rows = CaseRows::new(&decisions(case_id), &result(case_id), Some(format!("hash of {case_id}")));
    writer.append(&rows.expect("JSON"));
    writer.settle().expect("recorded");
}

#[test]
fn torn_at_any_byte_a_run_goes_on_whole() {
    const FILES: [&str; 3] = ["inputs.jsonl", "judgements.jsonl", "results.jsonl"];
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = RunFolder::new(dir.path().join("whole"));
    let mut writer = whole.create(&info()).expect("created");
    for id in ["a", "b"] {
        record(&mut writer, id);
    }
    drop(writer);
    let bytes: Vec<Vec<u8>> =
        FILES.iter().map(|file| std::fs::read(whole.path().join(file)).expect("readable")).collect();
    // Files are written in this order, so a process that ends has written all of one file before any of the
    // next.
    let lines: Vec<usize> =
        bytes.iter().map(|bytes| bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1).collect();
    let mut states = Vec::new();
    for file in 0..3 {
        for cut in (lines[file]..bytes[file].len()).step_by(7).chain([bytes[file].len() - 1]) {
            let length = |other: usize| match other.cmp(&file) {
                std::cmp::Ordering::Less => bytes[other].len(),
                std::cmp::Ordering::Equal => cut,
                std::cmp::Ordering::Greater => lines[other],
            };
            states.push([length(0), length(1), length(2)]);
        }
    }
    let torn = RunFolder::new(dir.path().join("torn"));
    std::fs::create_dir(torn.path()).expect("created");
    std::fs::copy(whole.path().join("run.json"), torn.path().join("run.json")).expect("copied");
    for state in states {
        for (file, (bytes, length)) in FILES.iter().zip(bytes.iter().zip(state)) {
            std::fs::write(torn.path().join(file), &bytes[..length]).expect("written");
        }
        let mut kept = Vec::new();
        let mut writer = torn
            .resume(&info(), &mut |record, inputs| {
                kept.push((record.result.case_id.to_string(), inputs.to_owned()));
                true
            })
            .expect("resumed");
        assert_eq!(kept, [("a".to_owned(), "hash of a".to_owned())], "{state:?}");
        record(&mut writer, "b");
        drop(writer);
        for (file, bytes) in FILES.iter().zip(&bytes) {
            assert_eq!(&std::fs::read(torn.path().join(file)).expect("readable"), bytes, "{file} {state:?}");
        }
    }
}

#[test]
fn what_is_not_kept_is_taken_out_and_bytes_stay() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    for id in ["a", "b", "c"] {
        record(&mut writer, id);
    }
    // While the first writer is open, a second one is refused.
    assert!(matches!(folder.resume(&info(), &mut |_, _| true), Err(StoreError::Busy { .. })));
    drop(writer);
    let before = std::fs::read_to_string(folder.path().join("results.jsonl")).expect("readable");
    drop(folder.resume(&info(), &mut |_, inputs| inputs != "hash of b").expect("resumed"));
    let after = std::fs::read_to_string(folder.path().join("results.jsonl")).expect("readable");
    let expected: Vec<&str> = before.lines().filter(|line| !line.contains("\"case_id\":\"b\"")).collect();
    assert_eq!(after.lines().collect::<Vec<_>>(), expected);
    let records: Vec<_> = folder.cases().expect("readable").map(|record| record.expect("sound")).collect();
    assert_eq!(records.iter().map(|record| &*record.result.case_id).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(records[1].decisions, decisions("c"));
}

#[test]
fn a_result_without_its_decisions_is_not_kept() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    record(&mut writer, "a");
    drop(writer);
    std::fs::write(folder.path().join("judgements.jsonl"), "").expect("written");
    drop(folder.resume(&info(), &mut |_, _| true).expect("resumed"));
    assert_eq!(std::fs::read_to_string(folder.path().join("results.jsonl")).expect("readable"), "");
}

#[test]
fn a_folder_with_nothing_but_its_description_can_be_resumed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    drop(folder.create(&info()).expect("created"));
    for file in ["results.jsonl", "inputs.jsonl", "judgements.jsonl"] {
        std::fs::remove_file(folder.path().join(file)).expect("removed");
    }
    let mut writer = folder.resume(&info(), &mut |_, _| true).expect("resumed");
    record(&mut writer, "a");
    assert_eq!(folder.results().expect("readable").count(), 1);
}

#[test]
fn a_question_is_kept_once_and_a_resumed_run_knows_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let question = |hash: &str| QuestionRow {
        case_hash: hash.to_owned(),
        question: Some(format!("of {hash}")),
        expected_outcome: None,
        reference: None,
    };
    let stored = || -> Vec<String> {
        let rows = folder.questions().expect("readable");
        rows.map(|row| row.expect("sound").case_hash).collect()
    };
    let mut writer = folder.create(&info()).expect("created");
    for hash in ["one", "one", "two"] {
        writer.record_question(&question(hash)).expect("recorded");
    }
    drop(writer);
    assert_eq!(stored(), ["one", "two"]);

    // A torn row is removed, and questions that are stored are not written again.
    let path = folder.path().join("questions.jsonl");
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, format!("{text}{{\"case_hash\": \"thr")).expect("written");
    let mut writer = folder.resume(&info(), &mut |_, _| true).expect("resumed");
    for hash in ["two", "three"] {
        writer.record_question(&question(hash)).expect("recorded");
    }
    drop(writer);
    assert_eq!(stored(), ["one", "two", "three"]);

    std::fs::remove_file(path).expect("removed");
    assert_eq!(stored(), Vec::<String>::new(), "older runs keep no questions");
}

#[test]
fn lost_questions_of_a_finished_run_are_noticed_and_their_cases_run_again() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    for id in ["a", "b"] {
        let result = ResultRow { case_hash: Some(id.to_owned()), ..result(id) };
        let question =
            QuestionRow { case_hash: id.to_owned(), question: None, expected_outcome: None, reference: None };
        let rows = CaseRows::new(&decisions(id), &result, Some(format!("hash of {id}"))).expect("sound");
        writer.append(&rows.with_question(&question).expect("sound"));
    }
    writer.finish(&mut info()).expect("finished");
    assert_eq!(folder.questions().expect("readable").count(), 2);

    let path = folder.path().join("questions.jsonl");
    let text = std::fs::read_to_string(&path).expect("readable");
    let lines: Vec<&str> = text.lines().collect();
    for (rest, kept) in [(Some(format!("{}\n", lines[0])), 1), (None, 0)] {
        match rest {
            Some(rest) => std::fs::write(&path, rest).expect("written"),
            None => std::fs::remove_file(&path).expect("removed"),
        }
        let read: Result<Vec<QuestionRow>, StoreError> = folder.questions().and_then(Iterator::collect);
        let Err(StoreError::RowsLost { found, expected: 2, .. }) = read else { panic!("{read:?}") };
        assert_eq!(found, kept);
    }

    drop(folder.resume(&info(), &mut |_, _| true).expect("resumed"));
    assert_eq!(folder.results().expect("readable").count(), 0, "both cases are run again");
}

#[test]
fn a_row_without_its_checksum_is_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    record(&mut writer, "a");
    drop(writer);

    let path = folder.path().join("results.jsonl");
    let text = std::fs::read_to_string(&path).expect("readable");
    let at = text.find(",\"crc\"").expect("a checksum");
    std::fs::write(&path, format!("{}}}\n", &text[..at])).expect("written");
    let refused = folder.resume(&info(), &mut |_, _| true).expect_err("refused");
    assert!(refused.to_string().contains("no checksum"), "{refused}");
}

#[test]
fn records_come_in_the_order_of_the_files() {
    let records = || {
        [3, 1, 4, 2].map(|place| {
            let result = ResultRow { place: Some(place), ..result(&place.to_string()) };
            Ok::<_, StoreError>(CaseRecord { result, decisions: Vec::new() })
        })
    };
    let places = |found: &std::collections::BTreeMap<RecordPlace, CaseRecord>| -> Vec<u64> {
        found.keys().map(|(place, _)| *place).collect()
    };
    let (found, total) = first_in_order(records().into_iter(), |_| true, None, 2).expect("read");
    assert_eq!((places(&found), total), (vec![1, 2], 4));
    let after = found.last_key_value().map(|(place, _)| *place);
    let odd = |record: &CaseRecord| record.result.place != Some(4);
    let (found, total) = first_in_order(records().into_iter(), odd, after, 2).expect("read");
    assert_eq!((places(&found), total), (vec![3], 1));
}

#[test]
fn rows_are_scanned_in_parts_and_cases_are_read_where_they_begin() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::new(place.path().join("run"));
    let mut writer = folder.create(&info()).expect("created");
    // Enough bytes for several threads, in rows of different lengths.
    for number in 0..120 {
        let id = format!("case-{number}");
        let answer = Some("x".repeat(100_000 + number * 977));
        writer.record(&decisions(&id), &ResultRow { answer, ..result(&id) }).expect("written");
    }
    drop(writer);
    let path = folder.path().join("results.jsonl");
    let mut rows = fs::OpenOptions::new().append(true).open(&path).expect("a file of rows");
    rows.write_all(b"{\"torn\":").expect("written");

    let see = |found: &mut Vec<(u64, String)>, offset: u64, line: &[u8]| {
        let row: ResultRow = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        found.push((offset, row.case_id.to_string()));
        Ok(())
    };
    let scan = |from, readers| {
        let found = folder.scan_rows(RowsFile::Results, from, readers, see).expect("scanned");
        (found.parts.len(), found.parts.concat(), found.end)
    };
    let (parts, alone, end) = scan(0, 1);
    assert_eq!((parts, alone.len()), (1, 120));
    assert_eq!(end, folder.rows_length(RowsFile::Results) - 8, "a torn row is no row");
    for readers in 2..9 {
        let (parts, together, reached) = scan(0, readers);
        assert!(parts > 1 && together == alone && reached == end, "{readers} readers, {parts} parts");
    }
    assert_eq!(scan(alone[100].0, 4).1, alone[100..]);
    assert!(scan(end, 4).1.is_empty());

    // Judgements before the judgements of the case are skipped, as in a run that was killed.
    let at = RecordPosition { result: alone[7].0, judgements: 0 };
    let record = folder.case_at(at).expect("read").expect("a case");
    assert_eq!(
        (&*record.result.case_id, &*record.decisions[0].decision.reason),
        ("case-7", "because of case-7")
    );
    assert!(folder.case_at(RecordPosition { result: end, judgements: 0 }).expect("read").is_none());

    let mut records = folder.cases_from(at).expect("opened");
    records.next().expect("a case").expect("read");
    let next = records.position();
    assert_eq!(next.result, alone[8].0);
    let record = folder.case_at(next).expect("read").expect("a case");
    assert_eq!(&*record.result.case_id, "case-8");

    // The error about a damaged row has its line number, for any start of reading.
    drop(rows);
    let mut text = fs::read(&path).expect("rows");
    text[alone[90].0 as usize + 40] ^= 1;
    fs::write(&path, text).expect("written");
    let at = RecordPosition { result: alone[90].0, judgements: 0 };
    let damaged = [
        folder.case_at(at).map(drop).expect_err("damaged"),
        folder.scan_rows(RowsFile::Results, 0, 1, see).map(drop).expect_err("damaged"),
        folder.scan_rows(RowsFile::Results, alone[50].0, 4, see).map(drop).expect_err("damaged"),
    ];
    for error in damaged {
        assert!(matches!(error, StoreError::Damaged { line: 91, .. }), "{error}");
    }
}

#[test]
fn a_run_is_being_written_while_its_writer_lives() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::new(place.path().join("run"));
    assert!(!folder.is_being_written());

    let writer = folder.create(&info()).expect("created");
    assert!(folder.is_being_written());
    drop(writer);
    assert!(!folder.is_being_written());
}
