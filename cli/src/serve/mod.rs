//! `optimist serve`: the API server behind a socket, for clients that are programs of their own.
//!
//! There is no authentication, so it listens on this machine only unless it is told otherwise. A web page
//! cannot reach it: its `Host` must be an address or a known name, and its `Origin` must be the server's own.

mod audit;
mod certificate;
mod compaction;
mod connection;
mod controllers;
mod kubeconfig;
mod listening;
mod load;
mod log;
mod page;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use hyper_util::server::graceful::GracefulShutdown;
use optimist_apiserver::environment::Environment;
use optimist_apiserver::server::{ApiServer, Authorization, Release};
use optimist_apiserver::shared::{Clock, SharedServer};
use serde_json::json;
use tokio::net::TcpListener;

use self::audit::Audit;
use self::certificate::Certificate;
use self::connection::Connections;
use self::controllers::ClusterController;
use self::kubeconfig::Kubeconfig;
use self::log::{ChangeLog, OpenedLog};
use self::page::PageService;
use crate::style::print;
use crate::{BadInput, CommandResult, input};

/// The time that open requests have when the program ends.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// The options of the server.
#[derive(Debug, clap::Args)]
pub struct ServeArguments {
    /// The port; 0 takes one that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The address. There is no authentication: who reaches it can do everything.
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// A name by which clients call this server, besides localhost.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// An origin whose pages are answered: that of a page behind kubectl proxy, http://127.0.0.1:8001.
    #[arg(long = "origin", value_name = "URL")]
    origins: Vec<String>,
    /// Plain HTTP, without TLS. Clients send no credentials then.
    #[arg(long)]
    insecure_http: bool,
    /// Objects at the start: YAML, JSON, lists; - is the standard input. One with a uid is stored as it is,
    /// another is created. Their namespaces are created.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    objects: Vec<String>,
    /// A directory with definitions of custom resources: its files *.yaml, *.yml and *.json.
    #[arg(long, value_name = "DIR")]
    crds: Option<PathBuf>,
    /// Keeps every accepted write in this file before it is answered, and continues from it at the next
    /// start. --objects and --crds are for a new one.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// After how many seconds the history is let go of, as by a kube-apiserver: older versions of objects are
    /// compacted, and the log is written anew if most of it is not needed any more. 0 is never.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    compaction_interval: u64,
    /// Adds each request with its answer to this file: an audit log of the level RequestResponse, which
    /// Diagnose of the page opens. The bodies of Secrets are left out.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// Serves the built page of this directory on a port of its own, and beside it each request with its
    /// answer as it comes: server-sent events at optimist/events, in the form of an audit log.
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// The port of the page; 0 takes one that is free.
    #[arg(long, default_value_t = 0, requires = "page", value_name = "PORT")]
    page_port: u16,
    /// Lets the page write to the server: who opens the page can change everything on the server.
    #[arg(long, requires = "page")]
    page_writes: bool,
    /// The release of the server.
    #[arg(long, value_parser = input::release, default_value_t)]
    release: Release,
    /// Has the roles and bindings that a kube-apiserver with --authorization-mode=RBAC makes. Everybody may
    /// do everything all the same.
    #[arg(long)]
    rbac: bool,
    /// The controllers beside the server: a bare API server has none of these.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    controllers: Vec<ClusterController>,
    /// The file for the kubeconfig; else a temporary file, which is removed at the end.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The form of its message that it is ready: one line of JSON has the members url and kubeconfig, and
    /// page if there is one.
    #[arg(long, default_value = "text")]
    output: Output,
}

/// The form in which the program says that it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Serves until SIGINT or SIGTERM.
pub fn run(arguments: &ServeArguments) -> CommandResult {
    let (server, log) = server(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| BadInput(error.to_string()))?;
    runtime.block_on(serve(arguments, server, log))?;
    Ok(true)
}

/// The server as it is at the start, and its log.
fn server(arguments: &ServeArguments) -> Result<(ApiServer, Option<ChangeLog>), BadInput> {
    let Some(path) = &arguments.log else {
        return Ok((new_server(arguments)?, None));
    };
    let OpenedLog {
        mut log,
        store,
        writes,
        cut,
    } = ChangeLog::open(path)?;
    let path = path.display();
    if cut > 0 {
        eprintln!("optimist: {path}: the last {cut} bytes are no whole write and are cut off");
    }
    let Some(store) = store else {
        let mut server = new_server(arguments)?;
        let kept = log.keep_writes(&mut server, |_| ());
        kept.map_err(|error| BadInput(format!("{path}: {error}")))?;
        return Ok((server, Some(log)));
    };
    eprintln!("optimist: {path}: continues after {writes} writes");
    if arguments.crds.is_some() || !arguments.objects.is_empty() {
        eprintln!("optimist: {path}: --objects and --crds are not loaded again");
    }
    let mut server = ApiServer::over(store, environment()?, authorization(arguments));
    server.set_release(arguments.release);
    Ok((server, Some(log)))
}

fn new_server(arguments: &ServeArguments) -> Result<ApiServer, BadInput> {
    let mut server = ApiServer::fresh(environment()?, authorization(arguments));
    server.set_release(arguments.release);
    load::into(&mut server, arguments.crds.as_deref(), &arguments.objects)?;
    Ok(server)
}

fn authorization(arguments: &ServeArguments) -> Authorization {
    if arguments.rbac {
        Authorization::Rbac
    } else {
        Authorization::AlwaysAllow
    }
}

/// The time of this machine, and uids that no other run has.
fn environment() -> Result<Environment, BadInput> {
    let mut seed = [0; 8];
    let random = tokio_rustls::rustls::crypto::ring::default_provider().secure_random;
    random
        .fill(&mut seed)
        .map_err(|_| BadInput("this machine has no random numbers".to_owned()))?;
    Ok(Environment::new(u64::from_le_bytes(seed)).beginning_at(crate::now()))
}

/// A server whose clock shows the time of this machine, also within the second: what it stores is as old as its
/// audit log says.
fn at_present(mut server: ApiServer) -> ApiServer {
    let known = server.environment().micro_time().micros;
    let behind = audit::now().micros.saturating_sub(known);
    let behind = Duration::from_micros(behind);
    server.environment_mut().advance(behind);
    server
}

async fn serve(
    arguments: &ServeArguments,
    server: ApiServer,
    log: Option<ChangeLog>,
) -> Result<(), BadInput> {
    let wanted = SocketAddr::new(arguments.address, arguments.port);
    let bad = |error: io::Error| BadInput(format!("{wanted}: {error}"));
    // Before it is ready: from here on a signal ends it cleanly.
    let end = Signals::new().map_err(bad)?;
    let listener = TcpListener::bind(wanted).await.map_err(bad)?;
    let address = listener.local_addr().map_err(bad)?;
    let certificate = match arguments.insecure_http {
        true => None,
        false => Some(Certificate::new(address.ip(), &arguments.hosts)?),
    };
    let told = arguments.page.is_some() || arguments.audit_log.is_some();
    let audit = match told {
        true => Some(Audit::new(arguments.audit_log.as_deref())?),
        false => None,
    };
    let url = kubeconfig::url(address, certificate.is_some());
    let page = ServedPage::open(arguments, audit.clone(), &url).await?;
    let kubeconfig = Kubeconfig::write(
        arguments.kubeconfig.as_deref(),
        address,
        certificate.as_ref(),
    )?;
    let authority = certificate.as_ref().map(Certificate::authority);
    let controllers = controllers::chosen(&arguments.controllers, authority);
    say_ready(arguments, &kubeconfig, page.as_ref());
    let server = SharedServer::new(at_present(server), Clock::Wall);
    let hosts = arguments.hosts.clone();
    let connections = Connections::new(server.clone(), log, certificate, hosts);
    let connections = connections
        .audited(audit.clone())
        .answering(&arguments.origins);
    let page = page.map(|page| page.writing(arguments, &connections));
    let interval = Duration::from_secs(arguments.compaction_interval);
    let open = GracefulShutdown::new();
    tokio::select! {
        () = end.wait() => {}
        () = connections.accept(&listener, &open) => {}
        () = controllers::run(controllers, &connections) => {}
        () = compaction::run(interval, &connections) => {}
        () = ServedPage::accept(page.as_ref(), &open) => {}
    }
    drop(listener);
    let ended = open.shutdown();
    // Its watches end as those of a server that stops.
    server.with(ApiServer::restart);
    audit.iter().for_each(Audit::close);
    let _ = tokio::time::timeout(LAST_REQUESTS, ended).await;
    Ok(())
}

/// The page, and where it is served.
struct ServedPage {
    page: PageService,
    listener: TcpListener,
    url: String,
}

impl ServedPage {
    /// Reads the page, and takes its port; `None` if there is no page to serve.
    async fn open(
        arguments: &ServeArguments,
        audit: Option<Audit>,
        server: &str,
    ) -> Result<Option<Self>, BadInput> {
        let (Some(directory), Some(audit)) = (&arguments.page, audit) else {
            return Ok(None);
        };
        let writes_to = arguments.page_writes.then_some(server);
        let page = PageService::new(directory, audit, arguments.hosts.clone(), writes_to)?;
        let wanted = SocketAddr::new(arguments.address, arguments.page_port);
        let bad = |error: io::Error| BadInput(format!("{wanted}: {error}"));
        let listener = TcpListener::bind(wanted).await.map_err(bad)?;
        let address = listener.local_addr().map_err(bad)?;
        Ok(Some(Self {
            page,
            listener,
            url: format!("http://{address}/"),
        }))
    }

    /// Lets the page write to the server, if that is asked for.
    fn writing(self, arguments: &ServeArguments, server: &Connections) -> Self {
        if !arguments.page_writes {
            return self;
        }
        Self {
            page: self.page.writing(server.clone()),
            ..self
        }
    }

    async fn accept(served: Option<&Self>, open: &GracefulShutdown) {
        match served {
            Some(served) => served.page.accept(&served.listener, open).await,
            None => std::future::pending().await,
        }
    }
}

fn say_ready(arguments: &ServeArguments, kubeconfig: &Kubeconfig, page: Option<&ServedPage>) {
    let (url, path) = (kubeconfig.url(), kubeconfig.path().display());
    match arguments.output {
        Output::Json => {
            let mut ready = json!({"url": url, "kubeconfig": path.to_string()});
            if let Some(page) = page {
                ready["page"] = page.url.as_str().into();
            }
            print(&format!("{ready}\n"));
        }
        Output::Text => {
            print(&format!(
                "Serving Kubernetes {} at {url}. Ctrl-C ends it. In another terminal:\n\
                 export KUBECONFIG={path}\n",
                arguments.release,
            ));
            if let Some(page) = page {
                print(&format!(
                    "The page, with the requests as they come at optimist/events: {}\n",
                    page.url
                ));
                if arguments.page_writes {
                    print("Who opens the page can change everything on this server.\n");
                }
            }
        }
    }
}

/// A signal that ends the program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// A signal that ends the program.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn wait(self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
