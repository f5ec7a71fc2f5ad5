//! Identities of given outputs, conversations and dependencies.

use assize_rubric::identify_enum;

use crate::{GivenOutput, OnDependencyFailure, OnTurnFailure, TurnAggregation};

identify_enum!(GivenOutput { Text(text) = "text", Json(value) = "json", Messages(messages) = "messages" });
identify_enum!(TurnAggregation { Mean = "mean", Min = "min", Max = "max" });
identify_enum!(OnTurnFailure { Continue = "continue", Stop = "stop" });
identify_enum!(OnDependencyFailure { Skip = "skip", Fail = "fail", Run = "run" });
