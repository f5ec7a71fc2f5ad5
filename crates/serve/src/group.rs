//! Compares the samples of a group with each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::Cost;
use futures_util::future::join_all;

use crate::api::{CompareMode, SampleResult};
use crate::grade_sample::grade_sample;
use crate::job::{Job, JobPlan, JobSample};
use crate::problem::RequestProblem;
use crate::service::Service;
use crate::tenant::Tenant;

/// Wins of a sample within its group.
#[derive(Default, Clone, Copy)]
struct GroupTally {
    points: f64,
    decided: usize,
    asked: usize,
}

/// Grades the samples of a job and compares the samples of each group. A sample has its result only when all of its
/// comparisons are decided, so results arrive late.
pub(crate) async fn run(
    service: &Arc<Service>,
    tenant: &Arc<Tenant>,
    plan: JobPlan,
    mode: CompareMode,
    job: &Arc<Job>,
) {
    let pairs = pairs_of(&plan.samples);
    let stop = &job.stop;
    let compared: Vec<_> = pairs.iter().map(|pair| compare(tenant, &plan.samples, *pair, stop)).collect();
    let compared = join_all(compared);
    let samples = plan.samples.iter().cloned();
    let graded = join_all(
        samples.map(|sample| grade_sample(service, tenant, sample, plan.reward, plan.on_ungraded, stop)),
    );
    let (compared, mut graded) = futures_util::future::join(compared, graded).await;

    let mut tallies = vec![GroupTally::default(); graded.len()];
    for (&(first, second), outcome) in pairs.iter().zip(compared) {
        for place in [first, second] {
            tallies[place].asked += 1;
        }
        add_cost(&mut graded[first], &outcome);
        let Some(score) = outcome.score else {
            let message = outcome.error.unwrap_or_else(|| "a comparison could not be judged".to_owned());
            for place in [first, second] {
                graded[place].error.get_or_insert_with(|| message.clone());
                graded[place].is_unavailable |= outcome.is_unavailable;
            }
            continue;
        };
        for (place, points) in [(first, score), (second, 1.0 - score)] {
            tallies[place].points += points;
            tallies[place].decided += 1;
        }
    }

    let mut ranks = match mode {
        CompareMode::Pairwise => Vec::new(),
        CompareMode::Ranked => ranks_of(&plan.samples, &tallies),
    }
    .into_iter();
    for (mut result, tally) in graded.into_iter().zip(tallies) {
        result.set_group_score(tally.points, (tally.decided, tally.asked), plan.on_ungraded);
        result.group_rank = ranks.next();
        service.metrics.count_result(&tenant.name, &result);
        service.queue.note_graded();
        job.finish(result);
    }
}

fn add_cost(result: &mut SampleResult, outcome: &assize_engine::ComparedPair) {
    let cost = Cost::from_parts(result.cost_usd, result.cost_partial) + outcome.cost;
    result.cost_usd = cost.total();
    result.cost_partial = cost.to_partial();
    result.judge_calls += u64::from(outcome.calls.0) + u64::from(outcome.calls.1);
    result.judge_calls_cached += u64::from(outcome.calls.1);
}

/// Rank of each sample within its group, 1 for the most points; ties share the mean of their ranks. `None` for
/// groups with an undecided comparison.
fn ranks_of(samples: &[JobSample], tallies: &[GroupTally]) -> Vec<Option<f64>> {
    let mut ranks = vec![None; samples.len()];
    for mut members in groups_of(samples).into_values() {
        if members.iter().any(|&member| tallies[member].decided < tallies[member].asked) {
            continue;
        }

        // Sums of the same numbers can differ by the order of addition.
        let points = |member: usize| (tallies[member].points * 1e6).round();
        members.sort_by(|&a, &b| points(b).total_cmp(&points(a)));
        let mut better = 0;
        for tied in members.chunk_by(|&a, &b| points(a).total_cmp(&points(b)).is_eq()) {
            let rank = better as f64 + (tied.len() + 1) as f64 / 2.0;
            for &member in tied {
                ranks[member] = Some(rank);
            }
            better += tied.len();
        }
    }

    ranks
}

/// Positions of the samples of each group.
fn groups_of(samples: &[JobSample]) -> BTreeMap<&str, Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, sample) in samples.iter().enumerate() {
        if let Some(group) = &sample.place.group {
            groups.entry(group).or_default().push(index);
        }
    }

    groups
}

/// Every pair within a group, as positions in the list, in the order of the samples.
fn pairs_of(samples: &[JobSample]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for members in groups_of(samples).values() {
        for (at, &first) in members.iter().enumerate() {
            pairs.extend(members[at + 1..].iter().map(|&second| (first, second)));
        }
    }

    pairs
}

/// Number of pairs within groups, to check the limit of a request.
pub(crate) fn count_pairs<'g>(groups: impl Iterator<Item = Option<&'g str>>) -> usize {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups.flatten() {
        *sizes.entry(group).or_default() += 1;
    }

    sizes.values().map(|size| size * (size - 1) / 2).sum()
}

/// Problems of samples that differ from the first sample of their group in a field that a comparison shows only
/// once for both answers.
pub(crate) fn differences(samples: &[JobSample]) -> Vec<RequestProblem> {
    let mut problems = Vec::new();
    for members in groups_of(samples).values() {
        let Some((first, others)) = members.split_first() else { continue };
        let (first, place) = (&samples[*first].sample, samples[*first].place.index);
        for other in others {
            let (other, index) = (&samples[*other].sample, samples[*other].place.index);
            for (field, differs) in [
                ("input", first.input != other.input),
                ("reference", first.reference != other.reference),
                ("expected_outcome", first.expected_outcome != other.expected_outcome),
            ] {
                if differs {
                    problems.push(difference(index, field, place));
                }
            }
        }
    }

    problems
}

/// Problem of a sample whose field differs from the first sample of its group.
pub(crate) fn difference(index: usize, field: &str, first: usize) -> RequestProblem {
    let message = format!(
        "`{field}` differs from sample {first}: answers to different questions can't be compared; samples of a group \
         have the same `input` (or the same messages before the answer), `reference`, `expected_outcome` and `vars`"
    );
    RequestProblem::new(format!("/samples/{index}/{field}"), message)
}

async fn compare(
    tenant: &Tenant,
    samples: &[JobSample],
    (first, second): (usize, usize),
    stop: &assize_engine::GradingStop,
) -> assize_engine::ComparedPair {
    let (first, second) = (&samples[first], &samples[second]);
    let _turn = tenant.turn(stop).await;
    tenant.grader.compare(&first.rubric, first.sample.clone(), second.sample.answer(), stop).await
}
