//! Identities of panels.

use assize_rubric::{identify_enum, identify_struct};

use crate::{Escalation, PanelJudge, PanelSpec, ScoringMethod};

identify_struct!(PanelSpec { judges, repeats, combine, ties, temperature, escalate, scoring });
identify_struct!(PanelJudge { name, weight });
identify_struct!(Escalation { to, when });
identify_enum!(ScoringMethod { Written = "written", Logprobs = "logprobs" });
