//! Claims about the best of several candidates, about people's labels of two runs, about judges and people, and about
//! judges that change.

use assize_stats::{
    ConfidenceLevel, Interval, SeededRandom,
    compare::{DifferenceInterval, PairedVerdicts, rate_difference},
    correction::{SideItem, prediction_powered_difference},
    judge_quality::{Alignment, AnnotatedItem, compare_with_annotators},
    multiplicity::{PValueAdjustment, adjust_p_values},
    sequential::DriftTest,
};

use super::draw::{chance, judged, list, number, uniform};
use super::{ComparisonRow, CoverageCell};
use crate::SimulationOptions;
use crate::parallel::in_parallel;
use crate::table::FigureTable;

const LEVEL: ConfidenceLevel = ConfidenceLevel::P95;

/// Number of candidates of which the best is chosen.
const CANDIDATES: usize = 5;

/// Number of cases of a run that people label in part, and of cases that the judge decided.
const JUDGED: usize = 500;

/// Sensitivity and specificity of the judge on the answers of the base and of the candidate: lenient with the second.
const LENIENT: [(f64, f64); 2] = [(0.9, 0.88), (0.9, 0.7)];
const SAME: [(f64, f64); 2] = [(0.9, 0.85); 2];

/// Evidence at which `trend` and `calibrate` say that the judge changed.
const ENOUGH: f64 = 20.0;

pub(super) fn cells() -> Vec<CoverageCell> {
    const WINNER: &[&str] = &["Bonett-Price, all at once", "Bonett-Price"];
    const LABELLED: &[&str] = &["PPI difference, t", "people alone, Newcombe", "judge alone, Newcombe"];
    let cell = |what, truth, methods, draw| CoverageCell { what, truth, methods, hundreds: 40, draw };
    vec![
        cell("best of 5 equal candidates, rate 0.8", 0.0, WINNER, |n, random| winner(0.0, n, random)),
        cell("the same, one better by 0.1", 0.0, WINNER, |n, random| winner(0.1, n, random)),
        cell("labels of two runs, rates 0.6, lenient with one", 0.0, LABELLED, |n, random| {
            labelled(0.0, LENIENT, n, random)
        }),
        cell("labels of two runs, rates 0.6 and 0.7", 0.1, LABELLED, |n, random| {
            labelled(0.1, SAME, n, random)
        }),
    ]
}

pub(super) fn comparisons() -> Vec<ComparisonRow> {
    vec![
        ComparisonRow {
            what: "best of 5 equal candidates",
            tests: &["McNemar, exact, Holm", "McNemar, exact"],
            draw: |n, random| {
                let (_, pairs) = candidates(0.0, n, random);
                let p: Vec<f64> = pairs.iter().map(|pairs| pairs.mcnemar(LEVEL).p_exact).collect();
                let least = p.iter().copied().fold(1.0, f64::min);
                vec![(least * CANDIDATES as f64).min(1.0), least]
            },
        },
        ComparisonRow {
            what: "labels of two runs of 500, judge lenient with one",
            tests: &["PPI difference, t", "judge alone, z"],
            draw: |n, random| {
                let sides = two_runs(0.0, LENIENT, n, random);
                let found = prediction_powered_difference([&sides[0], &sides[1]], (0.0, 1.0), LEVEL);
                let judge =
                    judge_alone(&sides).is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
                vec![found.map_or(1.0, |found| found.p), number(!judge)]
            },
        },
        ComparisonRow {
            what: "judge below three people by epsilon",
            tests: &["may replace a person", "matches the first person"],
            draw: |n, random| may_replace(n, random).to_vec(),
        },
    ]
}

/// Pairs of the base's verdicts and those of each candidate, of which the last passes `ahead` more often.
fn candidates(ahead: f64, n: usize, random: &mut SeededRandom) -> (Vec<f64>, Vec<PairedVerdicts>) {
    let gains: Vec<f64> = (0..CANDIDATES).map(|at| if at + 1 == CANDIDATES { ahead } else { 0.0 }).collect();
    let mut pairs = vec![PairedVerdicts::default(); CANDIDATES];
    for _ in 0..n {
        let (base, hard) = (chance(0.8, random), uniform(random));
        for (pairs, gain) in pairs.iter_mut().zip(&gains) {
            // Half of the cases have the same luck in all runs.
            let common = if chance(0.5, random) { Some(hard) } else { None };
            let passed = common.unwrap_or_else(|| uniform(random)) < 0.8 + gain;
            match (base, passed) {
                (true, false) => pairs.only_second += 1,
                (false, true) => pairs.only_first += 1,
                _ => pairs.both += 1,
            }
        }
    }
    (gains, pairs)
}

/// Intervals of the gain of the candidate with the largest, minus its true gain.
fn winner(ahead: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let (gains, pairs) = candidates(ahead, n, random);
    let gain = |pairs: &PairedVerdicts| pairs.only_first.cast_signed() - pairs.only_second.cast_signed();
    let Some((pairs, truth)) = pairs.iter().zip(gains).max_by_key(|(pairs, _)| gain(pairs)) else {
        return vec![None, None];
    };
    let all = ConfidenceLevel::new(1.0 - 0.05 / CANDIDATES as f64).unwrap_or(LEVEL);
    [all, LEVEL]
        .map(|level| {
            let found = pairs.mcnemar(level).interval.ok()?;
            Some(Interval { low: found.low - truth, high: found.high - truth, ..found })
        })
        .to_vec()
}

/// Two runs of the same cases, of which people labelled n of each; the second passes `ahead` more often.
fn two_runs(
    ahead: f64,
    judges: [(f64, f64); 2],
    n: usize,
    random: &mut SeededRandom,
) -> [Vec<SideItem<usize>>; 2] {
    let share = n as f64 / JUDGED as f64;
    [0, 1].map(|at| {
        let mut open = n;
        (0..JUDGED)
            .map(|case| {
                let (met, judge) = judged(0.6 + ahead * at as f64, judges[at], random);
                let is_drawn = uniform(random) * ((JUDGED - case) as f64) < open as f64;
                open -= usize::from(is_drawn);
                SideItem {
                    cluster: case,
                    judge: number(judge),
                    label: is_drawn.then_some((number(met), share)),
                }
            })
            .collect()
    })
}

fn labelled(
    ahead: f64,
    judges: [(f64, f64); 2],
    n: usize,
    random: &mut SeededRandom,
) -> Vec<Option<Interval>> {
    let sides = two_runs(ahead, judges, n, random);
    let found = prediction_powered_difference([&sides[0], &sides[1]], (0.0, 1.0), LEVEL);
    let people = sides.each_ref().map(|side| count(side.iter().filter_map(|item| Some(item.label?.0))));
    vec![found.ok().map(|found| found.interval), newcombe(people), judge_alone(&sides)]
}

/// Interval of the difference of the judge's rates.
fn judge_alone(sides: &[Vec<SideItem<usize>>; 2]) -> Option<Interval> {
    newcombe(sides.each_ref().map(|side| count(side.iter().map(|item| item.judge))))
}

/// Number of values of 1, and of all.
fn count(values: impl Iterator<Item = f64>) -> (u64, u64) {
    values.fold((0, 0), |(met, all), value| (met + u64::from(value > 0.5), all + 1))
}

fn newcombe([base, candidate]: [(u64, u64); 2]) -> Option<Interval> {
    Some(rate_difference(DifferenceInterval::Newcombe, candidate, base, LEVEL).ok()?.interval)
}

/// p values of a judge whose alignment with the others is lower than that of each of three people by exactly epsilon:
/// of the claim that it may replace a person, which takes two of them, and of the claim about the first of them.
fn may_replace(n: usize, random: &mut SeededRandom) -> [f64; 2] {
    const EPSILON: f64 = 0.15;
    const PERSON: f64 = 0.95;
    // Of the items on which one of the two is right, a person wins those on which both others are right, and loses
    // those on which both are wrong: its lead is (2 a - 1) (a - j) for shares a and j of right verdicts.
    let judge = PERSON - EPSILON / (2.0 * PERSON - 1.0);
    let items = list(n, random, |random| AnnotatedItem {
        cluster: uniform(random).to_bits(),
        judge: number(chance(judge, random)),
        people: (0..3).map(|who| (who, number(chance(PERSON, random)))).collect(),
    });
    let found = compare_with_annotators(&items, Alignment::Equal, EPSILON);
    let p: Vec<f64> = found.iter().map(|one| one.p.unwrap_or(1.0)).collect();
    let mut adjusted =
        adjust_p_values(&p, PValueAdjustment::BenjaminiYekutieli).unwrap_or_else(|_| vec![1.0; 3]);
    adjusted.sort_by(f64::total_cmp);
    [adjusted[1], p[0]]
}

/// What a judge decides in one run after another, and when it changes.
struct DriftRow {
    what: &'static str,
    cases: usize,
    criteria: usize,
    /// Share of the decisions of a case that have the same luck.
    common: f64,
}

impl DriftRow {
    const ALL: [Self; 3] = [
        Self { what: "60 cases", cases: 60, criteria: 1, common: 0.0 },
        Self { what: "20 cases of 5 criteria, alike", cases: 20, criteria: 5, common: 0.8 },
        Self { what: "10 cases of 10 criteria, nearly equal", cases: 10, criteria: 10, common: 0.95 },
    ];

    /// The run in which the test says that the judge changed, and the run in which a test of the last two runs does;
    /// `most` if none does. From run `change` on, a fifth fewer are met; with a change, only alarms after it count.
    fn until_alarm(&self, change: Option<usize>, most: usize, random: &mut SeededRandom) -> [usize; 2] {
        let mut test = DriftTest::new(vec![self.criteria; self.cases]);
        let mut before: Option<Vec<Option<bool>>> = None;
        let mut alarms = [most; 2];
        for run in 0..most {
            let decisions = self.decide(change.is_some_and(|change| run >= change), random);
            let step = test.add(&decisions).ok().flatten();
            let pairs = before.map_or_else(PairedVerdicts::default, |before| changes(&before, &decisions));
            before = Some(decisions);
            if change.is_some_and(|change| run < change) {
                continue;
            }
            let claims =
                [step.is_some_and(|step| step.evidence >= ENOUGH), pairs.mcnemar(LEVEL).p_exact <= 0.05];
            for (alarm, is_claimed) in alarms.iter_mut().zip(claims) {
                *alarm = if is_claimed { (*alarm).min(run) } else { *alarm };
            }
            if alarms.iter().all(|alarm| *alarm < most) {
                break;
            }
        }
        alarms
    }

    fn decide(&self, is_changed: bool, random: &mut SeededRandom) -> Vec<Option<bool>> {
        let mut decisions = Vec::with_capacity(self.cases * self.criteria);
        for case in 0..self.cases {
            let rate = if case % 3 == 0 { 0.3 } else { 0.8 } - if is_changed { 0.2 } else { 0.0 };
            let shared = chance(rate, random);
            decisions.extend(
                (0..self.criteria)
                    .map(|_| Some(if chance(self.common, random) { shared } else { chance(rate, random) })),
            );
        }
        decisions
    }

    /// Mean number of runs until a false alarm, and mean number of runs from the change to the alarm after pasts of
    /// these lengths, of each test.
    fn simulate(&self, sets: usize) -> [[f64; 4]; 2] {
        let mut random = SeededRandom::new(self.cases as u64);
        let mut means = [[0.0; 4]; 2];
        for (column, change) in [None, Some(3), Some(15), Some(60)].into_iter().enumerate() {
            let past = change.unwrap_or(0);
            for _ in 0..sets {
                let alarms = self.until_alarm(change, past + MOST_RUNS, &mut random);
                for (means, alarm) in means.iter_mut().zip(alarms) {
                    means[column] += (alarm + 1 - past) as f64 / sets as f64;
                }
            }
        }
        means
    }
}

/// Runs after which a simulation stops.
const MOST_RUNS: usize = 200;

/// Decisions that differ between two runs.
fn changes(before: &[Option<bool>], now: &[Option<bool>]) -> PairedVerdicts {
    let gained = |(before, now): &(&Option<bool>, &Option<bool>)| now > before;
    let lost = |(before, now): &(&Option<bool>, &Option<bool>)| now < before;
    PairedVerdicts {
        only_first: before.iter().zip(now).filter(gained).count() as u64,
        only_second: before.iter().zip(now).filter(lost).count() as u64,
        ..PairedVerdicts::default()
    }
}

/// How long an unchanged judge goes without a false alarm, and how soon a changed one is found.
pub(super) fn drift(options: SimulationOptions<'_>) -> FigureTable {
    let mut table = FigureTable::new(
        "Runs until a change of the judge is reported",
        &["decisions of a run", "test", "unchanged, of 200", "changed after 3 runs", "after 15", "after 60"],
    );
    let rows: Vec<DriftRow> = DriftRow::ALL.into_iter().filter(|row| options.takes(row.what)).collect();
    let figures = in_parallel(&rows, |row| row.simulate(if options.quick { 20 } else { 400 }));
    for (row, tests) in rows.iter().zip(figures) {
        for (at, (test, means)) in
            ["**evidence of 20**", "McNemar, last two runs"].iter().zip(tests).enumerate()
        {
            let [a, b, c, d] = means.map(|mean| format!("{mean:.1}"));
            table.row([if at == 0 { row.what } else { "" }, test, &a, &b, &c, &d]);
        }
    }

    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_that_stays_the_same_is_rarely_accused_and_a_changed_one_is_found_whatever_its_past() {
        for row in DriftRow::ALL {
            let [[unchanged, early, _, late], [naive, ..]] = row.simulate(40);
            assert!(unchanged >= ENOUGH && naive < unchanged, "{}: {unchanged} and {naive} runs", row.what);
            assert!(late <= early + 2.0, "{}: {early} and {late} runs", row.what);
        }
    }
}
