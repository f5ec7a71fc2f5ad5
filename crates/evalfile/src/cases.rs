//! The cases of a suite, in memory or read again line by line.

use std::path::Path;
use std::sync::Arc;

use crate::decode::{CaseLoadError, DatasetCases, Part};
use crate::model::Case;

/// The sound cases of a suite, in the order of its files. Cheap to clone.
///
/// Cases of YAML files are kept; those of a JSONL dataset are read again each time, so that memory does
/// not grow with their number.
#[derive(Clone, Default)]
pub struct Cases {
    parts: Arc<[Part]>,
    broken: usize,
    have_dependencies: bool,
}

impl Cases {
    pub(crate) fn new(parts: Vec<Part>, broken: usize, have_dependencies: bool) -> Self {
        Self { parts: parts.into(), broken, have_dependencies }
    }

    /// Whether any of them depends on another one. It was noted when they were checked, so nothing is read for it.
    pub const fn have_dependencies(&self) -> bool {
        self.have_dependencies
    }

    /// How many cases were left out because they are not sound.
    pub fn left_out(&self) -> usize {
        let in_datasets = self.parts.iter().map(|part| match part {
            Part::Kept(_) => 0,
            Part::Dataset(dataset) => dataset.broken.len(),
        });
        self.broken + in_datasets.sum::<usize>()
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Kept(cases) => cases.len(),
                Part::Dataset(dataset) => dataset.count,
            })
            .sum()
    }

    /// The datasets that the cases are read from again.
    pub fn datasets(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter_map(|part| match part {
            Part::Kept(_) => None,
            Part::Dataset(dataset) => Some(&*dataset.path),
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the cases from the beginning. An error ends the reading: the dataset is not the one that
    /// was checked.
    pub fn iter(&self) -> CaseIter {
        let parts = Arc::clone(&self.parts);
        CaseIter { parts, part: 0, kept: 0, dataset: None, failed: false, ahead: false }
    }

    /// The same, faster as a whole: the lines of a large dataset are decoded ahead, on threads of their own. Whoever has work
    /// for all processors in the meantime takes them one by one.
    pub fn iter_at_once(&self) -> CaseIter {
        CaseIter { ahead: true, ..self.iter() }
    }
}

impl std::fmt::Debug for Cases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cases").field("len", &self.len()).finish()
    }
}

impl IntoIterator for &Cases {
    type Item = Result<Arc<Case>, CaseLoadError>;
    type IntoIter = CaseIter;

    fn into_iter(self) -> CaseIter {
        self.iter()
    }
}

/// One reading of the cases of a suite. Owns what it needs, so it can move to another thread.
pub struct CaseIter {
    parts: Arc<[Part]>,
    part: usize,
    kept: usize,
    dataset: Option<DatasetCases>,
    failed: bool,
    /// Whether lines are decoded ahead.
    ahead: bool,
}

impl Iterator for CaseIter {
    type Item = Result<Arc<Case>, CaseLoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            match self.parts.get(self.part)? {
                Part::Kept(cases) => {
                    if let Some(case) = cases.get(self.kept) {
                        self.kept += 1;
                        return Some(Ok(Arc::clone(case)));
                    }
                }
                Part::Dataset(dataset) => {
                    let reading =
                        self.dataset.get_or_insert_with(|| DatasetCases::new(dataset.clone(), self.ahead));
                    if let Some(result) = reading.next_case() {
                        self.failed = result.is_err();
                        return Some(result);
                    }
                }
            }
            self.part += 1;
            self.kept = 0;
            self.dataset = None;
        }
        None
    }
}
