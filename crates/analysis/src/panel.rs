//! Error rates of a panel's judges, or of other raters, without known truth.
//!
//! If three or more raters decide the same items, their error rates can be estimated from their agreement
//! alone, by a latent class model (Dawid and Skene): a rater who agrees with the others more often makes
//! fewer errors. The model assumes that errors are independent, so pairs of raters whose errors coincide are
//! reported.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::OutcomeKind;
use assize_stats::{
    SeededRandom, UndefinedReason,
    agreement::{DrawnClasses, LatentClasses, RaterVote, drawn_interval, latent_classes},
};
use assize_store::CaseRecord;

use crate::claims::{ALPHA, is_shown};
use crate::facts::cluster_name;
use crate::labels::LabelRow;
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Added to each count of right and wrong votes, so that no rate is estimated as exactly 0 or 1.
const SMOOTHING: f64 = 0.5;
/// Maximum number of resamples; each one is a fit of the model.
const MAX_RESAMPLES: usize = 400;
/// Maximum number of draws; each one passes over all votes.
const MAX_DRAWS: usize = 1_000;
/// Number of items below which the report warns that they are few.
const FEW_ITEMS: usize = 20;

/// Votes by rater and item, and the case of each item.
#[derive(Debug, Clone, Default)]
pub struct PanelVotes {
    raters: BTreeMap<String, usize>,
    items: BTreeMap<(String, String), usize>,
    votes: Vec<RaterVote>,
}

impl PanelVotes {
    /// Adds the votes of a stored case. Only votes of panels on criteria that are met or unmet count.
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
            let case = cluster_name(row);
            let item = format!(
                "{}\u{1f}{}\u{1f}{}\u{1f}{}\u{1f}{}",
                row.case_id,
                row.target.as_deref().unwrap_or_default(),
                row.trial,
                vote.grader,
                vote.shown_criterion()
            );
            // Repeats of one judge are not independent raters, so only the first one counts.
            if vote.vote.is_some_and(|vote| vote.repeat <= 1) {
                self.push(rater, (case, item), met);
            }
        }
    }

    /// Adds the labels of a row. A label without a name belongs to a rater named after its position in the
    /// list.
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
                row.trial.unwrap_or(1),
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

    /// Estimates the error rates. Fails with fewer than three raters.
    pub fn estimate(&self, resampling: ResamplingOptions) -> Result<PanelReport, UndefinedReason> {
        let fit = latent_classes(&self.votes, self.items.len(), self.raters.len(), SMOOTHING)?;
        let mut names = vec![String::new(); self.raters.len()];
        for (name, at) in &self.raters {
            names[*at].clone_from(name);
        }

        let majority = self.majority();
        let spread = self.spread(resampling);
        let raters = (0..names.len())
            .map(|rater| {
                let votes = fit.raters[rater].votes;
                let own = self.votes.iter().filter(|vote| vote.rater == rater);
                let with: Vec<bool> = own.filter_map(|vote| Some(majority[vote.item]? == vote.met)).collect();

                PanelRater {
                    name: names[rater].clone(),
                    votes,
                    sensitivity: spread.rate(
                        ("sensitivity", "sensitivity", votes),
                        &fit,
                        |fit| fit.raters[rater].sensitivity,
                        |drawn| &drawn.sensitivity[rater],
                    ),
                    specificity: spread.rate(
                        ("specificity", "specificity", votes),
                        &fit,
                        |fit| fit.raters[rater].specificity,
                        |drawn| &drawn.specificity[rater],
                    ),
                    weight: fit.raters[rater].vote_weight(),
                    with_majority: (with.iter().filter(|same| **same).count(), with.len()),
                }
            })
            .collect();

        let dependent =
            fit.dependences(&self.votes).into_iter().filter(|pair| is_shown(pair.p_adjusted, ALPHA));
        let dependent = dependent
            .map(|pair| (names[pair.raters.0].clone(), names[pair.raters.1].clone(), pair.p_adjusted))
            .collect();
        let decided = majority.iter().zip(&fit.posterior);
        let overruled =
            decided.filter(|(majority, p)| majority.is_some_and(|met| met != (**p > 0.5))).count();

        Ok(PanelReport {
            items: self.items.len(),
            votes: self.votes.len(),
            prevalence: spread.rate(
                ("prevalence", "truly met", self.votes.len()),
                &fit,
                |fit| fit.prevalence,
                |drawn| &drawn.prevalence,
            ),
            is_small: self.items.len() < FEW_ITEMS,
            raters,
            overruled,
            ties: majority.iter().filter(|majority| majority.is_none()).count(),
            can_depend: self.raters.len() > 3,
            dependent,
        })
    }

    /// Answer of the majority on each item; `None` for a tie.
    fn majority(&self) -> Vec<Option<bool>> {
        let mut surplus = vec![0i64; self.items.len()];
        for vote in &self.votes {
            surplus[vote.item] += if vote.met { 1 } else { -1 };
        }
        surplus.into_iter().map(|surplus| (surplus != 0).then_some(surplus > 0)).collect()
    }

    /// Samples the rates that are compatible with the votes. If cases hold several items, it also fits
    /// resampled cases.
    fn spread(&self, resampling: ResamplingOptions) -> RateSpread {
        let mut random = SeededRandom::new(resampling.seed);
        let (items, raters) = (self.items.len(), self.raters.len());
        let drawn =
            DrawnClasses::draw(&self.votes, items, raters, MAX_DRAWS.min(resampling.resamples), &mut random);

        let mut cases: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for ((case, _), item) in &self.items {
            cases.entry(case).or_default().insert(*item);
        }
        let mut by_item: Vec<Vec<&RaterVote>> = vec![Vec::new(); items];
        for vote in &self.votes {
            by_item[vote.item].push(vote);
        }

        let cases: Vec<BTreeSet<usize>> = cases.into_values().collect();
        let resampling =
            ResamplingOptions { resamples: resampling.resamples.min(MAX_RESAMPLES), ..resampling };
        let mut fits = Vec::new();
        let is_clustered = cases.len() < items;
        if is_clustered {
            // Only the fits are of interest here; each rate takes its interval from them.
            let _ = resampling.bootstrap_interval(cases.len(), |chosen| {
                let mut votes = Vec::new();
                let mut drawn = 0;
                for item in chosen.iter().flat_map(|at| &cases[*at]) {
                    votes.extend(by_item[*item].iter().map(|vote| RaterVote { item: drawn, ..**vote }));
                    drawn += 1;
                }
                fits.push(latent_classes(&votes, drawn, raters, SMOOTHING));
                Ok(fits.len() as f64)
            });
        }

        RateSpread { drawn, fits, cases: cases.len(), is_clustered, resampling }
    }
}

/// Possible values of the rates.
struct RateSpread {
    /// Rates drawn from those compatible with the votes, if items are independent.
    drawn: DrawnClasses,
    /// Fits to resampled cases; empty if each case is one item.
    fits: Vec<Result<LatentClasses, UndefinedReason>>,
    cases: usize,
    /// True if cases hold several items, which are then not independent.
    is_clustered: bool,
    resampling: ResamplingOptions,
}

impl RateSpread {
    /// A rate with its interval: from the drawn rates, or over cases if that one is wider. Items of a single
    /// case have none.
    fn rate(
        &self,
        (id, name, n): (&'static str, &'static str, usize),
        fit: &LatentClasses,
        figure: impl Fn(&LatentClasses) -> f64,
        drawn: impl Fn(&DrawnClasses) -> &[f64],
    ) -> MetricEstimate {
        let estimate = figure(fit);
        let mut interval = drawn_interval(drawn(&self.drawn), estimate, self.resampling.level);
        if self.is_clustered {
            let mut fits = self.fits.iter();
            let by_case = self.resampling.bootstrap_interval(self.cases, |_| {
                fits.next().ok_or(UndefinedReason::NoValues)?.as_ref().map(&figure).map_err(|reason| *reason)
            });
            match (&mut interval, by_case) {
                (Ok(own), Ok(by_case)) => {
                    (own.low, own.high) = (own.low.min(by_case.low), own.high.max(by_case.high));
                }
                (_, Err(reason)) if self.cases < 2 => interval = Err(reason),
                // A resample may be undefined although the votes themselves are informative.
                _ => {}
            }
        }

        MetricEstimate { id, name, value: Ok(estimate), interval, n: n as u64, of: "votes", says: "" }
    }
}

/// A rater with its error rates.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelRater {
    /// Name of the rater.
    pub name: String,
    /// Number of its votes.
    pub votes: usize,
    /// Share of truly met items that it finds met.
    pub sensitivity: MetricEstimate,
    /// Share of truly unmet items that it finds unmet.
    pub specificity: MetricEstimate,
    /// Weight of its vote: the mean change of the log odds of the truth, 0 for a guess.
    pub weight: f64,
    /// Number of votes with the majority, and number of votes on items with a majority.
    pub with_majority: (usize, usize),
}

/// Error rates of raters, and how the most likely truth differs from their majority.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelReport {
    /// Number of items.
    pub items: usize,
    /// Number of votes.
    pub votes: usize,
    /// True if there are too few items to distinguish the raters' errors from chance.
    pub is_small: bool,
    /// Share of items that are truly met.
    pub prevalence: MetricEstimate,
    /// The raters.
    pub raters: Vec<PanelRater>,
    /// Number of items whose most likely truth contradicts the majority.
    pub overruled: usize,
    /// Number of items without a majority.
    pub ties: usize,
    /// True if there are enough raters (four) to see whether errors coincide.
    pub can_depend: bool,
    /// Pairs of raters whose errors coincide, each with the p value of independence.
    pub dependent: Vec<(String, String, f64)>,
}
