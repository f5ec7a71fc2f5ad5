//! Prices and limits in money, before a run begins.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::str::FromStr;

use assize_diagnostic::render;
use assize_evalfile::{LoadOptions, PriceRow, Suite, load_prices};
use assize_llm::{ModelName, ModelPrice, PriceOverride, PriceTable, TokenRates};
use assize_rubric::Usd;

use crate::args::RunArgs;
use crate::context::Context;
use crate::output;

/// The prices of a run: the built-in table, the project's own rows, and how much models can read by the command line.
pub(crate) fn prices(
    context_tokens: Option<NonZeroU64>,
    options: &LoadOptions,
    context: &Context,
) -> Result<PriceTable, String> {
    let name = |text: &str| {
        ModelName::from_str(text)
            .map(|name| (name.provider().to_owned(), name.model().to_owned()))
            .map_err(|error| error.to_string())
    };
    let loaded = load_prices(options, &name);
    output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
    if render::tally(&loaded.diagnostics).0 > 0 {
        return Err("the prices file has problems; nothing was run".to_owned());
    }
    let rows = loaded.rows.into_iter().map(read).collect::<Result<BTreeMap<_, _>, String>>()?;
    Ok(PriceTable::new(rows, context_tokens.map(NonZeroU64::get)))
}

fn read(row: PriceRow) -> Result<((String, String), PriceOverride), String> {
    let PriceRow { provider, model, rates, context_tokens } = row;
    let price = match rates {
        None => None,
        Some(rates) => {
            let rates =
                TokenRates::per_million(rates.input, rates.cached_input, rates.cache_write, rates.output)
                    .ok_or_else(|| format!("the prices of `{provider}:{model}` can't be used"))?;
            Some(ModelPrice { rates, long: None })
        }
    };
    Ok(((provider, model), PriceOverride { price, context_tokens }))
}

/// The limit in money: the command line's, else that of the only suite.
pub(crate) fn limit<'a>(
    args: &RunArgs,
    suites: impl Iterator<Item = &'a Suite>,
) -> Result<Option<Usd>, String> {
    if args.spending.budget_usd.is_some() {
        return Ok(args.spending.budget_usd);
    }
    let mut several = false;
    let mut found = None;
    for (index, suite) in suites.enumerate() {
        several |= index > 0;
        found = found.or(suite.settings.budget_usd.map(|dollars| (suite, dollars)));
    }
    match found {
        None => Ok(None),
        Some((suite, _)) if several => Err(format!(
            "`{}` has a limit of its own (`budget_usd`), but this run has several suites: give one limit for all of \
             them with `--budget-usd`",
            suite.path.display()
        )),
        Some((suite, dollars)) => Usd::from_dollars(dollars).map(Some).ok_or_else(|| {
            format!("`{}`: `budget_usd: {dollars}` is more than can be counted", suite.path.display())
        }),
    }
}
