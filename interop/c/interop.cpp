// A client of the game that programs in all languages play together, in C++; ../README.md states its rules.
#include "game.h"

#include <skipstone.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

class Player {
  public:
    // A client that reconnects follows when its server moves it to another one.
    Player(const GameOptions &options)
        : options_(options), client_(options.server, options.name, skipstone::ClientConfig().reconnecting()) {}

    // Plays until the server ends the game. Returns the reason if the game ends otherwise.
    std::string run() {
        const auto end = Clock::now() + std::chrono::seconds(options_.seconds);
        while (Clock::now() < end) {
            client_.wait(5ms);
            for (const skipstone::Event &event : client_.poll()) {
                if (event.kind == SKIPSTONE_EVENT_KIND_CONNECTED) {
                    std::puts("{\"event\":\"connected\"}");
                } else if (event.kind == SKIPSTONE_EVENT_KIND_CLOSED) {
                    return "closed: " + std::to_string(event.code);
                } else if (event.kind == SKIPSTONE_EVENT_KIND_MESSAGE && on_message(event.channel, std::string(event.text()))) {
                    client_.close(0, "thank you", 500ms);
                    return "";
                }
            }
            say();
        }
        return "it is not over within the time limit";
    }

    const GameLedger &ledger() const { return ledger_; }
    long sent() const { return sent_; }

  private:
    // True if the game has ended.
    bool on_message(std::uint16_t channel, const std::string &text) {
        if (channel == GAME_STRESS) {
            game_on_line(&ledger_, text.c_str());
        } else if (text.rfind("chat ", 0) == 0) {
            game_on_chat(&ledger_, text.c_str() + 5);
        } else if (text.rfind("start ", 0) == 0) {
            game_start(&ledger_, text.c_str(), options_.lines);
            client_.send(GAME_CONTROL, "ready");
        } else if (text == "go") {
            has_started_ = true;
            next_ = Clock::now();
        }
        return channel == GAME_CONTROL && text == "over";
    }

    // Sends the lines that are due.
    void say() {
        while (has_started_ && sent_ < options_.lines && next_ <= Clock::now()) {
            char line[GAME_LINE_BYTES];
            next_ += 10ms;
            std::size_t length = game_line(line, options_.name, ++sent_);
            client_.send(GAME_STRESS, std::string_view(line, length));
            if (sent_ % 10 == 0) {
                client_.send(GAME_CONTROL, "chat " + std::string(options_.name) + " " + std::to_string(sent_));
            }
        }
        if (!is_done_ && sent_ == options_.lines && game_is_complete(&ledger_)) {
            is_done_ = true;
            client_.send(GAME_CONTROL, "done");
        }
    }

    const GameOptions &options_;
    skipstone::Client client_;
    GameLedger ledger_{};
    long sent_ = 0;
    bool has_started_ = false, is_done_ = false;
    Clock::time_point next_;
};

} // namespace

int main(int count, char **words) {
    GameOptions options = {nullptr, nullptr, "cpp", 100, 1, 30};
    if (!game_options(count, words, &options) || options.server == nullptr) {
        return 2;
    }
    try {
        Player player(options);
        std::string reason = player.run();
        return game_tell(&player.ledger(), "cpp", options.name, player.sent(), reason.c_str());
    } catch (const skipstone::Error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
