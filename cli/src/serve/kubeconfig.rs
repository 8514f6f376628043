//! The kubeconfig of a server, in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use optimist_apiserver::go::base64;

use super::certificate::Certificate;
use crate::BadInput;

/// The first line of a kubeconfig that this program wrote. The program overwrites no other file.
const HEAD: &str = "# Written by optimist serve.\n";

/// A kubeconfig that is written.
pub struct Kubeconfig {
    url: String,
    path: PathBuf,
    is_temporary: bool,
}

impl Kubeconfig {
    /// Writes the kubeconfig of a server: where it is wanted, else into a temporary file.
    pub fn write(
        wanted: Option<&Path>,
        address: SocketAddr,
        certificate: Option<&Certificate>,
    ) -> Result<Self, BadInput> {
        let path = match wanted {
            Some(path) => path.to_owned(),
            None => {
                let name = format!("optimist-{}-{}", std::process::id(), address.port());
                std::env::temp_dir().join(name + ".kubeconfig")
            }
        };
        let bad = |error: io::Error| BadInput(format!("{}: {error}", path.display()));
        // An absolute path is true in every other terminal.
        let path = std::path::absolute(&path).map_err(bad)?;
        let url = url(address, certificate.is_some());
        let text = text(&url, certificate);
        let mut file = opened(&path, wanted.is_none())?;
        let bad = |error: io::Error| BadInput(format!("{}: {error}", path.display()));
        file.write_all(text.as_bytes()).map_err(bad)?;
        Ok(Self {
            url,
            path,
            is_temporary: wanted.is_none(),
        })
    }

    /// The address of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The file, empty: a new one, or an earlier one of this program.
fn opened(path: &Path, is_new: bool) -> Result<File, BadInput> {
    let bad = |error: io::Error| BadInput(format!("{}: {error}", path.display()));
    if !is_new && path.exists() {
        let mut head = String::new();
        let found = File::open(path).map_err(bad)?;
        let length = HEAD.len() as u64;
        let read = found.take(length).read_to_string(&mut head);
        if read.is_err() || (head != HEAD && !head.is_empty()) {
            let path = path.display();
            return Err(BadInput(format!(
                "{path}: this file is not of optimist serve and is not overwritten"
            )));
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    if is_new {
        options.create_new(true);
    } else {
        options.create(true);
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(bad)
}

/// The address for clients of this machine.
pub fn url(address: SocketAddr, is_tls: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
}

/// A kubeconfig with one context. Nobody checks the token; without one, kubectl asks for a user's name.
fn text(url: &str, certificate: Option<&Certificate>) -> String {
    let (authority, user) = match certificate {
        None => (String::new(), "{}"),
        Some(certificate) => {
            let authority = base64::encode(certificate.authority().as_bytes());
            let authority = format!("\n    certificate-authority-data: {authority}");
            (authority, "{token: optimist}")
        }
    };
    format!(
        "{HEAD}apiVersion: v1\nkind: Config\ncurrent-context: optimist\n\
         clusters:\n- name: optimist\n  cluster:\n    server: {url}{authority}\n\
         contexts:\n- name: optimist\n  context:\n    cluster: optimist\n    user: optimist\n    \
         namespace: default\n\
         users:\n- name: optimist\n  user: {user}\n"
    )
}
