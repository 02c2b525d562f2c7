// The smallest server, which sends every message back, and the smallest client, which sends one message: in C++, with
// the same words as the example in C.
#include <skipstone.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;
using skipstone::Client;
using skipstone::Event;
using skipstone::Server;
using skipstone::ServerConfig;

// One tick of the server.
static void serve(Server &server, std::chrono::microseconds wait) {
    server.wait(wait);
    for (const Event &event : server.poll()) {
        if (event.kind == SKIPSTONE_EVENT_KIND_REQUESTED) {
            (void)server.try_accept(event.peer);
        } else if (event.kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
            // A client that has left, or does not read, is no reason to stop.
            (void)server.try_send(event.peer, event.channel, event.bytes(), event.age());
        }
    }
    server.flush();
}

// Sends one message. If the server is in this program, it is served in the meantime.
static bool ask(const std::string &url, Server *server) {
    Client client(url, "echo");
    for (int round = 0; round < 2'000; round++) {
        if (server != nullptr) {
            serve(*server, 0us);
        }
        client.wait(10ms);
        for (const Event &event : client.poll()) {
            if (event.kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                client.send(0, "hello");
            } else if (event.kind == SKIPSTONE_EVENT_KIND_MESSAGE) {
                std::cout << "ok the server said " << event.text() << std::endl;
                client.close(0, "", 500ms);
                return true;
            } else if (event.kind == SKIPSTONE_EVENT_KIND_CLOSED) {
                std::cerr << "closed with code " << event.code << ": " << event.text() << std::endl;
                return false;
            }
        }
    }
    std::cerr << "the server did not answer" << std::endl;
    return false;
}

int main(int count, char **words) try {
    std::string mode = count > 1 ? words[1] : "";
    if (count == 3 && mode == "--connect") {
        return ask(words[2], nullptr) ? 0 : 1;
    }
    if (!(count == 2 && mode == "--test") && !(count == 3 && mode == "--serve")) {
        std::cerr << "echo --serve ADDRESS, echo --connect URL, or echo --test" << std::endl;
        return 2;
    }
    Server server(ServerConfig(mode == "--test" ? "127.0.0.1:0" : words[2]));
    std::cout << server.url() << std::endl;
    if (mode == "--test") {
        return ask(server.url(), &server) ? 0 : 1;
    }
    for (;;) {
        serve(server, 10ms);
    }
} catch (const skipstone::Error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
