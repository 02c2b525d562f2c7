//! The dashboard over HTTP, as browsers, scripts and attackers have it.
