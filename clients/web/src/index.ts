// The browser client of Skipstone. All that an application uses is here.

export { connect } from "./connect";
export type { Client, ClientState, CloseOptions, ServerTime } from "./client";
export { closeCode, type Close, type ClosedBy } from "./close";
export { ConnectError, SendError, type SendRefusal } from "./errors";
export type { ClientEvent, GivenUp, MessageId } from "./events";
export type { CertificateHashes, ClientOptions, Reconnect, Token } from "./options";
export { ruleFor } from "./settings";
export type { ChannelRule, DeliveryMode, Overflow, RedundancyMode, ServerSettings } from "./settings";
export type { CarrierCounters, CarrierKind, Counters, Flow, Statistics, Traffic } from "./statistics";
