//! Reviews many rubrics, several at a time.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use assize_lint::{LintInquiry, LintRule};
use tokio_util::sync::CancellationToken;

use super::{RubricCritic, RubricCritique};
use crate::AuthorEvent;
use crate::workload::{Workload, work_through};

/// A rubric to review.
#[derive(Debug, Clone)]
pub struct CritiqueJob {
    /// Index of its file.
    pub file: usize,
    /// Index of its inquiry in that file.
    pub index: usize,
    /// Questions about it.
    pub inquiry: Arc<LintInquiry>,
    /// Rules to apply.
    pub rules: Vec<&'static LintRule>,
}

struct ReviewQueue<'o> {
    jobs: std::vec::IntoIter<CritiqueJob>,
    critic: Arc<RubricCritic>,
    total: usize,
    done: Vec<(CritiqueJob, Option<RubricCritique>)>,
    observe: &'o dyn Fn(AuthorEvent),
}

impl Workload for ReviewQueue<'_> {
    type Job = CritiqueJob;
    type Outcome = RubricCritique;

    fn next_job(&mut self) -> Option<CritiqueJob> {
        self.jobs.next()
    }

    fn work(&self, job: CritiqueJob) -> impl Future<Output = (CritiqueJob, RubricCritique)> + Send + 'static {
        let critic = Arc::clone(&self.critic);

        async move {
            let critique = critic.review(&job.inquiry, &job.rules).await;
            (job, critique)
        }
    }

    fn finish(&mut self, job: CritiqueJob, critique: RubricCritique) {
        self.done.push((job, Some(critique)));
        (self.observe)(AuthorEvent::RubricReviewed { done: self.done.len(), total: self.total });
    }
}

/// Reviews every rubric, `workers` at a time, in the order of files and inquiries. A rubric that was not
/// reached before `limit` fired has no critique.
pub async fn review_all(
    jobs: Vec<CritiqueJob>,
    critic: Arc<RubricCritic>,
    workers: NonZeroUsize,
    limit: &CancellationToken,
    observe: &dyn Fn(AuthorEvent),
) -> Vec<(CritiqueJob, Option<RubricCritique>)> {
    let total = jobs.len();
    let mut queue = ReviewQueue { jobs: jobs.into_iter(), critic, total, done: Vec::new(), observe };
    work_through(&mut queue, workers, limit).await;

    let ReviewQueue { jobs, mut done, .. } = queue;
    done.extend(jobs.map(|job| (job, None)));
    done.sort_by_key(|(job, _)| (job.file, job.index));

    done
}
