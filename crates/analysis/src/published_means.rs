//! The means that published benchmarks compute of rubrics with penalties: none of them clips the score of a case.

use assize_store::{PublishedMeans, ResultRow};

/// Factor that turns a score into an integer. Sums of integers do not depend on the order in which cases finish.
const UNIT: f64 = (1_u64 << 50) as f64;

/// Adds up the scores of a run whose cases are each graded by one rubric.
#[derive(Debug, Default)]
pub(crate) struct PublishedScores {
    cases: u64,
    cases_without_points: u64,
    /// Sums of points, as shares of the points that can be reached.
    reached: i128,
    /// Sums of points, as shares of the way from the fewest possible points to the most.
    normalised: i128,
    has_penalties: bool,
    /// True if a case has other graders than a rubric. Cases of the published benchmarks have none.
    has_others: bool,
}

impl PublishedScores {
    /// Adds a row. A case without a score does not count.
    pub(crate) fn push(&mut self, row: &ResultRow) {
        if row.score.is_none() {
            return;
        }
        let [grader] = row.graders.as_slice() else {
            self.has_others = true;
            return;
        };
        if grader.criteria.is_empty() || grader.negate {
            self.has_others = true;
            return;
        }

        let (mut points, mut most, mut fewest) = (0.0, 0.0, 0.0);
        for criterion in &grader.criteria {
            let Some(value) = criterion.value else { continue };
            points += criterion.weight * value;
            if criterion.weight < 0.0 {
                fewest += criterion.weight;
            } else {
                most += criterion.weight;
            }
        }
        self.has_penalties |= fewest < 0.0;
        if most > 0.0 {
            self.cases += 1;
            self.reached += to_units(points / most);
            self.normalised += to_units((points - fewest) / (most - fewest));
        } else if fewest < 0.0 {
            self.cases_without_points += 1;
        }
    }

    /// The means; `None` without penalties, which makes them the mean score.
    pub(crate) fn means(&self) -> Option<PublishedMeans> {
        if self.cases == 0 || self.has_others || !self.has_penalties {
            return None;
        }

        let mean = |sum: i128, cases: u64| sum as f64 / UNIT / cases as f64;
        Some(PublishedMeans {
            cases: self.cases,
            cases_without_points: self.cases_without_points,
            healthbench: mean(self.reached, self.cases).clamp(0.0, 1.0),
            research_rubrics: mean(self.reached, self.cases + self.cases_without_points),
            prbench_normalised: mean(self.normalised, self.cases),
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the rest is far below the precision of a score")]
fn to_units(score: f64) -> i128 {
    (score * UNIT).round() as i128
}
