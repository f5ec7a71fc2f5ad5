//! Error rates of the judges of a panel, or of other raters, without known truth.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::OutcomeKind;
use assize_stats::{
    UndefinedReason,
    agreement::{LatentClasses, RaterVote, latent_classes},
};
use assize_store::CaseRecord;

use crate::labels::LabelRow;
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Added to each count of right and wrong votes, so that no rate is 0 or 1 for certain.
const SMOOTHING: f64 = 0.5;
/// Largest number of resamples: each is a fit.
const MAX_RESAMPLES: usize = 400;
/// p below which two raters are named as dependent.
const DEPENDENT: f64 = 0.05;

/// Votes by rater and item, and the case of each item.
#[derive(Debug, Clone, Default)]
pub struct PanelVotes {
    raters: BTreeMap<String, usize>,
    items: BTreeMap<(String, String), usize>,
    votes: Vec<RaterVote>,
}

impl PanelVotes {
    /// Adds the votes of a stored case: those of panels on criteria that are met or unmet.
    pub fn add_record(&mut self, record: &CaseRecord) {
        let row = &record.result;
        for vote in record.decisions.iter().filter(|row| row.is_vote()) {
            let met = match vote.decision.outcome().kind() {
                OutcomeKind::Met => true,
                OutcomeKind::Unmet => false,
                _ => continue,
            };
            let judge = &vote.decision.judge;
            let rater = match &judge.model {
                Some(model) if !judge.name.ends_with(&**model) => format!("{} ({model})", judge.name),
                _ => judge.name.to_string(),
            };
            let case = format!("{}\u{1f}{}", row.suite, row.case_id);
            let item = format!(
                "{}\u{1f}{}\u{1f}{}\u{1f}{}",
                row.target.as_deref().unwrap_or_default(),
                row.repeat,
                vote.grader,
                vote.shown_criterion()
            );
            // Repeats of one judge are no further raters, and not independent: the first one counts.
            if vote.vote.is_some_and(|vote| vote.repeat <= 1) {
                self.push(rater, (case, item), met);
            }
        }
    }

    /// Adds the labels of a row: by the names of their raters, or by their places in its list.
    pub fn add_row(&mut self, row: &LabelRow) {
        for (place, (who, outcome)) in row.labels.iter().enumerate() {
            let met = match outcome {
                assize_rubric::LabelOutcome::Met => true,
                assize_rubric::LabelOutcome::Unmet => false,
                _ => continue,
            };
            let rater = who.clone().unwrap_or_else(|| format!("rater {}", place + 1));
            let case = format!("{}\u{1f}{}", row.suite.as_deref().unwrap_or_default(), row.case);
            let item = format!(
                "{}\u{1f}{}\u{1f}{}",
                row.system.as_deref().unwrap_or_default(),
                row.repeat.unwrap_or(1),
                row.criterion.as_deref().unwrap_or_default()
            );
            self.push(rater, (case, item), met);
        }
    }

    fn push(&mut self, rater: String, item: (String, String), met: bool) {
        let next = self.raters.len();
        let rater = *self.raters.entry(rater).or_insert(next);
        let next = self.items.len();
        let item = *self.items.entry(item).or_insert(next);
        self.votes.push(RaterVote { item, rater, met });
    }

    /// Estimates the error rates. Fails for fewer than three raters.
    pub fn estimate(&self, resampling: ResamplingOptions) -> Result<PanelReport, UndefinedReason> {
        let fit = latent_classes(&self.votes, self.items.len(), self.raters.len(), SMOOTHING)?;
        let mut names = vec![String::new(); self.raters.len()];
        for (name, at) in &self.raters {
            names[*at].clone_from(name);
        }

        let majority = self.majority();
        let again = self.resampled_fits(resampling);
        let raters = (0..names.len())
            .map(|rater| {
                let votes = fit.raters[rater].votes;
                let own = self.votes.iter().filter(|vote| vote.rater == rater);
                let with: Vec<bool> = own.filter_map(|vote| Some(majority[vote.item]? == vote.met)).collect();

                PanelRater {
                    name: names[rater].clone(),
                    votes,
                    sensitivity: again.rate(("sensitivity", "sensitivity", votes), &fit, |fit| {
                        fit.raters[rater].sensitivity
                    }),
                    specificity: again.rate(("specificity", "specificity", votes), &fit, |fit| {
                        fit.raters[rater].specificity
                    }),
                    with_majority: (with.iter().filter(|same| **same).count(), with.len()),
                }
            })
            .collect();

        let dependent = fit.dependences(&self.votes).into_iter().filter(|pair| pair.p_adjusted < DEPENDENT);
        let dependent = dependent
            .map(|pair| (names[pair.raters.0].clone(), names[pair.raters.1].clone(), pair.p_adjusted))
            .collect();
        let decided = majority.iter().zip(&fit.posterior);
        let overruled =
            decided.filter(|(majority, p)| majority.is_some_and(|met| met != (**p > 0.5))).count();

        Ok(PanelReport {
            items: self.items.len(),
            votes: self.votes.len(),
            prevalence: again.rate(("prevalence", "truly met", self.votes.len()), &fit, |fit| fit.prevalence),
            raters,
            overruled,
            ties: majority.iter().filter(|majority| majority.is_none()).count(),
            can_depend: self.raters.len() > 3,
            dependent,
        })
    }

    /// Answer of most raters on each item; `None` for a tie.
    fn majority(&self) -> Vec<Option<bool>> {
        let mut surplus = vec![0i64; self.items.len()];
        for vote in &self.votes {
            surplus[vote.item] += if vote.met { 1 } else { -1 };
        }
        surplus.into_iter().map(|surplus| (surplus != 0).then_some(surplus > 0)).collect()
    }

    /// Fits to cases drawn again.
    fn resampled_fits(&self, resampling: ResamplingOptions) -> ResampledFits {
        let mut cases: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for ((case, _), item) in &self.items {
            cases.entry(case).or_default().insert(*item);
        }
        let mut by_item: Vec<Vec<&RaterVote>> = vec![Vec::new(); self.items.len()];
        for vote in &self.votes {
            by_item[vote.item].push(vote);
        }

        let cases: Vec<BTreeSet<usize>> = cases.into_values().collect();
        let resampling =
            ResamplingOptions { resamples: resampling.resamples.min(MAX_RESAMPLES), ..resampling };
        let mut fits = Vec::new();
        // The fits are what is wanted here; each figure has its interval of them.
        let _ = resampling.bootstrap_interval(cases.len(), |chosen| {
            let mut votes = Vec::new();
            let mut drawn = 0;
            for item in chosen.iter().flat_map(|at| &cases[*at]) {
                votes.extend(by_item[*item].iter().map(|vote| RaterVote { item: drawn, ..**vote }));
                drawn += 1;
            }
            fits.push(latent_classes(&votes, drawn, self.raters.len(), SMOOTHING));
            Ok(fits.len() as f64)
        });

        ResampledFits { fits, cases: cases.len(), resampling }
    }
}

/// Fits to cases drawn again, in the order of the draws.
struct ResampledFits {
    fits: Vec<Result<LatentClasses, UndefinedReason>>,
    cases: usize,
    resampling: ResamplingOptions,
}

impl ResampledFits {
    /// A rate with its interval over cases.
    fn rate(
        &self,
        (id, name, n): (&'static str, &'static str, usize),
        fit: &LatentClasses,
        figure: impl Fn(&LatentClasses) -> f64,
    ) -> MetricEstimate {
        let mut fits = self.fits.iter();
        let interval = self.resampling.bootstrap_interval(self.cases, |_| {
            fits.next().ok_or(UndefinedReason::NoValues)?.as_ref().map(&figure).map_err(|reason| *reason)
        });

        MetricEstimate { id, name, value: Ok(figure(fit)), interval, n: n as u64, of: "votes", says: "" }
    }
}

/// A rater with its error rates.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelRater {
    /// Name of the rater.
    pub name: String,
    /// Number of its votes.
    pub votes: usize,
    /// Of items that are truly met, the share that it finds met.
    pub sensitivity: MetricEstimate,
    /// Of items that are truly unmet, the share that it finds unmet.
    pub specificity: MetricEstimate,
    /// Number of votes with the majority, and of those where there is one.
    pub with_majority: (usize, usize),
}

/// Error rates of raters, and how the truth that they point to differs from their majority.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelReport {
    /// Number of items.
    pub items: usize,
    /// Number of votes.
    pub votes: usize,
    /// Share of items that are truly met.
    pub prevalence: MetricEstimate,
    /// The raters.
    pub raters: Vec<PanelRater>,
    /// Number of items whose most likely truth is not what the majority says.
    pub overruled: usize,
    /// Number of items without a majority.
    pub ties: usize,
    /// True if there are enough raters to see whether errors come together: four.
    pub can_depend: bool,
    /// Pairs of raters whose errors come together, with the p of no dependence.
    pub dependent: Vec<(String, String, f64)>,
}
