//! Batches of Bedrock: jobs that read and write a bucket.

use super::*;

const NAME: &str = "bedrock:judge-1";

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&BEDROCK[..], more].concat()
}

#[test]
fn a_job_brings_the_results_of_a_live_run_and_its_replies_serve_one() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: 2, ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    let output = eval(&cli, NAME, &BEDROCK).expect_code(1);

    assert!(
        without_address(kept(&cli, "run"), &server) == live(40, NAME),
        "the rows are those of a live run"
    );
    assert_eq!(server.batches().sizes(), [119], "the first request goes alone");
    assert_eq!(server.batches().paid_totals(), (119, 1));
    paid_once(&server);
    assert_eq!(printed(&output)["judge_calls"], 120);
    assert_eq!(files_of_batches(&cli), Vec::<String>::new());
    for body in server.batches().bodies() {
        assert!(body.get("toolConfig").is_none() && body.get("outputConfig").is_some(), "{body}");
    }

    let objects = server.batches().objects();
    let [replies, manifest, requests] = &objects[..] else { panic!("{objects:?}") };
    let job = "bucket/evals/replies/000000000001/";
    assert_eq!(*manifest, format!("{job}manifest.json.out"));
    assert!(replies.starts_with(&format!("{job}assize-")) && replies.ends_with(".jsonl.out"), "{replies}");
    assert!(requests.starts_with("bucket/evals/requests/assize-"), "{requests}");

    // A live run calls with a tool and still finds these replies in the cache; so does a batch run the other
    // way round.
    cli.run(&["eval", "suite.yaml", "--judge", NAME, "--cache-only", "-q"]).expect_code(1);
    let cli = answers(&server, 40);
    eval(&cli, NAME, &[]).expect_code(1);
    let before = server.count();
    std::fs::remove_dir_all(cli.path("run")).unwrap();
    eval(&cli, NAME, &BEDROCK).expect_code(1);
    assert_eq!((server.count(), server.batches().sizes().len()), (before, 1));
}

#[test]
fn too_few_requests_for_a_job_are_asked_live_with_a_note() {
    let server = MockServer::start(judge);
    let cli = answers(&server, 33);
    let words = ["eval", "suite.yaml", "--judge", NAME, "--show", "none"];
    let output = cli.run(&[&words[..], &BEDROCK].concat()).expect_code(1);
    assert!(output.stderr.contains("98 requests are too few for a batch at 127.0.0.1"), "{}", output.stderr);
    assert!(output.stderr.contains("takes 100 or more"), "{}", output.stderr);
    assert!(output.stderr.contains("98 requests are sent live"), "{}", output.stderr);
    assert_eq!((server.batches().sizes(), server.batches().paid_totals()), (vec![], (0, 99)));
    assert_eq!(server.batches().objects(), Vec::<String>::new());
}

#[test]
fn an_expired_job_is_taken_in_and_only_what_is_missing_is_sent_again() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { expire_after: Some(30), ..MockBatchFaults::default() });
    let cli = answers(&server, 60);
    eval(&cli, NAME, &BEDROCK).expect_code(1);
    assert_eq!(server.batches().sizes(), [179, 149]);
    assert_eq!(server.batches().paid_totals(), (179, 1));
    paid_once(&server);
    assert!(without_address(kept(&cli, "run"), &server) == live(60, NAME));

    // A job that expired before it began has no file of results.
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { expire_after: Some(0), ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    eval(&cli, NAME, &BEDROCK).expect_code(1);
    assert_eq!((server.batches().sizes(), server.batches().paid_totals()), (vec![119, 119], (119, 1)));
}

#[test]
fn failed_garbled_and_misnamed_records_are_asked_again() {
    let server = MockServer::start(judge);
    let faults =
        MockBatchFaults { refuse_every: Some(5), garble_every: Some(7), ..MockBatchFaults::default() };
    server.batches().set(faults);
    let cli = answers(&server, 40);
    let output = printed(&eval(&cli, NAME, &BEDROCK).expect_code(1));
    assert_eq!(output["counts"]["incomplete"], 0, "{output}");
    // Of 119, 23 are refused; of the others, 14 are garbled.
    assert_eq!((server.batches().sizes(), server.batches().paid_totals()), (vec![119], (96, 1 + 23 + 14)));

    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { rename_every: Some(50), ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    let output = eval(&cli, NAME, &BEDROCK).expect_code(1);
    let stderr = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stderr.contains("2 lines with an unknown id (`ffff"), "{stderr}");
    assert!(
        stderr.contains("sending 2 requests without a result again, which may be paid twice"),
        "{stderr}"
    );
    assert_eq!(printed(&output)["counts"]["incomplete"], 0, "{stderr}");
    assert_eq!(server.batches().paid_totals(), (119, 1 + 2), "a reply under an unknown name answers nothing");
    assert!(without_address(kept(&cli, "run"), &server) == live(40, NAME));

    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { refuse_every: Some(1), ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    eval(&cli, NAME, &BEDROCK).expect_code(1);
    assert_eq!((server.batches().sizes(), server.batches().paid_totals()), (vec![119], (0, 120)));
}

#[test]
fn a_creation_without_an_answer_is_looked_for_and_not_repeated() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { lost_answers: 1, polls: 3, ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    eval(&cli, NAME, &BEDROCK).expect_code(1);
    assert_eq!(server.batches().sizes(), [119]);
    paid_once(&server);
    assert_eq!(files_of_batches(&cli), Vec::<String>::new());
}

#[test]
fn a_job_or_results_that_are_not_found_are_not_paid_for_again() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    interrupt_when_sent(&cli, &server, NAME);
    let resumed = with(&["--resume"]);

    server.batches().set(MockBatchFaults { vanished: true, ..MockBatchFaults::default() });
    let output = eval(&cli, NAME, &resumed).expect_code(3);
    assert!(output.stderr.contains("another project or account"), "{}", output.stderr);

    server.batches().set(MockBatchFaults { results_gone: true, ..MockBatchFaults::default() });
    let output = eval(&cli, NAME, &resumed).expect_code(3);
    assert!(output.stderr.contains("are gone, because providers delete them"), "{}", output.stderr);

    server.batches().set(MockBatchFaults { bucket_closed: true, ..MockBatchFaults::default() });
    let output = eval(&cli, NAME, &resumed).expect_code(3);
    assert!(
        output.stderr.contains("Nothing is lost") && output.stderr.contains("s3:GetObject"),
        "{}",
        output.stderr
    );

    server.batches().set(MockBatchFaults::default());
    let mut elsewhere = resumed.clone();
    elsewhere[2] = "s3://another-bucket/evals";
    let output = eval(&cli, NAME, &elsewhere).expect_code(3);
    assert!(output.stderr.contains("name the bucket that it was sent with"), "{}", output.stderr);

    // Another prefix in the bucket does not matter, because the job says where its results are.
    elsewhere[2] = "s3://bucket/other";
    eval(&cli, NAME, &elsewhere).expect_code(1);
    assert_eq!(server.batches().sizes(), [119]);
    paid_once(&server);
}

#[test]
fn a_bucket_that_refuses_and_a_job_that_fails_are_said_and_cost_nothing() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { bucket_closed: true, ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    let output = eval(&cli, NAME, &BEDROCK).expect_code(3);
    for words in
        ["Access Denied", "s3:PutObject", "s3://bucket/evals/requests/assize-", "Nothing was charged"]
    {
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    assert_eq!(server.batches().sizes(), Vec::<usize>::new());

    let refusal = ("x".to_owned(), "The role can't read the bucket".to_owned());
    server.batches().set(MockBatchFaults { refuse_next: Some(refusal), ..MockBatchFaults::default() });
    let output = eval(&cli, NAME, &with(&["--resume"])).expect_code(3);
    assert!(output.stderr.contains("The role can't read the bucket"), "{}", output.stderr);
    assert_eq!(server.batches().paid_totals().0, 0);
    assert_eq!(files_of_batches(&cli), Vec::<String>::new());
}

#[test]
fn when_the_time_for_batches_is_over_the_job_is_stopped_and_the_rest_is_asked_alone() {
    for done in [0, 10] {
        let server = MockServer::start(judge);
        let faults =
            MockBatchFaults { polls: usize::MAX, done_at_cancel: done, ..MockBatchFaults::default() };
        server.batches().set(faults);
        let cli = answers(&server, 40);
        // Long enough that even a busy machine has sent the job by then.
        eval(&cli, NAME, &with(&["--batch-wait", "5s"])).expect_code(1);
        let done = u32::try_from(done).expect("small");
        assert_eq!(
            (server.batches().sizes(), server.batches().paid_totals()),
            (vec![119], (done, 120 - done))
        );
        paid_once(&server);
    }
}

#[test]
fn no_key_is_in_any_file_of_the_workspace_or_in_any_message() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { polls: usize::MAX, ..MockBatchFaults::default() });
    let cli = answers(&server, 40);
    let mut said = interrupt_when_sent(&cli, &server, NAME);
    server.batches().set(MockBatchFaults { bucket_closed: true, ..MockBatchFaults::default() });
    said += &eval(&cli, NAME, &with(&["--resume"])).expect_code(3).stderr;
    let secrets = [KEY, KEY_ID, SECRET, TOKEN];
    for secret in secrets {
        assert!(!said.contains(secret), "{said}");
    }

    assert_eq!(files_of_batches(&cli).len(), 1);
    assert_no_file_holds(&cli, &secrets);
}

#[test]
fn an_access_key_is_needed_and_no_file_of_the_folder_sends_it_elsewhere() {
    let server = MockServer::start(judge);
    let mut cli = fixture(&server);
    cli.env("AWS_BEARER_TOKEN_BEDROCK", KEY).env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.base_url());
    cli.env("AWS_ACCESS_KEY_ID", KEY_ID).env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_REGION", "eu-west-1");
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    cli.file(".env", "AWS_ENDPOINT_URL_S3=https://elsewhere.example\n");
    let output = eval(&cli, NAME, &BEDROCK).expect_code(2);
    assert!(output.stderr.contains("AWS_ENDPOINT_URL_S3 is set in the `.env` file"), "{}", output.stderr);

    cli.env("AWS_ENDPOINT_URL_S3", "http://elsewhere.example");
    let output = eval(&cli, NAME, &BEDROCK).expect_code(2);
    assert!(output.stderr.contains("must begin with https://"), "{}", output.stderr);

    cli.env("AWS_SECRET_ACCESS_KEY", "");
    let output = eval(&cli, NAME, &BEDROCK).expect_code(2);
    assert!(output.stderr.contains("AWS_SECRET_ACCESS_KEY is not"), "{}", output.stderr);

    cli.env("AWS_ACCESS_KEY_ID", "");
    let output = eval(&cli, NAME, &BEDROCK).expect_code(2);
    assert!(output.stderr.contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), "{}", output.stderr);
    assert_eq!(server.count(), 0);
}

#[test]
fn no_discount_is_claimed_unless_the_price_table_has_one() {
    let server = MockServer::start(judge);
    let cli = answers(&server, 40);
    let plan = |row: &str| {
        cli.file(".assize/prices.yaml", format!("models:\n  bedrock:judge-1: {row}\n"));
        let words = ["eval", "suite.yaml", "--judge", NAME, "--dry-run"];
        cli.run(&[&words[..], &BEDROCK].concat()).expect_code(0).stdout
    };
    assert!(plan("{input: 1, output: 10}").contains("no discount is known"));
    let text = plan("{input: 1, output: 10, batch_discount: 50}");
    assert!(text.contains(" instead of $"), "{text}");
    assert_eq!(server.count(), 0);
}

#[test]
fn requests_and_jobs_are_signed_with_the_key_of_a_profile() {
    let server = MockServer::start(judge);
    let mut cli = answers(&server, 120);
    for variable in ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"] {
        cli.env(variable, "");
    }
    cli.env("AWS_PROFILE", "work");
    cli.file(
        ".aws/credentials",
        format!("[work]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\naws_session_token = {TOKEN}\n"),
    );
    cli.file(".aws/config", "[profile work]\nregion = eu-west-1\n");
    let mut said = eval(&cli, NAME, &BEDROCK).expect_code(1).stderr;

    // A key that the server refuses is named by its profile.
    let refusing = MockServer::start(|_: &MockRequest| {
        MockReply::status(403, r#"{"message":"The security token included in the request is invalid."}"#)
    });
    cli.env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", refusing.base_url());
    let words = ["try", "Is polite", "--answer", "Hello.", "--judge", NAME, "--no-cache"];
    let output = cli.run(&words);
    let refused = format!("{}{}", output.stdout, output.stderr);
    assert!(refused.contains("the profile `work`"), "{refused}");
    said += &refused;

    let mut kinds = std::collections::BTreeSet::new();
    for request in server.requests().iter().chain(&refusing.requests()) {
        if request.path.starts_with("/s3") {
            continue;
        }
        kinds.insert(request.line.split(' ').next().unwrap_or_default().to_owned());
        let of = |name| request.header(name).unwrap_or_default().to_owned();
        let signature = of("authorization");
        let begins = format!("AWS4-HMAC-SHA256 Credential={KEY_ID}/");
        assert!(signature.starts_with(&begins), "{} {signature}", request.path);
        assert!(signature.contains("/eu-west-1/bedrock/aws4_request, SignedHeaders="), "{signature}");
        assert_eq!(of("x-amz-security-token"), TOKEN);
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["GET", "POST"]);

    let secrets = [KEY_ID, SECRET, TOKEN];
    assert!(!secrets.iter().any(|secret| said.contains(secret)), "{said}");
    std::fs::remove_dir_all(cli.path(".aws")).expect("it is there");
    assert_no_file_holds(&cli, &secrets);
}
