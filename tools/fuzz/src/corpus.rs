//! Seeds that inputs are made from.

use std::fs;
use std::path::{Path, PathBuf};

use crate::FuzzTarget;

/// Maximum size of a seed. Small inputs are faster to read and find the same bugs.
const MAX_SEED_BYTES: usize = 6 * 1024;
/// Maximum depth of the folders that seeds are taken from.
const MAX_DEPTH: usize = 8;

/// The seeds of a target.
#[derive(Debug, Clone)]
pub struct SeedCorpus {
    /// Texts, in the order of their paths.
    pub seeds: Vec<Vec<u8>>,
}

impl SeedCorpus {
    /// Reads the seeds of a target from the repository.
    ///
    /// # Panics
    /// If there are none, because then the target can't be fuzzed.
    pub fn load(target: FuzzTarget) -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = own.join("../..");
        let (folders, endings): (Vec<PathBuf>, &[&str]) = match target {
            FuzzTarget::Yaml => (
                vec![root.join("fixtures"), root.join("examples"), own.join("seeds/trees")],
                &["yaml", "yml"],
            ),
            FuzzTarget::Json => (
                vec![root.join("fixtures"), root.join("schemas"), own.join("seeds/trees")],
                &["json", "jsonl", "case"],
            ),
            FuzzTarget::Suite | FuzzTarget::LanguageServer => {
                let folders = vec![root.join("fixtures"), root.join("examples"), own.join("seeds/trees")];
                (folders, &["yaml", "yml", "jsonl", "json"])
            }
            FuzzTarget::Reply => (vec![own.join("seeds/replies")], &["txt"]),
            FuzzTarget::Request => (vec![own.join("seeds/requests")], &["json"]),
            FuzzTarget::Adapter => (vec![own.join("seeds/adapters")], &["json"]),
            FuzzTarget::Records => (vec![root.join("crates/records/tests/data")], &["eval", "json", "jsonl"]),
            FuzzTarget::RunFolder => (vec![root.join("crates/store/tests/data")], &["json", "jsonl"]),
        };

        let mut paths = Vec::new();
        for folder in folders {
            find_files(&folder, endings, MAX_DEPTH, &mut paths);
        }

        paths.sort();
        let read = paths.iter().filter_map(|path| fs::read(path).ok());
        let seeds: Vec<Vec<u8>> =
            read.filter(|text| !text.is_empty() && text.len() <= MAX_SEED_BYTES).collect();
        assert!(!seeds.is_empty(), "no seeds for {}", target.name());

        Self { seeds }
    }
}

fn find_files(folder: &Path, endings: &[&str], depth: usize, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth > 1 {
                find_files(&path, endings, depth - 1, into);
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            into.push(path);
        }
    }
}
