//! Rows that were lost, changed, added or replaced after a run ended, and an edited `run.json`.

use super::*;

/// A finished run of three cases.
fn finished(folder: &RunFolder) {
    let mut writer = folder.create(&info()).expect("created");
    for id in ["a", "b", "c"] {
        record(&mut writer, id);
    }
    writer.finish(&mut RunInfo { finished_at: Some("later".to_owned()), ..info() }).expect("finished");
}

pub(super) fn read_all(folder: &RunFolder) -> Result<Vec<String>, StoreError> {
    folder.cases()?.map(|record| Ok(record?.result.case_id.to_string())).collect()
}

#[test]
fn a_finished_run_that_lost_rows_is_not_read_as_a_smaller_one() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    finished(&folder);
    assert_eq!(read_all(&folder).expect("whole"), ["a", "b", "c"]);

    for name in ["results.jsonl", "judgements.jsonl"] {
        let path = folder.path().join(name);
        let whole = fs::read_to_string(&path).expect("readable");
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let doubled = format!("{whole}{}", lines[2]);
        for (other, count) in [(lines[..2].concat(), 2), (String::new(), 0), (doubled, 4)] {
            fs::write(&path, other).expect("written");
            let error = read_all(&folder).expect_err("not whole");
            match error {
                StoreError::RowsLost { found, expected: 3, .. } => assert_eq!(found, count),
                StoreError::Damaged { message, .. } => assert!(message.contains("missing"), "{message}"),
                error => panic!("{error}"),
            }
        }

        // If only results are read, the other files need not exist.
        let results = folder.results().expect("opens").filter_map(Result::err).count();
        assert_eq!(results, usize::from(name == "results.jsonl"));
        fs::write(&path, whole).expect("written");
    }
}

#[test]
fn a_row_that_was_changed_or_added_by_hand_is_told() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    finished(&folder);
    let path = folder.path().join("results.jsonl");
    let whole = fs::read_to_string(&path).expect("readable");
    let plain = without_checksums(&whole);
    for (rows, word) in
        [(whole.replace("\"answer\"", "\"Answer\""), "does not match its checksum"), (plain, "no checksum")]
    {
        fs::write(&path, rows).expect("written");
        let Err(StoreError::Damaged { line: 1, message, .. }) = read_all(&folder) else { panic!("{word}") };
        assert!(message.contains(word), "{message}");
        assert!(folder.results().expect("opens").next().is_some_and(|row| row.is_err()));
    }

    // The run can be resumed without the lost rows.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    fs::write(&path, [lines[0], lines[2]].concat()).expect("written");
    let mut writer = folder.resume(&info(), &mut |_, _| true).expect("resumed");
    record(&mut writer, "b");
    writer.finish(&mut RunInfo { finished_at: Some("later".to_owned()), ..info() }).expect("finished");
    assert_eq!(read_all(&folder).expect("whole"), ["a", "c", "b"]);
}

#[test]
fn rows_of_another_run_of_the_same_cases_are_noticed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (folder, other) = (RunFolder::new(dir.path().join("run")), RunFolder::new(dir.path().join("other")));
    finished(&folder);
    let mut writer = other.create(&info()).expect("created");
    for id in ["a", "b", "c"] {
        let changed = ResultRow { duration_ms: 4, ..result(id) };
        let rows = CaseRows::new(&decisions(id), &changed, Some(format!("hash of {id}")));
        writer.append(&rows.expect("JSON"));
    }
    writer.finish(&mut info()).expect("finished");

    let (own, foreign) = (folder.path().join("results.jsonl"), other.path().join("results.jsonl"));
    let whole = fs::read_to_string(&own).expect("readable");
    let others = fs::read_to_string(&foreign).expect("readable");
    let one = whole.replacen(whole.lines().nth(1).expect("a row"), others.lines().nth(1).expect("a row"), 1);
    for rows in [others, one] {
        fs::write(&own, rows).expect("written");
        let error = read_all(&folder).expect_err("other rows");
        assert!(matches!(error, StoreError::RowsReplaced { .. }), "{error}");
        let error = folder.resume(&info(), &mut |_, _| true).expect_err("other rows");
        assert!(matches!(error, StoreError::RowsReplaced { .. }), "{error}");
    }

    // Their order does not matter.
    let mut lines: Vec<&str> = whole.split_inclusive('\n').collect();
    lines.rotate_left(1);
    fs::write(&own, lines.concat()).expect("written");
    assert_eq!(folder.results().expect("opens").filter_map(Result::ok).count(), 3);
}

#[test]
fn a_resumed_run_adds_its_rows_to_those_that_it_keeps() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (folder, whole) = (RunFolder::new(dir.path().join("run")), RunFolder::new(dir.path().join("whole")));
    finished(&whole);
    let mut writer = folder.create(&info()).expect("created");
    for id in ["a", "b"] {
        record(&mut writer, id);
    }
    drop(writer);

    let mut writer = folder.resume(&info(), &mut |_, inputs| inputs == "hash of b").expect("resumed");
    for id in ["c", "a"] {
        record(&mut writer, id);
    }
    let mut done = info();
    writer.finish(&mut done).expect("finished");
    assert_eq!(done.rows, whole.info().expect("readable").rows, "as one writer counted them");
    assert_eq!(read_all(&folder).expect("whole"), ["b", "c", "a"]);
}

#[test]
fn a_description_that_was_edited_is_not_read() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = RunFolder::new(dir.path().join("run"));
    finished(&folder);
    let path = folder.path().join("run.json");
    let text = fs::read_to_string(&path).expect("readable");
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(parsed["crc"].is_string(), "{text}");

    let mut without_sum = parsed.clone();
    without_sum.as_object_mut().expect("an object").remove("crc");
    let mut without_rows = parsed;
    without_rows.as_object_mut().expect("an object").remove("rows");
    let edited = [
        text.replace("\"command\": \"eval\"", "\"command\": \"grade\""),
        serde_json::to_string_pretty(&without_sum).expect("JSON"),
        serde_json::to_string_pretty(&without_rows).expect("JSON"),
    ];
    for changed in edited {
        assert_ne!(changed, text);
        fs::write(&path, changed).expect("written");
        let error = folder.info().expect_err("edited");
        assert!(matches!(error, StoreError::InfoChanged { .. }), "{error}");
    }
}
