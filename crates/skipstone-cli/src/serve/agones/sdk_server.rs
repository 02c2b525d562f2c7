//! Calls of Agones' SDK server by its REST interface, on the pod's loopback address: an empty JSON object to a path for
//! each order, and the GameServer as JSON from one. <https://agones.dev/site/docs/guides/client-sdks/rest/>

use super::lifecycle::SdkCall;
use std::time::Duration;
use ureq::Agent;

pub(super) struct SdkServer {
    agent: Agent,
    url: String,
}

/// A call takes no longer: the thread has further ones to make.
const CALL_MAX: Duration = Duration::from_secs(1);
/// A GameServer is a few kilobytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

impl SdkServer {
    pub(super) fn on_loopback(port: u16) -> SdkServer {
        // A proxy of the environment is not for loopback addresses.
        let config = Agent::config_builder().timeout_global(Some(CALL_MAX)).http_status_as_error(false).proxy(None);
        SdkServer { agent: config.build().new_agent(), url: format!("http://127.0.0.1:{port}") }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The answer's text; or why there is none, behind the server's name in a sentence.
    pub(super) fn call(&self, call: SdkCall) -> Result<String, String> {
        let path = path(call);
        let url = format!("{}{path}", self.url);
        let answer = match call {
            SdkCall::GameServer => self.agent.get(url).call(),
            _ => self.agent.post(url).content_type("application/json").send("{}"),
        };
        let mut answer = answer.map_err(|error| format!("does not answer {path} ({error})"))?;
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        match text {
            Ok(text) if status.is_success() => Ok(text),
            Ok(_) => Err(format!("refuses {path} ({status})")),
            Err(error) => Err(format!("breaks off its answer to {path} ({error})")),
        }
    }
}

fn path(call: SdkCall) -> &'static str {
    match call {
        SdkCall::GameServer => "/gameserver",
        SdkCall::Ready => "/ready",
        SdkCall::Health => "/health",
        SdkCall::Allocate => "/allocate",
        SdkCall::Shutdown => "/shutdown",
    }
}
