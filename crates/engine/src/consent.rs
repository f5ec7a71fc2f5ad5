//! Whether programs that files name may be started: the one place that decides it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assize_model::NamedProgram;
use assize_process::ProgramConsent;

use crate::options::ProgramUse;
use crate::process::ProcessContext;
use crate::trust::TrustedFolders;

/// The programs that the files of an operation may start.
#[derive(Debug, Clone)]
pub(crate) struct ProgramGate {
    rule: GateRule,
    working_folder: PathBuf,
}

#[derive(Debug, Clone)]
enum GateRule {
    /// All of them.
    Open(ProgramConsent),
    /// Those that files in trusted folders name.
    Trusted(ProgramConsent, TrustedFolders),
    /// None, because not all files of the operation are trusted. The text is why the list of trusted folders can't be
    /// used.
    Closed(Option<String>),
    /// None, whatever the user chose elsewhere.
    Refused,
}

impl ProgramGate {
    /// Decides for an operation with these files. A folder is trusted with its own files, not with files of others that
    /// run beside them, so all of them must be in trusted folders.
    pub(crate) fn new(process: &ProcessContext, programs: ProgramUse, files: &[PathBuf]) -> Self {
        let consent = ProgramConsent::of_user();
        let working_folder = process.working_folder.clone();
        let rule = match programs {
            ProgramUse::Refuse => GateRule::Refused,
            ProgramUse::Allow => GateRule::Open(consent),
            ProgramUse::AsTrusted if process.allows_programs() => GateRule::Open(consent),
            ProgramUse::AsTrusted => match process.trusted_folders() {
                Err(problem) => GateRule::Closed(Some(problem)),
                Ok(trusted) => {
                    let covers = |file: &PathBuf| trusted.cover(&working_folder.join(file));
                    if !files.is_empty() && files.iter().all(covers) {
                        GateRule::Trusted(consent, trusted)
                    } else {
                        GateRule::Closed(None)
                    }
                }
            },
        };

        Self { rule, working_folder }
    }

    /// A gate that is closed, whatever the user chose.
    pub(crate) fn refused() -> Self {
        Self { rule: GateRule::Refused, working_folder: PathBuf::new() }
    }

    /// Consent to start programs that a file names; without a file, those that the files of the operation name.
    pub(crate) fn consent_for(&self, file: Option<&Path>) -> Option<ProgramConsent> {
        match &self.rule {
            GateRule::Open(consent) => Some(*consent),
            GateRule::Trusted(consent, trusted) => {
                let is_covered = |file: &Path| trusted.cover(&self.working_folder.join(file));
                file.is_none_or(is_covered).then_some(*consent)
            }
            GateRule::Closed(_) | GateRule::Refused => None,
        }
    }

    /// The refusal of all programs without consent, with the position and command of each; `None` if there are none.
    pub(crate) fn refusal(&self, programs: &BTreeSet<NamedProgram>) -> Option<String> {
        let refused: Vec<String> = programs
            .iter()
            .filter(|program| self.consent_for(Some(program.place.path())).is_none())
            .map(|program| format!("\n  {}: {}", program.place, program.what))
            .collect();
        if refused.is_empty() {
            return None;
        }

        let list = refused.concat();
        if matches!(self.rule, GateRule::Refused) {
            return Some(format!("programs are not allowed here, and these are needed:{list}"));
        }
        let problem = match &self.rule {
            GateRule::Closed(Some(problem)) => format!("\n{problem}"),
            _ => String::new(),
        };
        Some(format!(
            "programs of files run only with `--allow-code`, or in folders that you trust:{list}\n\
             They get your permissions. Look at them, then add `--allow-code`, or run `assize trust DIR` once{problem}"
        ))
    }
}
