//! Preferences between two answers, judged in both orders.

use std::collections::{BTreeMap, BTreeSet};

use assize_stats::{
    ConfidenceLevel, Proportion,
    combine::{AbPreference, count_both_orders},
    proportion,
};

use crate::labels::{LabelProblem, LabelRow};

/// Label that means no preference.
const TIE: &str = "tie";

/// Counts of one judge's pairs in one set.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderReport {
    /// Name of the set, if the table has a column for it (`criterion`).
    pub set: String,
    /// Name of the judge, if the table has a column for it (`system`).
    pub judge: String,
    /// Number of pairs.
    pub pairs: u64,
    /// Pairs without a readable verdict in at least one order. They are excluded from the shares below.
    pub unread: u64,
    /// Number of unreadable verdicts.
    pub unread_verdicts: u64,
    /// Share of pairs that agree with people in the first order, among those readable in it.
    pub right_first: Proportion,
    /// Share of pairs that agree with people in the second order, among those readable in it.
    pub right_second: Proportion,
    /// Share of pairs that agree with people in both orders, among those readable in both.
    pub right_both: Proportion,
    /// Share of pairs that are right on balance, among those readable in both orders: more verdicts agree
    /// with people than contradict them, so that one tie and one right verdict are right, as in JudgeBench.
    pub right_on_balance: Proportion,
    /// Share of pairs with the same verdict in both orders, among those readable in both.
    pub same: Proportion,
    /// Share of decisive verdicts, over both orders, that prefer the answer shown first.
    pub shown_first: Proportion,
    /// Exact two-sided p value of no position bias, from pairs in which one position won twice; `None`
    /// without such pairs.
    pub shown_first_p: Option<f64>,
    /// True if verdicts of the second order name the other answer far more often than chance explains: they
    /// were probably not mapped back to the names of the answers.
    pub seems_exchanged: bool,
}

/// Exact one-sided p value below which the verdicts of the second order were probably not mapped back. A
/// judge without any preference between the answers is suspected wrongly at most once in a hundred, a judge
/// with one far more rarely. Ten pairs are enough to reach it.
const EXCHANGED_P: f64 = 0.01;

/// Counts pairs by set and judge. In the first order, the answer whose name sorts first is shown first.
/// Verdicts of both orders name answers, not positions.
pub fn count_orders(
    rows: &[LabelRow],
    level: ConfidenceLevel,
) -> Result<Vec<OrderReport>, Vec<LabelProblem>> {
    let mut groups: BTreeMap<(String, String), Vec<&LabelRow>> = BTreeMap::new();
    for row in rows {
        let key = (row.criterion.clone().unwrap_or_default(), row.system.clone().unwrap_or_default());
        groups.entry(key).or_default().push(row);
    }

    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.orders.iter().chain([&row.preferred]))
        .filter_map(Option::as_deref)
        .filter(|name| !name.eq_ignore_ascii_case(TIE))
        .collect();

    let problem = |row: &LabelRow, message: String| LabelProblem { place: row.place.clone(), message };
    if let (true, Some(row)) = (names.len() > 2, rows.first()) {
        let names: Vec<&str> = names.into_iter().take(5).collect();
        return Err(vec![problem(
            row,
            format!(
                "preferences must be two names of answers or `{TIE}`; found {}. Map verdicts of the second order back to the names",
                names.join(", ")
            ),
        )]);
    }

    let first = names.first().copied().unwrap_or_default().to_owned();
    let without: Vec<LabelProblem> = rows
        .iter()
        .filter(|row| row.preferred.is_none())
        .map(|row| problem(row, "no preference of people to compare with (`preferred`)".to_owned()))
        .collect();
    if !without.is_empty() {
        return Err(without);
    }

    Ok(groups
        .into_iter()
        .map(|((set, judge), rows)| order_report(set, judge, &rows, &first, level))
        .collect())
}

/// A pair with its verdicts.
struct OrderedPreferences {
    orders: [Option<AbPreference>; 2],
    people: Option<AbPreference>,
}

fn order_report(
    set: String,
    judge: String,
    rows: &[&LabelRow],
    first: &str,
    level: ConfidenceLevel,
) -> OrderReport {
    let preference = |name: &str| {
        if name.eq_ignore_ascii_case(TIE) {
            AbPreference::Tie
        } else if name == first {
            AbPreference::A
        } else {
            AbPreference::B
        }
    };

    let read: Vec<OrderedPreferences> = rows
        .iter()
        .map(|row| {
            let orders = [0, 1].map(|order| row.orders[order].as_deref().map(preference));
            OrderedPreferences { orders, people: row.preferred.as_deref().map(preference) }
        })
        .collect();

    let right = |order: usize| {
        let seen = read.iter().filter(|pair| pair.orders[order].is_some());
        let hits = seen.clone().filter(|pair| pair.orders[order] == pair.people).count();
        proportion(hits as u64, seen.count() as u64, level)
    };

    let pairs: Vec<(AbPreference, AbPreference)> =
        read.iter().filter_map(|pair| Some((pair.orders[0]?, pair.orders[1]?))).collect();
    let found = count_both_orders(&pairs);
    let both = read.iter().filter(|pair| pair.orders[0].is_some() && pair.orders == [pair.people; 2]).count();
    let on_balance = read.iter().filter(|pair| {
        let [Some(ab), Some(ba)] = pair.orders else { return false };
        let sign = |verdict: AbPreference| match (Some(verdict), verdict) {
            (verdict, _) if verdict == pair.people => 1,
            (_, AbPreference::Tie) => 0,
            _ => -1,
        };
        sign(ab) + sign(ba) > 0
    });
    let on_balance = on_balance.count();
    let unread_verdicts = read.iter().flat_map(|pair| pair.orders).filter(Option::is_none).count();
    let (shown_first, shown_second) = found.shown;

    OrderReport {
        set,
        judge,
        pairs: rows.len() as u64,
        unread: rows.len() as u64 - found.n,
        unread_verdicts: unread_verdicts as u64,
        right_first: right(0),
        right_second: right(1),
        right_both: proportion(both as u64, found.n, level),
        right_on_balance: proportion(on_balance as u64, found.n, level),
        same: proportion(found.consistent, found.n, level),
        shown_first: proportion(shown_first, shown_first + shown_second, level),
        shown_first_p: found.position_p().ok(),
        seems_exchanged: found.exchange_p() < EXCHANGED_P,
    }
}
