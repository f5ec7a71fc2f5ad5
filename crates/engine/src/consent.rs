//! Whether files may start programs, send values of the environment and read files elsewhere: the one place that decides it.

use std::path::{Path, PathBuf};

use assize_model::FilePosition;
use assize_process::ProgramConsent;

use crate::capability::{CapabilityList, line_of_variable};
use crate::options::ProgramUse;
use crate::process::ProcessContext;
use crate::trust::TrustedFolders;

/// Permissions of the files of an operation.
#[derive(Debug, Clone)]
pub(crate) struct ConsentGate {
    rule: GateRule,
    /// False if no program may be started, under any rule.
    starts_programs: bool,
    working_folder: PathBuf,
}

#[derive(Debug, Clone)]
enum GateRule {
    /// All files may.
    Open(ProgramConsent),
    /// Only files in trusted folders may.
    Trusted(ProgramConsent, TrustedFolders),
    /// No file may, because not all files of the operation are trusted. The text is why the list of trusted folders
    /// can't be used.
    Closed(Option<String>),
    /// No file may, even if the user's settings allow it.
    Refused,
}

impl ConsentGate {
    /// Decides for an operation with these files. Trust in a folder does not extend to files elsewhere, so all files of
    /// the operation must be in trusted folders.
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

        Self { rule, starts_programs: true, working_folder }
    }

    /// The gate without programs.
    pub(crate) fn without_programs(self) -> Self {
        Self { starts_programs: false, ..self }
    }

    /// Consent to start programs that a file names; without a file, programs that the files of the operation name.
    pub(crate) fn programs_of(&self, file: Option<&Path>) -> Option<ProgramConsent> {
        self.consent_for(file).filter(|_| self.starts_programs)
    }

    /// The user's consent to the requests of a file; without a file, to the requests of all files of the operation.
    fn consent_for(&self, file: Option<&Path>) -> Option<ProgramConsent> {
        match &self.rule {
            GateRule::Open(consent) => Some(*consent),
            GateRule::Trusted(consent, trusted) => {
                let is_covered = |file: &Path| trusted.cover(&self.working_folder.join(file));
                file.is_none_or(is_covered).then_some(*consent)
            }
            GateRule::Closed(_) | GateRule::Refused => None,
        }
    }

    /// The refusal of all requests without consent, with their positions; `None` if there are none.
    pub(crate) fn refusal(&self, asked: &CapabilityList) -> Option<String> {
        let lacks_consent = |place: &FilePosition| self.consent_for(Some(place.path())).is_none();
        let programs: Vec<String> = asked
            .programs
            .iter()
            .filter(|program| !self.starts_programs || lacks_consent(&program.place))
            .map(|program| format!("\n  {}: {}", program.place, program.what))
            .collect();
        let variables: Vec<String> = asked
            .variables
            .iter()
            .filter(|sent| lacks_consent(&sent.place))
            .map(|sent| format!("\n  {}", line_of_variable(sent)))
            .collect();
        if programs.is_empty() && variables.is_empty() {
            return None;
        }

        let mut parts = Vec::new();
        let is_refused = matches!(self.rule, GateRule::Refused);
        if !programs.is_empty() {
            let list = programs.concat();
            parts.push(if is_refused || !self.starts_programs {
                format!("programs are not allowed here, and these are needed:{list}")
            } else {
                format!("programs of files run only with `--allow-code`, or in folders that you trust:{list}")
            });
        }
        if !variables.is_empty() {
            let list = variables.concat();
            parts.push(if is_refused {
                format!("values of the environment are not sent from here, and these files send some:{list}")
            } else {
                format!(
                    "files may send values of the environment only with `--allow-code`, or in folders that you trust:{list}"
                )
            });
        }
        if !is_refused {
            parts.push(match (programs.is_empty(), variables.is_empty()) {
                (false, true) => format!("They get your permissions. {ADVICE}"),
                (true, _) => format!("{ADVICE}. A command without that option takes `ASSIZE_ALLOW_CODE=1`"),
                (false, false) => format!("Programs get your permissions. {ADVICE}"),
            });
        }
        if let GateRule::Closed(Some(problem)) = &self.rule {
            parts.push(problem.clone());
        }
        Some(parts.join("\n"))
    }
}

/// How to consent.
const ADVICE: &str = "Look at them, then add `--allow-code`, or run `assize trust DIR` once";
