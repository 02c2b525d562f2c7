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

static void a_stop_that_is_refused_leaves_the_server() {
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

static void a_poll_that_is_refused_leaves_the_events_of_another_thread() {
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
    RUN(a_stop_that_is_refused_leaves_the_server);
    RUN(a_poll_that_is_refused_leaves_the_events_of_another_thread);
    RUN(figures);
}
