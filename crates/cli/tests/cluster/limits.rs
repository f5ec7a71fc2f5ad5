//! One budget for all workers.

use std::time::Duration;

use serde_json::Value;

use crate::machines::{EVAL, coordinator, judge_server, machine, servers, worker};

#[test]
fn no_call_is_made_beyond_the_budget_of_all_and_a_larger_one_goes_on() {
    let Some(servers) = servers("no_call_is_made_beyond_the_budget") else { return };
    let judge = judge_server(Duration::from_millis(10));
    let (boss, address) = (machine(&judge, 40), servers.address());
    let machines: Vec<_> = (0..3).map(|_| machine(&judge, 40)).collect();
    let _workers: Vec<_> = machines.iter().map(|machine| worker(machine, &address)).collect();

    let more = ["--unit-size", "5", "--budget-calls", "37"];
    let (code, out, err) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(4), "{err}");
    let spent = judge.count();
    assert!((20..=37).contains(&spent), "{spent} calls");

    // Text, JSON and file say the same, and count requests of units without a result.
    let stored: Value = serde_json::from_str(&boss.read("merged/run.json")).unwrap();
    let printed: Value = serde_json::from_str(&out).unwrap();
    for summary in [&stored["summary"], &printed] {
        assert_eq!(summary["exit_code"], 4, "{summary}");
        let reason = summary["exit_reason"].as_str().unwrap();
        assert!(reason.contains("stopped by the budget") && reason.contains("not run"), "{reason}");
    }
    let sent = &stored["summary"]["sent"];
    let [requests, given_up] = ["requests", "given_up"].map(|name| sent[name].as_u64().unwrap());
    assert!(requests <= 37 && requests + given_up >= spent as u64, "{sent} of {spent}");

    // A job continues with the options that it began with.
    for (option, value) in [("--unit-size", "7"), ("--lease", "9s"), ("--results", "/mnt/elsewhere")] {
        let more = ["--budget-calls", "200", "--resume", option, value];
        let (code, _, err) = coordinator(&boss, &address, &more).finish();
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(&format!("was begun with another `{option}`")), "{err}");
    }

    // Another job of the same plan, with other options: the first job's spending counts.
    let more = ["--budget-calls", "37", "--resume", "--unit-size", "5", "--max-concurrency", "64"];
    let (code, _, err) = coordinator(&boss, &address, &more).finish();
    assert_eq!((code, judge.count()), (Some(4), spent), "{err}");
    assert!(err.contains("the budget does not allow another call: of 37 calls, "), "{err}");
    let stored: Value = serde_json::from_str(&boss.read("merged/run.json")).unwrap();
    assert!(
        stored["summary"]["sent"]["requests"].as_u64() >= Some(requests),
        "{}",
        stored["summary"]["sent"]
    );

    let more = ["--budget-calls", "200", "--resume"];
    let (code, _, err) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(1), "{err}");
    assert_eq!(judge.count(), 80, "what was bought before is not bought again");
}

#[test]
fn a_rate_for_all_is_kept_by_all() {
    let Some(servers) = servers("a_rate_for_all_is_kept_by_all") else { return };
    let judge = judge_server(Duration::from_millis(1));
    let (boss, address) = (machine(&judge, 12), servers.address());
    let machines: Vec<_> = (0..3).map(|_| machine(&judge, 12)).collect();
    let _workers: Vec<_> = machines.iter().map(|machine| worker(machine, &address)).collect();

    // 24 calls, at most 240 a minute: four a second, whichever worker makes them.
    let begun = std::time::Instant::now();
    let more = ["--unit-size", "2", "--requests-per-minute", "240"];
    let (code, _, err) = coordinator(&boss, &address, &more).finish();
    assert_eq!((code, judge.count()), (Some(1), 24), "{err}");
    assert!(begun.elapsed() >= Duration::from_secs(4), "the rate of one worker would take a third of that");
}

#[test]
fn a_budget_in_dollars_for_an_unknown_price_is_refused_as_on_one_machine() {
    let Some(servers) = servers("a_budget_in_dollars_for_an_unknown_price") else { return };
    let judge = judge_server(Duration::ZERO);
    let boss = machine(&judge, 2);
    let alone = boss.run(&[&EVAL[..], &["--budget-usd", "1"]].concat());
    assert!(alone.stderr.contains("unknown price for openai:judge-1"), "{}", alone.stderr);

    let address = servers.address();
    let all = boss.run(&[&EVAL[..], &["--budget-usd", "1", "--cluster", &address]].concat());
    assert_eq!((all.code, all.stderr), (alone.code, alone.stderr));
    assert_eq!(judge.count(), 0);
}
