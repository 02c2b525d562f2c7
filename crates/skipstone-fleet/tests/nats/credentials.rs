//! Credentials files: a user's JWT, signed by an account, which an operator signs.

use crate::common::{PATIENCE, settings};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use skipstone_fleet::bus::{Bus, BusLogin, BusSettings};
use skipstone_fleet::local::{LocalJetStream, LocalNats, LocalSettings};
use std::io::Write;
use tempfile::NamedTempFile;

#[test]
fn a_credentials_file_of_the_operator_is_a_login_and_one_of_another_is_refused() {
    let operator = Operator::new();
    // JetStream wants an account of the system.
    let settings_of_server =
        LocalSettings { jetstream: LocalJetStream::Off, extra: operator.config(), ..LocalSettings::default() };
    let server = LocalNats::start(settings_of_server).unwrap_or_else(|error| panic!("{error}"));
    let login =
        |file: &NamedTempFile| BusSettings { login: BusLogin::Credentials(file.path().into()), ..settings(&server) };
    let right = operator.credentials();
    let bus = Bus::connect(login(&right)).unwrap();
    bus.publish("with.credentials", "").unwrap();
    bus.flush(PATIENCE).unwrap();
    let error = Bus::connect(login(&Operator::new().credentials())).unwrap_err().to_string();
    assert!(error.contains("the server refused this login"), "{error}");
    let mut damaged = NamedTempFile::new().unwrap();
    damaged.write_all(b"no credentials").unwrap();
    let error = Bus::connect(login(&damaged)).unwrap_err().to_string();
    assert!(error.contains("is no .creds file"), "{error}");
}

struct Operator {
    operator: KeyPair,
    account: KeyPair,
    user: KeyPair,
}

impl Operator {
    fn new() -> Operator {
        Operator { operator: KeyPair::new_operator(), account: KeyPair::new_account(), user: KeyPair::new_user() }
    }

    fn config(&self) -> String {
        let operator = token(&self.operator, &self.operator, json!({ "type": "operator", "version": 2 }));
        let limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
        });
        let rights = json!({ "type": "account", "version": 2, "limits": limits });
        let account = token(&self.operator, &self.account, rights);
        let id = self.account.public_key();
        format!("operator: {operator}\nresolver: MEMORY\nresolver_preload: {{ {id}: {account} }}")
    }

    fn credentials(&self) -> NamedTempFile {
        let rights = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
        let user = token(&self.account, &self.user, rights);
        let seed = self.user.seed().unwrap();
        let mut file = NamedTempFile::new().unwrap();
        write!(
            file,
            "-----BEGIN NATS USER JWT-----\n{user}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
        .unwrap();
        file
    }
}

fn token(issuer: &KeyPair, subject: &KeyPair, rights: Value) -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({
        "jti": "a", "iat": 1, "iss": issuer.public_key(), "name": "a", "sub": subject.public_key(), "nats": rights,
    });
    let signed = format!("{}.{}", part(json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}
