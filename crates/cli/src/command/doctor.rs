//! `assize doctor`.

use std::fmt::Write as _;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{ExitStatus, OFFLINE};
use assize_evalfile::load_config;
use assize_llm::{
    HttpOptions, HttpProxies, HttpTransport, KeyCheck, PriceList, ProviderReadiness, ReadyState, check,
    check_judge, gives_embeddings, gives_labels, judge_readiness, readiness,
};
use assize_report::{ListingRow, render_listing};
use serde_json::json;
use tokio::task::JoinSet;

use crate::args::{DoctorArgs, shell_word};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

/// How long a server on this machine may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// Variable that names a judge.
const JUDGE_MODEL: &str = "JUDGE_MODEL";
/// Variables with the address and the key of that judge.
const JUDGE_VARIABLES: [&str; 2] = ["JUDGE_BASE_URL", "JUDGE_API_KEY"];

/// How long a server may take to answer a check. Servers on this machine are checked without `--check` too,
/// and get less time.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCAL_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// One line of the output.
struct ProviderCheck {
    name: &'static str,
    usable: bool,
    /// True if the user configured this provider.
    configured: bool,
    about: String,
    /// Whether its server accepted the key; `None` if it was not asked or did not say.
    checked: Option<bool>,
    /// True if a server on this machine answers for it, without a key. Requests to it don't leave the machine, so it is
    /// always checked.
    is_local: bool,
    /// A judge of this provider, as `--judge` takes it, if its server lists one.
    judge: Option<String>,
}

impl ProviderCheck {
    fn new(name: &'static str, usable: bool, about: String) -> Self {
        Self { name, usable, configured: true, about, checked: None, is_local: false, judge: None }
    }
}

pub(crate) fn execute(args: &DoctorArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let about = "built in; compares words only, for demos and tests".to_owned();
    let mut findings = vec![ProviderCheck::new(OFFLINE, true, about)];
    let project = project_judge(args, context);
    findings.extend(own_judge(context));
    findings.extend(readiness(&|name| context.process.variable(name)).iter().map(find));

    let proxies = HttpProxies::from_env(&|name| context.process.variable(name));
    ask_servers(&mut findings, args.check, &proxies, context)?;

    if args.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| {
                json!({
                    "judge": f.name, "usable": f.usable, "configured": f.configured, "checked": f.checked,
                    "about": f.about, "model": f.judge,
                })
            })
            .collect();

        output::print_json(&json!({
            "judges": list, "proxies": proxies.variables(), "project": project,
            "prices_as_of": PriceList::built_in().as_of(),
        }));
        return Ok(ExitStatus::Passed);
    }

    let shown = |finding: &&ProviderCheck| finding.usable || finding.configured || args.all;
    let rows: Vec<ListingRow> = findings
        .iter()
        .filter(shown)
        .map(|finding| ListingRow {
            state: if finding.usable { "usable" } else { "unusable" },
            good: finding.usable,
            ..ListingRow::new(finding.name, &finding.about)
        })
        .collect();
    output::print(&render_listing(&rows, context.stdout));

    let hidden = findings.len() - rows.len();
    let mut notes = String::new();
    if hidden > 0 {
        let _ = write!(
            notes,
            "\n{hidden} more providers are not configured; `assize doctor --all` lists what they need\n"
        );
    }

    if !proxies.variables().is_empty() {
        let _ = match proxies.problem() {
            Some(problem) => write!(notes, "\nRequests to other machines will fail: {problem}\n"),
            None => write!(
                notes,
                "\nRequests to other machines go through a proxy: {} is set\n",
                proxies.variables().join(" and ")
            ),
        };
    }

    if let Some(ProjectJudge { judge, config }) = &project {
        let judges = judge.as_deref().map_or("names no judge".to_owned(), |judge| format!("names `{judge}`"));
        let _ = write!(notes, "\nJudge of this project: `{config}` {judges}\n");
    }

    if let Some(day) = PriceList::built_in().as_of() {
        let _ = write!(notes, "\nList prices are of {day}; `--prices FILE` takes those of another day\n");
    }

    notes.push_str("\nTo use a provider, name one of its models: --judge PROVIDER:MODEL\n");
    output::print_text(&notes, context);
    Ok(ExitStatus::Passed)
}

/// The judge that the configuration of a project names.
#[derive(serde::Serialize)]
struct ProjectJudge {
    judge: Option<String>,
    config: String,
}

/// The judge of the project that the path is in, or of the working folder; `None` without a configuration.
fn project_judge(args: &DoctorArgs, context: &CliContext) -> Option<ProjectJudge> {
    let process = &context.process;
    let path = args.path.as_deref().unwrap_or(Path::new(""));
    let start = if path.is_file() { path.parent().unwrap_or(Path::new("")) } else { path };
    let loaded = load_config(start, &process.load_options(&[]));
    output::print_diagnostics(&loaded.diagnostics, &loaded.sources, context);

    let config = loaded.path?;
    let shown = config.strip_prefix(&process.working_folder).unwrap_or(&config).display().to_string();
    Some(ProjectJudge { judge: loaded.config.judge, config: shown })
}

/// Asks the servers on this machine which models they have, and if `all`, the servers of all providers that look usable
/// whether they accept the key.
fn ask_servers(
    findings: &mut [ProviderCheck],
    all: bool,
    proxies: &HttpProxies,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let is_asked =
        |finding: &ProviderCheck| finding.is_local || (all && finding.usable && finding.name != OFFLINE);
    let names: Vec<&'static str> = findings.iter().filter(|f| is_asked(f)).map(|f| f.name).collect();
    if names.is_empty() {
        return Ok(());
    }

    let timeout = if all { CHECK_TIMEOUT } else { LOCAL_CHECK_TIMEOUT };
    block_on(async {
        checks(findings, names, timeout, proxies, context).await;
        Ok::<(), CommandFailure>(())
    })
}

/// Asks these servers concurrently.
async fn checks(
    findings: &mut [ProviderCheck],
    names: Vec<&'static str>,
    timeout: Duration,
    proxies: &HttpProxies,
    context: &CliContext,
) {
    let options = HttpOptions { proxies: Some(proxies.clone()), ..HttpOptions::default() };
    let transport = Arc::new(HttpTransport::new(options));
    let mut running = JoinSet::new();
    for name in names {
        let (transport, variables) = (Arc::clone(&transport), context.process.environment());
        running.spawn(async move {
            let env = |variable: &str| variables(variable);
            let checked = match env(JUDGE_MODEL).filter(|_| name == JUDGE_MODEL) {
                Some(model) => check_judge(&model, &env, &transport, timeout).await,
                None => check(name, &env, &transport, timeout).await,
            };
            (name, checked)
        });
    }

    while let Some(answer) = running.join_next().await {
        let Ok((name, checked)) = answer else { continue };
        let Some(finding) = findings.iter_mut().find(|finding| finding.name == name) else { continue };
        let words = match checked {
            KeyCheck::Accepted { models: Some(models) } => {
                finding.checked = Some(true);
                let s = if models.count == 1 { "" } else { "s" };
                let listed = format!("lists {} model{s}", models.count);
                match models.judges.first().filter(|_| finding.is_local) {
                    Some(model) => {
                        let judge = format!("{name}:{model}");
                        let listed = format!("{listed}; --judge {}", shell_word(&judge));
                        finding.judge = Some(judge);
                        listed
                    }
                    None if finding.is_local => format!("{listed}, none of them for judging"),
                    None => listed,
                }
            }
            KeyCheck::Accepted { models: None } => {
                finding.checked = Some(true);
                "answers".to_owned()
            }
            KeyCheck::Refused(why) => {
                finding.checked = Some(false);
                finding.usable = false;
                why
            }
            KeyCheck::Unknown(why) => format!("not checked: {why}"),
        };
        finding.about = format!("{}: {words}", finding.about);
    }
}

/// Judges that are usable from here, as `PROVIDER:MODEL`: a key is set, or a server on this machine answers. Only such a
/// server tells the name of a model.
pub(crate) fn usable_judges(context: &CliContext) -> Vec<String> {
    let providers = readiness(&|name| context.process.variable(name));
    let mut findings: Vec<ProviderCheck> =
        providers.iter().filter(|provider| can_judge(provider.provider)).map(find).collect();
    let proxies = HttpProxies::from_env(&|name| context.process.variable(name));
    if ask_servers(&mut findings, false, &proxies, context).is_err() {
        findings.retain(|finding| !finding.is_local);
    }

    let is_judge = |finding: &ProviderCheck| finding.usable && (!finding.is_local || finding.judge.is_some());
    let judge = |finding: ProviderCheck| finding.judge.unwrap_or_else(|| format!("{}:MODEL", finding.name));
    findings.into_iter().filter(is_judge).map(judge).collect()
}

/// Whether a provider has models that judge.
fn can_judge(provider: &str) -> bool {
    !gives_embeddings(provider) && !gives_labels(provider)
}

/// The judge that `JUDGE_MODEL` names, if its own variables are set; without that name they have no effect.
fn own_judge(context: &CliContext) -> Option<ProviderCheck> {
    let set = |name: &str| context.process.variable(name).filter(|value| !value.trim().is_empty());
    let Some(model) = set(JUDGE_MODEL) else {
        let own: Vec<&str> = JUDGE_VARIABLES.into_iter().filter(|name| set(name).is_some()).collect();
        return (!own.is_empty()).then(|| {
            let about = format!("set it to the model that {} is meant for", own.join(" and "));
            ProviderCheck::new(JUDGE_MODEL, false, about)
        });
    };

    let found = find(&judge_readiness(&model, &|name| context.process.variable(name))?);
    let about = format!("{}, {}", model.trim(), found.about);
    Some(ProviderCheck { name: JUDGE_MODEL, configured: true, about, is_local: false, ..found })
}

fn find(provider: &ProviderReadiness) -> ProviderCheck {
    let host = provider.host.as_deref().unwrap_or("?");
    let mut is_local = false;
    let (usable, about) = match &provider.state {
        ReadyState::Ready => (true, format!("key in {}, at {host}", provider.key_variable)),
        ReadyState::ReadyWithoutKey => match local_server(host) {
            Some(false) => (
                false,
                format!(
                    "no server responds at {host}; set {} if it runs elsewhere",
                    provider.base_url_variable
                ),
            ),
            Some(true) => {
                is_local = true;
                (true, format!("a server at {host}"))
            }
            None => (true, format!("at {host}, no key set")),
        },
        ReadyState::Missing { variables, unread } => {
            let purpose = provider.host.as_ref().map(|host| format!(" to use {host}")).unwrap_or_default();
            let unread = unread
                .map(|(variable, instead)| format!("; {variable} does not help: {instead}"))
                .unwrap_or_default();
            (false, format!("set {}{purpose}{unread}", variables.join(" and ")))
        }
        ReadyState::BadBaseUrl { variable, reason } => {
            (false, format!("{variable} is not an address: {reason}"))
        }
        ReadyState::BadSetting { reason } => (false, reason.clone()),
    };
    let about = if can_judge(provider.provider) { about } else { format!("{about}; can't judge") };
    ProviderCheck {
        configured: provider.configured,
        is_local,
        ..ProviderCheck::new(provider.provider, usable, about)
    }
}

/// Returns whether a server accepts connections at an address of this machine; `None` for other machines,
/// which are not tried.
fn local_server(host: &str) -> Option<bool> {
    let mut addresses = host.to_socket_addrs().ok()?;
    let address = addresses.find(|address| address.ip().is_loopback())?;
    Some(TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok())
}
