//! Results of batches that are cut off, repeated or missing, and providers that give no reason or have
//! another clock.

use super::*;

#[test]
fn results_that_are_cut_off_once_are_read_again_and_nothing_is_paid_twice() {
    for (name, cut_between_lines) in [
        ("openai:judge-1", false),
        ("openai:judge-1", true),
        ("anthropic:judge-1", false),
        ("anthropic:judge-1", true),
    ] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults {
            cut_results: 1,
            cut_between_lines,
            ..MockBatchFaults::default()
        });
        let cli = answers(&server, 6);
        let output = eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert!(!output.stderr.contains("warning"), "{name}: {}", output.stderr);
        assert_eq!(server.batches().paid_totals(), (17, 1), "{name}");
        paid_once(&server);
        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
    }
}

#[test]
fn results_that_stay_cut_off_are_said_with_their_batch_and_the_rest_is_sent_again() {
    for (name, cut_between_lines, words) in [
        ("openai:judge-1", false, "1 line can't be read (the line is cut off), 8 lines missing"),
        ("openai:judge-1", true, "9 lines missing of those that the provider counts"),
        ("anthropic:judge-1", false, "1 line can't be read (the line is cut off), 8 lines missing"),
    ] {
        let server = MockServer::start(judge);
        let faults =
            MockBatchFaults { cut_results: usize::MAX, cut_between_lines, ..MockBatchFaults::default() };
        server.batches().set(faults);
        let cli = answers(&server, 6);
        let output = eval(&cli, name, &["--judge-batch"]).expect_code(1);

        let stderr = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(stderr.matches("results of batch batch_1 at 127.0.0.1").count(), 1, "{name}: {stderr}");
        assert!(stderr.contains(words), "{name}: {stderr}");
        assert!(stderr.contains("sending 9 requests without a result again"), "{name}: {stderr}");
        assert_eq!(server.batches().paid_totals(), (17, 1 + 9), "{name}");
        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
    }
}

#[test]
fn an_answer_after_a_failure_of_the_same_request_is_the_one_that_counts() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { repeat_every: Some(5), ..MockBatchFaults::default() });
        let cli = answers(&server, 6);
        eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert_eq!(server.batches().paid_totals(), (17, 1), "{name}");
        paid_once(&server);
        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
    }
}

#[test]
fn a_clock_that_is_half_a_day_fast_does_not_hide_a_batch_that_was_created() {
    for name in ["openai:judge-1", "anthropic:judge-1", "gemini:judge-1"] {
        let server = MockServer::start(judge);
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
        let created = i64::try_from(since).ok().map(|now| now - 12 * 3600);
        server.batches().set(MockBatchFaults {
            lost_answers: 1,
            polls: 3,
            created,
            ..MockBatchFaults::default()
        });
        let cli = answers(&server, 3);
        eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert_eq!(server.batches().sizes(), [8], "{name}");
        paid_once(&server);
    }
}

#[test]
fn a_provider_that_gives_no_answer_about_a_batch_is_told_of_once_and_asked_again() {
    let server = MockServer::start(judge);
    server.batches().set(MockBatchFaults { failed_polls: 6, ..MockBatchFaults::default() });
    let cli = answers(&server, 3);
    let output = eval(&cli, "openai:judge-1", &["--judge-batch"]).expect_code(1);
    let stderr = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(stderr.matches("no answer about batch batch_1 at 127.0.0.1").count(), 1, "{stderr}");
    assert!(stderr.contains("The server had an error"), "{stderr}");
    assert_eq!(server.batches().sizes(), [8]);
}

#[test]
fn results_that_are_gone_are_said_and_not_paid_for_again_unasked() {
    for name in ["openai:judge-1", "anthropic:judge-1"] {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { results_gone: true, ..MockBatchFaults::default() });
        let cli = answers(&server, 3);
        let more = ["--judge-batch", "--resume"];
        for _ in 0..2 {
            let output = eval(&cli, name, &more).expect_code(3);
            assert!(
                output.stderr.contains("are gone, because providers delete them"),
                "{name}: {}",
                output.stderr
            );
            assert!(!output.stderr.contains("Nothing is lost"), "{name}: {}", output.stderr);
        }
        assert_eq!(server.batches().sizes(), [8], "{name}");

        // As the message advises.
        let [file] = &files_of_batches(&cli)[..] else { panic!("one batch") };
        std::fs::remove_file(cli.path(".assize/batches").join(file)).unwrap();
        server.batches().set(MockBatchFaults::default());
        eval(&cli, name, &more).expect_code(1);
    }
}
