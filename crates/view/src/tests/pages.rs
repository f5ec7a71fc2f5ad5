//! What pages show.

use assize_rubric::{Criterion, EvidenceQuote, Outcome, Verdict, Weight};
use assize_run::score_record;
use assize_store::ResultRow;
use serde_json::json;

use crate::tests::support::{LATER, RUN, ViewTest, decision, empty_row, info, record};

/// Texts that no page may contain unescaped: they would be markup.
const MARKUP: [&str; 6] = ["<script>document", "<img src=x", "<b>hostile", "<i>30", "<this>", "\u{1b}"];

#[track_caller]
fn assert_harmless(body: &str) {
    for text in MARKUP {
        assert!(!body.contains(text), "{text:?} in {body}");
    }
    assert!(!body.contains(" style=") && !body.contains(" onclick="), "{body}");
}

#[test]
fn the_summary_warns_of_the_offline_judge_and_states_the_order_of_cases() {
    let test = ViewTest::with_runs();
    let run = test.get(&format!("/runs/{RUN}")).expect(200).body;
    assert!(
        run.contains("Graded by the offline judge, which only compares words")
            && run.contains("a &#60;warning&#62;"),
        "{run}"
    );

    let cases = test.get(&format!("/runs/{RUN}/cases")).expect(200).body;
    assert!(!cases.contains("aria-sort") && !cases.contains("<button>Apply"), "{cases}");
    assert!(cases.contains(r#"<option value="against">unmet, or a penalty incurred</option>"#), "{cases}");
}

#[test]
fn every_page_is_there_and_harmless() {
    let test = ViewTest::with_runs();
    let pages = [
        "/".to_owned(),
        "/?q=support".to_owned(),
        "/trend".to_owned(),
        "/audits".to_owned(),
        format!("/runs/{RUN}/calibration"),
        format!("/compare?base={RUN}&candidate={LATER}&metric=pass-rate&margin=0.1&tag=vip&adjust=none"),
        format!("/compare?base={RUN}&candidate={LATER}"),
        format!("/compare?run={RUN}&run={LATER}"),
        format!("/compare/case?base={RUN}&candidate={LATER}&suite=support&id=plain&trial=1"),
        format!("/compare/case?base={RUN}&candidate={LATER}&suite=support&id=%3Cb%3Ehostile%3C%2Fb%3E"),
        format!("/runs/{RUN}"),
        format!("/runs/{RUN}/criteria"),
        format!("/runs/{RUN}/cases"),
        format!("/runs/{RUN}/cases?page=1&verdict=fail&q=%3Cscript%3E&tag=%22%3E%3Cimg%20src=x%3E"),
        format!("/runs/{RUN}/cases/1"),
        format!("/runs/{RUN}/cases/2"),
        format!("/runs/{RUN}/cases/3"),
    ];
    for page in pages {
        let reply = test.get(&page).expect(200);
        assert_eq!(reply.header("content-type"), "text/html; charset=utf-8", "{page}");
        assert_harmless(&reply.body);
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let test = ViewTest::with_runs();
    let missing = [
        "/nope".to_owned(),
        "/runs/nope".to_owned(),
        "/runs/nope/cases".to_owned(),
        "/runs/nope/rows".to_owned(),
        "/runs/nope/criteria".to_owned(),
        "/runs/nope/cases/1".to_owned(),
        "/runs/..%2f..%2fetc".to_owned(),
        "/runs/%2e%2e/cases".to_owned(),
        "/runs/../../etc/passwd".to_owned(),
        "/runs/%00".to_owned(),
        "/assets/../Cargo.toml".to_owned(),
        "/assets/x/view.css".to_owned(),
        format!("/runs/{RUN}/cases/0"),
        format!("/runs/{RUN}/cases/4"),
        format!("/runs/{RUN}/cases/99999999999999999999"),
        format!("/runs/{RUN}/cases/-1"),
        format!("/runs/{RUN}/scorecard"),
        format!("/runs/{RUN}/case?suite=support&id=nope"),
        format!("/compare?base={RUN}&candidate=nope"),
        format!("/compare/case?base={RUN}&candidate={LATER}&suite=support&id=nope"),
    ];
    for page in missing {
        let reply = test.get(&page).expect(404);
        assert!(!reply.body.contains("root:"), "{}", reply.body);
    }
    test.get("/compare?run=only-one").expect(422);
}

#[test]
fn rows_are_filtered_sorted_and_cut_into_pages() {
    let test = ViewTest::with_runs();
    let ids = |query: &str| {
        let data = test.get(&format!("/runs/{RUN}/rows?{query}")).expect(200).json();
        let rows = data["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["id"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(ids(""), ["plain", "<b>hostile</b>", "no-answer"]);
    assert_eq!(ids("verdict=fail"), ["plain", "<b>hostile</b>"]);
    assert_eq!(ids("verdict=incomplete&verdict=pass"), ["no-answer"]);
    assert_eq!(ids("verdict=error"), ["no-answer"]);
    assert_eq!(ids("tag=vip"), ["plain", "<b>hostile</b>"]);
    assert_eq!(ids("gate=rubrics%2Fmust&sort=id"), ["<b>hostile</b>", "plain"]);
    assert_eq!(ids("criterion=rubrics%2Fmust"), ["plain", "<b>hostile</b>"]);
    assert_eq!(ids("criterion=rubrics%2Ftone&outcome=met").len(), 2);
    assert!(ids("criterion=rubrics%2Ftone&outcome=against").is_empty());
    assert_eq!(ids("criterion=rubrics%2Ftone").len(), 2, "all cases that have the criterion");
    // Without a criterion, the outcome of any criterion counts.
    assert_eq!(ids("outcome=unmet"), ["plain", "<b>hostile</b>"]);
    assert_eq!(ids("outcome=against&sort=id"), ["<b>hostile</b>", "plain"]);
    assert!(ids("outcome=ungraded").is_empty() && ids("outcome=scored").is_empty());
    assert_eq!(ids("sort=id&desc=1"), ["plain", "no-answer", "<b>hostile</b>"]);
    assert_eq!(ids("from=1&count=1"), ["<b>hostile</b>"]);
    assert!(ids("from=18446744073709551615&count=99999").is_empty());
    assert!(ids("suite=other").is_empty() && ids("target=other").is_empty());

    let first = test.get(&format!("/runs/{RUN}/rows?count=1")).json();
    assert_eq!((&first["found"], &first["total"]), (&json!(3), &json!(3)));
    let row = &first["rows"][0];
    assert_eq!(
        (&row["question"], &row["answer"]),
        (&json!("What about plain?"), &json!("You get a full refund within 30 days."))
    );
    let criteria = json!([
        {"at": 0, "name": "must", "mark": {"class": "bad", "sign": "✗", "word": "unmet"}, "gate": true, "failed": true},
        {"at": 1, "name": "tone", "mark": {"class": "good", "sign": "✓", "word": "met"}},
    ]);
    assert_eq!(row["criteria"], criteria);
    let plain = test.get(&format!("/runs/{RUN}/cases?page=1&sort=score")).expect(200).body;
    assert!(plain.contains(r#"aria-sort="ascending""#) && plain.contains("sort=score&#38;desc=1"), "{plain}");
    assert!(plain.contains(">gate must</td>"), "{plain}");
}

#[test]
fn a_row_unfolds_to_its_texts_and_reasons() {
    let test = ViewTest::with_runs();
    let peek = test.get(&format!("/runs/{RUN}/cases/2/peek")).expect(200).body;
    for text in [
        "title=&#39;owned&#39;&#60;/script&#62;", "\\u{202e}evil", "because &#60;of&#62; it",
        "nobody said &#60;this&#62;",
    ] {
        assert!(peek.contains(text), "{text} in {peek}");
    }
    assert!(!peek.contains("<script"), "{peek}");
    let unanswered = test.get(&format!("/runs/{RUN}/cases/3/peek")).expect(200).body;
    assert!(unanswered.contains("There is no answer."), "{unanswered}");
    for row in ["0", "4", "-1", "x"] {
        test.get(&format!("/runs/{RUN}/cases/{row}/peek")).expect(404);
    }
}

#[test]
fn cases_that_changed_since_another_run_are_found() {
    let test = ViewTest::with_runs();
    let page = test.get(&format!("/runs/{LATER}/cases")).expect(200).body;
    assert!(page.contains(&format!("data-sets=\"changed={RUN}\"")), "{page}");
    let found = |base: &str| {
        test.get(&format!("/runs/{LATER}/rows?changed={base}")).expect(200).json()["found"].clone()
    };
    assert_eq!(found(RUN), 1, "only one case was decided differently");
    assert_eq!(found(LATER), 0);
    test.get(&format!("/runs/{LATER}/rows?changed=gone")).expect(404);
    test.get(&format!("/runs/{LATER}/cases/1?changed={RUN}")).expect(200);
}

#[test]
fn a_search_looks_at_what_was_said_and_not_at_how_it_is_stored() {
    let test = ViewTest::with_runs();
    let found = |text: &str| {
        let query: Vec<String> = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let query = query.concat();
        test.get(&format!("/runs/{RUN}/rows?q={query}")).json()["found"].as_u64().unwrap_or(99)
    };

    for (text, count) in [
        ("FULL refund", 1),
        ("what about plain", 1),
        ("because <of>", 2),
        ("nobody said <this>", 2),
        ("\"'&amp;", 1),
        ("alert(1)>\n\u{1b}", 1),
        ("too> long", 1),
        ("no-answer", 1),
        ("A REFUND", 2),
        // Keys, numbers and checksums are not searched.
        ("verdict", 0),
        ("\"answer\":", 0),
        ("duration_ms", 0),
        ("crc", 0),
        (".*", 0),
    ] {
        assert_eq!(found(text), count, "{text}");
    }
}

#[test]
fn a_case_shows_what_was_asked_answered_quoted_and_computed() {
    let test = ViewTest::with_runs();
    let body = test.get(&format!("/runs/{RUN}/cases/1?verdict=fail")).expect(200).body;
    for text in [
        "What about plain?",
        "<mark>You get a fu</mark>",
        "not found in what the judge was shown",
        "nobody said &#60;this&#62;",
        "because &#60;of&#62; it",
        "score: 2 / 3 = 0.666667",
        "gate failed",
        "{&#34;raw&#34;: &#34;&#60;reply&#62;&#34;}",
        "+&#60;added&#62;",
        "1 of 2",
        "Next →",
    ] {
        assert!(body.contains(text), "{text} in {body}");
    }

    let hostile = test.get(&format!("/runs/{RUN}/cases/2")).expect(200).body;
    for text in ["title=&#39;owned&#39;&#60;/script&#62;", "\\u{1b}[31mred", "\\u{202e}evil", "{{ 7*7 }}"] {
        assert!(hostile.contains(text), "{text} in {hostile}");
    }
    let unanswered = test.get(&format!("/runs/{RUN}/cases/3")).expect(200).body;
    assert!(unanswered.contains("it took &#60;too&#62; long") && unanswered.contains("There is no answer."));
}

#[test]
fn a_case_is_found_by_its_identity() {
    let test = ViewTest::with_runs();
    let reply = test.get(&format!("/runs/{RUN}/case?suite=support&id=no-answer&trial=1")).expect(303);
    assert_eq!(reply.header("location"), format!("/runs/{RUN}/cases/3"));
}

#[test]
fn a_comparison_shows_what_moved() {
    let test = ViewTest::with_runs();
    let body = test.get(&format!("/compare?base={RUN}&candidate={LATER}")).expect(200).body;
    assert!(body.contains("Better <span class=\"dim\">1</span>"), "{body}");
    assert!(body.contains("unmet → met  Names &#60;i&#62;30 days&#60;/i&#62;"), "{body}");

    let case = format!("/compare/case?base={RUN}&candidate={LATER}&suite=support&id=plain&trial=1");
    let body = test.get(&case).expect(200).body;
    assert!(body.contains("The answers are the same.") && body.contains("<span class=\"tag\">moved</span>"));
}

#[test]
fn runs_that_cannot_be_read_are_listed_with_the_reason() {
    let mut test = ViewTest::empty();
    test.write_run(RUN, assize_rubric::Outcome::Met);
    let broken = test.run_folder("20260105-000000-x");
    std::fs::create_dir_all(broken.path()).expect("a folder");
    std::fs::write(broken.path().join("run.json"), "{").expect("a file");
    test.serve();

    let body = test.get("/").expect(200).body;
    assert!(body.contains("unreadable") && body.contains("20260105-000000-x"), "{body}");
    test.get("/runs/20260105-000000-x").expect(500);

    // A row that was edited by hand is reported, as by every other command.
    let path = test.run_folder(RUN).path().join("results.jsonl");
    let rows = std::fs::read_to_string(&path).expect("rows").replace("full refund", "null refund");
    std::fs::write(&path, rows).expect("a file");
    let reply = test.get(&format!("/runs/{RUN}/cases/1"));
    assert!(reply.status == 500 && reply.body.contains("does not match its checksum"), "{}", reply.body);
}

#[test]
fn the_newest_run_is_the_last_one_whatever_its_folder_is_called() {
    let mut test = ViewTest::with_runs();
    for named in ["zz-named", "01-named"] {
        test.write_run(named, Outcome::Met);
    }
    test.serve();
    let page = test.get("/").expect(200).body;
    let row = page.split(&format!("title=\"{LATER}\"")).nth(1).unwrap_or_default();
    assert!(row.split("</td>").next().unwrap_or_default().contains(">last<"), "{page}");
}

#[test]
fn a_folder_without_runs_says_how_to_make_one() {
    let mut test = ViewTest::empty();
    test.serve();
    assert!(test.get("/").expect(200).body.contains("assize eval"));
    assert!(test.get("/trend").expect(200).body.contains("No run has a finished case yet."));
}

#[test]
fn a_case_shows_the_calls_of_tools_and_the_changes_file_by_file() {
    let test = ViewTest::with_runs();
    let page = test.get(&format!("/runs/{RUN}/cases/1")).expect(200).body;
    assert!(page.contains("Tool calls <span class=\"dim\">1</span>"), "{page}");
    assert!(page.contains("Bash &#60;b&#62;hostile") && page.contains("&#60;this&#62; is it"), "{page}");
    assert!(
        page.contains("20 ms · 7 characters cut") && page.contains("</span>&nbsp;failed</span>"),
        "{page}"
    );
    assert!(page.contains(">x</span> <span class=\"dim\">1 added, 0 removed</span>"), "{page}");

    let found = test.get(&format!("/runs/{RUN}/rows?q=%3Cthis%3E%20is%20it")).expect(200).json();
    assert_eq!(found["found"], 2, "a search looks at tool calls too");
}

#[test]
fn the_first_rows_come_with_the_page_and_are_those_that_are_asked_for() {
    let test = ViewTest::with_runs();
    let page = test.get(&format!("/runs/{RUN}/cases")).expect(200).body;
    let data = page.split("id=\"first-rows\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let data = data.expect("the page holds data");
    assert!(!data.contains('<'), "nothing in it ends its element: {data}");
    let data: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
    assert_eq!(data, test.get(&format!("/runs/{RUN}/rows?from=0&count=200")).expect(200).json());
    assert_eq!(data["rows"][1]["id"], "<b>hostile</b>");
}

#[test]
fn options_of_a_comparison_change_what_is_compared_and_stand_in_its_form() {
    let test = ViewTest::with_runs();
    let compare = |options: &str| test.get(&format!("/compare?base={RUN}&candidate={LATER}{options}"));
    let page = compare("&metric=pass-rate&tag=vip&margin=0.05").expect(200).body;
    assert!(page.contains(r#"<option value="pass-rate" selected>"#), "{page}");
    assert!(page.contains(r#"<option value="vip" selected>"#) && page.contains(r#"value="0.05""#), "{page}");
    let swapped =
        format!("/compare?base={LATER}&#38;candidate={RUN}&#38;metric=pass-rate&#38;margin=0.05&#38;tag=vip");
    assert!(page.contains(&swapped), "{page}");

    for wrong in ["&margin=2", "&margin=x", "&tag=nobody", "&suite=other"] {
        compare(wrong).expect(422);
    }
}

#[test]
fn judges_stand_beside_people_once_there_are_labels() {
    let test = ViewTest::with_runs();
    let address = format!("/runs/{RUN}/calibration");
    let page = test.get(&address).expect(200).body;
    assert!(page.contains("No labels of people"), "{page}");

    let folder = test.path().join("labels");
    std::fs::create_dir(&folder).expect("the folder can be made");
    let label = |case: &str, criterion: &str, label: &str| {
        json!({ "case": case, "criterion": criterion, "label": label, "who": "<b>hostile" }).to_string()
    };
    let lines = [
        label("plain", "must", "met"),
        label("plain", "tone", "met"),
        label("<b>hostile</b>", "must", "unmet"),
        label("<b>hostile</b>", "tone", "unmet"),
    ];
    std::fs::write(folder.join("ann.jsonl"), lines.join("\n")).expect("labels can be written");
    let page = test.get(&address).expect(200).body;
    assert_harmless(&page);
    // The judge decides unmet, met, unmet, met.
    let counts = "both met 1, judge met, people unmet 1, judge unmet, people met 1, both unmet 1";
    assert!(page.contains(counts), "{page}");
    assert!(page.contains("raw agreement") && page.contains("<b>0.500</b>"), "{page}");

    std::fs::write(folder.join("ann.jsonl"), label("nobody", "must", "met")).expect("labels can be written");
    let page = test.get(&address).expect(200).body;
    assert!(page.contains("no label matches an item that was judged"), "{page}");
}

#[test]
fn runs_stand_side_by_side_a_test_a_row() {
    let test = ViewTest::with_runs();
    let listed = test.get(&format!("/matrix?from=list&run={LATER}&run={RUN}")).expect(303);
    let address = listed.header("location").to_owned();
    assert_eq!(address, format!("/matrix?run={RUN}&run={LATER}"), "the older run comes first");
    let page = test.get(&address).expect(200).body;
    for text in [
        "No difference of two is certain", "3 of 3 tests", "You get a full refund within 30 days.",
        "gate-sign", "latency 1.8 s",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(page.contains("&#60;b&#62;hostile") && !page.contains("<b>hostile"), "{page}");
    assert!(!page.contains("The best of several"), "two are not several: {page}");

    // Only one case was decided differently, and by one criterion.
    for filter in ["differ=1", "differ=rubrics%2Fmust"] {
        let page = test.get(&format!("{address}&{filter}")).expect(200).body;
        assert!(page.contains("1 of 3 tests") && page.contains("aria-current"), "{page}");
    }
    let page = test.get(&format!("{address}&differ=rubrics%2Ftone")).expect(200).body;
    assert!(page.contains("0 of 3 tests"), "{page}");
    // A test is found if a result in any of its columns matches. Chips keep the search.
    for (filter, found) in [
        ("q=plain", 1),
        ("q=REFUND", 2),
        ("q=nowhere", 0),
        ("verdict=pass", 1),
        ("verdict=fail", 2),
        ("verdict=fail&verdict=pass", 2),
        ("verdict=error", 1),
        ("verdict=fail&differ=1", 1),
        ("q=onerror&differ=1", 0),
        ("q=onerror&verdict=fail", 1),
    ] {
        let page = test.get(&format!("{address}&{filter}")).expect(200).body;
        assert!(page.contains(&format!("{found} of 3 tests")), "{filter}: {page}");
    }
    let page = test.get(&format!("{address}&q=plain&differ=1&page=1")).expect(200).body;
    let links = page.split("class=\"chip\" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    for link in links {
        assert!(link.contains("q=plain") && link.contains(RUN) && !link.contains("page="), "{link}");
        test.get(&link.replace("&#38;", "&")).expect(200);
    }
    test.get(&format!("/matrix?run={RUN}")).expect(422);
    test.get(&format!("/matrix?run={RUN}&run=gone")).expect(404);
    test.get(&format!("{address}&page=99999999999999999999")).expect(200);
}

#[test]
fn trials_of_a_test_share_a_cell_in_which_one_chooses_between_their_answers() {
    let mut test = ViewTest::empty();
    for id in [RUN, LATER] {
        let mut info = info(id);
        let mut writer = test.run_folder(id).create(&info).expect("the run can be made");
        // Trials end in any order.
        for (trial, answer, verdict) in
            [(3, "in a <month>", Verdict::Fail), (2, "30 days", Verdict::Pass), (1, "30 days", Verdict::Pass)]
        {
            let row = ResultRow { trial, answer: Some(answer.to_owned()), verdict, ..empty_row("a") };
            writer.record(&[], &row).expect("a row can be written");
        }
        writer.finish(&mut info).expect("the run can be ended");
    }
    test.serve();

    let page = test.get(&format!("/matrix?run={RUN}&run={LATER}")).expect(200).body;
    assert_eq!(page.matches("2 of 3 pass").count(), 2, "{page}");
    let choices: Vec<&str> = page.split("<input type=\"radio\"").skip(1).collect();
    assert_eq!(choices.len(), 4, "equal answers are shown once: {page}");
    for (at, part) in choices.iter().enumerate() {
        let is_last = at % 2 == 1;
        let choice = part.split('>').next().expect("a tag");
        let name = if is_last { "Answer 2 of 2, trial 3" } else { "Answer 1 of 2, trials 1, 2" };
        assert!(choice.contains(name), "{choice}");
        assert_eq!(choice.contains("checked"), is_last, "the one that fails is shown first: {choice}");
        assert_eq!(part.contains("in a &#60;month&#62;"), is_last, "{part}");
        assert_eq!(part.contains("title=\"Answer before\""), is_last, "{part}");
        assert_eq!(part.contains("title=\"Next answer\""), !is_last, "{part}");
    }
    assert!(page.contains("latency undefined"), "{page}");
}

#[test]
fn a_comparison_begins_with_its_metrics_and_criteria() {
    let test = ViewTest::with_runs();
    let page = test.get(&format!("/compare?base={LATER}&candidate={RUN}")).expect(200).body;
    assert!(page.contains("<p class=\"says\">Mean score: "), "{page}");
    assert!(page.contains("p (Holm)"), "{page}");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(at("<h2>All cases</h2>") < at("<h2>Worse ") && at("<h2>Worse ") < at("<h2>Better "), "{page}");
    let page = test.get(&format!("/compare?base={LATER}&candidate={RUN}&metric=pass-rate&adjust=none")).body;
    assert!(page.contains("<p class=\"says\">Pass rate: ") && page.contains(r#"num wide">p</th>"#), "{page}");
}

#[test]
fn criteria_of_single_cases_are_listed_with_their_decisions() {
    let mut test = ViewTest::empty();
    let mut single = info(RUN);
    let mut writer = test.run_folder(RUN).create(&single).expect("the run can be made");
    record(&mut writer, "plain", "You get a full refund within 30 days.", Outcome::Unmet);
    single.finished_at = Some("2026-01-02T03:05:00Z".to_owned());
    writer.finish(&mut single).expect("the run can be ended");
    test.serve();
    let page = test.get(&format!("/runs/{RUN}/criteria")).expect(200).body;
    assert!(page.contains("rubrics/must") && page.contains("rubrics/tone"), "{page}");
    assert!(page.contains("/cases/1") || page.contains("/cases?"), "it leads to the case: {page}");
}

#[test]
fn a_column_in_which_no_criterion_has_anything_is_not_there() {
    let mut test = ViewTest::empty();
    let mut two = info(RUN);
    let mut writer = test.run_folder(RUN).create(&two).expect("the run can be made");
    for id in ["first", "second"] {
        record(&mut writer, id, "You get a full refund within 30 days.", Outcome::Met);
    }
    two.finished_at = Some("2026-01-02T03:05:00Z".to_owned());
    writer.finish(&mut two).expect("the run can be ended");
    test.serve();

    let page = test.get(&format!("/runs/{RUN}/criteria")).expect(200).body;
    assert!(page.contains("Rates of criteria") && page.contains(">Decided</th>"), "{page}");
    assert!(!page.contains("outcome=ungraded") && !page.contains("Ungraded"), "{page}");
    assert!(!page.contains("Judges differ") && !page.contains("Judge flips"), "{page}");
}

#[test]
fn a_penalty_is_incurred_on_every_page_and_never_unmet() {
    const PENALTY: &str = "20260105-030405-penalty-dddd";
    let mut test = ViewTest::empty();
    let blames = Criterion {
        weight: Weight::new(-2.0).expect("a weight"),
        ..Criterion::checklist("blames", "Blames the customer")
    };
    let quote = EvidenceQuote { quote: "your fault".to_owned(), verified: true };
    let decisions = [decision(blames, Outcome::Met, quote)];
    let row = ResultRow { answer: Some("It is your fault.".to_owned()), ..empty_row("rude") };
    let mut info = info(PENALTY);
    let mut writer = test.run_folder(PENALTY).create(&info).expect("the run can be made");
    writer.record(&decisions, &score_record(&row, &decisions)).expect("a case can be written");
    writer.finish(&mut info).expect("the run can be ended");
    test.serve();

    let rows = test.get(&format!("/runs/{PENALTY}/rows?outcome=against")).expect(200).json();
    let criterion = &rows["rows"][0]["criteria"][0];
    assert_eq!((&criterion["mark"]["word"], &criterion["penalty"]), (&json!("incurred"), &json!(true)));
    let incurred = r#"<span class="mark bad"><span aria-hidden="true">✗</span>&nbsp;incurred</span>"#;
    for page in ["cases/1", "criteria"] {
        let body = test.get(&format!("/runs/{PENALTY}/{page}")).expect(200).body;
        assert!(body.contains(incurred) && !body.contains("unmet"), "{page}: {body}");
    }
    let mut cases = test.run_folder(PENALTY).cases().expect("the run can be read");
    let record = cases.next().expect("there is a case").expect("it can be read");
    let report = assize_report::html::case_fragment(&record, None, "c", true);
    assert!(report.contains("✗ incurred</span> Blames the customer"), "{report}");
}
