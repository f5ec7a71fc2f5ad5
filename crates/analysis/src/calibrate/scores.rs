//! Agreement of scores.

use assize_stats::{
    Undefined,
    agreement::{Chance, Ratings, Scale, Table, Weights, coefficient, kappa},
    judged::{
        bonett_wright, fisher_z, kendall_tau_b, mean_absolute_error, pearson, root_mean_square_error,
        spearman,
    },
};

use super::pairing::{Pair, PairFigure, by_cluster, columns, drawn};
use crate::figure::{Figure, Resampling};

/// Minimum number of pairs for a correlation: two pairs always correlate perfectly.
const FEWEST_TO_CORRELATE: usize = 5;

/// Computes every metric of pairs of scores. `scale` holds the possible scores.
pub(crate) fn score_figures(pairs: &[Pair], scale: &Scale, resampling: Resampling) -> Vec<Figure> {
    let (judge, people) = columns(pairs);
    let groups = by_cluster(pairs.iter().map(|pair| pair.cluster));
    let independent = groups.len() == pairs.len();
    let n = pairs.len() as u64;
    let level = resampling.level;
    let again = |figure: &PairFigure<'_>| {
        resampling.interval(groups.len(), drawn((&judge, &people), &groups, figure))
    };
    let enough = |value: Result<f64, Undefined>| {
        if pairs.len() < FEWEST_TO_CORRELATE { value.and(Err(Undefined::TooFew)) } else { value }
    };
    let plain = |id, name, figure: &PairFigure<'_>, says| {
        let value = figure(&judge, &people);
        let interval = value.and_then(|_| again(figure));
        Figure { id, name, value, interval, n, of: "pairs", says }
    };
    let correlated = |id, name, figure: &PairFigure<'_>, says| {
        let value = enough(figure(&judge, &people));
        let formula = match id {
            "spearman" if independent => Some(value.and_then(|r| bonett_wright(r, n, level))),
            "pearson" if independent => Some(value.and_then(|r| fisher_z(r, n, level))),
            _ => None,
        };
        let interval = formula.unwrap_or_else(|| value.and_then(|_| again(figure)));
        Figure { id, name, value, interval, n, of: "pairs", says }
    };
    let weighted = |judge: &[f64], people: &[f64]| {
        let table = Table::of(judge, people, scale)?;
        kappa(&table, Weights::Quadratic, level).kappa
    };
    let ac2 = |judge: &[f64], people: &[f64]| {
        let mut ratings = Ratings::new();
        for (judge, people) in judge.iter().zip(people) {
            ratings.push([*judge, *people]);
        }
        coefficient(&ratings, scale, Weights::Quadratic, Chance::Gwet, level).value
    };
    vec![
        correlated(
            "spearman",
            "Spearman's correlation",
            &spearman,
            "Whether the judge puts answers into the order people do; ties are forgiven.",
        ),
        correlated(
            "kendall_tau_b",
            "Kendall's tau-b",
            &kendall_tau_b,
            "Surplus of pairs of answers in the same order; a judge that often gives the same score loses here.",
        ),
        correlated(
            "pearson",
            "Pearson's correlation",
            &pearson,
            "Whether the judge's scores rise in proportion to those of people, on whatever scale.",
        ),
        plain(
            "rmse",
            "root mean squared error",
            &root_mean_square_error,
            "Typical distance from the score of people, in points; large misses weigh more.",
        ),
        plain(
            "mae",
            "mean absolute error",
            &mean_absolute_error,
            "Mean distance from the score of people, in points.",
        ),
        plain(
            "kappa_quadratic",
            "quadratic kappa",
            &weighted,
            "Agreement beyond chance on the declared scale, near misses counting in part.",
        ),
        plain(
            "ac2",
            "Gwet's AC2, quadratic",
            &ac2,
            "The same without falling where most scores are the same; read it beside quadratic kappa.",
        ),
    ]
}
