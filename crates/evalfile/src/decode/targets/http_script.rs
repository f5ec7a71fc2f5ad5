//! Scripts of HTTP targets: one finds the answer in a response, and one recognises a success by its status.

use assize_script::{Script, ScriptError};

/// Names of the values that `response` has.
pub const RESPONSE_PARAMETERS: [&str; 3] = ["json", "text", "context"];
/// Name of the value that `status` has.
pub(crate) const STATUS_PARAMETERS: [&str; 1] = ["status"];

/// Script of `response` or `status`: an expression, a function, or the body of one.
pub fn response_script(code: &str, parameters: &[&str]) -> Result<Script, ScriptError> {
    let code = code.trim().trim_end_matches(';');
    let call = parameters.join(", ");
    let expression = format!("const it = ({code}\n);\nreturn typeof it === 'function' ? it({call}) : it;");
    let script = Script::from_code(&expression);
    if script.check(parameters).is_ok() {
        return Ok(script);
    }

    let script = Script::from_code(code);
    script.check(parameters)?;
    Ok(script)
}
