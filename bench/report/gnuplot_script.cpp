#include "report/gnuplot_script.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace tranca::bench {
namespace {

// Colours that people with any colour vision tell apart (Okabe and Ito).
constexpr std::array<const char*, 6> colours{"#d55e00", "#e69f00", "#009e73", "#0072b2", "#cc79a7", "#56b4e9"};

const char* colour(std::size_t i) { return colours[i % colours.size()]; }

// Text for gnuplot: in double quotes, with what it would interpret taken out of its hands.
std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') made += '\\';
        made += c;
    }
    return made + "\"";
}

// Short enough to stand on a bar.
std::string short_number(double value) {
    if (value >= 9'950) return fmt::format("{:.0f}k", value / 1e3);
    if (value >= 995) return fmt::format("{:.1f}k", value / 1e3);
    return fmt::format("{:.{}f}", value, value >= 9.95 || value == 0 ? 0 : 1);
}

std::string opening(int width, int height) {
    return fmt::format(
        "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,13' linewidth 1.2\n"
        "set border 3 linecolor '#888888'\nset tics nomirror textcolor '#333333'\n"
        "set grid linecolor '#dddddd' linetype 1\n"
        "set key outside top center horizontal noenhanced\n",
        width, height);
}

std::string closing(const std::vector<std::string>& parts) {
    return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
}

std::string bars(const plot& shown) {
    auto script = opening(620, 380);
    script += "$data << END\n";
    for (std::size_t group = 0; group < shown.labels.size(); ++group) {
        script += quoted(shown.labels[group]);
        for (const auto& one : shown.data)
            script += fmt::format(" {} {}", one.y[group], quoted(short_number(one.y[group])));
        script += "\n";
    }
    script +=
        "END\nset style data histograms\nset style histogram clustered gap 1\nset style fill solid noborder\n"
        "set boxwidth 0.92\nset yrange [0:*]\nset offsets 0,0,graph 0.06,0\nset grid noxtics ytics\n"
        "set format y '%g'\n";
    script += fmt::format("set ylabel {}\nset xrange [-0.6:{}]\n", quoted(shown.axis),
                          static_cast<double>(shown.labels.size()) - 0.4);
    std::vector<std::string> parts;
    const auto count = shown.data.size();
    for (std::size_t i = 0; i < count; ++i) {
        parts.push_back(fmt::format("$data using {}:xtic(1) title {} linecolor rgb '{}'", 2 * i + 2,
                                    quoted(shown.data[i].name), colour(i)));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto width = 1.0 / static_cast<double>(count + 1);
        const auto offset = (static_cast<double>(i) - static_cast<double>(count - 1) / 2) * width;
        parts.push_back(fmt::format("$data using ($0+{}):{}:{} with labels offset 0,0.6 font ',10' notitle", offset,
                                    2 * i + 2, 2 * i + 3));
    }
    return script + closing(parts);
}

// All values and limits, and a little air.
std::string horizontal_range(const plot& shown) {
    auto values = shown.limits;
    for (const auto& one : shown.data)
        values.insert(values.end(), one.y.begin(), one.y.end());
    if (values.empty()) return "";
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const auto air = 0.05 * (*most - *least);
    return fmt::format("set xrange [{}:{}]\n", *least - air, *most + air);
}

std::string limits_of(const plot& shown) {
    std::string script;
    for (const double at : shown.limits) {
        script += fmt::format(
            "set arrow from first {0},graph 0 to first {0},graph 1 nohead linecolor '#b00020' "
            "dashtype 2\n",
            at);
    }
    return script;
}

// For each row a line from its smallest to its largest value, so that the eye keeps a row's dots together.
std::string spans(const plot& shown) {
    std::string script = "$spans << END\n";
    for (std::size_t row = 0; row < shown.labels.size(); ++row) {
        std::vector<double> values;
        for (const auto& one : shown.data) {
            if (row < one.y.size()) values.push_back(one.y[row]);
        }
        if (values.empty()) continue;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        script += fmt::format("{0} {2}\n{1} {2}\n\n", *least, *most, shown.labels.size() - row);
    }
    return script + "END\n";
}

std::string dots(const plot& shown) {
    const auto rows = shown.labels.size();
    auto script = opening(900, static_cast<int>(110 + 26 * rows));
    for (std::size_t i = 0; i < shown.data.size(); ++i) {
        script += fmt::format("$data{} << END\n", i);
        for (std::size_t row = 0; row < shown.data[i].y.size(); ++row) {
            script += fmt::format("{} {} {}\n", shown.data[i].y[row], rows - row, quoted(shown.labels[row]));
        }
        script += "END\n";
    }
    script += spans(shown);
    script += fmt::format("set yrange [0.4:{}]\nset grid ytics xtics\nset xlabel {}\n", static_cast<double>(rows) + 0.6,
                          quoted(shown.axis));
    script += shown.logarithmic ? "set logscale x\nset format x '%.0s %cs'\n" : horizontal_range(shown);
    script += limits_of(shown);
    std::vector<std::string> parts{"$spans using 1:2 with lines linecolor '#bbbbbb' notitle"};
    for (std::size_t i = 0; i < shown.data.size(); ++i) {
        parts.push_back(
            fmt::format("$data{} using 1:2:ytic(3) with points pointtype 7 pointsize 0.8 linecolor rgb '{}' "
                        "title {}",
                        i, colour(i + 2), quoted(shown.data[i].name)));
    }
    return script + closing(parts);
}

std::string lines(const plot& shown) {
    auto script = opening(620, 380);
    for (std::size_t i = 0; i < shown.data.size(); ++i) {
        script += fmt::format("$data{} << END\n", i);
        for (std::size_t at = 0; at < shown.data[i].x.size(); ++at) {
            script += fmt::format("{} {}\n", shown.data[i].x[at], shown.data[i].y[at]);
        }
        script += "END\n";
    }
    script += fmt::format(
        "set logscale xy\nset format x '%.0s%c'\nset format y '%.0s %cs'\nset xlabel {}\nset ylabel {}\nset offsets "
        "graph 0.06,graph "
        "0.06,0,0\n",
        quoted(shown.labels.empty() ? "" : shown.labels.front()), quoted(shown.axis));
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < shown.data.size(); ++i) {
        parts.push_back(
            fmt::format("$data{} using 1:2 with linespoints pointtype 7 linewidth 2 linecolor rgb '{}' title {}", i,
                        colour(i), quoted(shown.data[i].name)));
    }
    return script + closing(parts);
}

}  // namespace

std::string gnuplot_script(const plot& shown) {
    switch (shown.kind) {
    case plot::form::bars: return bars(shown);
    case plot::form::dots: return dots(shown);
    case plot::form::lines: return lines(shown);
    }
    return {};
}

}  // namespace tranca::bench
