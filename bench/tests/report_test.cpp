#include <gtest/gtest.h>

#include "measure/median.hpp"
#include "report/gnuplot_script.hpp"
#include "report/html_report.hpp"
#include "report/json_report.hpp"
#include "report/numbers.hpp"
#include "report/text_report.hpp"

namespace tranca::bench {
namespace {

findings some_findings() {
    findings found;
    found.name = "something";
    found.rows = {{{"us", 1.5}}};
    found.tables = {{"A <table>",
                     {{"name", true, ""}, {"us", false, "here"}},
                     {{"x", "1"}, {}, {"long name", "2345"}},
                     {"A note."}}};
    found.claims = {{"it is fast", true, "1 us"}, {"it is free", false, "23 us"}};
    found.plots = {{"Bars", "", "us", plot::form::bars, false, {"one", "two"}, {{"a_b", {}, {1, 2}}}, {}, ""}};
    return found;
}

TEST(Numbers, AreGroupedByThousands) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(1'000), "1,000");
    EXPECT_EQ(with_commas(12'345'678), "12,345,678");
}

TEST(Numbers, TimesCarryTheUnitThatFits) {
    EXPECT_EQ(time_text(0.42), "0.42 us");
    EXPECT_EQ(time_text(87.3), "87.3 us");
    EXPECT_EQ(time_text(999.6), "1.00 ms");
    EXPECT_EQ(time_text(12'345), "12.3 ms");
    EXPECT_EQ(time_text(2'500'000), "2.50 s");
}

TEST(Median, IsTheMiddleOfWhateverOrder) {
    EXPECT_EQ(median_of({}), 0.0);
    EXPECT_EQ(median_of({3, 1, 2}), 2.0);
}

TEST(TextReport, KeepsColumnsUnderTheirHeads) {
    EXPECT_EQ(as_text(some_findings().tables[0]),
              "A <table>\n\n"
              "          | here\n"
              "name      |   us\n"
              "----------+-----\n"
              "x         |    1\n"
              "----------+-----\n"
              "long name | 2345\n"
              "  A note.\n");
}

TEST(TextReport, SaysMissedWhenAClaimDoesNotHold) {
    EXPECT_EQ(as_text(some_findings().claims[0]), "ok      it is fast: 1 us\n");
    EXPECT_EQ(as_text(some_findings().claims[1]), "MISSED  it is free: 23 us\n");
}

TEST(JsonReport, HasRowsUnderTheSectionsName) {
    const auto made = as_json({}, {some_findings()});
    EXPECT_EQ(made["something"][0]["us"], 1.5);
    EXPECT_EQ(made["claims"][1]["holds"], false);
}

TEST(HtmlReport, EscapesWhatItShows) {
    const auto made = as_html({}, {some_findings()});
    EXPECT_NE(made.find("A &lt;table&gt;"), std::string::npos);
    EXPECT_EQ(made.find("<table>A"), std::string::npos);
    EXPECT_NE(made.find("MISSED"), std::string::npos);
}

TEST(HtmlReport, NeedsNothingBesideItself) {
    const auto made = as_html({}, {some_findings()});
    for (const char* outside : {"<script", "<link", "src=", "@import"}) {
        EXPECT_EQ(made.find(outside), std::string::npos) << outside;
    }
}

TEST(GnuplotScript, QuotesNames) {
    auto shown = some_findings().plots[0];
    shown.data[0].name = "say \"hi\" \\";
    EXPECT_NE(gnuplot_script(shown).find(R"(title "say \"hi\" \\")"), std::string::npos);
}

}  // namespace
}  // namespace tranca::bench
