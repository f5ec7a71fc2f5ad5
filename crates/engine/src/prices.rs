//! Prices and limits in money, checked before a run begins.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::path::Path;
use std::str::FromStr;

use assize_diagnostic::render;
use assize_evalfile::{LoadOptions, load_prices};
use assize_llm::{
    ModelId, ModelName, ModelPrice, PriceList, PriceOverride, PriceTable, TokenRates, is_at_home,
};
use assize_model::{PriceRow, Suite};
use assize_rubric::Usd;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::options::RunOptions;

/// Refuses a limit in money with models of unknown price. `may_be_unpriced` is true if an option can allow
/// them.
pub(crate) fn refuse_unpriced<'m>(
    models: impl Iterator<Item = &'m ModelId>,
    may_be_unpriced: bool,
) -> Result<(), EngineError> {
    let unpriced =
        models.map(with_address).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
    if unpriced.is_empty() {
        return Ok(());
    }

    let otherwise = if may_be_unpriced {
        "ignore the cost of such models with `--budget-unknown-price allow`"
    } else {
        "limit the calls with `--budget-calls`"
    };
    Err(EngineError::budget(format!(
        "unknown price for {unpriced}, so a budget in dollars can't be enforced; nothing was spent. Add the price to `.assize/prices.yaml`"
    ))
    .with_option_hint(otherwise))
}

/// Name of a model, with its server's address if that is not the provider's own.
fn with_address(id: &ModelId) -> String {
    if is_at_home(&id.provider, &id.base_url_host) {
        return id.to_string();
    }

    format!("{id} at {} (list prices hold for the provider's own server only)", id.base_url_host)
}

/// The prices for a run of files near `folder`: the list in this file or the built-in one, the project's own rows, and
/// the context window of the command line.
pub(crate) fn prices(
    folder: &Path,
    list: Option<&Path>,
    context_tokens: Option<NonZeroU64>,
    options: &LoadOptions,
    engine: &Engine,
) -> Result<PriceTable, EngineError> {
    let name = |text: &str| {
        ModelName::from_str(text)
            .map(|name| (name.provider().to_owned(), name.model().to_owned()))
            .map_err(|error| error.to_string())
    };
    let loaded = load_prices(folder, options, &name);
    engine.report_diagnostics(&loaded.diagnostics, &loaded.sources);

    if render::count_by_severity(&loaded.diagnostics).0 > 0 {
        return Err(EngineError::invalid_file("the prices file has errors; nothing was run"));
    }

    let rows = loaded.rows.into_iter().map(read).collect::<Result<BTreeMap<_, _>, EngineError>>()?;
    let table = PriceTable::new(rows, context_tokens.map(NonZeroU64::get));
    let Some(path) = list else { return Ok(table) };
    let text = assize_files::read_text(&engine.process().resolve(path)).map_err(|error| {
        EngineError::usage(format!("`--prices {}`: can't be read: {error}", path.display()))
    })?;
    let list = PriceList::from_json(&text).map_err(|error| {
        EngineError::invalid_file(format!("{}: {error}; nothing was run", path.display()))
    })?;
    Ok(table.with_list(list))
}

fn read(row: PriceRow) -> Result<((String, String), PriceOverride), EngineError> {
    let PriceRow { provider, model, rates, context_tokens, batch_discount } = row;
    let price = match rates {
        None => None,
        Some(rates) => {
            let rates =
                TokenRates::per_million(rates.input, rates.cached_input, rates.cache_write, rates.output)
                    .ok_or_else(|| {
                        EngineError::invalid_file(format!("the prices of `{provider}:{model}` can't be used"))
                    })?;
            Some(ModelPrice { rates, long: None })
        }
    };
    Ok(((provider, model), PriceOverride { price, context_tokens, batch_discount }))
}

/// The limit in money: from the options, or else from the only suite.
pub(crate) fn limit<'a>(
    options: &RunOptions,
    suites: impl Iterator<Item = &'a Suite>,
) -> Result<Option<Usd>, EngineError> {
    if options.spending.budget.usd.is_some() {
        return Ok(options.spending.budget.usd);
    }

    let mut several = false;
    let mut found = None;
    for (index, suite) in suites.enumerate() {
        several |= index > 0;
        found = found.or(suite.settings.budget_usd.map(|dollars| (suite, dollars)));
    }

    match found {
        None => Ok(None),
        Some((suite, _)) if several => Err(EngineError::usage(format!(
            "`{}` sets `budget_usd`, but this run has several suites: set one budget for all of them with `--budget-usd`",
            suite.path.display()
        ))),
        Some((suite, dollars)) => Usd::from_dollars(dollars).map(Some).ok_or_else(|| {
            let path = suite.path.display();
            EngineError::invalid_file(format!(
                "`{path}`: `budget_usd: {dollars}` is more than can be counted"
            ))
        }),
    }
}
