//! The certificate of a server, made at its start, and the authority that clients trust for it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, KeyUsagePurpose, SanType};
use rcgen::{CertifiedIssuer, ExtendedKeyUsagePurpose};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use crate::BadInput;

/// A certificate that is valid for this run.
pub struct Certificate {
    authority: String,
    acceptor: TlsAcceptor,
}

impl Certificate {
    /// Makes an authority, and a certificate for the addresses and names of this server.
    pub fn new(address: IpAddr, hosts: &[String]) -> Result<Self, BadInput> {
        generate(address, hosts).map_err(|error| BadInput(format!("the certificate: {error}")))
    }

    /// The certificate of the authority, as PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Accepts TLS connections.
    pub fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

fn generate(
    address: IpAddr,
    hosts: &[String],
) -> Result<Certificate, Box<dyn std::error::Error + Send + Sync>> {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "optimist serve");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

    let mut names: Vec<String> = ["localhost", "kubernetes", "kubernetes.default.svc"]
        .map(str::to_owned)
        .to_vec();
    names.extend_from_slice(hosts);
    let mut params = CertificateParams::new(names)?;
    let own = [
        Ipv4Addr::LOCALHOST.into(),
        Ipv6Addr::LOCALHOST.into(),
        address,
    ];
    params.subject_alt_names.extend(own.map(SanType::IpAddress));
    params
        .distinguished_name
        .push(DnType::CommonName, "kube-apiserver");
    params.use_authority_key_identifier_extension = true;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?;

    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Certificate {
        authority: issuer.pem(),
        acceptor: TlsAcceptor::from(Arc::new(config)),
    })
}
