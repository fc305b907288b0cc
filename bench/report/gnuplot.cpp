#include "report/gnuplot.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "process/child.hpp"

namespace tranca::bench {
namespace {

// A nameless file that a child can write and we read.
using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

file scratch() { return {std::tmpfile(), &std::fclose}; }

std::string contents(std::FILE* from) {
    std::string text;
    char block[4096];
    std::rewind(from);
    for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, from)) > 0;)
        text.append(block, got);
    return text;
}

}  // namespace

std::optional<std::string> run_gnuplot(const std::string& script) {
    const auto in = scratch();
    const auto out = scratch();
    if (!in || !out) return std::nullopt;
    std::fwrite(script.data(), 1, script.size(), in.get());
    std::rewind(in.get());
    auto drawing = child::fork([&] {
        ::dup2(::fileno(in.get()), STDIN_FILENO);
        ::dup2(::fileno(out.get()), STDOUT_FILENO);
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        ::execlp("gnuplot", "gnuplot", static_cast<char*>(nullptr));
        return 127;
    });
    if (!drawing.wait_for(std::chrono::seconds(20)) || !drawing.succeeded()) return std::nullopt;
    return contents(out.get());
}

}  // namespace tranca::bench
