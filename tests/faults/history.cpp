#include "faults/history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <nlohmann/json.hpp>

namespace tranca::faults_test {

NLOHMANN_JSON_SERIALIZE_ENUM(op, {{op::acquire, "acquire"},
                                  {op::release, "release"},
                                  {op::extend, "extend"},
                                  {op::check, "check"},
                                  {op::access, "access"},
                                  {op::nemesis, "nemesis"},
                                  {op::residue, "residue"}})
NLOHMANN_JSON_SERIALIZE_ENUM(
    phase, {{phase::invoked, "inv"}, {phase::ok, "ok"}, {phase::failed, "fail"}, {phase::unknown, "info"}})

namespace {

using json = nlohmann::ordered_json;

void put(json& line, const char* name, const auto& value) {
    if (value != std::decay_t<decltype(value)>{}) line[name] = value;
}

void take(const json& line, const char* name, auto& value) {
    if (const auto found = line.find(name); found != line.end()) found->get_to(value);
}

}  // namespace

instant now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

std::string to_line(const record& what) {
    json line;
    line["t"] = what.time;
    line["proc"] = what.process;
    line["cl"] = what.client;
    line["op"] = what.operation;
    line["ph"] = what.phase;
    put(line, "lock", what.lock);
    put(line, "att", what.attempt);
    put(line, "mode", what.mode);
    put(line, "tok", what.fence);
    put(line, "slot", what.slots);
    put(line, "lease", what.lease);
    put(line, "wait", what.wait);
    put(line, "valid_until", what.valid_until);
    put(line, "wall", what.wall);
    put(line, "value", what.value);
    put(line, "target", what.target);
    put(line, "why", what.why);
    return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

record from_line(const std::string& text) {
    try {
        const auto line = json::parse(text);
        record made;
        take(line, "t", made.time);
        take(line, "proc", made.process);
        take(line, "cl", made.client);
        take(line, "op", made.operation);
        take(line, "ph", made.phase);
        take(line, "lock", made.lock);
        take(line, "att", made.attempt);
        take(line, "mode", made.mode);
        take(line, "tok", made.fence);
        take(line, "slot", made.slots);
        take(line, "lease", made.lease);
        take(line, "wait", made.wait);
        take(line, "valid_until", made.valid_until);
        take(line, "wall", made.wall);
        take(line, "value", made.value);
        take(line, "target", made.target);
        take(line, "why", made.why);
        return made;
    } catch (const json::exception& failure) {
        throw std::runtime_error{"no record: " + text + ": " + failure.what()};
    }
}

history_writer::history_writer(const std::filesystem::path& file)
    : file_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
    if (!file_) throw std::system_error{errno, std::generic_category(), file.string()};
}

void history_writer::write(record what) const {
    if (what.time == 0) what.time = now();
    if (what.process == 0) what.process = ::getpid();
    const auto line = to_line(what);
    if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::system_error{errno, std::generic_category(), "writing a history"};
}

history read_history(const std::filesystem::path& file) {
    std::ifstream in{file};
    history all;
    for (std::string line; std::getline(in, line);)
        if (!in.eof()) all.push_back(from_line(line));
    return all;
}

history read_histories(const std::filesystem::path& folder) {
    history all;
    for (const auto& entry : std::filesystem::directory_iterator{folder})
        if (entry.path().extension() == ".jsonl")
            std::ranges::move(read_history(entry.path()), std::back_inserter(all));
    std::ranges::stable_sort(all, {}, &record::time);
    return all;
}

}  // namespace tranca::faults_test
