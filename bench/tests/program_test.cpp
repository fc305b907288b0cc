// The program from outside: exit codes, files, what it prints when it is interrupted, what it leaves behind.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "process/child.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

class Program : public testing::Test {
protected:
    Program() {
        auto name = (std::filesystem::temp_directory_path() / "tranca-bench-test-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Program() override { std::filesystem::remove_all(folder_); }

    // Its temporary files go into our folder, where leftovers show.
    child start(std::vector<std::string> arguments) {
        return child::fork([this, arguments = std::move(arguments)] {
            const int out = ::open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            ::dup2(out, STDOUT_FILENO);
            ::dup2(out, STDERR_FILENO);
            ::setenv("TMPDIR", path("tmp").c_str(), 1);
            std::vector<std::string> words = arguments;
            words.insert(words.begin(), TRANCA_BENCH_PROGRAM);
            std::vector<char*> raw;
            for (auto& word : words)
                raw.push_back(word.data());
            raw.push_back(nullptr);
            ::execv(raw[0], raw.data());
            return 127;
        });
    }

    std::string run(std::vector<std::string> arguments) {
        std::filesystem::create_directories(path("tmp"));
        auto program = start(std::move(arguments));
        EXPECT_TRUE(program.wait_for(60s));
        ending_ = program.ending();
        return text_of("out");
    }

    std::string text_of(const std::string& name) const {
        std::ifstream file(path(name));
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }

    bool wait_for_text(const std::string& wanted) const {
        for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;) {
            if (text_of("out").find(wanted) != std::string::npos) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    bool nothing_left() const { return std::filesystem::is_empty(path("tmp")); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    std::filesystem::path folder_;
    std::string ending_;
};

TEST_F(Program, MeasuresACellAndWritesItsFiles) {
    const auto text = run({"--sections", "marketplace", "--listers", "2", "--buyers", "1", "--modes", "fine,script",
                           "--seconds", "0.3", "--json", path("m.json"), "--html", path("m.html")});
    EXPECT_EQ(ending_, "exit code 0") << text;
    const auto json = nlohmann::json::parse(text_of("m.json"));
    ASSERT_EQ(json["marketplace"].size(), 2U);
    EXPECT_EQ(json["marketplace"][0]["mode"], "fine");
    EXPECT_GT(json["marketplace"][0]["bought"].get<int>(), 0);
    EXPECT_NE(text_of("m.html").find("</html>"), std::string::npos);
    EXPECT_TRUE(nothing_left());
}

TEST_F(Program, RefusesABadCommandLineWithTwo) {
    const std::vector<std::vector<std::string>> bad{{"--modes", "wish"},
                                                    {"--seconds", "0"},
                                                    {"--seconds", "many"},
                                                    {"--listers", "3"},
                                                    {"--listers", "0", "--buyers", "1"},
                                                    {"--sections", "weather"},
                                                    {"--quick", "--full"},
                                                    {"--json", path("no/such/folder")},
                                                    {"surplus"}};
    for (const auto& arguments : bad) {
        const auto text = run(arguments);
        EXPECT_EQ(ending_, "exit code 2") << arguments.front() << ": " << text;
        EXPECT_NE(text.find(arguments.front()), std::string::npos) << text;
    }
}

TEST_F(Program, TellsWhatItMeasuredWhenInterrupted) {
    std::filesystem::create_directories(path("tmp"));
    auto program = start(
        {"--sections", "marketplace", "--listers", "1", "--buyers", "1", "--seconds", "2", "--json", path("m.json")});
    ASSERT_TRUE(wait_for_text("1/1 lock")) << text_of("out");
    program.send(SIGINT);
    ASSERT_TRUE(program.wait_for(20s));
    const auto text = text_of("out");
    EXPECT_EQ(program.ending(), "exit code 130") << text;
    EXPECT_NE(text.find("Interrupted"), std::string::npos);
    EXPECT_NE(text.find("watch"), std::string::npos) << text;
    EXPECT_GE(nlohmann::json::parse(text_of("m.json"))["marketplace"].size(), 1U);
    EXPECT_TRUE(nothing_left());
}

TEST_F(Program, FailsWhenAWorkerIsKilled) {
    std::filesystem::create_directories(path("tmp"));
    auto program =
        start({"--sections", "marketplace", "--listers", "1", "--buyers", "1", "--modes", "fine", "--seconds", "20"});
    ASSERT_TRUE(wait_for_text("1/1 fine"));
    std::this_thread::sleep_for(300ms);
    // Its children: the server and two workers; the youngest is a worker.
    std::ifstream list("/proc/" + std::to_string(program.pid()) + "/task/" + std::to_string(program.pid()) +
                       "/children");
    pid_t youngest = 0;
    for (pid_t one = 0; list >> one;)
        youngest = one;
    ASSERT_GT(youngest, 0);
    ::kill(youngest, SIGKILL);
    ASSERT_TRUE(program.wait_for(20s));
    EXPECT_EQ(program.ending(), "exit code 1");
    EXPECT_NE(text_of("out").find("killed by signal 9"), std::string::npos) << text_of("out");
    EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace tranca::bench
