//! Pages of a run that is still running.

use assize_rubric::Outcome;

use crate::tests::support::{ViewTest, info, record};

const ID: &str = "20260104-000000-live-cccc";

#[test]
fn cases_appear_as_they_are_written_and_a_torn_row_does_not() {
    let mut test = ViewTest::empty();
    let folder = test.run_folder(ID);
    let mut running = info(ID);
    let mut writer = folder.create(&running).expect("the run can be made");
    test.serve();

    let found = |test: &ViewTest| test.get(&format!("/runs/{ID}/rows")).json()["found"].as_u64();
    assert_eq!(found(&test), Some(0));
    assert!(test.get("/").body.contains("running"));

    record(&mut writer, "first", "an answer", Outcome::Unmet);
    assert_eq!(found(&test), Some(1));
    let list = test.get("/").expect(200).body;
    assert!(
        list.contains("running") && list.contains(r#"<td class="num" data-label="Cases">1</td>"#),
        "numbers in the list: {list}"
    );
    let body = test.get(&format!("/runs/{ID}")).expect(200).body;
    assert!(body.contains("data-live") && body.contains("of 3 cases"), "{body}");
    assert!(body.contains("first") && body.contains("rubrics/must"), "{body}");

    record(&mut writer, "second", "another answer", Outcome::Met);
    let body = test.get(&format!("/runs/{ID}")).expect(200).body;
    assert!(body.contains("<strong>2</strong> of 3 cases") && body.contains("2 decided"), "{body}");
    assert!(test.get(&format!("/runs/{ID}/cases/2")).expect(200).body.contains("What about second?"));
    assert!(test.get(&format!("/runs/{ID}/criteria")).expect(200).body.contains("Apologises"));

    // Half a row, as a killed writer leaves it.
    let path = folder.path().join("results.jsonl");
    let mut rows = std::fs::read(&path).expect("rows");
    rows.extend_from_slice(b"{\"format\":2,\"suite\":\"supp");
    std::fs::write(&path, rows).expect("a file");
    assert_eq!(found(&test), Some(2));

    running.finished_at = Some("2026-01-04T00:00:09Z".to_owned());
    drop(writer);
    let body = test.get(&format!("/runs/{ID}")).expect(200).body;
    assert!(!body.contains("data-live") && body.contains("The run did not end"), "{body}");
}

#[test]
fn a_run_that_is_replaced_by_a_shorter_one_is_read_again() {
    let mut test = ViewTest::empty();
    test.write_run(ID, Outcome::Met);
    test.serve();
    let total = |test: &ViewTest| test.get(&format!("/runs/{ID}/rows")).json()["total"].as_u64();
    assert_eq!(total(&test), Some(3));

    let folder = test.run_folder(ID);
    std::fs::remove_dir_all(folder.path()).expect("the run can be removed");
    let mut writer = folder.create(&info(ID)).expect("the run can be made again");
    record(&mut writer, "only", "an answer", Outcome::Met);
    assert_eq!(total(&test), Some(1));
}

#[test]
fn a_run_that_is_replaced_by_another_as_long_or_longer_is_read_again() {
    let mut test = ViewTest::empty();
    let folder = test.run_folder(ID);
    let write = |run: &str, answers: [&str; 3]| {
        let mut described = info(run);
        described.finished_at = Some("2026-01-04T00:00:09Z".to_owned());
        let mut writer = folder.create(&described).expect("the run can be made");
        for (id, answer) in ["first", "second", "third"].into_iter().zip(answers) {
            record(&mut writer, id, answer, Outcome::Met);
        }
        writer.finish(&mut described).expect("the run can be ended");
    };
    write("run-a", ["short", "answers", "only"]);
    test.serve();
    for row in 1..=3 {
        test.get(&format!("/runs/{ID}/cases/{row}")).expect(200);
    }

    std::fs::remove_dir_all(folder.path()).expect("the run can be removed");
    // The first twelve characters of an answer are quoted.
    let answers = ["much longer, so", "every row", "begins elsewhere"];
    write("run-b", answers.map(|answer| format!("Replaced, by {answer}")).each_ref().map(String::as_str));
    for (row, answer) in (1..).zip(answers) {
        let page = test.get(&format!("/runs/{ID}/cases/{row}")).expect(200).body;
        assert!(page.contains(answer), "{page}");
    }
}

#[test]
fn a_run_that_is_removed_is_missed_in_words() {
    let mut test = ViewTest::empty();
    test.write_run(ID, Outcome::Met);
    test.serve();
    test.get(&format!("/runs/{ID}/cases/1")).expect(200);
    std::fs::remove_dir_all(test.run_folder(ID).path()).expect("the run can be removed");
    for path in ["", "/cases", "/rows", "/cases/1", "/criteria"] {
        let page = test.get(&format!("/runs/{ID}{path}")).expect(404).body;
        assert!(page.contains("may have been removed"), "{path}: {page}");
    }
}

#[test]
fn rows_that_a_run_has_lost_are_missed_in_words() {
    let mut test = ViewTest::empty();
    test.write_run(ID, Outcome::Met);
    test.serve();
    let path = test.run_folder(ID).path().join("results.jsonl");
    let rows = std::fs::read_to_string(&path).expect("rows");
    let kept: Vec<&str> = rows.split_inclusive('\n').take(2).collect();
    std::fs::write(&path, kept.concat()).expect("written");
    let page = test.get(&format!("/runs/{ID}")).expect(200).body;
    assert!(page.contains("has 2 rows, but the run ended with 3"), "{page}");

    // One byte is changed: the error must name the right line.
    std::fs::write(&path, rows.replacen("\"case_id\":\"no-answer\"", "\"case_id\":\"no-Answer\"", 1))
        .expect("written");
    let page = test.get(&format!("/runs/{ID}/cases")).expect(500).body;
    assert!(page.contains("line 3 is damaged"), "{page}");
}
