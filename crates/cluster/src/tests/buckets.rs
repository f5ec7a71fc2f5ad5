//! Results in buckets of servers that speak S3 and Azure's format. Needs the feature `cloud`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::{ResultStore, open_results};
use assize_testkit::buckets::{BucketFormat, BucketServer};

/// A bucket for results, with its server.
struct Bucket {
    server: BucketServer,
    address: String,
}

impl Bucket {
    fn results(&self, job: &str) -> Arc<dyn ResultStore> {
        let variables = self.server.variables().into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables: BTreeMap<_, _> = variables.collect();
        open_results(&format!("{}/evals", self.address), job, &variables).expect("the bucket can be used")
    }
}

/// Starts each server with a bucket. If a server can't start, the test prints that it is skipped for that
/// format.
fn buckets(test: &str) -> Vec<Bucket> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/buckets");
    let mut found = Vec::new();
    for format in BucketFormat::ALL {
        match BucketServer::start(format, &programs) {
            Ok(server) => found.push(Bucket { address: server.make_bucket("results"), server }),
            Err(why) => {
                // Bypasses the test harness, which captures output: the summary counts these lines.
                let line = format!("\nSKIPPED 1 test, {test} with {format:?}: {why}\n");
                std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
            }
        }
    }

    found
}

#[tokio::test]
async fn the_first_result_of_a_unit_stays_in_a_bucket() {
    for bucket in buckets("the_first_result_of_a_unit_stays_in_a_bucket") {
        let (one, two) = (bucket.results("job-1"), bucket.results("job-1"));
        assert!(!one.contains("1.2").await.expect("reached"));
        assert!(one.create("1.2", b"first".to_vec()).await.expect("stored"));
        assert!(!two.create("1.2", b"second".to_vec()).await.expect("refused"));
        assert_eq!(two.get("1.2").await.expect("read"), b"first");
        assert_eq!(two.names().await.expect("listed"), ["1.2"]);
        assert!(bucket.results("job-2").names().await.expect("listed").is_empty());
        assert!(bucket.results("job").names().await.expect("listed").is_empty(), "no job of another name");
        assert!(one.get("3").await.is_err());
    }
}

#[tokio::test]
async fn more_results_than_a_server_lists_at_once_are_all_found() {
    /// One more than either format lists in one answer by default.
    const RESULTS: u32 = 1_001;

    let Some(bucket) = buckets("more_results_than_a_server_lists").into_iter().next() else { return };
    let results = bucket.results("job-1");
    for unit in 1..=RESULTS {
        assert!(results.create(&unit.to_string(), Vec::new()).await.expect("stored"));
    }
    let names = results.names().await.expect("listed");
    let mut numbers: Vec<u32> = names.iter().map(|name| name.parse().expect("a number")).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=RESULTS));
}

#[tokio::test]
async fn of_many_writers_one_wins() {
    for bucket in buckets("of_many_writers_one_wins") {
        let writers: Vec<_> = (0..8u8).map(|at| (at, bucket.results("race"))).collect();
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
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_told() {
    for mut bucket in buckets("a_bucket_that_is_not_there_is_told") {
        bucket.address = bucket.address.replace("results", "missing");
        let error = bucket.results("job").create("1", Vec::new()).await.expect_err("no bucket").to_string();
        assert!(error.contains("can't store the result of unit 1"), "{error}");
    }
}
