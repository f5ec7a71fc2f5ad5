//! Disk faults at every operation of a run: no row that was reported as written is lost.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use crate::disk::faults::{DiskFault, DiskStep, FaultPlan};
use crate::{CaseRecord, CaseRows, RunFolder, RunInfo, RunWriter, StoreError};

const CASES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// More operations than a run of these cases needs.
const MAX_OPERATIONS: usize = 200;

fn faults() -> [DiskFault; 3] {
    // A full disk, a broken one, and one that becomes full in the middle of a row.
    [
        DiskFault::Error(ErrorKind::StorageFull),
        DiskFault::Error(ErrorKind::Other),
        DiskFault::ShortWrite(ErrorKind::StorageFull),
    ]
}

fn old_run() -> RunFolder {
    RunFolder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run-v1"))
}

fn info() -> RunInfo {
    RunInfo { finished_at: None, summary: None, ..old_run().info().unwrap() }
}

fn case(id: &str) -> CaseRecord {
    let mut record = old_run().cases().unwrap().next().unwrap().unwrap();
    record.result.case_id = id.into();
    record
}

/// Records a case. Returns true if the writer reported it as written.
fn record(writer: &mut RunWriter, id: &str) -> bool {
    let CaseRecord { result, decisions } = case(id);
    writer.append(&CaseRows::new(&decisions, &result, Some(format!("hash of {id}"))).unwrap());
    writer.settle().is_ok()
}

fn finish(writer: RunWriter) -> Result<RunFolder, StoreError> {
    writer.finish(&mut RunInfo { finished_at: Some("later".to_owned()), ..info() })
}

/// Resumes a run without faults, completes it, and checks that all of `kept` are there and that no case is
/// there twice.
fn complete(folder: &RunFolder, kept: &BTreeSet<&str>) {
    let mut there = BTreeSet::new();
    let mut writer = folder
        .resume(&info(), &mut |record, _| {
            assert!(there.insert(record.result.case_id.to_string()), "twice: {}", record.result.case_id);
            true
        })
        .unwrap();
    for id in kept {
        assert!(there.contains(*id), "`{id}` was said to be kept");
    }

    for id in CASES.iter().filter(|id| !there.contains(**id)) {
        assert!(record(&mut writer, id));
    }

    finish(writer).unwrap();
    let mut cases: Vec<CaseRecord> = folder.cases().unwrap().map(Result::unwrap).collect();
    cases.sort_by(|a, b| a.result.case_id.cmp(&b.result.case_id));
    assert_eq!(cases, CASES.map(case));
}

#[test]
fn a_run_survives_every_fault_of_the_disk() {
    let mut steps = BTreeSet::new();
    for fault in faults() {
        for nth in 0..MAX_OPERATIONS {
            let dir = tempfile::tempdir().unwrap();
            let folder = RunFolder::new(dir.path().join("run"));
            let plan = FaultPlan::begin(nth, fault);
            let mut kept = BTreeSet::new();
            let mut is_finished = false;
            if let Ok(mut writer) = folder.create(&info()) {
                kept.extend(CASES.into_iter().filter(|id| record(&mut writer, id)));
                is_finished = finish(writer).is_ok();
            }

            FaultPlan::end();

            let Some(failed) = plan.failed() else {
                assert!(is_finished, "without a fault");
                assert!(nth > 20, "a run has more operations than {nth}");
                break;
            };

            assert!(!is_finished, "{fault:?} of operation {nth}, {failed:?}, was not told");
            steps.insert(format!("{failed:?}"));
            if folder.info().is_ok() {
                complete(&folder, &kept);
            } else {
                assert!(kept.is_empty());
            }
        }
    }

    let all = [DiskStep::Open, DiskStep::Write, DiskStep::Sync, DiskStep::Rename, DiskStep::SyncFolder];
    assert_eq!(steps, all.iter().map(|step| format!("{step:?}")).collect());
}

#[test]
fn going_on_survives_every_fault_of_the_disk() {
    for fault in faults() {
        for nth in 0..MAX_OPERATIONS {
            let dir = tempfile::tempdir().unwrap();
            let folder = RunFolder::new(dir.path().join("run"));
            let mut writer = folder.create(&info()).unwrap();
            let mut kept: BTreeSet<&str> = CASES[..3].iter().copied().collect();
            assert!(kept.iter().all(|id| record(&mut writer, id)));
            drop(writer);

            let plan = FaultPlan::begin(nth, fault);
            let mut is_finished = false;
            if let Ok(mut writer) = folder.resume(&info(), &mut |_, _| true) {
                kept.extend(CASES[3..].iter().copied().filter(|id| record(&mut writer, id)));
                is_finished = finish(writer).is_ok();
            }

            FaultPlan::end();
            complete(&folder, &kept);
            if plan.failed().is_none() {
                assert!(is_finished && nth > 20);
                break;
            }

            assert!(!is_finished, "{fault:?} of operation {nth} was not told");
        }
    }
}
