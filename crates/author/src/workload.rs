//! Runs jobs, several at a time, until they are done or a budget stops them.

use std::future::Future;
use std::num::NonZeroUsize;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A source of jobs that takes their results.
pub(crate) trait Workload {
    /// A job.
    type Job: Send + 'static;
    /// Result of a job.
    type Outcome: Send + 'static;

    /// The next job to start; `None` if there is none left.
    fn next_job(&mut self) -> Option<Self::Job>;

    /// Works on a job.
    fn work(&self, job: Self::Job) -> impl Future<Output = (Self::Job, Self::Outcome)> + Send + 'static;

    /// Takes the result of a job.
    fn finish(&mut self, job: Self::Job, outcome: Self::Outcome);
}

/// Runs all jobs, `workers` at a time. When `limit` fires, no further jobs are started, and jobs in flight finish.
pub(crate) async fn work_through<W: Workload>(
    workload: &mut W,
    workers: NonZeroUsize,
    limit: &CancellationToken,
) {
    let mut running: JoinSet<(W::Job, W::Outcome)> = JoinSet::new();
    loop {
        while running.len() < workers.get() && !limit.is_cancelled() {
            let Some(job) = workload.next_job() else { break };
            running.spawn(workload.work(job));
        }

        let Some(finished) = running.join_next().await else { break };

        // A job that panicked has no result; its case counts as not reached.
        if let Ok((job, outcome)) = finished {
            workload.finish(job, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers {
        left: Vec<u32>,
        done: Vec<u32>,
        limit: CancellationToken,
    }

    async fn double(job: u32) -> (u32, u32) {
        tokio::task::yield_now().await;
        assert_ne!(job, 13, "the job that fails");
        (job, job * 2)
    }

    impl Workload for Numbers {
        type Job = u32;
        type Outcome = u32;

        fn next_job(&mut self) -> Option<u32> {
            self.left.pop()
        }

        fn work(&self, job: u32) -> impl Future<Output = (u32, u32)> + Send + 'static {
            double(job)
        }

        fn finish(&mut self, job: u32, outcome: u32) {
            assert_eq!(outcome, job * 2);
            self.done.push(job);
            if job == 7 {
                self.limit.cancel();
            }
        }
    }

    async fn run(left: Vec<u32>, workers: usize) -> Numbers {
        let limit = CancellationToken::new();
        let mut numbers = Numbers { left, done: Vec::new(), limit: limit.clone() };
        work_through(&mut numbers, NonZeroUsize::new(workers).expect("some"), &limit).await;
        numbers.done.sort_unstable();
        numbers
    }

    #[tokio::test]
    async fn every_job_is_done_but_one_that_panics() {
        assert_eq!(run(vec![1, 2, 13, 3], 2).await.done, [1, 2, 3]);
    }

    #[tokio::test]
    async fn nothing_is_begun_once_the_limit_is_reached() {
        let numbers = run(vec![1, 2, 3, 7, 9], 1).await;

        assert_eq!((numbers.done, numbers.left), (vec![7, 9], vec![1, 2, 3]));
    }
}
