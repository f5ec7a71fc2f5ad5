//! Item analysis of criteria: whether a criterion distinguishes answers, whether it repeats another one, and
//! how few criteria would be enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use assize_rubric::VoteValue;
use assize_stats::{
    ConfidenceLevel, Interval, SeededRandom, UndefinedReason,
    agreement::RatingScale,
    items::{ItemCurve, graded_response_model, item_rest_correlation},
    judge_quality::{ConfusionTable, DrawnTables},
    zero_failures,
};
use assize_store::CaseRecord;

use crate::claims::alpha_of;
use crate::facts::{CaseFact, NameTable};
use crate::labels::{LabelRow, TableDecision};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Minimum number of answers on which a criterion must be decided.
const MIN_ANSWERS: usize = 5;
/// Correlation with the other criteria below which a criterion does not discriminate. Source: R. Ebel and D.
/// Frisbie, Essentials of Educational Measurement (1991), chapter 13.
const MIN_DISCRIMINATION: f64 = 0.2;
/// Two criteria with at least this kappa count as redundant.
const REDUNDANT_KAPPA: f64 = 0.8;
/// A criterion counts as always or never met if at most this share of further decisions may differ.
const MAX_RARE_SHARE: f64 = 0.1;
/// Minimum number of answers of a step of scores; scores with fewer are taken together with the next ones.
const MIN_STEP: usize = 10;
/// Maximum number of steps of a criterion, so that each has about as many answers as one verdict in ten.
const MAX_STEPS: usize = 10;
/// Answers for each parameter of the model.
const ANSWERS_PER_PARAMETER: usize = 3;
/// Distance from the average ability, in standard deviations, beyond which a criterion is too easy or too hard: one
/// answer in 40 is farther away.
const EXTREME_ABILITY: f64 = 2.0;
/// Slope of a criterion that correlates by 0.2 with the ability, however often it is met: `1.702·0.2/√(1 − 0.2²)`. Source:
/// F. Lord, Applications of Item Response Theory to Practical Testing Problems (1980), chapter 3.
const MIN_SLOPE: f64 = 0.347;
/// Maximum number of pairs for which an interval is computed; pairs that agree most come first.
const MAX_PAIRS: usize = 20;

/// Identity of a criterion: its id, its grader (empty for tables) and its wording.
type CriterionIdentity = (String, String, u64);

/// Values of criteria by answer.
#[derive(Debug, Clone, Default)]
pub struct CriterionResponses {
    criteria: BTreeMap<CriterionIdentity, usize>,
    answers: BTreeMap<String, (String, BTreeMap<usize, f64>)>,
    /// Criteria whose values are raw scores of a run, 0 to 10, divided by ten.
    in_tenths: BTreeSet<usize>,
    runs: usize,
}

impl CriterionResponses {
    /// Begins another run. Its decisions on the same case are about other answers.
    pub fn begin_run(&mut self) {
        self.runs += 1;
    }

    /// Adds the decisions of a stored case on criteria that do not depend on the answer. Penalties and
    /// criteria of negated graders are inverted, so that a higher value is better.
    pub fn add_record(&mut self, record: &CaseRecord) {
        let mut names = NameTable::default();
        let fact = CaseFact::from_record(record, &mut names);
        let target = fact.target.map(|target| names.text(target)).unwrap_or_default();
        let answer =
            [names.text(fact.suite), names.text(fact.case), target, &fact.trial.to_string()].join("\u{1f}");
        let cluster = fact.cluster.to_string();
        for criterion in fact.criteria.iter().filter(|criterion| criterion.is_fixed) {
            let VoteValue::Value(value) = criterion.decision else { continue };
            let value = if criterion.is_fault { 1.0 - value } else { value };
            let identity = (
                names.text(criterion.id).to_owned(),
                names.text(criterion.grader).to_owned(),
                criterion.wording,
            );
            let at = self.push(identity, format!("{}\u{1f}{answer}", self.runs), &cluster, value);
            if criterion.is_scored && !criterion.is_fault {
                self.in_tenths.insert(at);
            }
        }
    }

    /// Adds a row of a table: the mean of its labels, or the judge's decision if there are none.
    pub fn add_row(&mut self, row: &LabelRow) {
        let labels: Vec<f64> = row.labels.iter().filter_map(|(_, outcome)| outcome.number()).collect();
        let value = if labels.is_empty() {
            match &row.judge {
                Some(TableDecision::Decided(outcome)) => outcome.number(),
                _ => None,
            }
        } else {
            Some(labels.iter().sum::<f64>() / labels.len() as f64)
        };
        let Some(value) = value else { return };

        let suite = row.suite.as_deref().unwrap_or_default();
        let system = row.system.as_deref().unwrap_or_default();
        let answer = [suite, &row.case, system, &row.trial.unwrap_or(1).to_string()].join("\u{1f}");
        let cluster = row.cluster.clone().unwrap_or_else(|| format!("{suite}\u{1f}{}", row.case));
        let criterion = row.criterion.clone().unwrap_or_default();
        self.push((criterion, String::new(), 0), answer, &cluster, value);
    }

    /// Adds a value and returns the number of its criterion.
    fn push(&mut self, identity: CriterionIdentity, answer: String, cluster: &str, value: f64) -> usize {
        let next = self.criteria.len();
        let at = *self.criteria.entry(identity).or_insert(next);
        let (_, values) = self.answers.entry(answer).or_insert_with(|| (cluster.to_owned(), BTreeMap::new()));
        values.insert(at, value);
        at
    }

    /// Analyses the criteria that were decided on five answers or more. Fails if there are none. `scale` has the possible
    /// scores of tables.
    pub fn analyze(
        &self,
        resampling: ResamplingOptions,
        scale: Option<&RatingScale>,
    ) -> Result<CriteriaReport, UndefinedReason> {
        let mut counts = vec![0; self.criteria.len()];
        for at in self.answers.values().flat_map(|(_, values)| values.keys()) {
            counts[*at] += 1;
        }
        let kept: Vec<usize> = (0..counts.len()).filter(|at| counts[*at] >= MIN_ANSWERS).collect();
        if kept.is_empty() {
            return Err(if counts.is_empty() { UndefinedReason::NoValues } else { UndefinedReason::TooFew });
        }

        let answers: Vec<Vec<Option<f64>>> = self
            .answers
            .values()
            .map(|(_, values)| kept.iter().map(|at| values.get(at).copied()).collect())
            .collect();
        let clusters: Vec<&str> = self.answers.values().map(|(cluster, _)| cluster.as_str()).collect();
        let mut names = self.names();
        let names: Vec<String> = kept.iter().map(|at| std::mem::take(&mut names[*at])).collect();
        let in_tenths = kept.iter().map(|at| self.in_tenths.contains(at)).collect();
        let matrix = ResponseMatrix { answers, clusters, names, in_tenths };

        let mut cases = matrix.clusters.clone();
        cases.sort_unstable();
        cases.dedup();
        let pairs = matrix.pairs(resampling);
        let mut criteria: Vec<CriterionAnalysis> =
            (0..kept.len()).map(|at| matrix.criterion(at, resampling.level, scale)).collect();
        let repeated: Vec<String> =
            pairs.0.iter().filter(|pair| pair.is_redundant).map(|pair| pair.criteria[1].clone()).collect();
        let model = matrix.model(&repeated, resampling.level);
        // Few answers fail an easy criterion, so it can't correlate much with the others, however well it measures.
        let extremes = model.iter().flat_map(|model| &model.curves).filter(|curve| curve.extreme.is_some());
        for curve in extremes {
            let same = criteria.iter_mut().find(|one| one.name == curve.name);
            if let Some(one) = same.filter(|one| one.flag == Some(CriterionFlag::NotWithRest)) {
                one.flag = None;
            }
        }

        Ok(CriteriaReport {
            answers: matrix.answers.len(),
            cases: cases.len(),
            rare: counts.len() - kept.len(),
            compared: pairs.1,
            pairs: pairs.0,
            criteria,
            model,
        })
    }

    /// Names of criteria: their ids, with the grader if several have the id, and a number if wordings differ.
    fn names(&self) -> Vec<String> {
        let mut by_id: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (id, grader, _) in self.criteria.keys() {
            *by_id.entry(id).or_default().entry(grader).or_default() += 1;
        }
        let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut names = vec![String::new(); self.criteria.len()];
        for ((id, grader, _), at) in &self.criteria {
            let graders = &by_id[id.as_str()];
            let mut name = if graders.len() > 1 { format!("{grader}/{id}") } else { id.clone() };
            if graders[grader.as_str()] > 1 {
                let number = seen.entry((id, grader)).or_default();
                *number += 1;
                // Writing to a string never fails.
                let _ = write!(name, " (wording {number})");
            }
            names[*at] = name;
        }

        names
    }
}

/// Values of some criteria by answer.
struct ResponseMatrix<'r> {
    answers: Vec<Vec<Option<f64>>>,
    clusters: Vec<&'r str>,
    names: Vec<String>,
    in_tenths: Vec<bool>,
}

/// Divides the values of a criterion into steps with enough answers for a model of this many criteria: the values
/// themselves where possible, otherwise several neighbours together. There are at least two if values differ.
fn score_steps(values: &[f64], criteria: usize) -> Vec<ScoreStep> {
    let n = values.len();
    let least = (n / MAX_STEPS).max(ANSWERS_PER_PARAMETER * criteria).min(n / 3).max(MIN_STEP);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut steps: Vec<&[f64]> = Vec::new();
    let mut begin = 0;
    let ends = (1..=n).filter(|end| *end == n || sorted[*end] != sorted[*end - 1]);
    let mut balanced = n;
    for end in ends {
        if end < n && end.abs_diff(n / 2) < balanced.abs_diff(n / 2) {
            balanced = end;
        }
        if end - begin >= least {
            steps.push(&sorted[begin..end]);
            begin = end;
        }
    }
    if let Some(last) = steps.last_mut().filter(|_| begin < n) {
        *last = &sorted[n - last.len() - (n - begin)..];
    }
    if steps.len() < 2 && balanced < n {
        steps = vec![&sorted[..balanced], &sorted[balanced..]];
    }

    steps.into_iter().map(|step| ScoreStep { low: step[0], high: step[step.len() - 1] }).collect()
}

impl ResponseMatrix<'_> {
    fn values(&self, criterion: usize) -> Vec<f64> {
        self.answers.iter().filter_map(|answer| answer[criterion]).collect()
    }

    fn is_binary(&self, criterion: usize) -> bool {
        self.values(criterion).iter().all(|value| *value == 0.0 || *value == 1.0)
    }

    /// Scores that were never given, of 0 to 10 in a run or of the scale of a table. Empty if scores lie between the
    /// points, as means do.
    fn unused(&self, at: usize, scale: Option<&RatingScale>) -> Vec<f64> {
        let mut all: Vec<f64> = match scale {
            _ if self.in_tenths[at] => (0..=10).map(f64::from).collect(),
            Some(scale) if !self.is_binary(at) => scale.points().to_vec(),
            _ => Vec::new(),
        };
        let points = |value: &f64| (value * self.points(at) * 1e9).round() / 1e9;
        let given: Vec<f64> = self.values(at).iter().map(points).collect();
        if given.iter().any(|value| !all.contains(value)) {
            return Vec::new();
        }
        all.retain(|point| !given.contains(point));
        all
    }

    /// Pairs of neighbouring steps where the higher step went to worse answers: among the answers with one of the two
    /// steps, the criterion correlates negatively with the others.
    fn unordered(&self, at: usize, level: ConfidenceLevel) -> Vec<[ScoreStep; 2]> {
        let criteria = self.names.len();
        let steps = score_steps(&self.values(at), criteria);
        // The intervals of all pairs of all criteria hold at once.
        let several = alpha_of(level) / (MAX_STEPS * criteria) as f64;
        let Ok(level) = ConfidenceLevel::new(1.0 - several) else { return Vec::new() };
        let is_reversed = |pair: &&[ScoreStep]| {
            let mut answers = self.answers.clone();
            for answer in &mut answers {
                answer[at] = answer[at].filter(|value| pair.iter().any(|step| step.has(*value)));
            }
            let found = item_rest_correlation(&answers, &self.clusters, at, level);
            found.interval.is_ok_and(|interval| interval.high < 0.0)
        };
        // Two steps are a verdict, which is flagged as a whole.
        let pairs = steps.windows(2).filter(|_| steps.len() > 2).filter(is_reversed);
        pairs.map(|pair| [self.in_points(at, pair[0]), self.in_points(at, pair[1])]).collect()
    }

    /// Factor from stored values to raw scores.
    fn points(&self, at: usize) -> f64 {
        if self.in_tenths[at] { 10.0 } else { 1.0 }
    }

    fn in_points(&self, at: usize, step: ScoreStep) -> ScoreStep {
        ScoreStep { low: step.low * self.points(at), high: step.high * self.points(at) }
    }

    fn criterion(&self, at: usize, level: ConfidenceLevel, scale: Option<&RatingScale>) -> CriterionAnalysis {
        let values = self.values(at);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut cases: Vec<&str> = self
            .answers
            .iter()
            .zip(&self.clusters)
            .filter(|(answer, _)| answer[at].is_some())
            .map(|(_, cluster)| *cluster)
            .collect();
        cases.sort_unstable();
        cases.dedup();

        let found = item_rest_correlation(&self.answers, &self.clusters, at, level);
        let constant = values.iter().all(|value| *value == values[0]);
        let rest = zero_failures(cases.len() as u64, level).map(|bound| bound.exact);
        let flag = match (found.interval, rest) {
            _ if constant && (mean == 0.0 || mean == 1.0) => Some(match rest {
                Ok(rest) if rest <= MAX_RARE_SHARE && mean == 1.0 => CriterionFlag::AlwaysMet(rest),
                Ok(rest) if rest <= MAX_RARE_SHARE => CriterionFlag::NeverMet(rest),
                Ok(rest) => CriterionFlag::TooFewToTell(rest),
                Err(_) => CriterionFlag::TooFewToTell(1.0),
            }),
            (Ok(interval), _) if interval.high < 0.0 => Some(CriterionFlag::AgainstRest),
            (Ok(interval), _) if interval.high <= MIN_DISCRIMINATION => Some(CriterionFlag::NotWithRest),
            _ => None,
        };

        CriterionAnalysis {
            name: self.names[at].clone(),
            n: values.len(),
            cases: cases.len(),
            mean,
            discrimination: MetricEstimate {
                id: "item_rest",
                name: "item-rest correlation",
                value: found.correlation,
                interval: found.interval,
                n: found.n as u64,
                of: "answers",
                says: "Correlation with the mean of the other criteria on the same answer.",
            },
            flag,
            unused: rest
                .ok()
                .filter(|rest| *rest <= MAX_RARE_SHARE)
                .map(|rest| (self.unused(at, scale), rest))
                .filter(|(unused, _)| !unused.is_empty()),
            unordered: self.unordered(at, level),
        }
    }

    /// The pairs that agree most, and the number of pairs compared.
    fn pairs(&self, resampling: ResamplingOptions) -> (Vec<CriterionPair>, usize) {
        let binary: Vec<usize> = (0..self.names.len()).filter(|at| self.is_binary(*at)).collect();
        let mut found = Vec::new();
        for (place, &first) in binary.iter().enumerate() {
            for &second in &binary[place + 1..] {
                let tables = self.tables(first, second);
                let table = tables.iter().fold(ConfusionTable::default(), |sum, table| ConfusionTable {
                    true_pass: sum.true_pass + table.true_pass,
                    false_pass: sum.false_pass + table.false_pass,
                    false_fail: sum.false_fail + table.false_fail,
                    true_fail: sum.true_fail + table.true_fail,
                });
                if table.n() >= MIN_ANSWERS as u64
                    && let Ok(kappa) = table.kappa(resampling.level).and_then(|kappa| kappa.kappa)
                {
                    found.push((kappa, first, second, table, tables));
                }
            }
        }

        found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let compared = found.len();
        found.truncate(MAX_PAIRS);
        let pairs = found.into_iter().map(|(kappa, first, second, table, tables)| {
            let mut random = SeededRandom::new(resampling.seed);
            let drawn = DrawnTables::draw(&tables, resampling.resamples, &mut random);
            let interval = |value: f64, figure: &dyn Fn(ConfusionTable) -> Result<f64, UndefinedReason>| {
                drawn.as_ref().map_err(|reason| *reason)?.interval(value, resampling.level, figure)
            };
            let kappa_of =
                |table: ConfusionTable| table.kappa(resampling.level).and_then(|kappa| kappa.kappa);
            let kappa_interval = interval(kappa, &kappa_of);
            let phi = table.matthews();
            CriterionPair {
                criteria: [self.names[first].clone(), self.names[second].clone()],
                alike: (table.true_pass + table.true_fail, table.n()),
                kappa: (kappa, kappa_interval),
                phi: (phi, phi.and_then(|phi| interval(phi, &ConfusionTable::matthews))),
                is_redundant: kappa_interval.is_ok_and(|interval| interval.low >= REDUNDANT_KAPPA),
            }
        });
        (pairs.collect(), compared)
    }

    /// Contingency tables of two criteria, one for each cluster.
    fn tables(&self, first: usize, second: usize) -> Vec<ConfusionTable> {
        let mut tables: BTreeMap<&str, ConfusionTable> = BTreeMap::new();
        for (answer, cluster) in self.answers.iter().zip(&self.clusters) {
            let (Some(a), Some(b)) = (answer[first], answer[second]) else { continue };
            let table = tables.entry(cluster).or_default();
            *match (a == 1.0, b == 1.0) {
                (true, true) => &mut table.true_pass,
                (true, false) => &mut table.false_pass,
                (false, true) => &mut table.false_fail,
                (false, false) => &mut table.true_fail,
            } += 1;
        }
        tables.into_values().collect()
    }

    /// Fits the model to criteria that vary and don't repeat another one (their errors would not be
    /// independent), on answers on which most of these criteria were decided.
    fn model(&self, repeated: &[String], level: ConfidenceLevel) -> Result<CriteriaModel, UndefinedReason> {
        let is_new = |at: &usize| !repeated.contains(&self.names[*at]);
        let varies = |at: &usize| {
            let values = self.values(*at);
            values.iter().any(|value| *value != values[0])
        };
        let used: Vec<usize> = (0..self.names.len()).filter(is_new).filter(varies).collect();
        let answers: Vec<&Vec<Option<f64>>> = self
            .answers
            .iter()
            .filter(|answer| 2 * used.iter().filter(|at| answer[**at].is_some()).count() > used.len())
            .collect();
        let values = |at: &usize| -> Vec<f64> { answers.iter().filter_map(|answer| answer[*at]).collect() };
        let steps: Vec<Vec<ScoreStep>> = used.iter().map(|at| score_steps(&values(at), used.len())).collect();
        let reached = answers.iter().map(|answer| {
            let step = |(at, steps): (&usize, &Vec<ScoreStep>)| {
                answer[*at].and_then(|value| steps.iter().position(|step| step.has(value)))
            };
            used.iter().zip(&steps).map(step).collect()
        });
        let reached: Vec<Vec<Option<usize>>> = reached.collect();

        let model = graded_response_model(&reached)?;
        let all: Vec<usize> = (0..used.len()).collect();
        let reliability = model.reliability(&all);
        let short_form = model.short_form();
        let enough = short_form.iter().position(|(_, so_far)| *so_far >= SHORT_FORM * reliability);
        let name = |at: usize| self.names[used[at]].clone();
        Ok(CriteriaModel {
            answers: answers.len(),
            reliability,
            enough: enough.map_or(short_form.len(), |at| at + 1),
            short_form: short_form.into_iter().map(|(at, so_far)| (name(at), so_far)).collect(),
            curves: all
                .iter()
                .map(|at| self.curve(used[*at], &model.curves[*at], &steps[*at], level))
                .collect(),
        })
    }

    fn curve(
        &self,
        at: usize,
        curve: &ItemCurve,
        steps: &[ScoreStep],
        level: ConfidenceLevel,
    ) -> CriterionCurve {
        let difficulties: Result<Vec<_>, _> = curve.difficulties(level).map(|found| {
            let with_score = |(step, (difficulty, interval)): (&ScoreStep, (f64, Interval))| {
                (self.in_points(at, *step), difficulty, interval)
            };
            steps[1..].iter().zip(found).map(with_score).collect()
        });
        // Half of the answers reach a flat curve far from their average, although it is neither easy nor hard.
        let is_steep = curve.slope_at_least(level).is_ok_and(|least| least > MIN_SLOPE);
        let steep = difficulties.as_ref().ok().filter(|_| is_steep);
        let extreme = steep.and_then(|steps| match (steps.first()?, steps.last()?) {
            (_, (.., hardest)) if hardest.high < -EXTREME_ABILITY => Some(ExtremeDifficulty::TooEasy),
            ((.., easiest), _) if easiest.low > EXTREME_ABILITY => Some(ExtremeDifficulty::TooHard),
            _ => None,
        });
        CriterionCurve {
            name: self.names[at].clone(),
            slope: curve.discrimination,
            slope_se: curve.discrimination_se,
            difficulties,
            extreme,
        }
    }
}

/// Share of the full reliability that a short form should reach.
const SHORT_FORM: f64 = 0.9;

/// A problem of a criterion, as far as these answers show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CriterionFlag {
    /// All answers meet it; at most this share of further ones would not.
    AlwaysMet(f64),
    /// No answer meets it; at most this share of further ones would.
    NeverMet(f64),
    /// All answers got the same decision, but they are too few: up to this share of further ones may differ.
    TooFewToTell(f64),
    /// Answers that meet the other criteria meet it less often.
    AgainstRest,
    /// Its correlation with the others is below 0.2, and not because it is too easy or too hard: it does not distinguish
    /// good answers from bad ones, or measures another property.
    NotWithRest,
}

/// Scores of a criterion that count as one step, because too few answers have each of them: from the lowest to the
/// highest, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreStep {
    /// Lowest score.
    pub low: f64,
    /// Highest score.
    pub high: f64,
}

impl ScoreStep {
    fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// One criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionAnalysis {
    /// Name of the criterion.
    pub name: String,
    /// Number of answers on which it was decided.
    pub n: usize,
    /// Number of cases of these answers.
    pub cases: usize,
    /// Mean value; higher is better. For verdicts, the share that meets it.
    pub mean: f64,
    /// Correlation with the other criteria.
    pub discrimination: MetricEstimate,
    /// Problem of the criterion.
    pub flag: Option<CriterionFlag>,
    /// Scores that no answer got, and the share of further answers that would get one of them, at most; `None` if there
    /// are no such scores, or too few answers to say that they are rare.
    pub unused: Option<(Vec<f64>, f64)>,
    /// Pairs of neighbouring steps where the higher step went to answers that the other criteria rate worse.
    pub unordered: Vec<[ScoreStep; 2]>,
}

/// Two criteria on the same answers.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionPair {
    /// Names of the criteria.
    pub criteria: [String; 2],
    /// Number of answers on which the two decisions are equal, and number of all answers with both.
    pub alike: (u64, u64),
    /// Cohen's kappa.
    pub kappa: (f64, Result<Interval, UndefinedReason>),
    /// Phi, the correlation of the verdicts.
    pub phi: (Result<f64, UndefinedReason>, Result<Interval, UndefinedReason>),
    /// True if the evidence shows that kappa is at least 0.8.
    pub is_redundant: bool,
}

/// A criterion that tells good answers from bad ones, but whose steps all lie beyond the abilities of these answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtremeDifficulty {
    /// Half of the answers that are 2 standard deviations below average still reach its highest step.
    TooEasy,
    /// Not even half of the answers that are 2 standard deviations above average reach its lowest step.
    TooHard,
}

/// Curve of one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionCurve {
    /// Name of the criterion.
    pub name: String,
    /// How well the criterion tells good answers from bad ones.
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_se: f64,
    /// Each step but the lowest with the ability at which half of the answers reach it, and its interval. Undefined if
    /// the slope may be 0.
    pub difficulties: Result<Vec<(ScoreStep, f64, Interval)>, UndefinedReason>,
    /// Whether it is too easy or too hard for these answers.
    pub extreme: Option<ExtremeDifficulty>,
}

/// Curves of criteria and short forms.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaModel {
    /// Number of answers.
    pub answers: usize,
    /// Curves of the criteria that vary and don't repeat another one.
    pub curves: Vec<CriterionCurve>,
    /// Reliability, 0 to 1, of the ability estimated from all criteria.
    pub reliability: f64,
    /// Criteria, the most useful first, each with the reliability of the criteria up to it.
    pub short_form: Vec<(String, f64)>,
    /// Number of criteria that reach nine tenths of the full reliability.
    pub enough: usize,
}

/// Measurement by the criteria of some answers.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaReport {
    /// Number of answers.
    pub answers: usize,
    /// Number of cases of these answers.
    pub cases: usize,
    /// Number of criteria that are excluded because they were decided on fewer than five answers.
    pub rare: usize,
    /// The criteria.
    pub criteria: Vec<CriterionAnalysis>,
    /// The pairs that agree most, at most 20.
    pub pairs: Vec<CriterionPair>,
    /// Number of pairs compared.
    pub compared: usize,
    /// The model, or the reason why there is none.
    pub model: Result<CriteriaModel, UndefinedReason>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of even abilities to six good criteria, and to one more with this slope that this share of them meets on average.
    fn report(answers: u32, slope: f64, share: f64) -> CriteriaReport {
        let mut responses = CriterionResponses::default();
        let mut state: u64 = 5;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        for answer in 0..answers {
            // A sum of twelve uniform numbers is nearly normal.
            let ability = (0..12).map(|_| draw()).sum::<f64>() - 6.0;
            let mut push = |name: &str, logit: f64| {
                let value = f64::from(draw() < 1.0 / (1.0 + (-logit).exp()));
                let place = format!("a{answer}");
                responses.push((name.to_owned(), String::new(), 0), place.clone(), &place, value);
            };
            for (at, difficulty) in [-1.0, -0.5, 0.0, 0.0, 0.5, 1.0].into_iter().enumerate() {
                push(&format!("good{at}"), 1.8 * (ability - difficulty));
            }
            push("tried", slope * ability + (share / (1.0 - share)).ln());
        }
        let resampling = ResamplingOptions { resamples: 20, ..ResamplingOptions::default() };
        responses.analyze(resampling, None).expect("enough answers")
    }

    #[test]
    fn a_criterion_is_either_extreme_or_does_not_discriminate() {
        let mut seen = Vec::new();
        for answers in [150, 1_000] {
            for slope in [-1.5, 0.0, 0.3, 0.4, 1.5] {
                for share in [0.01, 0.2, 0.8, 0.99] {
                    let report = report(answers, slope, share);
                    let curves = report.model.iter().flat_map(|model| &model.curves);
                    let extreme =
                        curves.filter(|curve| curve.name == "tried").find_map(|curve| curve.extreme);
                    let flag =
                        report.criteria.iter().find(|one| one.name == "tried").and_then(|one| one.flag);
                    assert!(
                        extreme.is_none() || flag.is_none(),
                        "{answers} {slope} {share}: {flag:?} {extreme:?}"
                    );
                    assert!(extreme.is_none() || slope >= 1.5, "{answers} {slope} {share}: {extreme:?}");
                    if answers == 1_000 && slope >= 1.5 {
                        assert_ne!(flag, Some(CriterionFlag::NotWithRest), "{slope} {share}");
                    }
                    seen.extend(extreme);
                }
            }
        }
        assert!(seen.contains(&ExtremeDifficulty::TooEasy) && seen.contains(&ExtremeDifficulty::TooHard));
    }
}
