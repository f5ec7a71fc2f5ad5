//! The tree itself: groups (rubrics, components, an index) and benchmarks.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ScorecardAggregation, UnitInterval, Weight};

crate::named_enum! {
    /// Effect of a benchmark's failure on the nodes above.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
    pub enum Criticality {
        /// A failure blocks all nodes above, regardless of their scores.
        HardGate = "hard_gate",
        /// The score counts by its weight; the parent can pass despite a failure.
        #[default]
        ThresholdGate = "threshold_gate",
        /// Reported only; neither counts nor blocks.
        ImprovementSignal = "improvement_signal",
    }
}

impl fmt::Display for Criticality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum ScorecardNodeKind {
    /// An inner node, scored from the nodes below it.
    Group {
        /// Formula that computes the score from the children's scores.
        aggregation: ScorecardAggregation,
        /// True if a score below the threshold blocks every level above.
        hard_gate: bool,
    },
    /// A benchmark, scored over cases.
    Benchmark {
        /// Effect of a score below the threshold on the levels above.
        criticality: Criticality,
    },
}

/// One node: a benchmark, a rubric, a component or an index.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardNode {
    /// Its code, such as `A-SFT1`.
    pub code: Arc<str>,
    /// Its weight among its siblings; not negative.
    pub weight: Weight,
    /// The pass threshold of the node.
    pub line: UnitInterval,
    /// Kind of the node.
    pub kind: ScorecardNodeKind,
}

/// Id of a node of a [`ScoreTree`]. Nodes are numbered in the order in which they were added, the root first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScorecardNodeId(pub(super) usize);

impl ScorecardNodeId {
    /// Index of the node, 0 for the root.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Why a node can't be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreTreeError {
    /// The parent is a benchmark, or a node of another tree.
    #[error("`{0}` can only be below a rubric of the same scorecard")]
    NoSuchGroup(Arc<str>),
    /// The weight is negative; weights of a scorecard are shares of a score.
    #[error("the weight of `{0}` is negative")]
    NegativeWeight(Arc<str>),
}

/// A scorecard's tree. Every node comes after its parent, so one pass over the list in either direction
/// visits parents or children first, at any depth.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTree {
    pub(super) nodes: Vec<ScorecardNode>,
    pub(super) parents: Vec<Option<usize>>,
    pub(super) children: Vec<Vec<usize>>,
}

impl ScoreTree {
    /// Creates a tree of one node.
    pub fn new(root: ScorecardNode) -> Self {
        Self { nodes: vec![root], parents: vec![None], children: vec![Vec::new()] }
    }

    /// Adds a node below a group.
    pub fn add_node(
        &mut self,
        parent: ScorecardNodeId,
        node: ScorecardNode,
    ) -> Result<ScorecardNodeId, ScoreTreeError> {
        if node.weight.is_penalty() {
            return Err(ScoreTreeError::NegativeWeight(node.code));
        }

        if !matches!(
            self.nodes.get(parent.0),
            Some(ScorecardNode { kind: ScorecardNodeKind::Group { .. }, .. })
        ) {
            return Err(ScoreTreeError::NoSuchGroup(node.code));
        }

        let id = self.nodes.len();
        self.nodes.push(node);
        self.parents.push(Some(parent.0));
        self.children.push(Vec::new());
        self.children[parent.0].push(id);

        Ok(ScorecardNodeId(id))
    }

    /// Id of the root.
    pub const fn root(&self) -> ScorecardNodeId {
        ScorecardNodeId(0)
    }

    /// Ids of all nodes, parents before children.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ScorecardNodeId> + use<> {
        (0..self.nodes.len()).map(ScorecardNodeId)
    }

    /// Returns a node; `None` for an id of another tree.
    pub fn node(&self, id: ScorecardNodeId) -> Option<&ScorecardNode> {
        self.nodes.get(id.0)
    }

    /// Id of the parent; `None` for the root.
    pub fn parent(&self, id: ScorecardNodeId) -> Option<ScorecardNodeId> {
        self.parents.get(id.0).copied().flatten().map(ScorecardNodeId)
    }

    /// Ids of the children, in order.
    pub fn children(&self, id: ScorecardNodeId) -> impl Iterator<Item = ScorecardNodeId> + '_ {
        self.children.get(id.0).into_iter().flatten().map(|&index| ScorecardNodeId(index))
    }

    /// Returns true if a node's score counts for its parent's score.
    pub(super) fn is_counted(&self, index: usize) -> bool {
        !matches!(
            self.nodes[index].kind,
            ScorecardNodeKind::Benchmark { criticality: Criticality::ImprovementSignal }
        )
    }
}
