//! Disk faults at every operation of the cache: no reply that was reported as kept is lost.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use super::{CachedReply, ReplyCache, fence_key};
use crate::disk::faults::{DiskFault, DiskStep, FaultPlan};

const REPLIES: u8 = 6;

/// More operations than the cache needs for these replies.
const MAX_OPERATIONS: usize = 200;

fn faults() -> [DiskFault; 4] {
    [
        DiskFault::Error(ErrorKind::StorageFull),
        DiskFault::Error(ErrorKind::Other),
        DiskFault::ShortWrite(ErrorKind::StorageFull),
        DiskFault::Gone(ErrorKind::StorageFull),
    ]
}

fn reply(n: u8) -> CachedReply {
    let text = format!("reply {n} ").repeat(50);
    CachedReply {
        key: [n; 32],
        model: "m".into(),
        created: i64::from(n),
        body: Some(text.clone()),
        reply: text,
    }
}

/// Adds the replies in one process, and returns those that were reported as kept. `None` if the cache can't
/// be opened.
fn keep_all(path: &Path) -> Option<BTreeSet<u8>> {
    let cache = ReplyCache::open(path).ok()?;
    let kept = (0..REPLIES).filter(|n| {
        cache.keep(reply(*n));
        assert_eq!(cache.find(&[*n; 32]).ok().flatten().unwrap_or_else(|| reply(*n)), reply(*n));
        cache.flush().is_ok()
    });
    Some(kept.collect())
}

/// Returns the replies that the next process finds, after checking that they are unchanged.
fn found(path: &Path) -> BTreeSet<u8> {
    let cache = ReplyCache::open(path).unwrap();
    let found = (0..REPLIES).filter(|n| {
        let found = cache.find(&[*n; 32]).unwrap();
        found.is_some_and(|found| {
            assert_eq!(found, reply(*n));
            true
        })
    });
    let found = found.collect();
    assert_eq!(cache.damaged(), 0);
    found
}

#[test]
fn the_cache_survives_every_fault_of_the_disk() {
    let all: BTreeSet<u8> = (0..REPLIES).collect();
    let mut steps = BTreeSet::new();
    for fault in faults() {
        for nth in 0..MAX_OPERATIONS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("cache/replies.db");
            let plan = FaultPlan::begin(nth, fault);
            let kept = keep_all(&path);
            FaultPlan::end();

            let Some(failed) = plan.failed() else {
                assert_eq!((kept, found(&path)), (Some(all.clone()), all.clone()), "without a fault");
                assert!(nth > 20, "a cache has more operations than {nth}");
                break;
            };

            steps.insert(format!("{failed:?}"));
            let Some(kept) = kept else { continue };
            let found = found(&path);
            assert!(kept.is_subset(&found), "{fault:?} of operation {nth}, {failed:?}: {kept:?}, {found:?}");

            // Each of the two keeps everything: the journal keeps replies that the database refuses, and vice versa.
            if !matches!(fault, DiskFault::Gone(_)) {
                assert_eq!(found, all, "{fault:?} of operation {nth}, {failed:?}");
                assert_eq!(kept == all, failed != DiskStep::Transaction, "{fault:?} of operation {nth}");
            }
        }
    }

    let reached =
        [DiskStep::Open, DiskStep::Write, DiskStep::Rename, DiskStep::SyncFolder, DiskStep::Transaction];
    assert_eq!(steps, reached.iter().map(|step| format!("{step:?}")).collect());
}

#[test]
fn a_fault_leaves_no_part_of_a_key() {
    for fault in faults() {
        for nth in 0..MAX_OPERATIONS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("fence.key");
            let plan = FaultPlan::begin(nth, fault);
            let key = fence_key(&path, [1; 32]);
            FaultPlan::end();

            let again = fence_key(&path, [2; 32]).unwrap();
            assert_eq!(again, if key.is_ok() { [1; 32] } else { [2; 32] });
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
            if plan.failed().is_none() {
                assert!(key.is_ok() && nth > 2);
                break;
            }
        }
    }
}

#[test]
fn a_full_disk_leaves_no_empty_list_of_ignored_files() {
    for fault in faults() {
        for nth in 0..MAX_OPERATIONS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("cache/replies.db");
            let plan = FaultPlan::begin(nth, fault);
            drop(ReplyCache::open(&path));
            FaultPlan::end();

            drop(ReplyCache::open(&path).unwrap());
            let ignored = std::fs::read_to_string(folder.path().join("cache/.gitignore")).unwrap();
            assert_eq!(ignored, "*\n", "{fault:?} of operation {nth}");
            if plan.failed().is_none() {
                break;
            }
        }
    }
}
