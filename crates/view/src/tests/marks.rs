//! Marks: labels that people give beside the decisions of judges.

use serde_json::{Value, json};

use crate::tests::support::{LATER, RUN, TOKEN, ViewTest, WebReply};

fn mark(test: &ViewTest, run: &str, body: &Value) -> WebReply {
    test.post(TOKEN, &format!("/runs/{run}/cases/1/mark"), &body.to_string())
}

/// Keys of the decisions of the first case that can be marked.
fn keys(test: &ViewTest, who: &str) -> Vec<String> {
    let page = test.get(&format!("/runs/{RUN}/cases/1/mark?who={who}")).expect(200).body;
    let items = page.split("data-item=\"").skip(1);
    items.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

fn labels(test: &ViewTest, who: &str) -> Vec<Value> {
    let path = test.path().join(format!("labels/review-{who}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a label")).collect()
}

#[test]
fn a_mark_is_a_label_that_is_bound_to_the_answer_and_seen_everywhere() {
    let test = ViewTest::with_runs();
    let keys = keys(&test, "");
    assert_eq!(keys.len(), 2);
    let body = json!({ "who": " ann ", "item": keys[0], "label": "met", "note": "It <b>does</b>" });
    mark(&test, RUN, &body).expect(200);
    let written = labels(&test, "ann");
    assert_eq!(
        (&written[0]["case"], &written[0]["criterion"], &written[0]["label"]),
        (&"plain".into(), &"must".into(), &"met".into())
    );
    assert_eq!((&written[0]["who"], &written[0]["x-after-judge"]), (&"ann".into(), &true.into()));
    assert!(written[0]["seen"].is_string() && written[0]["sampled"] == "chosen", "{}", written[0]);

    // The judge decides unmet in this run, and met in the other one, about the same answer.
    let case = test.get(&format!("/runs/{RUN}/cases/1")).expect(200).body;
    assert!(
        case.contains("disputed") && case.contains("ann: met – It &#60;b&#62;does&#60;/b&#62;"),
        "{case}"
    );
    let later = test.get(&format!("/runs/{LATER}/cases/1")).expect(200).body;
    assert!(later.contains("ann: met") && !later.contains("disputed"), "{later}");
    let rows = |query: &str| test.get(&format!("/runs/{RUN}/rows?{query}")).expect(200).json();
    assert_eq!(rows("disputed=1")["found"], 1);
    let criteria = rows("")["rows"][0]["criteria"].clone();
    let must = criteria.as_array().expect("criteria").iter().find(|one| one["name"] == "must").expect("it");
    assert_eq!((&must["disputed"], &must["people"]), (&true.into(), &"ann: met – It <b>does</b>".into()));
    let list = test.get(&format!("/runs/{RUN}/cases")).expect(200).body;
    assert!(list.contains("disputed <b>1</b>"), "{list}");
    let matrix = test.get(&format!("/matrix?run={RUN}&run={LATER}")).expect(200).body;
    assert!(matrix.contains("ann: met"), "{matrix}");
    let calibration = test.get(&format!("/runs/{RUN}/calibration")).expect(200).body;
    assert!(!calibration.contains("No labels of people"), "{calibration}");

    // A second decision replaces the first one; the same one again adds nothing.
    let body = json!({ "who": "ann", "item": keys[0], "label": "unmet" });
    mark(&test, RUN, &body).expect(200);
    mark(&test, RUN, &body).expect(200);
    assert_eq!(labels(&test, "ann").len(), 2);
    assert_eq!(rows("disputed=1")["found"], 0);

    // The last mark can be taken back, and the one before counts again.
    mark(&test, RUN, &json!({ "who": "ann", "item": keys[1] })).expect(422);
    mark(&test, RUN, &json!({ "who": "ann", "item": keys[0] })).expect(200);
    assert_eq!((labels(&test, "ann").len(), &rows("disputed=1")["found"]), (1, &1.into()));
    mark(&test, RUN, &json!({ "who": "ann", "item": keys[0] })).expect(200);
    assert_eq!((labels(&test, "ann").len(), &rows("disputed=1")["found"]), (0, &0.into()));
    mark(&test, RUN, &json!({ "who": "ann", "item": keys[0] })).expect(422);
    let calibration = test.get(&format!("/runs/{RUN}/calibration")).expect(200).body;
    assert!(calibration.contains("No labels of people"), "{calibration}");
    mark(&test, RUN, &body).expect(200);

    // People see the labels of others only after their own decision.
    let page = |who: &str| test.get(&format!("/runs/{RUN}/cases/1/mark?who={who}")).expect(200).body;
    assert!(page("ann").contains("data-own=\"unmet\"") && !page("ben").contains("ann"), "{}", page("ben"));
    mark(&test, RUN, &json!({ "who": "ben", "item": keys[0], "label": "met" })).expect(200);
    assert!(page("ben").contains("ann: unmet"), "{}", page("ben"));
    assert_eq!(rows("disputed=1")["found"], 1, "people who disagree");
}

#[test]
fn a_mark_that_fits_nothing_is_refused_and_nothing_is_written() {
    let test = ViewTest::with_runs();
    let key = keys(&test, "ann").remove(0);
    for (body, status, says) in [
        (json!({ "who": "", "item": key, "label": "met" }), 422, "your name"),
        (json!({ "who": "ann", "item": "0000", "label": "met" }), 404, "does not ask"),
        (json!({ "who": "ann", "item": key, "label": "maybe" }), 422, "maybe"),
        (json!({ "who": "ann", "item": key, "label": "7" }), 422, "no scale"),
    ] {
        let reply = mark(&test, RUN, &body).expect(status);
        assert!(reply.body.contains(says), "{body}: {}", reply.body);
    }
    assert_eq!(mark(&test, RUN, &json!({ "who": "ann" })).status, 422);
    let missing = test.post(
        TOKEN,
        &format!("/runs/{RUN}/cases/99/mark"),
        "{\"who\":\"a\",\"item\":\"b\",\"label\":\"met\"}",
    );
    assert_eq!(missing.status, 404);

    // Only a script of these pages may write.
    let body = json!({ "who": "ann", "item": key, "label": "met" }).to_string();
    let address = format!("/runs/{RUN}/cases/1/mark");
    let origin = format!("Origin: http://{}", test.address());
    assert_eq!(test.post_with(TOKEN, &address, &body, &[&origin]).status, 403);
    assert_eq!(
        test.post_with(TOKEN, &address, &body, &["Origin: http://evil.example", "X-Assize-Page: 1"]).status,
        403
    );
    assert_eq!(test.post("nobody", &address, &body).status, 403);

    // A reviewer who must not see results can't mark them either.
    let begun = test.post(
        TOKEN,
        &format!("/runs/{RUN}/review"),
        &json!({ "who": "ann", "what": "random" }).to_string(),
    );
    let cookie = begun.expect(200).header("set-cookie").to_owned();
    let token = cookie.split(['=', ';']).nth(1).expect("a token");
    assert_eq!(test.post(token, &address, &body).status, 403);
    assert_eq!(test.get_as(token, &address).status, 303);
    assert_eq!(labels(&test, "ann"), Vec::<Value>::new());
}
