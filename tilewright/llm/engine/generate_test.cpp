// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/engine/generate.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

TEST(StopMatcher, HoldsBackWhatMayBecomeAStop) {
  StopMatcher matcher({"END", "stop here"});
  EXPECT_EQ(matcher.push("one E"), "one ");
  EXPECT_EQ(matcher.push("N"), "");
  EXPECT_EQ(matcher.push("Z"), "ENZ");
  EXPECT_EQ(matcher.push(" st"), " ");
  EXPECT_EQ(matcher.push("op her"), "");
  EXPECT_EQ(matcher.push("e and more"), "");
  EXPECT_TRUE(matcher.found());
  EXPECT_EQ(matcher.push("ignored"), "");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, TakesTheEarliestStop) {
  StopMatcher matcher({"late", "a"});
  EXPECT_EQ(matcher.push("xxa late"), "xx");
  EXPECT_TRUE(matcher.found());
}

TEST(StopMatcher, GivesBackWhatWasHeldAtTheEnd) {
  StopMatcher matcher({"</s>"});
  EXPECT_EQ(matcher.push("text</"), "text");
  EXPECT_EQ(matcher.flush(), "</");
  EXPECT_FALSE(matcher.found());
}

TEST(StopMatcher, WithoutStopsPassesEverything) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.push("abc"), "abc");
}

TEST(ResolveModel, UnknownNameSaysHowToGetOne) {
  try {
    resolve_model("no-such-model");
    FAIL() << "accepted";
  } catch (const NotFound& error) {
    EXPECT_NE(std::string(error.what()).find("tw pull"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright
