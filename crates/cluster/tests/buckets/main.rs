//! Results in a bucket of a server that speaks S3. Needs the feature `cloud`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use assize_cluster::{ResultStore, open_results};
use assize_testkit::s3::S3Server;

/// Starts the server; without it the test is skipped, aloud.
fn server(test: &str) -> Option<S3Server> {
    match S3Server::start(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("moto")) {
        Ok(server) => Some(server),
        Err(why) => {
            let line = format!("\nSKIPPED 1 test, {test}: {why}\n");
            std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            None
        }
    }
}

fn variables(server: &S3Server) -> BTreeMap<String, String> {
    [
        ("AWS_ENDPOINT", server.endpoint().as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn results(server: &S3Server, job: &str) -> Arc<dyn ResultStore> {
    open_results("s3://results/evals", job, &variables(server)).expect("the bucket can be used")
}

#[tokio::test]
async fn the_first_result_of_a_unit_stays_in_a_bucket() {
    let Some(server) = server("the_first_result_of_a_unit_stays_in_a_bucket") else { return };
    server.make_bucket("results");
    let (one, two) = (results(&server, "job-1"), results(&server, "job-1"));

    assert!(!one.contains("1.2").await.expect("reached"));
    assert!(one.create("1.2", b"first".to_vec()).await.expect("stored"));
    assert!(!two.create("1.2", b"second".to_vec()).await.expect("refused"));
    assert_eq!(two.get("1.2").await.expect("read"), b"first");
    assert_eq!(two.names().await.expect("listed"), ["1.2"]);
    assert!(results(&server, "job-2").names().await.expect("listed").is_empty());
    assert!(one.get("3").await.is_err());
}

#[tokio::test]
async fn of_many_writers_one_wins() {
    let Some(server) = server("of_many_writers_one_wins") else { return };
    server.make_bucket("results");
    let writers: Vec<_> = (0..8u8).map(|at| (at, results(&server, "race"))).collect();
    let written = writers.iter().map(|(at, store)| store.create("7", vec![*at; 100_000]));
    let won = futures_util::future::join_all(written).await;

    let winners: Vec<usize> = won
        .iter()
        .enumerate()
        .filter(|(_, won)| *won.as_ref().expect("answered"))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(winners.len(), 1, "{winners:?}");
    let stored = writers[0].1.get("7").await.expect("read");
    assert!(stored.iter().all(|byte| usize::from(*byte) == winners[0]));
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_told() {
    let Some(server) = server("a_bucket_that_is_not_there_is_told") else { return };
    let error = results(&server, "job").create("1", Vec::new()).await.expect_err("no bucket").to_string();
    assert!(error.contains("can't store the result of unit 1"), "{error}");
}
