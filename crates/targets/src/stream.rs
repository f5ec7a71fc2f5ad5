//! The answer of an agent that prints its log as a stream of records.

use std::time::Duration;

use assize_trace::{LogFormat, TraceLogError};

use crate::{TargetAnswer, TargetError, TargetErrorKind, traced_answer};

/// Reads the output of an agent. `measured` is the duration unless the stream contains one.
pub(crate) fn parse_stream(
    bytes: &[u8],
    format: LogFormat,
    measured: Duration,
) -> Result<TargetAnswer, TargetError> {
    let malformed = |message: String| TargetError::new(TargetErrorKind::Malformed, message);
    let read = match assize_trace::read_log(bytes, Some(format)) {
        Ok(read) => read,
        Err(TraceLogError::Empty) => {
            let message = "the agent printed nothing";
            return Err(TargetError::new(TargetErrorKind::NoAnswer, message));
        }
        Err(error) => return Err(malformed(format!("the agent's output can't be read: {error}"))),
    };

    let Some(trace) = read.traces.last() else {
        let problem = match read.problems.first() {
            Some(problem) => format!("line {}: {}", problem.line, problem.message),
            None => format!("all of its {} records are of unknown kinds", read.records),
        };
        return Err(malformed(format!(
            "the agent's output is not in the format `{}`: {problem}",
            format.name()
        )));
    };

    let answer = traced_answer(trace).map_err(|error| TargetError { attempts: 1, ..error })?;
    let duration = trace.duration.unwrap_or(measured);
    Ok(TargetAnswer { duration, attempts: 1, ..answer })
}
