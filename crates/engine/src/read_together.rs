//! Reads several stored runs in parallel.

/// How many runs are read at a time. More would only need more memory.
const MAX_PARALLEL_READS: usize = 2;

/// Applies `read` to runs, two at a time, and returns the results in the order of the runs, on demand. Nearly
/// all of the time of a comparison or a trend is spent on reading.
pub fn read_together<'r, T: Sync, R: Send + 'r>(
    runs: &'r [T],
    read: impl Fn(&'r T) -> R + Sync + 'r,
) -> impl Iterator<Item = R> + 'r {
    runs.chunks(MAX_PARALLEL_READS).flat_map(move |runs| {
        let read = &read;
        std::thread::scope(|scope| {
            let threads: Vec<_> = runs.iter().map(|run| scope.spawn(move || read(run))).collect();
            let joined = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Vec<_>>()
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_runs_and_few_are_read_ahead() {
        let begun = AtomicUsize::new(0);
        let runs = [30u64, 1, 20, 1, 1];
        let mut reads = read_together(&runs, |wait| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(*wait));
            *wait
        });
        assert_eq!(reads.next(), Some(30));
        assert_eq!(begun.load(Ordering::SeqCst), MAX_PARALLEL_READS);
        assert_eq!(reads.collect::<Vec<_>>(), [1, 20, 1, 1]);
    }
}
