//! Where agents for stress runs wait, as the operator said it. The page may use them, and cannot name others: it would
//! make this server connect to any address.

/// NATS, the login there, and the server as agents reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentsLead {
    /// NATS' URL, which may hold a password.
    pub(crate) fleet: String,
    /// Flags of the login.
    pub(crate) login: Vec<String>,
    /// This server's URL for agents, if its own is not the one.
    pub(crate) url: Option<String>,
}

impl AgentsLead {
    /// Flags of a run at this many agents.
    pub(super) fn words(&self, agents: u32) -> Vec<String> {
        let mut words = vec![format!("--fleet={}", self.fleet), format!("--agents={agents}")];
        words.extend(self.login.iter().cloned());
        words
    }
}
