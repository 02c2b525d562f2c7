// Skipstone for C++17: RAII over skipstone.h, header-only. SPDX-License-Identifier: MIT OR Apache-2.0
//
// Objects own their handle and end it on destruction; they can be moved but not copied. A call that fails throws
// skipstone::Error; calls that fail in ordinary play also have a form that begins with try_ and returns the status. In
// a build without exceptions, a call that would throw prints the error and aborts: use the try_ forms there.
#ifndef SKIPSTONE_HPP
#define SKIPSTONE_HPP

#include "skipstone.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skipstone {

using Status = SkipstoneStatus;
using Peer = SkipstonePeer;
using Group = SkipstoneGroup;
using Microseconds = std::chrono::microseconds;

// The text of this thread's last error.
inline std::string last_error() {
    std::string text(skipstone_last_error(nullptr, 0), '\0');
    if (!text.empty()) {
        skipstone_last_error(text.data(), text.size() + 1);
    }
    return text;
}

// A call that failed: its status, and a text that says what is wrong and what to do.
class Error : public std::exception {
public:
    explicit Error(Status status) : status_(status), text_(last_error()) {}
    Status status() const noexcept { return status_; }
    const char *what() const noexcept override { return text_.c_str(); }

private:
    Status status_;
    std::string text_;
};

inline void check(Status status) {
    if (status == SKIPSTONE_STATUS_OK) {
        return;
    }
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    throw Error(status);
#else
    std::fprintf(stderr, "skipstone: %s: %s\n", skipstone_status_name(status), last_error().c_str());
    std::abort();
#endif
}

// Whether the library that is loaded fits this header; throws if not. Servers and clients call it.
inline void check_abi() {
    check(skipstone_check_abi(SKIPSTONE_ABI_VERSION));
}

// A line of the library's log, which reports what no call can return, such as small socket buffers and renewed
// certificates.
struct LogLine {
    SkipstoneLogLevel level;
    std::string text;
};

// The oldest line that waits; nothing is ever called back.
inline std::optional<LogLine> next_log_line() {
    std::string text(8192, '\0'); // no line is longer
    std::size_t length = 0;
    std::uint32_t level = 0;
    Status status = skipstone_next_log_line(text.data(), text.size(), &length, &level);
    if (status == SKIPSTONE_STATUS_NOT_AVAILABLE) {
        return std::nullopt;
    }
    check(status);
    text.resize(length);
    return LogLine{static_cast<SkipstoneLogLevel>(level), text};
}

// The bytes of a message. A string, a vector or an array of bytes turns into one.
class Bytes {
public:
    constexpr Bytes() noexcept = default;
    Bytes(const void *data, std::size_t size) noexcept : data_(static_cast<const std::uint8_t *>(data)), size_(size) {}
    Bytes(std::string_view text) noexcept : Bytes(text.data(), text.size()) {}
    Bytes(const std::string &text) noexcept : Bytes(text.data(), text.size()) {}
    Bytes(const char *text) noexcept : Bytes(std::string_view(text)) {}
    template <class Allocator>
    Bytes(const std::vector<std::uint8_t, Allocator> &bytes) noexcept : Bytes(bytes.data(), bytes.size()) {}
    template <std::size_t N>
    Bytes(const std::array<std::uint8_t, N> &bytes) noexcept : Bytes(bytes.data(), N) {}

    const std::uint8_t *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    // As text; whether it is UTF-8 is its sender's affair.
    std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data_), size_}; }

private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

// An event of a connection. What it points to is valid until the handle's next poll.
struct Event : SkipstoneEvent {
    Bytes bytes() const noexcept { return {data, length}; }
    std::string_view text() const noexcept { return bytes().text(); }
    std::chrono::microseconds age() const noexcept { return Microseconds(age_us); }
};
static_assert(sizeof(Event) == sizeof(SkipstoneEvent), "an array of events is an array of the C structure");

// Events of one poll: for (const Event &event : server.poll()).
class Events {
public:
    Events(const Event *first, std::size_t count) noexcept : first_(first), count_(count) {}
    const Event *begin() const noexcept { return first_; }
    const Event *end() const noexcept { return first_ + count_; }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

private:
    const Event *first_;
    std::size_t count_;
};

namespace detail {

// Texts for a call, which end with their strings.
inline std::vector<const char *> pointers(const std::vector<std::string> &texts) {
    std::vector<const char *> pointers;
    for (const std::string &text : texts) {
        pointers.push_back(text.c_str());
    }
    return pointers;
}

// Texts, and the array of pointers to them that a configuration lends. A copy points to its own texts.
class Texts {
public:
    Texts() = default;
    explicit Texts(std::vector<std::string> texts) : texts_(std::move(texts)), pointers_(detail::pointers(texts_)) {}
    Texts(const Texts &other) : Texts(other.texts_) {}
    // The texts stay where they are in memory, and so do the pointers.
    Texts(Texts &&) noexcept = default;
    Texts &operator=(Texts other) noexcept {
        texts_.swap(other.texts_);
        pointers_.swap(other.pointers_);
        return *this;
    }
    ~Texts() = default;

    const char *const *data() const noexcept { return pointers_.data(); }
    std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(pointers_.size()); }

private:
    std::vector<std::string> texts_;
    std::vector<const char *> pointers_;
};

} // namespace detail

// A rule of a server's channel table.
struct Channel : SkipstoneChannel {
    Channel(std::uint16_t from, std::uint16_t to, SkipstoneDelivery mode) : SkipstoneChannel() {
        check(skipstone_channel_init(this, sizeof(SkipstoneChannel), from, to, static_cast<std::uint32_t>(mode)));
    }
};
static_assert(sizeof(Channel) == sizeof(SkipstoneChannel), "an array of channels is an array of the C structure");

// A server's configuration. Strings and channels that it is given are kept here.
class ServerConfig {
public:
    // A server at this address, "0.0.0.0:7777"; without one it has no sockets.
    explicit ServerConfig(std::optional<std::string> listen = std::nullopt) : listen_(std::move(listen)) {
        check_abi();
        check(skipstone_server_config_init(&raw, sizeof raw));
    }
    // Encrypted, with PEM files that are read again when they change.
    ServerConfig &files(std::string certificate, std::string key) {
        raw.security = SKIPSTONE_SECURITY_FILES;
        return certificates(std::move(certificate), std::move(key));
    }
    // Encrypted, with PEM texts.
    ServerConfig &pem(std::string certificate, std::string key) {
        raw.security = SKIPSTONE_SECURITY_PEM;
        return certificates(std::move(certificate), std::move(key));
    }
    // In clear.
    ServerConfig &plain() {
        raw.security = SKIPSTONE_SECURITY_PLAIN;
        return *this;
    }
    ServerConfig &stepped() {
        raw.threading = SKIPSTONE_THREADING_STEPPED;
        return *this;
    }
    ServerConfig &channel(Channel channel) {
        channels_.push_back(channel);
        return *this;
    }
    // Addresses and networks that the server ignores.
    ServerConfig &denied(std::vector<std::string> networks) {
        denied_ = detail::Texts(std::move(networks));
        return *this;
    }
    // The C structure, with pointers to what is kept here. All views are valid until this is changed, moved from or
    // destroyed.
    SkipstoneServerConfig view() const {
        SkipstoneServerConfig config = raw;
        config.listen = listen_ ? listen_->c_str() : config.listen;
        config.certificate = certificate_.empty() ? config.certificate : certificate_.c_str();
        config.key = key_.empty() ? config.key : key_.c_str();
        if (!channels_.empty()) {
            config.channels = channels_.data();
            config.channel_count = static_cast<std::uint32_t>(channels_.size());
        }
        if (denied_.count() > 0) {
            config.denied = denied_.data();
            config.denied_count = denied_.count();
        }
        return config;
    }

    // Every other field, as skipstone.h has it.
    SkipstoneServerConfig raw{};

private:
    ServerConfig &certificates(std::string certificate, std::string key) {
        certificate_ = std::move(certificate);
        key_ = std::move(key);
        return *this;
    }

    std::optional<std::string> listen_;
    std::string certificate_;
    std::string key_;
    std::vector<Channel> channels_;
    detail::Texts denied_;
};

// A client's configuration.
class ClientConfig {
public:
    ClientConfig() {
        check_abi();
        check(skipstone_client_config_init(&raw, sizeof raw));
    }
    // Trusts servers whose certificate one of these authorities has signed.
    ClientConfig &trusting(std::string authorities) {
        authorities_ = std::move(authorities);
        raw.trust = SKIPSTONE_TRUST_AUTHORITIES;
        return *this;
    }
    // Trusts the one server with this fingerprint.
    ClientConfig &pinned(const std::array<std::uint8_t, SKIPSTONE_FINGERPRINT_BYTES> &fingerprint) {
        std::copy(fingerprint.begin(), fingerprint.end(), raw.fingerprint);
        raw.trust = SKIPSTONE_TRUST_PINNED;
        return *this;
    }
    ClientConfig &stepped() {
        raw.threading = SKIPSTONE_THREADING_STEPPED;
        return *this;
    }
    // Connects again by itself: Client::returns_in. The pauses are in `raw`.
    ClientConfig &reconnecting() {
        raw.reconnects = 1;
        return *this;
    }
    SkipstoneClientConfig view() const {
        SkipstoneClientConfig config = raw;
        config.authorities = authorities_.empty() ? config.authorities : authorities_.c_str();
        return config;
    }

    SkipstoneClientConfig raw{};

private:
    std::string authorities_;
};

namespace detail {

// Reads a text of unknown length by a function of skipstone.h.
template <class Read> std::string read_text(Read read) {
    std::size_t length = 0;
    std::string text(127, '\0');
    Status status = read(text.data(), text.size() + 1, &length);
    if (status == SKIPSTONE_STATUS_BUFFER_TOO_SMALL) {
        text.resize(length);
        status = read(text.data(), text.size() + 1, &length);
    }
    check(status);
    text.resize(length);
    return text;
}

// The common part of servers and clients: one handle, and a buffer for its events.
class Handle {
public:
    Handle() noexcept = default;
    explicit Handle(SkipstoneHandle handle) noexcept : handle_(handle) {}
    Handle(Handle &&other) noexcept
        : handle_(std::exchange(other.handle_, 0)), events_(std::move(other.events_)) {}
    Handle &operator=(Handle &&other) noexcept {
        if (this != &other) {
            release();
            handle_ = std::exchange(other.handle_, 0);
            events_ = std::move(other.events_);
        }
        return *this;
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() { release(); }

    explicit operator bool() const noexcept { return handle_ != 0; }
    SkipstoneHandle handle() const noexcept { return handle_; }

    // The available events, up to `limit`.
    Events poll(std::size_t limit = 256) {
        // Not into the events of the last poll: another thread reads them if this call is refused.
        static thread_local std::vector<Event> spare;
        spare.resize(limit);
        std::uint32_t count = 0;
        check(skipstone_poll(handle_, spare.data(), static_cast<std::uint32_t>(limit), &count));
        events_.swap(spare);
        return {events_.data(), count};
    }
    // Returns the events of the last poll, so that another thread may poll.
    void hand_over() {
        std::uint32_t count = 0;
        check(skipstone_poll(handle_, nullptr, 0, &count));
    }
    void wait(Microseconds timeout) { check(skipstone_wait(handle_, micros(timeout))); }
    // Waits for the next tick, regardless of the number of events, and returns the number of skipped ticks.
    std::uint64_t wait_tick(Microseconds interval) {
        std::uint64_t missed = 0;
        check(skipstone_wait_tick(handle_, micros(interval), &missed));
        return missed;
    }
    void drive(Microseconds wait_max = Microseconds(0)) { check(skipstone_drive(handle_, micros(wait_max))); }
    void flush() { check(skipstone_flush(handle_)); }
    SkipstoneDriverStats driver_stats() const {
        SkipstoneDriverStats stats{};
        stats.size = sizeof stats;
        check(skipstone_driver_stats(handle_, &stats));
        return stats;
    }
    // Nothing if there is no such connection, or no figures yet.
    std::optional<SkipstoneOverview> overview(Peer peer) const {
        SkipstoneOverview overview{};
        overview.size = sizeof overview;
        Status status = skipstone_overview(handle_, peer, &overview);
        if (status == SKIPSTONE_STATUS_NOT_AVAILABLE) {
            return std::nullopt;
        }
        check(status);
        return overview;
    }
    // Ends it at once, without telling the other side.
    void release() noexcept {
        if (handle_ != 0) {
            skipstone_release(std::exchange(handle_, 0));
        }
    }

protected:
    static std::uint64_t micros(Microseconds span) noexcept {
        return span.count() < 0 ? 0 : static_cast<std::uint64_t>(span.count());
    }

    // Forgets the handle if it has ended by that call. One that failed otherwise is still there.
    Status ended(Status status) noexcept {
        if (status == SKIPSTONE_STATUS_OK || status == SKIPSTONE_STATUS_BAD_HANDLE) {
            handle_ = 0;
        }
        return status;
    }

    SkipstoneHandle handle_ = 0;

private:
    std::vector<Event> events_;
};

} // namespace detail

// A running server.
class Server : public detail::Handle {
public:
    // No server: to be assigned later.
    Server() noexcept = default;
    explicit Server(const ServerConfig &config) { check(try_start(config, *this)); }

    static Status try_start(const ServerConfig &config, Server &server) {
        SkipstoneServerConfig view = config.view();
        SkipstoneServer handle = 0;
        Status status = skipstone_server_start(&view, &handle);
        if (status == SKIPSTONE_STATUS_OK) {
            static_cast<detail::Handle &>(server) = detail::Handle(handle);
        }
        return status;
    }
    void accept(Peer peer) { check(try_accept(peer)); }
    Status try_accept(Peer peer) noexcept { return skipstone_server_accept(handle_, peer); }
    void refuse(Peer peer, std::uint64_t code, const std::string &reason = {}) {
        check(skipstone_server_refuse(handle_, peer, code, reason.c_str()));
    }
    void close(Peer peer, std::uint64_t code, const std::string &reason = {}, Microseconds linger = Microseconds(0)) {
        check(skipstone_server_close(handle_, peer, code, reason.c_str(), micros(linger)));
    }
    void kick(Peer peer, const std::string &reason = {}) { check(skipstone_server_kick(handle_, peer, reason.c_str())); }
    // The message's number in the events about it.
    std::uint64_t send(Peer peer, std::uint16_t channel, Bytes message, Microseconds age = Microseconds(0)) {
        std::uint64_t id = 0;
        check(skipstone_server_send(handle_, peer, channel, message.data(), message.size(), micros(age), &id));
        return id;
    }
    Status try_send(Peer peer, std::uint16_t channel, Bytes message, Microseconds age = Microseconds(0)) noexcept {
        return skipstone_server_send(handle_, peer, channel, message.data(), message.size(), micros(age), nullptr);
    }
    // The number of members for which it was accepted; `id` gets the message's number in the events about it.
    std::uint32_t broadcast(Group group, std::uint16_t channel, Bytes message, std::uint64_t *id = nullptr) {
        std::uint32_t peers = 0;
        check(try_broadcast(group, channel, message, &peers, id));
        return peers;
    }
    Status try_broadcast(Group group, std::uint16_t channel, Bytes message, std::uint32_t *peers = nullptr,
                         std::uint64_t *id = nullptr) noexcept {
        return skipstone_server_broadcast(handle_, group, channel, message.data(), message.size(), peers, id);
    }
    // As broadcast, without some members.
    std::uint32_t broadcast_except(Group group, const std::vector<Peer> &except, std::uint16_t channel, Bytes message,
                                   std::uint64_t *id = nullptr) {
        std::uint32_t peers = 0;
        check(try_broadcast_except(group, except, channel, message, &peers, id));
        return peers;
    }
    Status try_broadcast_except(Group group, const std::vector<Peer> &except, std::uint16_t channel, Bytes message,
                                std::uint32_t *peers = nullptr, std::uint64_t *id = nullptr) noexcept {
        return skipstone_server_broadcast_except(handle_, group, except.data(), static_cast<std::uint32_t>(except.size()),
                                                 channel, message.data(), message.size(), peers, id);
    }
    // The connected peers.
    std::vector<Peer> peers() const {
        std::vector<Peer> peers;
        std::uint32_t count = 0;
        do {
            peers.resize(count);
            check(skipstone_server_peers(handle_, peers.data(), static_cast<std::uint32_t>(peers.size()), &count));
        } while (count > peers.size());
        peers.resize(count);
        return peers;
    }
    // The address of a client, from its request until its end was polled.
    std::string peer_address(Peer peer) const {
        return detail::read_text([this, peer](char *buffer, std::size_t capacity, std::size_t *length) {
            return skipstone_server_peer_address(handle_, peer, buffer, capacity, length);
        });
    }
    // Denies these addresses and networks, and no others. Connected players on streams stay connected:
    // skipstone_server_set_denied.
    void set_denied(const std::vector<std::string> &networks) {
        const std::vector<const char *> texts = detail::pointers(networks);
        check(skipstone_server_set_denied(handle_, texts.data(), static_cast<std::uint32_t>(texts.size())));
    }
    void join(Peer peer, Group group) { check(skipstone_server_join(handle_, peer, group)); }
    void leave(Peer peer, Group group) { check(skipstone_server_leave(handle_, peer, group)); }
    std::string url() const {
        return detail::read_text([this](char *buffer, std::size_t capacity, std::size_t *length) {
            return skipstone_server_url(handle_, buffer, capacity, length);
        });
    }
    std::string address() const {
        return detail::read_text([this](char *buffer, std::size_t capacity, std::size_t *length) {
            return skipstone_server_address(handle_, buffer, capacity, length);
        });
    }
    std::uint16_t port() const {
        std::uint16_t port = 0;
        check(skipstone_server_port(handle_, &port));
        return port;
    }
    std::array<std::uint8_t, SKIPSTONE_FINGERPRINT_BYTES> fingerprint() const {
        std::array<std::uint8_t, SKIPSTONE_FINGERPRINT_BYTES> fingerprint{};
        check(skipstone_server_fingerprint(handle_, fingerprint.data()));
        return fingerprint;
    }
    Microseconds time() const {
        std::uint64_t time_us = 0;
        check(skipstone_server_time(handle_, &time_us));
        return Microseconds(time_us);
    }
    SkipstoneStats stats() const {
        SkipstoneStats stats{};
        stats.size = sizeof stats;
        check(skipstone_server_stats(handle_, &stats));
        return stats;
    }
    // State and counters of every connection, for display.
    std::vector<SkipstoneOverview> overviews() const {
        std::vector<SkipstoneOverview> overviews;
        std::uint32_t count = 0;
        do {
            SkipstoneOverview empty{};
            empty.size = sizeof empty;
            overviews.assign(count, empty);
            check(skipstone_server_overviews(handle_, overviews.data(), static_cast<std::uint32_t>(overviews.size()), &count));
        } while (count > overviews.size());
        overviews.resize(count);
        return overviews;
    }
    // Ends every connection and the server.
    void stop(std::uint64_t code = 0, const std::string &reason = {}, Microseconds linger = Microseconds(0)) {
        check(ended(skipstone_server_stop(handle_, code, reason.c_str(), micros(linger))));
    }
};

// A connection to a server.
class Client : public detail::Handle {
public:
    // No client: to be assigned later.
    Client() noexcept = default;
    explicit Client(const std::string &url, Bytes token = {}, const ClientConfig &config = {}) {
        check(try_connect(url, token, config, *this));
    }
    // To a server of this process.
    explicit Client(const Server &server, Bytes token = {}, const ClientConfig &config = {}) {
        SkipstoneClientConfig view = config.view();
        check(skipstone_client_connect_local(server.handle(), token.data(), token.size(), &view, &handle_));
    }

    static Status try_connect(const std::string &url, Bytes token, const ClientConfig &config, Client &client) {
        SkipstoneClientConfig view = config.view();
        SkipstoneClient handle = 0;
        Status status = skipstone_client_connect(url.c_str(), token.data(), token.size(), &view, &handle);
        if (status == SKIPSTONE_STATUS_OK) {
            static_cast<detail::Handle &>(client) = detail::Handle(handle);
        }
        return status;
    }
    std::uint64_t send(std::uint16_t channel, Bytes message, Microseconds age = Microseconds(0)) {
        std::uint64_t id = 0;
        check(skipstone_client_send(handle_, channel, message.data(), message.size(), micros(age), &id));
        return id;
    }
    Status try_send(std::uint16_t channel, Bytes message, Microseconds age = Microseconds(0)) noexcept {
        return skipstone_client_send(handle_, channel, message.data(), message.size(), micros(age), nullptr);
    }
    // A new connection like the first, after its end.
    void reconnect() { check(skipstone_client_reconnect(handle_)); }
    // The time until a client reconnects by itself; empty if it does not, or is connected or connecting.
    std::optional<Microseconds> returns_in() const {
        std::uint64_t pause_us = 0;
        Status status = skipstone_client_returns_in(handle_, &pause_us);
        if (status == SKIPSTONE_STATUS_NOT_AVAILABLE) {
            return std::nullopt;
        }
        check(status);
        return Microseconds(pause_us);
    }
    // The token of the connections that follow this one.
    void set_token(Bytes token) { check(skipstone_client_set_token(handle_, token.data(), token.size())); }
    Peer peer() const {
        Peer peer = 0;
        check(skipstone_client_peer(handle_, &peer));
        return peer;
    }
    // Empty until the server has sent its time.
    std::optional<SkipstoneServerTime> server_time() const {
        SkipstoneServerTime time{};
        Status status = skipstone_client_server_time(handle_, &time);
        if (status == SKIPSTONE_STATUS_NOT_AVAILABLE) {
            return std::nullopt;
        }
        check(status);
        return time;
    }
    // Ends the connection.
    void close(std::uint64_t code = 0, const std::string &reason = {}, Microseconds linger = Microseconds(0)) {
        check(ended(skipstone_client_close(handle_, code, reason.c_str(), micros(linger))));
    }
};

} // namespace skipstone

#endif
