//! Runs work on all processors.

/// Maps a list on all processors; results stay in order.
pub(super) fn in_parallel<T: Sync, O: Send>(items: &[T], map: impl Fn(&T) -> O + Sync) -> Vec<O> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut found: Vec<(usize, O)> = std::thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            loop {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                match items.get(at) {
                    Some(item) => found.push((at, map(item))),
                    None => return found,
                }
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .flat_map(|handle| match handle.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });

    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, figure)| figure).collect()
}
