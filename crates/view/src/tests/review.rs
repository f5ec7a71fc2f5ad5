//! Reviews: pages that a reviewer may see, stored labels, and who may write them.

use serde_json::{Value, json};

use crate::tests::support::{LATER, RUN, TOKEN, ViewTest, WebReply};

/// A review that was started from the page of a run.
struct BegunReview {
    token: String,
    /// Address of its pages.
    url: String,
}

fn begin(test: &ViewTest, run: &str, who: &str, what: &str) -> BegunReview {
    let body = json!({ "who": who, "what": what }).to_string();
    let reply = test.post(TOKEN, &format!("/runs/{run}/review"), &body).expect(200);
    let cookie = reply.header("set-cookie");
    let token = cookie.split(['=', ';']).nth(1).expect("a token").to_owned();
    let url = reply.json()["next"].as_str().expect("an address").to_owned();
    BegunReview { token, url }
}

impl BegunReview {
    fn get(&self, test: &ViewTest, path: &str) -> WebReply {
        test.get_as(&self.token, &format!("{}{path}", self.url))
    }

    fn post(&self, test: &ViewTest, path: &str, body: &Value) -> WebReply {
        test.post(&self.token, &format!("{}/{path}", self.url), &body.to_string())
    }

    /// Keys of all items, in order.
    fn items(&self, test: &ViewTest) -> Vec<String> {
        let list = self.get(test, "/items").expect(200).body;
        let links = list.split("?item=").skip(1);
        links.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
    }

    /// Every page that can be read before anything is decided, with the id of the review removed.
    fn pages(&self, test: &ViewTest) -> Vec<String> {
        let paths = self.items(test).into_iter().map(|key| format!("?item={key}"));
        let paths = paths.chain([String::new(), "/items".to_owned(), "?closed=1".to_owned()]);
        let id = self.url.rsplit('/').next().expect("an id");
        paths
            .map(|path| {
                let reply = self.get(test, &path);
                let head: Vec<&str> = reply.head.lines().filter(|line| !line.starts_with("date:")).collect();
                format!("{}\n{}", head.join("\n"), reply.body).replace(id, "ID")
            })
            .collect()
    }
}

fn labels(test: &ViewTest, who: &str) -> Vec<Value> {
    let text =
        std::fs::read_to_string(test.path().join(format!("labels/review-{who}.jsonl"))).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a label")).collect()
}

#[test]
fn what_judges_decided_is_in_nothing_that_is_sent_before_the_reviewer_decides() {
    let test = ViewTest::with_runs();
    // Two runs that differ only in the judge's outcome.
    let (unmet, met) = (begin(&test, RUN, "ann", "random:3"), begin(&test, LATER, "ann", "random:3"));
    assert_ne!(unmet.url, met.url);
    let (first, second) = (unmet.pages(&test), met.pages(&test));
    assert_eq!(first.len(), 7);
    assert_eq!(first, second, "a page tells what the judge decided");
    for page in &first {
        assert!(!page.contains("because &#60;of") && !page.contains("nobody said"), "{page}");
    }

    let key = unmet.items(&test).remove(0);
    let reply = unmet.post(&test, "decide", &json!({ "item": key, "label": "pass" })).expect(200);
    assert!(!reply.body.contains("because &#60;of"), "{}", reply.body);
    let page = unmet.get(&test, &format!("?item={key}")).expect(200).body;
    assert!(page.contains("because &#60;of&#62; it") && page.contains(r#"id="own">pass<"#), "{page}");
    for key in unmet.items(&test).iter().skip(1) {
        let page = unmet.get(&test, &format!("?item={key}")).expect(200).body;
        assert!(!page.contains("because &#60;of"), "another item stays hidden: {page}");
    }

    let reply = unmet.post(&test, "undo", &json!({ "item": key })).expect(200);
    let page = test.get_as(&unmet.token, reply.json()["next"].as_str().expect("an address")).body;
    assert!(!page.contains("because &#60;of"), "it is hidden again: {page}");
}

#[test]
fn a_reviewer_sees_no_other_page_until_the_review_is_left() {
    let test = ViewTest::with_runs();
    let (ann, ben) = (begin(&test, RUN, "ann", "random"), begin(&test, RUN, "ben", "random"));
    for path in ["/", "/trend", &format!("/runs/{RUN}"), &format!("/runs/{RUN}/cases/1"), "/compare", "/nope"]
    {
        let reply = test.get_as(&ann.token, path).expect(303);
        assert_eq!(reply.header("location"), format!("{}?closed=1", ann.url), "{path}");
        assert_eq!(reply.body, "", "{path}");
    }
    let rows = test.get_as(&ann.token, &format!("/runs/{RUN}/rows")).expect(303);
    assert_eq!(rows.body, "");

    assert_eq!(test.get_as(&ann.token, &ben.url).status, 403, "the review of somebody else");
    assert_eq!(test.get(&ann.url).status, 403, "nobody sees a review beside the results");
    let body = json!({ "who": "ann", "what": "random" }).to_string();
    assert_eq!(test.post(&ann.token, &format!("/runs/{LATER}/review"), &body).status, 403);

    let left = ann.post(&test, "leave", &json!({})).expect(200);
    assert_eq!(left.json()["next"], format!("/runs/{RUN}"));
    assert!(left.header("set-cookie").contains(&format!("={TOKEN}; ")), "{}", left.head);
}

#[test]
fn a_decision_is_on_disk_when_it_is_answered_and_outlives_the_server() {
    let mut test = ViewTest::with_runs();
    let review = begin(&test, RUN, "ann", "random:3");
    let keys = review.items(&test);
    let decision =
        json!({ "item": keys[0], "label": "fail", "severity": "high", "note": " Not <b>kind</b> " });
    review.post(&test, "decide", &decision).expect(200);
    let written = labels(&test, "ann");
    assert_eq!(written.len(), 1);
    assert_eq!((&written[0]["label"], &written[0]["note"]), (&json!("unmet"), &json!("Not <b>kind</b>")));
    assert_eq!((&written[0]["severity"], &written[0]["sampled"]), (&json!("high"), &json!("random")));

    let skipped = review.post(&test, "skip", &json!({ "item": keys[1] })).expect(200);
    assert_eq!(skipped.json()["next"], format!("{}?item={}", review.url, keys[2]));
    let page = review.get(&test, &format!("?item={}", keys[2])).expect(200).body;
    assert!(page.contains("1 of 4 decided, 1 skipped"), "{page}");

    // The server restarts with the same token: reviewers' tokens, addresses and keys stay the same.
    test.serve();
    assert_eq!(test.get_as(&review.token, &review.url).status, 403, "it has to be begun again");
    let again = begin(&test, RUN, "ann", "random:3");
    assert_eq!((&again.token, &again.url, again.items(&test)), (&review.token, &review.url, keys.clone()));
    again.post(&test, "decide", &decision).expect(200);
    assert_eq!(labels(&test, "ann").len(), 1, "what was saved before is not written twice");
    let page = again.get(&test, &format!("?item={}", keys[0])).expect(200).body;
    assert!(page.contains("fail, severity high: Not &#60;b&#62;kind&#60;/b&#62;"), "{page}");
    assert!(page.contains("1 of 4 decided"), "{page}");

    let other = json!({ "item": keys[0], "label": "pass" });
    let refused = again.post(&test, "decide", &other).expect(409);
    assert!(
        refused.json()["error"].as_str().is_some_and(|text| text.contains("decided before")),
        "{}",
        refused.body
    );
    again.post(&test, "undo", &json!({})).expect(200);
    again.post(&test, "decide", &other).expect(200);
    assert_eq!(labels(&test, "ann")[1]["x-after-judge"], true);
}

#[test]
fn a_decision_larger_than_the_limit_is_refused() {
    let test = ViewTest::with_runs();
    let review = begin(&test, RUN, "ann", "random:3");
    let key = review.items(&test).remove(0);
    let decision = |note: String| json!({ "item": key, "label": "fail", "note": note });
    review.post(&test, "decide", &decision("x".repeat(64 * 1024))).expect(413);
    assert!(labels(&test, "ann").is_empty());
    review.post(&test, "decide", &decision("x".repeat(60 * 1024))).expect(200);
    assert_eq!(labels(&test, "ann").len(), 1);
}

#[test]
fn a_decision_that_cannot_be_written_is_not_taken_for_one() {
    let test = ViewTest::with_runs();
    std::fs::write(test.path().join("labels"), "a file where the folder should be").expect("written");
    let body = json!({ "who": "ann", "what": "random" }).to_string();
    let reply = test.post(TOKEN, &format!("/runs/{RUN}/review"), &body);
    if reply.status != 200 {
        // Its labels could not even be read.
        assert_eq!(reply.status, 422, "{}", reply.body);
        std::fs::remove_file(test.path().join("labels")).expect("removed");
    }

    let review = begin(&test, RUN, "ann", "random");
    std::fs::write(test.path().join("labels"), "a file where the folder should be").expect("written");
    let key = review.items(&test).remove(0);
    let decision = json!({ "item": key, "label": "pass" });
    let reply = review.post(&test, "decide", &decision).expect(500);
    assert!(
        reply.json()["error"].as_str().is_some_and(|text| text.contains("not recorded")),
        "{}",
        reply.body
    );
    let page = review.get(&test, &format!("?item={key}")).expect(200).body;
    assert!(page.contains("0 of 4 decided") && !page.contains("because &#60;of"), "{page}");

    std::fs::remove_file(test.path().join("labels")).expect("removed");
    review.post(&test, "decide", &decision).expect(200);
    assert_eq!(labels(&test, "ann").len(), 1);
}

#[test]
fn two_reviewers_at_once_write_files_of_their_own() {
    let test = ViewTest::with_runs();
    let reviews = [begin(&test, RUN, "ann", "random:3"), begin(&test, RUN, "ben", "random:3")];
    let keys = reviews[0].items(&test);
    std::thread::scope(|scope| {
        for (review, label) in reviews.iter().zip(["pass", "fail"]) {
            let (test, keys) = (&test, &keys);
            scope.spawn(move || {
                for key in keys {
                    review.post(test, "decide", &json!({ "item": key, "label": label })).expect(200);
                }
            });
        }
    });

    for (who, label) in [("ann", "met"), ("ben", "unmet")] {
        let written = labels(&test, who);
        assert_eq!(written.len(), keys.len());
        assert!(written.iter().all(|line| line["label"] == label && line["who"] == who), "{written:?}");
    }
    let done = reviews[0].get(&test, "?done").expect(200).body;
    assert!(done.contains("All 4 items are decided"), "{done}");
}

#[test]
fn only_scripts_of_these_pages_may_write() {
    let test = ViewTest::with_runs();
    let review = begin(&test, RUN, "ann", "random");
    let key = review.items(&test).remove(0);
    let (path, body) =
        (format!("{}/decide", review.url), json!({ "item": key, "label": "pass" }).to_string());
    let own = format!("Origin: http://{}", test.address());
    let other_port = "Origin: http://127.0.0.1:1".to_owned();
    for (headers, wanted) in [
        (vec!["X-Assize-Page: 1"], 403),
        (vec!["Origin: null", "X-Assize-Page: 1"], 403),
        (vec!["Origin: http://evil.example", "X-Assize-Page: 1"], 403),
        (vec![other_port.as_str(), "X-Assize-Page: 1"], 403),
        (vec![own.as_str()], 403),
        (vec![own.as_str(), "Sec-Fetch-Site: cross-site", "X-Assize-Page: 1"], 403),
        (vec![own.as_str(), "Sec-Fetch-Site: same-site", "X-Assize-Page: 1"], 403),
    ] {
        assert_eq!(test.post_with(&review.token, &path, &body, &headers).status, wanted, "{headers:?}");
    }
    assert_eq!(test.post("wrong", &path, &body).status, 403);
    assert_eq!(
        test.post(TOKEN, &path, &body).status,
        403,
        "the token of the server is not that of a reviewer"
    );
    let with_token = format!("{path}?token={}", review.token);
    assert_eq!(test.post("wrong", &with_token, &body).status, 403, "an address does not let write");
    assert_eq!(test.get_as(&review.token, &path).status, 405);
    assert!(labels(&test, "ann").is_empty());

    for (sent, wanted) in [
        (json!({ "item": key, "label": "maybe" }), 422),
        (json!({ "item": key, "label": "4" }), 422),
        (json!({ "item": key, "label": "pass", "severity": "terrible" }), 422),
        (json!({ "item": "0000", "label": "pass" }), 404),
        (json!({ "item": key, "label": "pass", "who": "somebody else" }), 422),
        (json!({ "item": key, "label": "pass", "note": "n".repeat(100_000) }), 413),
    ] {
        assert_eq!(review.post(&test, "decide", &sent).status, wanted);
    }
    assert!(labels(&test, "ann").is_empty());
    review.post(&test, "decide", &json!({ "item": key, "label": "pass" })).expect(200);
}

#[test]
fn texts_of_cases_stay_texts_on_review_pages() {
    let test = ViewTest::with_runs();
    let review = begin(&test, RUN, "<i>ann</i>", "random");
    let pages: Vec<String> = review.pages(&test);
    let hostile = pages.iter().filter(|page| page.contains("&#60;img src=x")).count();
    assert!(hostile >= 2, "the answer is shown");
    for page in &pages {
        for markup in ["<img", "<i>ann", "<b>hostile", "</script><script>", "\u{1b}", "\u{202e}"] {
            assert!(!page.contains(markup), "{markup}: {page}");
        }
    }
}

#[test]
fn a_review_that_cannot_begin_says_why() {
    let test = ViewTest::with_runs();
    let path = format!("/runs/{RUN}/review");
    for (body, wanted) in [
        (json!({ "who": " ", "what": "random" }), "enter your name"),
        (json!({ "who": "ann", "what": "queue" }), "Nothing needs review"),
        (json!({ "who": "ann", "what": "traces" }), "only a scorecard"),
        (json!({ "who": "ann", "what": "sideways" }), "unknown order"),
        (json!({ "who": "ann", "what": "random", "limit": "0" }), "whole number"),
        (json!({ "who": "ann", "what": "random", "criterion": "nope" }), "none of the 4 items"),
    ] {
        let reply = test.post(TOKEN, &path, &body.to_string()).expect(422);
        let error = reply.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    let page = test.get(&path).expect(200).body;
    assert!(page.contains("Items that need review") && !page.contains("to settle them"), "{page}");
}
