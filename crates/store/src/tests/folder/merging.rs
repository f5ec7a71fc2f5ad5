//! Merging the rows of several runs.

use crate::RowMerge;

use super::*;

fn placed(case_id: &str, place: u64) -> ResultRow {
    ResultRow { place: Some(place), case_hash: Some(format!("hash of {case_id}")), ..result(case_id) }
}

fn record_placed(writer: &mut RunWriter, case_id: &str, place: u64) {
    let question = QuestionRow {
        case_hash: format!("hash of {case_id}"),
        question: Some(case_id.to_owned()),
        expected_outcome: None,
        reference: None,
    };
    let rows =
        CaseRows::new(&decisions(case_id), &placed(case_id, place), Some(format!("inputs of {case_id}")));
    writer.append(&rows.expect("rows").with_question(&question).expect("a question"));
    writer.settle().expect("written");
}

#[test]
fn merged_rows_are_those_of_the_parts_in_the_order_of_the_plan() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = |name: &str| RunFolder::new(home.path().join(name));
    let read =
        |run: &str, file: &str| fs::read_to_string(home.path().join(run).join(file)).expect("readable");

    let mut whole = folder("whole").create(&info()).expect("created");
    for (place, case) in (1..).zip(["a", "b", "c", "d", "e"]) {
        record_placed(&mut whole, case, place);
    }
    whole.finish(&mut info()).expect("finished");

    let mut first = folder("first").create(&info()).expect("created");
    for (place, case) in [(5, "e"), (1, "a"), (3, "c")] {
        record_placed(&mut first, case, place);
    }
    first.finish(&mut info()).expect("finished");

    // A stopped run: a case that was judged twice, one without its result, and a torn row.
    let mut second = folder("second").create(&info()).expect("created");
    record_placed(&mut second, "d", 4);
    let append = |file: &str, text: &str| {
        let path = home.path().join("second").join(file);
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("a file");
        file.write_all(text.as_bytes()).expect("written");
    };
    let judged = |case: &str, run: &str| {
        let rows = read(run, "judgements.jsonl");
        rows.lines().find(|line| line.contains(&format!("\"case_id\":\"{case}\""))).expect("a row").to_owned()
            + "\n"
    };
    append("judgements.jsonl", &judged("c", "whole"));
    append("judgements.jsonl", &judged("b", "whole"));
    record_placed(&mut second, "b", 2);
    drop(second);
    append("judgements.jsonl", &judged("a", "whole"));
    append("results.jsonl", "{\"format\":2,\"suite\":\"s\"");

    let mut merge = RowMerge::new(home.path().join("merged").as_path());
    merge.add(&folder("first")).expect("read");
    merge.add(&folder("second")).expect("read");
    assert_eq!((merge.len(), merge.last_place(), merge.find_duplicate().expect("read")), (5, 5, None));
    let mut writer = folder("merged").create(&info()).expect("created");
    let mut seen = Vec::new();
    merge
        .write(&mut writer, &mut |record| {
            seen.push((record.result.case_id.to_string(), record.decisions.len()));
        })
        .expect("written");
    writer.finish(&mut info()).expect("finished");

    for file in ["results.jsonl", "judgements.jsonl", "inputs.jsonl", "questions.jsonl", "run.json"] {
        assert_eq!(read("whole", file), read("merged", file), "{file}");
    }
    assert_eq!(seen, ["a", "b", "c", "d", "e"].map(|case| (case.to_owned(), 1)));

    let mut twice = RowMerge::new(home.path().join("merged").as_path());
    twice.add(&folder("first")).expect("read");
    twice.add(&folder("first")).expect("read");
    assert_eq!(twice.find_duplicate().expect("read"), Some((1, [0, 1])));
    let mut unplaced = folder("unplaced").create(&info()).expect("created");
    unplaced.record(&decisions("a"), &result("a")).expect("written");
    let error =
        RowMerge::new(home.path().join("merged").as_path()).add(&folder("unplaced")).expect_err("no place");
    assert!(error.to_string().contains("has no place in the plan"), "{error}");
}

#[test]
fn more_runs_than_files_may_be_open_are_merged_as_few_are() {
    const RUNS: usize = 40;
    let home = tempfile::tempdir().expect("a folder");
    let folder = |name: &str| RunFolder::new(home.path().join(name));
    let names: Vec<String> = (0..RUNS * 2).map(|at| format!("case-{at}")).collect();
    let mut whole = folder("whole").create(&info()).expect("created");
    for (name, place) in names.iter().zip(1..) {
        record_placed(&mut whole, name, place);
    }
    whole.finish(&mut info()).expect("finished");

    let mut merge = RowMerge::new(home.path().join("merged").as_path());
    for run in 0..RUNS {
        let name = format!("run-{run}");
        let mut writer = folder(&name).create(&info()).expect("created");
        // The two positions of each run are far apart, and the later one comes first.
        for at in [RUNS + run, run] {
            record_placed(&mut writer, &names[at], at as u64 + 1);
        }
        drop(writer);
        // It was killed while writing.
        let path = home.path().join(&name).join("results.jsonl");
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("a file");
        file.write_all(b"{\"format\":2,\"suite\":\"s\"").expect("written");
        merge.add(&folder(&name)).expect("read");
    }
    assert_eq!(merge.find_duplicate().expect("read"), None);
    let mut writer = folder("merged").create(&info()).expect("created");
    merge.write(&mut writer, &mut |_| {}).expect("written");
    writer.finish(&mut info()).expect("finished");

    for file in ["results.jsonl", "judgements.jsonl", "inputs.jsonl", "questions.jsonl", "run.json"] {
        let read = |run: &str| fs::read_to_string(home.path().join(run).join(file)).expect("a file");
        assert_eq!(read("whole"), read("merged"), "{file}");
    }
    let left = fs::read_dir(home.path()).expect("a folder").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".merging")));
}
