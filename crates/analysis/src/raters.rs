//! Agreement of raters: several people, several judges, or one judge several times.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::{TOLERANCE, person_key};
use assize_stats::{
    ClusteredMean, Proportion, SeededRandom, UndefinedReason,
    agreement::{
        AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha, alpha_interval,
        coefficient, gwet_interval,
    },
    clustered_mean, proportion,
    repeats::repeat_variance,
};
use serde::Serialize;

use crate::calibrate::{CalibrationItem, CalibrationMaterial, DecisionValue};
use crate::labels::LabelRow;
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Kind of ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RatingKind {
    /// Met or unmet.
    Verdicts,
    /// Scores.
    Scores,
    /// One of several names without an order.
    Names,
}

/// Metrics of the ratings of some items.
#[derive(Debug, Clone, PartialEq)]
pub struct RaterSection {
    /// Id of the criterion, or `all`.
    pub title: String,
    /// Kind of the ratings.
    pub kind: RatingKind,
    /// Number of items with a rating.
    pub items: u64,
    /// Number of items with two ratings or more; other items carry no information about agreement.
    pub rated_twice: u64,
    /// Number of ratings.
    pub ratings: u64,
    /// Number of ratings without a decision: not applicable, unsure.
    pub undecided: u64,
    /// Share of the items, rated twice or more, whose ratings are all equal.
    pub all_same: Proportion,
    /// Number of ratings of each name, the most frequent first; empty for verdicts and scores.
    pub names: Vec<(String, u64)>,
    /// The metrics.
    pub figures: Vec<MetricEstimate>,
    /// The lowest and highest observed score, if no scale was declared and this range was used instead.
    pub observed_range: Option<(f64, f64)>,
    /// Mean rating by target with its clustered error; empty if there is only one target.
    pub systems: Vec<(String, Result<ClusteredMean, UndefinedReason>)>,
}

/// Measures the agreement of raters, criterion by criterion. `scale` has the possible scores; if `None`, they
/// are taken from the data.
pub fn rater_agreement(
    material: &CalibrationMaterial,
    scale: Option<&RatingScale>,
    resampling: ResamplingOptions,
) -> Vec<RaterSection> {
    let mut groups: BTreeMap<&str, Vec<&CalibrationItem>> = BTreeMap::new();
    for item in &material.items {
        groups.entry(&*item.key.criterion).or_default().push(item);
    }

    let one = groups.len() == 1;
    groups
        .into_iter()
        .map(|(title, items)| {
            let title = if one && title.is_empty() { "all" } else { title };
            build_rater_section(title, &items, scale, resampling)
        })
        .collect()
}

/// Measures agreement on the first failure of a case; `None` if no label names one. The last label of a
/// person about a case counts.
pub fn first_failures(rows: &[LabelRow], resampling: ResamplingOptions) -> Option<RaterSection> {
    let mut cases: BTreeMap<(&str, &str), BTreeMap<String, &str>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.first_failure) {
        let Some(code) = &row.criterion else { continue };
        let labels = cases.entry((row.suite.as_deref().unwrap_or_default(), &row.case)).or_default();
        for (who, _) in &row.labels {
            let who = who.as_deref().unwrap_or_default();
            let key = Some(person_key(who)).filter(|key| !key.is_empty());
            labels.insert(key.unwrap_or_else(|| who.to_owned()), code);
        }
    }

    let codes: BTreeSet<&str> = cases.values().flat_map(|said| said.values().copied()).collect();
    let place = |code: &str| codes.iter().position(|known| *known == code).map(|at| at as f64);
    let rated: Vec<RatedItem<'_>> = cases
        .iter()
        .map(|((_, case), said)| RatedItem {
            cluster: case,
            system: "",
            ratings: said.values().filter_map(|code| place(code)).collect(),
        })
        .filter(|rated| !rated.ratings.is_empty())
        .collect();
    if rated.is_empty() {
        return None;
    }

    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for code in cases.values().flat_map(|said| said.values()) {
        *names.entry(code).or_default() += 1;
    }
    let mut names: Vec<(String, u64)> = names.into_iter().map(|(code, n)| (code.to_owned(), n)).collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));

    let section =
        measure_agreement("first failure of a case", &rated, RatingKind::Names, 0, None, resampling);
    Some(RaterSection { names, ..section })
}

/// An item with its ratings.
struct RatedItem<'i> {
    cluster: &'i str,
    system: &'i str,
    ratings: Vec<f64>,
}

fn rating_numbers(item: &CalibrationItem) -> Vec<f64> {
    item.people().iter().filter_map(|(_, said)| said.number()).collect()
}

fn build_rater_section(
    title: &str,
    items: &[&CalibrationItem],
    scale: Option<&RatingScale>,
    resampling: ResamplingOptions,
) -> RaterSection {
    let rated: Vec<RatedItem<'_>> = items
        .iter()
        .map(|item| RatedItem {
            cluster: &item.cluster,
            system: &item.key.system,
            ratings: rating_numbers(item),
        })
        .filter(|rated| !rated.ratings.is_empty())
        .collect();

    let scores = items
        .iter()
        .any(|item| item.people().iter().any(|(_, said)| matches!(said, DecisionValue::Score(_))));
    let undecided = items.iter().map(|item| item.people().len() - rating_numbers(item).len()).sum::<usize>();
    let kind = if scores { RatingKind::Scores } else { RatingKind::Verdicts };
    measure_agreement(title, &rated, kind, undecided as u64, scale, resampling)
}

fn measure_agreement(
    title: &str,
    rated: &[RatedItem<'_>],
    kind: RatingKind,
    undecided: u64,
    scale: Option<&RatingScale>,
    resampling: ResamplingOptions,
) -> RaterSection {
    let twice: Vec<&RatedItem<'_>> = rated.iter().filter(|rated| rated.ratings.len() > 1).collect();
    let all_same = |rated: &&&RatedItem<'_>| {
        rated.ratings.iter().all(|rating| (rating - rated.ratings[0]).abs() <= TOLERANCE)
    };
    let same = twice.iter().filter(all_same).count();
    let mut systems: BTreeMap<&str, (Vec<f64>, Vec<&str>)> = BTreeMap::new();
    for rated in rated {
        let system = systems.entry(rated.system).or_default();
        for rating in &rated.ratings {
            system.0.push(*rating);
            system.1.push(rated.cluster);
        }
    }

    let systems = if systems.len() < 2 { BTreeMap::new() } else { systems };
    RaterSection {
        title: title.to_owned(),
        kind,
        items: rated.len() as u64,
        rated_twice: twice.len() as u64,
        ratings: rated.iter().map(|rated| rated.ratings.len() as u64).sum(),
        undecided,
        all_same: proportion(same as u64, twice.len() as u64, resampling.level),
        names: Vec::new(),
        figures: agreement_metrics(rated, kind, scale, resampling),
        observed_range: (kind == RatingKind::Scores && scale.is_none())
            .then(|| rated.iter().flat_map(|rated| rated.ratings.iter().copied()))
            .map(|ratings| {
                ratings.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| {
                    (least.min(one), most.max(one))
                })
            }),
        systems: systems
            .into_iter()
            .map(|(name, (values, clusters))| {
                (name.to_owned(), clustered_mean(&values, &clusters, resampling.level))
            })
            .collect(),
    }
}

fn agreement_metrics(
    rated: &[RatedItem<'_>],
    kind: RatingKind,
    scale: Option<&RatingScale>,
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let mut clusters: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut all = UnitRatings::new();
    for (at, rated) in rated.iter().enumerate() {
        clusters.entry(rated.cluster).or_default().push(at);
        all.push(rated.ratings.iter().copied());
    }

    let groups: Vec<Vec<usize>> = clusters.into_values().collect();
    let units =
        |chosen: &[usize]| chosen.iter().flat_map(|&at| groups[at].iter().copied()).collect::<Vec<_>>();
    let twice = rated.iter().filter(|rated| rated.ratings.len() > 1).count() as u64;
    let metric = |id, name, figure: &dyn Fn(&UnitRatings) -> Result<f64, UndefinedReason>, says| {
        let value = figure(&all);
        let interval = value.and_then(|_| {
            resampling.bootstrap_interval(groups.len(), |chosen| figure(&all.select(&units(chosen))))
        });
        MetricEstimate { id, name, value, interval, n: twice, of: "items", says }
    };

    let declared = match scale {
        Some(scale) => Ok(scale.clone()),
        None if kind == RatingKind::Verdicts => Ok(RatingScale::binary()),
        None => RatingScale::new(rated.iter().flat_map(|rated| rated.ratings.iter().copied())),
    };

    let weights =
        if kind == RatingKind::Scores { AgreementWeights::Quadratic } else { AgreementWeights::Identity };
    let names: Vec<&str> = rated.iter().map(|rated| rated.cluster).collect();
    let (draws, level) = (resampling.resamples, resampling.level);
    let random = || SeededRandom::new(resampling.seed);
    let gwet = |id, name, says| {
        let declared = declared.as_ref().map_err(|reason| *reason);
        let value =
            declared.and_then(|scale| coefficient(&all, scale, weights, ChanceAgreement::Gwet, level).value);
        let interval = declared
            .and_then(|scale| gwet_interval(&all, &names, (scale, weights), draws, level, &mut random()));
        MetricEstimate { id, name, value, interval, n: twice, of: "items", says }
    };
    let alpha_of = |id, name, metric, says| {
        let value = alpha(&all, metric).value;
        let interval = alpha_interval(&all, &names, metric, draws, level, &mut random());
        MetricEstimate { id, name, value, interval, n: twice, of: "items", says }
    };

    let rows = |ratings: &UnitRatings| ratings.units().map(<[f64]>::to_vec).collect::<Vec<_>>();
    let mut found = vec![alpha_of(
        "alpha_nominal",
        "Krippendorff's alpha, nominal",
        AlphaMetric::Nominal,
        "Agreement beyond chance, equal ratings only; ratings may be missing.",
    )];
    if kind != RatingKind::Scores {
        found.push(gwet("ac1", "Gwet's AC1", "Agreement beyond chance, stable where one rating is rare."));
        return found;
    }

    found.extend([
        alpha_of(
            "alpha_ordinal",
            "Krippendorff's alpha, ordinal",
            AlphaMetric::Ordinal,
            "As nominal, with partial credit by the number of ratings in between.",
        ),
        alpha_of(
            "alpha_interval",
            "Krippendorff's alpha, interval",
            AlphaMetric::Interval,
            "As nominal, with partial credit by the distance in points.",
        ),
        gwet(
            "ac2",
            "Gwet's AC2, quadratic",
            "Agreement beyond chance on the scale, stable where most scores are equal.",
        ),
        metric(
            "icc",
            "ICC(1,1)",
            &|ratings| repeat_variance(&rows(ratings)).and_then(|found| found.icc),
            "Share of the variance of ratings that lies between items, not between raters.",
        ),
        metric(
            "within_variance",
            "variance within items",
            &|ratings| repeat_variance(&rows(ratings)).map(|found| found.within),
            "Noise of one rating, in squared points; more raters reduce it, more items do not.",
        ),
    ]);
    found
}
