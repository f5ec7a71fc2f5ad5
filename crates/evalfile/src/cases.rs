//! Cases of a suite, in memory or read again line by line.

use std::path::Path;
use std::sync::Arc;

use assize_model::{Case, CaseLoadError, CasePlace};

use crate::decode::{CaseCollector, CaseSource, DatasetCases, PickedCases};

/// The valid cases of a suite, in the order of its files. Cheap to clone.
///
/// Cases of YAML files are kept in memory; the cases of a JSONL dataset are read from the file each time, so
/// that memory use does not grow with their number.
#[derive(Clone, Default)]
pub struct SuiteCases {
    parts: Arc<[CaseSource]>,
    broken: usize,
    outside: usize,
    have_dependencies: bool,
}

impl CaseCollector {
    /// Returns the collected cases.
    pub fn into_cases(self) -> SuiteCases {
        let outside = self.outside;
        SuiteCases { outside, ..SuiteCases::new(self.parts, self.broken, !self.dependencies.is_empty()) }
    }
}

impl SuiteCases {
    pub(crate) fn new(parts: Vec<CaseSource>, broken: usize, have_dependencies: bool) -> Self {
        Self { parts: parts.into(), broken, outside: 0, have_dependencies }
    }

    /// Returns true if any case depends on another one. The first check of the cases recorded this, so no file
    /// is read.
    pub const fn have_dependencies(&self) -> bool {
        self.have_dependencies
    }

    /// Returns true if a grader of any case compares all answers to it. The first check of the cases recorded
    /// this, so no file is read.
    pub fn compare_answers(&self) -> bool {
        self.parts.iter().any(|part| match part {
            CaseSource::Kept(cases) => cases.iter().any(|case| case.compares_answers()),
            CaseSource::Dataset(dataset) => dataset.selects,
        })
    }

    /// Returns true if any case takes over answers to others. Cases of datasets don't.
    pub fn take_over_answers(&self) -> bool {
        self.kept().any(|case| case.history.is_some())
    }

    /// Iterates over the cases that are kept in memory, which excludes the cases of datasets.
    pub fn kept(&self) -> impl Iterator<Item = &Arc<Case>> {
        self.parts.iter().flat_map(|part| match part {
            CaseSource::Kept(cases) => &cases[..],
            CaseSource::Dataset(_) => &[],
        })
    }

    /// Returns the number of cases that were excluded because they are invalid.
    pub fn invalid_count(&self) -> usize {
        self.broken + self.parts.iter().map(CaseSource::invalid_count).sum::<usize>()
    }

    /// Returns true if the file has errors outside of its cases. No case may be run then, because a setting
    /// that was not understood might apply to any of them.
    pub const fn have_errors_outside(&self) -> bool {
        self.outside > 0
    }

    /// Returns the number of cases.
    pub fn len(&self) -> usize {
        self.parts
            .iter()
            .map(|part| match part {
                CaseSource::Kept(cases) => cases.len(),
                CaseSource::Dataset(dataset) => dataset.count,
            })
            .sum()
    }

    /// Returns the paths of the datasets that cases are read from.
    pub fn datasets(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter_map(|part| match part {
            CaseSource::Kept(_) => None,
            CaseSource::Dataset(dataset) => Some(&*dataset.path),
        })
    }

    /// Returns true if there are no cases.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the cases from the beginning. An error ends the iteration: the dataset has changed since it was
    /// checked.
    pub fn iter(&self) -> CaseIter {
        let parts = Arc::clone(&self.parts);
        CaseIter { parts, part: 0, kept: 0, dataset: None, failed: false, ahead: false }
    }

    /// Reads the cases, decoding the lines of large datasets ahead on other threads. This is faster if the
    /// processors are otherwise idle; use [`SuiteCases::iter`] if they are not.
    pub fn iter_ahead(&self) -> CaseIter {
        CaseIter { ahead: true, ..self.iter() }
    }

    /// Reads the cases at these indexes and places. The indexes must be ascending. An error ends the iteration.
    pub fn pick<'c>(
        &'c self,
        cases: impl Iterator<Item = (usize, CasePlace)> + 'c,
    ) -> impl Iterator<Item = Result<Arc<Case>, CaseLoadError>> + 'c {
        let mut opened: Option<(usize, PickedCases)> = None;
        let (mut part, mut before) = (0, 0);
        let mut failed = false;
        cases.map_while(move |(index, place)| {
            while !failed {
                let source = self.parts.get(part)?;
                let within = index - before;
                match source {
                    CaseSource::Kept(cases) if within < cases.len() => {
                        return Some(Ok(Arc::clone(&cases[within])));
                    }
                    CaseSource::Dataset(dataset) if within < dataset.count => {
                        let mut read = || -> Result<Arc<Case>, CaseLoadError> {
                            let (_, cases) = match &mut opened {
                                Some(opened) if opened.0 == part => opened,
                                other => other.insert((part, PickedCases::new(dataset)?)),
                            };
                            cases.read(place)
                        };
                        let case = read();
                        failed = case.is_err();
                        return Some(case);
                    }
                    CaseSource::Kept(cases) => before += cases.len(),
                    CaseSource::Dataset(dataset) => before += dataset.count,
                }
                part += 1;
            }
            None
        })
    }
}

impl std::fmt::Debug for SuiteCases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cases").field("len", &self.len()).finish()
    }
}

impl IntoIterator for &SuiteCases {
    type Item = Result<Arc<Case>, CaseLoadError>;
    type IntoIter = CaseIter;

    fn into_iter(self) -> CaseIter {
        self.iter()
    }
}

/// Iterator over the cases of a suite. Owns its data, so it can move to another thread.
pub struct CaseIter {
    parts: Arc<[CaseSource]>,
    part: usize,
    kept: usize,
    dataset: Option<DatasetCases>,
    failed: bool,
    /// True if lines are decoded ahead.
    ahead: bool,
}

impl Iterator for CaseIter {
    type Item = Result<Arc<Case>, CaseLoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_placed()?.map(|(_, case)| case))
    }
}

impl CaseIter {
    /// Returns the next case and its place; [`SuiteCases::pick`] uses the place to read the case again.
    pub fn next_placed(&mut self) -> Option<Result<(CasePlace, Arc<Case>), CaseLoadError>> {
        while !self.failed {
            match self.parts.get(self.part)? {
                CaseSource::Kept(cases) => {
                    if let Some(case) = cases.get(self.kept) {
                        self.kept += 1;
                        return Some(Ok((CasePlace::default(), Arc::clone(case))));
                    }
                }
                CaseSource::Dataset(dataset) => {
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
