//! The work on a request: starts it, and grades its samples until each has its result.

use std::sync::Arc;

use crate::grade_sample::grade_sample;
use crate::group;
use crate::job::{DEADLINE_REASON, Job, JobPlan};
use crate::problem::ApiError;
use crate::request_memory::HeldMemory;
use crate::service::Service;
use crate::tenant::Tenant;

impl Service {
    /// Starts to grade the samples of a request. The work continues until every sample has its result; [`Job::give_up`]
    /// ends it earlier.
    ///
    /// # Errors
    /// When the queue has no space for them. Nothing is spent in that case.
    pub(crate) fn start(
        self: &Arc<Self>,
        tenant: &Arc<Tenant>,
        plan: JobPlan,
        memory: HeldMemory,
    ) -> Result<Arc<Job>, ApiError> {
        let count = plan.samples.len();
        let of_tenant = tenant.take_samples(count)?;
        let accepted = self.queue.accept(count)?;

        let job = Arc::new(Job::new(&plan, self.stop.child_of(tenant.new_source())));
        let work = run(Arc::clone(self), Arc::clone(tenant), plan, Arc::clone(&job));
        let (queue, finished) = (Arc::clone(&self.queue), Arc::clone(&job));
        self.tasks.spawn(async move {
            work.await;
            queue.forget_graded(finished.finished_count());
            drop((accepted, of_tenant, memory));
        });
        Ok(job)
    }
}

/// Grades the samples of a job, several at once.
async fn run(service: Arc<Service>, tenant: Arc<Tenant>, plan: JobPlan, job: Arc<Job>) {
    let deadline = plan.deadline.map(|deadline| {
        let stop = job.stop().clone();
        tokio::spawn(async move {
            tokio::time::sleep(deadline).await;
            stop.stop(format!("{DEADLINE_REASON} of {} ms passed", deadline.as_millis()));
        })
    });

    if let Some(mode) = plan.compare {
        group::run(&service, &tenant, plan, mode, &job).await;
    } else {
        let JobPlan { mut samples, reward, on_ungraded, .. } = plan;
        let graded = |sample| {
            let (service, tenant, job) = (Arc::clone(&service), Arc::clone(&tenant), Arc::clone(&job));
            // Boxed, since the future is large and would be copied into every future that contains it.
            Box::pin(async move {
                let result = grade_sample(&service, &tenant, sample, reward, on_ungraded, job.stop()).await;
                service.metrics.count_result(&tenant.name, &result);
                service.queue.note_graded();
                job.finish(result);
            })
        };

        // Training frameworks mostly send one sample: no extra task is needed for it.
        let own = samples.pop();
        let mut tasks = tokio::task::JoinSet::new();
        for sample in samples {
            tasks.spawn(graded(sample));
        }
        if let Some(sample) = own {
            graded(sample).await;
        }
        while tasks.join_next().await.is_some() {}
    }

    if let Some(deadline) = deadline {
        deadline.abort();
    }
}
