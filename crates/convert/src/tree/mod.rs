//! Trees of weighted requirements: the intermediate form between the trees of benchmarks, scorecards and flat
//! rubrics.

mod flatten;
mod scorecard;

pub(crate) use flatten::flatten_tree;
pub(crate) use scorecard::scorecard_value;

/// A named tree.
#[derive(Debug, Clone)]
pub(crate) struct RequirementTree {
    pub(crate) name: String,
    pub(crate) root: RequirementBranch,
    /// Number of nodes that had a score.
    pub(crate) graded: usize,
}

/// The decision of a person or a judge on a leaf.
#[derive(Debug, Clone)]
pub(crate) struct LeafGrade {
    /// Score from 0 to 1.
    pub(crate) score: f64,
    pub(crate) note: Option<String>,
}

/// A requirement that consists of other requirements.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequirementBranch {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Weight among its siblings; not negative.
    pub(crate) weight: f64,
    pub(crate) parts: Vec<RequirementNode>,
    /// Pass threshold; `None` for the default.
    pub(crate) threshold: Option<f64>,
    /// Task for the target, if known.
    pub(crate) input: Option<String>,
    pub(crate) line: Option<usize>,
}

/// A requirement that is judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequirementLeaf {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) weight: f64,
    /// True if failing it fails every branch above it.
    pub(crate) hard: bool,
    /// Lowest score and text of each score range, on a scale from 0 to 10.
    pub(crate) bands: Vec<(u8, String)>,
    pub(crate) category: Option<String>,
    pub(crate) prerequisites: Vec<String>,
    pub(crate) line: Option<usize>,
    /// Decision about one submission, in a graded tree.
    pub(crate) grade: Option<LeafGrade>,
}

#[derive(Debug, Clone)]
pub(crate) enum RequirementNode {
    Branch(RequirementBranch),
    Leaf(RequirementLeaf),
}

impl RequirementNode {
    pub(crate) fn weight(&self) -> f64 {
        match self {
            Self::Branch(branch) => branch.weight,
            Self::Leaf(leaf) => leaf.weight,
        }
    }
}

impl RequirementBranch {
    pub(crate) fn new(id: impl Into<String>, text: impl Into<String>, weight: f64) -> Self {
        Self { id: id.into(), text: text.into(), weight, ..Self::default() }
    }
}

impl RequirementLeaf {
    pub(crate) fn new(id: impl Into<String>, text: impl Into<String>, weight: f64) -> Self {
        Self { id: id.into(), text: text.into(), weight, ..Self::default() }
    }
}
