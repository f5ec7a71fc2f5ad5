//! The reply cache: replies are found again, several users can use it at once, and it can be pruned.

use std::path::Path;
use std::sync::Arc;

use crate::{CachedReply, ReplyCache, StoreError};

fn key(n: u32) -> [u8; 32] {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&n.to_le_bytes());
    key
}

fn reply(n: u32, text: &str) -> CachedReply {
    CachedReply {
        key: key(n),
        model: format!("m{}", n % 2),
        created: i64::from(n),
        reply: text.into(),
        body: None,
    }
}

fn text(cache: &ReplyCache, n: u32) -> Option<String> {
    cache.find(&key(n)).expect("readable").map(|found| found.reply)
}

#[test]
fn what_was_received_is_kept_beside_what_was_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let cache = ReplyCache::open(folder.path().join("replies.db")).unwrap();
    let body = Some("{\"whole\": \"answer\"}".to_owned());
    let expected = CachedReply { body, ..reply(1, "short") };
    cache.keep(expected.clone());
    assert_eq!(cache.find(&key(1)).unwrap().as_ref(), Some(&expected));
    cache.flush().unwrap();
    assert_eq!(cache.find(&key(1)).unwrap().as_ref(), Some(&expected));
    assert_eq!(cache.stats().unwrap().bytes, 5 + 19);
}

#[test]
fn what_is_kept_is_found_at_once_and_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache/replies.db");
    let cache = ReplyCache::open(&path).unwrap();
    assert_eq!(cache.find(&key(1)).unwrap(), None);
    for n in 0..2000 {
        cache.keep(reply(n, &format!("reply {n}")));
        assert_eq!(text(&cache, n), Some(format!("reply {n}")));
    }
    cache.flush().unwrap();
    assert_eq!(text(&cache, 3).as_deref(), Some("reply 3"));
    cache.keep(reply(2000, "last"));
    drop(cache);
    let again = ReplyCache::open(&path).unwrap();
    assert_eq!(text(&again, 1999).as_deref(), Some("reply 1999"));
    assert_eq!(text(&again, 2000).as_deref(), Some("last"));
}

#[test]
fn the_first_reply_stays() {
    let folder = tempfile::tempdir().unwrap();
    let cache = ReplyCache::open(folder.path().join("replies.db")).unwrap();
    cache.keep(reply(1, "first"));
    cache.keep(reply(1, "second"));
    cache.flush().unwrap();
    cache.keep(reply(1, "third"));
    cache.flush().unwrap();
    assert_eq!(text(&cache, 1).as_deref(), Some("first"));
}

#[test]
fn several_caches_on_one_file_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    std::thread::scope(|scope| {
        for user in 0..4 {
            let path = path.clone();
            scope.spawn(move || {
                // Opened in the thread, so that all threads create the tables at once.
                let cache = ReplyCache::open(path).unwrap();
                for n in 0..300 {
                    cache.keep(reply(user * 200 + n, "r"));
                    if n % 50 == 0 {
                        cache.flush().unwrap();
                    }
                }
                cache.flush().unwrap();
            });
        }
    });
    let cache = ReplyCache::open(&path).unwrap();
    assert_eq!(cache.stats().unwrap().replies, 900);
}

#[test]
fn many_readers_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Arc::new(ReplyCache::open(folder.path().join("replies.db")).unwrap());
    for n in 0..100 {
        cache.keep(reply(n, "r"));
    }
    cache.flush().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let cache = Arc::clone(&cache);
            scope.spawn(move || (0..100).for_each(|n| assert!(cache.find(&key(n)).unwrap().is_some())));
        }
    });
}

#[test]
fn counting_pruning_and_clearing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    let cache = ReplyCache::open(&path).unwrap();
    let empty = cache.stats().unwrap();
    assert_eq!((empty.replies, empty.oldest, empty.models.len()), (0, None, 0));
    for n in 0..10 {
        cache.keep(reply(n, "größe"));
    }
    cache.keep(reply(11, &"x".repeat(100_000)));
    cache.flush().unwrap();
    let stats = cache.stats().unwrap();
    assert_eq!((stats.replies, stats.oldest, stats.newest), (11, Some(0), Some(11)));
    assert_eq!(stats.bytes, 100_000 + 10 * 7);
    assert_eq!((stats.models[0].model.as_str(), stats.models[0].replies), ("m1", 6));
    assert_eq!(cache.prune(Some(4)).unwrap(), 4);
    assert_eq!(cache.stats().unwrap().oldest, Some(4));
    assert_eq!(cache.prune(None).unwrap(), 7);
    let after = cache.stats().unwrap();
    assert!(after.replies == 0 && after.file_bytes < stats.file_bytes, "{after:?}");
    drop(cache);
    ReplyCache::remove(&path).unwrap();
    ReplyCache::remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_cache_is_refused_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    std::fs::write(&path, "this is no database, it only has its name".repeat(50)).unwrap();
    let error = ReplyCache::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::DamagedCache { .. }), "{error}");
    assert!(error.to_string().contains("replies.db"), "{error}");
    ReplyCache::remove(&path).unwrap();
    assert!(ReplyCache::open(&path).is_ok());
}

#[test]
fn a_write_that_fails_is_said_and_what_was_kept_before_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    let cache = ReplyCache::open(&path).unwrap();
    cache.keep(reply(1, "kept"));
    cache.flush().unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON replies BEGIN SELECT RAISE(ABORT, 'no room'); END",
        )
        .unwrap();
    cache.keep(reply(2, "lost"));
    let error = cache.flush().unwrap_err().to_string();
    assert!(error.contains("no room"), "{error}");
    assert_eq!(text(&cache, 1).as_deref(), Some("kept"));
    assert_eq!(cache.find(&key(2)).unwrap(), None);
}

/// The journal files of a cache and their contents.
fn journals(database: &Path) -> Vec<(String, Vec<u8>)> {
    let folder = database.with_file_name("replies.db-journals");
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("readable"));
    let journals = entries.filter(|entry| entry.path().extension().is_some());
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().expect("readable"), std::fs::read(entry.path()).expect("readable"))
    };
    journals.map(read).collect()
}

#[test]
fn what_a_dead_process_had_not_written_is_written_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    let cache = ReplyCache::open(&path).unwrap();
    // This process can't write while another connection writes.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 0..3000 {
        cache.keep(CachedReply { body: Some("größe".into()), ..reply(n, &format!("reply {n}")) });
    }
    // The state that a killed process leaves, with a half-written record.
    let dead = tempfile::tempdir().unwrap();
    let left = dead.path().join("replies.db");
    std::fs::create_dir(dead.path().join("replies.db-journals")).unwrap();
    for (name, mut bytes) in journals(&path) {
        bytes.extend_from_slice(&bytes.clone()[..bytes.len().min(40)]);
        std::fs::write(dead.path().join("replies.db-journals").join(name), bytes).unwrap();
    }
    let next = ReplyCache::open(&left).unwrap();
    assert_eq!(next.stats().unwrap().replies, 3000);
    assert_eq!(text(&next, 2999).as_deref(), Some("reply 2999"));
    assert_eq!(journals(&left), []);
    // Files of a running process are not touched, and are removed when it ends.
    assert!(!journals(&path).is_empty());
    let beside = ReplyCache::open(&path).unwrap();
    assert_eq!(beside.find(&key(1)).unwrap(), None);
    other.execute_batch("COMMIT").unwrap();
    cache.flush().unwrap();
    drop(cache);
    let after = ReplyCache::open(&path).unwrap();
    assert_eq!((text(&after, 1).as_deref(), journals(&path)), (Some("reply 1"), vec![]));
}

#[test]
fn what_could_not_be_written_is_written_when_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    let cache = ReplyCache::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let full = "CREATE TRIGGER full BEFORE INSERT ON replies BEGIN SELECT RAISE(ABORT, 'no room'); END";
    other.execute_batch(full).unwrap();
    cache.keep(reply(1, "late"));
    assert!(cache.flush().is_err());
    drop(cache);
    let still = ReplyCache::open(&path).unwrap();
    assert!(still.flush().unwrap_err().to_string().contains("no room"));
    drop(still);
    other.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(text(&ReplyCache::open(&path).unwrap(), 1).as_deref(), Some("late"));
    assert_eq!(journals(&path), []);
}

#[test]
fn a_reply_that_was_damaged_on_the_disk_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.db");
    let other = {
        let cache = ReplyCache::open(&path).unwrap();
        for n in 0..6 {
            cache.keep(CachedReply { body: Some("met".into()), ..reply(n, "{\"text\": \"met\"}") });
        }
        drop(cache);
        rusqlite::Connection::open(&path).unwrap()
    };
    for (n, damage) in [
        "reply = '{\"text\": \"met!\"}'", "body = 'unmet'", "body = NULL", "created = 7",
        "reply = CAST(x'ff7b' AS TEXT)",
    ]
    .into_iter()
    .enumerate()
    {
        other.execute(&format!("UPDATE replies SET {damage} WHERE key = ?1"), [key(n as u32)]).unwrap();
    }
    let cache = ReplyCache::open(&path).unwrap();
    for n in 0..5 {
        assert_eq!(cache.find(&key(n)).unwrap(), None, "{n}");
        cache.keep(reply(n, "bought again"));
    }
    assert_eq!((cache.damaged(), text(&cache, 5).is_some()), (5, true));
    cache.forget(&key(5)).unwrap();
    cache.flush().unwrap();
    assert_eq!(text(&cache, 0).as_deref(), Some("bought again"));
    assert_eq!((text(&cache, 5), cache.damaged()), (None, 6));
    // Rows from before checksums were introduced are accepted.
    other.execute("UPDATE replies SET sum = NULL", []).unwrap();
    assert_eq!(text(&ReplyCache::open(&path).unwrap(), 1).as_deref(), Some("bought again"));
}
