//! Comparison by suite, tag, grader and criterion.

use std::collections::BTreeMap;

use assize_stats::multiplicity::adjust_p_values;
use serde::Serialize;

use super::metric_difference::{MetricDifference, PairSample, compare_metric};
use super::mismatch::shared_criteria;
use super::pooled::{GroupDifferences, PooledDifferences, pool_groups};
use super::{ComparisonAspect, ComparisonOptions, MetricUnit};
use assize_rubric::VoteValue;

use crate::claims::MIN_PAIRS;
use crate::facts::{CaseFact, NameTable};

/// Comparison within one suite, tag, grader or criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonGroup {
    /// Name of the group.
    pub name: String,
    /// Text of the criterion; absent for other groups, and if none is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Comparison within it.
    #[serde(flatten)]
    pub contrast: MetricDifference,
}

/// Rows of one kind. Their p values are adjusted for the number of rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonTable {
    /// Kind of the groups: `suite`, `tag`, `grader` or `criterion`.
    pub by: &'static str,
    /// The metric: `score` or `value`.
    pub figure: &'static str,
    /// Rows, the clearest changes first.
    pub rows: Vec<ComparisonGroup>,
    /// Number of groups with fewer than [`MIN_PAIRS`] pairs.
    pub too_small: usize,
    /// All groups, each shrunk towards the others; absent if there are too few groups, or if their pairs
    /// don't differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled: Option<PooledDifferences>,
}

/// Collects pairs by group.
#[derive(Debug, Default)]
pub(crate) struct GroupedPairs<'n> {
    groups: BTreeMap<ComparisonGroupKey<'n>, GroupSample>,
    /// Texts of criteria by their wording.
    texts: BTreeMap<u64, &'n str>,
}

/// Pairs of a group, and the names of the group in the facts.
#[derive(Debug)]
struct GroupSample {
    id: GroupId,
    pairs: PairSample,
}

/// Names of a group as numbers of the facts' name table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupId {
    /// Name of the suite, tag or grader.
    pub(crate) name: u32,
    /// Id and wording of a criterion.
    pub(crate) criterion: Option<(u32, u64)>,
}

/// Key of a group: its suite, tag or grader; for a criterion its grader (and whether it is a fault), id and
/// wording.
type ComparisonGroupKey<'n> = (&'n str, (bool, &'n str), &'n str, u64);
/// Placeholder for the grader if the group is not a criterion.
const NO_CRITERION: (bool, &str) = (false, "");

impl<'n> GroupedPairs<'n> {
    /// Adds the scores of a pair to each of its tags.
    pub(crate) fn tags(&mut self, pair: (&CaseFact, &CaseFact), scores: (f64, f64), names: &'n NameTable) {
        for tag in pair.0.tags.iter().filter(|tag| pair.1.tags.contains(tag)) {
            let id = GroupId { name: *tag, criterion: None };
            self.push((names.text(*tag), NO_CRITERION, "", 0), id, scores, pair.0.cluster);
        }
    }

    pub(crate) fn suite(&mut self, pair: (&CaseFact, &CaseFact), scores: (f64, f64), names: &'n NameTable) {
        let id = GroupId { name: pair.0.suite, criterion: None };
        self.push((names.text(pair.0.suite), NO_CRITERION, "", 0), id, scores, pair.0.cluster);
    }

    pub(crate) fn graders(&mut self, pair: (&CaseFact, &CaseFact), names: &'n NameTable) {
        for grader in &pair.0.graders {
            let other = pair.1.graders.iter().find(|other| other.name == grader.name);
            if let Some((base, candidate)) = grader.score.zip(other.and_then(|other| other.score)) {
                let key = (names.text(grader.name), NO_CRITERION, "", 0);
                let id = GroupId { name: grader.name, criterion: None };
                self.push(key, id, (base, candidate), pair.0.cluster);
            }
        }
    }

    /// Adds the criteria of a pair. Criteria with equal ids but different texts are different criteria,
    /// because ids by position recur in every case. For a fault the metric is how far it was avoided, so that
    /// higher is better in every row.
    pub(crate) fn criteria(&mut self, pair: (&CaseFact, &CaseFact), names: &'n NameTable) {
        for (a, b) in shared_criteria(pair.0, pair.1) {
            if let (VoteValue::Value(base), VoteValue::Value(candidate)) = (a.decision, b.decision) {
                let grader = (a.is_fault, names.text(a.grader));
                let key = (names.text(pair.0.suite), grader, names.text(a.id), a.wording);
                self.texts.insert(a.wording, names.text(a.text));
                let goodness = |value: f64| if a.is_fault { 1.0 - value } else { value };
                let id = GroupId { name: a.grader, criterion: Some((a.id, a.wording)) };
                self.push(key, id, (goodness(base), goodness(candidate)), pair.0.cluster);
            }
        }
    }

    fn push(
        &mut self,
        key: ComparisonGroupKey<'n>,
        id: GroupId,
        (base, candidate): (f64, f64),
        cluster: u64,
    ) {
        let group =
            self.groups.entry(key).or_insert_with(|| GroupSample { id, pairs: PairSample::default() });
        group.pairs.push(base, candidate, cluster);
    }

    /// Compares each group that is large enough. `withheld` returns the aspect that makes a group
    /// incomparable.
    pub(crate) fn table(
        self,
        by: &'static str,
        figure: &'static str,
        options: &ComparisonOptions,
        withheld: impl Fn(GroupId) -> Option<ComparisonAspect>,
    ) -> ComparisonTable {
        let several_suites = {
            let mut suites: Vec<&str> =
                self.groups.keys().filter(|key| !key.2.is_empty()).map(|key| key.0).collect();
            suites.dedup();
            suites.len() > 1
        };

        let (mut too_small, mut all) = (0, Vec::new());
        let mut rows: Vec<ComparisonGroup> = Vec::new();
        for ((first, (is_fault, grader), id, wording), GroupSample { id: group, pairs }) in self.groups {
            let name = match (id.is_empty(), several_suites) {
                (true, _) => first.to_owned(),
                (false, false) => format!("{grader}/{id}"),
                (false, true) => format!("{first}: {grader}/{id}"),
            };
            let name = if is_fault { format!("{name} (avoided)") } else { name };
            // A group with a single pair is a criterion of a single case, so it can't be pooled with others.
            if withheld(group).is_none() && pairs.len() > 1 {
                all.push(GroupDifferences::new(name.clone(), &pairs));
            }
            if pairs.len() < MIN_PAIRS {
                too_small += 1;
                continue;
            }

            let text = self.texts.get(&wording).filter(|text| !id.is_empty() && !text.trim().is_empty());
            let text = text.map(|text| (*text).to_owned());
            // The values of a criterion that is met or unmet are 1 and 0.
            let unit = if !id.is_empty() && pairs.is_binary() { MetricUnit::Rate } else { MetricUnit::Score };
            let contrast = match withheld(group) {
                Some(reason) => MetricDifference::withheld(pairs.len(), unit, reason, options),
                None => compare_metric(&pairs, unit, options),
            };
            rows.push(ComparisonGroup { name, text, contrast });
        }

        adjust_all(rows.iter_mut().map(|row| &mut row.contrast), options);
        // The sort is stable: groups with equal changes keep the order of their names.
        rows.sort_by(|a, b| a.contrast.p.unwrap_or(1.0).total_cmp(&b.contrast.p.unwrap_or(1.0)));

        let pooled = pool_groups(&all, options.level).ok();
        ComparisonTable { by, figure, rows, too_small, pooled }
    }
}

/// Adjusts the p values of comparisons that are reported together, and updates their conclusions.
pub(crate) fn adjust_all<'c>(
    contrasts: impl Iterator<Item = &'c mut MetricDifference>,
    options: &ComparisonOptions,
) {
    let Some(adjustment) = options.adjustment else { return };
    let mut tested: Vec<&mut MetricDifference> = contrasts.filter(|contrast| contrast.p.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|contrast| contrast.p).collect();
    if let Ok(adjusted) = adjust_p_values(&p_values, adjustment) {
        for (contrast, p) in tested.iter_mut().zip(adjusted) {
            contrast.p_adjusted = Some(p);
            contrast.conclude(options);
        }
    }
}
