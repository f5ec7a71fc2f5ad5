//! Shards of a plan: the items that one of several runs takes, and the hash that shows whether runs share a plan.
//!
//! Design: `docs/design/cluster.md`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use assize_model::{AnswerSelection, GraderKind, PanelSpec};
use assize_rubric::IdentityWriter;

use crate::case_identity::hash_case;
use crate::fingerprint::write_earlier;
use crate::grader_identity::{hash_conversation_settings, hash_settings};
use crate::{ItemError, ItemRelations, ItemSource, WorkItem};

/// Version of the hashed content. Raised when the same plan should have another hash, or its shards other
/// items.
const VERSION: u64 = 1;

/// Number of one of several equal parts of a plan, written `2/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardNumber {
    number: u32,
    count: u32,
}

/// Why a text does not name a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardNumberError {
    /// The text is not of the form `i/n`.
    #[error("expected `i/n`, such as `2/4` for the second of four shards")]
    Form,
    /// Shards are numbered from 1.
    #[error(
        "shards are numbered from 1 to {0}; with an index from 0, as in Kubernetes and Slurm, write `--shard $((INDEX + 1))/{0}`"
    )]
    Zero(u32),
    /// The number is higher than the number of shards.
    #[error("there is no shard {0} of {1}; the last one is `{1}/{1}`")]
    Beyond(u32, u32),
    /// There are too many shards, or none.
    #[error("a plan has 1 to {} shards", ShardNumber::MAX)]
    Count,
}

impl ShardNumber {
    /// The most shards of a plan, as many as the largest job arrays have tasks.
    pub const MAX: u32 = assize_limits::SHARDS;
    /// The whole plan as its only shard.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Shard `number`, from 1, of `count`.
    ///
    /// # Errors
    /// When there is no such shard.
    pub const fn new(number: u32, count: u32) -> Result<Self, ShardNumberError> {
        if count == 0 || count > Self::MAX {
            Err(ShardNumberError::Count)
        } else if number == 0 {
            Err(ShardNumberError::Zero(count))
        } else if number > count {
            Err(ShardNumberError::Beyond(number, count))
        } else {
            Ok(Self { number, count })
        }
    }

    /// Number of the shard, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Number of shards of the plan.
    pub const fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for ShardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for ShardNumber {
    type Err = ShardNumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = |part: &str| -> Result<u32, ShardNumberError> {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| is_number).ok_or(ShardNumberError::Form)
        };
        let (number, count) = text.split_once('/').ok_or(ShardNumberError::Form)?;

        Self::new(digits(number)?, digits(count)?)
    }
}

/// A part of a shard that was halved, perhaps several times: `1` is its first half, `12` the second half of
/// that. The empty text is the whole shard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ShardPart(String);

/// The text does not name a part of a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected digits 1 and 2, such as `12` for the second half of the first half")]
pub struct ShardPartError;

impl ShardPart {
    /// The two halves of this part.
    pub fn halves(&self) -> [Self; 2] {
        ['1', '2'].map(|half| Self(format!("{}{half}", self.0)))
    }

    /// Whether the shard was not halved.
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this part is completely within the other one.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Which half it is for each halving, 0 or 1.
    fn steps(&self) -> impl Iterator<Item = u32> {
        self.0.bytes().map(|digit| u32::from(digit != b'1'))
    }
}

impl FromStr for ShardPart {
    type Err = ShardPartError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_part = text.bytes().all(|digit| matches!(digit, b'1' | b'2'));
        is_part.then(|| Self(text.to_owned())).ok_or(ShardPartError)
    }
}

/// A plan and the shard of it that a run takes.
///
/// Items of one case stay together. So do cases with dependencies between them, and cases that share a workspace.
/// Groups are assigned in the order of the plan, each to the shard with the fewest items so far. Only tied cases are
/// remembered, so a plan of independent cases needs no memory.
#[derive(Debug)]
pub struct ShardPlan {
    shard: ShardNumber,
    part: ShardPart,
    hash: String,
    items: u64,
    own: u64,
    groups: Arc<CaseGroups>,
    /// True if it gets only items of the shard, together with their positions.
    is_dealt: bool,
}

impl ShardPlan {
    /// Reads every item of a plan. `items` lists them in the same order each time.
    ///
    /// # Errors
    /// If the items can't be read.
    pub fn new<I>(shard: ShardNumber, part: ShardPart, items: impl Fn() -> I) -> Result<Self, ItemError>
    where
        I: Iterator<Item = Result<WorkItem, ItemError>>,
    {
        let mut hasher = blake3::Hasher::new();
        let mut groups = GroupBuilder::default();
        let mut count = 0;
        for item in items() {
            let item = item?;
            add_item(&mut hasher, &item);
            groups.add(&item);
            count += 1;
        }

        let hash = hasher.finalize().to_hex().to_string();
        let groups = Arc::new(groups.finish());
        let mut plan = Self { shard, part, hash, items: count, own: count, groups, is_dealt: false };
        if shard != ShardNumber::WHOLE || !plan.part.is_whole() {
            plan.own = plan.count_own(items())?;
        }

        Ok(plan)
    }

    /// The plan of a part of a shard, of a plan with this hash and numbers of items. `list` has the items of
    /// the shard with their positions.
    pub(crate) fn of_dealt<I>(
        shard: ShardNumber,
        part: ShardPart,
        hash: String,
        items: u64,
        own: u64,
        groups: Arc<CaseGroups>,
        list: impl Fn() -> I,
    ) -> Result<Self, ItemError>
    where
        I: Iterator<Item = Result<WorkItem, ItemError>>,
    {
        let mut plan = Self { shard, part, hash, items, own, groups, is_dealt: true };
        if !plan.part.is_whole() {
            plan.own = plan.count_own(list())?;
        }

        Ok(plan)
    }

    fn count_own(&self, items: impl Iterator<Item = Result<WorkItem, ItemError>>) -> Result<u64, ItemError> {
        self.select(items).try_fold(0, |count, item| item.map(|_| count + 1))
    }

    /// The shard.
    pub const fn shard(&self) -> ShardNumber {
        self.shard
    }

    /// Part of the shard.
    pub const fn part(&self) -> &ShardPart {
        &self.part
    }

    /// Hash of the inputs and the graders of all items of the plan, in their order.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Number of items of the plan.
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Number of items of the shard.
    pub const fn own_items(&self) -> u64 {
        self.own
    }

    /// Selects the items of the shard from all items of the plan, with their positions in it. A plan made by
    /// [`DealtPlan::shard`](crate::DealtPlan::shard) gets only the items of its shard.
    pub fn select<I>(&self, items: I) -> impl Iterator<Item = Result<WorkItem, ItemError>>
    where
        I: Iterator<Item = Result<WorkItem, ItemError>>,
    {
        // Each halving divides the rest of the previous one.
        let shard = (ShardDealer::new(self.shard.count, &self.groups), self.shard.number - 1);
        let halves = self.part.steps().map(|half| (ShardDealer::new(2, &self.groups), half));
        let mut dealers: Vec<(ShardDealer<'_>, u32)> =
            std::iter::once(shard).filter(|_| !self.is_dealt).chain(halves).collect();

        items.zip(1..).filter_map(move |(item, place)| match item {
            Ok(item) => {
                let is_mine = dealers.iter_mut().all(|(dealer, mine)| dealer.shard_of(&item) == *mine);
                let place = if self.is_dealt { item.place } else { place };
                is_mine.then(|| Ok(WorkItem { place, ..item }))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

/// Adds everything that affects the result of an item and does not depend on where files are.
pub(crate) fn add_item(hasher: &mut blake3::Hasher, item: &WorkItem) {
    let mut identity = IdentityWriter::new("plan item", VERSION);
    identity.field(&item.suite);
    identity.field(&item.format);
    identity.text(item.case.id.as_str());
    identity.field(&item.source.name_of_target());
    identity.field(&item.trial);
    identity.field(&item.thresholds);
    identity.text(&hash_case(&item.case));

    let ItemRelations { trials, after, on_failure, earlier, .. } = &*item.relations;
    identity.field(trials);
    identity.field(after);
    identity.field(on_failure);
    write_earlier(&mut identity, earlier);

    identity.field(&item.judging);
    identity.field(&item.judging_override);
    identity.field(&matches!(item.source, ItemSource::Given(_)));

    if let Some(conversation) = &item.case.conversation {
        identity.text(&hash_conversation_settings(item, conversation));
    }

    identity.field(&item.case.graders.len());
    for grader in &item.case.graders {
        identity.field(&grader.name);
        identity.field(&grader.weighting);
        identity.text(&hash_settings(item, grader));

        if let GraderKind::Rubric(rubric) = &grader.kind {
            identity.field(rubric.rubric.criteria());
        }
        if let Some((panel, named)) = panel_of(&grader.kind) {
            identity.field(&*item.panels.spec(panel, named));
        }
    }

    hasher.update(&(identity.as_bytes().len() as u64).to_le_bytes());
    hasher.update(identity.as_bytes());
}

/// The panel of a grader with judges, and the judge that it names.
fn panel_of(grader: &GraderKind) -> Option<(&PanelSpec, Option<&str>)> {
    match grader {
        GraderKind::Rubric(rubric) => Some((&rubric.panel, rubric.judge.as_deref())),
        GraderKind::Llm(llm) => Some((&llm.panel, llm.judge.as_deref())),
        GraderKind::Pairwise(pairwise) => Some((&pairwise.panel, pairwise.judge.as_deref())),
        GraderKind::Selection(AnswerSelection::Best(best)) => Some((&best.panel, best.judge.as_deref())),
        _ => None,
    }
}

/// A case of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SuiteCase {
    suite: Arc<str>,
    case_id: String,
}

impl SuiteCase {
    fn new(item: &WorkItem) -> Self {
        Self { suite: Arc::clone(&item.suite), case_id: item.case.id.to_string() }
    }
}

/// Groups of cases that are tied to each other.
#[derive(Debug, Default)]
pub(crate) struct CaseGroups {
    /// Index of the group of each tied case.
    group_of: HashMap<SuiteCase, usize>,
    /// The number of items of each group.
    sizes: Vec<u64>,
}

impl CaseGroups {
    /// Whether no case is tied to another one.
    pub(crate) fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Index of the group of the case of an item.
    pub(crate) fn group_of(&self, item: &WorkItem) -> Option<usize> {
        self.group_of.get(&SuiteCase::new(item)).copied()
    }
}

/// Whether the item is tied to other cases.
fn is_tied(item: &WorkItem) -> bool {
    item.relations.is_awaited
        || item.relations.rivals.is_some()
        || !item.relations.after.is_empty()
        || !item.relations.earlier.is_empty()
        || item.workplace.as_ref().is_some_and(|workplace| workplace.is_shared())
}

/// A shared workspace of a suite and a target, by its identity.
type SharedPlace = (Arc<str>, Option<String>, Vec<u8>);

/// Finds the groups with union-find.
#[derive(Default)]
pub(crate) struct GroupBuilder {
    nodes: HashMap<SuiteCase, usize>,
    /// One case of each shared workspace.
    workplaces: HashMap<SharedPlace, usize>,
    parents: Vec<usize>,
    sizes: Vec<u64>,
}

impl GroupBuilder {
    pub(crate) fn add(&mut self, item: &WorkItem) {
        if !is_tied(item) {
            return;
        }

        let node = self.node(SuiteCase::new(item));
        self.sizes[node] += 1;

        let ItemRelations { after, earlier, rivals, .. } = &*item.relations;
        let before = after.iter().map(|before| &before.case_id);
        let before = before.chain(earlier.iter().map(|earlier| &earlier.case_id));
        let rivals = rivals.iter().flat_map(|group| &group.members).map(|rival| &rival.case_id);
        for case_id in before.chain(rivals) {
            let tied = SuiteCase { suite: Arc::clone(&item.suite), case_id: case_id.clone() };
            let tied = self.node(tied);
            self.join(node, tied);
        }

        if let Some(workplace) = item.workplace.as_ref().filter(|workplace| workplace.is_shared()) {
            let target = item.source.name_of_target().map(str::to_owned);
            let key = (Arc::clone(&item.suite), target, workplace.identity().to_vec());
            let other = *self.workplaces.entry(key).or_insert(node);
            self.join(node, other);
        }
    }

    fn node(&mut self, case: SuiteCase) -> usize {
        let next = self.parents.len();
        let node = *self.nodes.entry(case).or_insert(next);
        if node == next {
            self.parents.push(next);
            self.sizes.push(0);
        }

        node
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            // Path halving: each step shortens the path for later lookups.
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }

        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents[b] = a;
            self.sizes[a] += self.sizes[b];
            self.sizes[b] = 0;
        }
    }

    pub(crate) fn finish(mut self) -> CaseGroups {
        let nodes = std::mem::take(&mut self.nodes);
        let group_of: HashMap<SuiteCase, usize> =
            nodes.into_iter().map(|(case, node)| (case, self.root(node))).collect();

        CaseGroups { group_of, sizes: self.sizes }
    }
}

/// Assigns the items of a plan to its shards, in the order of the plan.
pub(crate) struct ShardDealer<'a> {
    groups: &'a CaseGroups,
    /// Items and index of each shard except the current one, with the fewest items on top.
    loads: BinaryHeap<Reverse<(u64, u32)>>,
    /// The case that is being assigned, with the items and the index of its shard.
    current: Option<(SuiteCase, u64, u32)>,
    /// Shards of the groups that were assigned.
    dealt: HashMap<usize, u32>,
}

impl<'a> ShardDealer<'a> {
    pub(crate) fn new(count: u32, groups: &'a CaseGroups) -> Self {
        Self {
            groups,
            loads: (0..count).map(|shard| Reverse((0, shard))).collect(),
            current: None,
            dealt: HashMap::new(),
        }
    }

    /// Index of the shard of the next item.
    fn shard_of(&mut self, item: &WorkItem) -> u32 {
        if let Some((case, load, shard)) = &mut self.current
            && case.suite == item.suite
            && case.case_id == item.case.id.as_str()
        {
            *load += 1;
            return *shard;
        }

        if let Some((_, load, shard)) = self.current.take() {
            self.loads.push(Reverse((load, shard)));
        }

        let case = SuiteCase::new(item);
        if let Some(&group) = self.groups.group_of.get(&case) {
            return self.deal_group(group);
        }

        let Reverse((load, shard)) = self.lightest();
        self.current = Some((case, load + 1, shard));
        shard
    }

    /// Index of the shard for the next case, with all its items at once.
    pub(crate) fn deal(&mut self, group: Option<usize>, items: u32) -> u32 {
        if let Some(group) = group {
            return self.deal_group(group);
        }

        let Reverse((load, shard)) = self.lightest();
        self.loads.push(Reverse((load + u64::from(items), shard)));
        shard
    }

    fn deal_group(&mut self, group: usize) -> u32 {
        if let Some(shard) = self.dealt.get(&group) {
            return *shard;
        }

        let Reverse((load, shard)) = self.lightest();
        self.loads.push(Reverse((load + self.groups.sizes[group], shard)));
        self.dealt.insert(group, shard);
        shard
    }

    fn lightest(&mut self) -> Reverse<(u64, u32)> {
        // There is at least one shard, and `loads` has all of them because none is the current one.
        self.loads.pop().unwrap_or(Reverse((0, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_halves_of_halves() {
        let whole = ShardPart::default();
        let [first, second] = whole.halves();
        assert!(whole.is_whole() && !first.is_whole());
        assert_eq!(second.halves().map(|part| part.as_str().to_owned()), ["21", "22"]);
        assert!(first.halves()[1].is_within(&first) && !first.is_within(&second));
        assert_eq!("12".parse(), Ok(first.halves()[1].clone()));
        assert_eq!("13".parse::<ShardPart>(), Err(ShardPartError));
    }

    #[test]
    fn shards_are_numbered_from_one_and_messages_say_what_to_write() {
        let shard: ShardNumber = "2/4".parse().unwrap();
        assert_eq!((shard.number(), shard.count(), shard.to_string().as_str()), (2, 4, "2/4"));
        assert!("1/1".parse::<ShardNumber>().is_ok() && "100000/100000".parse::<ShardNumber>().is_ok());

        for (text, error) in [
            ("0/4", ShardNumberError::Zero(4)),
            ("5/4", ShardNumberError::Beyond(5, 4)),
            ("1/0", ShardNumberError::Count),
            ("1/100001", ShardNumberError::Count),
        ] {
            assert_eq!(text.parse::<ShardNumber>(), Err(error), "{text}");
        }
        for text in
            ["", "2", "2/", "/4", "a/4", "2/4/8", "-1/4", "+1/4", " 1/4", "1/4 ", "1.5/4", "99999999999/4"]
        {
            assert_eq!(text.parse::<ShardNumber>(), Err(ShardNumberError::Form), "{text:?}");
        }
        assert!(ShardNumberError::Zero(4).to_string().contains("--shard $((INDEX + 1))/4"));
    }
}
