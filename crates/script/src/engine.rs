//! The engine that runs scripts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use assize_limits::{MATRIX_VALUE_BYTES, json_memory};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Error, Function, Module, Runtime, Value as JsValue,
};
use serde_json::Value;

use crate::es_module::looks_like_es_module;
use crate::{
    MAX_SCRIPT_BYTES, MAX_SCRIPT_MEMORY, MAX_SCRIPT_STEPS, MAX_SCRIPT_TIME, Script, ScriptError, ScriptValue,
};

/// Maximum size of the stack of a call.
const MAX_STACK: usize = 256 * 1024;

/// Globals that scripts expect. Random numbers are the same in every call, so that a script is deterministic.
///
/// The engine counts branches, but a single branch that calls a method on a long text may take as long as a million
/// others. So methods that process a whole text or list count branches in proportion to its length. A list that is
/// longer than memory allows has no elements, and its methods would only count.
const GLOBALS: &str = "
globalThis.console = { log() {}, info() {}, warn() {}, error() {}, debug() {} };
{
  let seed = 0x9e3779b9;
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
(function () {
  'use strict';
  const call = Reflect.apply;
  const wholes = {
    String: 'includes indexOf lastIndexOf normalize replace replaceAll split toLowerCase toUpperCase',
    Array: 'concat fill flat includes indexOf join lastIndexOf reverse sort toReversed toSorted',
  };
  for (const kind of [String, Array]) {
    for (const name of wholes[kind.name].split(' ')) {
      const method = kind.prototype[name];
      const isSearch = /^includes|ndexOf$/.test(name);
      const counted = {
        [name](...given) {
          const isObject = typeof this === 'object' && this !== null;
          const size = typeof this === 'string' || isObject ? this.length : 0;
          if (isObject && size > 16777216) throw new RangeError(`${name}: the list is too long`);
          if (!isSearch || given.length < 2) for (let left = size < 320000 ? size >> 5 : 10000; left > 0; left--);
          return call(method, this, given);
        },
      }[name];
      Object.defineProperty(counted, 'length', { value: method.length, configurable: true });
      Object.defineProperty(kind.prototype, name, { value: counted, writable: true, configurable: true });
    }
  }
})();";

/// Checks the syntax of a script, without running it.
pub(crate) fn check(script: &Script, parameters: &[&str]) -> Result<(), ScriptError> {
    ScriptSession::new(script.text(), MAX_SCRIPT_TIME)?.context.with(|ctx| {
        if script.is_file() && is_es_module(script.text()) {
            return Module::declare(ctx.clone(), "script", script.text().as_bytes())
                .catch(&ctx)
                .map(|_| ())
                .map_err(|error| syntax_error(&error));
        }

        let source = if script.is_file() {
            common_js_function(script.text())
        } else {
            function_source(script, parameters)
        };
        compile(&ctx, &source)
    })
}

/// Calls a script with named values. If it is a file that exports a value and no function, `takes_value` returns the
/// value.
pub(crate) fn call(
    script: &Script,
    arguments: &[(&str, &Value)],
    time: Duration,
    takes_value: bool,
) -> Result<ScriptValue, ScriptError> {
    ScriptSession::new(script.text(), time)?.call(script, arguments, takes_value)
}

/// Whether the text of a file is an ES module: it can't be compiled as the function that a CommonJS file is, but as a
/// module. A file that can be neither is one if a line looks like it, so that the error is about that reading.
pub fn is_es_module(text: &str) -> bool {
    looks_like_es_module(text) && !is_common_js(text)
}

/// Whether a text can be compiled as the function that a CommonJS file is. It is not run.
fn is_common_js(text: &str) -> bool {
    ScriptSession::new(text, MAX_SCRIPT_TIME)
        .is_ok_and(|session| session.context.with(|ctx| compile(&ctx, &common_js_function(text)).is_ok()))
}

/// An engine for one call.
struct ScriptSession {
    context: Context,
    /// The limit that stopped the call, as one of the constants below.
    reached: Arc<AtomicU8>,
}

const REACHED_STEPS: u8 = 1;
const REACHED_TIME: u8 = 2;

impl ScriptSession {
    /// An engine for this text. A text that is too long gets none: compiling takes many times its size.
    fn new(text: &str, time: Duration) -> Result<Self, ScriptError> {
        if text.len() > MAX_SCRIPT_BYTES {
            return Err(ScriptError::TooLarge(MAX_SCRIPT_BYTES / 1024));
        }

        let failed = |error: Error| ScriptError::Result(error.to_string());
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MAX_SCRIPT_MEMORY);
        runtime.set_max_stack_size(MAX_STACK);

        let reached = Arc::new(AtomicU8::new(0));
        let (mut steps, begun, limit) = (0, Instant::now(), Arc::clone(&reached));
        runtime.set_interrupt_handler(Some(Box::new(move || {
            steps += 1;
            if steps > MAX_SCRIPT_STEPS {
                limit.store(REACHED_STEPS, Ordering::Relaxed);
            } else if begun.elapsed() > time {
                limit.store(REACHED_TIME, Ordering::Relaxed);
            } else {
                return false;
            }
            true
        })));

        Ok(Self { context: Context::full(&runtime).map_err(failed)?, reached })
    }

    fn call(
        &self,
        script: &Script,
        arguments: &[(&str, &Value)],
        takes_value: bool,
    ) -> Result<ScriptValue, ScriptError> {
        let outcome = self.context.with(|ctx| call_in(script, &ctx, arguments, takes_value));
        self.reached_limit().map_or(outcome, Err)
    }

    /// The error of the limit that stopped the script. The errors of the script itself don't show that, because a
    /// script can throw any text.
    fn reached_limit(&self) -> Option<ScriptError> {
        match self.reached.load(Ordering::Relaxed) {
            REACHED_STEPS => Some(ScriptError::TooManySteps),
            REACHED_TIME => Some(ScriptError::TooSlow(MAX_SCRIPT_TIME.as_secs())),
            _ => None,
        }
    }
}

fn call_in(
    script: &Script,
    ctx: &Ctx<'_>,
    arguments: &[(&str, &Value)],
    takes_value: bool,
) -> Result<ScriptValue, ScriptError> {
    ctx.eval::<(), _>(GLOBALS).catch(ctx).map_err(|error| thrown(&error))?;

    let names: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    let exported = exported(script, ctx, &names)?;
    let name = script.export();
    let Some(function) = pick_function(&exported, name) else {
        return match pick_value(&exported, name).filter(|_| takes_value) {
            Some(value) => read_value(ctx, value),
            None => Err(ScriptError::Result(missing_export(&exported, name))),
        };
    };
    let mut list = rquickjs::function::Args::new(ctx.clone(), arguments.len());
    for (_, value) in arguments {
        let value = ctx.json_parse(value.to_string()).catch(ctx).map_err(|error| thrown(&error))?;
        list.push_arg(value).map_err(|error| ScriptError::Result(error.to_string()))?;
    }

    let mut result: JsValue<'_> = function.call_arg(list).catch(ctx).map_err(|error| thrown(&error))?;
    if let Some(promise) = result.as_promise() {
        result = match promise.finish::<JsValue<'_>>() {
            Err(Error::WouldBlock) => return Err(ScriptError::Pending),
            other => other.catch(ctx).map_err(|error| thrown(&error))?,
        };
    }

    read_value(ctx, result)
}

/// Returns the function of a body, or the exports of a file.
fn exported<'js>(script: &Script, ctx: &Ctx<'js>, names: &[&str]) -> Result<JsValue<'js>, ScriptError> {
    if !script.is_file() {
        return ctx.eval(function_source(script, names)).catch(ctx).map_err(|error| syntax_error(&error));
    }

    let exports: JsValue<'js> = if is_es_module(script.text()) {
        let module = Module::declare(ctx.clone(), "script", script.text().as_bytes())
            .catch(ctx)
            .map_err(|error| syntax_error(&error))?;
        let (module, promise) = module.eval().catch(ctx).map_err(|error| load_error(&error))?;
        promise.finish::<()>().catch(ctx).map_err(|error| load_error(&error))?;
        let namespace = module.namespace().catch(ctx).map_err(|error| load_error(&error))?;
        namespace.into_value()
    } else {
        let source = format!(
            "(function() {{ const module = {{ exports: {{}} }}; \
             const require = (name) => {{ throw new Error(`require('${{name}}'): other files can't be loaded here`); }}; \
             {}(module, module.exports, require); \
             return module.exports; }})()",
            common_js_function(script.text())
        );
        ctx.eval(source).catch(ctx).map_err(|error| load_error(&error))?
    };

    Ok(exports)
}

fn function_source(script: &Script, names: &[&str]) -> String {
    format!("(function({}) {{ {}\n}})", names.join(", "), script.text())
}

/// Compiles a text without running any of it, even if it closes the function that it is to be the body of.
fn compile(ctx: &Ctx<'_>, source: &str) -> Result<(), ScriptError> {
    match ctx.eval::<JsValue<'_>, _>(format!("throw 0; {source}")).catch(ctx) {
        // Thrown by the first statement, once all of them were compiled.
        Ok(_) => Ok(()),
        Err(CaughtError::Value(value)) if value.as_int() == Some(0) => Ok(()),
        Err(error) => Err(syntax_error(&error)),
    }
}

/// The function that a CommonJS file is.
fn common_js_function(text: &str) -> String {
    format!("(function(module, exports, require) {{ {text}\n}})")
}

/// Returns the function that a file exports: the one with this name, the default, or the only one.
fn pick_function<'js>(exports: &JsValue<'js>, name: Option<&str>) -> Option<Function<'js>> {
    if let (Some(function), None) = (exports.as_function(), name) {
        return Some(function.clone());
    }

    let object = exports.as_object()?;
    if let Some(name) = name {
        return object.get::<_, Function<'js>>(name).ok();
    }

    let default: JsValue<'js> = object.get("default").ok()?;
    default.as_function().cloned().or_else(|| default.as_object()?.get::<_, Function<'js>>("default").ok())
}

/// Returns the message that a function is not exported, with the names of the exports.
fn missing_export(exports: &JsValue<'_>, name: Option<&str>) -> String {
    let what = name.map_or_else(|| "no function".to_owned(), |name| format!("no function `{name}`"));
    let keys = exports.as_object().map(|object| object.keys::<String>().flatten().collect::<Vec<_>>());
    match keys.unwrap_or_default().as_slice() {
        [] if exports.is_function() => format!("the file exports {what}, only one without a name"),
        [] => format!("the file exports {what}"),
        found => format!("the file exports {what}, only `{}`", found.join("`, `")),
    }
}

/// Returns the value that a file exports instead of a function: the one with this name, the default, or all
/// exports.
fn pick_value<'js>(exports: &JsValue<'js>, name: Option<&str>) -> Option<JsValue<'js>> {
    let object = exports.as_object()?;
    let value: JsValue<'js> = object.get(name.unwrap_or("default")).ok()?;
    let is_there = !value.is_undefined() && !value.is_null();

    is_there.then_some(value).or_else(|| Some(exports.clone()).filter(|_| name.is_none()))
}

fn read_value<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<ScriptValue, ScriptError> {
    if value.is_undefined() || value.is_function() {
        return Ok(ScriptValue::Undefined);
    }
    if let Some(number) = value.as_number() {
        return Ok(ScriptValue::Number(number));
    }

    let no_json = |error: CaughtError<'_>| ScriptError::Result(message(&error));
    let text = ctx.json_stringify(value).catch(ctx).map_err(no_json)?;
    let Some(text) = text else { return Ok(ScriptValue::Undefined) };
    let text = text.to_string().map_err(|error| ScriptError::Result(error.to_string()))?;
    if json_memory(text.as_bytes()) > MATRIX_VALUE_BYTES {
        return Err(ScriptError::TooManyValues(MATRIX_VALUE_BYTES >> 20));
    }
    serde_json::from_str(&text).map(ScriptValue::Json).map_err(|error| ScriptError::Result(error.to_string()))
}

fn syntax_error(error: &CaughtError<'_>) -> ScriptError {
    ScriptError::Syntax(message(error))
}

fn thrown(error: &CaughtError<'_>) -> ScriptError {
    out_of_memory(error).unwrap_or_else(|| ScriptError::Thrown(message(error)))
}

fn load_error(error: &CaughtError<'_>) -> ScriptError {
    out_of_memory(error).unwrap_or_else(|| ScriptError::Load(message(error)))
}

/// The error of a script that reached the limit of memory. The engine throws an `InternalError` then, or `null` if
/// there is no memory left for that. A script that throws `null` itself looks the same and is treated in the same way.
fn out_of_memory(error: &CaughtError<'_>) -> Option<ScriptError> {
    let is_limit = match error {
        CaughtError::Exception(exception) => {
            let name = exception.as_object().get::<_, String>("name");
            name.is_ok_and(|name| name == "InternalError")
                && exception.message().is_some_and(|message| message == "out of memory")
        }
        CaughtError::Value(value) => value.is_null(),
        CaughtError::Error(error) => matches!(error, Error::Allocation),
    };
    is_limit.then_some(ScriptError::TooMuchMemory(MAX_SCRIPT_MEMORY >> 20))
}

/// Returns the message of an error, without its stack.
fn message(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => {
            exception.message().unwrap_or_else(|| "an error without a message".to_owned())
        }
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => text,
            None => format!("a value of type {}", value.type_name()),
        },
        CaughtError::Error(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stops_a_script_that_takes_few_steps() {
        let script = Script::from_code("for (let i = 0; i < 1e6; i++) {}\nreturn true");
        let session = ScriptSession::new(script.text(), Duration::ZERO).expect("an engine");
        assert_eq!(session.call(&script, &[], false), Err(ScriptError::TooSlow(10)));
    }
}
