// The C++ header: objects own their handles, errors are exceptions, events are a range.
#include <skipstone.hpp>

#include <iostream>
#include <thread>
#include <type_traits>

using namespace skipstone;
using namespace std::chrono_literals;

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            std::cerr << __FILE__ << ":" << __LINE__ << ": " #condition "; last error: " << last_error() << "\n"; \
            std::exit(1);                                                                                   \
        }                                                                                                   \
    } while (0)

#define RUN(test)                            \
    do {                                     \
        test();                              \
        std::cout << "ok " #test << std::endl; \
    } while (0)

static_assert(!std::is_copy_constructible_v<Server> && std::is_nothrow_move_constructible_v<Server>);
static_assert(!std::is_copy_assignable_v<Client> && std::is_nothrow_move_assignable_v<Client>);

static void turn(Server &server) {
    for (const Event &event : server.poll()) {
        if (event.kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            server.accept(event.peer);
        } else if (event.kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
            server.send(event.peer, event.channel, event.bytes(), event.age());
        }
    }
    server.flush();
}

static void an_echo() {
    Server server(ServerConfig("127.0.0.1:0").channel(Channel(0, 9, SKIPSTONE_DELIVERY_RELIABLE_ORDERED)));
    Client client(server.url(), "token");
    std::string answer;
    for (int round = 0; answer.empty(); round++) {
        CHECK(round < 10000);
        turn(server);
        client.wait(1ms);
        for (const Event &event : client.poll()) {
            if (event.kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                client.send(3, std::string("hello"));
            } else if (event.kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                answer = event.text();
            }
        }
    }
    CHECK(answer == "hello");
    CHECK(client.try_send(99, "x") == SKIPSTONE_STATUS_NO_SUCH_CHANNEL);
    client.close(7, "enough", 100ms);
    CHECK(!client);
    server.stop();
}

static void errors_are_exceptions_with_a_remedy() {
    try {
        Server server(ServerConfig("nowhere"));
        CHECK(false);
    } catch (const Error &error) {
        CHECK(error.status() == SKIPSTONE_STATUS_BAD_VALUE);
        CHECK(std::string(error.what()).find("0.0.0.0:7777") != std::string::npos);
    }
    Server none;
    try {
        none.flush();
        CHECK(false);
    } catch (const Error &error) {
        CHECK(error.status() == SKIPSTONE_STATUS_BAD_HANDLE);
    }
}

static void objects_end_their_handles() {
    SkipstoneHandle handle = 0;
    {
        Server first{ServerConfig()};
        handle = first.handle();
        Server second(std::move(first));
        CHECK(!first && second.handle() == handle);
        Client client(second, std::string_view("token"));
        Client other;
        other = std::move(client);
        CHECK(skipstone_flush(handle) == SKIPSTONE_STATUS_OK);
    }
    CHECK(skipstone_flush(handle) == SKIPSTONE_STATUS_BAD_HANDLE);
}

static void a_refused_stop_leaves_the_server_running() {
    Server server{ServerConfig()};
    Client client(server, "token");
    for (bool is_server : {true, false}) {
        try {
            is_server ? server.stop(0, "\xff") : client.close(0, "\xff");
            CHECK(false);
        } catch (const Error &error) {
            CHECK(error.status() == SKIPSTONE_STATUS_NOT_UTF8);
        }
    }
    CHECK(server && client);
    client.close();
    server.stop();
    CHECK(!server && !client);
}

static void a_refused_poll_keeps_the_events_of_another_thread() {
    Server server{ServerConfig()};
    Client client(server, "");
    server.wait(10s);
    Events events = server.poll(1);
    CHECK(events.size() == 1 && events.begin()->kind == SKIPSTONE_EVENT_KIND_REQUESTED);
    CHECK(events.begin()->data == nullptr && events.begin()->text().empty());
    Status status = SKIPSTONE_STATUS_OK;
    std::thread([&] {
        try {
            server.poll(100000);
        } catch (const Error &error) {
            status = error.status();
        }
    }).join();
    CHECK(status == SKIPSTONE_STATUS_WRONG_THREAD);
    CHECK(events.begin()->kind == SKIPSTONE_EVENT_KIND_REQUESTED && events.begin()->address[0] != 0);
}

static void a_broadcast_returns_its_number_and_skips_the_excluded_peers() {
    Server server{ServerConfig()};
    Client client(server);
    for (int round = 0; server.peers().empty(); round++) {
        CHECK(round < 10000);
        server.wait(1ms);
        turn(server);
    }
    const Peer peer = server.peers().at(0);
    std::uint64_t first = 0, second = 0;
    std::uint32_t reached = 99;
    CHECK(server.broadcast(SKIPSTONE_EVERYONE, 0, "all", &first) == 1 && first != 0);
    CHECK(server.broadcast_except(SKIPSTONE_EVERYONE, {}, 0, "all", &second) == 1 && second > first);
    CHECK(server.broadcast_except(SKIPSTONE_EVERYONE, {peer}, 0, "nobody") == 0);
    CHECK(server.try_broadcast_except(SKIPSTONE_EVERYONE, {peer}, 0, "nobody", &reached) == SKIPSTONE_STATUS_OK && reached == 0);
    CHECK(server.try_broadcast_except(SKIPSTONE_EVERYONE, {}, 0, "all", &reached, &first) == SKIPSTONE_STATUS_OK);
    CHECK(reached == 1 && first > second);
    CHECK(server.peer_address(peer) == "127.0.0.1:0");
    for (int round = 0; server.overviews().empty(); round++) {
        CHECK(round < 10000);
        server.wait(1ms);
    }
    CHECK(server.overviews().at(0).peer == peer);
}

static void a_denied_client_reconnects_once_it_is_allowed() {
    ServerConfig config("127.0.0.1:0");
    config.denied({"192.0.2.0/24", "127.0.0.1"});
    Server server{ServerConfig(config)};
    Client client(server.url(), "token", ClientConfig().reconnecting());
    CHECK(!client.returns_in());
    for (int round = 0; server.driver_stats().denied == 0; round++) {
        CHECK(round < 10000);
        server.wait(1ms);
    }
    server.set_denied({"192.0.2.7"});
    client.set_token("again");
    int connected = 0;
    bool is_sent_away = false;
    for (int round = 0; connected < 2; round++) {
        CHECK(round < 10000);
        turn(server);
        if (!is_sent_away && !server.peers().empty()) {
            server.close(server.peers().at(0), SKIPSTONE_CLOSE_CODE_RESTART, "retry=0..0");
            is_sent_away = true;
        }
        client.wait(1ms);
        for (const Event &event : client.poll()) {
            connected += event.kind == SKIPSTONE_EVENT_KIND_CONNECTED;
            CHECK(event.kind != SKIPSTONE_EVENT_KIND_CLOSED || (client.returns_in() && *client.returns_in() < 10s));
        }
    }
    while (next_log_line()) {
    }
}

static void views_of_a_configuration_stay_valid_while_others_are_made() {
    std::optional<ServerConfig> original(std::in_place, "127.0.0.1:0");
    original->denied({"192.0.2.0/24", "2001:db8::/32, which is too long to lie in the string itself"});
    const ServerConfig copy(*original);
    ServerConfig assigned;
    assigned.denied({"192.0.2.9"});
    assigned = copy;
    const ServerConfig moved(std::move(*original));
    original.reset();
    for (const ServerConfig *config : {&copy, const_cast<const ServerConfig *>(&assigned), &moved}) {
        const SkipstoneServerConfig first = config->view(), second = config->view();
        CHECK(first.denied == second.denied && first.denied_count == 2 && second.denied_count == 2);
        CHECK(std::string(first.denied[0]) == "192.0.2.0/24" && first.denied[1][0] == '2');
    }
}

static void figures() {
    Server server{ServerConfig()};
    CHECK(server.stats().sent.messages == 0);
    CHECK(!server.overview(1));
    CHECK(server.time() < 1h);
    CHECK(server.address() == "127.0.0.1:0" && server.port() == 0);
    CHECK(server.broadcast(SKIPSTONE_EVERYONE, 0, "nobody") == 0);
}

int main() {
    RUN(an_echo);
    RUN(errors_are_exceptions_with_a_remedy);
    RUN(objects_end_their_handles);
    RUN(a_refused_stop_leaves_the_server_running);
    RUN(a_refused_poll_keeps_the_events_of_another_thread);
    RUN(a_broadcast_returns_its_number_and_skips_the_excluded_peers);
    RUN(a_denied_client_reconnects_once_it_is_allowed);
    RUN(views_of_a_configuration_stay_valid_while_others_are_made);
    RUN(figures);
}
